"""The provenance of objects: created by the trace, older, or unknown.

Converted code marks the objects that it creates: by a display, a comprehension, the call of a class.
A result of unconverted code is unknown: it may be new or come from a cache, and its reference count
does not decide that, since a debugger or a registry may refer to a new object too. Any other object is
older than the trace.
"""

from __future__ import annotations

import enum
from typing import Any

from intaglio.autograph.containers import inside
from intaglio.base.threads import Inherited
from intaglio.ir.graph import SymbolicTensor
from intaglio.type_specs.grown_list import GrownList


class Provenance(enum.Enum):
    """The provenance of an object."""

    CREATED = enum.auto()  # by converted code, in the innermost trace
    UNKNOWN = enum.auto()  # from a call of code that is not converted
    OLDER = enum.auto()


class _Trace:
    """The objects of one trace, kept alive, by their ids."""

    def __init__(self) -> None:
        self.created: dict[int, Any] = {}
        self.unknown: dict[int, Any] = {}
        # The containers that AutoGraph has packed the tensors of a block into.
        self.packed: dict[int, Any] = {}


class _Traces(Inherited):
    """The traces that this thread is in, the innermost last."""

    def __init__(self) -> None:
        self.open: list[_Trace] = []
        # The objects whose attributes a dictionary has, by the dictionaries' ids.
        self.holders: dict[int, tuple[Any, Any]] = {}


_traces = _Traces()


def begin_trace() -> None:
    """Begins a new trace, to which objects created from now on belong."""
    _traces.open.append(_Trace())


def end_trace() -> None:
    """Ends the innermost trace."""
    _traces.open.pop()
    if not _traces.open:
        _traces.holders.clear()


def in_trace() -> bool:
    """True while a function is traced."""
    return bool(_traces.open)


def of(value: Any) -> Provenance:
    """The provenance of an object. Tensors of graphs count as created by the trace."""
    if type(value) is SymbolicTensor:
        return Provenance.CREATED
    if _traces.open:
        trace, number = _traces.open[-1], id(value)
        if number in trace.created:
            return Provenance.CREATED
        if number in trace.unknown:
            return Provenance.UNKNOWN
    return Provenance.OLDER


def is_created(value: Any) -> bool:
    """True for an object that converted code has created in the innermost trace."""
    return of(value) is Provenance.CREATED


def is_of_trace(value: Any) -> bool:
    """True for an object that the innermost trace has created, or that represents one in a block."""
    if is_created(value) or type(value) is GrownList:
        return True
    return bool(_traces.open) and id(value) in _traces.open[-1].packed


def note_created(value: Any) -> None:
    """Records that converted code has created an object."""
    if _traces.open:
        _traces.open[-1].created[id(value)] = value


def note_unknown(value: Any) -> bool:
    """Records that other code has returned an object. False if the trace has had it before."""
    if not _traces.open or of(value) is not Provenance.OLDER:
        return False
    _traces.open[-1].unknown[id(value)] = value
    return True


def note_packed(value: Any) -> Any:
    """The value, whose containers AutoGraph has created to pack tensors into."""
    if _traces.open:
        _traces.open[-1].packed.update({id(c): c for c in inside(value)})
    return value


def note_holder(value: Any, attributes: Any) -> None:
    """Records whose attributes a dictionary has."""
    if _traces.open:
        _traces.holders[id(attributes)] = (value, attributes)


def holder(attributes: Any) -> Any:
    """The object whose attributes a dictionary is known to have, or None."""
    found = _traces.holders.get(id(attributes))
    return None if found is None else found[0]


__all__ = [
    "Provenance",
    "begin_trace",
    "end_trace",
    "holder",
    "in_trace",
    "is_created",
    "is_of_trace",
    "note_created",
    "note_holder",
    "note_packed",
    "note_unknown",
    "of",
]
