"""Checks whether the operands of a node have shapes that its op accepts, before the graph runs.

Compiled code broadcasts all compatible shapes, but an op whose operands must have one shape rejects
some of these, with an error that its kernel raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Node


def refused(node: Node, dims: Sequence[Dims]) -> bool:
    """True if the op's shape inference rejects inputs of these shapes, one for each input."""
    specs = [
        v.spec if v.dims == d else v.spec.like(shape=d)
        for v, d in zip(node.inputs, dims, strict=True)
    ]
    try:
        node.op.output_specs(specs, node.attrs)
    except (ValueError, TypeError, KeyError):
        return True
    return False


def are_accepted(node: Node) -> bool:
    """True if the op broadcasts its inputs, or accepts their shapes, which are known."""
    dims = [v.dims for v in node.inputs]
    if len(dims) < 2 or node.op.batching == "broadcast":
        return True
    if not all(shapes.known(d) for d in dims):
        return False
    return all(d == dims[0] for d in dims) or not refused(node, dims)
