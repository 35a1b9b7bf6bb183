"""The end of a whole trace: objects that became state are restored to Python objects.

An object that may outlive the trace and that a staged block changes is changed once, by tracing,
and not when the graph runs. At the end of the trace there is a warning for each such line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from intaglio.autograph import aliases, attribute_writes, change_messages, containers, provenance
from intaglio.autograph.carried import has_tensor
from intaglio.autograph.containers import Contents
from intaglio.autograph.memory import remembering
from intaglio.autograph.watches import Seen
from intaglio.base import nest
from intaglio.base.threads import Inherited


class _Change(NamedTuple):
    """A location that may outlive the trace, and that a staged block changes."""

    seen: Seen
    is_argument: bool  # in an argument of the traced function
    is_renewed: bool  # set by the trace before
    is_state: bool

    def is_lasting(self) -> bool:
        """False for a location that each call sets again, before or after a block changes it.

        A tensor of the graph that is left there raises where it is used.
        """
        if change_messages.container_of(self.seen) is not None:
            return True
        is_tensor = has_tensor(self.seen.location.get())
        return not (self.is_renewed if is_tensor else self.is_state)


class _Trace:
    """The changes of a trace in progress."""

    def __init__(self, structures: Sequence[Any] = ()) -> None:
        # The containers that the traced function gets: copies of the caller's.
        self.arguments = {id(c): c for c in structures}
        # What was Python's before it became state.
        self.left: list[tuple[Seen, Any]] = []
        self.changed: dict[Any, _Change] = {}

    def lasting(self) -> list[_Change]:
        """The changed locations whose values differ from those that a run of the graph would leave."""
        return [c for c in self.changed.values() if c.is_lasting()]


class _Traces(Inherited):
    """The traces that this thread is in."""

    def __init__(self) -> None:
        self.open: list[_Trace] = []


_traces = _Traces()


def is_open() -> bool:
    """True while a function is traced that AutoGraph converted."""
    return bool(_traces.open)


def leave(seen: Seen, value: Any) -> None:
    """Notes the value that Python would have left in a location that outlives the trace."""
    is_python = isinstance(value, Contents) or not has_tensor(value)
    if _traces.open and seen.location.may_outlive and is_python:
        _traces.open[-1].left.append((seen, value))


def note_changed(seen: Seen, is_renewed: bool, is_state: bool) -> None:
    """Notes a change by a staged block to a location that may outlive the trace.

    `is_renewed`: the trace has set it before. `is_state`: it is state of the block.
    """
    if not _traces.open:
        return
    trace, ident = _traces.open[-1], seen.location.ident
    if ident in trace.changed:
        first = trace.changed[ident]
        trace.changed[ident] = first._replace(is_state=is_state)
        return
    owner = change_messages.container_of(seen)
    same = [owner, seen.value, *aliases.may_aliases_of(owner), *aliases.may_aliases_of(seen.value)]
    is_argument = any(id(v) in trace.arguments for v in same)
    is_of_trace = owner is not None and provenance.is_of_trace(aliases.origin(owner))
    if is_argument or (seen.location.may_outlive and not is_of_trace):
        is_renewed = is_renewed or attribute_writes.is_set(ident)
        trace.changed[ident] = _Change(seen, is_argument, is_renewed, is_state)


def traced(call: Callable[[], Any], structures: Sequence[Any] = ()) -> Any:
    """The result of a traced call; `structures` are the containers in its arguments.

    Lists and numbers that became state are Python's again after it. A list has the graph's tensors then, as in TensorFlow: using them raises an error.
    """
    trace = _Trace(structures)
    _traces.open.append(trace)
    provenance.begin_trace()
    attribute_writes.begin_trace()
    changed: list[_Change] = []
    known = aliases.state()
    try:
        with remembering(None):
            result = aliases.everywhere(call())
        if trace.left:
            result = nest.map_structure(lambda v: v, result)
        changed = trace.lasting()
    finally:
        _traces.open.pop()
        provenance.end_trace()
        attribute_writes.end_trace()
        for seen, value in reversed(trace.left):
            if has_tensor(seen.location.get()):
                put_end(seen, value)
        aliases.reset(known)
    for change in changed:
        change_messages.of_the_trace(change.seen, change.is_argument)
    return result


def put_end(seen: Seen, value: Any) -> None:
    """Restores a location to its state at the end of a trace: `value` is a result of `carried.now`."""
    if isinstance(value, Contents):
        containers.put_contents(seen.value, value)
        value = seen.value
    if seen.location.get() is not value:
        seen.location.put(value)
