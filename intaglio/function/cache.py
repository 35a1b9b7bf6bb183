"""The traces of one function: exact look-up, subtype look-up, and one tracing at a time per type."""

from __future__ import annotations

import collections
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.base import shapes
from intaglio.base.locks import fork_count
from intaglio.function.explanation import Explanation, Traced, explanation
from intaglio.function.number_inputs import Number
from intaglio.function.trace_types import Container, Literal, Weakref
from intaglio.type_specs.trace_type import TraceType
from intaglio.type_specs.type_spec import TensorSpec

# Number of memoized look-ups for types that a more general trace serves. It is bounded because
# numbers that are inputs give new types without end.
MAX_SERVED_ABOVE = 1024
# Number of `Traced` records kept of traces whose objects were collected, to explain later traces.
MAX_GONE = 16

# (the structure of the call, the types of its values)
Key = tuple[Any, ...]


class TraceCache:
    """Finds the trace for a call: that of exactly its types, else the most specific supertype."""

    def __init__(self, reduces_retracing: bool = False) -> None:
        self._reduces_retracing = reduces_retracing
        # All current traces by serial number, oldest first.
        self._traces: dict[int, tuple[Key, Any]] = {}
        self._next = 0
        # Traces whose captured values are not the current ones, by their former serial numbers.
        self._replaced: dict[int, list[Any]] = {}
        # The trace that serves a call by the call's types, and those types that are not a trace's own.
        self._found: dict[Key, Any] = {}
        self._served_above: list[Key] = []
        # By `_index`: the traces whose types could be joined with a call's, and those of them that may
        # serve calls of other types than their own.
        self._joinable: dict[Any, dict[int, Key]] = {}
        self._general: dict[Any, dict[int, Key]] = {}
        # Traces that take Python numbers as inputs; the types of calls have the numbers as literals.
        self._with_numbers: dict[int, Key] = {}
        # Traces with weak references to objects, and the number of them that starts the next sweep.
        self._weak: dict[int, Key] = {}
        self._max_weak = 1
        self._gone: collections.deque[Traced] = collections.deque(maxlen=MAX_GONE)
        # Number of traces removed because their objects were collected.
        self.dead = 0
        self._make_locks()

    def _make_locks(self) -> None:
        """Creates new locks, as threads that held the old ones may not have survived a fork."""
        self._forks = fork_count()
        self._tracing: dict[Key, tuple[Any, list[int]]] = {}
        self._own_lock = threading.RLock()
        self._first_lock = threading.RLock()

    @property
    def _lock(self) -> Any:
        if self._forks != fork_count():
            self._make_locks()
        return self._own_lock

    @property
    def first(self) -> Any:
        """The lock that serialises the first trace of the function."""
        if self._forks != fork_count():
            self._make_locks()
        return self._first_lock

    def find(self, key: Key) -> Any:
        """The trace that serves a call of these types, or None."""
        found = self._found.get(key)
        if found is not None:
            return found
        return self._find_above(key)

    def _find_above(self, key: Key) -> Any:
        if not self._general and not self._with_numbers:
            return None
        best: tuple[Key, int] | None = None
        with self._lock:
            general = self._general.get(_index(key), {})
            for number, above in (*general.items(), *self._with_numbers.items()):
                if _below(key, above) and (best is None or _below(above, best[0])):
                    best = above, number
            if best is None:
                return None
            trace = self._traces[best[1]][1]
            if len(self._served_above) < MAX_SERVED_ABOVE:
                self._found[key] = trace
                self._served_above.append(key)
            return trace

    def add(self, key: Key, trace: Any) -> None:
        """Adds a trace and clears memoized look-ups, which may have found a less specific one."""
        with self._lock:
            if len(self._weak) >= self._max_weak:
                self._remove_dead()
            for served in self._served_above:
                self._found.pop(served, None)
            self._served_above.clear()
            self._next += 1
            number, index = self._next, _index(key)
            self._traces[number] = key, trace
            self._found[key] = trace
            self._joinable.setdefault(index, {})[number] = key
            if all([_is_of_known_shape(kind) for kind in key[1:]]):
                return
            if not all(map(_serves_itself_only, key[1:])):
                self._general.setdefault(index, {})[number] = key
            others = [t for t in key[1:] if type(t) is not TensorSpec]
            if others and has_numbers(others):
                self._with_numbers[number] = key
            if others and any(map(_is_weak, others)):
                self._weak[number] = key

    def variants(self, trace: Any) -> list[Any]:
        """The other traces of the same types, with other captured values."""
        with self._lock:
            return [*self._replaced.get(self._number_of(trace), ())]

    def replace(self, trace: Any, other: Any) -> None:
        """Replaces a trace by another one of the same types in all later look-ups."""
        with self._lock:
            number = self._number_of(trace)
            if number is None:
                return
            others = self._replaced.setdefault(number, [])
            self._replaced[number] = [t for t in (*others, trace) if t is not other]
            self._traces[number] = self._traces[number][0], other
            for key in [k for k, found in self._found.items() if found is trace]:
                self._found[key] = other

    def _number_of(self, trace: Any) -> Any:
        return next((n for n, (_, t) in self._traces.items() if t is trace), None)

    def _remove_dead(self) -> None:
        """Removes the traces of objects that were collected, which no call can match again."""
        for number, key in [*self._weak.items()]:
            if any(map(_has_dead, key[1:])):
                self._gone.append(self._traces[number][1].traced)
                self.dead += 1
                self._remove(number, key)
        # Doubling the limit makes the cost of all sweeps linear in the number of traces.
        self._max_weak = max(2 * len(self._weak), 1)

    def _remove(self, number: int, key: Key) -> None:
        del self._traces[number]
        self._weak.pop(number, None)
        self._with_numbers.pop(number, None)
        self._replaced.pop(number, None)
        self._found.pop(key, None)
        index = _index(key)
        for table in (self._joinable, self._general):
            table.get(index, {}).pop(number, None)
            if not table.get(index, True):
                del table[index]

    def remove(self, trace: Any) -> None:
        """Removes a trace, if it is there."""
        with self._lock:
            number = self._number_of(trace)
            if number is None:
                for number, others in self._replaced.items():
                    self._replaced[number] = [t for t in others if t is not trace]
                return
            key = self._traces[number][0]
            for served in [k for k, found in self._found.items() if found is trace]:
                del self._found[served]
            self._remove(number, key)

    def generalize(self, key: Key) -> Key:
        """The types joined with those of every trace that allows it, for reduce_retracing."""
        types = list(key[1:])
        with self._lock:
            for other in self._joinable.get(_index(key), {}).values():
                joined = [
                    a.most_specific_common_supertype([b])
                    for a, b in zip(types, other[1:], strict=True)
                ]
                if None not in [None if j is None else 0 for j in joined]:
                    types = joined
        return (key[0], *types)

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

    def history(self) -> list[Traced]:
        """The `Traced` records, oldest first; among them the latest of objects collected since."""
        with self._lock:
            found = [*self._gone, *[trace.traced for trace in self]]
        return sorted(found, key=lambda traced: traced.number)

    def explanation(self, notes: Sequence[str] = (), further: Sequence[Traced] = ()) -> Explanation:
        """The cause of each trace, and of the `further` ones that are about to be traced."""
        return explanation(
            [*self.history(), *further], notes, reduces_retracing=self._reduces_retracing
        )

    def __len__(self) -> int:
        return len(self._traces) + sum(map(len, self._replaced.values()))

    def __iter__(self) -> Iterator[Any]:
        found = [trace for _, trace in self._traces.values()]
        if self._replaced:
            found += [trace for others in self._replaced.values() for trace in others]
            found.sort(key=lambda trace: trace.number)
        return iter(found)


def has_numbers(types: Sequence[TraceType]) -> bool:
    """True if some of the types are Python numbers passed as inputs of the graph."""
    return any(
        isinstance(t, Number) or (isinstance(t, Container) and has_numbers(t.parts)) for t in types
    )


def _below(key: Key, above: Key) -> bool:
    return (
        key[0] == above[0]
        and len(key) == len(above)
        and all(a.is_subtype_of(b) for a, b in zip(key[1:], above[1:], strict=True))
    )


def _index(key: Key) -> Any:
    """A hash index of a key, equal for two keys if one may be below the other or they may have a join."""
    return (key[0], *map(_index_of, key[1:]))


def _index_of(kind: TraceType) -> Any:
    if isinstance(kind, TensorSpec):
        return kind.dtype
    if isinstance(kind, Container):
        return (type(kind), kind._identity(), *map(_index_of, kind.parts))
    if isinstance(kind, Literal) or (isinstance(kind, Weakref) and kind.by_identity):
        return (type(kind), hash(kind))
    return Weakref if isinstance(kind, Weakref) else TraceType


def _is_of_known_shape(kind: TraceType) -> bool:
    """True for the spec of an unnamed tensor whose dimensions are all known."""
    return type(kind) is TensorSpec and not kind.name and shapes.known(kind.dims)


def _serves_itself_only(kind: TraceType) -> bool:
    """True if a type has no subtypes but itself."""
    if type(kind) is TensorSpec:
        return _is_of_known_shape(kind)
    if isinstance(kind, Container):
        return all(map(_serves_itself_only, kind.parts))
    return isinstance(kind, Literal) or (isinstance(kind, Weakref) and kind.by_identity)


def _is_weak(kind: TraceType) -> bool:
    if isinstance(kind, Container):
        return any(map(_is_weak, kind.parts))
    return isinstance(kind, Weakref)


def _has_dead(kind: TraceType) -> bool:
    if isinstance(kind, Weakref):
        return not kind.alive
    parts: Sequence[TraceType] = kind.parts if isinstance(kind, Container) else ()
    return any(map(_has_dead, parts))
