"""`tf.profiler.experimental.client`: profiles of other processes, which there are none of.

Follows https://www.tensorflow.org/api_docs/python/tf/profiler/experimental/client.
"""

from __future__ import annotations

from typing import Any


def trace(
    service_addr: str,
    logdir: str,
    duration_ms: int,
    worker_list: str = "",
    num_tracing_attempts: int = 3,
    options: Any = None,
) -> None:
    """Not done: raises NotImplementedError."""
    raise NotImplementedError(
        "tf.profiler.experimental.client.trace: other processes are not profiled; use "
        "tf.profiler.experimental.Profile in the process itself"
    )


def monitor(service_addr: str, duration_ms: int, level: int = 1) -> str:
    """Not done: raises NotImplementedError."""
    raise NotImplementedError(
        "tf.profiler.experimental.client.monitor: other processes are not profiled; use "
        "tf.profiler.experimental.Profile in the process itself"
    )


__all__ = ["monitor", "trace"]
