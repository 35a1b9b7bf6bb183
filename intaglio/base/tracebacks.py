"""Tracebacks of errors: removal of this package's frames.

Follows https://www.tensorflow.org/api_docs/python/tf/debugging/enable_traceback_filtering.
"""

from __future__ import annotations

import contextlib
from types import TracebackType

from intaglio.base import origins
from intaglio.base.options import OPTIONS


def entries(trace: TracebackType | None) -> list[TracebackType]:
    """A traceback as a list, outermost first."""
    found: list[TracebackType] = []
    while trace is not None:
        found.append(trace)
        trace = trace.tb_next
    return found


def raised_here(error: BaseException) -> bool:
    """True for an error that this package raised, not the user's code."""
    if getattr(error, "raised_by_package", False):
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and origins.is_ours(trace.tb_frame.f_code)


def leave_out_package(error: Exception) -> None:
    """Removes this package's frames from an error's traceback, unless filtering is switched off.

    A mark on the error records whether the package raised it, as the traceback no longer shows that.
    """
    if not OPTIONS.filter_tracebacks:
        return
    if raised_here(error):
        with contextlib.suppress(AttributeError):  # a class with slots
            error.raised_by_package = True  # type: ignore[attr-defined]  # a mark for frames further out
    chain: TracebackType | None = None
    for part in reversed(entries(error.__traceback__)):
        if not origins.is_ours(part.tb_frame.f_code):
            chain = TracebackType(chain, part.tb_frame, part.tb_lasti, part.tb_lineno)
    error.__traceback__ = chain
