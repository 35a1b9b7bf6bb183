"""Products of vectors, matrices and tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `dot`, `matmul`,
`tensordot`, `einsum`, `cross` and their kin.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import raw
from intaglio.op.tensor import Tensor
from intaglio.tf.experimental.numpy.functions import conj
from intaglio.tf.experimental.numpy.indexing import diagonal
from intaglio.tf.experimental.numpy.promotion import (
    as_tensor,
    dtype_of,
    promoted,
)
from intaglio.tf.experimental.numpy.shaping import moveaxis
from intaglio.tf.linalg import products


def _ranks(a: Tensor, b: Tensor, what: str) -> tuple[int, int]:
    if a.dims is None or b.dims is None:
        raise ValueError(
            f"{what} needs tensors whose ranks are known: give them with `tf.ensure_shape`"
        )
    return len(a.dims), len(b.dims)


def dot(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axis of `a` and the last but one of `b` (that of a vector).

    With a scalar, the product.

    >>> tnp.dot([[1, 2], [3, 4]], [1, 10])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([21, 43])>
    """
    x, y = promoted(a, b)
    one, two = _ranks(x, y, "dot")
    if not one or not two:
        return raw.Mul(x, y)
    return products.tensordot(x, y, [[one - 1], [two - 2 if two > 1 else 0]])


def inner(a: Any, b: Any) -> Tensor:
    """The sum of products over the last axes of both; with a scalar, the product.

    >>> tnp.inner([1, 2], [3, 4])
    <tf.Tensor: shape=(), dtype=int64, numpy=11>
    """
    x, y = promoted(a, b)
    one, two = _ranks(x, y, "inner")
    if not one or not two:
        return raw.Mul(x, y)
    return products.tensordot(x, y, [[one - 1], [two - 1]])


def outer(a: Any, b: Any) -> Tensor:
    """The products of each element of `a` (a row of the result) with each of `b`.

    >>> tnp.outer([1, 2], [3, 4])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[3, 4],
           [6, 8]])>
    """
    x, y = promoted(a, b)
    return raw.Mul(raw.Reshape(x, [-1, 1]), raw.Reshape(y, [1, -1]))


def vdot(a: Any, b: Any) -> Tensor:
    """The sum of products of the conjugate of `a` and of `b`, both as vectors.

    >>> tnp.vdot([1j, 2], [1j, 2])
    <tf.Tensor: shape=(), dtype=complex128, numpy=(5+0j)>
    """
    x, y = promoted(a, b)
    return dot(raw.Reshape(conj(x), [-1]), raw.Reshape(y, [-1]))


def matmul(x1: Any, x2: Any) -> Tensor:
    """The product of matrices, of batches of them (which broadcast), and of vectors.

    Raises ValueError for scalars.

    >>> tnp.matmul([[1, 2], [3, 4]], [1, 10])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([21, 43])>
    """
    a, b = promoted(x1, x2)
    one = None if a.dims is None else len(a.dims)
    two = None if b.dims is None else len(b.dims)
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


def tensordot(a: Any, b: Any, axes: Any = 2) -> Tensor:
    """The sum of products over `axes`: so many of the last of `a` and first of `b`, or two lists.

    >>> tnp.tensordot([[1, 2]], [[3], [4]], axes=1)
    <tf.Tensor: shape=(1, 1), dtype=int64, numpy=array([[11]])>
    """
    x, y = promoted(a, b)
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

    >>> tnp.cross([1, 0, 0], [0, 1, 0])
    <tf.Tensor: shape=(3,), dtype=int64, numpy=array([0, 0, 1])>
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = promoted(a, b)
    _ranks(x, y, "cross")
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


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None
) -> Tensor:
    """The sums of the diagonals of the matrices that two axes make.

    >>> tnp.trace([[1, 2], [3, 4]])
    <tf.Tensor: shape=(), dtype=int64, numpy=5>
    """
    x = as_tensor(a, None if dtype is None else dtype_of(dtype))
    return raw.Sum(diagonal(x, offset, axis1, axis2), -1)


__all__ = [
    "cross", "dot", "einsum", "inner", "kron", "matmul", "outer", "tensordot", "trace",
    "vdot",
]  # fmt: skip
