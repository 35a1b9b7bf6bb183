"""Python structures of specs and plain values as StructuredValue messages, and back.

Follows TensorFlow's `struct.proto`. Reading makes tuples, lists, dicts, named tuples, numbers,
strings, shapes, dtypes, arrays and the type specs that are known here; nothing else.
"""

from __future__ import annotations

import collections
import keyword
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import DType
from intaglio.base.errors import UnsupportedFileError
from intaglio.base.shapes import TensorShape, as_dims
from intaglio.graphdef import tensors
from intaglio.graphdef.declarations import MalformedError
from intaglio.graphdef.saved_messages import StructuredValue
from intaglio.graphdef.spec_classes import EXTENSION, EXTENSION_CLASSES, REGISTERED, SPEC_CLASSES
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.state.variable_spec import VariableSpec
from intaglio.type_specs import registry
from intaglio.type_specs.extension_type import ExtensionTypeSpec
from intaglio.type_specs.indexed_slices_spec import IndexedSlicesSpec
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

_INT64 = 1 << 63
# TypeSpecs with a number of their own: TypeSpecProto.TypeSpecClass.
_SPEC_CLASSES: dict[int, type[TypeSpec]] = {2: IndexedSlicesSpec, 9: VariableSpec}
_SPEC_NUMBERS = {kind: number for number, kind in _SPEC_CLASSES.items()}


def _number_of(kind: type[TypeSpec]) -> int | None:
    number = _SPEC_NUMBERS.get(kind)
    if number is not None:
        return number
    ends = f":{kind.__name__}"
    candidates = [(n, p) for n, p in SPEC_CLASSES.items() if p.endswith(ends)]
    return next((n for n, target in candidates if later.named(target) is kind), None)


def encode(value: Any) -> Any:
    """The message of a structure. Raises ValueError for what has no written form."""
    proto = StructuredValue()
    _fill(proto, value)
    return proto


def can_encode(value: Any) -> bool:
    """True for a structure that has a written form."""
    try:
        encode(value)
    except ValueError:
        return False
    return True


def _fill(proto: Any, value: Any) -> None:
    if value is None:
        proto.none_value.SetInParent()
    elif isinstance(value, bool):
        proto.bool_value = value
    elif isinstance(value, int) and -_INT64 <= value < _INT64:
        proto.int64_value = int(value)
    elif isinstance(value, float):
        proto.float64_value = float(value)
    elif isinstance(value, str):
        proto.string_value = value
    elif isinstance(value, TensorShape):
        proto.tensor_shape_value.CopyFrom(tensors.shape_proto(as_dims(value)))
    elif isinstance(value, DType):
        proto.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, TypeSpec):
        _fill_spec(proto, value)
    elif isinstance(value, EagerTensor):
        proto.tensor_value.CopyFrom(tensors.tensor_proto(value.numpy()))
    elif isinstance(value, np.ndarray):
        proto.numpy_value.CopyFrom(tensors.tensor_proto(value))
    else:
        _fill_container(proto, value)


def _fill_spec(proto: Any, spec: TypeSpec) -> None:
    if type(spec) is TensorSpec:
        spec_proto = proto.tensor_spec_value
        spec_proto.name = spec.name or ""
        spec_proto.shape.CopyFrom(tensors.shape_proto(spec.dims))
        spec_proto.dtype = spec.dtype.as_datatype_enum
        return
    number, name = _number_of(type(spec)), type(spec).__name__
    if number is None:
        number, name = _registered(type(spec))
    spec_proto = proto.type_spec_value
    spec_proto.type_spec_class, spec_proto.type_spec_class_name = number, name
    spec_proto.num_flat_components = len(spec.flatten())
    _fill(spec_proto.type_state, spec._serialize())


def _registered(kind: type[TypeSpec]) -> tuple[int, str]:
    """The number and name of a class that has no number of its own. Raises ValueError if it has no name."""
    found = [n for n in EXTENSION_CLASSES if n.endswith(kind.__name__)]
    if found:
        return EXTENSION, found[0]
    name = registry.TYPE_SPEC_TO_NAME.get(kind)
    if name is None:
        raise ValueError(
            f"A {kind.__name__} has no written form: give the extension type a name that it is saved under, "
            '`__name__ = "module.Name"` among its fields, or register the type spec.'
        )
    return EXTENSION if issubclass(kind, ExtensionTypeSpec) else REGISTERED, name


def _fill_container(proto: Any, value: Any) -> None:
    if isinstance(value, list):
        proto.list_value.SetInParent()
        for item in value:
            _fill(proto.list_value.values.add(), item)
    elif isinstance(value, tuple) and hasattr(value, "_fields"):
        proto.named_tuple_value.name = type(value).__name__
        for name, item in zip(value._fields, value, strict=True):  # type: ignore[attr-defined]  # a named tuple
            pair = proto.named_tuple_value.values.add(key=name)
            _fill(pair.value, item)
    elif isinstance(value, tuple):
        proto.tuple_value.SetInParent()
        for item in value:
            _fill(proto.tuple_value.values.add(), item)
    elif isinstance(value, Mapping) and all(isinstance(k, str) for k in value):
        proto.dict_value.SetInParent()
        for key, item in value.items():
            _fill(proto.dict_value.fields[key], item)
    else:
        raise ValueError(f"A {type(value).__name__} has no written form: {value!r}")


def decode(proto: Any) -> Any:
    """The structure of a message. Raises MalformedError for what is none."""
    kind = proto.WhichOneof("kind")
    if kind is None:
        raise MalformedError("a value of a structure is missing")
    read = _READ.get(kind)
    if read is None:
        raise UnsupportedFileError(f"A {kind} in a structure is not read.")
    return read(getattr(proto, kind))


def _tensor_spec(proto: Any) -> TensorSpec:
    return TensorSpec(
        tensors.shape_of(proto.shape), tensors.dtype_of(proto.dtype), proto.name or None
    )


def _type_spec(proto: Any) -> TypeSpec:
    kind = _SPEC_CLASSES.get(proto.type_spec_class)
    if kind is None and proto.type_spec_class in SPEC_CLASSES:
        kind = later.named(SPEC_CLASSES[proto.type_spec_class])
    if proto.type_spec_class == EXTENSION:
        target = EXTENSION_CLASSES.get(proto.type_spec_class_name)
        kind = None if target is None else later.named(target)
    if kind is None and proto.type_spec_class in (EXTENSION, REGISTERED):
        kind = registry.NAME_TO_TYPE_SPEC.get(proto.type_spec_class_name)
    if kind is None:
        raise UnsupportedFileError(
            f"A type spec of class {proto.type_spec_class_name or proto.type_spec_class} is not read."
        )
    state = decode(proto.type_state)
    try:
        return kind._deserialize(state)
    except Exception as e:
        raise MalformedError(f"a {kind.__name__} has an impossible state: {e}") from None


def _named_tuple(proto: Any) -> Any:
    names = [pair.key for pair in proto.values]
    if len(set(names)) != len(names) or not all(
        n.isidentifier() and not keyword.iskeyword(n) and n[0] != "_" for n in names
    ):
        raise MalformedError(f"a named tuple has the impossible fields {names[:8]}")
    name = proto.name if proto.name.isidentifier() else "NamedTuple"
    if keyword.iskeyword(name):
        name = "NamedTuple"
    # The names are known only here.
    kind = collections.namedtuple(name, names)  # pyright: ignore[reportUntypedNamedTuple]  # the fields are known only here
    return kind(*[decode(p.value) for p in proto.values])


_READ: dict[str, Callable[[Any], Any]] = {
    "none_value": lambda p: None,
    "bool_value": bool,
    "int64_value": int,
    "float64_value": float,
    "string_value": str,
    "tensor_shape_value": lambda p: TensorShape(tensors.shape_of(p)),
    "tensor_dtype_value": tensors.dtype_of,
    "tensor_spec_value": _tensor_spec,
    "type_spec_value": _type_spec,
    "tensor_value": lambda p: from_array(tensors.array_of(p)),
    "numpy_value": tensors.array_of,
    "list_value": lambda p: [decode(v) for v in p.values],
    "tuple_value": lambda p: tuple([decode(v) for v in p.values]),
    "dict_value": lambda p: {k: decode(p.fields[k]) for k in sorted(p.fields)},
    "named_tuple_value": _named_tuple,
}
