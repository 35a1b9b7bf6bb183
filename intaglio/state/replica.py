"""The replica of a strategy that runs the current code.

A variable with copies (`distribute/variables.py`) stands for the replica's copy, so that a function has a
trace for each replica. `distribute/contexts.py` sets it.
"""

from __future__ import annotations

from collections.abc import Hashable

from intaglio.base.threads import Inherited


class _Running(Inherited):
    def __init__(self) -> None:
        self.replica: Hashable = None


RUNNING = _Running()

__all__ = ["RUNNING"]
