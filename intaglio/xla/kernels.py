"""The NumPy kernels of ops recorded on jax: an op needs no rule where its kernel can be recorded.

A kernel is Python code of the module `numpy`. `retargeted` makes the same function with another
namespace in place of `numpy`, also in the functions of `intaglio.ops` that it calls, so that the
kernel's steps become those of an XLA program. What depends on the elements of arrays, such as
how many there are of a result, raises `Untraceable`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType, ModuleType
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.errors import TracerArrayConversionError

from intaglio.base.dtypes import from_numpy
from intaglio.opdef import raw
from intaglio.opdef.op import Op, Rule
from intaglio.opdef.scalar import NumpyScalars
from intaglio.ops import compiled
from intaglio.ops.math import chebyshev
from intaglio.ops.nn import windows
from intaglio.ops.random import stateless
from intaglio.runtime.interpreter import flat_result
from intaglio.xla import random_bits
from intaglio.xla.arrays import Array, unwrapped, wrapped
from intaglio.xla.numpy_module import MODULE
from intaglio.xla.paths import selected, without_paths
from intaglio.xla.values import Untraceable, is_traced

# The packages whose functions kernels are composed of.
PACKAGES = ("intaglio.ops", "intaglio.opdef.scalar")
_namespaces: dict[int, dict[str, Any]] = {}


# What recorded code raises where an `Array`, or jax, is no array of NumPy.
REFUSED = (TypeError, ValueError, ArithmeticError, NotImplementedError, AttributeError, LookupError)


def refusal(error: Exception) -> str:
    """The first line of an error; what an array of the recording lacks is nothing to a reader."""
    if isinstance(error, AttributeError):
        return "it has steps that are not recorded"
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"


def _none(*args: Any, **kwargs: Any) -> None:
    """There is no machine code for what is recorded."""


def _patches(x: Any, along: Sequence[windows.Axis]) -> Any:
    """`windows.patches` by indices: jax has no strides."""
    index: list[Any] = [slice(None)]
    rank = len(along)
    for i, axis in enumerate(along):
        starts = np.arange(axis.out) * axis.stride
        positions = starts[:, None] + np.arange(axis.window) * axis.dilation
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = positions.shape
        index.append(positions.reshape(shape))
    return wrapped(unwrapped(x)[tuple(index)])


def _pieces(x: Any, parts: Sequence[Any], otherwise: float = np.nan) -> Any:
    """`chebyshev.pieces`: each function is computed everywhere, elsewhere on a number of its own."""
    result = MODULE.full(x.shape, otherwise)
    for mask, function in parts if x.size else ():
        # Where none of a mask's numbers are, the function's own domain may end.
        result = MODULE.where(mask, function(MODULE.where(mask, x, _inside(x, mask))), result)
    return result


def _inside(x: Any, mask: Any) -> Any:
    """A number for which a mask is true, if there is one."""
    value = jnp.asarray(unwrapped(x)).reshape(-1)
    return Array(value[jnp.argmax(jnp.asarray(unwrapped(mask)).reshape(-1))])


# Functions of ops that have a counterpart of their own.
_REPLACED: dict[Any, Any] = {
    chebyshev.pieces: _pieces,
    compiled.select_kernel: _none,
    compiled.compiled_function: _none,
    windows.patches: _patches,
    stateless.keyed: random_bits.keyed,
    stateless.seeded: random_bits.seeded,
    **random_bits.COUNTERPARTS,
}


class _Raw:
    """`raw` in a kernel: the ops whose kernels it calls."""

    def __getattr__(self, name: str) -> Any:
        return _retargeted_op(getattr(raw, name))


_RAW = _Raw()


def _counterpart(value: Any) -> Any:
    """What a global of a kernel's module is while kernels are recorded."""
    if value is np:
        return MODULE
    if isinstance(value, FunctionType):
        replaced = _REPLACED.get(value)
        return replaced or retargeted(value)
    if isinstance(value, np.ufunc):
        return MODULE.ufunc(value)
    if callable(value) and getattr(value, "__module__", "").startswith("numpy."):
        return MODULE.function(value)
    if value is raw:
        return _RAW
    if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGES):
        return _Module(value)
    return value


class _Module:
    """A module of ops, as `philox` in a kernel that says `philox.blocks`."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _counterpart(getattr(self._module, name))


class _Namespace(dict[str, Any]):
    """The globals of a module while kernels are recorded, each replaced when it is first read."""

    def __init__(self, real: dict[str, Any]) -> None:
        super().__init__()
        self.real = real

    def __missing__(self, name: str) -> Any:
        if name not in self.real:
            raise KeyError(name)
        found = self[name] = _counterpart(self.real[name])
        return found


def retargeted(function: Any) -> Any:
    """The function of `intaglio.ops` with jax in the place of NumPy; others as they are."""
    if not isinstance(function, FunctionType) or not function.__module__.startswith(PACKAGES):
        return function
    return _retargeted(function)


@functools.cache
def _retargeted(function: FunctionType) -> Any:
    namespace = _namespaces.get(id(function.__globals__))
    if namespace is None:
        namespace = _namespaces[id(function.__globals__)] = _Namespace(function.__globals__)
    copy = FunctionType(
        function.__code__, namespace, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    is_check = function.__name__.lstrip("_").startswith("check")
    if not is_check or function.__annotations__.get("return") not in ("None", None):
        return copy

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        try:
            return without_paths(lambda: copy(*args, **kwargs))
        except Untraceable:  # XLA programs do not check their data
            return None

    return checked


@functools.cache
def _retargeted_op(op: Op) -> Any:
    """The op with retargeted methods."""
    own: dict[str, Any] = {}
    for base in reversed(type(op).__mro__[:-1]):
        for name, value in vars(base).items():
            if isinstance(value, staticmethod):
                own[name] = staticmethod(_counterpart(value.__func__))
            elif isinstance(value, FunctionType) and value.__module__.startswith(PACKAGES):
                own[name] = retargeted(value)
    kind = type(op.name, (type(op),), own)
    copy = object.__new__(kind)
    copy.__dict__.update(op.__dict__)
    kernel = op.rules.get("kernel")
    copy.__dict__["kernel_fn"] = (
        Rule(MethodType(own["kernel"], copy), op.called, op.attr_names).fn
        if kernel is not None and "kernel" in own
        else _counterpart(op.kernel_fn)
    )
    return copy


def services(op: Op) -> set[str]:
    """The services of the runtime that an op's kernel asks for."""
    return {key for kind, key in op.kernel_order if kind == "service"}


def record(
    op: Op, values: Sequence[Any], attrs: dict[str, Any], operands: Mapping[str, Any]
) -> list[Any]:
    """The outputs of an op for known and traced inputs, by its kernel.

    `given` are services of the runtime by name. Raises Untraceable if the kernel cannot be
    recorded.
    """
    missing = services(op) - {"raises", *operands}
    if op.kernel_fn is None or missing:
        raise Untraceable("its kernel needs the runtime")
    wide = op.computes_wide and values and values[0].dtype.itemsize == 2
    inputs = [wrapped(v) for v in values]
    narrow = values[0].dtype if wide else None
    if wide:
        inputs = [x.astype(np.float32) if x.dtype == narrow else x for x in inputs]
    kernel = _kernel(op)

    def run() -> list[Any]:
        copies = [wrapped(unwrapped(x)) for x in inputs]
        result = kernel(*_arguments(op, copies, values, attrs, operands))
        return [unwrapped(v) for v in flat_result(op, result)]

    try:
        # What has a state would be changed by each path.
        found = run() if operands or op.stateful else selected(run)
    except Untraceable:
        raise
    except TracerArrayConversionError as e:
        raise Untraceable("NumPy code reads the elements") from e
    except REFUSED as e:
        raise Untraceable(f"its kernel: {refusal(e)}") from e
    if wide:
        found = [v.astype(narrow) if v.dtype == np.float32 else v for v in found]
    return [v if is_traced(v) else np.asarray(v) for v in found]


def _kernel(op: Op) -> Callable[..., Any]:
    kernel = _retargeted_op(op).kernel_fn
    if isinstance(kernel, functools.partial) and kernel.args and kernel.args[0] is NumpyScalars:
        raise Untraceable("it is a scalar rule")
    return kernel


def _arguments(
    op: Op,
    inputs: Sequence[Any],
    values: Sequence[Any],
    attrs: dict[str, Any],
    operands: Mapping[str, Any],
) -> list[Any]:
    grouped = op.sig.group(inputs, attrs) if op.has_lists else inputs
    types: dict[str, Any] | None = None
    args: list[Any] = []
    for kind, key in op.kernel_order:
        if kind == "input":
            args.append(grouped[key])
        elif kind == "attr":
            args.append(attrs[key])
        elif kind == "service":
            args.append(operands.get(key))
        else:
            types = types or op.types_of([_Typed(v) for v in values], attrs)
            args.append(types[key])
    return args


class _Typed:
    """An array with its DType."""

    def __init__(self, array: Any) -> None:
        self.dtype = from_numpy(np.dtype(array.dtype))
