"""The door: executes every op call, by converting its inputs once and passing them to the level on top.

The names of `intaglio.opdef.levels` are re-exported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.dtypes import DType
from intaglio.opdef import convert, index_types, levels
from intaglio.opdef.hooks import HOOKS
from intaglio.opdef.keys import fresh
from intaglio.opdef.levels import (
    STATE,
    Level,
    State,
    Watcher,
    eagerly,
    level,
    pushed,
    stack,
    unwatch,
    unwatched,
    watch,
)
from intaglio.opdef.signature import REQUIRED
from intaglio.opdef.tensor import Tensor

if TYPE_CHECKING:
    from intaglio.opdef.op import Op
    from intaglio.opdef.signature import Arg


# The name of an op that an implicit conversion inserts, as in `x * variable`: in a graph it is named
# after the op that uses it, `mul/ReadVariableOp`.
IMPLIED = str.__new__(type("Implied", (str,), {}), "")


# Functions called after the tapes for every op, with its attributes, inputs and outputs; they return the
# outputs or replacements for them.
Inspector = Callable[[Any, dict[str, Any], Sequence[Tensor], Sequence[Tensor]], Any]
INSPECTORS: list[Inspector] = []
# The result of a direct call that leaves the call to the door.
DECLINED: Any = object()


def call(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None) -> Any:
    """Executes an op call as the user wrote it: binds, converts, executes, and notifies the tapes."""
    if not kwargs and len(args) == len(op.input_names):
        values, attrs = args, op.defaults
        if op.required:
            raise _missing(op, op.required[0])
    else:
        values, attrs = _bind(op, args, kwargs)
    if op.attr_names and (attrs or op.has_lists):
        attrs = dict(attrs)
    for limited, allowed in op.limits.items():
        if attrs[limited] not in allowed and attrs[limited] is not None:
            raise not_among(op, limited, attrs[limited], allowed)
    if op.has_lists:
        inputs, attrs = _convert_lists(op, values, dict(attrs))
    else:
        inputs = _convert(op, values, attrs)
    if name is None and not any(map(_has_literals, values)):
        name = ""  # TensorFlow's errors end in "name: " unless a Python list was given
    outputs = carry_out(op, inputs, attrs, name)
    return pack(op, outputs, attrs)


def carry_out(
    op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
) -> Sequence[Tensor]:
    """Executes an op call whose flat inputs are tensors already."""
    here = (levels._stack or stack()).top
    if op.has_graphs and here.eager and here.watchers:
        seen = HOOKS.watched_call(here, op, inputs, attrs, name)
        if seen is not None:
            return seen
    outputs = here.execute(op, inputs, attrs, name)
    if here.watchers:
        if op.kernel_fn is not None:  # the outputs are new tensors
            for tensor in outputs:
                tensor._key = fresh()
        for watcher in here.watchers:
            watcher.record(op, attrs, inputs, outputs)
    if INSPECTORS:
        for inspect in INSPECTORS:
            outputs = inspect(op, attrs, inputs, outputs)
    return outputs


def pack(op: Op, outputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
    """The result of a call from its flat outputs: a tensor, a list, a named tuple or None."""
    if op.has_list_outputs:
        grouped = op.sig.group_outputs(outputs, attrs)
        return grouped[0] if op.result is None else op.result(*grouped)
    if op.result is not None:
        return op.result(*outputs)
    return outputs[0] if outputs else level().finish(op, outputs)


def _has_literals(value: Any) -> bool:
    """True for a list with an element that is no tensor."""
    return isinstance(value, (list, tuple)) and not all([isinstance(v, Tensor) for v in value])


def _missing(op: Op, name: str) -> TypeError:
    return TypeError(
        f"{op.name}() is missing the required argument {name!r}; its signature is {op.sig.text!r}"
    )


def _bind(
    op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Sequence[Any], dict[str, Any]]:
    if len(args) == len(op.input_names) and op.required_set <= kwargs.keys():
        # The most common form: inputs by position, attributes by name.
        kinds, attrs = op.attr_kinds, dict(op.defaults)
        for key, value in kwargs.items():
            kind = kinds.get(key)
            if kind is None:
                break
            if value is None and attrs[key] is not REQUIRED:
                continue  # None stands for the default, as in TensorFlow's raw_ops
            attrs[key] = convert.attribute(value, kind, key)
        else:
            return args, attrs
    names = op.input_names + op.attr_names
    if len(args) > len(names):
        raise TypeError(f"{op.name}() takes {len(names)} arguments but {len(args)} were given")
    bound = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        if key in bound:
            raise TypeError(f"{op.name}() got multiple values for argument {key!r}")
        if key not in names:
            if key in op.implied or key in op.vars:
                continue  # derived from the inputs; TensorFlow's raw_ops never take them
            raise TypeError(
                f"{op.name}() got an unexpected keyword argument {key!r}; its signature is {op.sig.text!r}"
            )
        bound[key] = value
    for missing in (n for n in op.input_names if n not in bound):
        raise _missing(op, missing)
    attrs = {}
    for attr in op.sig.attrs:
        value = bound.get(attr.name)
        if value is None and attr.default is REQUIRED and attr.name not in bound:
            raise _missing(op, attr.name)
        attrs[attr.name] = (
            attr.default
            if value is None and attr.default is not REQUIRED
            else convert.attribute(value, attr.kind, attr.name)
        )
    return [bound[n] for n in op.input_names], attrs


def _convert(op: Op, values: Sequence[Any], attrs: dict[str, Any]) -> Sequence[Tensor]:
    """The inputs as tensors; those of one type variable with one dtype.

    Tensors decide a type variable before arrays and Python values do.
    """
    types: dict[str | None, DType] = {}
    all_tensors = True
    for index, ((var, fixed, allowed), value) in enumerate(zip(op.slots, values, strict=True)):
        if not isinstance(value, Tensor):
            all_tensors = False
            continue
        dtype = value.dtype
        wanted = fixed if var is None else types.get(var)
        if wanted is None:
            if allowed is not None and dtype not in allowed:
                for at, other in enumerate(values):
                    if op.slots[at][0] == var and not isinstance(other, Tensor):
                        _one(op, at, other, dtype)  # its error takes precedence
                raise _not_allowed(op, index, dtype)
            types[var] = dtype
        elif dtype is not wanted:
            raise _mismatch(op, index, wanted, dtype)
    if all_tensors:
        return values
    return _converted(op, values, attrs, types)


def _converted(
    op: Op, values: Sequence[Any], attrs: dict[str, Any], types: dict[str | None, DType]
) -> Sequence[Tensor]:
    """The inputs as tensors, converted after the tensors among them have determined type variables."""
    for (var, _, _), value in zip(op.slots, values, strict=True):
        if var is not None and var not in types and not isinstance(value, Tensor):
            own = hasattr(type(value), "__tf_tensor__")
            dtype = attrs.get(var) or (convert.dtype_of(value) if own else None)
            if dtype is not None:
                types[var] = dtype
    inputs: list[Tensor] = []
    for index, ((var, fixed, allowed), value) in enumerate(zip(op.slots, values, strict=True)):
        if isinstance(value, Tensor):
            inputs.append(value)
            continue
        wanted = fixed or types.get(var)
        tensor = _one(op, index, value, wanted)
        if allowed is not None and tensor.dtype not in allowed:
            wanted = None if wanted else _by_default(op, var, value, allowed)
            if wanted is None:
                raise _not_allowed(op, index, tensor.dtype)
            tensor = _one(op, index, value, wanted)
        if var is not None and var not in types:
            types[var] = tensor.dtype
        inputs.append(tensor)
    return inputs


def _by_default(op: Op, var: str | None, value: Any, allowed: frozenset[DType]) -> DType | None:
    """The default dtype for a value whose own dtype the op does not allow, or None."""
    if _empty(value):
        return dtypes.int32 if dtypes.int32 in allowed else None
    if isinstance(value, (list, tuple)):
        if not convert.holds_tensors(value):
            return None
    elif not isinstance(value, (np.ndarray, np.generic)) and not level().eager:
        return None
    return index_types.default(op, var)


def _empty(value: Any) -> bool:
    """True for an empty list: a shape or list of axes without entries has no type of its own."""
    if isinstance(value, (list, tuple)):
        return not value or all(_empty(v) for v in value)
    return False


def _one(op: Op, index: int, value: Any, wanted: DType | None) -> Tensor:
    try:
        return convert.to_tensor(value, wanted)
    except (TypeError, ValueError) as e:
        own = getattr(type(value), "__tf_tensor__", None) and convert.dtype_of(value)
        if own and wanted is not None and own is not wanted:
            raise _mismatch(op, index, wanted, own) from None
        raise _refused(op, op.input_names[index], value, wanted, e) from None


def _refused(op: Op, name: str, value: Any, wanted: DType | None, error: Exception) -> Exception:
    """The error of a conversion, with the name of the argument."""
    if level().eager:
        return type(error)(f"{error} [argument {name!r} of {op.name}]")
    if wanted is not None and isinstance(error, TypeError):
        return TypeError(
            f"Expected {wanted.name} passed to parameter '{name}' of op '{op.name}', got"
            f" {value!r} of type '{type(value).__name__}' instead. Error: {error}"
        )
    return type(error)(f"Tried to convert '{name}' to a tensor and failed. Error: {error}")


def _convert_lists(
    op: Op, arguments: Sequence[Any], attrs: dict[str, Any]
) -> tuple[Sequence[Tensor], dict[str, Any]]:
    types: dict[str, DType] = {}
    flat: list[Tensor] = []
    for arg, value in zip(op.sig.inputs, arguments, strict=True):
        if arg.is_list and not isinstance(value, (list, tuple)):
            raise TypeError(
                f"Expected list for '{arg.name}' argument to '{op.name}' Op, not {convert.describe(value)}."
            )
        values: Sequence[Any] = value if arg.is_list else (value,)
        if arg.types:
            tensors = [convert.to_tensor(v) for v in values]
            attrs[arg.types] = tuple([t.dtype for t in tensors])
            flat += tensors
            continue
        if arg.number and attrs.setdefault(arg.number, len(values)) != len(values):
            raise ValueError(
                f"List argument {arg.name!r} to {op.name!r} Op has {len(values)} elements, not {attrs[arg.number]}."
            )
        flat += _alike(op, arg, values, types, len(flat), attrs)
    return flat, attrs


def _alike(
    op: Op, arg: Arg, values: Sequence[Any], types: dict[str, DType], at: int, attrs: dict[str, Any]
) -> list[Tensor]:
    """The values as tensors of one dtype: a fixed one, or that of a type variable."""
    var = arg.var
    if var is not None and var not in types:
        found = [v.dtype for v in values if isinstance(v, Tensor)] or [
            d for d in map(convert.dtype_of, values) if d
        ]
        if found or attrs.get(var):
            types[var] = found[0] if found else attrs[var]
    tensors: list[Tensor] = []
    for i, v in enumerate(values):
        wanted = arg.dtype or (types.get(var) if var else None)
        tensor = convert.to_tensor(v, wanted) if not isinstance(v, Tensor) else v
        if wanted is not None and tensor.dtype is not wanted:
            if arg.is_list and not level().eager:
                names = ", ".join([convert.to_tensor(v).dtype.name for v in values])
                raise TypeError(
                    f"Tensors in list passed to '{arg.name}' of '{op.name}' Op have types [{names}] that don't all match."
                )
            raise _mismatch(op, at + i, wanted, tensor.dtype)
        if var:
            types.setdefault(var, tensor.dtype)
            slot = op.sig.inputs.index(arg)
            allowed = op.slots[slot][2]
            if allowed is not None and tensor.dtype not in allowed:
                wanted = None if arg.is_list else _by_default(op, var, v, allowed)
                if isinstance(v, Tensor) or wanted is None:
                    raise _not_allowed(op, slot, tensor.dtype)
                tensor = _one(op, slot, v, wanted)
                types[var] = wanted
        tensors.append(tensor)
    return tensors


def _mismatch(op: Op, index: int, wanted: DType, got: DType) -> Exception:
    eager = (
        f"cannot compute {op.name} as input #{index}(zero-based) was expected to be "
        f"a {wanted.kernel_name} tensor but is a {got.kernel_name} tensor"
    )
    at = min(index, len(op.slots) - 1)
    var = op.slots[at][0]
    first = next((i for i, slot in enumerate(op.slots) if slot[0] == var), at)
    against = (
        f"type {wanted.name} of argument {op.input_names[first]!r}"
        if var is not None and first != at
        else f"expected type of {wanted.name}"
    )
    return level_error(
        op,
        eager,
        TypeError,
        f"Input {op_input(op, index)!r} of {op.name!r} Op has type {got.name} that does"
        f" not match {against}.",
    )


def op_input(op: Op, index: int) -> str:
    """The name of a flat input."""
    return op.input_names[min(index, len(op.input_names) - 1)]


def level_error(op: Op, eager: str, graph: type[Exception], text: str) -> Exception:
    """The error class of the current level: InvalidArgumentError eagerly, `graph(text)` in a graph."""
    from_eager = level().eager
    if from_eager:
        return convert.invalid(f"{eager} [Op:{op.name}] name: ")
    return graph(text)


def _not_allowed(op: Op, index: int, dtype: DType) -> Exception:
    var, _, allowed = op.slots[index]
    listed: Any = getattr(type(op), var or "", None) or sorted(allowed or (), key=lambda d: d.name)
    return level_error(
        op,
        _not_in_list(op, var, dtype, listed),
        TypeError,
        f"Value passed to parameter '{op_input(op, index)}' has DataType {dtype.name} not"
        f" in list of allowed values: {', '.join([d.name for d in listed])}",
    )


def not_among(op: Op, name: str, value: DType | str, allowed: Any) -> Exception:
    """The error for an attribute with a dtype or string that the op does not allow."""
    if isinstance(value, str):
        text = f"Attr '{name}' of '{op.name}' Op passed string '{value}' not in: "
        text += ", ".join(map(_as_listed, allowed))
        return level_error(op, _not_in_list(op, name, value, allowed), ValueError, text)
    return level_error(
        op,
        _not_in_list(op, name, value, allowed),
        TypeError,
        f"Value passed to parameter '{name}' has DataType {value.name} not in list of"
        f" allowed values: {', '.join([d.name for d in allowed])}",
    )


def _not_in_list(op: Op, name: str | None, value: DType | str, allowed: Any) -> str:
    names = ", ".join(map(_as_listed, allowed))
    return (
        f"Value for attr '{name}' of {_as_listed(value)} is not in the list of allowed"
        f" values: {names}\n\t; NodeDef: {{{{node {op.name}}}}}; Op<name={op.name};"
        f" signature={op.sig.text}>"
    )


def _as_listed(value: DType | str) -> str:
    return f'"{value}"' if isinstance(value, str) else value.kernel_name


__all__ = [
    "DECLINED",
    "IMPLIED",
    "INSPECTORS",
    "STATE",
    "Level",
    "State",
    "Watcher",
    "call",
    "carry_out",
    "eagerly",
    "level",
    "pack",
    "pushed",
    "stack",
    "unwatch",
    "unwatched",
    "watch",
]
