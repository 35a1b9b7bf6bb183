"""The traces of one function: exact look-up, subtype look-up, and one tracing at a time per type."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.function.trace_types import Container, Weakref
from intaglio.type_specs.trace_type import TraceType

# (the structure of the call, the types of its values)
Key = tuple[Any, ...]


_forks = 0


def _forked() -> None:
    global _forks
    _forks += 1


# In a forked process the threads that held locks do not exist: locks are created again.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class TraceCache:
    """Finds the trace for a call: the one of its very types, else the most specific above them."""

    def __init__(self) -> None:
        self.traces: list[tuple[Key, Any]] = []
        self._found: dict[Key, Any] = {}
        self._make_locks()

    def _make_locks(self) -> None:
        self._forks = _forks
        self._tracing: dict[Key, tuple[Any, list[int]]] = {}
        self._own_lock = threading.RLock()
        self._first_lock = threading.RLock()

    @property
    def _lock(self) -> Any:
        if self._forks != _forks:
            self._make_locks()
        return self._own_lock

    @property
    def first(self) -> Any:
        """The lock of the thread that makes the first trace."""
        if self._forks != _forks:
            self._make_locks()
        return self._first_lock

    def find(self, key: Key) -> Any:
        """The trace that serves a call of these types, or None."""
        found = self._found.get(key)
        if found is not None:
            return found
        return self._find_above(key)

    def _find_above(self, key: Key) -> Any:
        best: tuple[Key, Any] | None = None
        with self._lock:
            for candidate in self.traces:
                if _below(key, candidate[0]) and (best is None or _below(candidate[0], best[0])):
                    best = candidate
            if best is None:
                return None
            self._found[key] = best[1]
            return best[1]

    def add(self, key: Key, trace: Any) -> None:
        """Keeps a trace. Look-ups that found another one before are forgotten."""
        with self._lock:
            self.traces = [t for t in self.traces if not _dead(t[0])]
            self.traces.append((key, trace))
            self._found = {key: trace} | dict(self.traces)

    def generalize(self, key: Key) -> Key:
        """The types joined with those of every trace that allows it, for reduce_retracing."""
        shape, types = key[0], list(key[1:])
        with self._lock:
            for other, _ in self.traces:
                if other[0] != shape:
                    continue
                joined = [
                    a.most_specific_common_supertype([b])
                    for a, b in zip(types, other[1:], strict=True)
                ]
                if None not in [None if j is None else 0 for j in joined]:
                    types = joined
        return (shape, *types)

    @contextmanager
    def tracing(self, key: Key) -> Generator[None]:
        """Lets one thread at a time trace these types; others of the same types wait."""
        with self._lock:
            lock, users = self._tracing.setdefault(key, (threading.RLock(), [0]))
            users[0] += 1
        try:
            with lock:
                yield
        finally:
            with self._lock:
                users[0] -= 1
                if not users[0]:
                    self._tracing.pop(key, None)

    def find_or_trace(self, key: Key, trace: Callable[[], Any]) -> tuple[Any, bool]:
        """The trace for these types, and whether it is new."""
        found = self.find(key)
        if found is not None:
            return found, False
        with self.tracing(key):
            found = self.find(key)
            if found is not None:
                return found, False
            return trace(), True

    def __len__(self) -> int:
        return len(self.traces)

    def __iter__(self) -> Iterator[Any]:
        return iter([trace for _, trace in self.traces])


def _below(key: Key, above: Key) -> bool:
    return (
        key[0] == above[0]
        and len(key) == len(above)
        and all(a.is_subtype_of(b) for a, b in zip(key[1:], above[1:], strict=True))
    )


def _dead(key: Key) -> bool:
    """True if a type refers to a deleted object: no later call can match it."""
    return any(_has_dead(t) for t in key[1:])


def _has_dead(kind: TraceType) -> bool:
    if isinstance(kind, Weakref):
        return not kind.alive
    parts: Sequence[TraceType] = kind.parts if isinstance(kind, Container) else ()
    return any(map(_has_dead, parts))
