"""Products of vectors, matrices and tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `dot`, `matmul`,
`tensordot`, `einsum`, `cross` and their kin.
"""

from __future__ import annotations

from typing import Any

from intaglio.base import dtypes
from intaglio.composite_ops.linalg import products
from intaglio.numpy_api.functions import conj
from intaglio.numpy_api.indexing import diagonal
from intaglio.numpy_api.promotion import as_tensor, dtype_of, operands, promoted
from intaglio.numpy_api.shaping import moveaxis
from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace import choices


def _product_over(x: Tensor, y: Tensor, last: bool) -> Tensor:
    """The sum of products over the last axis of `x`, and the last or last but one of `y`.

    With a scalar, the product.
    """
    if x.dims is None or y.dims is None:
        scalar = raw.Equal(raw.Minimum(raw.Rank(x), raw.Rank(y)), 0)
        return choices.cond(scalar, lambda: raw.Mul(x, y), lambda: _contracted(x, y, last))
    one, two = len(x.dims), len(y.dims)
    if not one or not two:
        return raw.Mul(x, y)
    at = two - 1 if last or two == 1 else two - 2
    return products.tensordot(x, y, [[one - 1], [at]])


def _contracted(x: Tensor, y: Tensor, last: bool) -> Tensor:
    """The same where the ranks, which are not 0, are not static."""
    rank = raw.Rank(y)
    at = raw.Sub(rank, 1) if last else raw.Maximum(raw.Sub(rank, 2), 0)
    order = raw.Range(0, rank, 1)
    others = raw.Cast(raw.Reshape(raw.Where(raw.NotEqual(order, at)), [-1]), DstT=dtypes.int32)
    rows = raw.Transpose(y, raw.ConcatV2([raw.Reshape(at, [1]), others], 0))
    whole = raw.Shape(x)
    length = raw.StridedSlice(whole, [-1], [0], [1], end_mask=1)
    left = raw.Reshape(x, raw.ConcatV2([[-1], length], 0))
    right = raw.Reshape(rows, raw.ConcatV2([length, [-1]], 0))
    lead = raw.StridedSlice(whole, [0], [-1], [1], begin_mask=1)
    rest = raw.GatherV2(raw.Shape(y), others, 0)
    return raw.Reshape(products.matmul(left, right), raw.ConcatV2([lead, rest], 0))


def dot(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axis of `a` and the last but one of `b` (that of a vector).

    With a scalar, the product.

    >>> tnp.dot([[1, 2], [3, 4]], [1, 10])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([21, 43])>
    """
    x, y = operands(a, b)
    return _product_over(x, y, last=False)


def inner(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axes of both; with a scalar, the product.

    >>> tnp.inner([1, 2], [3, 4])
    <tf.Tensor: shape=(), dtype=int64, numpy=11>
    """
    x, y = operands(a, b)
    return _product_over(x, y, last=True)


def outer(a: Any, b: Any) -> Tensor:
    """The products of each element of `a` (a row of the result) with each of `b`.

    >>> tnp.outer([1, 2], [3, 4])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[3, 4],
           [6, 8]])>
    """
    x, y = operands(a, b)
    return raw.Mul(raw.Reshape(x, [-1, 1]), raw.Reshape(y, [1, -1]))


def vdot(a: Any, b: Any) -> Tensor:
    """The sum of products of the conjugate of `a` and of `b`, both as vectors.

    >>> tnp.vdot([1j, 2], [1j, 2])
    <tf.Tensor: shape=(), dtype=complex128, numpy=(5+0j)>
    """
    x, y = promoted(a, b)
    return dot(raw.Reshape(conj(x), [-1]), raw.Reshape(y, [-1]))


@dispatchable
def matmul(x1: Any, x2: Any) -> Tensor:
    """The product of matrices, of batches of them (which broadcast), and of vectors.

    Raises ValueError for scalars.

    >>> tnp.matmul([[1, 2], [3, 4]], [1, 10])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([21, 43])>
    """
    a, b = promoted(x1, x2)
    if a.dims is None or b.dims is None:
        return _matmul_of_any_rank(a, b)
    one, two = len(a.dims), len(b.dims)
    if one == 0 or two == 0:
        raise ValueError(
            "matmul needs vectors, matrices or batches of them, not a scalar: multiply it"
        )
    if one == 1:
        a = raw.ExpandDims(a, 0)
    if two == 1:
        b = raw.ExpandDims(b, -1)
    result = products.matmul(a, b)
    if two == 1:
        result = raw.Squeeze(result, axis=[-1])
    if one == 1:
        result = raw.Squeeze(result, axis=[-1 if two == 1 else -2])
    return result


def _matmul_of_any_rank(a: Tensor, b: Tensor) -> Tensor:
    """The same where the ranks are not static: vectors are matrices in between."""
    one, two = raw.Rank(a), raw.Rank(b)
    row = raw.Reshape(raw.Maximum(raw.Sub(2, one), 0), [1])
    column = raw.Reshape(raw.Maximum(raw.Sub(2, two), 0), [1])
    left = raw.Reshape(a, raw.ConcatV2([raw.Fill(row, 1), raw.Shape(a)], 0))
    right = raw.Reshape(b, raw.ConcatV2([raw.Shape(b), raw.Fill(column, 1)], 0))
    result = products.matmul(left, right)
    whole = raw.Shape(result)
    lead = raw.StridedSlice(whole, [0], [-2], [1], begin_mask=1)
    at = raw.Sub(raw.Size(whole), 2)
    rows = raw.Slice(whole, raw.Reshape(at, [1]), raw.Sub([1], row))
    columns = raw.Slice(whole, raw.Reshape(raw.AddV2(at, 1), [1]), raw.Sub([1], column))
    return raw.Reshape(result, raw.ConcatV2([lead, rows, columns], 0))


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum of products over `axes`: so many of the last of `a` and first of `b`, or two lists.

    >>> tnp.tensordot([[1, 2]], [[3], [4]], axes=1)
    <tf.Tensor: shape=(1, 1), dtype=int64, numpy=array([[11]])>
    """
    x, y = operands(a, b)
    return products.tensordot(x, y, axes)


def einsum(subscripts: str, *operands: Any, **kwargs: Any) -> Tensor:
    """Sums of products named by subscripts; NumPy's further arguments change nothing.

    >>> tnp.einsum("ij,j->i", [[1, 2], [3, 4]], [1, 10])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([21, 43])>
    """
    return products.einsum(subscripts, *promoted(*operands))


def kron(a: Any, b: Any) -> Tensor:
    """Blocks of `b`, one for each element of `a` and multiplied by it.

    >>> tnp.kron([1, 10], [1, 2])
    <tf.Tensor: shape=(4,), dtype=int64, numpy=array([ 1,  2, 10, 20])>
    """
    x, y = promoted(a, b)
    rank = raw.Maximum(raw.Rank(x), raw.Rank(y))
    one, two = _padded_shape(x, rank), _padded_shape(y, rank)
    apart = raw.Reshape(raw.Pack([one, raw.OnesLike(one)], axis=1), [-1])
    together = raw.Reshape(raw.Pack([raw.OnesLike(two), two], axis=1), [-1])
    blocks = raw.Mul(raw.Reshape(x, apart), raw.Reshape(y, together))
    return raw.Reshape(blocks, raw.Mul(one, two))


def _padded_shape(x: Tensor, rank: Tensor) -> Tensor:
    """The shape with ones in front."""
    missing = raw.Reshape(raw.Sub(rank, raw.Rank(x)), [1])
    return raw.ConcatV2([raw.Fill(missing, 1), raw.Shape(x)], 0)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None
) -> Tensor:
    """The cross products of vectors of two or three elements along an axis; the others broadcast.

    Of two elements both, only the third component. Raises ValueError for other lengths.

    The vectors are along `axisa` and `axisb`, and those of the result along `axisc`.

    >>> tnp.cross([1, 0, 0], [0, 1, 0])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 1])>
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = operands(a, b)
    if x.dims is None or y.dims is None:
        raise ValueError("cross needs tensors whose ranks are known: see `tf.ensure_shape`")
    x, y = (_components_last(t, at) for t, at in ((x, axisa), (y, axisb)))
    sizes = [t.dims[-1] if t.dims else None for t in (x, y)]
    if any(size not in (2, 3) for size in sizes):
        raise ValueError(
            f"the vectors of a cross product have 2 or 3 elements, known while tracing, not {sizes}"
        )
    p, q = ([t[..., i] for i in range(t.dims[-1])] for t in (x, y))  # type: ignore[index]  # of known shape
    third = raw.Sub(raw.Mul(p[0], q[1]), raw.Mul(p[1], q[0]))
    if sizes == [2, 2]:
        return third
    p, q = ([*v, *[raw.ZerosLike(v[0])] * (3 - len(v))] for v in (p, q))
    parts = [
        raw.Sub(raw.Mul(p[1], q[2]), raw.Mul(p[2], q[1])),
        raw.Sub(raw.Mul(p[2], q[0]), raw.Mul(p[0], q[2])),
        third,
    ]
    result = raw.Pack(parts, axis=-1)
    return result if axisc == -1 else moveaxis(result, -1, axisc)


def _components_last(x: Tensor, axis: int) -> Tensor:
    return x if axis == -1 else moveaxis(x, axis, -1)


@dispatchable
def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """The sums of the diagonals of the matrices that two axes make.

    `offset` is the number of the diagonal above the main one; `axis1` and `axis2` are the axes of
    the matrices.

    >>> tnp.trace([[1, 2], [3, 4]])
    <tf.Tensor: shape=(), dtype=int64, numpy=5>
    """
    x = as_tensor(a, None if dtype is None else dtype_of(dtype))
    return raw.Sum(diagonal(x, offset, axis1, axis2), -1)


__all__ = [
    "cross",
    "dot",
    "einsum",
    "inner",
    "kron",
    "matmul",
    "outer",
    "tensordot",
    "trace",
    "vdot",
]
