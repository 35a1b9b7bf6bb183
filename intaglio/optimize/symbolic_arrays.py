"""Symbolic arrays: tensors of a graph with the interface of NumPy arrays, on which NumPy code records nodes.

Called with them, a kernel that needs only shapes and dtypes, and computes with NumPy's functions, becomes an
expression of other ops. A ufunc becomes the op whose `scalar` rule is that primitive. A function that only
moves elements becomes a gather, whose indices are the result of the function on the elements' numbers.
Operations on arrays with known elements are computed at once. The functions are in `symbolic_functions.py`.
"""

from __future__ import annotations

import contextlib
import functools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import from_numpy, int32
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars, primitive_of
from intaglio.optimize.element_bounds import bounds_of
from intaglio.runtime.kernel_paths import MAX_RUNS, Undecided, decided, decided_among

# Python numbers, which take the dtype of the other operand.
_NUMBERS = (int, float, complex)


class NotSymbolic(Exception):
    """A kernel needs unknown elements of a tensor, or an operation that no op has."""


@functools.cache
def _functions() -> Any:
    """The table of NumPy's functions of symbolic arrays, which a later module fills."""
    return later.named("intaglio.optimize.symbolic_functions:RULES")


class SymbolicArray:
    """A tensor of known shape with the interface of an array. Ops are executed at the current level."""

    def __init__(
        self,
        value: Any,
        root: SymbolicArray | None = None,
        positions: Any = None,
        number: type | None = None,
    ) -> None:
        """The elements of a tensor or an array; or a view of those of `root`, at these positions.

        `number` is the Python type if it stands for a Python number, whose dtype is weak in promotion.
        """
        if root is None and isinstance(value, SymbolicTensor):
            if value.node.op is raw.Const:
                value = value.node.attrs["value"]
            elif 0 in (value.dims or ()):
                value = np.zeros(value.dims or (), value.dtype.numpy)  # type: ignore[arg-type]  # known
        self._value: Any = value
        self._root = self if root is None else root
        self._positions = positions
        self.number = number
        self._number: int | None = None  # the value on the present path, once `_decided`
        # The memoized result of `nonzero`, with the elements that it is for.
        self.nonzero_positions: tuple[Any, Any] | None = None
        dims: Any = ()
        if root is None:
            dims = value.shape if isinstance(value, np.ndarray) else value.dims
        self.shape: tuple[Any, ...] = tuple(dims) if root is None else positions.shape
        self.ndim = len(self.shape)
        own = self._root._value
        self.dtype: np.dtype[Any] = (
            own.dtype if isinstance(own, np.ndarray) else np.dtype(own.dtype.numpy)
        )
        self.itemsize = self.dtype.itemsize

    @property
    def value(self) -> Any:
        """The current elements as a tensor."""
        known = self.known
        if known is not None:
            return door.level().constant(np.ascontiguousarray(known).reshape(known.shape))
        root = self._root
        return root._value if root is self else _gathered(root._value, self._positions)

    @property
    def known(self) -> np.ndarray | None:
        """The elements if they are known, else None."""
        own = self._root._value
        if not isinstance(own, np.ndarray):
            return None
        # A copy, or read-only: an assignment to it would be lost.
        found = own.view() if self._root is self else own.reshape(-1)[self._positions]
        if isinstance(found, np.ndarray):
            found.flags.writeable = False
        return found

    @property
    def root(self) -> SymbolicArray:
        """The array that has the elements in memory."""
        return self._root

    @property
    def positions(self) -> np.ndarray:
        """The positions of the elements in the root."""
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

    @property
    def flags(self) -> Any:
        """The flags of an array in C order."""
        return np.empty(0).flags

    # -- values that may be unknown ---------------------------------------------------------

    def _elements(self) -> np.ndarray:
        known = self.known
        if known is None:
            raise NotSymbolic("the elements are not known")
        return known

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        found = np.asarray(self._elements(), dtype).view()
        found.flags.writeable = False
        return found

    def __bool__(self) -> bool:
        known = self.known
        if known is not None:
            return bool(known)
        if self.size != 1:
            raise NotSymbolic("the truth value of several elements")
        try:
            return decided(_as(self.reshape(()), np.dtype(np.bool_)))
        except Undecided as e:
            raise NotSymbolic(str(e)) from e

    def __int__(self) -> int:
        return int(self._elements()) if self.known is not None else self._decided()

    def __float__(self) -> float:
        return float(self._elements())

    def __complex__(self) -> complex:
        return complex(self._elements())

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise NotSymbolic("a number that is no index")
        return self._elements().__index__() if self.known is not None else self._decided()

    @property
    def has_few_numbers(self) -> bool:
        """Whether it is an integer with few possible values."""
        bounds = bounds_of(self.value) if self.size == 1 and self.dtype.kind in "iu" else None
        return bounds is not None and bounds.high - bounds.low < MAX_RUNS

    def _decided(self) -> int:
        """The value of an integer that determines a shape: a path of the kernel is run for each possible one."""
        if self._number is None:
            bounds = bounds_of(self.value) if self.size == 1 else None
            if bounds is None or self.dtype.kind not in "iu":
                raise NotSymbolic("the elements are not known")
            low, count = int(bounds.low), int(bounds.high - bounds.low) + 1
            single = self.reshape(())
            apart = raw.Cast((single - single.dtype.type(low)).value, DstT=int32)
            try:
                self._number = low + decided_among(apart, count)
            except Undecided as e:
                raise NotSymbolic(str(e)) from e
        return self._number

    def __format__(self, form: str) -> str:
        known = self.known
        return "?" if known is None else format(known[()], form)

    def is_integer(self) -> Any:
        """Whether a number has no fraction, as `float.is_integer`."""
        return np.equal(self, np.floor(self))

    def __str__(self) -> str:
        return format(self, "")

    def tolist(self) -> Any:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def item(self, *index: Any) -> Any:
        """An element as a Python number."""
        return self._elements().item(*index)

    # -- assignments -----------------------------------------------------------------------

    def _before_change(self) -> None:
        own = self._root._value
        if isinstance(own, np.ndarray) and not own.flags.writeable:
            raise NotSymbolic("what NumPy shows of an array is written to")

    def __setitem__(self, index: Any, value: Any) -> None:
        self._before_change()
        index = _with_known(index)
        if isinstance(index, SymbolicArray) and index.dtype.kind == "b":
            self._set_masked(index, value)
            return
        if _is_computed(index):
            place = positions_at(self.shape, index)
            if self._root is not self:
                place = SymbolicArray(_flat_taken(tensor_of(self.positions), place))
            self._scatter(place, value)
            return
        positions, root = self.positions[index], self._root
        own, new = root._value, known_of(value)
        if isinstance(own, np.ndarray) and new is not None:
            changed = own.copy().reshape(-1)
            changed[positions] = new
            root._value = changed.reshape(own.shape)
            return
        item = _broadcast(_as(value, self.dtype), positions.shape)
        if np.array_equal(positions.reshape(-1), np.arange(root.size)):
            root._value = raw.Reshape(item, np.asarray(root.shape, np.int32))
            return
        rows = np.asarray(positions).reshape(-1, 1).astype(np.int32)
        new = raw.TensorScatterUpdate(_flat(root._tensor), rows, _flat(item))
        root._value = raw.Reshape(new, np.asarray(root.shape, np.int32))

    @property
    def _tensor(self) -> Any:
        """The elements of a root as a tensor."""
        return tensor_of(self._value) if isinstance(self._value, np.ndarray) else self._value

    def _set_masked(self, mask: SymbolicArray, value: Any) -> None:
        """Assigns one value to the elements where a condition holds."""
        if mask.shape != self.shape[: mask.ndim]:
            raise NotSymbolic("a mask of another shape")
        if np.ndim(value) > self.ndim - mask.ndim:
            rows = self.reshape((mask.size, *self.shape[mask.ndim :]))
            rows[_functions()["flatnonzero"](mask)] = value
            return
        wide = mask.reshape((*mask.shape, *[1] * (self.ndim - mask.ndim)))
        self[...] = SymbolicArray(raw.SelectV2(wide.value, _as(value, self.dtype), self.value))

    def _scatter(self, place: SymbolicArray, value: Any, op: Any = None) -> None:
        """Assigns elements at computed positions; the last assignment to a position counts."""
        root = self._root
        rows = raw.Reshape(place.value, np.asarray([-1, 1], np.int32))
        item = _broadcast(_as(value, self.dtype), place.shape)
        new = (op or raw.TensorScatterUpdate)(_flat(root._tensor), rows, _flat(item))
        root._value = raw.Reshape(new, np.asarray(root.shape, np.int32))

    def scattered(self, op: Any, index: Any, value: Any) -> None:
        """Updates elements at indices by a scatter op, which combines them one after the other."""
        self._before_change()
        index = _with_known(index)
        if isinstance(index, SymbolicArray) and index.dtype.kind == "b":
            raise NotSymbolic("as many elements as a condition holds for")
        if _is_computed(index):
            place = positions_at(self.shape, index)
            if self._root is not self:
                place = SymbolicArray(_flat_taken(tensor_of(self.positions), place))
        else:
            place = SymbolicArray(np.asarray(self.positions[index], np.int32))
        self._scatter(place, value, op)

    def become(self, other: SymbolicArray) -> SymbolicArray:
        """Assigns the elements of another array of this shape."""
        self._before_change()
        if self._root is self and self.shape == other.shape:
            same = other.astype(self.dtype)
            known = same.known
            self._value = same.value if known is None else known.copy()
        else:
            self[...] = other
        return self

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        """Sorts the elements along an axis."""
        self.become(_functions()[np.sort](self, axis))

    def fill(self, value: Any) -> None:
        """Assigns one value to all elements."""
        self[...] = value

    # -- elements --------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def __getitem__(self, index: Any) -> Any:
        index = _with_known(index)
        if _is_computed(index):
            parts = index if isinstance(index, tuple) else (index,)
            if len(parts) == 1 and parts[0].dtype.kind == "b":
                rest = self.shape[parts[0].ndim :]
                return self.reshape((parts[0].size, *rest))[_functions()["flatnonzero"](parts[0])]
            return SymbolicArray(_flat_taken(self.value, positions_at(self.shape, index)))
        parts = index if isinstance(index, tuple) else (index,)
        whole = len(parts) == self.ndim and all([isinstance(p, (int, np.integer)) for p in parts])
        if whole:  # indexing that gives a scalar is no view
            known = self.known
            taken = self.positions[index].reshape(())
            return (
                known[index]
                if known is not None
                else SymbolicArray(_gathered(self._root._value, taken))
            )
        return moved(lambda numbers: numbers[index], [self])

    def reshape(self, *shape: Any, order: str = "C") -> SymbolicArray:
        """The elements in another shape."""
        if order != "C":
            raise NotSymbolic("an order of elements other than that of C")
        return moved(lambda numbers: numbers.reshape(*shape), [self])

    def transpose(self, *axes: Any) -> SymbolicArray:
        """The axes in another order."""
        return moved(lambda numbers: numbers.transpose(*axes), [self])

    @property
    def T(self) -> SymbolicArray:
        """The axes in reverse order."""
        return self.transpose()

    @property
    def mT(self) -> SymbolicArray:
        """The last two axes exchanged."""
        return self.swapaxes(-1, -2)

    @property
    def flat(self) -> SymbolicArray:
        """The elements as a vector."""
        return self.reshape(-1)

    def ravel(self) -> SymbolicArray:
        """The elements as a vector."""
        return self.reshape(-1)

    def flatten(self) -> SymbolicArray:
        """A copy of the elements as a vector."""
        return self.copy().reshape(-1)

    def squeeze(self, axis: Any = None) -> SymbolicArray:
        """The elements without axes of length 1."""
        return moved(lambda numbers: numbers.squeeze(axis), [self])

    def swapaxes(self, one: int, other: int) -> SymbolicArray:
        """Two axes exchanged."""
        return moved(lambda numbers: numbers.swapaxes(one, other), [self])

    def astype(self, dtype: Any, copy: bool = True, **options: Any) -> SymbolicArray:
        """The elements as another dtype."""
        wanted = np.dtype(dtype)
        if wanted == self.dtype:
            return SymbolicArray(self.value) if copy else self
        known = self.known
        if known is not None:
            return SymbolicArray(known.astype(wanted))
        return SymbolicArray(raw.Cast(self.value, DstT=from_numpy(wanted)))

    def view(self, dtype: Any = None) -> SymbolicArray:
        """The same bytes as another dtype of that size; a copy, not a view."""
        if dtype is None or np.dtype(dtype) == self.dtype:
            return self
        wanted, known = np.dtype(dtype), self.known
        if known is not None:
            found = np.ascontiguousarray(known).view(wanted)
            found.flags.writeable = False  # what is written there would be lost
            return SymbolicArray(found)
        if wanted.itemsize != self.itemsize:
            raise NotSymbolic("bytes as elements of another size")
        return SymbolicArray(raw.Bitcast(self.value, type=from_numpy(wanted)))

    @property
    def real(self) -> SymbolicArray:
        """The real parts."""
        return self if self.dtype.kind != "c" else _functions()[np.real](self)

    @property
    def imag(self) -> SymbolicArray:
        """The imaginary parts."""
        return _functions()[np.imag](self)

    def copy(self, order: str = "C") -> SymbolicArray:
        """A copy that shares no memory."""
        known = self.known
        return SymbolicArray(self.value if known is None else known.copy())

    # -- arithmetic ------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "at":
            return _functions()[method](ufunc, *inputs)
        inputs = tuple([_with_known(a) for a in inputs])
        if method in ("reduce", "reduceat", "accumulate", "outer"):
            return _functions()[method](ufunc, *inputs, **options)
        (target,) = options.pop("out", (None,))
        options.pop("casting", None)  # an in-place operation keeps the dtype
        where, dtype = options.pop("where", True), options.pop("dtype", None)
        if options:
            raise NotSymbolic(f"{ufunc.__name__} with {', '.join(options)}")
        if dtype is not None:
            inputs = tuple([SymbolicArray(_as(a, np.dtype(dtype))) for a in inputs])
        found = applied(ufunc, inputs)
        if where is not True:
            if target is None:
                raise NotSymbolic("a result without elements where a condition fails")
            found = _functions()[np.where](where, found.astype(target.dtype), target)
        if target is None:
            return found
        if not isinstance(target, SymbolicArray):
            raise NotSymbolic("an array that is no part of the program is written to")
        return target.become(found)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.einsum and len(arguments) == 2 and _only_moves(arguments[0]):
            return moved(lambda numbers: np.einsum(arguments[0], numbers), [arguments[1]])
        if function in MOVES and isinstance(arguments[0], SymbolicArray):
            rest, named = known_parts(arguments[1:]), known_parts(options)
            if rest is None or named is None:
                raise NotSymbolic(f"{function.__name__} to computed places")
            return moved(lambda numbers: function(numbers, *rest, **named), [arguments[0]])
        target = options.pop("out", None)
        known, known_options = known_parts(arguments), known_parts(options)
        if known is not None and known_options is not None:
            found = wrapped(function(*known, **known_options))
            return found if target is None else target.become(_symbolic(found))
        if function in JOINS:
            parts = list(arguments[0])
            options.pop("dtype", None)
            found = moved(lambda *numbers: function(numbers, *arguments[1:], **options), parts)
            return found if target is None else target.become(found)
        rule = _functions().get(function)
        if rule is None:
            raise NotSymbolic(function.__name__)
        found = rule(*arguments, **options)
        return found if target is None else target.become(found)

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        function = getattr(np, METHODS[name])
        return functools.partial(function, self)


METHODS = {
    name: name
    for name in (
        "all", "any", "argmax", "argmin", "argsort", "clip", "conj", "conjugate", "cumprod", "cumsum",
        "diagonal", "dot", "max", "mean", "min", "prod", "repeat", "round", "searchsorted", "std",
        "sum", "take", "trace", "var",
    )
}  # fmt: skip


def _operator(ufunc: Any) -> Any:
    def operator(self: SymbolicArray, *others: Any) -> Any:
        return ufunc(self, *others)

    return operator


def _reflected(ufunc: Any) -> Any:
    def operator(self: SymbolicArray, other: Any) -> Any:
        return ufunc(other, self)

    return operator


def _in_place(ufunc: Any) -> Any:
    def operator(self: SymbolicArray, other: Any) -> Any:
        return ufunc(self, other, out=self)

    return operator


_OPERATORS = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide,
    "pow": np.power, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "floordiv": np.floor_divide, "mod": np.remainder, "lshift": np.left_shift,
    "rshift": np.right_shift, "matmul": np.matmul,
}  # fmt: skip
_OTHER_OPERATORS = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
    "ge": np.greater_equal, "neg": np.negative, "invert": np.invert, "abs": np.absolute,
    "pos": np.positive,
}  # fmt: skip
for _name, _ufunc in _OPERATORS.items():
    setattr(SymbolicArray, f"__{_name}__", _operator(_ufunc))
    setattr(SymbolicArray, f"__r{_name}__", _reflected(_ufunc))
    setattr(SymbolicArray, f"__i{_name}__", _in_place(_ufunc))
for _name, _ufunc in _OTHER_OPERATORS.items():
    setattr(SymbolicArray, f"__{_name}__", _operator(_ufunc))
SymbolicArray.__hash__ = object.__hash__


# -- known and computed --------------------------------------------------------------------


def known_of(value: Any) -> Any:
    """The elements of an array or a number if they are known, else None."""
    if isinstance(value, SymbolicArray):
        return value.known
    return np.asarray(value)


def _with_known(value: Any) -> Any:
    """An index or operand with known symbolic arrays replaced by NumPy arrays."""
    if isinstance(value, SymbolicArray):
        known = value.known
        return value if known is None or value.number is not None else known
    if isinstance(value, (tuple, list)):
        items = [_with_known(v) for v in value]
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, slice):
        ends = [_with_known(v) for v in (value.start, value.stop, value.step)]
        return slice(*[operator.index(v) if isinstance(v, SymbolicArray) else v for v in ends])
    return value


def known_parts(value: Any) -> Any:
    """The arguments with NumPy arrays if all of them are known, else None."""
    found = _with_known(value)
    if isinstance(value, dict):
        found = {k: _with_known(v) for k, v in value.items()}
        return None if any([_is_computed(v) for v in found.values()]) else found
    return None if _is_computed(found) else found


def _is_computed(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any([_is_computed(v) for v in value])
    if isinstance(value, slice):
        return any([_is_computed(v) for v in (value.start, value.stop, value.step)])
    return isinstance(value, SymbolicArray)


def wrapped(value: Any) -> Any:
    """A NumPy result as a symbolic array, to which unknown elements may be assigned."""
    if isinstance(value, np.ndarray):
        return value if value.dtype == object else SymbolicArray(value)
    if isinstance(value, tuple):
        items = [wrapped(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    return [wrapped(v) for v in value] if isinstance(value, list) else value


def _symbolic(array: Any) -> SymbolicArray:
    return array if isinstance(array, SymbolicArray) else SymbolicArray(np.asarray(array))


def tensor_of(array: Any) -> Any:
    """The tensor of a symbolic or NumPy array."""
    if isinstance(array, SymbolicArray):
        return array.value
    return door.level().constant(np.asarray(array))


def packed(items: Sequence[Any]) -> SymbolicArray:
    """Arrays of one shape stacked as the rows of a tensor."""
    return SymbolicArray(raw.Pack([tensor_of(i) for i in items], axis=0))


# -- functions that move elements ----------------------------------------------------------

# Of one array, the first argument; of several, which are the first argument.
MOVES = {
    np.transpose, np.reshape, np.tile, np.flip, np.roll, np.repeat, np.broadcast_to, np.moveaxis,
    np.swapaxes, np.expand_dims, np.squeeze, np.ravel, np.rollaxis, np.diagonal, np.copy,
    np.atleast_1d, np.atleast_2d, np.rot90,
    np.lib.stride_tricks.sliding_window_view,
}  # fmt: skip
JOINS = {np.concatenate, np.stack, np.hstack, np.vstack}


def moved(function: Callable[..., Any], arrays: Sequence[Any]) -> SymbolicArray:
    """The result of a function that only moves elements, by its result on the elements' numbers."""
    if len(arrays) == 1 and isinstance(arrays[0], SymbolicArray):
        positions = arrays[0].positions
        taken = np.asarray(function(positions))
        root = arrays[0].root
        if np.may_share_memory(taken, positions):
            return SymbolicArray(None, root, taken)
        return SymbolicArray(_gathered(root._value, taken))
    dtype = np.result_type(*[_kind(a) for a in arrays])
    parts = [a if isinstance(a, SymbolicArray) else np.asarray(a) for a in arrays]
    numbers, start = list[Any](), 0
    for part in parts:
        numbers.append(np.arange(start, start + part.size).reshape(part.shape))
        start += part.size
    flat = [_flat(tensor_of(p.astype(dtype))) for p in parts]
    return SymbolicArray(_gathered(raw.ConcatV2(flat, np.int32(0)), np.asarray(function(*numbers))))


def _only_moves(equation: Any) -> bool:
    """Whether an equation of one operand has no sums: `ii->i` shows the diagonal."""
    if not isinstance(equation, str) or "->" not in equation:
        return False
    before, after = equation.split("->")
    return {*before} == {*after}


def _flat(tensor: Any) -> Any:
    return raw.Reshape(tensor, np.asarray([-1], np.int32))


def _broadcast(tensor: Any, shape: tuple[int, ...]) -> Any:
    return (
        tensor
        if tuple(tensor.dims) == shape
        else raw.BroadcastTo(tensor, np.asarray(shape, np.int32))
    )


def _gathered(value: Any, positions: np.ndarray) -> Any:
    """The elements at known positions of a tensor or array."""
    if isinstance(value, np.ndarray):
        return value.reshape(-1)[positions]
    shape = np.asarray(positions.shape, np.int32)
    index = positions.reshape(-1)
    if np.array_equal(index, np.arange(math.prod(value.dims))):
        return value if positions.shape == tuple(value.dims) else raw.Reshape(value, shape)
    taken = raw.GatherV2(_flat(value), index.astype(np.int32), np.int32(0))
    return raw.Reshape(taken, shape)


def _flat_taken(tensor: Any, place: SymbolicArray) -> Any:
    """The elements of a flattened tensor at computed positions."""
    return raw.GatherV2(_flat(tensor), place.value, np.int32(0))


def positions_at(shape: Sequence[int], index: Any) -> SymbolicArray:
    """The flat positions of the elements at an index with computed parts.

    They are the positions at index 0 of these parts, plus the strides times the parts.
    """
    parts = list(index if isinstance(index, tuple) else (index,))
    axes = _axes_of(parts, len(shape))
    parts = [np.asarray(p) if isinstance(p, (int, np.integer, list)) else p for p in parts]
    if any([isinstance(p, slice) and _is_computed(p) for p in parts]):
        raise NotSymbolic("a slice of a computed length")
    chosen = [i for i, p in enumerate(parts) if isinstance(p, (SymbolicArray, np.ndarray))]
    if any([parts[i].dtype.kind not in "iu" for i in chosen]):
        raise NotSymbolic("as many elements as a condition holds for")
    common = np.broadcast_shapes(*[parts[i].shape for i in chosen])
    count = math.prod(common)
    zero, probe, sizes = [*parts], [*parts], [*shape]
    for i in chosen:
        zero[i] = np.zeros(parts[i].shape, np.intp) if _is_computed(parts[i]) else parts[i]
        probe[i] = np.zeros((), np.intp)
        sizes[axes[i]] = 1  # type: ignore[call-overload]  # what selects has an axis
    first = next(i for i in chosen if _is_computed(parts[i]))
    numbers = np.arange(math.prod(shape), dtype=np.int32).reshape(shape)
    found: Any = SymbolicArray(np.asarray(numbers[tuple(zero)]))
    # For each element of the result, the number of its entry in the computed indices.
    along = [count if a == axes[first] else 1 for a in range(len(shape))]
    sizes[axes[first]] = count  # type: ignore[call-overload]  # as before
    probe[first] = np.arange(count).reshape(common)
    which = np.broadcast_to(np.arange(count).reshape(along), sizes)[tuple(probe)]
    for i in chosen:
        axis, part = axes[i], parts[i]
        if axis is None or not _is_computed(part):
            continue
        each: Any = part.astype(np.int32)
        if part.dtype.kind == "i":
            each = _functions()[np.where](each < 0, each + np.int32(shape[axis]), each)
        taken: Any = SymbolicArray(_gathered(_broadcast(each.value, common), which))
        stride = math.prod(shape[axis + 1 :])
        found = found + (taken if stride == 1 else taken * np.int32(stride))
    return found


def _axes_of(parts: list[Any], rank: int) -> list[int | None]:
    """The axis that each part of an index selects from, with the ellipsis expanded."""
    used = sum(p is not None and p is not Ellipsis for p in parts)
    at = next((i for i, p in enumerate(parts) if p is Ellipsis), None)
    if at is not None:
        parts[at : at + 1] = [slice(None)] * (rank - used)
    axes, axis = list[int | None](), 0
    for part in parts:
        axes.append(None if part is None else axis)
        axis += part is not None
    return axes


# -- arithmetic ----------------------------------------------------------------------------


@functools.cache
def ops_of_primitives() -> dict[str, list[Op]]:
    """The ops whose `scalar` rule is a single primitive, by the name of the primitive."""
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
    return {ufunc: ops for ufunc, ops in found.items() if callable(ufunc)}


def applied(ufunc: Any, inputs: Sequence[Any]) -> Any:
    """A ufunc applied to arrays, in the dtypes that NumPy computes in."""
    values = [known_of(a) for a in inputs]
    if all([v is not None for v in values]):
        operands = [a if type(a) in _NUMBERS else v for a, v in zip(inputs, values, strict=True)]
        return wrapped(ufunc(*operands))
    composed = _functions().get(ufunc)
    if composed is not None:
        return composed(*inputs)
    kinds = [_kind(a) for a in inputs]
    if all([isinstance(k, type) for k in kinds]):
        kinds = [np.dtype(k) for k in kinds]
    if ufunc in _LOGICAL and all([np.dtype(k) == np.bool_ for k in kinds]):
        ufunc = _LOGICAL[ufunc]
    if ufunc in _OF_TRUTH:
        kinds = [np.dtype(np.bool_)] * len(kinds)
    wanted = kinds
    if isinstance(ufunc, np.ufunc):
        *wanted, _ = ufunc.resolve_dtypes((*kinds, *[None] * ufunc.nout))
    tensors = [_as(a, np.dtype(dtype)) for a, dtype in zip(inputs, wanted, strict=True)]
    number = _number_of(inputs)
    for op in _ops_of_ufuncs().get(ufunc, ()):
        with contextlib.suppress(TypeError):  # the op does not take these dtypes
            found = SymbolicArray(op(*tensors))
            found.number = None if found.dtype.kind == "b" else number
            return found
    raise NotSymbolic(getattr(ufunc, "__name__", str(ufunc)))


def _number_of(inputs: Sequence[Any]) -> type | None:
    """The Python type of a result if all operands are Python numbers, else None."""
    kinds = [a.number if isinstance(a, SymbolicArray) else type(a) for a in inputs]
    if not all([k in _NUMBERS for k in kinds]):
        return None
    return float if float in kinds else int


# The logical counterparts for booleans.
_LOGICAL = {
    np.bitwise_and: np.logical_and, np.bitwise_or: np.logical_or, np.invert: np.logical_not,
    np.bitwise_xor: np.not_equal, np.logical_xor: np.not_equal,
}  # fmt: skip
_OF_TRUTH = {np.logical_and, np.logical_or, np.logical_not}


def _kind(operand: Any) -> Any:
    """The dtype of an operand; Python numbers take that of the other operands."""
    if type(operand) in _NUMBERS:
        return type(operand)
    if isinstance(operand, SymbolicArray):
        return operand.number or operand.dtype
    return np.asarray(operand).dtype


def kind_of(dtype: np.dtype[Any]) -> str:
    """The kind of a dtype: "f" also for floats that NumPy itself lacks, such as bfloat16."""
    return "f" if dtype.kind == "V" and from_numpy(dtype).is_floating else dtype.kind


def _as(operand: Any, dtype: np.dtype[Any]) -> Any:
    if isinstance(operand, SymbolicArray):
        return operand.astype(dtype, copy=False).value
    return tensor_of(np.asarray(operand, dtype))
