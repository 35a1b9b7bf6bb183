"""Whether functions are traced for a saved model, which has no replicas.

A variable with copies (`distribute/variables.py`) is its first copy there, in what it reads and writes.
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
    """Functions that are traced in the block are for one device, whatever strategy made their variables."""
    before, _tracing.is_on = _tracing.is_on, True
    try:
        yield
    finally:
        _tracing.is_on = before


__all__ = ["is_traced_for", "tracing"]
