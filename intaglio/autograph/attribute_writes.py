"""The attributes and items that a trace sets outside of its staged blocks.

An attribute that each call sets before it changes it does not depend on earlier calls: a loop may
carry it, and the next call sets it again.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.threads import Inherited


class _Traces(Inherited):
    def __init__(self) -> None:
        # For each trace that this thread is in: the owners of such locations, kept alive.
        self.open: list[dict[tuple[int, Any], Any]] = []


_traces = _Traces()


def begin_trace() -> None:
    """Begins the record of a new trace."""
    _traces.open.append({})


def end_trace() -> None:
    """Ends the record of the innermost trace."""
    _traces.open.pop()


def note_set(owner: Any, key: Any) -> None:
    """Notes that the trace sets an attribute or item."""
    if _traces.open and getattr(type(key), "__hash__", None):
        _traces.open[-1][id(owner), key] = owner


def is_set(ident: tuple[int, Any]) -> bool:
    """True for a location that the innermost trace has set."""
    return bool(_traces.open) and ident in _traces.open[-1]
