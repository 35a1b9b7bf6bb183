"""Matrix products and sums of products."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import Operand, Unexportable, rank_of
from intaglio.opdef import late, raw


def _transposed(builder: Any, x: Operand, wanted: bool) -> Operand:
    if not wanted:
        return x
    rank = rank_of(x, "the rank of a matrix that is transposed")
    return builder.transpose(x, [*range(rank - 2), rank - 1, rank - 2])


def _multiplied(builder: Any, a: Operand, b: Operand) -> Operand:
    """The product; 8-bit integers wrap, in the sums of wider ones."""
    if np.dtype(a.dtype).kind == "c":
        raise Unexportable("ONNX' operators take no complex numbers")
    return builder.add("MatMul", a, b)


@onnx_rule(raw.MatMul)
def _product(builder, a, b, transpose_a, transpose_b) -> Any:
    return _multiplied(
        builder, _transposed(builder, a, transpose_a), _transposed(builder, b, transpose_b)
    )


@onnx_rule(raw.BatchMatMul, raw.BatchMatMulV2)
def _batch_product(builder, x, y, adj_x, adj_y) -> Any:
    return _multiplied(builder, _transposed(builder, x, adj_x), _transposed(builder, y, adj_y))


@onnx_rule(raw.BatchMatMulV3)
def _mixed_product(builder, x, y, adj_x, adj_y, Tout: DType) -> Any:
    x, y = builder.cast(x, Tout.numpy), builder.cast(y, Tout.numpy)
    return _multiplied(builder, _transposed(builder, x, adj_x), _transposed(builder, y, adj_y))


@onnx_rule(raw.Einsum)
def _einsum(builder, inputs, equation) -> Any:
    if np.dtype(inputs[0].dtype).kind == "c":
        raise Unexportable("ONNX' operators take no complex numbers")
    result = equation.partition("->")[2].replace(".", "").replace(" ", "")
    if len(set(result)) < len(result):
        raise Unexportable("a sum of products whose result repeats an index")
    return builder.add("Einsum", *inputs, equation=equation)


@onnx_rule(late.MatrixDeterminant)
def _determinant(builder, input) -> Any:
    return builder.add("Det", input)
