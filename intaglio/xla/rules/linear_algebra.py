"""Products of matrices, Fourier transforms and decompositions."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.xla import target
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, known


def _adjoint(x: Any) -> Any:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _product(x: Any, y: Any, dtype: Any) -> Any:
    """x @ y, with sums of 16-bit floats in float32."""
    result = jnp.matmul(x, y, preferred_element_type=_wide(dtype))
    return result.astype(dtype)


def _wide(dtype: Any) -> Any:
    """The dtype of sums: float32 for 16-bit floats, of which accelerators round sums once by themselves."""
    is_short = dtype.itemsize == 2 and dtype.kind not in "iu"
    return np.float32 if is_short and target.is_host() else dtype


@xla(raw.MatMul)
def _matmul(a, b, transpose_a, transpose_b) -> Any:
    x = jnp.swapaxes(a, 0, 1) if transpose_a else a
    y = jnp.swapaxes(b, 0, 1) if transpose_b else b
    return _product(x, y, np.dtype(a.dtype))


@xla(raw.BatchMatMul, raw.BatchMatMulV2)
def _batch_matmul(x, y, adj_x, adj_y) -> Any:
    dtype = np.dtype(x.dtype)
    return _product(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y, dtype)


def sum_of_products(x: Any, y: Any, adj_x: bool, adj_y: bool, axes: tuple[int, ...]) -> Any:
    """The sum of a batch of products along axes of the batch, as one product.

    The axes are contracted with those of the matrices: the products, which a gradient of weights
    sums over all examples, are never in memory. None for other axes, or for matrices alone.
    """
    x, y = (_adjoint(x) if adj_x else jnp.asarray(x)), (_adjoint(y) if adj_y else jnp.asarray(y))
    rank = max(x.ndim, y.ndim)
    if not axes or max(axes) >= rank - 2:
        return None
    batch = jnp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    operands: list[Any] = []
    for array, matrix in ((x, [rank, rank + 1]), (y, [rank + 1, rank + 2])):
        first = rank - array.ndim
        # Where a size of 1 is broadcast, the factor has no such axis.
        single = [i for i in range(array.ndim - 2) if array.shape[i] == 1]
        labels = [first + i for i in range(array.ndim - 2) if i not in single]
        operands += [array.reshape(_without(array.shape, single)), [*labels, *matrix]]
    present = {*operands[1], *operands[3]}
    kept = [i for i in range(rank - 2) if i not in axes and i in present]
    dtype = np.dtype(x.dtype)
    result = jnp.einsum(*operands, [*kept, rank, rank + 2], preferred_element_type=_wide(dtype))
    dims = [1 if i in axes else d for i, d in enumerate(batch)]
    return result.astype(dtype).reshape(*dims, x.shape[-2], y.shape[-1])


def _without(shape: Any, axes: list[int]) -> list[int]:
    return [d for i, d in enumerate(shape) if i not in axes]


@xla(raw.BatchMatMulV3)
def _batch_matmul_to(x, y, Tout: DType, adj_x, adj_y) -> Any:
    dtype = Tout.numpy
    x, y = jnp.asarray(x).astype(dtype), jnp.asarray(y).astype(dtype)
    return _product(_adjoint(x) if adj_x else x, _adjoint(y) if adj_y else y, dtype)


@xla(raw.Einsum)
def _einsum(inputs, equation) -> Any:
    dtype = np.dtype(inputs[0].dtype)
    operands, _, output = equation.replace(" ", "").partition("->")
    # A label twice in the result puts the elements on a diagonal; labels are unique in the sum.
    labels = output.replace("...", "")
    unique = "".join(dict.fromkeys(labels))
    ellipsis = "..." if "..." in output else ""
    result = jnp.einsum(
        f"{operands}->{output if unique == labels else ellipsis + unique}",
        *[jnp.asarray(v) for v in inputs],
        preferred_element_type=_wide(dtype),
    ).astype(dtype)
    return result if unique == labels else _on_diagonals(result, output, unique)


def _on_diagonals(x: Any, output: str, unique: str) -> Any:
    """The array whose elements have equal indices where `output` names a label again, else 0.

    `x` has the axes of the ellipsis first, then one for each label of `unique`.
    """
    batch = x.ndim - len(unique)
    sizes = x.shape[batch:]
    before, dots, after = output.partition("...")
    labels = [*before, *([None] * batch if dots else []), *after]
    shape: list[int] = []
    index: list[Any] = []
    rank, seen = x.ndim, 0
    for label in labels:
        axis = seen if label is None else batch + unique.index(label)
        seen += label is None
        size = x.shape[axis] if label is None else sizes[axis - batch]
        shape.append(size)
        index.append(np.arange(size).reshape([size if i == axis else 1 for i in range(rank)]))
    return jnp.zeros(shape, x.dtype).at[tuple(index)].set(x)


# -- Fourier transforms ----------------------------------------------------------------------


def _fourier(op: Any, function: Any, rank: int) -> None:
    @xla(op)
    def rule(input) -> Any:
        axes = tuple(range(-rank, 0))
        return function(input, axes=axes).astype(input.dtype)


for _rank, _forward, _inverse_op in (
    (1, late.FFT, late.IFFT),
    (2, late.FFT2D, late.IFFT2D),
    (3, late.FFT3D, late.IFFT3D),
):
    _fourier(_forward, jnp.fft.fftn, _rank)
    _fourier(_inverse_op, jnp.fft.ifftn, _rank)


def _lengths(lengths: Any, dims: Any, is_inverse: bool = False) -> tuple[int, ...]:
    """The lengths of a transform. Raises Untraceable where the input is shorter, which is an error."""
    sizes = tuple(known(lengths, "the length of a Fourier transform").tolist())
    needed = [*sizes[:-1], sizes[-1] // 2 + 1 if is_inverse and sizes[-1] else sizes[-1]]
    if any([n > d for n, d in zip(needed, dims[-len(sizes) :], strict=False)]):
        raise Untraceable("its input is shorter than the transform")
    return sizes


def _real_fourier(forward_op: Any, inverse_op: Any, rank: int) -> None:
    @xla(forward_op)
    def forward(input, fft_length, Tcomplex: DType) -> Any:
        sizes = _lengths(fft_length, input.shape)
        result = jnp.fft.rfftn(input, s=sizes, axes=tuple(range(-rank, 0)))
        return result.astype(Tcomplex.numpy)

    @xla(inverse_op)
    def inverse(input, fft_length, Treal: DType) -> Any:
        sizes = _lengths(fft_length, input.shape, is_inverse=True)
        result = jnp.fft.irfftn(input, s=sizes, axes=tuple(range(-rank, 0)))
        return result.astype(Treal.numpy)


_real_fourier(late.RFFT, late.IRFFT, 1)
_real_fourier(late.RFFT2D, late.IRFFT2D, 2)
_real_fourier(late.RFFT3D, late.IRFFT3D, 3)


# -- systems and decompositions --------------------------------------------------------------


@xla(late.Cholesky)
def _cholesky(input) -> Any:
    return jnp.linalg.cholesky(jnp.asarray(input), symmetrize_input=False)


@xla(late.MatrixTriangularSolve)
def _triangular_solve(matrix, rhs, lower, adjoint) -> Any:
    batch = jnp.broadcast_shapes(matrix.shape[:-2], rhs.shape[:-2])
    a = jnp.broadcast_to(matrix, (*batch, *matrix.shape[-2:]))
    b = jnp.broadcast_to(rhs, (*batch, *rhs.shape[-2:]))
    return jax.lax.linalg.triangular_solve(
        a, b, left_side=True, lower=lower, transpose_a=adjoint, conjugate_a=adjoint
    )


@xla(late.MatrixSolve)
def _solve(matrix, rhs, adjoint) -> Any:
    return jnp.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)


@xla(late.MatrixInverse)
def _inverse(input, adjoint) -> Any:
    return jnp.linalg.inv(_adjoint(input) if adjoint else jnp.asarray(input))


@xla(late.MatrixDeterminant)
def _determinant(input) -> Any:
    return jnp.linalg.det(jnp.asarray(input)).astype(input.dtype)


@xla(late.LogMatrixDeterminant)
def _log_determinant(input) -> Any:
    sign, log = jnp.linalg.slogdet(jnp.asarray(input))
    return sign.astype(input.dtype), log.astype(input.dtype)


@xla(late.Lu)
def _lu(input, output_idx_type: DType) -> Any:
    lu, _, permutation = jax.lax.linalg.lu(jnp.asarray(input))
    return lu, permutation.astype(output_idx_type.numpy)


@xla(late.MatrixExponential)
def _exponential(input) -> Any:
    return jax.scipy.linalg.expm(jnp.asarray(input)).astype(input.dtype)


@xla(late.Svd)
def _svd(input, compute_uv, full_matrices) -> Any:
    x = jnp.asarray(input)
    if not compute_uv:
        empty = jnp.zeros((0,), x.dtype)
        return jnp.linalg.svd(x, compute_uv=False).astype(x.dtype), empty, empty
    u, s, v = jnp.linalg.svd(x, full_matrices=full_matrices)
    return s.astype(x.dtype), u, _adjoint(v)
