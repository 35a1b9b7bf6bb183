"""`TypeSpec` and `TensorSpec`: the types of tensors and of composite values.

Follows https://www.tensorflow.org/api_docs/python/tf/TypeSpec and
https://www.tensorflow.org/api_docs/python/tf/TensorSpec.

A composite value (IndexedSlices, ExtensionType, ...) has a property `_type_spec`; its spec
defines `value_type`, `_serialize`, `_component_specs`, `_to_components` and
`_from_components`. `intaglio.base.nest` with `expand_composites=True`, tracing, gradients and
`tf.data` all go by these five.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.base import nest, shapes
from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import DType, as_dtype, float32, from_numpy
from intaglio.base.messages import Written
from intaglio.base.shapes import Dims, TensorShape, as_dims
from intaglio.opdef import convert
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.trace_type import PlaceholderContext, TraceType


class TypeSpec(TraceType, metaclass=abc.ABCMeta):
    """The type of a composite value: its static part."""

    __slots__ = ("_cached_hash",)

    @property
    @abc.abstractmethod
    def value_type(self) -> Any:
        """The Python class of the values."""

    @abc.abstractmethod
    def _serialize(self) -> tuple[Any, ...]:
        """The constructor's arguments."""

    @property
    @abc.abstractmethod
    def _component_specs(self) -> Any:
        """A nested structure of the components' specs."""

    @abc.abstractmethod
    def _to_components(self, value: Any) -> Any:
        """The components of a value, in the structure of `_component_specs`."""

    @abc.abstractmethod
    def _from_components(self, components: Any) -> Any:
        """The value with these components."""

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> TypeSpec:
        return cls(*serialization)

    # -- compatibility ----------------------------------------------------------------

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """True if a value, or every value of a spec, could have this type."""
        if not isinstance(spec_or_value, TypeSpec):
            spec_or_value = type_spec_of(spec_or_value)
        if type(self) is not type(spec_or_value):
            return False
        return _compatible(self._serialize(), spec_or_value._serialize())

    @staticmethod
    def __is_compatible(a: Any, b: Any) -> bool:
        """True if serialized parts could be of one type: libraries' own specs ask under this name."""
        return _compatible(a, b)

    def is_subtype_of(self, other: Any) -> bool:
        """True if every value of this type is one of `other`."""
        if type(self) is not type(other):
            return False
        return _subtype(self._serialize(), other._serialize())

    def most_specific_common_supertype(self, others: Sequence[Any]) -> TypeSpec | None:
        """The most specific spec that this and the others are subtypes of, or None."""
        if any(type(self) is not type(other) for other in others):
            return None
        parts = self._serialize()
        for other in others:
            joined = _join(parts, other._serialize())
            if joined is None:
                return None
            parts = joined[0]
        return self._deserialize(parts)

    def most_specific_compatible_type(self, other: TypeSpec) -> TypeSpec:
        """The most specific spec of both. Raises ValueError if there is none."""
        result = self.most_specific_common_supertype([other])
        if result is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return result

    def _with_tensor_ranks_only(self) -> Any:
        """The spec with all sizes of dimensions unknown, in those inside too."""

        def relaxed(part: Any) -> Any:
            if isinstance(part, TypeSpec):
                return part._with_tensor_ranks_only()
            known = isinstance(part, TensorShape) and part.rank is not None
            return TensorShape([None] * len(part)) if known else part

        return self._deserialize(nest.map_structure(relaxed, self._serialize()))

    def _without_tensor_names(self) -> Any:
        """The spec with no names of tensors, in those inside neither."""

        def nameless(part: Any) -> Any:
            if type(part) is TensorSpec:
                return TensorSpec(part._dims, part._dtype)
            return part._without_tensor_names() if isinstance(part, TypeSpec) else part

        if type(self) is TensorSpec:
            return nameless(self)
        return self._deserialize(nest.map_structure(nameless, self._serialize()))

    def __eq__(self, other: Any) -> bool:
        if self is other:
            return True
        return type(self) is type(other) and _same(self._serialize(), other._serialize())

    def __hash__(self) -> int:
        try:
            return self._cached_hash
        except AttributeError:
            found = self._cached_hash = hash(self.__get_cmp_key())
            return found

    def __get_cmp_key(self) -> Any:
        return type(self), self.__make_cmp_key(self._serialize())

    def __make_cmp_key(self, value: Any) -> Any:
        """A hashable form of what `_serialize` returns; specs of libraries call it, as they do TensorFlow's."""
        return _hashable(value)

    def __reduce__(self) -> Any:
        return type(self), self._serialize()

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self._serialize()!r}"

    # -- tracing ----------------------------------------------------------------------

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        """A value of placeholders."""
        components = nest.map_structure(
            lambda spec: spec.placeholder_value(placeholder_context), self._component_specs
        )
        return self._from_components(components)

    def to_tensors(self, value: Any) -> list[Any]:
        """The value's tensors, in the order of `flatten`."""
        values = nest.flatten_up_to(self._component_specs, self._to_components(value))
        specs = nest.flatten(self._component_specs)
        return [t for s, v in zip(specs, values, strict=True) for t in s.to_tensors(v)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        """The value rebuilt from the next tensors."""
        components = nest.map_structure(
            lambda spec: spec.from_tensors(tensors), self._component_specs
        )
        return self._from_components(components)

    def flatten(self) -> list[TraceType]:
        """The TensorSpecs behind this spec."""
        return [t for spec in nest.flatten(self._component_specs) for t in spec.flatten()]

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """The value if it has this type, with its components cast. Raises TypeError."""
        own = getattr(value, "_type_spec", None)
        if own is None or not own.is_subtype_of(self):
            raise TypeError(f"Can not cast {value!r} to {self!r}")
        return value

    # -- as elements of datasets --------------------------------------------------------
    # One tensor for each part that is cut, stacked and kept on its own; under TensorFlow's
    # names, which libraries use.

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        """The specs of the tensors that an element of a dataset consists of."""
        return list(self.flatten())

    def _to_tensor_list(self, value: Any) -> list[Any]:
        """The tensors of a value that is an element."""
        return self.to_tensors(value)

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        """Tensors whose rows are the tensors of elements: those of the value's rows."""
        raise TypeError(f"Values of type {self!r} cannot be taken apart into elements.")

    def _from_tensor_list(self, tensors: Sequence[Any]) -> Any:
        """The value of an element's tensors."""
        return self.from_tensors(iter(tensors))

    def _from_compatible_tensor_list(self, tensors: Sequence[Any]) -> Any:
        """The value of an element's tensors; the two methods are the same here."""
        return self._from_tensor_list(tensors)


class BatchableTypeSpec(TypeSpec):
    """A TypeSpec whose values can be stacked into batches and taken apart again."""

    __slots__ = ()

    @abc.abstractmethod
    def _batch(self, batch_size: int | None) -> TypeSpec:
        """The spec of a batch of values."""

    @abc.abstractmethod
    def _unbatch(self) -> TypeSpec:
        """The spec of one value of the batch."""

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        return self._to_tensor_list(value)


class TensorSpec(BatchableTypeSpec, Written):
    """The shape and dtype of a tensor, and the name of its placeholder.

    `shape` is anything that tf.TensorShape takes (None: any rank). Names take no part in
    equality; two specs of different names are different all the same, as in TensorFlow.

    >>> tf.TensorSpec([None, 3], tf.float32).is_compatible_with(tf.zeros([5, 3]))
    True
    """

    __slots__ = ("_dims", "_dtype", "_name", "content")

    def __init__(self, shape: Any, dtype: Any = float32, name: str | None = None) -> None:
        self._dims: Dims = as_dims(shape)
        self._dtype: DType = as_dtype(dtype)
        self._name = name
        # What is known of a resource's content (Spec), for handles that graphs receive.
        self.content: Any = None

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> TensorSpec:
        """A spec of the same shape and dtype, under `name` if one is given."""
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Any, name: str | None = None) -> TensorSpec:
        """The spec of a tensor; a symbolic one lends its name.

        Raises ValueError for what is no tensor.
        """
        if isinstance(tensor, TensorInParts) and hasattr(tensor, "__tf_tensor__"):
            tensor = convert.to_tensor(tensor)  # one in another form, as a weak one is
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, got {type(tensor)}.")
        node = getattr(tensor, "node", None)
        return cls(tensor.dims, tensor.dtype, name or (node.name if node else None))

    @property
    def shape(self) -> TensorShape:
        """The shape, which may be partly unknown."""
        return TensorShape(self._dims)

    @property
    def _shape(self) -> TensorShape:
        """The shape. Keras 2 sets it when it learns more of a symbolic tensor."""
        return TensorShape(self._dims)

    @_shape.setter
    def _shape(self, shape: Any) -> None:
        self._dims = as_dims(shape)
        if hasattr(self, "_cached_hash"):
            del self._cached_hash

    @property
    def dims(self) -> Dims:
        """The shape as a tuple."""
        return self._dims

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name of the placeholder, or None."""
        return self._name

    @property
    def value_type(self) -> Any:
        return Tensor

    def is_compatible_with(  # pyright: ignore[reportIncompatibleMethodOverride]  # TensorFlow's own name for its argument
        self, spec_or_tensor: Any
    ) -> bool:
        """True if dtypes agree and the shapes could."""
        dtype = getattr(spec_or_tensor, "dtype", None)
        if dtype is None or not isinstance(spec_or_tensor, (Tensor, TensorSpec)):
            try:
                spec_or_tensor = convert.to_tensor(spec_or_tensor)
            except (TypeError, ValueError):
                return False
        return self._dtype is spec_or_tensor.dtype and shapes.compatible(
            self._dims, spec_or_tensor.dims
        )

    def is_subtype_of(self, other: TraceType) -> bool:
        return (
            isinstance(other, TensorSpec)
            and type(other) is not BoundedTensorSpec
            and (not self._name or self._name == other._name)
            and self._dtype is other._dtype
            and shapes.is_subshape(self._dims, other._dims)
        )

    def most_specific_common_supertype(self, others: Sequence[TraceType]) -> TensorSpec | None:
        dims, name = self._dims, self._name
        for other in others:
            if not isinstance(other, TensorSpec) or other._dtype is not self._dtype:
                return None
            dims = shapes.join(dims, other._dims)
            name = name if other._name == name else None
        return TensorSpec(dims, self._dtype, name)

    def __eq__(self, other: Any) -> bool:
        return self is other or (
            type(self) is type(other)
            and self._dtype is other._dtype
            and self._dims == other._dims
            and self._name == other._name
        )

    def __hash__(self) -> int:
        try:
            return self._cached_hash
        except AttributeError:
            found = hash((self._dims, self._dtype.as_datatype_enum))
            self._cached_hash = found
            return found

    def __repr__(self) -> str:
        return f"TensorSpec(shape={shapes.text(self._dims)}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> Any:
        return TensorSpec, (self._dims, self._dtype, self._name)

    def _serialize(self) -> tuple[Any, ...]:
        return (self.shape, self._dtype, self._name)

    @property
    def _component_specs(self) -> Any:
        return self

    def _to_components(self, value: Any) -> Any:
        return convert.to_tensor(value, self._dtype)

    def _from_components(self, components: Any) -> Any:
        return components

    def _batch(self, batch_size: int | None) -> TensorSpec:
        dims = None if self._dims is None else (batch_size, *self._dims)
        return TensorSpec(dims, self._dtype)

    def _unbatch(self) -> TensorSpec:
        if self._dims == ():
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        return TensorSpec(None if self._dims is None else self._dims[1:], self._dtype)

    def placeholder_value(self, placeholder_context: Any = None) -> Any:
        return placeholder_context.placeholder(self)

    def to_tensors(self, value: Any) -> list[Any]:
        return [value if isinstance(value, Tensor) else self.cast(value)]

    def from_tensors(self, tensors: Iterator[Any]) -> Any:
        return next(tensors)

    def flatten(self) -> list[TraceType]:
        return [self]

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """`value` as a tensor of this spec. Raises TypeError or ValueError if it cannot be one."""
        if not isinstance(value, Tensor):
            value = convert.to_tensor(value, self._dtype)
        if value.dtype is not self._dtype or not shapes.is_subshape(value.dims, self._dims):
            raise TypeError(f"Can not cast {TensorSpec(value.dims, value.dtype)!r} to {self!r}")
        return value

    def as_inference_spec(self) -> Spec:
        """The spec of a placeholder for inference."""
        return Spec(self._dtype, self._dims, self.content)


# A cache of arguments' specs by shape and dtype; emptied when it grows large.
_interned: dict[Any, TensorSpec] = {}
_MAX_INTERNED_SPECS = 4096


def spec_of_array(array: Any) -> TensorSpec:
    """The nameless spec of an array, or of the object behind a resource."""
    key = (array.shape, array.dtype)
    found = _interned.get(key)
    if found is None:
        if len(_interned) >= _MAX_INTERNED_SPECS:
            _interned.clear()
        found = _interned[key] = TensorSpec(array.shape, from_numpy(array.dtype))
    return found


class BoundedTensorSpec(TensorSpec):
    """A TensorSpec with the least and greatest values that elements may have."""

    __slots__ = ("_maximum", "_minimum")

    def __init__(
        self, shape: Any, dtype: Any, minimum: Any, maximum: Any, name: str | None = None
    ) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None:
            raise ValueError("`minimum` can not be None.")
        if maximum is None:
            raise ValueError("`maximum` can not be None.")
        numpy = self._dtype.numpy
        self._minimum = np.array(minimum, dtype=numpy)
        self._maximum = np.array(maximum, dtype=numpy)
        for bound in (self._minimum, self._maximum):
            bound.setflags(write=False)

    @property
    def minimum(self) -> Any:
        """The least values, broadcastable to the shape."""
        return self._minimum

    @property
    def maximum(self) -> Any:
        """The greatest values, broadcastable to the shape."""
        return self._maximum

    @classmethod
    def from_spec(cls, spec: Any, name: str | None = None) -> BoundedTensorSpec:
        """A spec of the same bounds; without any, the limits of the dtype."""
        dtype = as_dtype(spec.dtype)
        return cls(
            spec.shape,
            dtype,
            getattr(spec, "minimum", dtype.min),
            getattr(spec, "maximum", dtype.max),
            name or spec.name,
        )

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={shapes.text(self._dims)}, dtype={self._dtype!r}, name={self._name!r}, "
            f"minimum={self._minimum!r}, maximum={self._maximum!r})"
        )

    def __eq__(self, other: Any) -> bool:
        return (
            TensorSpec.__eq__(self, other)
            and np.allclose(self._minimum, other._minimum)
            and np.allclose(self._maximum, other._maximum)
        )

    def __hash__(self) -> int:
        return TensorSpec.__hash__(self)

    def __reduce__(self) -> Any:
        return BoundedTensorSpec, (
            self._dims,
            self._dtype,
            self._minimum,
            self._maximum,
            self._name,
        )

    def _serialize(self) -> tuple[Any, ...]:
        return (self.shape, self._dtype, self._minimum, self._maximum, self._name)


# What `register_type_spec_from_value_converter` was called with: class, function, whether subclasses too.
_CONVERTERS: list[tuple[type, Callable[[Any], Any], bool]] = []


def register_type_spec_from_value_converter(
    type_object: type, converter_fn: Callable[[Any], Any], allow_subclass: bool = False
) -> None:
    """From now on `converter_fn(value)` is the spec of values of the class, and of its subclasses if wanted."""
    _CONVERTERS.append((type_object, converter_fn, allow_subclass))


def type_spec_of(value: Any) -> Any:
    """The spec of a tensor, composite value or anything that becomes a tensor.

    Raises TypeError for anything else.

    >>> tf.type_spec_from_value(tf.constant([1, 2]))
    TensorSpec(shape=(2,), dtype=tf.int32, name=None)
    """
    if isinstance(value, Tensor):
        return TensorSpec(value.dims, value.dtype)
    spec = getattr(value, "_type_spec", None)
    if isinstance(spec, TypeSpec):
        return spec
    if isinstance(value, TypeSpec):
        return value
    for kind, spec_from, of_subclasses in reversed(_CONVERTERS):
        if type(value) is kind or (of_subclasses and isinstance(value, kind)):
            return spec_from(value)
    try:
        tensor = convert.to_tensor(value)
    except (TypeError, ValueError) as e:
        raise TypeError(
            f"Could not build a TypeSpec for {value!r} of unsupported type {type(value)!r}."
        ) from e
    return TensorSpec(tensor.dims, tensor.dtype)


def dtype_only(dtype: DType) -> TensorSpec:
    """The spec of tensors of any shape."""
    return TensorSpec(None, dtype)


# -- comparing what _serialize gives ---------------------------------------------------


def _pairs(a: Any, b: Any) -> list[tuple[Any, Any]] | None:
    """The elements of two containers of one structure side by side; None if they differ."""
    if isinstance(a, dict):
        if not isinstance(b, dict) or a.keys() != b.keys():
            return None
        return [(a[k], b[k]) for k in a]
    if type(a) is not type(b) or len(a) != len(b):
        return None
    return list(zip(a, b, strict=True))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        return pairs is not None and all(_same(x, y) for x, y in pairs)
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return bool(np.array_equal(a, b))
    return type(a) is type(b) and bool(a == b)


def _hashable(value: Any) -> Any:
    if isinstance(value, dict):  # in no order: equal dicts may have different ones
        return frozenset([(k, _hashable(v)) for k, v in value.items()])
    if isinstance(value, (list, tuple)):
        return tuple([_hashable(v) for v in value])
    if isinstance(value, np.ndarray):
        return (value.shape, value.tobytes())
    return value


def _compatible(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        return pairs is not None and all(_compatible(x, y) for x, y in pairs)
    if isinstance(a, (TensorShape, TypeSpec, DType)):
        return type(a) is type(b) and a.is_compatible_with(b)
    return _same(a, b)


def _subtype(a: Any, b: Any) -> bool:
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        return pairs is not None and all(_subtype(x, y) for x, y in pairs)
    if isinstance(a, (TensorShape, TraceType)):
        return type(a) is type(b) and a.is_subtype_of(b)
    return _same(a, b)


def _join(a: Any, b: Any) -> tuple[Any] | None:
    """The common supertype in a tuple, or None if there is none."""
    if isinstance(a, (list, tuple, dict)):
        pairs = _pairs(a, b)
        joined = None if pairs is None else [_join(x, y) for x, y in pairs]
        if joined is None or None in joined:
            return None
        items = [j[0] for j in joined if j is not None]
        if isinstance(a, dict):
            return (type(a)(zip(a, items, strict=True)),)
        return (type(a)(*items) if hasattr(a, "_fields") else type(a)(items),)
    if isinstance(a, (TensorShape, TraceType)):
        if type(a) is not type(b):
            return None
        found = a.most_specific_common_supertype([b])
        return None if found is None else (found,)
    return (a,) if _same(a, b) else None


__all__ = [
    "BatchableTypeSpec",
    "BoundedTensorSpec",
    "PlaceholderContext",
    "TensorSpec",
    "TypeSpec",
    "dtype_only",
    "spec_of_array",
    "type_spec_of",
]
