"""Tensors of values, shapes and ranges.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/numpy: `array`, `zeros`,
`arange`, `linspace` and their kin. Without a `dtype` numbers are int64 and float64.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.composite_ops.array import creation
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.numpy_api.promotion import (
    Options,
    as_tensor,
    common_dtype,
    dtype_of,
    is_inexact,
    number,
)
from intaglio.opdef import convert, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.promotion import lattice


@dispatchable
def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """`val` (numbers, tensors, lists of them) as a tensor, of at least `ndmin` dimensions.

    With `copy` a tensor is copied.

    >>> tnp.array([[1, 2.]], ndmin=3)
    <tf.Tensor: shape=(1, 1, 2), dtype=float64, numpy=array([[[1., 2.]]])>
    """
    x = as_tensor(val, None if dtype is None else dtype_of(dtype))
    if copy and x is val:
        x = raw.Identity(x)
    if ndmin == 0:
        return x
    if x.dims is not None:
        missing = builtins.max(0, ndmin - len(x.dims))
        return raw.Reshape(x, raw.ConcatV2([[1] * missing, raw.Shape(x)], 0))
    missing = raw.Maximum(raw.Sub(ndmin, raw.Rank(x)), 0)
    ones = raw.Fill(raw.Reshape(missing, [1]), 1)
    return raw.Reshape(x, raw.ConcatV2([ones, raw.Shape(x)], 0))


@dispatchable
def asarray(a: Any, dtype: Any = None) -> Tensor:
    """`a` as a tensor; a tensor of the type is returned as it is.

    >>> tnp.asarray([1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    return array(a, dtype, copy=False)


@dispatchable
def asanyarray(a: Any, dtype: Any = None) -> Tensor:
    """The same as `asarray`.

    >>> tnp.asanyarray(1.5)
    <tf.Tensor: shape=(), dtype=float64, numpy=1.5>
    """
    return asarray(a, dtype)


@dispatchable
def ascontiguousarray(a: Any, dtype: Any = None) -> Tensor:
    """`a` as a tensor of at least one dimension.

    >>> tnp.ascontiguousarray(1)
    <tf.Tensor: shape=(1,), dtype=int64, numpy=array([1])>
    """
    return array(a, dtype, ndmin=1)


@dispatchable
def copy(a: Any) -> Tensor:
    """A tensor with the values of `a`.

    >>> tnp.copy([1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 2])>
    """
    return array(a, copy=True)


# -- filled --------------------------------------------------------------------------


def _shape(shape: Any) -> Any:
    """A shape argument, a single length included, as a vector."""
    if isinstance(shape, (list, tuple)):
        sizes: Any = shape
        return [*sizes]
    if isinstance(shape, (int, np.integer)):
        return [int(shape)]
    sizes = convert.to_tensor(shape)
    return raw.Reshape(sizes, [1]) if sizes.dims == () else sizes


def empty(shape: Any, dtype: Any = float) -> Tensor:
    """Zeros: tensors have no uninitialised memory.

    >>> tnp.empty(2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0., 0.])>
    """
    return zeros(shape, dtype)


@dispatchable
def empty_like(a: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape of `a`.

    >>> tnp.empty_like([1, 2])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([0, 0])>
    """
    return zeros_like(a, dtype)


def zeros(shape: Any, dtype: Any = float) -> Tensor:
    """A tensor of zeros.

    >>> tnp.zeros((1, 2), dtype=int)
    <tf.Tensor: shape=(1, 2), dtype=int64, numpy=array([[0, 0]])>
    """
    return creation.zeros(_shape(shape), dtype_of(float if dtype is None else dtype))


@dispatchable
def zeros_like(a: Any, dtype: Any = None) -> Tensor:
    """Zeros in the shape of `a`, and in its type if none is given.

    >>> tnp.zeros_like([1., 2.])
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([0., 0.])>
    """
    x = as_tensor(a)
    return creation.zeros_like(x, x.dtype if dtype is None else dtype_of(dtype))


def ones(shape: Any, dtype: Any = float) -> Tensor:
    """A tensor of ones.

    >>> tnp.ones(2)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1., 1.])>
    """
    return creation.ones(_shape(shape), dtype_of(float if dtype is None else dtype))


@dispatchable
def ones_like(a: Any, dtype: Any = None) -> Tensor:
    """Ones in the shape of `a`, and in its type if none is given.

    >>> tnp.ones_like([3, 4])
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([1, 1])>
    """
    x = as_tensor(a)
    return creation.ones_like(x, x.dtype if dtype is None else dtype_of(dtype))


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """A tensor of `fill_value`, which is broadcast to the shape.

    >>> tnp.full((2, 2), [1, 2])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 2],
           [1, 2]])>
    """
    return raw.BroadcastTo(asarray(fill_value, dtype), _shape(shape))


@dispatchable
def full_like(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: str = "K",
    subok: bool = True,
    shape: Any = None,
) -> Tensor:
    """A tensor of `fill_value` in the shape of `a`, and in its type if none is given.

    Raises ValueError for other values of `order`, `subok` and `shape` than the defaults.

    >>> tnp.full_like([1, 2], 7)
    <tf.Tensor: shape=(2,), dtype=int64, numpy=array([7, 7])>
    """
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    x = as_tensor(a)
    filling = as_tensor(fill_value, x.dtype if dtype is None else dtype_of(dtype))
    return raw.BroadcastTo(filling, raw.Shape(x))


# -- triangles and diagonals -----------------------------------------------------------


def _offsets(rows: Any, columns: Any) -> Tensor:
    """A matrix of column minus row: 0 on the diagonal, positive above it."""
    down = raw.ExpandDims(raw.Range(0, raw.Cast(rows, DstT=dtypes.int32), 1), 1)
    return raw.Sub(raw.Range(0, raw.Cast(columns, DstT=dtypes.int32), 1), down)


def eye(N: Any, M: Any = None, k: int = 0, dtype: Any = float) -> Tensor:
    """An N x M matrix (N x N) with ones on the diagonal `k`, positive above the main one.

    >>> tnp.eye(2, 3, k=1)
    <tf.Tensor: shape=(2, 3), dtype=float64, numpy=
    array([[0., 1., 0.],
           [0., 0., 1.]])>
    """
    wanted = dtype_of(float if dtype is None else dtype)
    on = raw.Equal(_offsets(N, N if M is None else M), np.int32(k))
    return on if wanted is dtypes.bool_ else raw.Cast(on, DstT=wanted)


def identity(n: Any, dtype: Any = float) -> Tensor:
    """The n x n matrix with ones on its diagonal.

    >>> tnp.identity(2, dtype=int)
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 0],
           [0, 1]])>
    """
    return eye(n, n, dtype=dtype)


def tri(N: Any, M: Any = None, k: int = 0, dtype: Any = None) -> Tensor:
    """An N x M matrix with ones on and below the diagonal `k`.

    >>> tnp.tri(2, 3)
    <tf.Tensor: shape=(2, 3), dtype=float64, numpy=
    array([[1., 0., 0.],
           [1., 1., 0.]])>
    """
    wanted = dtype_of(float if dtype is None else dtype)
    below = raw.LessEqual(_offsets(N, N if M is None else M), np.int32(k))
    return below if wanted is dtypes.bool_ else raw.Cast(below, DstT=wanted)


def _matrix_offsets(m: Tensor, what: str) -> Tensor:
    if m.dims is not None and len(m.dims) < 2:
        raise ValueError(f"Argument to {what} must have rank at least 2")
    sizes = raw.StridedSlice(raw.Shape(m), [-2], [0], [1], end_mask=1)
    return _offsets(raw.GatherV2(sizes, 0, 0), raw.GatherV2(sizes, 1, 0))


def tril(m: Any, k: int = 0) -> Tensor:
    """The matrices of `m` with zeros above the diagonal `k`. Raises ValueError for vectors.

    >>> tnp.tril([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 0],
           [3, 4]])>
    """
    x = as_tensor(m)
    keep = raw.LessEqual(_matrix_offsets(x, "tril"), np.int32(k))
    return raw.SelectV2(keep, x, number(0, x))


@dispatchable
def triu(m: Any, k: int = 0) -> Tensor:
    """The matrices of `m` with zeros below the diagonal `k`. Raises ValueError for vectors.

    >>> tnp.triu([[1, 2], [3, 4]])
    <tf.Tensor: shape=(2, 2), dtype=int64, numpy=
    array([[1, 2],
           [0, 4]])>
    """
    x = as_tensor(m)
    keep = raw.GreaterEqual(_matrix_offsets(x, "triu"), np.int32(k))
    return raw.SelectV2(keep, x, number(0, x))


@dispatchable
def vander(x: Any, N: Any = None, increasing: bool = False) -> Tensor:
    """The powers of a vector's elements as columns, the highest (N - 1) first.

    Raises ValueError if `x` is no vector or `N` is negative.

    With `increasing` the powers increase from left to right.

    >>> tnp.vander([1, 2, 3], 3)
    <tf.Tensor: shape=(3, 3), dtype=int64, numpy=
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])>
    """
    x = as_tensor(x)
    if x.dims is not None and len(x.dims) != 1:
        raise ValueError("x must be a one-dimensional array")
    count = raw.Size(x) if N is None else N
    known = get_static_value(count)
    if known is not None and known < 0:
        raise ValueError("N must be nonnegative")
    powers = raw.Range(0, count, 1)
    if not increasing:
        powers = raw.ReverseV2(powers, [0])
    return raw.Pow(raw.ExpandDims(x, 1), raw.Cast(powers, DstT=x.dtype))


# -- ranges ----------------------------------------------------------------------------


@dispatchable
def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Tensor:
    """The numbers from `start` (0) on, `step` apart, below `stop`.

    Raises ValueError if `step` is 0.

    >>> tnp.arange(1, 2, .5)
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1. , 1.5])>
    """
    if get_static_value(step) == 0:
        raise ValueError("step must be non-zero.")
    if stop is None:
        start, stop = 0, start
    wanted = None if dtype is None else dtype_of(dtype)
    own = common_dtype(start, stop, step)
    counted = own if wanted is None or wanted is dtypes.bool_ else wanted
    first, last, by = (as_tensor(v, counted) for v in (start, stop, step))
    # NumPy's range is empty where TensorFlow's is an error: when it leads away from the end.
    away = (
        raw.Less(raw.Mul(raw.Sign(by), raw.Sub(last, first)), number(0, by))
        if not counted.is_unsigned
        else raw.Less(last, first)
    )
    result = raw.Range(first, raw.SelectV2(away, first, last), by)
    return result if wanted in (None, counted) else raw.Cast(result, DstT=wanted)


def _ends(start: Any, stop: Any) -> tuple[Tensor, Tensor]:
    """Both ends of a spaced range, in their inexact type."""
    wanted = common_dtype(start, stop)
    if not is_inexact(wanted):
        narrow = dtypes.float32 if Options.prefer_float32 else dtypes.float64
        wanted = common_dtype(start, stop, 0.0) if lattice.is_on() else narrow
    return as_tensor(start, wanted), as_tensor(stop, wanted)


def _check_count(num: Any) -> None:
    known = get_static_value(num)
    if known is not None and known < 0:
        raise ValueError(
            "Argument `num` (number of samples) must be a non-negative integer. "
            f"Received: num={num}"
        )


def _spaced(first: Tensor, last: Tensor, count: Any, endpoint: bool) -> Any:
    """`count` values in equal steps along a new first axis, and the step."""
    dtype = first.dtype
    total = raw.Cast(count, DstT=dtypes.int32)
    gaps = raw.Sub(total, 1) if endpoint else total
    safe = raw.Cast(raw.Maximum(gaps, 1), DstT=dtype)
    step = raw.RealDiv(raw.Sub(last, first), safe)
    where = raw.Range(0, total, 1)
    rank = raw.Rank(step)
    ones = raw.Fill(raw.Reshape(rank, [1]), 1)
    indices = raw.Reshape(where, raw.ConcatV2([raw.Reshape(total, [1]), ones], 0))
    values = raw.AddV2(first, raw.Mul(raw.Cast(indices, DstT=dtype), step))
    if endpoint:  # rounding must not miss the end
        at_end = raw.LogicalAnd(raw.Equal(indices, gaps), raw.Greater(gaps, 0))
        values = raw.SelectV2(at_end, last, values)
    none = raw.Less(gaps, 1)
    return values, raw.SelectV2(none, number(np.nan, step), step)


def _at_axis(values: Tensor, axis: int) -> Tensor:
    """The values with the first axis transposed to `axis`."""
    if axis == 0:
        return values
    rank = raw.Rank(values)
    at = raw.FloorMod(axis, rank)
    order = raw.Range(1, rank, 1)
    before = raw.StridedSlice(order, [0], raw.Reshape(at, [1]), [1])
    after = raw.StridedSlice(order, raw.Reshape(at, [1]), [0], [1], end_mask=1)
    return raw.Transpose(values, raw.ConcatV2([before, [0], after], 0))


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = float,
    axis: int = 0,
) -> Any:
    """`num` values in equal steps from `start` to `stop`, this included if `endpoint`.

    The type is the inexact one of `start` and `stop`; `dtype` is ignored, as in
    TensorFlow. With `retstep` the step comes too. Raises ValueError if `num` is negative.

    >>> tnp.linspace(0, 1, 5)
    <tf.Tensor: shape=(5,), dtype=float64, numpy=array([0.  , 0.25, 0.5 , 0.75, 1.  ])>
    """
    _check_count(num)
    values, step = _spaced(*_ends(start, stop), num, endpoint)
    return (_at_axis(values, axis), step) if retstep else _at_axis(values, axis)


def logspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """`base` to the power of `num` values in equal steps from `start` to `stop`.

    With `endpoint` the last number is `stop`; without it the numbers end one step before.

    >>> tnp.logspace(0, 2, 3)
    <tf.Tensor: shape=(3,), dtype=float64, numpy=array([  1.,  10., 100.])>
    """
    powers = linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)
    return raw.Pow(as_tensor(base, powers.dtype), powers)


def _ends_of_factors(start: Any, stop: Any) -> tuple[Tensor, Tensor]:
    """Both ends of a geometric range: complex128 or, as in TensorFlow, float64."""
    wide = dtypes.complex128 if common_dtype(start, stop).is_complex else dtypes.float64
    return as_tensor(start, wide), as_tensor(stop, wide)


def geomspace(
    start: Any, stop: Any, num: Any = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Tensor:
    """`num` values from `start` to `stop`, each the one before times the same factor.

    With `endpoint` the last number is `stop`; without it the numbers end one step before.

    >>> tnp.geomspace(1, 8, 4)
    <tf.Tensor: shape=(4,), dtype=float64, numpy=array([1., 2., 4., 8.])>
    """
    _check_count(num)
    wanted = common_dtype(start, stop) if dtype is None else dtype_of(dtype)
    first, last = _ends_of_factors(start, stop)
    # Both negative: of their absolute values, with the sign put back.
    zero = number(0, first)
    if first.dtype.is_complex:
        sign = raw.Div(first, raw.Cast(raw.ComplexAbs(first), DstT=first.dtype))
        first, last = raw.Div(first, sign), raw.Div(last, sign)
    else:
        both = raw.LogicalAnd(raw.Less(first, zero), raw.Less(last, zero))
        sign = raw.SelectV2(both, number(-1, first), number(1, first))
        first, last = raw.Mul(first, sign), raw.Mul(last, sign)
    logs, _ = _spaced(raw.Log(first), raw.Log(last), num, endpoint)
    result = raw.Mul(sign, raw.Exp(logs))
    if dtype is None:
        return _at_axis(result, axis)
    if not wanted.is_floating and not wanted.is_complex:
        result = raw.Rint(result)
    return _at_axis(raw.Cast(result, DstT=wanted), axis)


def meshgrid(*xi: Any, **kwargs: Any) -> list[Tensor]:
    """Coordinates as grids: for each vector a tensor of the shape of all of them.

    `indexing="xy"` (the default) has the second vector along the first axis, `"ij"` the first.
    Raises ValueError for `sparse=True` and `copy=False`.

    >>> [g.numpy().tolist() for g in tnp.meshgrid([1, 2], [3, 4, 5], indexing="ij")]
    [[[1, 1, 1], [2, 2, 2]], [[3, 4, 5], [3, 4, 5]]]
    """
    if kwargs.get("sparse", False):
        raise ValueError(
            "Function `meshgrid` does not support returning sparse arrays yet. "
            f"Received: sparse={kwargs['sparse']}"
        )
    if not kwargs.get("copy", True):
        raise ValueError(
            f"Function `meshgrid` only supports copy=True. Received: copy={kwargs['copy']}"
        )
    from_xy = kwargs.get("indexing", "xy") == "xy"
    vectors = [raw.Reshape(as_tensor(x), [-1]) for x in xi]
    if not vectors:
        return []
    indices = [*builtins.range(len(vectors))]
    if from_xy and len(vectors) > 1:
        indices[:2] = [1, 0]
    sizes = [raw.Size(v) for v in vectors]
    whole = raw.Pack([sizes[p] for p in indices], axis=0)
    grids: list[Tensor] = []
    for index, vector in enumerate(vectors):
        shape = [1] * len(vectors)
        shape[indices[index]] = -1
        grids.append(raw.BroadcastTo(raw.Reshape(vector, shape), whole))
    return grids


__all__ = [
    "arange", "array", "asanyarray", "asarray", "ascontiguousarray", "copy", "empty",
    "empty_like", "eye", "full", "full_like", "geomspace", "identity", "linspace",
    "logspace", "meshgrid", "ones", "ones_like", "tri", "tril", "triu", "vander", "zeros",
    "zeros_like",
]  # fmt: skip
