"""The first call of code that a function has changed over to: if it fails, the interpreter does it.

Variables and streams of random numbers are as before the call then. The snapshot costs no copy:
a write to a variable whose array has other references goes to another array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph
from intaglio.native import fallback
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES
from intaglio.runtime.resources import Resource

Run = Callable[..., tuple[Any, ...]]


def streams(graph: Graph) -> list[Any]:
    """The streams of random numbers that a graph draws from."""
    graphs = [*walk.nested(graph), graph]
    return [
        interpreter.kept(node, SERVICES.stream)
        for g in graphs
        for node in g.nodes
        if ("service", "stream") in node.op.kernel_order
    ]


class _Snapshot:
    """What a call may change: the variables among its inputs, and streams."""

    def __init__(self, arrays: Sequence[Any], streams: Sequence[Any]) -> None:
        # One that has no value stays without: what runs raises for it.
        variables = [a for a in arrays if isinstance(a, Resource) and a.initialized]
        self._values = [(v, v._value) for v in variables]
        self._marks = [(s, s.mark()) for s in streams]

    def restore(self) -> None:
        """Takes everything back, and holds nothing any more."""
        for variable, value in self._values:
            with variable.lock:
                variable.put(value)
        for stream, mark in self._marks:
            stream.back(mark)
        self._values.clear()


def call(
    name: str, compiled: Run, run: Run, arrays: Sequence[Any], streams: Sequence[Any]
) -> tuple[tuple[Any, ...], bool]:
    """The results of a call of `compiled`, or of the interpreted `run` if it fails where that does not.

    And whether `compiled` did it. Raises what `run` raises, which is the program's own error.
    """
    before = _Snapshot(arrays, streams)
    try:
        return compiled(*arrays), True
    except Exception as e:
        before.restore()
        results = run(*arrays)
        fallback.failed(name, e)
        return results, False
