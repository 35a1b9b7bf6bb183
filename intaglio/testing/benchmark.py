"""`tf.test.Benchmark`: methods that are timed, and the report of their times.

Follows https://www.tensorflow.org/api_docs/python/tf/test/Benchmark.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np


class Benchmark:
    """A class whose methods named `benchmark...` measure something and report it."""

    @classmethod
    def is_abstract(cls) -> bool:
        """True for this class itself."""
        return cls in (Benchmark,)

    def _named(self, name: str | None) -> str:
        if name is not None:
            return name
        frame: Any = sys._getframe(2)
        while frame is not None:
            if frame.f_locals.get("self") is self and frame.f_code.co_name.startswith("benchmark"):
                return f"{type(self).__name__}.{frame.f_code.co_name}"
            frame = frame.f_back
        raise ValueError("Unable to determine calling Benchmark class.")

    def report_benchmark(
        self,
        iters: int | None = None,
        cpu_time: float | None = None,
        wall_time: float | None = None,
        throughput: float | None = None,
        extras: dict[str, Any] | None = None,
        name: str | None = None,
        metrics: Any = None,
    ) -> None:
        """Prints what was measured as one line of JSON, named after the method that calls."""
        entry = {
            "name": self._named(name),
            "iters": iters,
            "cpu_time": cpu_time,
            "wall_time": wall_time,
            "throughput": throughput,
            "extras": extras or None,
            "metrics": metrics,
        }
        print(json.dumps({k: v for k, v in entry.items() if v is not None}))

    def run_op_benchmark(
        self,
        sess: Any,
        op_or_tensor: Any,
        feed_dict: Any = None,
        burn_iters: int = 2,
        min_iters: int = 10,
        store_trace: bool = False,
        store_memory_usage: bool = True,
        name: str | None = None,
        extras: dict[str, Any] | None = None,
        mbs: int = 0,
    ) -> dict[str, Any]:
        """Calls a function again and again, and reports the median of its times.

        There are no sessions: `sess` is None, and `op_or_tensor` a function without arguments.
        """
        if sess is not None or not callable(op_or_tensor):
            raise NotImplementedError(
                "tf.test.Benchmark.run_op_benchmark: there are no sessions; give None and a "
                "function without arguments"
            )
        for _ in range(burn_iters):
            op_or_tensor()
        times: list[float] = []
        for _ in range(min_iters):
            begin = time.perf_counter()
            op_or_tensor()
            times.append(time.perf_counter() - begin)
        found: dict[str, Any] = {
            "iters": min_iters,
            "wall_time": float(np.median(times)),
            "extras": extras or {},
            "name": self._named(name),
            "throughput": mbs / float(np.median(times)),
        }
        self.report_benchmark(**found)
        return found

    def evaluate(self, tensors: Any) -> Any:
        """Tensors of a structure as NumPy values."""
        return [t.numpy() for t in tensors] if isinstance(tensors, list) else tensors.numpy()


def benchmark_config() -> Any:
    """Not done: raises NotImplementedError, because sessions are what it configures.

    >>> tf.test.benchmark_config()
    Traceback (most recent call last):
        ...
    NotImplementedError: tf.test.benchmark_config: there are no sessions to configure
    """
    raise NotImplementedError("tf.test.benchmark_config: there are no sessions to configure")


__all__ = ["Benchmark", "benchmark_config"]
