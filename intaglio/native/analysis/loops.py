"""Facts about loops that passes record as attributes and lowering relies on."""

from __future__ import annotations

from intaglio.ir.graph import Graph
from intaglio.opdef import raw

# Attributes that `passes/row_blocks.py` adds to a loop whose rows are independent: (number of
# blocks, rows of a block); the axis of the rows of each loop variable, or SHARED; the shapes of
# lists' elements; the body with the shapes of one block.
ROW_BLOCKS = "_row_blocks"
ROW_AXES = "_row_axes"
ROW_ELEMENTS = "_row_elements"
ROW_BODY = "_row_body"
ROW_ATTRIBUTES = frozenset([ROW_BLOCKS, ROW_AXES, ROW_ELEMENTS, ROW_BODY])
# The axis of a value that is the same for all rows.
SHARED = -1


def changes_rows(cond: Graph, body: Graph, index: int) -> bool:
    """True if the loop variable is used by the `_AddAt` that updates it, and by nothing else."""
    value, maker = body.inputs[index], body.outputs[index].node
    if maker.op is not raw._AddAt or maker.inputs[0] is not value:
        return False
    users = sum(1 for n in body.nodes for v in n.inputs if v is value)
    used = sum(1 for v in body.outputs if v is value or v is body.outputs[index])
    read = any(v is cond.inputs[index] for n in cond.nodes for v in n.inputs)
    return users == 1 and used == 1 and not read
