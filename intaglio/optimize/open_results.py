"""Pads results whose shape depends on data to their maximum size, and adds their shape as a result."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int32, int64
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door, raw
from intaglio.optimize.branch_sinking import evaluated_with_branches
from intaglio.optimize.partial_evaluation import graphs_of

# The element of a shape result after the last dimension.
NO_DIMENSION = -1


def with_padded_results(graph: Graph, also: Collection[int] = ()) -> tuple[Graph, list[int]]:
    """The graph with padded results, and which results these are: of data-dependent shape, or in `also`.

    Such a result is a vector of its elements followed by zeros. Its shape is an additional int64 result after
    all others, with `NO_DIMENSION` after the last dimension. A result without a known maximum is not padded.
    """
    extents = {
        number: _extent(value)
        for number, value in enumerate(graph.outputs)
        if value.dtype.is_numpy_compatible and (number in also or not shapes.known(value.dims))
    }
    limits = {number: e for number, e in extents.items() if e is not None}
    if not limits:
        return graph, []
    new = Rewriter(graph)
    for node in graph.nodes:
        new.keep(node)
    outputs, added = [*graph.outputs], list[SymbolicTensor]()
    with door.pushed(new):
        for number, (count, rank) in limits.items():
            value = graph.outputs[number]
            dims = raw.Shape(value, out_type=int64)
            size = raw.Cast(raw.Prod(dims, np.array([0], np.int32)), DstT=int32)
            missing = raw.Sub(np.int32(count), size)
            flat = raw.Reshape(value, np.array([-1], np.int32))
            outputs[number] = _padded(flat, missing, np.zeros((), value.dtype.numpy))
            rest = raw.Sub(np.int32(rank), raw.Cast(raw.Size(dims), DstT=int32))
            added.append(_padded(dims, rest, np.int64(NO_DIMENSION)))
    extended = Graph(graph.name, graph.inputs, new.nodes, [*outputs, *added])
    return evaluated_with_branches(extended, [None] * len(extended.inputs)), [*limits]


def _padded(vector: SymbolicTensor, count: SymbolicTensor, element: Any) -> SymbolicTensor:
    sides = raw.Reshape(raw.Pack([np.int32(0), count], axis=0), np.array([1, 2], np.int32))
    return raw.PadV2(vector, sides, element)  # type: ignore[return-value]  # a graph's tensor


def _extent(value: SymbolicTensor) -> tuple[int, int] | None:
    """The maximum number of elements and of dimensions of a value, which may follow from branches."""
    if shapes.known(value.dims):
        return math.prod(value.dims or ()), len(value.dims or ())
    node = value.node
    if node.op.is_identity:
        return _extent(node.inputs[value.index])
    if node.op.control_flow != "branch":
        return None
    found = [_extent(g.outputs[value.index]) for _, g in graphs_of(node)]
    if any([f is None for f in found]):
        return None
    known = [f for f in found if f is not None]
    return max(count for count, _ in known), max(rank for _, rank in known)
