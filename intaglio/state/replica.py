"""Which replica of a strategy runs this code: what a function does may depend on it.

A variable with copies (`distribute/variables.py`) is the copy of the replica, so that a function has a
trace for each. `distribute/contexts.py` says which it is.
"""

from __future__ import annotations

from collections.abc import Hashable

from intaglio.base.threads import Inherited


class _Running(Inherited):
    def __init__(self) -> None:
        self.replica: Hashable = None


RUNNING = _Running()

__all__ = ["RUNNING"]
