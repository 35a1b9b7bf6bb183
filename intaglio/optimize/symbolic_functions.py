"""The counterparts of NumPy's functions for symbolic arrays. Functions that are not listed raise NotSymbolic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import from_numpy, int64
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.array import grouping
from intaglio.optimize.symbolic_arrays import (
    NotSymbolic,
    SymbolicArray,
    _as,
    _kind,
    _symbolic,
    applied,
    kind_of,
    known_of,
    moved,
    tensor_of,
    wrapped,
)
from intaglio.optimize.symbolic_linalg import LINALG
from intaglio.runtime.kernel_paths import Undecided, decided_among

# Maximum number of terms of a product of integer matrices, which is recorded without MatMul.
MAX_INTEGER_TERMS = 1 << 16
_Rule = Callable[..., Any]


# -- ufuncs composed of others ---------------------------------------------------------------


def _truncated(x: Any) -> Any:
    return _where(x < 0, np.ceil(x), np.floor(x)) if kind_of(x.dtype) == "f" else x


def _without_nan(ufunc: Any) -> Any:
    """`np.fmax` and `np.fmin`: a number takes precedence over NaN."""

    def rule(x: Any, y: Any) -> Any:
        either = applied(ufunc, (x, y))
        rest = _where(np.isnan(y), x, either) if _is_float(y) else either
        return _where(np.isnan(x), y, rest) if _is_float(x) else rest

    return rule


def _is_float(array: Any) -> bool:
    return _kind(array) is float or kind_of(np.dtype(_kind(array))) == "f"


def _binary(ufunc: Any, op: Op) -> _Rule:
    """A binary ufunc that is an op whose `scalar` rule is not a single primitive."""

    def rule(x: Any, y: Any) -> Any:
        *wanted, _ = ufunc.resolve_dtypes((_kind(x), _kind(y), None))
        return SymbolicArray(op(_as(x, wanted[0]), _as(y, wanted[1])))

    return rule


def _copysign(x: Any, y: Any) -> Any:
    """`np.copysign`, except for a sign operand of -0 or NaN."""
    magnitude = np.abs(x)
    return _where(np.less(y, 0), -magnitude, magnitude)


def _sign(x: Any) -> Any:
    if x.dtype.kind == "c":
        raise NotSymbolic("the sign of complex numbers")
    return SymbolicArray(raw.Sign(x.value))


def _part(op: Op) -> _Rule:
    def rule(x: Any) -> Any:
        if x.dtype.kind != "c":
            return x if op is raw.Real else SymbolicArray(np.zeros(x.shape, x.dtype))
        return SymbolicArray(op(x.value, Tout=from_numpy(x.dtype).real_dtype))

    return rule


def _absolute(x: Any) -> Any:
    if x.dtype.kind == "c":
        return SymbolicArray(raw.ComplexAbs(x.value, Tout=from_numpy(x.dtype).real_dtype))
    return x if x.dtype.kind in "ub" else SymbolicArray(raw.Abs(x.value))


# -- reductions ------------------------------------------------------------------------------

_REDUCTIONS: dict[Any, Op] = {
    np.add: raw.Sum, np.multiply: raw.Prod, np.maximum: raw.Max, np.minimum: raw.Min,
    np.logical_and: raw.All, np.logical_or: raw.Any, np.bitwise_and: raw.All, np.bitwise_or: raw.Any,
}  # fmt: skip
_OF_BOOLEANS = (raw.All, raw.Any)


def reduced(ufunc: Any, array: Any, axis: Any = 0, keepdims: bool = False, **options: Any) -> Any:
    """The reduction of an array by a ufunc, over all axes if `axis` is None."""
    op = _REDUCTIONS.get(ufunc)
    dtype, out = options.pop("dtype", None), options.pop("out", (None,))
    initial, where = options.pop("initial", None), options.pop("where", True)
    if op is None or where is not True or any(v is not None for v in options.values()):
        raise NotSymbolic(ufunc.__name__)
    if not isinstance(array, SymbolicArray):
        array = SymbolicArray(np.asarray(array))
    if ufunc in (np.bitwise_and, np.bitwise_or) and array.dtype.kind != "b":
        raise NotSymbolic(ufunc.__name__)
    if op in _OF_BOOLEANS:
        array = array.astype(np.bool_)
    elif ufunc in (np.add, np.multiply):
        array = array.astype(dtype or _total_dtype(array.dtype))
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = np.asarray([int(a) for a in axes], np.int32)
    if array.size or op not in (raw.Max, raw.Min) or initial is None:
        found = SymbolicArray(op(array.value, axes, keep_dims=bool(keepdims)))
        found = found if initial is None else applied(ufunc, (found, initial))
    else:
        found = wrapped(
            ufunc.reduce(
                np.zeros(array.shape, array.dtype), axis, keepdims=keepdims, initial=initial
            )
        )
    target = out[0] if isinstance(out, tuple) else out
    return found if target is None else target.become(found)


def _total_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy sums: 64 bits for integers and booleans."""
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if dtype.kind in "bi" else dtype


def _reduced_parts(ufunc: Any, array: Any, starts: Any, axis: int = 0, dtype: Any = None) -> Any:
    """`ufunc.reduceat`: the reductions of parts of an axis."""
    array = _symbolic(array)
    numbers = np.asarray(starts).tolist()
    ends = [*numbers[1:], array.shape[axis]]
    parts: list[Any] = []
    for start, end in zip(numbers, ends, strict=True):
        part = array.take(np.arange(start, max(end, start + 1)), axis)
        parts.append(reduced(ufunc, part, axis, keepdims=True, dtype=dtype))
    return moved(lambda *positions: np.concatenate(positions, axis), parts)


def _accumulated(ufunc: Any, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
    rules = {np.add: _cumsum, np.multiply: _cumprod}
    if known_of(array) is not None:
        found = wrapped(ufunc.accumulate(known_of(array), axis, dtype))
    elif ufunc in rules:
        found = rules[ufunc](array, axis, dtype)
    else:  # parts of different lengths, one by one
        rows = np.moveaxis(array, axis, 0)
        steps = [rows[0]]
        for i in range(1, rows.shape[0]):
            steps.append(applied(ufunc, (steps[-1], rows[i])))
        found = np.stack(steps, axis)
    return found if out is None else out[0].become(found)


_SCATTERS: dict[Any, Op] = {
    np.add: raw.TensorScatterAdd, np.subtract: raw.TensorScatterSub,
    np.maximum: raw.TensorScatterMax, np.minimum: raw.TensorScatterMin,
}  # fmt: skip


def _at(ufunc: Any, array: Any, index: Any, *values: Any) -> None:
    """`ufunc.at`: updates elements at indices one after the other."""
    if ufunc not in _SCATTERS or not values or not isinstance(array, SymbolicArray):
        raise NotSymbolic(f"{ufunc.__name__}.at")
    array.scattered(_SCATTERS[ufunc], index, values[0])


def _outer(ufunc: Any, x: Any, y: Any) -> Any:
    return applied(ufunc, (np.reshape(x, (*np.shape(x), *[1] * np.ndim(y))), y))


def _reduction(ufunc: Any) -> _Rule:
    def rule(
        array: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None
    ) -> Any:
        return reduced(ufunc, array, axis, keepdims=keepdims, dtype=dtype, initial=initial)

    return rule


def _extremum(ufunc: Any) -> _Rule:
    def rule(array: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
        return reduced(ufunc, array, axis, keepdims=keepdims, initial=initial)

    return rule


def _mean(array: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    kind = np.dtype(dtype or (array.dtype if kind_of(array.dtype) in "fc" else np.float64))
    if kind.itemsize == 2:
        raise NotSymbolic("a mean of 16-bit floats")
    total = reduced(np.add, array.astype(kind), axis, keepdims=keepdims)
    return total / kind.type(array.size / max(total.size, 1))


def _variance(array: Any, axis: Any = None, keepdims: bool = False) -> Any:
    apart = np.absolute(array - _mean(array, axis, keepdims=True))
    return _mean(apart * apart, axis, keepdims=keepdims)


def _conjugate(x: Any) -> Any:
    return SymbolicArray(raw.Conj(x.value)) if x.dtype.kind == "c" else x


def _count_nonzero(array: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return reduced(np.add, array.astype(np.bool_), axis, keepdims=keepdims)


def _index_of(op: Op) -> _Rule:
    def rule(array: Any, axis: Any = None, keepdims: bool = False) -> Any:
        if array.dtype.kind == "b":
            array = array.astype(np.uint8)
        if keepdims or array.dtype.kind == "c":
            raise NotSymbolic(op.name)
        if axis is None:
            array, axis = array.reshape(-1), 0
        if kind_of(array.dtype) == "f":  # NumPy returns the index of the first NaN
            missing = np.isnan(array)
            first = rule(missing, axis)
            clean = _where(missing, 0, array)
            own = SymbolicArray(op(clean.value, np.int32(axis), output_type=int64))
            return _where(np.any(missing, axis=axis), first, own)
        wide = array.astype(np.int32 if array.itemsize < 4 else array.dtype)
        return SymbolicArray(op(wide.value, np.int32(axis), output_type=int64))

    return rule


# -- sorting ---------------------------------------------------------------------------------


def _argsort(array: Any, axis: int = -1, kind: Any = None, stable: Any = None) -> Any:
    """`np.argsort`, stable."""
    if not array.ndim:
        raise NotSymbolic("a number is sorted")
    rows = np.moveaxis(array, axis, -1)
    if array.dtype.kind in "iub":
        key = ~(rows.astype(np.uint8) if array.dtype.kind == "b" else rows)
    else:
        # NaN sorts last, after infinity.
        key = -rows
        number = np.isnan(rows)
        largest = SymbolicArray(
            raw.TopKV2(_where(number, -np.inf, key).value, np.int32(rows.shape[-1]))[1]
        )
        again = _along(number, largest)
        last = SymbolicArray(
            raw.TopKV2((~again).astype(np.uint8).value, np.int32(rows.shape[-1]))[1]
        )
        return np.moveaxis(_along(largest, last).astype(np.int64), -1, axis)
    order: Any = SymbolicArray(raw.TopKV2(key.value, np.int32(rows.shape[-1]))[1])
    return np.moveaxis(order.astype(np.int64), -1, axis)


def _along(rows: Any, order: Any) -> Any:
    """Gathers along the last axis."""
    return _take_along_axis(rows, order, -1)


def _sort(array: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
    if axis is None:
        array, axis = array.reshape(-1), -1
    return _take_along_axis(array, _argsort(array, axis), axis)


def _take_along_axis(array: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return array.reshape(-1)[indices]
    axis %= array.ndim
    shape = [*indices.shape]
    index: list[Any] = []
    for a, _ in enumerate(shape):
        if a == axis:
            index.append(indices)
        else:
            own = array.shape[a]
            index.append(np.arange(own).reshape([-1 if b == a else 1 for b in range(len(shape))]))
    source = array if isinstance(array, SymbolicArray) else SymbolicArray(np.asarray(array))
    return source[tuple(index)]


def _nan_to_num(array: Any, copy: bool = True, nan: float = 0.0) -> Any:
    if kind_of(array.dtype) != "f":
        raise NotSymbolic("nan_to_num of other numbers than floats")
    limits = np.finfo(array.dtype)
    finite = _where(np.isnan(array), array.dtype.type(nan), array)
    return _where(
        np.isinf(array), _where(array < 0, limits.min, limits.max).astype(array.dtype), finite
    )


def _searchsorted(edges: Any, values: Any, side: str = "left", sorter: Any = None) -> Any:
    """`np.searchsorted`: for each value, the number of sorted edges before it."""
    if sorter is not None or np.ndim(edges) != 1:
        raise NotSymbolic("searchsorted")
    kind = np.result_type(_kind(edges), _kind(values))
    a = SymbolicArray(_as(edges, kind))
    v = SymbolicArray(_as(values, kind)).reshape((*np.shape(values), 1))
    before = applied(np.less if side == "left" else np.less_equal, (a, v))
    return reduced(np.add, before, -1)


# -- products --------------------------------------------------------------------------------


def _matmul(a: Any, b: Any) -> Any:
    kind = np.result_type(_kind(a), _kind(b))
    x, y = SymbolicArray(_as(a, kind)), SymbolicArray(_as(b, kind))
    left, right = x.ndim == 1, y.ndim == 1
    x = x.reshape((1, -1)) if left else x
    y = y.reshape((-1, 1)) if right else y
    if kind_of(kind) in "fc":
        found = SymbolicArray(raw.BatchMatMulV2(x.value, y.value))
    else:
        if x.size * y.shape[-1] > MAX_INTEGER_TERMS or kind.kind == "b":
            raise NotSymbolic("a large product of integers")
        terms = x[..., :, :, np.newaxis] * y[..., np.newaxis, :, :]
        found = reduced(np.add, terms, -2, dtype=kind)
    shape = [*found.shape]
    if right:
        del shape[-1]
    if left:
        del shape[-1 if right else -2]
    return found.reshape(tuple(shape))


def _dot(a: Any, b: Any) -> Any:
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(b) > 2:
        raise NotSymbolic("dot")
    return _matmul(a, b)


def _einsum(equation: str, *operands: Any, **options: Any) -> Any:
    kind = np.result_type(*[_kind(a) for a in operands])
    if kind_of(kind) not in "fc":
        raise NotSymbolic("einsum of integers")
    return SymbolicArray(raw.Einsum([_as(a, kind) for a in operands], equation=equation))


# -- slices and selection ------------------------------------------------------------------------


def _where(condition: Any, *choices: Any) -> Any:
    if not choices:
        return _nonzero(_symbolic(condition))
    if len(choices) != 2:
        raise NotSymbolic("where")
    dtype = np.result_type(
        *[_kind(c) if not isinstance(_kind(c), type) else _kind(c)(0) for c in choices]
    )
    known = known_of(condition)
    if known is not None and known.ndim == 0:
        return SymbolicArray(_as(choices[0] if known else choices[1], dtype))
    return SymbolicArray(
        raw.SelectV2(_as(condition, np.dtype(np.bool_)), *[_as(c, dtype) for c in choices])
    )


def _clip(array: Any, low: Any = None, high: Any = None, **options: Any) -> Any:
    """`np.clip`: the minimum with the upper bound of the maximum with the lower bound."""
    low, high = options.pop("min", low), options.pop("max", high)
    if low is not None:
        array = applied(np.maximum, (array, low))
    return array if high is None else applied(np.minimum, (array, high))


def _pad(array: Any, sides: Any, mode: Any = "constant", constant_values: Any = 0) -> Any:
    if mode != "constant":
        return moved(lambda numbers: np.pad(numbers, sides, mode=mode), [array])
    filling = constant_values
    if np.ndim(filling):
        raise NotSymbolic("unlike paddings")

    def padded(numbers: Any, outside: Any) -> Any:
        return np.pad(numbers, sides, constant_values=outside.item())

    filling = filling if isinstance(filling, SymbolicArray) else np.asarray(filling)
    return moved(padded, [array, filling.astype(array.dtype)])


def _broadcast_arrays(*arrays: Any) -> list[Any]:
    shape = np.broadcast_shapes(*[np.shape(a) for a in arrays])
    return [
        moved(lambda numbers: np.broadcast_to(numbers, shape), [a]) for a in map(_symbolic, arrays)
    ]


def _cumsum(array: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis is None:
        array, axis = array.reshape(-1), 0
    array = array.astype(dtype or _total_dtype(array.dtype))
    return SymbolicArray(raw.Cumsum(array.value, np.int32(axis)))


def _cumprod(array: Any, axis: Any = None, dtype: Any = None) -> Any:
    if axis is None:
        array, axis = array.reshape(-1), 0
    array = array.astype(dtype or _total_dtype(array.dtype))
    return SymbolicArray(raw.Cumprod(array.value, np.int32(axis)))


def _copyto(target: Any, source: Any, where: Any = True, casting: str = "same_kind") -> None:
    if not isinstance(target, SymbolicArray):
        raise NotSymbolic("an array that is no part of the program is written to")
    target[...] = source if where is True else _where(where, source, target)


def _bincount(positions: Any, weights: Any = None, minlength: int = 0) -> Any:
    """`np.bincount`: the float64 sums of the weights by position, or counts.

    The scatter checks that computed positions are below `minlength`.
    """
    known = known_of(positions)
    size = int(minlength)
    if known is not None:
        size = max(int(np.max(known, initial=-1)) + 1, size)
    elif not size:
        raise NotSymbolic("as many elements as the data says")
    kind = np.dtype(np.int64 if weights is None else np.float64)
    rows = _symbolic(positions).astype(np.int32).reshape((-1, 1))
    values = np.ones(rows.shape[0], kind) if weights is None else weights
    zeros = tensor_of(np.zeros(size, kind))
    return SymbolicArray(raw.TensorScatterAdd(zeros, rows.value, _as(_symbolic(values), kind)))


def _take(array: Any, indices: Any, axis: Any = None, mode: str = "raise") -> Any:
    source = _symbolic(array)
    if axis is None:
        source, axis = source.reshape(-1), 0
    axis %= source.ndim
    known = known_of(indices)
    if known is not None:
        return moved(lambda numbers: numbers.take(known, axis, mode=mode), [source])
    if mode == "wrap":
        indices = indices % source.shape[axis]
    elif mode == "clip":
        indices = _clip(indices, 0, source.shape[axis] - 1)
    return source[(*[slice(None)] * axis, indices)]


def _put_along_axis(array: Any, indices: Any, values: Any, axis: Any) -> None:
    axis %= array.ndim
    shape = np.shape(indices)
    index = [
        indices
        if a == axis
        else np.arange(n).reshape([-1 if b == a else 1 for b in range(len(shape))])
        for a, n in enumerate(shape)
    ]
    array[tuple(index)] = values


def _full_like(
    array: Any, number: Any, dtype: Any = None, order: str = "C", shape: Any = None
) -> Any:
    dims, kind = array.shape if shape is None else shape, np.dtype(dtype or array.dtype)
    found = SymbolicArray(np.zeros(dims, kind))  # a copy, as the kernel may assign to it
    found[...] = number
    return found


def _like(number: int) -> _Rule:
    def rule(array: Any, dtype: Any = None, order: str = "C", shape: Any = None) -> Any:
        return _full_like(array, number, dtype, order, shape)

    return rule


def _round(array: Any, decimals: int = 0) -> Any:
    if decimals or kind_of(array.dtype) != "f":
        raise NotSymbolic("decimals")
    return np.rint(array)


def _array_equal(a: Any, b: Any, equal_nan: bool = False) -> Any:
    if equal_nan:
        raise NotSymbolic("array_equal")
    return np.shape(a) == np.shape(b) and reduced(np.logical_and, applied(np.equal, (a, b)), None)


def _triangle(lower: bool) -> _Rule:
    def rule(array: Any, k: int = 0) -> Any:
        mask = np.tri(array.shape[-2], array.shape[-1], k if lower else k - 1, dtype=bool)
        return _where(mask if lower else ~mask, array, array.dtype.type(0))

    return rule


def _diff(array: Any, n: int = 1, axis: int = -1) -> Any:
    rows = np.moveaxis(array, axis, -1)
    for _ in range(n):
        rows = rows[..., 1:] - rows[..., :-1]
    return np.moveaxis(rows, -1, axis)


def _split(array: Any, sections: Any, axis: int = 0) -> Any:
    parts = np.split(np.arange(array.shape[axis]), sections)
    return [moved(lambda numbers, p=p: numbers.take(p, axis), [array]) for p in parts]


# -- results whose size depends on data ------------------------------------------------------------


def _flat_nonzero(array: Any) -> Any:
    """`np.flatnonzero`: a path of the kernel is run for each possible number of results."""
    if array.nonzero_positions is not None and array.nonzero_positions[0] is array.value:
        return array.nonzero_positions[1]
    array.nonzero_positions = array.value, _positions(array)
    return array.nonzero_positions[1]


def _positions(array: Any) -> Any:
    mask = array.reshape(-1).astype(np.bool_)
    count = raw.Sum(mask.astype(np.int32).value, np.array([0], np.int32))
    try:
        number = decided_among(count, mask.size + 1)
    except Undecided as e:
        raise NotSymbolic(str(e)) from e
    if not number:
        return SymbolicArray(np.zeros([0], np.int64))
    order = raw.TopKV2(mask.astype(np.uint8).value, np.int32(number))[1]
    return SymbolicArray(order).astype(np.int64)


def _nonzero(array: Any) -> tuple[Any, ...]:
    places = _flat_nonzero(array)
    table = np.argwhere(np.ones(array.shape, bool))
    return tuple([_take(table[:, axis].copy(), places) for axis in range(array.ndim)])


def _argwhere(array: Any) -> Any:
    table = np.argwhere(np.ones(array.shape, bool))
    return _take(table, _flat_nonzero(array), 0)


def _infinite(sign: float) -> _Rule:
    def rule(x: Any) -> Any:
        return applied(np.equal, (x, x.dtype.type(sign * np.inf)))

    return rule


def _is_in(array: Any, among: Any, **options: Any) -> Any:
    if options:
        raise NotSymbolic("isin")
    values, others = _symbolic(array), _symbolic(among).reshape(-1)
    same = applied(np.equal, (values.reshape((*values.shape, 1)), others))
    return reduced(np.logical_or, same, -1)


def distinct(x: Any) -> tuple[Any, Any, Any]:
    """The counterpart of the function of this name that kernels such as that of `Unique` call."""
    values = _symbolic(x)
    known = known_of(values)
    if known is not None:
        return wrapped(grouping.distinct(np.array(known)))
    size = values.shape[0]
    same = applied(np.equal, (values.reshape((size, 1)), values))
    if kind_of(values.dtype) == "f":  # each NaN is distinct
        same = applied(np.logical_or, (same, np.eye(size, dtype=bool)))
    earliest = _index_of(raw.ArgMax)(same.astype(np.uint8), 1)
    first = _flat_nonzero(applied(np.equal, (earliest, np.arange(size))))
    which = reduced(np.add, applied(np.less, (first, earliest.reshape((size, 1)))), -1)
    counts = reduced(np.add, applied(np.equal, (first.reshape((-1, 1)), earliest)), -1)
    return first, which, counts


RULES: dict[Any, Any] = {
    "reduce": reduced, "reduceat": _reduced_parts, "accumulate": _accumulated, "at": _at,
    "outer": _outer, "flatnonzero": _flat_nonzero,
    np.flatnonzero: _flat_nonzero, np.nonzero: _nonzero, np.argwhere: _argwhere, np.isin: _is_in,
    np.fmax: _without_nan(np.maximum), np.fmin: _without_nan(np.minimum), np.trunc: _truncated,
    np.floor_divide: _binary(np.floor_divide, raw.FloorDiv),
    np.remainder: _binary(np.remainder, raw.FloorMod),
    np.left_shift: _binary(np.left_shift, raw.LeftShift),
    np.right_shift: _binary(np.right_shift, raw.RightShift),
    np.copysign: _copysign, np.sign: _sign, np.real: _part(raw.Real), np.imag: _part(raw.Imag),
    np.absolute: _absolute, np.fabs: _absolute, np.positive: lambda x: x, np.matmul: _matmul,
    np.logical_xor: lambda x, y: applied(np.not_equal, (_symbolic(x).astype(bool), _symbolic(y).astype(bool))),
    np.isposinf: _infinite(1), np.isneginf: _infinite(-1),
    np.dot: _dot, np.einsum: _einsum,
    np.where: _where, np.clip: _clip, np.pad: _pad, np.take: _take,
    np.take_along_axis: _take_along_axis, np.put_along_axis: _put_along_axis,
    np.nan_to_num: _nan_to_num, np.cumsum: _cumsum, np.cumprod: _cumprod, np.copyto: _copyto, np.bincount: _bincount,
    np.sort: _sort, np.argsort: _argsort, np.searchsorted: _searchsorted,
    np.ndim: lambda a: a.ndim, np.size: lambda a, axis=None: a.size if axis is None else a.shape[axis],
    np.shape: lambda a: a.shape,
    np.zeros_like: _like(0), np.empty_like: _like(0), np.ones_like: _like(1),
    np.full_like: _full_like, np.broadcast_arrays: _broadcast_arrays,
    np.sum: _reduction(np.add), np.prod: _reduction(np.multiply),
    np.max: _extremum(np.maximum), np.min: _extremum(np.minimum), np.amax: _extremum(np.maximum),
    np.amin: _extremum(np.minimum), np.all: _extremum(np.logical_and),
    np.any: _extremum(np.logical_or), np.mean: _mean, np.var: _variance, np.conjugate: _conjugate,
    np.std: lambda array, axis=None: np.sqrt(_variance(array, axis)), np.count_nonzero: _count_nonzero,
    np.argmax: _index_of(raw.ArgMax), np.argmin: _index_of(raw.ArgMin),
    np.round: _round, np.array_equal: _array_equal, np.diff: _diff, np.split: _split,
    np.tril: _triangle(True), np.triu: _triangle(False), **LINALG,
}  # fmt: skip
