"""Products of matrices, Fourier transforms and decompositions."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from intaglio.base.dtypes import DType
from intaglio.opdef import late, raw
from intaglio.xla import target
from intaglio.xla.registry import xla
from intaglio.xla.values import Untraceable, known


def _adjoint(x: Any) -> Any:
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def _product(x: Any, y: Any, dtype: Any, flip_x: bool = False, flip_y: bool = False) -> Any:
    """x @ y of matrices or batches, each transposed or not, with sums of 16-bit floats in float32."""
    if x.shape[:-2] == y.shape[:-2]:
        rank = x.ndim
        batch, (i, k, j) = range(rank - 2), range(rank, rank + 3)
        left, right = ((k, i) if flip_x else (i, k)), ((j, k) if flip_y else (k, j))
        found = _contraction(x, (*batch, *left), y, (*batch, *right), (*batch, i, j), dtype)
        if found is not None:
            return found
    x, y = (jnp.swapaxes(x, -1, -2) if flip_x else x), (jnp.swapaxes(y, -1, -2) if flip_y else y)
    return jnp.matmul(x, y, preferred_element_type=_wide(dtype)).astype(dtype)


def _conjugate(x: Any) -> Any:
    return jnp.conj(x) if x.dtype.kind == "c" else x


def _contraction(
    x: Any,
    x_labels: Sequence[Hashable],
    y: Any,
    y_labels: Sequence[Hashable],
    labels: Sequence[Hashable],
    dtype: Any,
) -> Any:
    """The sum of products over the axes that the result lacks: one product of XLA, and a transpose at most.

    Axes have labels, and the result those of `labels`. None where an axis is the diagonal of two, is
    summed up in one operand alone, or has two sizes, and where elements alone are multiplied.
    """
    for operand, other in ((x_labels, y_labels), (y_labels, x_labels)):
        if len({*operand}) < len(operand) or not {*other, *labels}.issuperset(operand):
            return None
    if len({*labels}) < len(labels) or not {*x_labels, *y_labels}.issuperset(labels):
        return None
    kept = [n for n in labels if n in x_labels and n in y_labels]
    own = [n for n in labels if n not in kept]
    if own and own[0] in y_labels:  # the first of the product, so that nothing is transposed
        x, x_labels, y, y_labels = y, y_labels, x, x_labels
    summed = [n for n in x_labels if n in y_labels and n not in labels]
    sums, batch = [
        ([x_labels.index(n) for n in common], [y_labels.index(n) for n in common])
        for common in (summed, kept)
    ]
    pairs = [*zip(*sums, strict=True), *zip(*batch, strict=True)]
    if not (summed or own) or any([x.shape[i] != y.shape[j] for i, j in pairs]):
        return None
    result = lax.dot_general(x, y, (sums, batch), preferred_element_type=_wide(dtype))
    result = result.astype(dtype)
    order = [*kept, *[n for n in (*x_labels, *y_labels) if n in own]]
    if order == [*labels]:
        return result
    return lax.transpose(result, [order.index(n) for n in labels])


def _wide(dtype: Any) -> Any:
    """The dtype of sums: float32 for 16-bit floats, of which accelerators round sums once by themselves."""
    is_short = dtype.itemsize == 2 and dtype.kind not in "iu"
    return np.float32 if is_short and target.is_host() else dtype


@xla(raw.MatMul)
def _matmul(a, b, transpose_a, transpose_b) -> Any:
    return _product(a, b, np.dtype(a.dtype), transpose_a, transpose_b)


@xla(raw.BatchMatMul, raw.BatchMatMulV2)
def _batch_matmul(x, y, adj_x, adj_y) -> Any:
    return _adjoint_product(x, y, np.dtype(x.dtype), adj_x, adj_y)


def _adjoint_product(x: Any, y: Any, dtype: Any, adj_x: bool, adj_y: bool) -> Any:
    x, y = (_conjugate(x) if adj_x else x), (_conjugate(y) if adj_y else y)
    return _product(x, y, dtype, adj_x, adj_y)


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
    a, a_labels = _labelled(x, rank, [rank, rank + 1])
    b, b_labels = _labelled(y, rank, [rank + 1, rank + 2])
    kept = [i for i in range(rank - 2) if i not in axes and i in (*a_labels, *b_labels)]
    dtype = np.dtype(x.dtype)
    labels = [*kept, rank, rank + 2]
    result = _contraction(a, a_labels, b, b_labels, labels, dtype)
    if result is None:  # an axis that only one operand has is summed up
        result = jnp.einsum(a, a_labels, b, b_labels, labels, preferred_element_type=_wide(dtype))
        result = result.astype(dtype)
    dims = [1 if i in axes else d for i, d in enumerate(batch)]
    return result.reshape(*dims, x.shape[-2], y.shape[-1])


def _labelled(x: Any, rank: int, matrix: list[int]) -> tuple[Any, list[int]]:
    """A factor with the numbers of its axes in a batch of that rank; it has none where it has a size of 1."""
    batch = range(x.ndim - 2)
    axes = [i for i in batch if x.shape[i] != 1]
    array = x.reshape([x.shape[i] for i in axes] + [*x.shape[-2:]])
    return array, [*[rank - x.ndim + i for i in axes], *matrix]


@xla(raw.BatchMatMulV3)
def _batch_matmul_to(x, y, Tout: DType, adj_x, adj_y) -> Any:
    dtype = Tout.numpy
    x, y = jnp.asarray(x).astype(dtype), jnp.asarray(y).astype(dtype)
    return _adjoint_product(x, y, dtype, adj_x, adj_y)


@xla(raw.Einsum)
def _einsum(inputs, equation) -> Any:
    dtype = np.dtype(inputs[0].dtype)
    operands, _, output = equation.replace(" ", "").partition("->")
    if len(inputs) == 2 and "." not in equation:
        (x, y), (x_labels, y_labels) = inputs, operands.split(",")
        found = _contraction(x, x_labels, y, y_labels, output, dtype)
        if found is not None:
            return found
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
    return _nan_unless_finite(
        matrix, jnp.linalg.solve(_adjoint(matrix) if adjoint else matrix, rhs)
    )


@xla(late.MatrixInverse)
def _inverse(input, adjoint) -> Any:
    x = jnp.asarray(input)
    return _nan_unless_finite(x, jnp.linalg.inv(_adjoint(x) if adjoint else x))


@xla(late.SelfAdjointEigV2)
def _self_adjoint_eigenvalues(input, compute_v) -> Any:
    x = jnp.tril(jnp.asarray(input))
    if not compute_v:
        values = jnp.linalg.eigvalsh(x, UPLO="L", symmetrize_input=False)
        return _nan_unless_finite(x, values[..., None])[..., 0].astype(x.dtype), jnp.zeros(
            0, x.dtype
        )
    values, vectors = jnp.linalg.eigh(x, UPLO="L", symmetrize_input=False)
    values = _nan_unless_finite(x, values[..., None])[..., 0]
    return values.astype(x.dtype), _nan_unless_finite(x, vectors)


def _nan_unless_finite(matrices: Any, results: Any) -> Any:
    """NaN in place of the results of matrices that are not finite: factorisations may give numbers of them."""
    finite = jnp.isfinite(matrices).all(axis=(-2, -1), keepdims=True)
    return jnp.where(finite, results, jnp.nan)


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
