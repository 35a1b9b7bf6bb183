"""The module `numpy` as the kernels of ops see it while they are recorded on jax.

A function of arrays whose elements are all known is NumPy's own. If one is a tracer it is that
of `jax.numpy` of the same name, with the dtype that NumPy's has: the two promote differently.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from intaglio.runtime import retargeted_kernels
from intaglio.xla import primitives
from intaglio.xla.arrays import Array, any_traced, put, unwrapped, wrapped
from intaglio.xla.values import Untraceable, is_traced

# Arguments of NumPy's functions that say how, not what.
_IGNORED = ("casting", "order", "subok", "kind", "copy", "like")


def _sample(value: Any) -> Any:
    """An array without elements of a value's dtype; numbers as they are, for promotion."""
    return np.empty(0, value.dtype) if hasattr(value, "dtype") else value


def _result_dtype(function: Any, values: Sequence[Any]) -> Any:
    with np.errstate(all="ignore"):
        return function(*[_sample(v) for v in values])


class UFunc:
    """One of NumPy's ufuncs, on `Array`s too."""

    def __init__(self, ufunc: Any) -> None:
        self.ufunc = ufunc
        self.__name__: str = ufunc.__name__
        self.nin, self.nout = ufunc.nin, ufunc.nout
        self.traced = _TRACED.get(self.__name__) or getattr(jnp, self.__name__, None)

    def __call__(
        self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, **options: Any
    ) -> Any:
        if len(args) > self.nin:
            args, out = args[: self.nin], args[self.nin]
        out = out[0] if isinstance(out, tuple) and len(out) == 1 else out
        values = [unwrapped(a) for a in args]
        result = self._computed(values, dtype)
        if where is not True:
            if out is None:
                raise Untraceable("a result without elements where a condition fails")
            result = _select(unwrapped(where), result, unwrapped(out))
        if out is None:
            return wrapped(result)
        if not isinstance(out, Array):
            raise Untraceable("the program writes to an array that is no part of it")
        value = out.value
        shaped = jnp.broadcast_to(result, value.shape) if any_traced(result) else result
        if not any_traced(result):
            shaped = np.broadcast_to(result, value.shape)
        out.write(shaped.astype(value.dtype))
        return out

    def _computed(self, values: list[Any], dtype: Any) -> Any:
        if not any_traced(values):
            return self.ufunc(*values, **({} if dtype is None else {"dtype": dtype}))
        if self.traced is None:
            raise Untraceable(f"jax.numpy has no {self.__name__}")
        if dtype is not None:
            values = [jnp.asarray(v).astype(dtype) for v in values]
        found = primitives.computed(self.__name__, values)
        if found is not None:
            return found
        values = [np.asarray(v) if isinstance(v, list) else v for v in values]
        empty = _result_dtype(self.ufunc, values)
        if isinstance(empty, tuple):
            return self.traced(*values)
        if empty.dtype != np.bool_ and self.nin > 1 and self.__name__ not in _KEEPING:
            common = empty.dtype
            values = [_cast(v, common) for v in values]
        elif self.nin > 1:
            common = np.result_type(*[_sample(v) for v in values])
            values = [_cast(v, common) for v in values]
        elif empty.dtype.kind in "fc" and values[0].dtype.kind in "biu":
            values = [_cast(values[0], empty.dtype)]
        result = self.traced(*values)
        return result.astype(empty.dtype) if result.dtype != empty.dtype else result

    def at(self, array: Any, indices: Any, *operand: Any) -> None:
        """Changes the elements at indices one after the other."""
        if not isinstance(array, Array):
            raise Untraceable("the program writes to an array that is no part of it")
        value, index = array.value, unwrapped(indices)
        rest = [unwrapped(o) for o in operand]
        if not any_traced((value, index, rest)):
            changed = np.array(value)
            self.ufunc.at(changed, index, *rest)
            array.write(changed)
            return
        name = _AT.get(self.__name__)
        if name is None or not rest:
            raise Untraceable(f"{self.__name__}.at")
        value = jnp.asarray(value)
        operand_value = jnp.asarray(rest[0]).astype(value.dtype)
        if name == "subtract":
            name, operand_value = "add", -operand_value
        index = np.asarray(index) if isinstance(index, list) else index
        array.write(getattr(value.at[index], name)(operand_value))

    def reduce(self, array: Any, axis: Any = 0, **options: Any) -> Any:
        """The reduction along an axis."""
        name = _REDUCTIONS.get(self.__name__)
        if name is None:
            raise Untraceable(f"{self.__name__}.reduce")
        return getattr(MODULE, name)(array, axis=axis, **options)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None) -> Any:
        """The results of all steps of a reduction."""
        value = unwrapped(array)
        if not any_traced(value):
            return wrapped(self.ufunc.accumulate(value, axis, dtype))
        scan = _SCANS.get(self.__name__)
        if scan is None:
            raise Untraceable(f"{self.__name__}.accumulate")
        if dtype is not None:
            value = value.astype(dtype)
        return Array(scan(value, axis=axis % value.ndim))

    def outer(self, x: Any, y: Any) -> Any:
        """The function of every pair."""
        a, b = wrapped(unwrapped(x)), wrapped(unwrapped(y))
        return self(a.reshape(a.shape + (1,) * b.ndim), b)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, **options: Any) -> Any:
        """The reductions of the parts that begin at these indices."""
        value, starts = unwrapped(array), unwrapped(indices)
        if not any_traced((value, starts)):
            return wrapped(self.ufunc.reduceat(value, starts, axis, **options))
        if is_traced(starts):
            raise Untraceable("parts of arrays whose ends the program computes")
        begins = np.asarray(starts).tolist()
        parts: list[Any] = []
        for begin, end in zip(begins, [*begins[1:], value.shape[axis]], strict=True):
            rows = slice(begin, end if end > begin else begin + 1)
            part = Array(value)[(slice(None),) * (axis % value.ndim) + (rows,)]
            parts.append(unwrapped(self.reduce(part, axis=axis, **options)))
        return Array(jnp.stack(parts, axis))


def _cast(value: Any, dtype: Any) -> Any:
    if not hasattr(value, "dtype"):
        return jnp.asarray(value, dtype)
    return value if value.dtype == dtype else jnp.asarray(value).astype(dtype)


def _select(condition: Any, x: Any, y: Any) -> Any:
    if not any_traced((condition, x, y)):
        return np.where(condition, x, y)
    return jnp.where(condition, x, y)


_AT = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply",
    "maximum": "max",
    "minimum": "min",
    "divide": "divide",
    "true_divide": "divide",
}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}
_SCANS: dict[str, Callable[..., Any]] = {
    "add": jax.lax.cumsum,
    "multiply": jax.lax.cumprod,
    "maximum": jax.lax.cummax,
    "minimum": jax.lax.cummin,
    "logaddexp": jax.lax.cumlogsumexp,
}
# Ufuncs whose operands have their own dtypes.
_KEEPING = ("ldexp", "left_shift", "right_shift")


def _rint(x: Any) -> Any:
    return jax.lax.round(x, jax.lax.RoundingMethod.TO_NEAREST_EVEN)


_TRACED: dict[str, Callable[..., Any]] = {
    "absolute": jnp.abs,
    "divide": jnp.true_divide,
    "rint": _rint,
    "conjugate": jnp.conj,
    "fabs": jnp.abs,
    "sign": jnp.sign,
}


class ScalarType(retargeted_kernels.ScalarType):
    """One of NumPy's scalar types, which converts what is recorded."""

    def __call__(self, *value: Any) -> Any:
        operands = unwrapped(value)
        if any_traced(operands):
            return Array(jnp.asarray(operands[0]).astype(self.dtype))
        return self.real(*operands)


def _sliding_windows(x: Any, window_shape: Any, axis: Any = None, **options: Any) -> Any:
    if axis is None or np.ndim(axis) or np.ndim(window_shape):
        raise Untraceable("windows along several axes")
    along = int(axis) % x.ndim
    starts = np.arange(x.shape[along] - int(window_shape) + 1)
    index = starts[:, None] + np.arange(int(window_shape))
    return jnp.moveaxis(jnp.take(x, index, along), along + 1, -1)


# Functions that jax.numpy does not have.
_MISSING: dict[str, Callable[..., Any]] = {"sliding_window_view": _sliding_windows}


class Module:
    """The namespace. `np.name` is NumPy's own unless it works on arrays."""

    def __init__(self, real: Any = np, traced: Any = jnp, own: Any = None) -> None:
        self._real = real
        self._traced = traced
        self._own: dict[str, Any] = own or {}
        self._found: dict[str, Any] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._adapted(name, getattr(self._real, name))
        return found

    def _adapted(self, name: str, real: Any) -> Any:
        own = self._own.get(name)
        if own is not None:
            return functools.wraps(real)(_with_out(own))
        if isinstance(real, np.ufunc):
            return UFunc(real)
        if isinstance(real, type(np)):
            return Module(real, getattr(self._traced, name, None))
        if isinstance(real, type) and issubclass(real, np.generic):
            return ScalarType(real)
        if isinstance(real, type) or not callable(real):
            return real
        return _function(name, real, _MISSING.get(name) or getattr(self._traced, name, None))

    def ufunc(self, ufunc: Any) -> Any:
        """The counterpart of a ufunc object."""
        return getattr(self, ufunc.__name__, None) or UFunc(ufunc)

    def scalar_type(self, kind: Any) -> Any:
        """The counterpart of a scalar type that a module has a name of its own for: itself."""
        return kind

    def table(self, array: Any) -> Any:
        """The counterpart of an array that a module has: itself."""
        return array

    def function(self, function: Any) -> Any:
        """The counterpart of one of NumPy's functions."""
        home = self
        for part in function.__module__.split(".")[1:]:
            home = getattr(home, part)
        return getattr(home, function.__name__)


def _function(name: str, real: Any, traced: Any) -> Callable[..., Any]:
    def computed(args: Any, kwargs: Any) -> Any:
        values, options = unwrapped(args), {k: unwrapped(v) for k, v in kwargs.items()}
        if not any_traced((*values, *options.values())):
            return real(*values, **options)
        if traced is None:
            raise Untraceable(f"jax.numpy has no {name}")
        options = {k: v for k, v in options.items() if k not in _IGNORED}
        return traced(*_traceable(values), **options)

    def call(*args: Any, **kwargs: Any) -> Any:
        result = computed(args, kwargs)
        arrays = [a for a in args if isinstance(a, Array)]
        if len(arrays) == 1 and (name in _SHOWING or _shares(result, arrays[0])):
            return _shown(arrays[0], result, lambda: computed(args, kwargs))
        return wrapped(result)

    return _with_out(call)


# Functions whose results show the elements of an array, where they have one.
_SHOWING = {
    *("array_split", "atleast_1d", "atleast_2d", "atleast_3d", "diagonal", "dsplit", "einsum"),
    *("flip", "fliplr", "flipud", "hsplit", "matrix_transpose", "permute_dims", "rollaxis"),
    *("rot90", "split", "unstack", "vsplit"),
}


def _shares(result: Any, array: Array) -> bool:
    """Whether a known result has memory of an array."""
    parts = result if isinstance(result, (tuple, list)) else [result]
    memory = array.value
    return any(
        [
            isinstance(p, np.ndarray) and not is_traced(memory) and np.may_share_memory(p, memory)
            for p in parts
        ]
    )


def _shown(array: Array, result: Any, again: Callable[[], Any]) -> Any:
    """Results that follow what is written to the array, and that refuse to be written to."""
    if isinstance(result, (tuple, list)):
        parts = [array.shown(lambda _, i=i: again()[i], None) for i in range(len(result))]
        return type(result)(parts)
    return array.shown(lambda _: again(), None)


def _with_out(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with NumPy's argument `out`."""

    def call(*args: Any, out: Any = None, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        if out is None:
            return result
        if not isinstance(out, Array):
            raise Untraceable("the program writes to an array that is no part of it")
        value = unwrapped(result)
        shape = out.shape
        if np.shape(value) != shape:
            raise ValueError(f"output of shape {shape} for a result of shape {np.shape(value)}")
        out.write(value.astype(out.dtype))
        return out

    return call


def _traceable(values: Any) -> Any:
    """Arguments for jax, which takes arrays where NumPy takes lists of numbers."""
    return [np.asarray(v) if isinstance(v, list) and not any_traced(v) else v for v in values]


# -- functions whose counterparts differ -----------------------------------------------------


def _as_array(value: Any, dtype: Any = None, **options: Any) -> Any:
    if isinstance(value, Array):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    plain = unwrapped(value)
    if any_traced(plain):
        found = _stacked(plain)
        return Array(found if dtype is None else found.astype(dtype))
    return wrapped(np.asarray(plain, dtype))


def _array(value: Any, dtype: Any = None, copy: Any = True, **options: Any) -> Any:
    found = _as_array(value, dtype)
    return Array(found.value) if copy and isinstance(found, Array) else found


def _stacked(plain: Any) -> Any:
    if isinstance(plain, (list, tuple)):
        return jnp.stack([_stacked(p) for p in plain])
    return jnp.asarray(plain)


def _of_shape(real: Callable[..., Any]) -> Callable[..., Any]:
    """`np.zeros` and the like: new memory, which a program may write to."""

    def create(*args: Any, **kwargs: Any) -> Any:
        values, options = unwrapped(args), {k: unwrapped(v) for k, v in kwargs.items()}
        return wrapped(real(*values, **options))

    return create


def _empty(shape: Any, dtype: Any = float, **options: Any) -> Any:
    return wrapped(np.zeros(unwrapped(shape), dtype))


def _like(real: Callable[..., Any], traced: Callable[..., Any]) -> Callable[..., Any]:
    def create(array: Any, *args: Any, dtype: Any = None, shape: Any = None, **_: Any) -> Any:
        value = unwrapped(array)
        dims = np.shape(value) if shape is None else shape
        kind = np.asarray(value).dtype if not hasattr(value, "dtype") else value.dtype
        args = unwrapped(args)
        make = traced if any_traced(args) else real
        return wrapped(make(dims, *args, dtype or kind))

    return create


def _full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    dims, value = unwrapped(shape), unwrapped(fill_value)
    if is_traced(value):
        return Array(jnp.full(dims, value, dtype or value.dtype))
    return wrapped(np.full(dims, value, dtype))


def _copyto(target: Any, source: Any, where: Any = True, **options: Any) -> None:
    if not isinstance(target, Array):
        raise Untraceable("the program writes to an array that is no part of it")
    value = _select(unwrapped(where), unwrapped(source), target.value)
    target.write(_cast(value, target.dtype))


def _reduction(name: str) -> Callable[..., Any]:
    real, traced = getattr(np, name), getattr(jnp, name)

    def reduce(array: Any, axis: Any = None, dtype: Any = None, **kw: Any) -> Any:
        value = unwrapped(array)
        options = {k: unwrapped(v) for k, v in kw.items() if v is not np._NoValue}
        axis = tuple(int(a) for a in unwrapped(axis)) if isinstance(axis, (tuple, list)) else axis
        if name in _WITH_DTYPE:
            options["dtype"] = dtype
        if not any_traced((value, *options.values())):
            result = real(value, axis=axis, **options)
        else:
            value = _stacked(value) if isinstance(value, (list, tuple)) else value
            if name in _WITH_DTYPE and dtype is None:
                options["dtype"] = real(np.ones(1, value.dtype)).dtype
            if name in ("max", "min") and not value.size and "initial" not in options:
                raise Untraceable("a reduction of no elements without an initial value")
            result = traced(value, axis=axis, **options)
        return wrapped(result)

    return reduce


_WITH_DTYPE = ("sum", "prod", "cumsum", "cumprod", "mean", "var", "std")


def _view(name: str) -> Callable[..., Any]:
    """Functions that are methods of arrays and return views."""

    def call(array: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(array, (list, tuple)):
            array = _as_array(array)
        if not isinstance(array, Array):
            return wrapped(getattr(np, name)(array, *unwrapped(args), **kwargs))
        return getattr(array, name)(*unwrapped(args), **kwargs)

    return call


def _part(name: str) -> Callable[..., Any]:
    def call(array: Any) -> Any:
        return getattr(_as_array(array), name)

    return call


def _moveaxis(array: Any, source: Any, destination: Any) -> Any:
    array = _as_array(array)
    order = np.moveaxis(np.empty((1,) * array.ndim), source, destination)
    del order
    axes = list(range(array.ndim))
    moved = np.moveaxis(np.empty(tuple(range(2, 2 + array.ndim)), np.int8), source, destination)
    return array.transpose(*[axes[s - 2] for s in moved.shape]) if axes else array


def _broadcast_to(array: Any, shape: Any, **options: Any) -> Any:
    dims = tuple(unwrapped(shape)) if isinstance(shape, (tuple, list)) else unwrapped(shape)
    array = _as_array(array)

    def get(value: Any) -> Any:
        return (jnp if is_traced(value) else np).broadcast_to(value, dims)

    return array.shown(get, None)


def _expand_dims(array: Any, axis: Any) -> Any:
    array = _as_array(array)
    return array.reshape(np.expand_dims(np.empty(array.shape, np.int8), axis).shape)


def _argsort(array: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    value = unwrapped(array)
    if not any_traced(value):
        return wrapped(np.argsort(value, axis, kind))
    return Array(jnp.argsort(value, axis=axis, stable=True).astype(np.int64))


def _sort(array: Any, axis: Any = -1, kind: Any = None, **options: Any) -> Any:
    value = unwrapped(array)
    return wrapped((jnp if any_traced(value) else np).sort(value, axis=axis))


def _index_reduction(name: str) -> Callable[..., Any]:
    def call(array: Any, axis: Any = None, **options: Any) -> Any:
        value = unwrapped(array)
        if not any_traced(value):
            return wrapped(getattr(np, name)(value, axis=axis))
        return Array(getattr(jnp, name)(value, axis=axis).astype(np.int64))

    return call


def _where(condition: Any, *branches: Any) -> Any:
    values = unwrapped((condition, *branches))
    if not any_traced(values):
        return wrapped(np.where(*values))
    if not branches:
        raise Untraceable("as many indices as a condition holds for")
    common = np.result_type(*[_sample(v) for v in values[1:]])
    return Array(jnp.where(values[0], *[_cast(v, common) for v in values[1:]]))


def _of_unknown_size(name: str) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        values, options = unwrapped(args), {k: unwrapped(v) for k, v in kwargs.items()}
        if any_traced((*values, *options.values())):
            raise Untraceable(f"the result of {name} has as many elements as the data says")
        return wrapped(getattr(np, name)(*values, **options))

    return call


def _contiguous(array: Any, dtype: Any = None) -> Any:
    found = _as_array(array, dtype)
    return found if found.ndim else found.reshape((1,))


def _bincount(x: Any, weights: Any = None, minlength: Any = 0) -> Any:
    values = unwrapped((x, weights, minlength))
    if not any_traced(values):
        return wrapped(np.bincount(*values))
    if is_traced(values[2]) or not values[2]:
        raise Untraceable("the result of bincount has as many elements as the data says")
    # Kernels that name a length have no numbers beyond it.
    index = jnp.asarray(values[0]).reshape(-1)
    each = 1 if values[1] is None else jnp.asarray(values[1]).reshape(-1).astype(np.float64)
    kind = np.int64 if values[1] is None else np.float64
    return Array(jnp.zeros(int(values[2]), kind).at[index].add(each, mode="drop"))


def _repeat(array: Any, repeats: Any, axis: Any = None) -> Any:
    value, count = unwrapped((array, repeats))
    if any_traced(count):
        raise Untraceable("as many elements as the data says")
    if not any_traced(value):
        return wrapped(np.repeat(value, count, axis))
    total = None if np.ndim(count) == 0 else int(np.sum(count))
    return Array(jnp.repeat(value, count, axis=axis, total_repeat_length=total))


def _asked(name: str) -> Callable[..., Any]:
    """Functions of the shape alone."""

    def call(array: Any, *args: Any) -> Any:
        if isinstance(array, Array):
            found = getattr(array, name)
            return found[args[0]] if args and name == "shape" else found
        return getattr(np, name)(unwrapped(array), *args)

    return call


def _take(array: Any, indices: Any, axis: Any = None, mode: str = "raise", **options: Any) -> Any:
    values = _traceable(unwrapped((array, indices)))
    if not any_traced(values):
        return wrapped(np.take(*values, axis=axis, mode=mode))  # type: ignore[call-overload]  # the mode is a text
    return Array(jnp.take(*values, axis=axis, mode="clip" if mode == "raise" else mode))


def _put_along_axis(array: Any, indices: Any, values: Any, axis: Any) -> None:
    target, index, new = unwrapped((array, indices, values))
    array.write(jnp.put_along_axis(jnp.asarray(target), index, new, axis, inplace=False))


def _concatenate(arrays: Any, axis: Any = 0, dtype: Any = None, **_: Any) -> Any:
    values = [unwrapped(a) for a in arrays]
    if not any_traced(values):
        result = np.concatenate(values, axis, dtype=dtype)
    else:
        common = dtype or np.result_type(*[v.dtype for v in values])
        result = jnp.concatenate([_cast(v, common) for v in values], axis)
    return wrapped(result)


_OWN: dict[str, Callable[..., Any]] = {
    "array": _array,
    "asarray": _as_array,
    "asanyarray": _as_array,
    "ascontiguousarray": _contiguous,
    "argsort": _argsort,
    "bincount": _bincount,
    "broadcast_to": _broadcast_to,
    "concatenate": _concatenate,
    "copyto": _copyto,
    "empty": _empty,
    "empty_like": _like(np.zeros, jnp.zeros),
    "expand_dims": _expand_dims,
    "full": _full,
    "full_like": _like(np.full, jnp.full),
    "imag": _part("imag"),
    "moveaxis": _moveaxis,
    "ones": _of_shape(np.ones),
    "ones_like": _like(np.ones, jnp.ones),
    "put_along_axis": _put_along_axis,
    "real": _part("real"),
    "repeat": _repeat,
    "sort": _sort,
    "take": _take,
    "where": _where,
    "zeros": _of_shape(np.zeros),
    "zeros_like": _like(np.zeros, jnp.zeros),
}
_OWN.update({n: _asked(n) for n in ("ndim", "shape", "size")})
_OWN.update({n: _view(n) for n in ("ravel", "reshape", "squeeze", "swapaxes", "transpose")})
_OWN.update({n: _index_reduction(n) for n in ("argmax", "argmin")})
_OWN.update(
    {
        n: _reduction(n)
        for n in (*_WITH_DTYPE, "all", "any", "max", "min", "amax", "amin", "count_nonzero")
        if n not in ("cumsum", "cumprod")
    }
)
_OWN.update({n: _of_unknown_size(n) for n in ("argwhere", "flatnonzero", "nonzero", "unique")})


def _scan(name: str) -> Callable[..., Any]:
    def call(array: Any, axis: Any = None, dtype: Any = None) -> Any:
        value = unwrapped(array)
        real = getattr(np, name)
        if not any_traced(value):
            result = real(value, axis, dtype)
        else:
            kind = dtype or real(np.ones(1, value.dtype)).dtype
            result = getattr(jnp, name)(value, axis=axis, dtype=kind)
        return wrapped(result)

    return call


_OWN.update({n: _scan(n) for n in ("cumsum", "cumprod")})
MODULE = Module(own=_OWN)
__all__ = ["MODULE", "put"]
