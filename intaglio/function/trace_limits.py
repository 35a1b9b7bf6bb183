"""Limits on a process's traces: `intaglio.trace_cache`, which evicts the least recently used."""

from __future__ import annotations

import itertools
import os
from typing import Any

from intaglio.function import registry

# Bytes of a trace, and of each node with its origin and its part of the generated code; measured.
BYTES_PER_NODE = 1600
BYTES_PER_TRACE = 6500

_clock = itertools.count(1)


class Limits:
    """The limits of the process: a number of traces, and bytes; None for no limit."""

    def __init__(self) -> None:
        self.max_bytes = _number("INTAGLIO_TRACE_CACHE_BYTES")
        self.max_traces = _number("INTAGLIO_TRACE_CACHE_TRACES")


def _number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    return int(text) if text else None


LIMITS = Limits()


class trace_cache:
    """Limits the traces that all functions keep; the least recently used are removed first.

    `max_traces` is their number; `max_bytes` what they take, estimated from their nodes and constants
    (`f.trace_bytes`). A call that needs a removed trace makes it again. The trace that was just made stays.
    Without arguments there are no limits, as in TensorFlow.

    It holds in the whole process from the call on; as a context manager, up to the end of the block.
    INTAGLIO_TRACE_CACHE_BYTES and INTAGLIO_TRACE_CACHE_TRACES in the environment set the same. Raises
    ValueError for a limit below 1.

    >>> f = tf.function(lambda x: x + 1)
    >>> with intaglio.trace_cache(max_traces=2):
    ...     for n in range(5):
    ...         _ = f(tf.zeros([n]))
    ...     len(f._list_all_concrete_functions())
    2
    """

    def __init__(self, max_bytes: int | None = None, max_traces: int | None = None) -> None:
        for limit in (max_bytes, max_traces):
            if limit is not None and limit < 1:
                raise ValueError(f"trace_cache takes limits of 1 and more, not {limit}")
        self._before = LIMITS.max_bytes, LIMITS.max_traces
        LIMITS.max_bytes, LIMITS.max_traces = max_bytes, max_traces
        enforce(None)

    def __enter__(self) -> trace_cache:
        return self

    def __exit__(self, *error: object) -> None:
        LIMITS.max_bytes, LIMITS.max_traces = self._before


def used(trace: Any) -> None:
    """Marks a trace as the most recently used."""
    trace.last_used = next(_clock)


def enforce(new: Any) -> None:
    """Removes traces until the limits hold, except the `new` one."""
    if LIMITS.max_bytes is None and LIMITS.max_traces is None:
        return
    # Functions may share a trace.
    found = {id(t): (t, f) for f in registry.functions() for t in f.all_traces() if t is not new}
    traces = list(found.values())
    traces.sort(key=lambda pair: pair[0].last_used)
    excess = _Excess([t for t, _ in traces] + ([] if new is None else [new]))
    later: list[tuple[Any, Any]] = []
    for trace, function in traces:
        if not excess.is_left():
            return
        if function.forget_entries():  # calls through entries do not mark their trace as used
            later.append((trace, function))
        else:
            function.remove_trace(trace)
            excess.remove(trace)
    for trace, function in later:
        if not excess.is_left():
            return
        function.remove_trace(trace)
        excess.remove(trace)


class _Excess:
    """The number and bytes of the traces that remain while some are removed."""

    def __init__(self, traces: list[Any]) -> None:
        self.count = len(traces)
        self.size = sum([t.bytes for t in traces])

    def is_left(self) -> bool:
        """True while the limits are exceeded."""
        too_many = LIMITS.max_traces is not None and self.count > LIMITS.max_traces
        return too_many or (LIMITS.max_bytes is not None and self.size > LIMITS.max_bytes)

    def remove(self, trace: Any) -> None:
        """Subtracts a removed trace."""
        self.count -= 1
        self.size -= trace.bytes


__all__ = ["trace_cache"]
