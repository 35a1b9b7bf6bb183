"""Values of loops that have as many rows in every iteration, where that number is open.

The number of rows of a batch is open in a trace that is for any batch, but no iteration changes it; the rows
of `x[:i]` are others in each.
"""

from __future__ import annotations

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.optimize.broadcasts import origin_of_shape
from intaglio.optimize.hoisting import row_source
from intaglio.optimize.trip_count import index_of

# So many loops are looked through, each of which pops what another one has pushed.
MAX_LOOPS = 8


def has_equal_rows(loop: Node, value: SymbolicTensor, depth: int = MAX_LOOPS) -> bool:
    """True if the first dimension of a value of a loop's body certainly is the same in every iteration."""
    body: Graph = loop.attrs["body"]
    value = _first_with_rows(value)
    if _is_known(value) or row_source(loop, value) is not None:
        return True
    index = index_of(body, value)
    if index is not None:
        return _first_with_rows(body.outputs[index]) is value
    return depth > 0 and _is_popped(value) and _are_pushed_equal(loop, value.node, depth - 1)


def _first_with_rows(value: SymbolicTensor) -> SymbolicTensor:
    """The first value in the chain to this one from which on the number of rows is the same."""
    while not _is_known(value):
        value = origin_of_shape(value)
        node = value.node
        if node.op is not raw.MatMul or node.attrs["transpose_a"]:
            break
        value = node.inputs[0]
    return value


def _is_popped(value: SymbolicTensor) -> bool:
    return value.node.op is raw.TensorListPopBack and value is value.node.outputs[1]


def _is_known(value: SymbolicTensor) -> bool:
    return bool(value.dims) and value.dims[0] is not None


def _are_pushed_equal(loop: Node, pop: Node, depth: int) -> bool:
    """True for a node that pops what another loop has pushed, as many rows in every iteration."""
    body: Graph = loop.attrs["body"]
    index = index_of(body, pop.inputs[0])
    if index is None or body.outputs[index] is not pop.outputs[0]:
        return False
    handle = loop.inputs[index]
    before = handle.node
    if before.op.control_flow != "loop":
        return False
    number = handle.value_index
    inner: Graph = before.attrs["body"]
    push = inner.outputs[number].node
    if push.op is not raw.TensorListPushBack or push.inputs[0] is not inner.inputs[number]:
        return False
    starts_empty = before.inputs[number].node.op is raw.EmptyTensorList
    return starts_empty and has_equal_rows(before, push.inputs[1], depth)
