"""What tests of TensorFlow 1 get in place of a session while they run eagerly."""

from __future__ import annotations

from typing import Any

_SHORT = "(in this case, sess.run(t) is shorthand for t.numpy()"


class FakeEagerSession:
    """The session of a test that runs eagerly: `run` evaluates tensors as the test does."""

    def __init__(self, test_case: Any) -> None:
        self._test_case = test_case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of tensors. Raises RuntimeError for values that are fed, and for options."""
        if kwargs.pop("feed_dict", None):
            raise RuntimeError(
                f"feed_dict is not supported when eager execution is enabled {_SHORT}"
            )
        if args or kwargs:
            raise RuntimeError(
                f"Optional args are not supported when eager execution is enabled {_SHORT}"
            )
        return self._test_case.evaluate(fetches)


class EagerSessionWarner:
    """A session of a test that runs eagerly: using it raises AttributeError."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"self.session() has no {name!r}: its properties and methods are not there while eager execution is "
            "enabled. Call self.evaluate(tensor), or run the test in a graph, by `with tf.Graph().as_default()` or "
            "test_util.run_v1_only."
        )


__all__ = ["EagerSessionWarner", "FakeEagerSession"]
