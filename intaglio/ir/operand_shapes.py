"""Whether the operands of a node have shapes that its op takes, where only a run would tell otherwise.

Compiled code broadcasts whatever fits together; an op whose operands must have one shape refuses
more than that, with an error that its kernel raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Node


def refused(node: Node, dims: Sequence[Dims]) -> bool:
    """True if inference refuses inputs of these shapes, one for each input."""
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
    """True if the shapes of the inputs are known to be such as the op takes, or if it broadcasts them."""
    dims = [v.dims for v in node.inputs]
    if len(dims) < 2 or node.op.batching == "broadcast":
        return True
    if not all(shapes.known(d) for d in dims):
        return False
    return all(d == dims[0] for d in dims) or not refused(node, dims)
