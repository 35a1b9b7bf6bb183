"""Whether functions are being traced for a saved model, which has no replicas.

Reads and writes of a variable with copies (`distribute/variables.py`) then use its first copy.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from intaglio.base.threads import Inherited


class _Tracing(Inherited):
    def __init__(self) -> None:
        self.is_on = False


_tracing = _Tracing()


def is_traced_for() -> bool:
    """True in the block of `tracing`."""
    return _tracing.is_on


@contextmanager
def tracing() -> Generator[None]:
    """Traces functions in the block for one device, whatever strategy their variables belong to."""
    before, _tracing.is_on = _tracing.is_on, True
    try:
        yield
    finally:
        _tracing.is_on = before


__all__ = ["is_traced_for", "tracing"]
