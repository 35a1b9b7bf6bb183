"""Graphs during lowering, and notes on the code of their nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.base import shapes
from intaglio.ir.graph import Graph, Node
from intaglio.native.lowering.operands import ArrayOperand, Variable


class Note(NamedTuple):
    """The code of a node: `how` is "" for values in registers, or for no code at all."""

    depth: int
    node: Node
    how: str


class Scope:
    """A graph during lowering: the operands of its values, and the last use of each."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[int, Any] = {}
        # The preferred pointers of outputs of the graph, by the ids of values.
        self.targets: dict[int, str] = {}
        # The variables whose memory contains some of them.
        self.assigned: dict[int, Variable] = {}
        self.at = 0
        self.last: dict[int, int] = {id(v): len(graph.nodes) for v in graph.outputs}
        self.ends: dict[int, list[int]] = {}
        for index in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[index]
            for value in (*node.inputs, *node.outputs):
                if id(value) not in self.last:
                    self.last[id(value)] = index
                    self.ends.setdefault(index, []).append(id(value))

    def define(self, node: Node, inputs: Sequence[Any], operands: Sequence[Any]) -> None:
        """Records the operands of a node's outputs.

        Raises AssertionError for one of another shape than the node's, or one in the memory of an
        input without a reference to it: its users would read overwritten memory.
        """
        for value, operand in zip(node.outputs, operands, strict=True):
            self.values[id(value)] = operand
            if not isinstance(operand, ArrayOperand):
                continue
            if not shapes.compatible(operand.shape, value.dims):
                raise AssertionError(
                    f"code for {node.op.name} gives the shape {operand.shape}, not {value.dims}"
                )
            for operand_in in inputs:
                same = (
                    isinstance(operand_in, ArrayOperand)
                    and operand.pointer == operand_in.pointer != ""
                )
                if same and not {*operand_in.blocks} <= {*operand.blocks}:
                    raise AssertionError(
                        f"code for {node.op.name} hands on memory that the result does not hold"
                    )
