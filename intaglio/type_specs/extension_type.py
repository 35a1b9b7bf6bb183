"""`tf.experimental.ExtensionType`: own classes of tensors that functions take and return.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/ExtensionType.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.opdef import raw
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs import registry
from intaglio.type_specs.extension_field import (
    NO_DEFAULT,
    Field,
    ImmutableDict,
    check_annotation,
    fit_spec,
    fit_value,
)
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

_RESERVED = ("Spec", "self")
_PREFIX = "_tf_extension_type"


# The attribute that Keras 2 puts on the results of layers, of whatever class.
_KERAS_MASK = "_keras_mask"


class ExtensionTypeMeta(type):
    """Reads the fields of an extension type, and makes its constructor and its Spec."""

    def __init__(cls, name: str, bases: tuple[type, ...], space: dict[str, Any]) -> None:
        super().__init__(name, bases, space)
        if CompositeTensor in bases:
            return
        for field in inspect.get_annotations(cls):
            if field in _RESERVED or field.startswith(_PREFIX):
                raise ValueError(
                    f"The field annotations for {name} are invalid. Field {field!r} is reserved."
                )
        cls._resolved: tuple[Field, ...] | None = None
        cls._own_init = _has_own_init(cls)
        spec = _make_spec(cls, space)
        if "__name__" in space:  # the class's own name in saved models
            registry.register(f"{space['__name__']}.Spec")(spec)
        try:
            fields_of(cls)
        except NameError:  # a forward reference: resolved when the first value is created
            cls._resolved = None

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if CompositeTensor in cls.__bases__:
            raise AssertionError(
                f"Cannot create an instance of {cls.__name__} because {cls.__name__} is "
                "an abstract base class."
            )
        instance: Any = cls.__new__(cls)  # type: ignore[call-overload]  # its metaclass makes values by `__init__` alone
        state: dict[str, Any] = instance.__dict__
        state["_tf_extension_type_open"] = True
        if cls._own_init:
            cls.__init__(instance, *args, **kwargs)
        else:
            state.update(_bound(signature_of(cls), args, kwargs))
        _complete(instance, state)
        instance.__validate__()
        del state["_tf_extension_type_open"]
        return instance


def _has_own_init(cls: type) -> bool:
    return cls.__init__ is not object.__init__


def fields_of(cls: Any) -> tuple[Field, ...]:
    """The fields of an extension type, those of its bases first.

    Raises TypeError for annotations that no field may have and defaults that do not fit.
    """
    if cls._resolved is not None:
        return cls._resolved
    found: dict[str, Field] = {}
    for base in reversed(cls.__mro__):
        if not isinstance(base, ExtensionTypeMeta) or CompositeTensor in base.__bases__:
            continue
        for name, annotation in _annotations(base).items():
            if typing.get_origin(annotation) is typing.ClassVar:
                continue
            try:
                check_annotation(annotation)
            except TypeError as e:
                raise TypeError(f"In field {name!r}: {e}") from e
            default = base.__dict__.get(name, NO_DEFAULT)
            if default is not NO_DEFAULT:
                fit_value(default, annotation, f"default value for {name}")
            found[name] = Field(name, annotation, default)
    cls._resolved = tuple(found.values())
    return cls._resolved


def _annotations(cls: type) -> dict[str, Any]:
    """The class's own annotations, those written as strings evaluated."""
    module = sys.modules.get(cls.__module__)
    space = {**(vars(module) if module else {}), cls.__name__: cls}
    holder = types.SimpleNamespace(__annotations__=inspect.get_annotations(cls))
    return typing.get_type_hints(holder, space, dict(vars(cls)))


def signature_of(cls: Any, for_spec: bool = False) -> inspect.Signature:
    """How the class, or its Spec, is called."""
    fields = fields_of(cls)
    plain = [f for f in fields if for_spec or f.default is NO_DEFAULT]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(f.name, kind) for f in plain]
    if not for_spec:
        parameters += [
            inspect.Parameter(f.name, kind, default=f.default)
            for f in fields
            if f.default is not NO_DEFAULT
        ]
    return inspect.Signature(parameters)


def _bound(signature: inspect.Signature, args: Any, kwargs: Any) -> dict[str, Any]:
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.arguments


def _complete(instance: Any, state: dict[str, Any]) -> None:
    """Fills in defaults and fits every field to its annotation."""
    fields = fields_of(type(instance))
    for field in fields:
        if field.name not in state and field.default is not NO_DEFAULT:
            state[field.name] = field.default
    missing = {f.name for f in fields if f.name not in state}
    if missing:
        raise ValueError(f"Missing required fields: {missing}")
    for field in fields:
        value = state[field.name]
        state[field.name] = fit_value(value, field.annotation, field.name)


class ExtensionType(CompositeTensor, metaclass=ExtensionTypeMeta):
    """A class of composite values, with fields as in a data class.

    Fields are annotated with tf.Tensor (values are converted), other extension types,
    Python's numbers and strings, tf.DType, tf.TensorShape, `typing.Union`, `typing.Tuple`
    and `typing.Mapping`. Values do not change; `__validate__` may check them. They are
    arguments and results of functions; `Spec` is the class of their types.
    """

    Spec: ClassVar[Any]

    def __validate__(self) -> None:
        """Checks the fields; own classes raise here."""

    @property
    def _type_spec(self) -> Any:
        state: Any = self.__dict__
        found = state.get("_tf_extension_type_spec")
        if found is None:
            found = type(self).Spec.from_value(self)
            state["_tf_extension_type_spec"] = found
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        self._check_open(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._check_open(name)
        object.__delattr__(self, name)

    def _check_open(self, name: str) -> None:
        if "_tf_extension_type_open" not in self.__dict__ and name != _KERAS_MASK:
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of ExtensionType."
            )

    def __repr__(self) -> str:
        fields = ", ".join([f"{k}={v!r}" for k, v in as_dict(self).items()])
        return f"{type(self).__qualname__}({fields})"

    def __eq__(self, other: Any) -> Any:
        if type(self) is not type(other):
            return False
        if self._type_spec != other._type_spec:
            return False
        own = nest.flatten(self, expand_composites=True)
        others = nest.flatten(other, expand_composites=True)
        same = [_all_equal(a, b) for a, b in zip(own, others, strict=True)]
        if not same:
            return True
        return raw.All(raw.Pack(same, axis=0), np.asarray([0], np.int32))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return raw.LogicalNot(same) if isinstance(same, Tensor) else not same

    __hash__ = None  # type: ignore[assignment]  # as Python has it for what compares by value


def _all_equal(one: Any, two: Any) -> Tensor:
    equal = raw.Equal(one, two)
    if equal.dims is None:
        return raw.All(equal, raw.Range(0, raw.Rank(equal), 1))
    return raw.All(equal, np.arange(len(equal.dims), dtype=np.int32))


def as_dict(value: Any) -> dict[str, Any]:
    """The fields of an extension type's value by name.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> list(tf.experimental.extension_type.as_dict(Masked([1, 2], [True, False])))
    ['values', 'mask']
    """
    return {f.name: getattr(value, f.name) for f in fields_of(type(value))}


# -- the spec ------------------------------------------------------------------------


def _make_spec(cls: Any, space: dict[str, Any]) -> type[Any]:
    custom = space.get("Spec")
    if custom is not None and not isinstance(custom, type):
        raise ValueError(f"{cls.__name__}.Spec must be a nested class; got {custom!r}.")
    base: type = getattr(cls, "_spec_base", ExtensionTypeSpec)
    bases = (base,) if custom is None or custom is base else (custom, base)
    cls.Spec = type(
        f"{cls.__name__}.Spec",
        bases,
        {
            "__module__": cls.__module__,
            "__qualname__": f"{cls.__qualname__}.Spec",
            "_value_class": cls,
        },
    )
    return cls.Spec


class ExtensionTypeSpec(TypeSpec):
    """The type of an extension type's values: TypeSpecs of tensors, and all other fields."""

    _value_class: ClassVar[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        cls = self._value_class
        bound = _bound(signature_of(cls, for_spec=True), args, kwargs)
        state: Any = self.__dict__
        for field in fields_of(cls):
            fitted = fit_spec(bound[field.name], field.annotation, field.name)
            state[field.name] = _plain(fitted)

    @property
    def value_type(self) -> Any:
        """The extension type."""
        return self._value_class

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The type of a value."""
        return cls._deserialize(tuple([(k, _spec_of(v)) for k, v in as_dict(value).items()]))

    def _serialize(self) -> tuple[Any, ...]:
        names = [f.name for f in fields_of(self._value_class)]
        return tuple([(name, self.__dict__[name]) for name in names])

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        instance: Any = cls.__new__(cls)
        instance.__dict__.update({name: _plain(value) for name, value in serialization})
        return instance

    def __reduce__(self) -> Any:
        return _rebuilt_spec, (self._value_class, self._serialize())

    def __repr__(self) -> str:
        fields = ", ".join([f"{k}={v!r}" for k, v in self._serialize()])
        return f"{type(self).__qualname__}({fields})"

    def cast(self, value: Any, cast_context: Any = None) -> Any:
        """The value if it has this type. Raises TypeError that names the tensor at fault."""
        if type(value) is self._value_class and len(value._type_spec.flatten()) == len(
            self.flatten()
        ):
            parts = value._type_spec._to_components(value)
            for spec, part in zip(self._component_specs, parts, strict=True):
                spec.cast(part, cast_context)
        return super().cast(value, cast_context)

    @property
    def _component_specs(self) -> Any:
        leaves = nest.flatten([v for _, v in self._serialize()])
        return tuple([s for s in leaves if isinstance(s, TypeSpec)])

    def _to_components(self, value: Any) -> Any:
        found: list[Any] = []
        for name, spec in self._serialize():
            specs, parts = nest.flatten(spec), nest.flatten(getattr(value, name))
            for one, part in zip(specs, parts, strict=True):
                if isinstance(one, TypeSpec):
                    found.append(part)
        return tuple(found)

    def _from_components(self, components: Any) -> Any:
        parts = iter(nest.flatten(components))
        instance = self._value_class.__new__(self._value_class)
        for name, spec in self._serialize():
            instance.__dict__[name] = _frozen(
                nest.map_structure(lambda s: next(parts) if isinstance(s, TypeSpec) else s, spec)
            )
        return instance


def _rebuilt_spec(cls: Any, serialization: tuple[Any, ...]) -> Any:
    return cls.Spec._deserialize(serialization)


def _spec_of(value: Any) -> Any:
    """A field's content with tensors replaced by TypeSpecs."""

    def leaf(item: Any) -> Any:
        if isinstance(item, Tensor):
            return TensorSpec(item.dims, item.dtype)
        return item._type_spec if isinstance(item, CompositeTensor) else item

    return nest.map_structure(leaf, value)


def _plain(value: Any) -> Any:
    """With plain dicts, which specs compare and print."""
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return tuple([_plain(v) for v in value]) if type(value) is tuple else value


def _frozen(value: Any) -> Any:
    """With mappings that do not change, which values hold."""
    if isinstance(value, Mapping):
        return ImmutableDict([(k, _frozen(v)) for k, v in value.items()])
    return tuple([_frozen(v) for v in value]) if type(value) is tuple else value


__all__ = ["ExtensionType", "ExtensionTypeSpec", "as_dict", "fields_of"]
