"""Entries: generated code that guards a call like an earlier one and runs its trace directly.

An entry is a Python function generated for one trace and one form of the call. It guards
each argument (type, dtype and shape of tensors; identity or equality of Python values) and
calls the compiled graph; if a guard fails it returns `MISS`, and the call is bound as usual.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from intaglio import native
from intaglio.accelerators.tensors import (
    AcceleratorTensor,
    function_on,
    operand,
    quiet_device,
    result,
)
from intaglio.base import dtypes, nest
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.options import OPTIONS
from intaglio.function import captures, read_guards
from intaglio.function.number_inputs import MAX_INT, Number
from intaglio.function.trace_types import Dict, Fields, List, Literal, Tuple, Weakref
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.runtime.executors import executor_of
from intaglio.type_specs.trace_type import TraceType
from intaglio.type_specs.type_spec import TensorSpec

MISS: Any = type("Miss", (), {"__repr__": lambda self: "<miss>"})()
Entry = Callable[[tuple[Any, ...], dict[str, Any]], Any]
_STRUCTURES = (List, Tuple, Fields, Dict)
_EQUAL = frozenset([int, str, bytes, bool, float])
_COPIED_KINDS = "biufc"  # kinds of NumPy's dtypes whose arrays are those of tensors


class Unguardable(Exception):
    """The arguments cannot be recognised by a few simple checks."""


class _Guards:
    """Collects the checks of one entry, and where its arrays come from."""

    def __init__(self, exact: bool, keeps_inputs: bool, device: str | None) -> None:
        self.exact = exact
        self.device = device  # the accelerator that all tensors are on; None for the host
        self.keeps_inputs = keeps_inputs  # a variable or stateful op may hold an input
        self.borrowed: list[str] = []  # arrays of the caller's that the graph reads
        self.lines: list[str] = []
        self.arrays: list[str] = []
        self.space: dict[str, Any] = {"E": EagerTensor, "MISS": MISS}
        if device is not None:
            self.space.update(A=AcceleratorTensor, D=device, O=OPTIONS, T=OPTIONS.tensor_float_32)
            self.require("O.tensor_float_32 is T")
            if quiet_device() is not None:  # for calls in a block of the device
                self.space["L"] = quiet_device
                self.require("L() == D")
        self.count = 0

    def name(self, value: Any, letter: str = "k") -> str:
        """A global of the entry that holds the value."""
        self.count += 1
        name = f"{letter}{self.count}"
        self.space[name] = value
        return name

    def local(self) -> str:
        """A new local variable."""
        self.count += 1
        return f"v{self.count}"

    def require(self, condition: str) -> None:
        """The entry misses unless the condition holds."""
        self.lines.append(f" if not ({condition}): return MISS")

    def value(self, text: str, value: Any, kind: TraceType) -> None:
        """Checks that the argument `text` is like `value`, whose type is `kind`."""
        if self.device is not None and isinstance(value, (EagerTensor, np.ndarray)):
            self._on_device(text, value, kind)
        elif type(value) is EagerTensor and isinstance(kind, TensorSpec):
            self._tensor(text, value, kind)
        elif type(value) is np.ndarray and type(kind) is TensorSpec:
            self._numpy(text, value, kind)
        elif isinstance(kind, Number):
            self._number(text, kind)
        elif isinstance(kind, Literal):
            self._literal(text, value)
        elif isinstance(kind, _STRUCTURES):
            self._structure(text, value, kind)
        elif isinstance(kind, (TensorSpec, Weakref)):
            self._object(text, value, kind)
        else:
            self._known(text, value, kind)

    def _tensor(self, text: str, value: Any, kind: TensorSpec) -> None:
        array = value._array
        if not isinstance(array, (np.ndarray, np.generic)):
            raise Unguardable
        local = self.local()
        self.require(f"type({text}) is E")
        self.lines.append(f" {local} = {text}._array")
        self.require(
            f"{local}.dtype is {self.name(array.dtype)} and {self._shape(local, array, kind)}"
        )
        self.arrays.append(local)

    def _on_device(self, text: str, value: Any, kind: TraceType) -> None:
        """Guards that a tensor is on the entry's accelerator, or, in a block of that device, on the host."""
        if type(value) is EagerTensor and isinstance(kind, TensorSpec) and "L" in self.space:
            self._tensor(text, value, kind)
            return
        if type(value) is not AcceleratorTensor or not isinstance(kind, TensorSpec):
            raise Unguardable
        array = value.on_device()
        if value._device != self.device or value.dtype is dtypes.resource:
            raise Unguardable
        local = self.local()
        self.require(f"type({text}) is A and {text}._device == D")
        self.lines.append(f" {local} = {text}.on_device()")
        self.require(
            f"{local}.dtype == {self.name(array.dtype)} and {self._shape(local, array, kind)}"
        )
        self.arrays.append(local)

    def _numpy(self, text: str, value: Any, kind: TensorSpec) -> None:
        """Guards a NumPy array. The graph reads it without a copy unless it may keep its inputs."""
        if value.dtype != kind.dtype.numpy or value.dtype.kind not in _COPIED_KINDS:
            raise Unguardable
        self.require(f"type({text}) is {self.name(np.ndarray)}")
        self.require(
            f"{text}.dtype is {self.name(value.dtype)} and {self._shape(text, value, kind)}"
        )
        if self.keeps_inputs:
            self.arrays.append(f"{text}.copy()")
            return
        self.require(f"{text}.flags.carray")
        self.borrowed.append(text)
        self.arrays.append(text)

    def _shape(self, local: str, array: Any, kind: TensorSpec) -> str:
        dims = array.shape if self.exact else kind.dims
        if dims is None:
            return "True"
        if None not in dims:
            return f"{local}.shape == {dims!r}"
        checks = [f"{local}.ndim == {len(dims)}"]
        checks += [f"{local}.shape[{i}] == {d}" for i, d in enumerate(dims) if d is not None]
        return " and ".join(checks)

    def _literal(self, text: str, value: Any) -> None:
        if value is None or value is True or value is False:
            self.require(f"{text} is {value!r}")
            return
        kind = type(value)
        if kind not in _EQUAL or value != value or (kind is float and value == 0.0):
            raise Unguardable
        known = self.name(value)
        self.require(
            f"{text} is {known} or (type({text}) is {self.name(kind)} and {text} == {known})"
        )

    def _number(self, text: str, kind: Number) -> None:
        """Guards a Python number that is an input of the graph."""
        self.require(f"type({text}) is {kind.kind.__name__}")
        if kind.kind is int:
            self.require(f"-{MAX_INT} < {text} < {MAX_INT}")
        self.arrays.append(f"{self.name(np.asarray)}({text}, {self.name(kind.dtype.numpy)})")

    def _structure(self, text: str, value: Any, kind: Any) -> None:
        whole = type(value)
        if isinstance(kind, Fields) and not isinstance(value, tuple):
            self.require(f"type({text}) is {self.name(whole)}")
            for field, part in zip(kind.names, kind.parts, strict=True):
                local = self.local()
                self.lines.append(f" {local} = {text}.{field}")
                self.value(local, getattr(value, field), part)
            return
        if whole not in (list, tuple, dict) and not isinstance(value, tuple):
            raise Unguardable
        self.require(f"type({text}) is {self.name(whole)} and len({text}) == {len(value)}")
        if isinstance(kind, Dict):
            for key, part in zip(kind.keys, kind.parts, strict=True):
                if type(key) not in (str, int):
                    raise Unguardable
                local = self.local()
                self.lines.append(f" {local} = {text}.get({key!r}, MISS)")
                self.value(local, value[key], part)
            return
        for index, part in enumerate(kind.parts):
            local = self.local()
            self.lines.append(f" {local} = {text}[{index}]")
            self.value(local, value[index], part)

    def _object(self, text: str, value: Any, kind: TraceType) -> None:
        """Guards the identity of an object."""
        cls = type(value)
        plain = cls.__eq__ is object.__eq__ and cls.__hash__ is object.__hash__
        if isinstance(kind, TensorSpec) or not plain:
            raise Unguardable
        self.require(f"{text} is {self.name(weakref.ref(value))}()")

    def _known(self, text: str, value: Any, kind: TraceType) -> None:
        """Guards a variable by identity: the same object passes the same resource."""
        tensors = kind.to_tensors(value)
        again = kind.to_tensors(value)
        if not getattr(kind, "by_identity", False) or any(
            a is not b for a, b in zip(tensors, again, strict=True)
        ):
            raise Unguardable
        self.require(f"{text} is {self.name(weakref.ref(value))}()")
        for tensor in tensors:
            self.arrays.append(f"{self.name(weakref.ref(tensor))}()._array")


def make_entry(
    concrete: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    bound: Any,
    defaults: Mapping[str, Any],
    exact: bool,
) -> Entry | None:
    """An entry for calls like this one, or None if no cheap guard distinguishes them.

    `defaults` are those of the parameters: what is in a default list may change between calls.
    """
    device = _accelerator(concrete, bound)
    if device is None and concrete.runs_elsewhere():
        concrete.bound_anew = "a captured variable"
        return None
    guards = _Guards(exact, concrete.frozen.stateful, device)
    name = None
    try:
        where = _positions(args, kwargs, bound)
        for name, value, kind in zip(bound.names, bound.values, concrete.types, strict=True):
            text = where.get(name)
            if text is not None:
                if type(value) is not type(_argument(name, args, kwargs, bound)):
                    raise Unguardable  # the value is converted to a tensor at each call
                local = guards.local()
                guards.lines.append(f" {local} = {text}")
                guards.value(local, value, kind)
            elif isinstance(kind, _STRUCTURES):
                guards.value(guards.name(defaults[name]), defaults[name], kind)
            elif kind.flatten():
                return None  # a default value that is a tensor
    except (Unguardable, TypeError, ValueError):
        concrete.bound_anew = name
        return None
    return _compiled(guards, concrete, len(args), tuple(kwargs))


def _accelerator(concrete: Any, bound: Any) -> str | None:
    """The accelerator of a call's block or tensors; None if they are elsewhere, or on several."""
    if quiet_device() is not None:
        return quiet_device()
    tensors = [*concrete.captured_inputs, *nest.flatten(bound.values, expand_composites=False)]
    found = {t._device for t in tensors if isinstance(t, AcceleratorTensor)}
    kinds = {executor_of((t,)) for t in tensors} - {None}
    return found.pop() if len(found) == len(kinds) == 1 else None


def make_native_entry(
    concrete: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    bound: Any,
    defaults: Mapping[str, Any],
) -> Entry | None:
    """An entry in machine code, for a trace that is one native function; else None.

    It guards Python values by identity; others need an entry in Python.
    """
    if concrete.runs_elsewhere() or _accelerator(concrete, bound) is not None:
        return None
    program = getattr(concrete.optimized_run(), "program", None)
    single = isinstance(concrete.function_type.output, TensorSpec)
    if program is None or not (single or _is_tuple_of_tensors(concrete)):
        return None
    table = native.native_calls.GuardTable()
    try:
        arguments = dict(
            zip(bound.names, zip(bound.values, concrete.types, strict=True), strict=True)
        )
        where = _parameter_indices(table, args, kwargs, bound)
        for name, (value, kind) in arguments.items():
            if name in where:
                _add_guards(table, where[name], value, kind)
            elif isinstance(kind, _STRUCTURES):
                table.keep.append(defaults[name])
                _add_guards(table, table.known(defaults[name]), defaults[name], kind)
            elif kind.flatten():
                return None
    except (Unguardable, TypeError, ValueError):
        return None
    for array in concrete.capture_arrays:
        if type(array) is not np.ndarray or not array.flags.c_contiguous:
            return None
        table.constant(array)
    try:
        read_guards.add_native(table, _watched(concrete))
    except (read_guards.Unguardable, LookupError, AttributeError, ValueError, ReferenceError):
        return None
    if concrete.capture_arrays:
        invalidate = table.invalidation()
        concrete.taking_captures.append(lambda others: invalidate())
    return native.native_calls.native_call(program, table, MISS, single)


def _watched(concrete: Any) -> Sequence[Any]:
    """The reads of Python state that an entry guards."""
    if concrete.reads is None or captures.POLICY.mode == "freeze":
        return ()
    return concrete.reads.watched


def _is_tuple_of_tensors(concrete: Any) -> bool:
    output = concrete.function_type.output
    if type(output) is not Tuple or not output.parts:
        return False
    return all(isinstance(p, TensorSpec) for p in output.parts)


def _parameter_indices(
    table: Any, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any
) -> dict[str, int]:
    """The index of each parameter's value in a native entry's table."""
    positional = bound.names[: len(args)]
    if len(positional) != len(args) or any(name in positional for name in kwargs):
        raise Unguardable
    first = table.sequence(0, args)
    found = {name: first + i for i, name in enumerate(positional)}
    return found | dict(zip(kwargs, table.mapping(1, list(kwargs)), strict=True))


def _add_guards(table: Any, number: int, value: Any, kind: TraceType) -> None:
    """Adds the steps that recognise an argument."""
    if type(value) is EagerTensor and isinstance(kind, TensorSpec):
        if type(value._array) is not np.ndarray:
            raise Unguardable
        table.tensor(number, value._array)
    elif isinstance(kind, Literal):
        if value is not None and type(value) not in _EQUAL:
            raise Unguardable
        table.identity(number, value)
    elif type(value) in (list, tuple) and isinstance(kind, (List, Tuple)):
        first = table.sequence(number, value)
        for i, (part, its_kind) in enumerate(zip(value, kind.parts, strict=True)):
            _add_guards(table, first + i, part, its_kind)
    elif type(value) is dict and isinstance(kind, Dict):
        numbers = table.mapping(number, kind.keys)
        for key, part, at in zip(kind.keys, kind.parts, numbers, strict=True):
            if type(key) not in (str, int):
                raise Unguardable
            _add_guards(table, at, value[key], part)
    else:
        raise Unguardable


def _positions(args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> dict[str, str]:
    """The Python expression for each parameter's value in the call."""
    where = {name: f"args[{i}]" for i, name in enumerate(bound.names[: len(args)])}
    if any(name in where for name in kwargs):
        raise Unguardable
    return where | {name: f"kwargs.get({name!r}, MISS)" for name in kwargs}


def _argument(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], bound: Any) -> Any:
    """The value that the caller has passed for a parameter."""
    return kwargs[name] if name in kwargs else args[bound.names.index(name)]


def _compiled(guards: _Guards, concrete: Any, positional: int, keywords: tuple[str, ...]) -> Entry:
    space = guards.space
    reads = read_guards.lines(_watched(concrete), guards.name, "return MISS")
    space["fail"] = concrete.fail
    arrays = list(guards.arrays)
    device = guards.device
    if device is None:
        run = concrete.optimized_run()
        bound_to = getattr(run, "bound_to", None)  # of an XLA program
        captures: list[str] = []
        if bound_to is not None:
            space["run"] = bound_to(concrete.capture_arrays)
            concrete.taking_captures.append(lambda others: space.update(run=bound_to(others)))
        else:
            space["run"] = run
            captures = [guards.name(array, "c") for array in concrete.capture_arrays]
            concrete.taking_captures.append(
                lambda others: space.update(zip(captures, others, strict=True))
            )
    else:
        space["run"] = function_on(concrete.frozen, device)
        space["wrap"] = functools.partial(result, device=device)
        captures = [guards.name(operand(t, device), "c") for t in concrete.captured_inputs]
        concrete.taking_captures.append(lambda others: space.update(T=MISS))
    arrays += captures
    form = f" if len(args) != {positional} or " + (
        f"len(kwargs) != {len(keywords)}" if keywords else "kwargs"
    )
    lines = [
        "def entry(args, kwargs):",
        f"{form}: return MISS",
        *guards.lines,
        *[f" {line}" for line in reads],
        " try:",
        f"  r = run({', '.join(arrays)})",
        " except Exception as e:",
        "  fail(e)",
        *_copy_lines(guards),
        *_result(concrete, space),
    ]
    name = f"entry {concrete.frozen.name}"
    return GeneratedCode(name, "\n".join(lines), space).function("entry")


def _copy_lines(guards: _Guards) -> list[str]:
    """The generated line that copies results which share memory with the caller's arrays."""
    if not guards.borrowed:
        return []
    guards.space["apart"] = _copied_if_shared
    return [f" r = apart(r, ({', '.join(guards.borrowed)},))"]


def _copied_if_shared(results: Sequence[Any], borrowed: Sequence[Any]) -> list[Any]:
    return [
        r.copy() if any([np.may_share_memory(r, array) for array in borrowed]) else r
        for r in results
    ]


def _result(concrete: Any, space: dict[str, Any]) -> list[str]:
    """The generated lines that wrap result arrays as tensors and return them in their structure."""
    output = concrete.function_type.output
    if "wrap" in space:  # on an accelerator
        if isinstance(output, TensorSpec):
            return [" return wrap(r[0])"]
        space["pack"] = concrete.pack
        return [" return pack([wrap(a) for a in r])"]
    if isinstance(output, TensorSpec):
        return [" t = E()", " t._array = r[0]", " return t"]
    if isinstance(output, Literal):
        return [" return None"]
    if _is_tuple_of_tensors(concrete):
        n = len(output.parts)
        lines = [f" t{i} = E(); t{i}._array = r[{i}]" for i in range(n)]
        return [*lines, f" return ({', '.join([f't{i}' for i in range(n)])},)"]
    space["pack"] = concrete.pack
    space["wrap"] = from_array
    return [" return pack([wrap(a) for a in r])"]
