"""Creation of tensors: zeros, ones, fills, ranges, one-hot vectors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX, NUMERIC, REAL, DType, bool_, int8, string, uint8
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.array.reshaping import small
from intaglio.ops.families import MAX_FOLDED_ELEMENTS, check_rank
from intaglio.ops.shape_inputs import dims_of


@op
class ZerosLike(Op):
    """Zeros (empty strings, False) of the shape and type of x."""

    signature = "x: T -> y: T"
    differentiable = False
    T = ALL
    native_exact = True
    batching = "leading"
    numerics_checked = False

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)

    def kernel(self, x):
        if not isinstance(x, (np.ndarray, np.generic)):
            return x.zeros_like()  # a variant with numbers in it
        if x.dtype == object:
            return np.full(x.shape, b"", object)
        return np.zeros(x.shape, x.dtype)


@op
class OnesLike(Op):
    """Ones (True) of the shape and type of x."""

    signature = "x: T -> y: T"
    differentiable = False
    T = (*NUMERIC, bool_)
    native_exact = True
    batching = "leading"

    def infer(self, x: Spec) -> Spec:
        return Spec(x.dtype, x.shape)

    def kernel(self, x):
        return np.ones(x.shape, x.dtype)


@op
class Fill(Op):
    """A tensor of shape `dims` with the same value everywhere."""

    signature = "dims: index_type, value: T -> output: T"
    T = ALL
    index_type = INDEX
    native_exact = True
    shape_input = "dims"
    data_inputs = ("value",)
    numerics_checked = False

    def infer(self, dims: Spec, value: Spec) -> Spec:
        if dims.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {dims.rank}")
        if value.rank not in (0, None):
            raise ShapeError(f"Shape must be rank 0 but is rank {value.rank}")
        sizes = dims.partial
        if sizes and any(d is not None and d < 0 for d in sizes):
            raise ShapeError(f"Fill dimensions must be >= 0, not {list(sizes)}")
        result = Spec(value.dtype, sizes)
        if (
            small(value)
            and value.dtype.is_integer
            and (result.count or MAX_FOLDED_ELEMENTS + 1) <= MAX_FOLDED_ELEMENTS
        ):
            result.value = np.full(sizes, value.value)  # type: ignore[arg-type]  # all known here
        return result

    def kernel(self, dims, value):
        if value.shape not in ((), (1,)):
            raise invalid_argument(
                f"value must be a scalar, got shape [{','.join(map(str, value.shape))}]"
            )
        sizes = dims_of(
            np.atleast_1d(dims),
            value.dtype.itemsize,
            "Fill",
            expected="dims must represent a vector",
        )
        return np.full(sizes, value.reshape(())[()], value.dtype)

    def gradient(self, doutput) -> Any:
        return None, raw.Sum(doutput, raw.Range(0, raw.Rank(doutput), 1))


@op
class Empty(Op):
    """A tensor whose elements are unspecified; zeros here."""

    signature = "shape: int32; dtype: type, init: bool = False -> output: dtype"
    differentiable = False
    stateful = True

    def infer(self, shape: Spec, dtype: DType) -> Spec:
        if shape.rank not in (1, None):
            raise ShapeError(f"Shape must be rank 1 but is rank {shape.rank}")
        return Spec(dtype, shape.as_shape())

    def kernel(self, shape, dtype):
        dims = dims_of(
            shape, dtype.numpy.itemsize, "Empty", expected="shape must be a vector of int32"
        )
        return np.full(dims, b"", object) if dtype is string else np.zeros(dims, dtype.numpy)


@op
class Range(Op):
    """start, start + delta, ... up to but not including limit."""

    signature = "start: Tidx, limit: Tidx, delta: Tidx -> output: Tidx"
    differentiable = False
    Tidx = tuple(t for t in REAL if t is not uint8)

    def infer(self, start: Spec, limit: Spec, delta: Spec) -> Spec:
        for x, name in ((start, "start"), (limit, "limit"), (delta, "delta")):
            if x.rank not in (0, None):
                raise ShapeError(f"Shape must be rank 0 but is rank {x.rank} for '{name}'")
        if start.value is None or limit.value is None or delta.value is None:
            return Spec(start.dtype, (None,))
        size = range_size(start.value, limit.value, delta.value, ShapeError)
        value = None
        if start.dtype.is_integer and size <= MAX_FOLDED_ELEMENTS:
            value = self.kernel(start.value, limit.value, delta.value)
        return Spec(start.dtype, (size,), value)

    def kernel(self, start, limit, delta):
        size = range_size(start, limit, delta, invalid_argument)
        dtype = start.dtype
        check_allocated((size,), dtype.itemsize, "Range")
        steps = np.arange(size, dtype=dtype if dtype.kind in "iuf" else None)
        steps = steps.astype(dtype, copy=False)
        steps *= delta
        steps += start
        return steps


def range_size(start: Any, limit: Any, delta: Any, error: Any) -> int:
    """The number of elements of a range."""
    whole = start.dtype.kind in "iu"
    number: Any = int if whole else float
    a, b, step = number(start), number(limit), number(delta)
    if step == 0:
        raise error(f"Requires delta != 0: {_shown(delta)}")
    if step > 0 and a > b:
        raise error(f"Requires start <= limit when delta > 0: {_shown(start)}/{_shown(limit)}")
    if step < 0 and a < b:
        raise error(f"Requires start >= limit when delta < 0: {_shown(start)}/{_shown(limit)}")
    if whole:
        return -((a - b) // step)
    # Computed in the dtype itself, so that (0.1, 1.1, 0.1) has ten elements in float32.
    with np.errstate(over="ignore"):
        size = np.ceil(abs((limit - start) / delta))
    if not np.isfinite(size):
        raise error(f"Requires a finite number of elements, not {size}")
    return int(size)


def _shown(x: Any) -> str:
    value = np.asarray(x)[()]
    return str(int(value)) if float(value).is_integer() else str(value)


def _hot(indices: Any, at: int, size: int, on_value: Any, off_value: Any) -> np.ndarray:
    """`on_value` at each index along a new dimension; indices outside leave no mark."""
    dims, dtype = (*indices.shape[:at], size, *indices.shape[at:]), off_value.dtype
    if dtype.hasobject or any(off_value.tobytes()):
        result = np.full(dims, off_value[()], dtype)
    else:  # memory that the system has cleared
        result = np.zeros(dims, dtype)
    if not result.size:
        return result
    inner = math.prod(indices.shape[at:])
    flat = indices.reshape(-1, inner).astype(np.intp)
    inside = flat.view(np.uintp) < size
    if inner > 1:
        flat *= inner
        flat += np.arange(inner)
    flat += np.arange(0, result.size, size * inner)[:, None]
    if not inside.all():
        flat = flat[inside]
    result.reshape(-1)[flat] = on_value
    return result


@op
class OneHot(Op):
    """`on_value` at the positions that the indices name along a new dimension, else `off_value`."""

    native_exact = True
    signature = "indices: TI, depth: int32, on_value: T, off_value: T; axis: int = -1 -> output: T"
    differentiable = False
    T = ALL
    TI = (uint8, int8, *INDEX)

    def infer(self, indices: Spec, depth: Spec, on_value: Spec, axis) -> Spec:
        if axis < -1:
            raise ShapeError(f"axis must be >= -1, not {axis}")
        if depth.rank not in (0, None):
            raise ShapeError(f"Shape must be rank 0 but is rank {depth.rank}")
        if indices.shape is None:
            return Spec(on_value.dtype, None)
        size = number(depth)
        if size is not None and size < 0:
            raise ShapeError(f"depth must be non-negative, got: {size}")
        rank = len(indices.shape)
        if axis > rank:
            raise ShapeError(f"axis must be in [-1, {rank}], not {axis}")
        at = rank if axis == -1 else axis
        dims = (*indices.shape[:at], size, *indices.shape[at:])
        return Spec(on_value.dtype, dims)

    def kernel(self, indices, depth, on_value, off_value, axis):
        check_rank("on_value", on_value, 0)
        check_rank("off_value", off_value, 0)
        rank, size = indices.ndim, int(depth)
        if not -1 <= axis <= rank:
            raise invalid_argument(
                f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}"
            )
        if size < 0:
            raise invalid_argument(f"depth must be non-negative, got: {size}")
        check_allocated((*indices.shape, size), on_value.dtype.itemsize, "OneHot")
        at = rank if axis == -1 else axis
        return _hot(indices, at, size, on_value[()], off_value)
