"""Norms, traces and transpositions of `tf.linalg`.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.composite_ops.array.axes import all_axes
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

LAST = np.asarray([-1], np.int32)


@dispatchable
def norm(
    tensor: Any,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: bool | None = None,
    name: str | None = None,
) -> Tensor:
    """The norm of vectors (`axis` a number), matrices (a pair), or of all elements (None).

    `ord` is "euclidean", "fro" (matrices), 1, 2, np.inf, or for vectors any positive
    number. The euclidean norm of complex tensors is of their dtype, the others are real. Raises
    ValueError for an order or axis that does not exist.

    https://www.tensorflow.org/api_docs/python/tf/norm

    >>> print(tf.norm([[3.0, 4.0], [0.0, 2.0]], axis=1).numpy())
    [5. 2.]
    """
    keep = bool(keepdims)
    matrix, axes = _norm_axes(axis)
    if matrix:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(
                f"`ord` must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}"
            )
    elif isinstance(ord, str) and ord != "euclidean":
        raise ValueError(
            f"'ord' must be a supported vector norm, got {ord} (supported: ['euclidean', 1, 2, inf])"
        )
    elif not isinstance(ord, str) and ord <= 0:
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    with door.level().scoped(name or "norm"):
        x = convert.to_tensor(tensor)
        over = _reduction_axes(x, axes)
        if matrix and ord == 2:
            return _spectral(x, axes, keep)
        if ord == "fro" or ord == "euclidean" or (ord == 2 and not matrix):
            return _euclidean(x, over, keep)
        size = raw.ComplexAbs(x, Tout=x.dtype.real_dtype) if x.dtype.is_complex else raw.Abs(x)
        if matrix:
            first, second = (axes[0], axes[1]) if ord == 1 else (axes[1], axes[0])
            sums = raw.Sum(size, [first], keep_dims=True)
            whole = raw.Max(sums, [second], keep_dims=True)
            return whole if keep else raw.Squeeze(whole, axis=axes)
        if ord == np.inf:
            return raw.Max(size, over, keep_dims=keep)
        if ord == 1:
            return raw.Sum(size, over, keep_dims=keep)
        power = np.asarray(ord, size.dtype.numpy)
        total = raw.Sum(raw.Pow(size, power), over, keep_dims=keep)
        return raw.Pow(total, np.asarray(1.0 / float(ord), size.dtype.numpy))


def _norm_axes(axis: Any) -> tuple[bool, Any]:
    """(is it a matrix norm, the axes or None). Raises ValueError unless they are Python's integers."""
    if axis is None:
        return False, None
    if isinstance(axis, int):
        return False, [int(axis)]
    pair = isinstance(axis, (list, tuple)) and len(axis) == 2
    if not pair or not all([isinstance(i, int) for i in axis]) or axis[0] == axis[1]:
        raise ValueError(
            f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
        )
    return True, [int(i) for i in axis]


def _reduction_axes(x: Tensor, axes: Any) -> Any:
    if axes is not None:
        return np.asarray(axes, np.int32)
    return all_axes(x)


def _euclidean(x: Tensor, over: Any, keep: bool) -> Tensor:
    squares = raw.Mul(x, raw.Conj(x) if x.dtype.is_complex else x, name="mul")
    return raw.Sqrt(raw.Sum(squares, over, keep_dims=keep))


def _spectral(x: Tensor, axes: list[int], keep: bool) -> Tensor:
    """The greatest singular value of each matrix."""
    if x.dims is None:
        raise ValueError("The spectral norm needs a tensor of known rank")
    rank = len(x.dims)
    at = [i % rank for i in axes]
    order = [i for i in range(rank) if i not in at] + at
    if order != list(range(rank)):
        x = raw.Transpose(x, np.asarray(order, np.int32))
    values = raw.Svd(x, compute_uv=False, full_matrices=False).s
    if x.dtype.is_complex:
        values = raw.Real(values, Tout=x.dtype.real_dtype)
    whole = raw.Max(values, LAST)
    for i in sorted(at) if keep else ():
        whole = raw.ExpandDims(whole, np.int32(i))
    return whole


@dispatchable
def normalize(
    tensor: Any, ord: Any = "euclidean", axis: Any = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """(tensor / norm, norm), the norm with the dimensions that it was taken over as 1.

    `ord` is the order of the norm, as in `tf.norm`.

    https://www.tensorflow.org/api_docs/python/tf/linalg/normalize

    >>> [x.numpy().tolist() for x in tf.linalg.normalize([3.0, 4.0])]
    [[0.6000000238418579, 0.800000011920929], [5.0]]
    """
    with door.level().scoped(name or "normalize"):
        x = convert.to_tensor(tensor)
        size = norm(x, ord, axis, keepdims=True)
        divisor = raw.Cast(size, DstT=x.dtype) if x.dtype.is_complex else size
        return raw.RealDiv(x, divisor, name="truediv"), size


@dispatchable
def trace(x: Any, name: str | None = None) -> Tensor:
    """The sum of the main diagonal of each matrix `[..., m, n]`.

    https://www.tensorflow.org/api_docs/python/tf/linalg/trace

    >>> print(tf.linalg.trace([[1, 2], [3, 4]]).numpy())
    5
    """
    with door.level().scoped(name or "Trace") as scope:
        x = convert.to_tensor(x)
        zero = np.asarray(0, x.dtype.numpy)
        diagonal = raw.MatrixDiagPartV3(x, np.int32(0), zero, name="diag_part")
        return raw.Sum(diagonal, LAST, name=scope or None)


@dispatchable
def matrix_transpose(a: Any, name: str = "matrix_transpose", conjugate: bool = False) -> Tensor:
    """The tensor with its last two dimensions exchanged.

    Raises ValueError if it has fewer than two.

    `conjugate` conjugates the elements as well.

    https://www.tensorflow.org/api_docs/python/tf/linalg/matrix_transpose

    >>> print(tf.linalg.matrix_transpose([[1, 2], [3, 4]]).numpy())
    [[1 3]
     [2 4]]
    """
    with door.level().scoped(name):
        a = convert.to_tensor(a)
        if a.dims is None:
            rank, one = raw.Rank(a), np.int32(1)
            lead = raw.Range(np.int32(0), raw.Sub(rank, np.int32(2)), one)
            ends = raw.Pack([raw.Sub(rank, one), raw.Sub(rank, np.int32(2))], axis=0)
            order: Any = raw.ConcatV2([lead, ends], 0)
        else:
            rank = len(a.dims)
            if rank < 2:
                raise ValueError(
                    f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape: {a.shape}"
                )
            order = np.asarray([*range(rank - 2), rank - 1, rank - 2], np.int32)
        if conjugate and a.dtype.is_complex:
            return raw.ConjugateTranspose(a, order, name="transpose")
        return raw.Transpose(a, order, name="transpose")


@dispatchable
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate of the matrix with its last two dimensions exchanged.

    https://www.tensorflow.org/api_docs/python/tf/linalg/adjoint

    >>> print(tf.linalg.adjoint([[1.0 + 2.0j, 3.0 + 0.0j]]).numpy())
    [[1.-2.j]
     [3.-0.j]]
    """
    with door.level().scoped(name or "adjoint"):
        return matrix_transpose(matrix, conjugate=True)


@dispatchable
def l2_normalize(
    x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """x / sqrt(max(sum(x ** 2), epsilon)) along `axis` (default: over all elements).

    `dim` is the older name of `axis`. For floating-point and complex tensors.

    https://www.tensorflow.org/api_docs/python/tf/math/l2_normalize

    >>> print(tf.math.l2_normalize([3.0, 4.0]).numpy())
    [0.6 0.8]
    """
    axis = dim if axis is None else axis
    with door.level().scoped(name or "l2_normalize") as scope:
        x = convert.to_tensor(x, name="x")
        over = all_axes(x) if axis is None else _as_axes(axis)
        if x.dtype.is_complex:
            real = x.dtype.real_dtype
            parts = raw.Square(raw.Real(x, Tout=real)), raw.Square(raw.Imag(x, Tout=real))
            total = raw.Sum(raw.AddV2(*parts), over, keep_dims=True)
            scale = raw.Rsqrt(raw.Maximum(total, np.asarray(epsilon, real.numpy)))
            return raw.Mul(x, raw.Cast(scale, DstT=x.dtype), name=scope or None)
        total = raw.Sum(raw.Square(x), over, keep_dims=True)
        scale = raw.Rsqrt(raw.Maximum(total, np.asarray(epsilon, x.dtype.numpy)))
        return raw.Mul(x, scale, name=scope or None)


def _as_axes(axis: Any) -> Any:
    if isinstance(axis, Tensor):
        return axis
    return np.atleast_1d(np.asarray(axis, np.int32))


@dispatchable
def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """sqrt of the sum of squares of all elements of all tensors; None entries are skipped.

    Raises TypeError if `t_list` is no sequence.

    https://www.tensorflow.org/api_docs/python/tf/linalg/global_norm

    >>> print(tf.linalg.global_norm([tf.constant([3.0]), tf.constant([4.0])]).numpy())
    5.0
    """
    if not isinstance(t_list, Sequence) or isinstance(t_list, str):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
    with door.level().scoped(name or "global_norm"):
        tensors = [convert.to_tensor(getattr(t, "values", t)) for t in t_list if t is not None]
        if not tensors:
            return convert.to_tensor(np.float32(0))
        halves = [raw.L2Loss(t) for t in tensors]
        dtype = halves[0].dtype
        total = raw.Sum(raw.Pack(halves, axis=0), np.asarray([0], np.int32))
        two = np.asarray(2, dtype.numpy)
        return raw.Sqrt(raw.Mul(total, two), name="global_norm")


@dispatchable
def cross(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The cross product of vectors of 3 elements along the last dimension.

    https://www.tensorflow.org/api_docs/python/tf/linalg/cross

    >>> print(tf.linalg.cross([1, 0, 0], [0, 1, 0]).numpy())
    [0 0 1]
    """
    return raw.Cross(a, b, name=name)
