"""`Array`: an array of the kernels' NumPy code whose elements are known, or a tracer of jax.

NumPy code writes to arrays and to views of them; jax has neither. An `Array` is the memory that
such code believes in: it holds the present value, which a write replaces by another one. A view
holds no value: it reads its base, and writes to it, so that all views of an array agree.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.base import later
from intaglio.xla.paths import decided
from intaglio.xla.values import Untraceable, is_traced

Get = Callable[[Any], Any]
Put = Callable[[Any, Any], Any]


@functools.cache
def _module() -> Any:
    """The functions of arrays, which are defined above this module."""
    return later.named("intaglio.xla.numpy_module:MODULE")


def unwrapped(value: Any) -> Any:
    """The value of an `Array`; other objects as they are, containers item by item."""
    if isinstance(value, Array):
        return value.value
    if isinstance(value, (tuple, list)):
        items = [unwrapped(v) for v in value]
        if hasattr(value, "_fields"):
            return type(value)(*items)
        return tuple(items) if isinstance(value, tuple) else items
    if isinstance(value, slice):
        return slice(unwrapped(value.start), unwrapped(value.stop), unwrapped(value.step))
    return value


def wrapped(value: Any) -> Any:
    """A result as kernels see it: arrays of any kind become `Array`s."""
    if isinstance(value, (jax.Array, np.ndarray, np.generic)):
        if isinstance(value, np.ndarray) and value.dtype == object:
            return value
        return Array(value)
    if isinstance(value, tuple):
        items = [wrapped(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, list):
        return [wrapped(v) for v in value]
    return value


def any_traced(value: Any) -> bool:
    """True if the elements of an unwrapped value are not all known."""
    if isinstance(value, (tuple, list)):
        return any([any_traced(v) for v in value])
    if isinstance(value, slice):
        return any([any_traced(v) for v in (value.start, value.stop, value.step)])
    return is_traced(value)


def is_basic(index: Any) -> bool:
    """True if an index selects a view: integers, slices, None and Ellipsis."""
    parts = index if isinstance(index, tuple) else (index,)
    return all(
        part is None or part is Ellipsis or isinstance(part, (int, np.integer, slice))
        for part in parts
    )


def _as_index(index: Any) -> Any:
    """An index for jax, which takes no lists."""
    parts = index if isinstance(index, tuple) else (index,)
    found = tuple([np.asarray(p) if isinstance(p, list) else p for p in parts])
    return found if isinstance(index, tuple) else found[0]


def _masks(index: Any) -> bool:
    parts = index if isinstance(index, tuple) else (index,)
    return any([is_traced(p) and p.dtype == np.bool_ for p in parts])


def put(array: Any, index: Any, value: Any) -> Any:
    """The array with `value` at an index; jax' unless all of it is known."""
    if not any_traced((array, index, value)):
        result = np.array(array)
        result[index] = value
        return result
    array = jnp.asarray(array)
    if _masks(index):
        mask = index[0] if isinstance(index, tuple) and len(index) == 1 else index
        if isinstance(mask, tuple) or jnp.ndim(value):
            raise Untraceable("as many elements are written as a condition holds for")
        mask = mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim))
        return jnp.where(mask, jnp.asarray(value, array.dtype), array)
    return array.at[_as_index(index)].set(jnp.asarray(value).astype(array.dtype))


def taken(array: Any, index: Any) -> Any:
    """The elements of an array at an index."""
    if not any_traced((array, index)):
        return array[index]
    if _masks(index):
        raise Untraceable("as many elements are read as a condition holds for")
    return jnp.asarray(array)[_as_index(index)]


def reinterpreted(array: Any, dtype: Any) -> Any:
    """The bytes of an array as elements of another dtype, as by `numpy.ndarray.view`."""
    dtype = np.dtype(dtype)
    if not is_traced(array):
        return np.ascontiguousarray(array).view(dtype)
    old, new = array.dtype.itemsize, dtype.itemsize
    if old == new or old > new:
        result = jax.lax.bitcast_convert_type(array, dtype)
        return result if old == new else result.reshape(*array.shape[:-1], -1)
    parts = array.reshape(*array.shape[:-1], -1, new // old)
    return jax.lax.bitcast_convert_type(parts, dtype)


class Array:
    """An array of NumPy code. See the module."""

    __slots__ = ("_base", "_get", "_own", "_put")
    __array_priority__ = 1000.0

    def __init__(
        self, value: Any, base: Array | None = None, get: Get | None = None, put: Put | None = None
    ) -> None:
        self._own = value
        self._base = base
        self._get = get
        self._put = put

    # -- the value -------------------------------------------------------------------------

    @property
    def value(self) -> Any:
        """The present value: known, or a tracer."""
        if self._base is None or self._get is None:
            return self._own
        return self._get(self._base.value)

    def write(self, value: Any) -> None:
        """Makes another value the array's; views of it see that."""
        if self._base is None:
            self._own = value
        elif self._put is None:
            raise Untraceable("what shows elements several times is written")
        else:
            self._base.write(self._put(self._base.value, value))

    def view(self, dtype: Any = None) -> Array:
        """The same bytes as another dtype."""
        if dtype is None:
            return self
        own = self.dtype
        return self.shown(lambda v: reinterpreted(v, dtype), lambda v, new: reinterpreted(new, own))

    def shown(self, get: Get, put: Put | None) -> Array:
        """A view."""
        return Array(None, self, get, put)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        value = self.value
        if is_traced(value):
            raise Untraceable("NumPy code reads the elements")
        return np.asarray(value, dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
        function = _module().ufunc(ufunc)
        return (function if method == "__call__" else getattr(function, method))(*args, **kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return _module().function(function)(*args, **kwargs)

    # -- what is known of it -----------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        return np.dtype(self.value.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Those of an array in the order of C."""
        sizes = (*self.shape[1:], self.itemsize) if self.ndim else ()
        return tuple(np.cumprod(sizes[::-1])[::-1].tolist())

    @property
    def base(self) -> Array | None:
        """The array that a view shows; None for one that may be written over."""
        return self._base

    @property
    def flags(self) -> Any:
        return np.empty(0).flags

    def __len__(self) -> int:
        return len(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter([self[i] for i in range(len(self))])

    def _scalar(self) -> Any:
        value = self.value
        if is_traced(value):
            raise Untraceable("the program's course depends on data")
        return value

    def __bool__(self) -> bool:
        value = self.value
        if not is_traced(value):
            return bool(value)
        if value.size != 1:
            raise ValueError("the truth value of an array with more than one element is ambiguous")
        return decided(value != 0)

    def __format__(self, form: str) -> str:
        value = self.value
        return "?" if is_traced(value) else format(value, form)

    def __repr__(self) -> str:
        return f"Array({self.value!r})"

    def __int__(self) -> int:
        return int(self._scalar())

    def __float__(self) -> float:
        return float(self._scalar())

    def __complex__(self) -> complex:
        return complex(self._scalar())

    def __index__(self) -> int:
        return operator.index(self._scalar()[()])

    def item(self, *index: Any) -> Any:
        return np.asarray(self._scalar()).item(*index)

    def tolist(self) -> Any:
        return np.asarray(self._scalar()).tolist()

    # -- parts and shapes --------------------------------------------------------------------

    def __getitem__(self, index: Any) -> Any:
        index = unwrapped(index)
        index = _concrete_scalars(index)
        if is_basic(index):
            return self.shown(lambda v: taken(v, index), lambda v, new: put(v, index, new))
        return Array(taken(self.value, index))

    def __setitem__(self, index: Any, value: Any) -> None:
        self.write(put(self.value, _concrete_scalars(unwrapped(index)), unwrapped(value)))

    def reshape(self, *shape: Any, order: str = "C") -> Array:
        if order != "C":
            raise Untraceable("an order of elements other than that of C")
        dims = shape[0] if len(shape) == 1 and not isinstance(shape[0], (int, Array)) else shape
        if isinstance(dims, (int, np.integer, Array)):
            dims = (dims,)
        sizes = _sizes(tuple([operator.index(d) for d in dims]), self.size)
        return self.shown(lambda v: v.reshape(sizes), lambda v, new: new.reshape(v.shape))

    def ravel(self, order: str = "C") -> Array:
        return self.reshape(-1, order=order)

    def flatten(self) -> Array:
        return Array(self.value.reshape(-1))

    def transpose(self, *axes: Any) -> Array:
        operands = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        order = tuple(operands) if operands else tuple(range(self.ndim))[::-1]
        order = tuple([operator.index(a) % max(self.ndim, 1) for a in order])
        back = tuple(np.argsort(order).tolist())
        return self.shown(lambda v: v.transpose(order), lambda v, new: new.transpose(back))

    @property
    def T(self) -> Array:
        return self.transpose()

    @property
    def mT(self) -> Array:
        return self.swapaxes(-1, -2)

    def swapaxes(self, a: int, b: int) -> Array:
        return self.shown(lambda v: v.swapaxes(a, b), lambda v, new: new.swapaxes(a, b))

    def squeeze(self, axis: Any = None) -> Array:
        return self.shown(lambda v: v.squeeze(axis), lambda v, new: new.reshape(v.shape))

    @property
    def real(self) -> Array:
        if self.dtype.kind != "c":
            return self
        return self.shown(_real, lambda v, new: _complex(new, _imag(v), v.dtype))

    @real.setter
    def real(self, value: Any) -> None:
        self.real.write(jnp.broadcast_to(unwrapped(value), self.shape))

    @property
    def imag(self) -> Array:
        if self.dtype.kind != "c":
            return Array(np.zeros(self.shape, self.dtype))
        return self.shown(_imag, lambda v, new: _complex(_real(v), new, v.dtype))

    @imag.setter
    def imag(self, value: Any) -> None:
        self.imag.write(jnp.broadcast_to(unwrapped(value), self.shape))

    @property
    def flat(self) -> Array:
        return self.reshape(-1)

    def astype(self, dtype: Any, copy: bool = True, **options: Any) -> Array:
        value = self.value
        if not copy and value.dtype == dtype:
            return self
        return Array(converted(value, dtype))

    def copy(self, order: str = "C") -> Array:
        return Array(self.value)

    def fill(self, value: Any) -> None:
        self[...] = value

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        self.write(unwrapped(_module().sort(self, axis=axis)))

    # -- methods that are functions ------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        function = getattr(_module(), METHODS[name])
        return lambda *args, **kwargs: function(self, *args, **kwargs)


METHODS = {
    name: name
    for name in [
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "clip",
        "cumprod",
        "cumsum",
        "diagonal",
        "dot",
        "max",
        "mean",
        "min",
        "nonzero",
        "prod",
        "repeat",
        "round",
        "searchsorted",
        "std",
        "sum",
        "take",
        "trace",
        "var",
    ]
} | {"conj": "conjugate", "conjugate": "conjugate"}


def _sizes(sizes: tuple[int, ...], total: int) -> tuple[int, ...]:
    """The sizes of a new shape, with the one that is -1 found from the number of elements."""
    rest = math.prod([d for d in sizes if d != -1])
    if (not rest or total % rest) if -1 in sizes else rest != total:
        raise ValueError(f"cannot reshape array of size {total} into shape {sizes}")
    return tuple([total // max(rest, 1) if d == -1 else d for d in sizes])


def _concrete_scalars(index: Any) -> Any:
    """An index whose known numbers are Python's."""
    parts = index if isinstance(index, tuple) else (index,)
    found = tuple(
        [
            operator.index(p[()])
            if isinstance(p, np.ndarray) and not p.ndim and p.dtype.kind in "iu"
            else p
            for p in parts
        ]
    )
    return found if isinstance(index, tuple) else found[0]


def _real(v: Any) -> Any:
    return jnp.real(v) if is_traced(v) else v.real


def _imag(v: Any) -> Any:
    return jnp.imag(v) if is_traced(v) else v.imag


def _complex(real: Any, imag: Any, dtype: Any) -> Any:
    if any_traced((real, imag)):
        return jax.lax.complex(jnp.asarray(real), jnp.asarray(imag)).astype(dtype)
    return np.asarray(real + 1j * imag, dtype)


def converted(value: Any, dtype: Any) -> Any:
    """The elements as another dtype, as NumPy converts them."""
    dtype = np.dtype(dtype)
    if not is_traced(value):
        return np.asarray(value).astype(dtype)
    if value.dtype.kind == "c" and dtype.kind not in "cb":
        value = jnp.real(value)
    return value.astype(dtype)


def _binary(name: str) -> tuple[Any, Any, Any]:
    def forward(self: Array, other: Any) -> Any:
        return getattr(_module(), name)(self, other)

    def backward(self: Array, other: Any) -> Any:
        return getattr(_module(), name)(other, self)

    def in_place(self: Array, other: Any) -> Array:
        getattr(_module(), name)(self, other, out=self)
        return self

    return forward, backward, in_place


OPERATORS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "matmul": "matmul",
}
COMPARISONS = {
    "eq": "equal",
    "ne": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}
UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
for _name, _function in OPERATORS.items():
    _forward, _backward, _in_place = _binary(_function)
    setattr(Array, f"__{_name}__", _forward)
    setattr(Array, f"__r{_name}__", _backward)
    setattr(Array, f"__i{_name}__", _in_place)
for _name, _function in COMPARISONS.items():
    setattr(Array, f"__{_name}__", _binary(_function)[0])
for _name, _function in UNARY.items():
    setattr(Array, f"__{_name}__", lambda self, f=_function: getattr(_module(), f)(self))
Array.__hash__ = None  # type: ignore[assignment]  # it compares element by element
