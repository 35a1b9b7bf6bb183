"""Compiled graphs with dynamic shapes: a specialised version for each shape of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base.locks import lasting_lock
from intaglio.ir.graph import Graph
from intaglio.optimize.pipeline import optimize
from intaglio.optimize.specialize import specialized

Run = Callable[..., tuple[Any, ...]]
# Calls of more shapes use code that leaves them open.
MAX_SHAPES = 16


class Versions:
    """A graph as a function that is compiled again for the first shapes that it sees.

    The code for a shape is the same from its first call on, so results do not change between calls.
    """

    def __init__(self, graph: Graph, compiled: Callable[[Graph], Run]) -> None:
        self._graph = graph
        self._compiled = compiled
        self._versions: dict[Any, Run] = {}
        self._general: Run | None = None
        self._lock = lasting_lock()

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        key = tuple([a.shape for a in arrays])
        run = self._versions.get(key)
        return (run or self._version(key))(*arrays)

    def _version(self, key: Any) -> Run:
        with self._lock:
            found = self._versions.get(key)
            if found is None and len(self._versions) < MAX_SHAPES:
                found = self._compiled(optimize(specialized(self._graph, key)))
                self._versions[key] = found
            if found is None:
                found = self._general = self._general or self._compiled(self._graph)
            return found
