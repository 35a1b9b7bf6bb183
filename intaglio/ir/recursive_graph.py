"""Forward references to a graph from its own body, where the graph is not finished yet."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.errors import RecursionLimitError
from intaglio.ir.graph import Graph

# Maximum number of Python frames of a call of a graph from a graph, through branches and loops.
FRAMES_PER_CALL = 24


class _Depth(threading.local):
    def __init__(self) -> None:
        self.calls: dict[int, int] = {}


_depth = _Depth()


class RecursiveGraph(Graph):
    """A forward reference to a graph within its own body: input and output specs, and a name.

    Its nodes are the Placeholders of its inputs and of its outputs. A run continues
    in `target`, once `resolve` has named it; passes leave it alone.
    """

    __slots__ = ("_run", "_target", "limit")

    opaque = True

    def __init__(self, graph: Graph, limit: int) -> None:
        super().__init__(graph.name, graph.inputs, graph.nodes, graph.outputs)
        self.limit = limit
        self.compiled = self.optimized_run = self._caller()
        self._target: Callable[[], Graph] | None = None
        self._run: Callable[[Graph], Callable[..., Any]] | None = None

    @property
    def stateful(self) -> bool:
        """True: passes may not run it early, twice or not at all."""
        return True

    @property
    def target(self) -> Graph:
        """The graph that this one forwards to. Raises ValueError while it is not finished."""
        if self._target is None:
            raise ValueError(f"the graph {self.name} calls itself and is not finished")
        return self._target()

    def resolve(
        self, target: Callable[[], Graph], run: Callable[[Graph], Callable[..., Any]]
    ) -> None:
        """Sets the graph, by a function called on the first run, and its compiler to a function."""
        self._target, self._run = target, run

    def _caller(self) -> Callable[..., Any]:
        """The function that runs the graph: in pure Python, so that calls do not use the C stack."""

        def call(*arrays: Any) -> tuple[Any, ...]:
            run = self._run
            if run is None:
                raise ValueError(f"the graph {self.name} calls itself and is not finished")
            with self._deeper():
                return run(self.target)(*arrays)

        return call

    @contextmanager
    def _deeper(self) -> Generator[None]:
        """Counts nested calls. Raises RecursionError beyond the limit."""
        calls = _depth.calls
        depth = calls.get(id(self), 0) + 1
        if depth > self.limit:
            raise RecursionLimitError(
                f"{self.name} has called itself {self.limit} times without coming to an end. If it is "
                "meant to go deeper, trace it under `intaglio.recursion(limit=...)`."
            )
        limit = sys.getrecursionlimit()
        if depth == 1:
            sys.setrecursionlimit(max(limit, FRAMES_PER_CALL * self.limit))
        calls[id(self)] = depth
        try:
            yield
        finally:
            calls[id(self)] = depth - 1
            if depth == 1:
                del calls[id(self)]
                sys.setrecursionlimit(limit)
