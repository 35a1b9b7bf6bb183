"""Variables that a function creates while it is traced: where this is allowed, and initial values.

Follows https://www.tensorflow.org/guide/function#creating_tfvariables: a function may create
variables when it is called for the first time only, and they start with a value computed
outside of the graph.
"""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from intaglio.base.errors import InaccessibleTensorError
from intaglio.ir import walk
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.eager import EagerTensor, from_array

SINGLETON = (
    "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
    "is only created once or created outside tf.function. See "
    "https://www.tensorflow.org/guide/function#creating_tfvariables for more information."
)


def admit(variable: Any) -> None:
    """Called for every variable that is created; the function being traced records it.

    Raises ValueError if that function may make no variables now.
    """
    for level in reversed(door.stack().levels):
        graph = getattr(level, "graph", None)
        if level.eager:
            return
        allow = getattr(graph, "admit_variable", None)
        if allow is not None:
            allow(variable)
            return


class _Collections(threading.local):
    """The collections that variables of plain graphs join, where they are not the usual ones."""

    def __init__(self) -> None:
        self.names: list[Any] | None = None


_collections = _Collections()


@contextmanager
def collected_in(names: list[Any] | None) -> Generator[None]:
    """Variables of plain graphs join these collections; None for the usual ones."""
    outer, _collections.names = _collections.names, names
    try:
        yield
    finally:
        _collections.names = outer


def collect(variable: Any) -> None:
    """Adds a variable of a plain graph to collections of the graph, each once."""
    names = ["variables"] if _collections.names is None else list(_collections.names)
    if variable.trainable and "trainable_variables" not in names:
        names.append("trainable_variables")
    variable.graph.add_to_collections(names, variable)


def lift(tensor: Tensor) -> EagerTensor:
    """The value of a tensor of the function being traced, computed at once.

    Raises ValueError if it depends on an argument whose value is not known, as in
    `get_concrete_function` with specs only.
    """
    if isinstance(tensor, EagerTensor):
        return tensor
    assert isinstance(tensor, SymbolicTensor)
    nodes = _above(tensor)
    inputs = [n.outputs[0] for n in nodes if n.op is raw.Placeholder]
    arrays = [_value_of(v) for v in inputs]
    graph = FrozenGraph("initial_value", inputs, nodes, [tensor])
    return from_array(interpreter.compiled(graph)(*arrays)[0])


def _above(tensor: SymbolicTensor) -> Sequence[Node]:
    """The nodes that a tensor is computed from, in order."""
    wanted: dict[int, Node] = {}
    work = [tensor.node]
    while work:
        node = work.pop()
        if id(node) not in wanted:
            wanted[id(node)] = node
            work.extend([v.node for v in node.inputs])
    return [n for n in tensor.node.graph.nodes if id(n) in wanted]


def _value_of(placeholder: SymbolicTensor) -> Any:
    graph = placeholder.graph
    for outer, inner in graph.captured.values():
        if inner is placeholder:
            return lift(outer)._array
    example = graph.example.get(id(placeholder))
    if example is None:
        raise ValueError(
            f"A tf.Variable created inside a tf.function starts with a value that depends on the argument "
            f"{placeholder.node.name!r}, whose value is not known while tracing. Create the variable outside "
            "of the function, or give it a constant initial value."
        )
    return lift(example)._array


__all__ = ["SINGLETON", "InaccessibleTensorError", "admit", "lift", "walk"]
