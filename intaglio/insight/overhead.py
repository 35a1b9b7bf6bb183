"""What the call of a traced function costs besides the graph's own work: `intaglio.overhead`."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

from intaglio.debugging.repeatable import as_function
from intaglio.function.entry import MISS

# Calls before anything is measured: an entry is generated and the graph is optimized meanwhile.
WARM_CALLS = 40
BATCHES = 7
SECONDS_PER_BATCH = 2e-3


class Overhead(NamedTuple):
    """Seconds of a whole call and of the graph alone, and what recognises the arguments.

    `path` is `"machine code"`, `"generated Python"` or `"binding and cache"`.
    """

    call: float
    graph: float
    path: str

    @property
    def seconds(self) -> float:
        """What is no work of the graph: recognising the arguments, and wrapping the results."""
        return max(self.call - self.graph, 0.0)

    def __str__(self) -> str:
        return (
            f"{self.call * 1e6:.2f} us a call, {self.graph * 1e6:.2f} us of it the graph; "
            f"arguments are recognised by {self.path}"
        )


def overhead(function: Any, *args: Any, **kwargs: Any) -> Overhead:
    """Measures what a call of `function` with these arguments costs, and what its graph takes of that.

    The function is called some thousand times, with all that it does to variables and elsewhere; of
    several batches the fastest one counts. A function that is none of `tf.function` is made one. Raises TypeError for
    what cannot be called, and what the function raises.

    >>> import intaglio
    >>> f = tf.function(lambda x: x + 1.0, jit_compile=True)
    >>> intaglio.overhead(f, tf.constant(1.0)).path
    'machine code'
    """
    f = as_function(function)
    for _ in range(WARM_CALLS):
        f(*args, **kwargs)
    concrete, tensors = f.trace_of(args, kwargs)
    run = concrete.optimized_run()
    arrays = [*[t._array for t in tensors], *concrete.capture_arrays]
    return Overhead(
        _fastest(lambda: f(*args, **kwargs)), _fastest(lambda: run(*arrays)), _path(f, args, kwargs)
    )


def _path(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    for entry in function._entries:
        if entry(args, kwargs) is not MISS:
            return "generated Python" if hasattr(entry, "__code__") else "machine code"
    return "binding and cache"


def _fastest(call: Callable[[], Any]) -> float:
    """Seconds of a call, in the fastest of several batches of calls."""
    start = time.perf_counter()
    call()
    once = max(time.perf_counter() - start, 1e-8)
    count = max(int(SECONDS_PER_BATCH / once), 1)
    best = float("inf")
    for _ in range(BATCHES):
        start = time.perf_counter()
        for _ in range(count):
            call()
        best = min(best, (time.perf_counter() - start) / count)
    return best


__all__ = ["Overhead", "overhead"]
