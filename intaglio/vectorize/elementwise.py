"""Rules of ops that work element by element, or on the last dimensions of what they get."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.opdef import late, raw
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows, again, shifted, vectorizes


def leading(rows: Rows, node: Node, *inputs: Row) -> Any:
    """The op sees no difference; only the first of its inputs may differ from row to row."""
    count = node.op.batched_inputs
    stacked = [rows.stack(r) for r in inputs[:count]]
    return again(node, [*stacked, *[r.same for r in inputs[count:]]])


def broadcasting(rows: Rows, node: Node, *inputs: Row) -> Any:
    """Rows of fewer dimensions get those that are missing behind the rows."""
    widest = max(r.rank for r in inputs)
    attrs = node.attrs
    if attrs.get("incompatible_shape_error") is False:
        raise NotVectorizableError("shapes that do not fit give one answer here")
    return again(node, [rows.aligned(r, widest) for r in inputs])


def alike(rows: Rows, node: Node, *inputs: Any) -> Any:
    """What all rows share is repeated for each."""
    flat = [r for i in inputs for r in (i if isinstance(i, list) else [i])]
    attrs = dict(node.attrs)
    if attrs.get("shape") is not None:  # AccumulateNV2
        attrs["shape"] = (rows.known, *attrs["shape"])
    return again(node, [rows.stack(r) for r in flat], **attrs)


@vectorizes(late.Betainc)
def alike_or_scalars(rows: Rows, node: Node, *inputs: Row) -> Any:
    """Scalars go with all elements, which those of a row do not."""
    if len({r.rank for r in inputs}) > 1 and any(r.stacked and not r.rank for r in inputs):
        raise NotVectorizableError("a scalar of each row goes with all its elements")
    if len({r.rank for r in inputs}) > 1:
        return again(node, [rows.stack(r) if r.rank else r.tensor for r in inputs])
    return again(node, [rows.stack(r) for r in inputs])


@vectorizes(late.Eig, raw.SelfAdjointEigV2, raw.Svd)
def values_and_vectors(rows: Rows, node: Node, x: Row) -> Any:
    """Eigenvectors that are not computed are one empty tensor."""
    outputs = again(node, [x.tensor])
    if node.attrs.get("compute_v", node.attrs.get("compute_uv")):
        return outputs
    rest = zip(outputs[1:], node.outputs[1:], strict=True)
    return [outputs[0], *[Row(t, False, v.spec) for t, v in rest]]


@vectorizes(late.FFTND, late.IFFTND, late.IRFFTND, late.RFFTND)
def transform(rows: Rows, node: Node, x: Row, length: Row, axes: Row) -> Any:
    """The axes are one further on."""
    return again(node, [x.tensor, length.same, shifted(axes)])


@vectorizes(raw.Select)
def select(rows: Rows, node: Node, condition: Row, x: Row, y: Row) -> Any:
    """The condition chooses elements, whole rows of rows, or whole rows."""
    chosen = condition.tensor
    if condition.stacked or condition.rank:
        for _ in range(x.rank - condition.rank):
            chosen = raw.ExpandDims(chosen, np.int32(-1))
    return raw.SelectV2(chosen, rows.stack(x), rows.stack(y))


@vectorizes(raw.ClipByValue)
def clip(rows: Rows, node: Node, t: Row, low: Row, high: Row) -> Any:
    """Bounds may be one number for a row."""
    widest = max(t.rank, low.rank, high.rank)
    if not (low.stacked or high.stacked) and low.rank == high.rank == 0:
        return again(node, [t.tensor, low.tensor, high.tensor])
    below = raw.Minimum(rows.aligned(t, widest), rows.aligned(high, widest))
    return raw.Maximum(below, rows.aligned(low, widest))


@vectorizes(raw.IdentityN)
def identities(rows: Rows, node: Node, values: list[Row]) -> Any:
    """Each value as it is."""
    return list(values)


@vectorizes(raw.EnsureShape)
def ensure_shape(rows: Rows, node: Node, x: Row) -> Any:
    """The shape is that of one row."""
    wanted = node.attrs["shape"]
    return again(node, [x.tensor], shape=None if wanted is None else (rows.known, *wanted))


@vectorizes(raw.StringJoin)
def join_strings(rows: Rows, node: Node, values: list[Row]) -> Any:
    """Scalars are joined to all elements."""
    widest = max(r.rank for r in values)
    return again(node, [rows.stack(r) if r.rank == widest else r.same for r in values])


@vectorizes(raw.Assert)
def check(rows: Rows, node: Node, condition: Row, data: list[Row]) -> Any:
    """It holds if it holds for every row."""
    axes = np.arange(condition.rank + 1, dtype=np.int32)
    return again(node, [raw.All(rows.stack(condition), axes), *[d.tensor for d in data]])
