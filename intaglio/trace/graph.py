"""`tf.Graph` and the graph of a function: what a recorder writes into."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, from_numpy
from intaglio.base.errors import InaccessibleTensorError
from intaglio.base.shapes import Dims
from intaglio.ir.builder import GraphBuilder
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.op import door, operators, raw
from intaglio.op.spec import Spec
from intaglio.op.tensor import Tensor
from intaglio.runtime.eager import EagerTensor
from intaglio.trace.recorder import Recorder

# Eager tensors of at most this many elements become constants of the graph that uses them.
SMALL_CONSTANT = 128
_ids = itertools.count(140000000000000, 16)


class Graph(GraphBuilder):
    """A graph that ops are recorded into. `tf.Graph`."""

    building_function = False

    def __init__(self) -> None:
        super().__init__()
        self.seed: int | None = None
        self.collections: dict[Any, list[Any]] = {}
        self._recorder = Recorder(self)

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Ops of the block are recorded into this graph."""
        with door.pushed(self._recorder):
            yield self

    def get_operations(self) -> list[Node]:
        """All operations, in the order they were made."""
        return list(self.nodes)

    def spec_of_constant(self, array: Any) -> Spec:
        """The spec of an array as a constant."""
        return Spec(from_numpy(array.dtype), array.shape, array)

    def capture(self, tensor: Tensor, name: str | None = None) -> SymbolicTensor:
        """A tensor of elsewhere as a value of this graph. Raises ValueError: plain graphs capture nothing."""
        if isinstance(tensor, EagerTensor):
            return self._recorder.constant(tensor._array)  # type: ignore[return-value]
        raise ValueError(
            f"Tensor {tensor!r} must be from the same graph as the graph {self!r}."
        )

    def note_effects(self, node: Node) -> None:
        """Called for every node recorded."""

    def placeholder(self, dtype: DType, shape: Dims, name: str) -> SymbolicTensor:
        """An input of the graph."""
        attrs = {"dtype": dtype, "shape": shape}
        return self.add(
            raw.Placeholder, (), attrs, name, [Spec(dtype, shape)], skip=2
        ).outputs[0]


class FuncGraph(Graph):
    """The graph of a traced function: a graph with inputs, captures and outputs."""

    building_function = True

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.ident = next(_ids)
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[SymbolicTensor] = []
        self.captured: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.outer = door.level()
        self.finished = False

    def __repr__(self) -> str:
        return f"FuncGraph(name={self.name}, id={self.ident})"

    def capture(self, tensor: Tensor, name: str | None = None) -> SymbolicTensor:
        """A tensor of outside as an input of this graph; small eager ones become constants."""
        found = self.captured.get(id(tensor))
        if found is not None:
            return found[1]
        if isinstance(tensor, EagerTensor):
            array = tensor._array
            if (
                isinstance(array, (np.ndarray, np.generic))
                and array.size <= SMALL_CONSTANT
            ):
                value = self._recorder.constant(array)
                self.captured[id(tensor)] = (tensor, value)  # type: ignore[assignment]
                return value  # type: ignore[return-value]
        elif not self._encloses(tensor):
            raise InaccessibleTensorError(self._leak_text(tensor))
        return self._as_input(tensor, name)

    def _as_input(self, tensor: Tensor, name: str | None) -> SymbolicTensor:
        symbolic = isinstance(tensor, SymbolicTensor)
        base = name or (tensor.node.name.rsplit("/", 1)[-1] if symbolic else "capture")  # type: ignore[attr-defined]
        value = self.placeholder(tensor.dtype, tensor.dims, base)
        if symbolic:
            value.spec = tensor.spec  # type: ignore[attr-defined]
        self.captured[id(tensor)] = (tensor, value)
        self.inputs.append(value)
        return value

    @property
    def captures(self) -> list[tuple[Tensor, SymbolicTensor]]:
        """(outer tensor, input) of what became an input, in order."""
        return [
            pair
            for pair in self.captured.values()
            if pair[1].node.op.name == "Placeholder"
        ]

    @property
    def external_captures(self) -> list[Tensor]:
        """The outer tensors that calls must pass along."""
        return [outer for outer, _ in self.captures]

    def _encloses(self, tensor: Tensor) -> bool:
        """True if the tensor's graph is being recorded outside this one right now."""
        levels = door.stack().levels
        return any(getattr(lv, "graph", None) is tensor.graph for lv in levels)  # type: ignore[attr-defined]

    def _leak_text(self, tensor: Any) -> str:
        return operators.out_of_scope(tensor)

    def freeze_function(self) -> FrozenGraph:
        """The finished graph."""
        return self.freeze(self.name, self.inputs, self.outputs)


def record(
    function: Callable[..., Any], name: str, specs: Sequence[tuple[DType, Dims, str]]
) -> tuple[FuncGraph, Any]:
    """Records `function` called with one placeholder for each (dtype, shape, name)."""
    graph = FuncGraph(name)
    with graph.as_default():
        arguments = [
            graph.placeholder(dtype, shape, label) for dtype, shape, label in specs
        ]
        graph.inputs.extend(arguments)
        result = function(*arguments)
    return graph, result
