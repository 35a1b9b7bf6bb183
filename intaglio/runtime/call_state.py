"""A snapshot of the state that a call of a graph may change: variables among its inputs, random streams.

A tool that runs a call several times (to check machine code, to find an op) runs it on copies of the
variables. A copy costs no memory until it is written: a write to a variable whose array has other
references allocates another array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES
from intaglio.runtime.random_state import replaying
from intaglio.runtime.resources import Resource

Run = Callable[..., Sequence[Any]]


def streams(graph: Graph) -> list[Any]:
    """The random streams that a graph draws from."""
    graphs = [*walk.nested(graph), graph]
    return [
        interpreter.kept(node, SERVICES.stream)
        for g in graphs
        for node in g.nodes
        if node.op.is_random
    ]


def contents(arguments: Sequence[Any]) -> list[Any]:
    """The arrays of the variables among the arguments that have one."""
    return [a.read() for a in arguments if isinstance(a, Resource) and a.initialized]


class CallState:
    """The current values of the variables among a call's arguments, and the positions of random streams."""

    def __init__(self, arrays: Sequence[Any], streams: Sequence[Any] = ()) -> None:
        # The copy of an uninitialized variable is uninitialized: the run raises for it.
        self._values = {
            id(a): a.read() for a in arrays if isinstance(a, Resource) and a.initialized
        }
        self._arrays = arrays
        self._marks = [(s, s.mark()) for s in streams]

    def arguments(self) -> list[Any]:
        """The arguments, with copies of the variables as they were."""
        copies: dict[int, Any] = {}
        for a in self._arrays:
            if isinstance(a, Resource) and id(a) not in copies:
                copies[id(a)] = copy = Resource(a.spec, a.name, a.container)
                if id(a) in self._values:
                    copy.assign(self._values[id(a)])
        return [copies.get(id(a), a) for a in self._arrays]

    def rewind(self) -> None:
        """Resets the streams to their positions in the snapshot."""
        for stream, mark in self._marks:
            stream.reset(mark)

    def replaying(self) -> AbstractContextManager[None]:
        """A block in which this thread draws from copies of the streams, at their positions in the snapshot."""
        return replaying(self._marks)

    def restore(self) -> None:
        """Assigns the snapshot's values to the variables themselves, and resets the streams."""
        for a in self._arrays:
            if isinstance(a, Resource) and id(a) in self._values:
                a.assign(self._values[id(a)])
        self.rewind()

    def run(self, run: Run) -> list[Any]:
        """The results of a call on copies, and the values of the copies after it."""
        self.rewind()
        arguments = self.arguments()
        results = run(*arguments)
        return [*results, *contents(arguments)]
