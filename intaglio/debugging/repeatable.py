"""A call of a traced function that tools run several times, on copies of what it may change."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from intaglio.base.origins import Frame
from intaglio.function.decorator import function as traced
from intaglio.function.polymorphic import Function
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.runtime.call_state import CallState, streams
from intaglio.runtime.resources import Resource

# What the name of a variable's resource has behind the variable's own.
_NUMBER = re.compile(r"/\d+$")
# What an op reaches that running it again would change once more, by the trait `reaches_outside`.
OUTSIDE = {
    "python": "calls Python",
    "files": "reads or writes files",
    "data": "reads a dataset",
    "tables": "uses a lookup table",
}


def as_function(function: Any) -> Function:
    """What `tf.function` makes of a callable; a traced function is what it is."""
    if isinstance(function, Function):
        return function
    if not callable(function):
        raise TypeError(f"expected a function, got {type(function).__name__}")
    return traced(function)


def line_of(node: Node) -> Frame | None:
    """The user's line that made a node, the innermost one."""
    frames = node.frames
    return frames[0] if frames else None


class RepeatableCall:
    """One call: its trace, the arrays that its graph takes, and the state before it."""

    def __init__(self, function: Function, args: Sequence[Any], kwargs: dict[str, Any]) -> None:
        self.function = function
        self.args, self.kwargs = tuple(args), kwargs
        self.concrete, tensors = function.trace_of(self.args, kwargs)
        for state in self.concrete.states:
            state.take()
        self.graph = self.concrete.frozen
        inputs = [t._array for t in tensors]
        self.arrays: list[Any] = [*inputs, *self.concrete.capture_arrays]
        self.state = CallState(self.arrays, streams(self.graph))

    @property
    def variables(self) -> list[Resource]:
        """The variables that the call may read or write, each once."""
        found = {id(a): a for a in self.arrays if isinstance(a, Resource)}
        return list(found.values())

    def name_of_result(self, index: int) -> str:
        """What message call result `index` of a run on copies: results first, then variables."""
        count = len(self.graph.outputs)
        if index < count:
            return f"result {index}" if count > 1 else "the result"
        name = self.variables_of_runs[index - count].name
        return f"variable {_NUMBER.sub('', name)!r}"

    @property
    def variables_of_runs(self) -> list[Resource]:
        """The variables whose arrays follow the results of `state.run`, in its order."""
        return [a for a in self.arrays if isinstance(a, Resource) and a.initialized]


def refusal(graph: Graph) -> str | None:
    """Why a graph cannot be run several times, with the line; None if it can."""
    for inner in (*walk.nested(graph), graph):
        for node in inner.nodes:
            why = OUTSIDE.get(node.op.reaches_outside or "")
            if why and node.op.stateful and node.op.writes:
                frame = line_of(node)
                return f"{node.op.name}{f' at {frame.short}' if frame else ''} {why}"
    return None
