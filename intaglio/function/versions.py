"""Compiled graphs with dynamic shapes: a specialised version for each shape of a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio import native
from intaglio.base.locks import lasting_lock
from intaglio.ir.graph import Graph
from intaglio.optimize.pipeline import optimize
from intaglio.optimize.specialize import specialized
from intaglio.runtime import interpreter

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


# Calls whose arrays are all smaller are not asked for their shapes.
MIN_ELEMENTS = 1 << 12


class PayingVersions:
    """A graph as a function that is compiled for the first shapes for which that pays at once.

    `compiled` gives code for the graph of some shapes, or None. Calls of other shapes are
    interpreted: as traced the first time, `optimized` from then on.
    """

    def __init__(
        self,
        graph: Graph,
        compiled: Callable[[Graph], Run | None],
        optimized: Callable[[Graph], Run],
    ) -> None:
        self._graph = graph
        self._compiled = compiled
        self._optimized = optimized
        self._versions: dict[Any, Run | None] = {}
        self._interpreted: Run | None = None
        self._min_elements = 0 if native.pays_at_once(graph) else MIN_ELEMENTS
        self._lock = lasting_lock()

    @property
    def native(self) -> bool:
        """Whether there is code for any shape."""
        return any(getattr(v, "native", False) for v in self._versions.copy().values())

    @property
    def state(self) -> str:
        """How the graph runs, in words."""
        some = sum(v is not None for v in self._versions.copy().values())
        return f"compiled for {some} shapes, before their first calls; interpreted for others"

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        for array in arrays:
            if array.size >= self._min_elements:
                return (self._version(arrays) or self._plain())(*arrays)
        return self._plain()(*arrays)

    def _version(self, arrays: tuple[Any, ...]) -> Run | None:
        key = tuple([a.shape for a in arrays])
        if key in self._versions:
            return self._versions[key]
        with self._lock:
            if key not in self._versions:
                if len(self._versions) >= MAX_SHAPES:
                    return None
                self._versions[key] = self._compiled(specialized(self._graph, key))
            return self._versions[key]

    def _plain(self) -> Run:
        """The graph for shapes without code."""
        if self._interpreted is None:
            if self._graph.compiled is None:
                return interpreter.compiled(self._graph)
            self._interpreted = self._optimized(self._graph)
        return self._interpreted
