"""Rules of random numbers and variables."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node
from intaglio.opdef import late, raw
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows, again, vectorizes


@vectorizes(
    raw.RandomStandardNormal,
    raw.RandomUniform,
    raw.TruncatedNormal,
    raw.RandomUniformInt,
    late.RandomGamma,
    late.RandomPoissonV2,
    always=True,
)
def random_numbers(rows: Rows, node: Node, shape: Row, *inputs: Row) -> Any:
    """Each row has numbers of its own."""
    kind = shape.spec.dtype
    whole = raw.Cast(rows.shape(shape.same), DstT=kind)
    return again(node, [whole, *[r.same for r in inputs]])


@vectorizes(raw.Multinomial, always=True)
def multinomial(rows: Rows, node: Node, logits: Row, number: Row) -> Any:
    """Each row draws for itself."""
    stacked = rows.stack(logits)
    shape = raw.Shape(stacked)
    classes = raw.StridedSlice(shape, [2], [3], [1])
    flat = raw.Reshape(stacked, raw.ConcatV2([[-1], classes], 0))
    (sampled,) = again(node, [flat, number.same])
    front = raw.StridedSlice(shape, [0], [2], [1])
    count = raw.StridedSlice(raw.Shape(sampled), [1], [2], [1])
    return raw.Reshape(sampled, raw.ConcatV2([front, count], 0))


@vectorizes(
    raw.ReadVariableOp, raw.VariableShape, raw.VarHandleOp, raw.VarIsInitializedOp, always=True
)
def read(rows: Rows, node: Node, *inputs: Row) -> Any:
    """All rows read one variable."""
    outputs = again(node, [r.same for r in inputs])
    return [Row(v, False, o.spec) for v, o in zip(outputs, node.outputs, strict=True)]


@vectorizes(raw.ResourceGather, always=True)
def gather(rows: Rows, node: Node, handle: Row, indices: Row) -> Any:
    """Rows of one table."""
    if node.attrs["batch_dims"] != 0:
        raise NotVectorizableError("the table is cut into batches")
    outputs = again(node, [handle.same, indices.tensor])
    if indices.stacked:
        return outputs
    return Row(outputs[0], False, node.outputs[0].spec)


@vectorizes(raw.ResourceGatherNd, always=True)
def gather_nd(rows: Rows, node: Node, handle: Row, indices: Row) -> Any:
    """Rows of one table."""
    outputs = again(node, [handle.same, indices.tensor])
    if indices.stacked:
        return outputs
    return Row(outputs[0], False, node.outputs[0].spec)


@vectorizes(raw.NoOp, always=True)
def nothing(rows: Rows, node: Node) -> Any:
    """Nothing for all rows."""
    return []


@vectorizes(raw.Empty, always=True)
def empty(rows: Rows, node: Node, shape: Row) -> Any:
    """Room for each row."""
    return again(node, [rows.shape(shape.same)])
