"""The kernels of ops with another module bound to the name `np`, so that their steps are recorded.

A kernel is Python code that calls `numpy`. `Retargeting.function` makes a copy of a function whose globals
have another module instead; the functions of `intaglio.ops` that it calls are copied likewise.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping, Sequence
from types import CellType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.machine_code import exact_kernel, loop_of_passes
from intaglio.opdef.op import Op, Rule
from intaglio.ops import compiled
from intaglio.ops.math import chebyshev
from intaglio.ops.nn import windows

# The packages whose functions kernels are composed of.
PACKAGES = ("intaglio.ops", "intaglio.opdef.scalar")


class ScalarType:
    """The counterpart of a NumPy scalar type such as `np.float32`; subclasses define its call."""

    def __init__(self, real: Any) -> None:
        self.real = real

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype, where NumPy expects one."""
        return np.dtype(self.real)

    def __instancecheck__(self, instance: Any) -> bool:
        return isinstance(instance, self.real)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def __eq__(self, other: Any) -> bool:
        return self.real == getattr(other, "real", other)

    def __hash__(self) -> int:
        return hash(self.real)


class Retargeting:
    """Creates copies of kernels that use another module instead of NumPy.

    `module` has NumPy's names, and `ufunc`, `function`, `scalar_type` and `table`, which return the counterpart
    of such a NumPy object among the globals of a kernel's module. `replaced` has counterparts of functions of
    ops, `builtins` those of Python's built-in functions by name. `check` wraps the functions that only check.
    """

    def __init__(
        self,
        module: Any,
        replaced: Mapping[Any, Any],
        builtins: Mapping[str, Any] | None = None,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        self.module = module
        self._replaced = {
            chebyshev.pieces: self._pieces,
            compiled.select_kernel: _none,
            exact_kernel: _none,
            loop_of_passes: _none,
            windows.patches: _patches,
            **replaced,
        }
        self.builtins = dict(builtins or {})
        self._check = check
        self._namespaces: dict[int, dict[str, Any]] = {}
        self._raw = _Raw(self)
        self._function = functools.cache(self._retargeted)
        self.op = functools.cache(self._retargeted_op)
        self.kind = functools.cache(self._retargeted_kind)

    def function(self, function: Any) -> Any:
        """The copy of a function of `intaglio.ops` that uses the module; other functions unchanged."""
        if not isinstance(function, FunctionType) or not function.__module__.startswith(PACKAGES):
            return function
        return self._function(function)

    def counterpart(self, value: Any) -> Any:
        """The counterpart of a global of a kernel's module."""
        if value is np:
            return self.module
        if isinstance(value, FunctionType):
            return self._replaced.get(value) or self.function(value)
        if isinstance(value, np.ufunc):
            return self.module.ufunc(value)
        if isinstance(value, type) and issubclass(value, np.generic):
            return self.module.scalar_type(value)
        if isinstance(value, type) and value.__module__.startswith(PACKAGES[0]):
            return self.kind(value)
        if callable(value) and getattr(value, "__module__", "").startswith("numpy."):
            return self.module.function(value)
        if isinstance(value, np.ndarray):
            return self.module.table(value)
        if value is raw:
            return self._raw
        if isinstance(value, ModuleType) and value.__name__.startswith(PACKAGES):
            return _Module(self, value)
        return value

    def _retargeted(self, function: FunctionType) -> Any:
        namespace = self._namespaces.get(id(function.__globals__))
        if namespace is None:
            namespace = _Namespace(self, function.__globals__)
            self._namespaces[id(function.__globals__)] = namespace
        copy = FunctionType(
            function.__code__,
            namespace,
            function.__name__,
            function.__defaults__,
            function.__closure__ and tuple(map(self._cell, function.__closure__)),
        )
        copy.__kwdefaults__ = function.__kwdefaults__
        copy.__module__, copy.__qualname__ = function.__module__, function.__qualname__
        is_check = function.__name__.lstrip("_").startswith("check")
        gives = function.__annotations__.get("return") not in ("None", None)
        return copy if self._check is None or not is_check or gives else self._check(copy)

    def _cell(self, cell: CellType) -> CellType:
        """The counterpart of a closure cell: in `in_blocks(kernel)` it holds the kernel."""
        try:
            value = cell.cell_contents
        except ValueError:  # the cell is empty
            return cell
        found = self.counterpart(value)
        return cell if found is value else CellType(found)

    def _retargeted_kind(self, kind: type) -> type:
        """A class of `intaglio.ops` that kernels use, with retargeted methods; others as they are."""
        if issubclass(kind, (Op, BaseException)) or not kind.__module__.startswith(PACKAGES):
            return kind
        own: dict[str, Any] = {}
        for name, value in vars(kind).items():
            if isinstance(value, FunctionType):
                own[name] = self.function(value)
            elif isinstance(value, (staticmethod, classmethod)):
                own[name] = type(value)(self.function(value.__func__))
            elif isinstance(value, property) and value.fget is not None:
                own[name] = property(self.function(value.fget))
        return types.new_class(kind.__name__, (kind,), exec_body=lambda n: n.update(own))

    def _retargeted_op(self, op: Op) -> Any:
        """The op with retargeted methods."""
        own: dict[str, Any] = {}
        for base in reversed(type(op).__mro__[:-1]):
            for name, value in vars(base).items():
                if isinstance(value, staticmethod):
                    own[name] = staticmethod(self.counterpart(value.__func__))
                elif isinstance(value, FunctionType) and value.__module__.startswith(PACKAGES):
                    own[name] = self.function(value)
        kind = type(op.name, (type(op),), own)
        copy = object.__new__(kind)
        copy.__dict__.update(op.__dict__)
        kernel = op.rules.get("kernel")
        copy.__dict__["kernel_fn"] = (
            Rule(MethodType(own["kernel"], copy), op.called, op.attr_names).fn
            if kernel is not None and "kernel" in own
            else self.counterpart(op.kernel_fn)
        )
        return copy

    def _pieces(self, x: Any, parts: Sequence[Any], otherwise: float = np.nan) -> Any:
        """The counterpart of `chebyshev.pieces`: computes each function on all elements, and selects."""
        module = self.module
        result = module.full(x.shape, otherwise)
        for mask, function in parts if x.size else ():
            # Elements outside of a piece are replaced by one inside it: the function may not be defined there.
            inside = module.take(module.ravel(x), module.argmax(module.ravel(mask)))
            result = module.where(mask, function(module.where(mask, x, inside)), result)
        return result


class _Raw:
    """The counterpart of `raw`, whose ops have retargeted kernels."""

    def __init__(self, retargeting: Retargeting) -> None:
        self._retargeting = retargeting

    def __getattr__(self, name: str) -> Any:
        return self._retargeting.op(getattr(raw, name))


class _Module:
    """The counterpart of a module of ops, such as `philox` in `philox.blocks`."""

    def __init__(self, retargeting: Retargeting, module: ModuleType) -> None:
        self._retargeting = retargeting
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return self._retargeting.counterpart(getattr(self._module, name))


class _Namespace(dict[str, Any]):
    """The globals of a module while kernels are recorded, each replaced when it is first read."""

    def __init__(self, retargeting: Retargeting, real: dict[str, Any]) -> None:
        super().__init__()
        self._retargeting = retargeting
        self.real = real

    def __missing__(self, name: str) -> Any:
        if name in self.real:
            found = self._retargeting.counterpart(self.real[name])
        elif name in self._retargeting.builtins:
            found = self._retargeting.builtins[name]
        else:
            raise KeyError(name)
        self[name] = found
        return found


def _none(*args: Any, **kwargs: Any) -> None:
    """The counterpart of the selection of native kernels: there is none while kernels are recorded."""


def _patches(x: Any, along: Sequence[windows.Axis]) -> Any:
    """The counterpart of `windows.patches`, by indices: recorded tensors have no strides."""
    index: list[Any] = [slice(None)]
    rank = len(along)
    for i, axis in enumerate(along):
        starts = np.arange(axis.out) * axis.stride
        positions = starts[:, None] + np.arange(axis.window) * axis.dilation
        shape = [1] * (2 * rank)
        shape[i], shape[rank + i] = positions.shape
        index.append(positions.reshape(shape))
    return x[tuple(index)]
