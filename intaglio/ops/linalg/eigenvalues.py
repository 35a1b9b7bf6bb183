"""Factorisations that few programs need: eigenvalues of general matrices, and LU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import COMPLEX, INDEX, DType, float16, float32, float64
from intaglio.base.errors import invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant
from intaglio.ops.linalg.decomposition import (
    adjoint,
    carried_out,
    check_first_pivot,
    matrices,
    matrix_dims,
    product,
    shaped,
)
from intaglio.ops.linalg.lapack import factors, general_eigenvalues, general_eigenvectors

# From so many matrices of so few rows on, steps over all of them at once are faster than LAPACK on each.
MIN_STEPPED_BATCH, MAX_STEPPED_ROWS = 128, 4


def _as_diagonal(x: Any) -> Any:
    return raw.MatrixDiagV3(x, np.int32(0), np.int32(-1), np.int32(-1), constant(0, x))


@op
class Eig(Op):
    """(eigenvalues, eigenvectors) of general matrices, complex, in no particular order."""

    signature = "input: T; Tout: type, compute_v: bool = True -> e: Tout, v: Tout"
    T = (float32, float64, *COMPLEX)

    def infer(self, input: Spec, Tout: DType, compute_v) -> Any:
        batch, n, _ = matrix_dims(input)
        vectors = shaped(batch, n, n) if compute_v else (0,)
        return Spec(Tout, shaped(batch, n)), Spec(Tout, vectors)

    def kernel(self, input, Tout: DType, compute_v):
        if Tout not in COMPLEX:
            raise invalid_argument(
                f"Value for attr 'Tout' of {Tout.name} is not in the list of allowed "
                "values: complex64, complex128"
            )
        text = "Eigen decomposition was not successful. The input might not be valid."
        x = matrices(input)
        if (
            x.shape[-1] == 1 and input.dtype.kind == "c"
        ):  # also of what is not finite, as TensorFlow
            values, vectors = x[..., 0], np.ones_like(x)
            return values.astype(Tout.numpy), (vectors if compute_v else np.zeros(0)).astype(
                Tout.numpy
            )
        if not compute_v:
            values = carried_out(general_eigenvalues, text, x)
            return values.astype(Tout.numpy), np.zeros(0, Tout.numpy)
        values, vectors = carried_out(general_eigenvectors, text, x)
        return values.astype(Tout.numpy, copy=False), vectors.astype(Tout.numpy, copy=False)

    def gradient(self, input, e, v, de, dv, Tout: DType, compute_v) -> Any:
        if not compute_v:
            e, v = raw.Eig(input, Tout=Tout)
            dv = None
        adjoint_v = adjoint(v)
        middle = None if de is None else _as_diagonal(de)
        if dv is not None:
            gap = raw.Sub(raw.ExpandDims(e, np.int32(-2)), raw.ExpandDims(e, np.int32(-1)))
            inner = product(v, dv, adj_a=True)
            # Vectors keep the length 1: what would stretch them has no effect.
            own = raw.MatrixDiagPartV3(inner, np.int32(0), constant(0, inner))
            length = raw.Cast(raw.Real(own, Tout=own.dtype.real_dtype), DstT=own.dtype)
            stretch = product(product(v, v, adj_a=True), _as_diagonal(length))
            part = raw.DivNoNan(raw.Sub(inner, stretch), raw.Conj(gap))
            middle = part if middle is None else raw.AddV2(middle, part)
        whole = raw.MatrixSolve(adjoint_v, product(middle, adjoint_v))
        if input.dtype.is_complex:
            return whole
        return raw.Real(whole, Tout=input.dtype)


def factorise(a: Any) -> tuple[Any, Any]:
    """(lu, p): both triangles in one matrix, and the order of the rows, for each matrix.

    By LAPACK, or for many small matrices step by step: each step chooses, swaps and clears a column
    in all matrices of the batch at once.
    """
    check_first_pivot(a, "Input is not invertible.")
    flat = a.reshape(math.prod(a.shape[:-2]), *a.shape[-2:])
    if flat.shape[0] < MIN_STEPPED_BATCH or flat.shape[-1] > MAX_STEPPED_ROWS:
        found = carried_out(factors, "Input is not invertible.", flat)
        if found is not None:
            return found[0].reshape(a.shape), found[1].reshape(a.shape[:-1])
    lu, order = _factorised_by_steps(flat.copy())
    return lu.reshape(a.shape), order.reshape(a.shape[:-1])


def _factorised_by_steps(lu: Any) -> tuple[Any, Any]:
    """The factors of matrices [batch, n, n], which they replace, and the order of the rows."""
    batch, n = lu.shape[0], lu.shape[-1]
    order = np.tile(np.arange(n), (batch, 1))
    rows = np.arange(batch)
    for k in range(n):
        pivot = k + np.abs(lu[:, k:, k]).argmax(axis=1)
        lu[rows, k], lu[rows, pivot] = lu[rows, pivot], lu[rows, k]
        order[rows, k], order[rows, pivot] = order[rows, pivot], order[rows, k]
        lead = lu[:, k, k]
        if np.any(lead == 0):
            raise invalid_argument("Input is not invertible.")
        lu[:, k + 1 :, k] /= lead[:, None]
        lu[:, k + 1 :, k + 1 :] -= lu[:, k + 1 :, k, None] * lu[:, k, None, k + 1 :]
    return lu, order


@op
class Lu(Op):
    """(lu, p) with the rows p of the input = L @ U; L has ones on its diagonal."""

    signature = "input: T; output_idx_type: type = int32 -> lu: T, p: output_idx_type"
    T = (float64, float32, float16, *COMPLEX)
    batching = "leading"

    def infer(self, input: Spec, output_idx_type: DType) -> Any:
        batch, n, _ = matrix_dims(input)
        return Spec(input.dtype, shaped(batch, n, n)), Spec(output_idx_type, shaped(batch, n))

    def kernel(self, input, output_idx_type: DType):
        if output_idx_type not in INDEX:
            raise invalid_argument(
                f"Value for attr 'output_idx_type' of {output_idx_type.name} is not in "
                "the list of allowed values: int32, int64"
            )
        if input.ndim >= 2 and input.shape[-1] != input.shape[-2]:
            raise invalid_argument("Input matrix must be square.")
        lu, order = factorise(matrices(input))
        return lu.astype(input.dtype, copy=False), order.astype(output_idx_type.numpy, copy=False)

    def gradient(self, lu, p, dlu) -> Any:
        low, high = np.int32(-1), np.int32(0)
        upper = raw.MatrixBandPart(lu, high, low)
        one = raw.OnesLike(raw.MatrixDiagPartV3(lu, high, constant(0, lu)))
        lower = raw.MatrixSetDiagV3(raw.MatrixBandPart(lu, low, high), one, high)
        left = product(lower, dlu, adj_a=True)
        strict = raw.MatrixSetDiagV3(raw.MatrixBandPart(left, low, high), raw.ZerosLike(one), high)
        right = raw.MatrixBandPart(product(dlu, upper, adj_b=True), high, low)
        middle = raw.AddV2(strict, right)
        # lower^-H @ middle @ upper^-H, with the rows put back.
        inner = raw.MatrixTriangularSolve(lower, middle, lower=True, adjoint=True)
        whole = adjoint(raw.MatrixTriangularSolve(upper, adjoint(inner), lower=False))
        return product(_chosen_rows(p, whole.dtype), whole, adj_a=True)


def _chosen_rows(p: Any, dtype: DType) -> Any:
    """The matrix whose product has row p[i] as its row i."""
    size = raw.StridedSlice(
        raw.Shape(p),
        np.array([-1], np.int32),
        np.array([0], np.int32),
        np.array([1], np.int32),
        end_mask=1,
        shrink_axis_mask=1,
    )
    return raw.OneHot(p, size, np.asarray(1, dtype.numpy), np.asarray(0, dtype.numpy))
