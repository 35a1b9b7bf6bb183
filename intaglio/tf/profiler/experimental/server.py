"""`tf.profiler.experimental.server`: profiling on demand of another process.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler/experimental/server.
"""

from __future__ import annotations


def start(port: int) -> None:
    """Not done: raises NotImplementedError."""
    raise NotImplementedError(
        "tf.profiler.experimental.server.start: there is no profiling service; use "
        "tf.profiler.experimental.start and stop in the program"
    )


__all__ = ["start"]
