"""Rules of matrix products and contractions."""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.opdef import raw
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows, vectorizes


@vectorizes(raw.MatMul)
def matmul(rows: Rows, node: Node, a: Row, b: Row) -> Any:
    """Rows against one matrix are one product of a taller matrix."""
    transpose_a, transpose_b = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if a.stacked and not b.stacked and not transpose_a:
        shape = raw.Shape(a.tensor)
        inner = raw.StridedSlice(shape, [2], [3], [1])
        front = raw.StridedSlice(shape, [0], [2], [1])
        height = raw.Prod(front, np.asarray([0], np.int32), keep_dims=True)
        tall = raw.Reshape(a.tensor, raw.ConcatV2([height, inner], 0))
        product = raw.MatMul(tall, b.tensor, transpose_b=transpose_b)
        width = raw.StridedSlice(raw.Shape(product), [1], [2], [1])
        return raw.Reshape(product, raw.ConcatV2([front, width], 0))
    return raw.BatchMatMulV2(_transposed(a, transpose_a), _transposed(b, transpose_b))


def _transposed(x: Row, transpose: bool) -> Any:
    """A matrix, or each row's, transposed."""
    if not transpose:
        return x.tensor
    order = [0, 2, 1] if x.stacked else [1, 0]
    return raw.Transpose(x.tensor, np.asarray(order, np.int32))


@vectorizes(raw.Einsum)
def einsum(rows: Rows, node: Node, inputs: list[Row]) -> Any:
    """One more index, of the rows."""
    equation = node.attrs["equation"].replace(" ", "")
    free = next((c for c in string.ascii_letters if c not in equation), None)
    if free is None:
        raise NotVectorizableError("the equation uses all letters")
    left, _, right = equation.partition("->")
    terms = [
        f"{free}{term}" if x.stacked else term
        for term, x in zip(left.split(","), inputs, strict=True)
    ]
    return raw.Einsum([x.tensor for x in inputs], equation=f"{','.join(terms)}->{free}{right}")
