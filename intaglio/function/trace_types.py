"""The trace types of Python values, and how a value's trace type is found.

Follows https://www.tensorflow.org/guide/function, "Rules of tracing": tensors by dtype and
shape, Python values by value, containers by their elements, other objects by equality for as
long as they live, and as a class defines it with `__tf_tracing_type__`.
"""

from __future__ import annotations

import math
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from intaglio.base.dtypes import from_numpy
from intaglio.base.options import OPTIONS
from intaglio.base.records import fields_of
from intaglio.ir.graph import SymbolicTensor
from intaglio.runtime.eager import EagerTensor
from intaglio.type_specs.trace_type import PlaceholderContext, TraceType, Tracing
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec, spec_of_array

_LITERALS = frozenset([int, float, bool, str, bytes, complex, type(None)])


class Literal(TraceType):
    """A Python value that is part of the trace: 3 is not 3.0 and not True."""

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = (type(value), _exact(value))
        hash(self._key)

    def is_subtype_of(self, other: TraceType) -> bool:
        if self == other:
            return True
        admits = getattr(other, "admits", None)  # a number that is an input
        return admits is not None and admits(self.value)

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        return self.value

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        try:
            if self.value is value or bool(self.value == value):
                return self.value
        except (TypeError, ValueError):  # no truth in what the comparison returns
            pass
        raise ValueError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"Literal[{self.value!r}]"


def _exact(value: Any) -> Any:
    """A key that distinguishes -0.0 from 0.0 and equals itself for nan."""
    if type(value) is float and (value == 0.0 or math.isnan(value)):
        return value.hex()
    return repr(value) if type(value) is complex else value


class Weakref(TraceType):
    """An object that tracing holds weakly: equal objects share traces while they live."""

    __slots__ = ("_hash", "_kind", "_ref", "by_identity")

    def __init__(self, ref: Any) -> None:
        self._ref = ref
        value = ref()
        self._hash = hash(value)
        # Whether the object is compared by identity. The hash of others may change.
        kind = type(value)
        # Describes the object once it is collected: its class, or the code of a function.
        self._kind = value.__code__ if kind is FunctionType else kind.__name__
        self.by_identity = kind.__eq__ is object.__eq__ and kind.__hash__ is object.__hash__

    def is_subtype_of(self, other: TraceType) -> bool:
        return self == other

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TraceType | None:
        return self if all(self == other for other in others) else None

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        return self._ref()

    @property
    def alive(self) -> bool:
        """True while the object exists."""
        return self._ref() is not None

    @property
    def is_function(self) -> bool:
        """True for a Python function."""
        return not isinstance(self._kind, str)

    @property
    def described(self) -> str:
        """`a Config`, or `<lambda> (model.py:12)`, also when the object is gone."""
        if isinstance(self._kind, str):
            return f"{'an' if self._kind[:1] in 'AEIOUaeiou' else 'a'} {self._kind}"
        code = self._kind
        return f"{code.co_qualname} ({os.path.basename(code.co_filename)}:{code.co_firstlineno})"

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        own = self._ref()
        if value is own or value == own:
            return own
        raise ValueError(f"Can not cast {value!r} to {self!r}")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Weakref):
            return False
        own, others = self._ref(), other._ref()
        if own is None or others is None:
            return self._ref is other._ref
        return own is others or (type(own) is type(others) and bool(own == others))

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Weakref[{self._ref!r}])"


class Container(TraceType):
    """A structure of trace types: `parts` in the order in which tensors are passed."""

    __slots__ = ("_hash", "parts")

    def __init__(self, parts: Sequence[TraceType]) -> None:
        self.parts = tuple(parts)
        self._hash: int | None = None

    def _alike(self, other: Any) -> bool:
        """True if the structures are the same, whatever the parts."""
        return type(self) is type(other) and len(self.parts) == len(other.parts)

    def _with(self, parts: Sequence[TraceType]) -> TraceType:
        return type(self)(parts)

    def _identity(self) -> Any:
        """What distinguishes structures of one class besides their components."""
        return None

    def _take(self, value: Any) -> Sequence[Any]:
        """The parts of a value of this structure, in the order of `parts`."""
        raise NotImplementedError

    def _make(self, parts: Sequence[Any]) -> Any:
        """The value with these parts."""
        raise NotImplementedError

    def is_subtype_of(self, other: Any) -> bool:
        return self._alike(other) and all(
            a.is_subtype_of(b) for a, b in zip(self.parts, other.parts, strict=True)
        )

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TraceType | None:
        if not all(self._alike(other) for other in others):
            return None
        found: list[TraceType] = []
        for index, part in enumerate(self.parts):
            joined = part.most_specific_common_supertype([o.parts[index] for o in others])
            if joined is None:
                return None
            found.append(joined)
        return self._with(found)

    def _placeholder_order(self) -> Sequence[int]:
        """The order in which placeholders are created and named."""
        return range(len(self.parts))

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        placeholders: list[Any] = [None] * len(self.parts)
        for i in self._placeholder_order():
            placeholders[i] = self.parts[i].placeholder_value(placeholder_context)
        if any(m is NotImplemented for m in placeholders):
            return NotImplemented
        return self._make(placeholders)

    def to_tensors(self, value: Any) -> list[Any]:
        return [
            t
            for part, item in zip(self.parts, self._take(value), strict=True)
            for t in part.to_tensors(item)
        ]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return self._make([part.from_tensors(tensors) for part in self.parts])

    def flatten(self) -> list[TraceType]:
        return [t for part in self.parts for t in part.flatten()]

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        items = self._take(value)
        if len(items) != len(self.parts):
            raise ValueError(
                f"Expected {value!r} to have {len(self.parts)} elements, for {self!r}."
            )
        pairs = zip(self.parts, items, strict=True)
        return self._make([cast_for(p, v, cast_context) for p, v in pairs])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, Container) and self._alike(other) and self.parts == other.parts

    def __hash__(self) -> int:
        found = self._hash
        if found is None:
            found = self._hash = hash((type(self), self._identity(), self.parts))
        return found


def cast_for(kind: TraceType, value: Any, context: Tracing | None) -> Any:
    """A value as one of the type; in structures for a signature, a spec that is a subtype stays.

    Raises TypeError or ValueError for what cannot be cast.
    """
    if isinstance(kind, Container):
        return kind.cast(value, context)
    if context is None or not context.for_signature or not isinstance(value, TypeSpec):
        return kind.cast(value)
    if not value.is_subtype_of(kind):
        raise TypeError(f"Can not cast {value!r} to {kind!r}")
    return value


class List(Container):
    """A list, by its elements in order."""

    __slots__ = ()

    def _take(self, value: Any) -> Sequence[Any]:
        if not isinstance(value, list):
            raise ValueError(f"Can not cast {value!r} to list type.")
        return value

    def _make(self, parts: Sequence[Any]) -> Any:
        return list(parts)

    def __repr__(self) -> str:
        return f"List[{', '.join(map(repr, self.parts))}]"


class Tuple(Container):
    """A tuple, by its elements in order."""

    __slots__ = ()

    def _take(self, value: Any) -> Sequence[Any]:
        if not isinstance(value, tuple):
            raise ValueError(f"Can not cast {value!r} to tuple type.")
        return value

    def _make(self, parts: Sequence[Any]) -> Any:
        return tuple(parts)

    def __repr__(self) -> str:
        return f"Tuple[{', '.join(map(repr, self.parts))}]"


class Fields(Container):
    """An object of named fields: named tuples and attrs classes."""

    __slots__ = ("kind", "names")

    def __init__(self, kind: Any, names: Sequence[str], parts: Sequence[TraceType]) -> None:
        super().__init__(parts)
        self.kind = kind
        self.names = tuple(names)

    def _identity(self) -> Any:
        return (self.kind.__name__, self.names)

    def _alike(self, other: Any) -> bool:
        return type(self) is type(other) and self._identity() == other._identity()

    def _with(self, parts: Sequence[TraceType]) -> TraceType:
        return type(self)(self.kind, self.names, parts)

    def _take(self, value: Any) -> Sequence[Any]:
        try:
            return [getattr(value, name) for name in self.names]
        except AttributeError:
            raise ValueError(f"Can not cast {value!r} to {self!r}") from None

    def _make(self, parts: Sequence[Any]) -> Any:
        return self.kind(*parts)

    def __repr__(self) -> str:
        fields = ", ".join([f"[{n!r}, {p!r}]" for n, p in zip(self.names, self.parts, strict=True)])
        return f"{self.kind.__name__}[{fields}]"


class Record(Fields):
    """An instance of a data class by its fields, which are all of its state."""

    __slots__ = ()

    def _make(self, parts: Sequence[Any]) -> Any:
        new = object.__new__(self.kind)
        for name, part in zip(self.names, parts, strict=True):
            object.__setattr__(new, name, part)
        return new


class Dict(Container):
    """A mapping, by its keys (in whatever order) and values."""

    __slots__ = ("keys", "kind", "order")

    def __init__(
        self,
        keys: Sequence[Any],
        parts: Sequence[TraceType],
        order: Sequence[Any] | None = None,
        kind: Callable[[dict[Any, Any]], Any] = dict,
    ) -> None:
        """`keys` sorted as `parts`; `order` as the mapping has them."""
        super().__init__(parts)
        self.keys = tuple(keys)
        self.order = self.keys if order is None else tuple(order)
        self.kind = kind

    def _identity(self) -> Any:
        return frozenset(self.keys)

    def _alike(self, other: Any) -> bool:
        return type(self) is type(other) and self.keys == other.keys

    def _with(self, parts: Sequence[TraceType]) -> TraceType:
        return Dict(self.keys, parts, self.order, self.kind)

    def _placeholder_order(self) -> Sequence[int]:
        return [self.keys.index(k) for k in self.order]

    def _take(self, value: Any) -> Sequence[Any]:
        if not isinstance(value, Mapping):
            raise ValueError(f"Can not cast {value!r} to a Dict type.")
        if set(value) != set(self.keys):
            raise ValueError(f"{value!r} has different keys with the TraceType {self!r}.")
        return [value[k] for k in self.keys]

    def _make(self, parts: Sequence[Any]) -> Any:
        by_key = dict(zip(self.keys, parts, strict=True))
        return self.kind({k: by_key[k] for k in self.order})

    def __repr__(self) -> str:
        by_key = dict(zip(self.keys, self.parts, strict=True))
        return f"Dict[{', '.join([f'[{k!r}, {by_key[k]!r}]' for k in self.order])}]"


class CustomNest(Container):
    """An object with `__tf_flatten__` and `__tf_unflatten__`: its metadata and components."""

    __slots__ = ("kind", "metadata")

    def __init__(self, kind: Any, metadata: Any, parts: Sequence[TraceType]) -> None:
        super().__init__(parts)
        self.kind = kind
        self.metadata = metadata

    def _identity(self) -> Any:
        return self.kind

    def _alike(self, other: TraceType) -> bool:
        return (
            isinstance(other, CustomNest)
            and self.kind is other.kind
            and self.metadata == other.metadata
            and len(self.parts) == len(other.parts)
        )

    def _with(self, parts: Sequence[TraceType]) -> TraceType:
        return CustomNest(self.kind, self.metadata, parts)

    def _take(self, value: Any) -> Sequence[Any]:
        if type(value) is not self.kind:
            raise TypeError(f"{value!r} is not an instance of {self.kind!r}")
        return tuple(value.__tf_flatten__()[1])

    def _make(self, parts: Sequence[Any]) -> Any:
        return self.kind.__tf_unflatten__(self.metadata, tuple(parts))

    def __repr__(self) -> str:
        return f"CustomNestTraceType [metadata={self.metadata!r}, components={self.parts!r}]"


# -- the types of values -----------------------------------------------------------------


def from_value(value: Any, context: Tracing) -> TraceType:
    """The trace type of an argument.

    Raises TypeError for an object that is neither hashable nor defines its trace type itself.
    """
    kind = type(value)
    if kind is EagerTensor:
        return spec_of_array(value._array)
    if kind in _LITERALS:
        return Literal(value)
    if kind is SymbolicTensor:
        return TensorSpec(value.dims, value.dtype)
    if isinstance(value, TypeSpec) and context.for_signature:
        return value
    if hasattr(kind, "__tf_tracing_type__"):
        return _declared(value, context)
    if isinstance(value, TraceType) and context.for_signature:
        return value
    return _of_structure(value, kind, context)


def _declared(value: Any, context: Tracing) -> TraceType:
    found = value.__tf_tracing_type__(context)
    if not isinstance(found, TraceType):
        raise TypeError(
            f"Expected an instance of TraceType for Tracing Protocol call to {value!r} but got {found!r}"
        )
    return found


def _of_structure(value: Any, kind: type, context: Tracing) -> TraceType:
    if isinstance(value, list):
        return List([from_value(v, context) for v in value])
    if isinstance(value, tuple):
        parts = [from_value(v, context) for v in value]
        fields = getattr(kind, "_fields", None)
        return Tuple(parts) if fields is None else Fields(kind, fields, parts)
    if isinstance(value, Mapping):
        return _of_mapping(value, context)
    if hasattr(kind, "__attrs_attrs__"):
        names = fields_of(value) or ()
        parts = [from_value(getattr(value, n), context) for n in names]
        return Fields(kind, names, parts)
    if isinstance(value, (np.ndarray, np.generic)):
        return spec_of_array(value)
    if hasattr(kind, "__tf_flatten__"):
        metadata, components = value.__tf_flatten__()
        return CustomNest(kind, metadata, [from_value(c, context) for c in components])
    spec = getattr(value, "_type_spec", None) if hasattr(kind, "_type_spec") else None
    if isinstance(spec, TypeSpec):
        return spec
    if hasattr(kind, "__array__") and hasattr(value, "dtype"):
        array = np.asarray(value)
        return TensorSpec(array.shape, from_numpy(array.dtype))
    if OPTIONS.structural_objects:
        found = _by_contents(value, kind, context)
        if found is not None:
            return found
    return _generic(value, context)


def types_of(names: Sequence[str], values: Sequence[Any], context: Tracing) -> list[TraceType]:
    """The types of arguments. Raises TypeError, with the name of the parameter, for what has none."""
    found: list[TraceType] = []
    try:
        for value in values:
            found.append(from_value(value, context))
    except TypeError as e:
        e.add_note(
            f"It is, or is part of, the argument {names[len(found)]!r}. Pass the tensors that it holds; or give its "
            "class a hash, as a data class has with frozen=True, or with eq=False."
        )
        raise
    return found


def _by_contents(value: Any, kind: type, context: Tracing) -> TraceType | None:
    """The type of a frozen set, or of a data class whose instances do not change or have no hash."""
    if kind is frozenset:
        return Literal(value)
    names = fields_of(value)
    if names is None:
        return None
    return Record(kind, names, [from_value(getattr(value, n), context) for n in names])


def _of_mapping(value: Mapping[Any, Any], context: Tracing) -> TraceType:
    order = list(value)
    try:
        keys = sorted(order)
    except TypeError:
        keys = sorted(order, key=lambda k: (type(k).__name__, str(k)))
    parts = {k: from_value(value[k], context) for k in order}
    return Dict(keys, [parts[k] for k in keys], order, _mapping_maker(value))


def _mapping_maker(value: Mapping[Any, Any]) -> Callable[[dict[Any, Any]], Any]:
    kind = type(value)
    if kind is dict or not isinstance(value, dict):
        return dict
    factory = getattr(value, "default_factory", None)
    if hasattr(value, "default_factory"):
        return lambda items: kind(factory, items)  # type: ignore[call-arg]  # a defaultdict takes them
    return kind


def _generic(value: Any, context: Tracing) -> TraceType:
    try:
        try:
            return Weakref(weakref.ref(value, context.deleted))
        except TypeError:
            hash(value)
            return Literal(value)
    except TypeError as e:
        raise TypeError(
            f"Could not generate a generic TraceType for {value!r}."
            "Please verify that it is immutable/hashable. Otherwise, consider implementing the Tracing Protocol for it."
        ) from e


__all__ = [
    "Container",
    "CustomNest",
    "Dict",
    "Fields",
    "List",
    "Literal",
    "PlaceholderContext",
    "Record",
    "Tuple",
    "Weakref",
    "from_value",
    "types_of",
]
