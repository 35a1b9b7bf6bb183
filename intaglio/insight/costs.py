"""What a graph costs, counted from its ops and the sizes of its arrays: `stage.cost()`."""

from __future__ import annotations

import math
from typing import NamedTuple

from intaglio.base import shapes
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT


class Cost(NamedTuple):
    """An estimate for one call.

    `flops`: a multiplication and an addition count as two, a function such as exp as one; of branches the
    dearest counts, of a loop as many iterations as follow from the graph, else one. `bytes` is what the ops read and
    write, `peak_bytes` what is alive at once, op by op. `open` is the number of results whose
    size is not known: they count as one element for each open dimension, or as one.
    """

    flops: int
    bytes: int
    peak_bytes: int
    open: int

    def __str__(self) -> str:
        more = f", {self.open} results of unknown size" if self.open else ""
        return f"{self.flops} flops, {self.bytes} bytes moved, {self.peak_bytes} at once{more}"


def cost_of(graph: Graph) -> Cost:
    """The cost of a graph, with that of the graphs in it."""
    flops = moved = unknown = 0
    inside = 0  # the most that a graph in this one needs
    for node in graph.nodes:
        if node.op in (raw.Placeholder, raw.Const):
            continue
        flops += _flops(node)
        if not node.op.free:
            moved += sum([_bytes(v) for v in (*node.inputs, *node.outputs)])
        unknown += sum([not shapes.known(v.dims) for v in node.outputs])
        parts = [cost_of(g) for g in walk.attached(node)]
        if parts:
            times = node.attrs.get(KNOWN_TRIP_COUNT, 1) if node.op.control_flow == "loop" else 1
            count = sum if node.op.control_flow == "loop" else max
            flops += times * count([p.flops for p in parts])
            moved += times * count([p.bytes for p in parts])
            unknown += sum([p.open for p in parts])
            inside = max(inside, *[p.peak_bytes for p in parts])
    return Cost(flops, moved, _peak(graph) + inside, unknown)


def _flops(node: Node) -> int:
    op = node.op
    if op.has_graphs or op.shape_only or op.free:
        return 0
    results = sum([_elements(v) for v in node.outputs])
    operands = sorted([_elements(v) for v in node.inputs], reverse=True)
    if op.bilinear:
        return 2 * round(math.sqrt(math.prod(operands[:2]) * results))
    if op.reduces or op.combines:
        return operands[0] if operands else 0
    return results if "scalar" in op.rules else 0


def _peak(graph: Graph) -> int:
    """The most bytes that are alive between two nodes, each result up to the last node that reads it."""
    last = {id(v): len(graph.nodes) for v in graph.outputs}
    for at, node in enumerate(graph.nodes):
        for value in node.inputs:
            last[id(value)] = max(last.get(id(value), 0), at)
    ends: dict[int, int] = {}
    alive = most = 0
    for at, node in enumerate(graph.nodes):
        for value in node.outputs:
            size = _bytes(value)
            alive += size
            until = last.get(id(value), at)
            ends[until] = ends.get(until, 0) + size
        most = max(most, alive)
        alive -= ends.pop(at, 0)
    return most


def _elements(value: SymbolicTensor) -> int:
    dims = value.dims
    return 1 if dims is None else math.prod([1 if d is None else d for d in dims])


def _bytes(value: SymbolicTensor) -> int:
    return _elements(value) * (value.dtype.size or 0)


__all__ = ["Cost", "cost_of"]
