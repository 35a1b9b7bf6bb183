"""Decorators of tests: `tensorflow.python.framework.test_util`, which libraries' own tests import.

They say in which mode a test runs: eagerly, in a graph with a session, or both.
"""

from __future__ import annotations

import contextlib
import functools
import unittest
from collections.abc import Callable
from typing import Any

from intaglio.trace.graph import Graph
from intaglio.trace.scopes import init_scope


def run_in_graph_and_eager_modes(
    func: Any = None,
    config: Any = None,
    use_gpu: bool = True,
    assert_no_eager_garbage: bool = False,
) -> Any:
    """The test runs twice: in a graph, with a session that is the default one, and eagerly.

    Between the two the test is torn down and set up again.
    """

    def decorate(test: Any) -> Any:
        if isinstance(test, type):
            raise ValueError("`run_in_graph_and_eager_modes` only supports test methods.")

        @functools.wraps(test)
        def run(self: Any, *args: Any, **kwargs: Any) -> None:
            with contextlib.suppress(unittest.SkipTest):
                _in_graph(self, test, args, kwargs)
            self.tearDown()
            self._session = None
            self.setUp()
            with init_scope():
                test(self, *args, **kwargs)

        return run

    return decorate if func is None else decorate(func)


def run_deprecated_v1(func: Any) -> Any:
    """The test, or every test of a class, runs in a graph with a session."""
    if isinstance(func, type):
        return for_all_test_methods(run_deprecated_v1)(func)

    @functools.wraps(func)
    def run(self: Any, *args: Any, **kwargs: Any) -> None:
        _in_graph(self, func, args, kwargs)

    return run


deprecated_graph_mode_only = run_all_in_deprecated_graph_mode_only = run_deprecated_v1


def _in_graph(self: Any, test: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    with Graph().as_default(), self.test_session():
        test(self, *args, **kwargs)


def run_all_in_graph_and_eager_modes(cls: Any) -> Any:
    """Every test of the class runs in a graph and eagerly."""
    return for_all_test_methods(run_in_graph_and_eager_modes)(cls)


def for_all_test_methods(decorator: Any, *args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator of classes that decorates all their tests."""

    def decorate(cls: Any) -> Any:
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(
                    cls,
                    name,
                    decorator(*args, **kwargs)(value) if args or kwargs else decorator(value),
                )
        return cls

    return decorate


def same(function: Any = None) -> Any:
    """The function or class as it is: what the mark asks for is so, or does not matter here."""
    return function


def named(reason: Any = None) -> Any:
    """As `same`, for marks that take a reason: `@mark` and `@mark("because")`."""
    return reason if callable(reason) else same


def run_v2_only(func: Any = None, reason: str | None = None) -> Any:
    """The test as it is: the behaviour is TensorFlow 2's."""
    return same if func is None else func


def run_v1_only(reason: Any = None, func: Any = None) -> Any:
    """The test is skipped: the behaviour is TensorFlow 2's. Raises ValueError without a reason."""
    if not isinstance(reason, str):
        raise ValueError("'reason' should be string, got " + str(type(reason)))
    skip = unittest.skip(reason)
    return skip if func is None else skip(func)


def run_gpu_only(func: Any) -> Any:
    """The test is skipped: there is no GPU."""
    return unittest.skip("Test requires GPU")(func)


def skip_if(condition: Any) -> Callable[[Any], Any]:
    """The test is skipped if the condition, or what it returns, is true when the test runs."""

    def decorate(test: Any) -> Any:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> Any:
            skipped = condition() if callable(condition) else condition
            return None if skipped else test(*args, **kwargs)

        return run

    return decorate


def no() -> bool:
    """False."""
    return False
