"""Tensors of a graph in the place of arrays: NumPy code that is given them records nodes instead.

A kernel that asks for nothing but shapes and dtypes, and computes with NumPy's functions, is an
expression in other ops then. Ufuncs are the ops whose `scalar` rule is that primitive; what only moves
elements is a gather, at the positions where NumPy puts their numbers.
"""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import from_numpy
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars, primitive_of


class NotSymbolic(Exception):
    """A kernel asks for the elements of a tensor that is not known yet, or what no op does."""


class SymbolicArray:
    """A tensor of a known shape as kernels see an array. Ops are recorded at the door's present level."""

    def __init__(
        self, value: Any, root: SymbolicArray | None = None, positions: Any = None
    ) -> None:
        """The elements of a tensor; or a view of those of `root`, at these positions."""
        self._value: SymbolicTensor = value
        self._root = self if root is None else root
        self._positions = positions
        self.shape: tuple[Any, ...] = tuple(value.dims) if root is None else positions.shape
        self.ndim = len(self.shape)
        self.dtype: np.dtype[Any] = np.dtype(self._root._value.dtype.numpy)
        self.itemsize = self.dtype.itemsize

    @property
    def value(self) -> SymbolicTensor:
        """The elements as they are now."""
        root = self._root
        return root._value if root is self else _gathered(root._value, self._positions)

    @property
    def root(self) -> SymbolicArray:
        """The array that has the elements in memory."""
        return self._root

    @property
    def positions(self) -> np.ndarray:
        """Where in the root the elements are."""
        if self._positions is None:
            self._positions = np.arange(self.size).reshape(self.shape)
        return self._positions

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return self.size * self.itemsize

    # -- what is not known -----------------------------------------------------------------

    def __array__(self, *arguments: Any, **options: Any) -> Any:
        raise NotSymbolic

    def __bool__(self) -> bool:
        raise NotSymbolic

    def __int__(self) -> int:
        raise NotSymbolic

    def __float__(self) -> float:
        raise NotSymbolic

    def __index__(self) -> int:
        raise NotSymbolic

    def tolist(self) -> list[Any]:
        """The elements, which are not known."""
        raise NotSymbolic

    # -- changes ---------------------------------------------------------------------------

    def __setitem__(self, index: Any, value: Any) -> None:
        positions, root = self.positions[index], self._root
        item = raw.BroadcastTo(_as(value, self.dtype), np.asarray(positions.shape, np.int32))
        rows = np.asarray(positions).reshape(-1, 1).astype(np.int32)
        new = raw.TensorScatterUpdate(_flat(root._value), rows, _flat(item))
        root._value = raw.Reshape(new, np.asarray(root.shape, np.int32))

    def become(self, other: SymbolicArray) -> SymbolicArray:
        """Changes the elements to those of another array of this shape."""
        if self._root is self and self.shape == other.shape:
            self._value = other.astype(self.dtype).value
        else:
            self[...] = other
        return self

    # -- elements --------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[SymbolicArray]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, index: Any) -> SymbolicArray:
        parts = index if isinstance(index, tuple) else (index,)
        if any(isinstance(p, SymbolicArray) for p in parts):
            raise NotSymbolic
        return moved(lambda numbers: numbers[index], [self])

    def reshape(self, *shape: Any) -> SymbolicArray:
        """The elements in another shape."""
        return moved(lambda numbers: numbers.reshape(*shape), [self])

    def transpose(self, *axes: Any) -> SymbolicArray:
        """The axes in another order."""
        return moved(lambda numbers: numbers.transpose(*axes), [self])

    @property
    def T(self) -> SymbolicArray:
        """The axes in reverse order."""
        return self.transpose()

    def ravel(self) -> SymbolicArray:
        """The elements as a vector."""
        return self.reshape(-1)

    def swapaxes(self, one: int, other: int) -> SymbolicArray:
        """Two axes in each other's place."""
        return moved(lambda numbers: numbers.swapaxes(one, other), [self])

    def astype(self, dtype: Any, **options: Any) -> SymbolicArray:
        """The elements as another dtype."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return SymbolicArray(self.value)
        return SymbolicArray(raw.Cast(self.value, DstT=from_numpy(wanted)))

    def copy(self) -> SymbolicArray:
        """The same elements, which share nothing."""
        return SymbolicArray(self.value)

    def take(self, indices: Any, axis: Any = None, mode: Any = "raise") -> SymbolicArray:
        """The elements at indices that are known."""
        return moved(lambda numbers: numbers.take(indices, axis, mode=mode), [self])

    # -- arithmetic ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            return reduced(ufunc, *inputs, **options)
        if method == "reduceat":
            return _reduced_parts(ufunc, *inputs, **options)
        (target,) = options.pop("out", (None,))
        options.pop("casting", None)  # what is changed keeps its dtype
        if method != "__call__" or options:
            raise NotSymbolic
        found = applied(ufunc, inputs)
        if target is None:
            return found
        if not isinstance(target, SymbolicArray):
            raise NotSymbolic
        return target.become(found)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function in MOVES:
            return moved(
                lambda numbers: function(numbers, *arguments[1:], **options), [arguments[0]]
            )
        if function in JOINS:
            parts = list(arguments[0])
            return moved(lambda *numbers: function(numbers, *arguments[1:], **options), parts)
        rule = RULES.get(function)
        if rule is None:
            raise NotSymbolic(function.__name__)
        return rule(*arguments, **options)

    def sum(self, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
        """The sums along axes."""
        return reduced(np.add, self, axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False, initial: Any = None) -> SymbolicArray:
        """The greatest along axes."""
        found = reduced(np.maximum, self, axis, keepdims=keepdims)
        return found if initial is None else applied(np.maximum, (found, initial))

    def min(self, axis: Any = None, keepdims: bool = False, initial: Any = None) -> SymbolicArray:
        """The least along axes."""
        found = reduced(np.minimum, self, axis, keepdims=keepdims)
        return found if initial is None else applied(np.minimum, (found, initial))

    def all(self, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
        """Whether all along axes hold."""
        return reduced(np.logical_and, self, axis, keepdims=keepdims)

    def any(self, axis: Any = None, keepdims: bool = False) -> SymbolicArray:
        """Whether any along axes holds."""
        return reduced(np.logical_or, self, axis, keepdims=keepdims)


def _operator(ufunc: Any) -> Any:
    def operator(self: SymbolicArray, *others: Any) -> Any:
        return applied(ufunc, (self, *others))

    return operator


def _reflected(ufunc: Any) -> Any:
    def operator(self: SymbolicArray, other: Any) -> Any:
        return applied(ufunc, (other, self))

    return operator


_OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip
_OTHER_OPERATORS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "neg": np.negative, "invert": np.invert, "abs": np.absolute,
}  # fmt: skip
for _name, _ufunc in _OPERATORS.items():
    setattr(SymbolicArray, f"__{_name}__", _operator(_ufunc))
    setattr(SymbolicArray, f"__r{_name}__", _reflected(_ufunc))
for _name, _ufunc in _OTHER_OPERATORS.items():
    setattr(SymbolicArray, f"__{_name}__", _operator(_ufunc))
SymbolicArray.__hash__ = object.__hash__


def tensor_of(array: Any) -> Any:
    """The tensor that an array of either kind is."""
    if isinstance(array, SymbolicArray):
        return array.value
    return door.level().constant(np.asarray(array))


def packed(items: Sequence[Any]) -> SymbolicArray:
    """Elements of one shape as the rows of a tensor."""
    return SymbolicArray(raw.Pack([tensor_of(i) for i in items], axis=0))


# -- what moves elements -------------------------------------------------------------------

# Of one array, the first argument; of several, which are the first argument.
MOVES = {
    np.transpose, np.reshape, np.tile, np.flip, np.roll, np.repeat, np.broadcast_to, np.moveaxis,
    np.swapaxes, np.expand_dims, np.squeeze, np.ravel, np.take, np.rollaxis, np.diagonal, np.copy,
    np.atleast_1d, np.atleast_2d,
}  # fmt: skip
JOINS = {np.concatenate, np.stack, np.hstack, np.vstack}


def moved(function: Callable[..., Any], arrays: Sequence[Any]) -> SymbolicArray:
    """What a function of arrays gives that moves their elements: it is given their numbers."""
    if len(arrays) == 1 and isinstance(arrays[0], SymbolicArray):
        positions = arrays[0].positions
        taken = np.asarray(function(positions))
        root = arrays[0].root
        if np.may_share_memory(taken, positions):
            return SymbolicArray(root.value, root, taken)
        return SymbolicArray(_gathered(root.value, taken))
    dtype = np.result_type(*[a.dtype for a in arrays])
    parts = [a if isinstance(a, SymbolicArray) else np.asarray(a) for a in arrays]
    numbers, start = list[Any](), 0
    for part in parts:
        numbers.append(np.arange(start, start + part.size).reshape(part.shape))
        start += part.size
    flat = [_flat(tensor_of(p.astype(dtype))) for p in parts]
    return SymbolicArray(_gathered(raw.ConcatV2(flat, np.int32(0)), np.asarray(function(*numbers))))


def _flat(tensor: Any) -> Any:
    return raw.Reshape(tensor, np.asarray([-1], np.int32))


def _gathered(tensor: Any, positions: np.ndarray) -> Any:
    """The elements at these positions of all."""
    shape = np.asarray(positions.shape, np.int32)
    index = positions.reshape(-1)
    if np.array_equal(index, np.arange(math.prod(tensor.dims))):
        return tensor if positions.shape == tuple(tensor.dims) else raw.Reshape(tensor, shape)
    taken = raw.GatherV2(_flat(tensor), index.astype(np.int32), np.int32(0))
    return raw.Reshape(taken, shape)


# -- arithmetic ----------------------------------------------------------------------------


@functools.cache
def ops_of_primitives() -> dict[str, list[Op]]:
    """The ops of this package whose whole `scalar` rule is a primitive, by its name."""
    package = __name__.partition(".")[0]
    found: dict[str, list[Op]] = {}
    for op in raw.catalogue().values():
        rule = op.rules.get("scalar")
        if rule is not None and type(op).__module__.partition(".")[0] == package:
            primitive = primitive_of(rule.fn, len(op.input_names))
            if primitive is not None:
                found.setdefault(primitive, []).append(op)
    return found


@functools.cache
def _ops_of_ufuncs() -> dict[Any, list[Op]]:
    found = {getattr(NumpyScalars, name, None): ops for name, ops in ops_of_primitives().items()}
    return {ufunc: ops for ufunc, ops in found.items() if isinstance(ufunc, np.ufunc)}


def applied(ufunc: Any, inputs: Sequence[Any]) -> SymbolicArray:
    """A ufunc of arrays, in the dtypes that NumPy computes with."""
    if ufunc in _COMPOSED:
        return _COMPOSED[ufunc](*inputs)
    kinds = [_kind(a) for a in inputs]
    if ufunc in _LOGICAL and all([np.dtype(k) == np.bool_ for k in kinds]):
        ufunc = _LOGICAL[ufunc]
    *wanted, _ = ufunc.resolve_dtypes((*kinds, None))
    tensors = [_as(a, dtype) for a, dtype in zip(inputs, wanted, strict=True)]
    for op in _ops_of_ufuncs().get(ufunc, ()):
        with contextlib.suppress(TypeError):  # of other dtypes
            return SymbolicArray(op(*tensors))
    raise NotSymbolic(ufunc.__name__)


def _truncated(x: Any) -> SymbolicArray:
    return _where(applied(np.less, (x, 0)), applied(np.ceil, (x,)), applied(np.floor, (x,)))


def _without_nan(ufunc: Any) -> Any:
    """What `np.fmax` and `np.fmin` are: a number wins against NaN."""

    def rule(x: Any, y: Any) -> Any:
        either = applied(ufunc, (x, y))
        rest = _where(applied(np.isnan, (y,)), x, either) if _is_float(y) else either
        return _where(applied(np.isnan, (x,)), y, rest) if _is_float(x) else rest

    return rule


def _is_float(array: Any) -> bool:
    return _kind(array) is float or np.dtype(_kind(array)).kind == "f"


_COMPOSED: dict[Any, Callable[..., SymbolicArray]] = {
    np.fmax: _without_nan(np.maximum),
    np.fmin: _without_nan(np.minimum),
    np.trunc: _truncated,
}

# Of booleans they are the logical ones.
_LOGICAL = {
    np.bitwise_and: np.logical_and, np.bitwise_or: np.logical_or, np.invert: np.logical_not,
}  # fmt: skip


def _kind(operand: Any) -> Any:
    """The dtype of an operand; Python's numbers take that of others."""
    if type(operand) in (int, float, complex):
        return type(operand)
    return np.asarray(operand).dtype if not isinstance(operand, SymbolicArray) else operand.dtype


def _as(operand: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(operand, SymbolicArray):
        return operand.astype(dtype).value
    return tensor_of(np.asarray(operand, dtype))


_REDUCTIONS: dict[Any, Op] = {
    np.add: raw.Sum, np.multiply: raw.Prod, np.maximum: raw.Max, np.minimum: raw.Min,
    np.logical_and: raw.All, np.logical_or: raw.Any,
}  # fmt: skip


def reduced(ufunc: Any, array: Any, axis: Any = 0, keepdims: bool = False, **options: Any) -> Any:
    """The reduction of an array by a ufunc; `axis` of None is all of them."""
    op = _REDUCTIONS.get(ufunc)
    dtype = options.pop("dtype", None)
    if op is None or any(v is not None for v in options.values()):
        raise NotSymbolic(ufunc.__name__)
    if ufunc in (np.logical_and, np.logical_or):
        array = array.astype(np.bool_)
    elif ufunc in (np.add, np.multiply):
        array = array.astype(dtype or _total_dtype(array.dtype))
    axes = range(array.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return SymbolicArray(
        op(array.value, np.asarray(list(axes), np.int32), keep_dims=bool(keepdims))
    )


def _total_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which NumPy sums: of integers and booleans the widest."""
    if dtype.kind == "u":
        return np.dtype(np.uint64)
    return np.dtype(np.int64) if dtype.kind in "bi" else dtype


def _reduced_parts(
    ufunc: Any, array: Any, starts: Any, axis: int = 0, dtype: Any = None
) -> SymbolicArray:
    """The reductions of parts of an axis, as `ufunc.reduceat`."""
    numbers = np.asarray(starts).tolist()
    ends = [*numbers[1:], array.shape[axis]]
    parts: list[Any] = []
    for start, end in zip(numbers, ends, strict=True):
        part = array.take(np.arange(start, max(end, start + 1)), axis)
        parts.append(reduced(ufunc, part, axis, keepdims=True, dtype=dtype))
    return moved(lambda *positions: np.concatenate(positions, axis), parts)


# -- NumPy's other functions ---------------------------------------------------------------


def _where(condition: Any, *choices: Any) -> SymbolicArray:
    if len(choices) != 2:
        raise NotSymbolic
    dtype = np.result_type(*[c if type(c) in (int, float, complex) else _kind(c) for c in choices])
    return SymbolicArray(
        raw.SelectV2(_as(condition, np.dtype(np.bool_)), *[_as(c, dtype) for c in choices])
    )


def _clip(array: Any, low: Any = None, high: Any = None) -> Any:
    """As NumPy's: the minimum of the upper bound and the maximum of the lower."""
    if low is not None:
        array = applied(np.maximum, (array, low))
    return array if high is None else applied(np.minimum, (array, high))


def _pad(array: Any, sides: Any, mode: Any = "constant", constant_values: Any = 0) -> SymbolicArray:
    if mode != "constant":
        return moved(lambda numbers: np.pad(numbers, sides, mode=mode), [array])
    filling = np.asarray(constant_values)
    if filling.ndim:
        raise NotSymbolic

    def padded(numbers: Any, outside: Any) -> Any:
        return np.pad(numbers, sides, constant_values=outside.item())

    return moved(padded, [array, filling.astype(array.dtype)])


def _broadcast_arrays(*arrays: Any) -> list[SymbolicArray]:
    shape = np.broadcast_shapes(*[np.shape(a) for a in arrays])
    return [moved(lambda numbers: np.broadcast_to(numbers, shape), [a]) for a in arrays]


def _cumsum(array: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None or dtype is not None or array.dtype.kind not in "fc":
        raise NotSymbolic
    found = SymbolicArray(raw.Cumsum(array.value, np.int32(axis)))
    return found if out is None else out.become(found)


def _copyto(target: Any, source: Any, where: Any = True, casting: str = "same_kind") -> None:
    if not isinstance(target, SymbolicArray):
        raise NotSymbolic
    chosen = source if where is True else _where(where, source, target)
    target[...] = chosen


def _bincount(positions: Any, weights: Any = None, minlength: int = 0) -> Any:
    """Sums at positions that are known, as float64."""
    if isinstance(positions, SymbolicArray) or weights is None:
        raise NotSymbolic
    size = max(int(np.max(positions, initial=-1)) + 1, minlength)
    rows = np.asarray(positions, np.int32).reshape(-1, 1)
    zeros = tensor_of(np.zeros(size))
    return SymbolicArray(raw.TensorScatterAdd(zeros, rows, _as(weights, np.dtype(np.float64))))


def _full_like(
    array: Any, number: Any, dtype: Any = None, order: str = "C", shape: Any = None
) -> SymbolicArray:
    filled = np.full(array.shape if shape is None else shape, number, dtype or array.dtype)
    return SymbolicArray(tensor_of(filled))  # not the array itself, for it may be changed


def _like(number: int) -> Any:
    def rule(array: Any, dtype: Any = None, order: str = "C", shape: Any = None) -> Any:
        return _full_like(array, number, dtype, order, shape)

    return rule


def _reduction(ufunc: Any) -> Any:
    def rule(array: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        return reduced(ufunc, array, axis, keepdims=keepdims, dtype=dtype)

    return rule


# The ones that this module knows. Others, and options that a rule does not take, are not symbolic.
RULES: dict[Any, Callable[..., Any]] = {
    np.where: _where, np.clip: _clip, np.pad: _pad,
    np.cumsum: _cumsum, np.copyto: _copyto, np.bincount: _bincount,
    np.ndim: lambda a: a.ndim, np.shape: lambda a: a.shape, np.size: lambda a: a.size,
    np.zeros_like: _like(0),
    np.empty_like: _like(0), np.broadcast_arrays: _broadcast_arrays,
    np.full_like: _full_like, np.ones_like: _like(1),
    np.sum: _reduction(np.add), np.prod: _reduction(np.multiply), np.max: _reduction(np.maximum),
    np.min: _reduction(np.minimum), np.amax: _reduction(np.maximum),
    np.amin: _reduction(np.minimum), np.all: _reduction(np.logical_and),
    np.any: _reduction(np.logical_or),
}  # fmt: skip
