"""Checks constants against the specs of their nodes: machine code reads as many bytes as a spec
declares."""

from __future__ import annotations

import numpy as np

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw


def constants_agree(graph: Graph) -> bool:
    """True if every constant of the graph, and of those nested in it, has its node's dtype and shape."""
    return all(
        _agrees(node)
        for each in (graph, *walk.nested(graph))
        for node in each.nodes
        if node.op is raw.Const
    )


def _agrees(node: Node) -> bool:
    value, declared = node.attrs["value"], node.outputs[0]
    return (
        isinstance(value, (np.ndarray, np.generic))
        and value.dtype == declared.dtype.numpy
        and value.shape == declared.dims
        and value.nbytes == value.size * value.dtype.itemsize
    )
