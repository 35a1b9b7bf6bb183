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
# Maximum number of specialised versions of a graph; further shapes use code with open dimensions.
MAX_SHAPES = 16


class _ByShape:
    """A graph with one specialised version for each of the first `MAX_SHAPES` input shapes."""

    def __init__(self, graph: Graph, make: Callable[[Graph], Run | None]) -> None:
        self._graph = graph
        self._make = make
        self._versions: dict[Any, Run | None] = {}
        self._lock = lasting_lock()

    def _new_version(self, key: tuple[Any, ...]) -> Run | None:
        """The version that `make` returns for these shapes; None once there are `MAX_SHAPES`."""
        with self._lock:
            if key not in self._versions and len(self._versions) < MAX_SHAPES:
                self._versions[key] = self._make(specialized(self._graph, key))
            return self._versions.get(key)


class Versions(_ByShape):
    """A graph as a function that is compiled for each of the first shapes of its calls.

    The code for a shape is the same from its first call on, so results do not change between calls.
    """

    def __init__(self, graph: Graph, compiled: Callable[[Graph], Run]) -> None:
        super().__init__(graph, lambda one: compiled(optimize(one)))
        self._compiled = compiled
        self._general: Run | None = None

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        key = tuple([a.shape for a in arrays])
        run = self._versions.get(key) or self._new_version(key) or self._for_any_shape()
        return run(*arrays)

    def _for_any_shape(self) -> Run:
        with self._lock:
            self._general = self._general or self._compiled(self._graph)
            return self._general


# Number of elements from which on an array's call is looked up by its shapes; smaller calls skip that.
MIN_ELEMENTS = 1 << 12


class ProfitableVersions(_ByShape):
    """A graph as a function that is compiled ahead of time for shapes where that is profitable.

    `compiled` gives code for the graph of some shapes, or None. Calls of other shapes are
    interpreted: as traced the first time, `optimized` from then on.
    """

    def __init__(
        self,
        graph: Graph,
        compiled: Callable[[Graph], Run | None],
        optimized: Callable[[Graph], Run],
    ) -> None:
        super().__init__(graph, compiled)
        self._optimized = optimized
        self._interpreted: Run | None = None
        self._min_elements = 0 if native.is_profitable(graph) else MIN_ELEMENTS

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
                key = tuple([a.shape for a in arrays])
                known = key in self._versions
                run = self._versions[key] if known else self._new_version(key)
                return (run or self._plain())(*arrays)
        return self._plain()(*arrays)

    def _plain(self) -> Run:
        """The interpreted graph, for shapes without code."""
        if self._interpreted is None:
            if self._graph.compiled is None:
                return interpreter.compiled(self._graph)
            self._interpreted = self._optimized(self._graph)
        return self._interpreted
