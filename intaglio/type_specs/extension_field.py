"""The fields of extension types: which annotations there are, and what values fit them.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/ExtensionType.
"""

from __future__ import annotations

import collections.abc
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

PLAIN = (int, float, str, bytes, bool, type(None))
NO_DEFAULT: Any = type("NoDefault", (), {"__repr__": lambda self: "<no default>"})()


class Field(NamedTuple):
    """A field: its name, its annotation, and its default if it has one."""

    name: str
    annotation: Any
    default: Any = NO_DEFAULT


class ImmutableDict(Mapping[Any, Any]):
    """A mapping that does not change: what fields hold for `typing.Mapping`."""

    __slots__ = ("_items",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._items = dict(*args, **kwargs)

    def __getitem__(self, key: Any) -> Any:
        return self._items[key]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, key: Any) -> bool:
        return key in self._items

    def __repr__(self) -> str:
        return f"ImmutableDict({self._items!r})"


def _shown(annotation: Any) -> str:
    return repr(annotation.__name__) if isinstance(annotation, type) else repr(annotation)


def check_annotation(annotation: Any) -> None:
    """Raises TypeError for an annotation that no field may have."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is None or isinstance(annotation, (str, typing.ForwardRef)):
        return
    if origin is None and isinstance(annotation, type):
        if annotation in (*PLAIN, Tensor, DType, TensorShape) or issubclass(
            annotation, (CompositeTensor, TypeSpec)
        ):
            return
    elif origin in (typing.Union, types.UnionType):
        for choice in arguments:
            check_annotation(choice)
        return
    elif origin is tuple and arguments:
        for item in arguments:
            if item is not Ellipsis:
                check_annotation(item)
        return
    elif origin is collections.abc.Mapping and arguments:
        key, value = arguments
        if key not in (*PLAIN, DType, TensorShape):
            raise TypeError(
                f"Mapping had a key {getattr(key, '__name__', key)!r} with type "
                f"{type(key).__name__!r}"
            )
        check_annotation(value)
        return
    raise TypeError(f"Unsupported type annotation {_shown(annotation)}")


Leaf = Callable[[Any, Any, str], Any]


def fit_value(value: Any, annotation: Any, path: str) -> Any:
    """`value` as the content of a field. Raises TypeError that names the path to a misfit."""
    return _fit(value, annotation, path, _value_leaf)


def fit_spec(value: Any, annotation: Any, path: str) -> Any:
    """The field of a Spec for `value`: a TypeSpec for tensors, else the value."""
    return _fit(value, annotation, path, _spec_leaf)


def _expected(path: str, what: str, value: Any) -> TypeError:
    return TypeError(f"{path}: expected {what}, got {type(value).__name__!r}")


def _fit(value: Any, annotation: Any, path: str, leaf: Leaf) -> Any:
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _fit_union(value, annotation, path, leaf)
    if origin is tuple:
        return _fit_tuple(value, arguments, path, leaf)
    if origin is collections.abc.Mapping:
        if not isinstance(value, Mapping):
            raise _expected(path, "mapping", value)
        key, item = arguments
        return ImmutableDict(
            [
                (_fit(k, key, f"{path}[<key>]", leaf), _fit(v, item, f"{path}[{k!r}]", leaf))
                for k, v in value.items()
            ]
        )
    return leaf(value, annotation, path)


def _fit_union(value: Any, annotation: Any, path: str, leaf: Leaf) -> Any:
    for choice in typing.get_args(annotation):  # the first that takes the value
        try:
            return _fit(value, choice, path, leaf)
        except (TypeError, ValueError):
            continue
    raise _expected(path, repr(annotation), value)


def _fit_tuple(value: Any, arguments: Any, path: str, leaf: Leaf) -> Any:
    if not isinstance(value, (list, tuple)):
        raise _expected(path, "tuple", value)
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        wanted = (arguments[0],) * len(value)
    else:
        wanted = arguments
    if len(wanted) != len(value):
        raise TypeError(
            f"{path}: expected tuple with length {len(wanted)}, got {type(value).__name__!r})"
        )
    return tuple(
        [
            _fit(item, kind, f"{path}[{i}]", leaf)
            for i, (item, kind) in enumerate(zip(value, wanted, strict=True))
        ]
    )


def _value_leaf(value: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        if isinstance(value, Tensor):
            return value
        try:
            return convert.to_tensor(value)
        except (TypeError, ValueError) as e:
            raise _expected(path, "a Tensor", value) from e
    return _static_leaf(value, annotation, path)


def _spec_leaf(value: Any, annotation: Any, path: str) -> Any:
    if annotation is Tensor:
        if not isinstance(value, TensorSpec):
            raise _expected(path, "a TensorSpec", value)
        return value
    if isinstance(annotation, type) and issubclass(annotation, CompositeTensor):
        kind = getattr(value, "value_type", None)
        if not (isinstance(kind, type) and issubclass(kind, annotation)):
            raise _expected(path, f"a TypeSpec for {annotation.__name__!r}", value)
        return value
    return _static_leaf(value, annotation, path)


def _static_leaf(value: Any, annotation: Any, path: str) -> Any:
    if annotation is DType or annotation is TensorShape:
        make = as_dtype if annotation is DType else TensorShape
        try:
            return make(value)
        except (TypeError, ValueError) as e:
            raise _expected(path, f"'tf.{annotation.__name__}'", value) from e
    kind = type(None) if annotation is None else annotation
    if not isinstance(value, kind):
        raise _expected(path, repr(kind.__name__), value)
    return value
