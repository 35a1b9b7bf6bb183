"""Columns as plain values, with which layers are saved, and columns of those."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from intaglio.base.dtypes import DType, as_dtype
from intaglio.compat_v1 import initializers
from intaglio.feature_columns.column import FeatureColumn


def serialize_feature_column(fc: Any) -> Any:
    """A column as `{"class_name": .., "config": ..}`; the name of a feature as it is.

    Raises ValueError for another.
    """
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc.get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


def deserialize_feature_column(
    config: Any, custom_objects: Any = None, columns_by_name: Any = None
) -> Any:
    """The column of a configuration, the same one for equal columns of `columns_by_name`.

    Raises ValueError for a class that is unknown.
    """
    if isinstance(config, str):
        return config
    name = config["class_name"]
    cls = (custom_objects or {}).get(name) or next(
        (c for c in _classes(FeatureColumn) if c.__name__ == name), None
    )
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    found = cls.from_config(
        config["config"], custom_objects=custom_objects, columns_by_name=columns_by_name
    )
    if columns_by_name is None:
        return found
    return columns_by_name.setdefault(f"{name}:{found.name}", found)


def _classes(above: type[Any]) -> Iterator[type[Any]]:
    for cls in above.__subclasses__():
        yield cls
        yield from _classes(cls)


def config_of(column: Any) -> dict[str, Any]:
    """The fields of a column that is a record, as plain values."""
    return {f.name: _plain(getattr(column, f.name)) for f in dataclasses.fields(column)}


def arguments(config: Mapping[str, Any], custom_objects: Any, columns_by_name: Any) -> Any:
    """The fields of a column, of their configuration."""
    return {
        name: _read(name, value, custom_objects, columns_by_name) for name, value in config.items()
    }


def _plain(value: Any) -> Any:
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple) and any(isinstance(v, FeatureColumn) for v in value):
        return tuple(map(serialize_feature_column, value))
    config = getattr(value, "get_config", None)
    if config is not None:
        return {"class_name": type(value).__name__, "config": config()}
    if callable(value):
        return value.__name__
    return value


def _read(name: str, value: Any, custom_objects: Any, columns_by_name: Any) -> Any:
    if name == "dtype":
        return as_dtype(value)
    if name == "normalizer_fn" and isinstance(value, str):
        return _object(value, custom_objects)
    if name == "initializer" and isinstance(value, Mapping):
        return _object(value["class_name"], custom_objects)(**value["config"])
    if isinstance(value, Mapping) and "class_name" in value:
        return deserialize_feature_column(value, custom_objects, columns_by_name)
    if name == "keys":
        return tuple(
            [deserialize_feature_column(v, custom_objects, columns_by_name) for v in value]
        )
    return _tuples(value)


def _object(name: str, custom_objects: Any) -> Any:
    """What a configuration names: of the program's, or an initializer."""
    found = (custom_objects or {}).get(name) or getattr(initializers, name, None)
    if found is None:
        raise ValueError(f"Unknown function or class: {name!r}. Pass it in `custom_objects`.")
    return found


def _tuples(value: Any) -> Any:
    """Lists, which JSON makes of tuples, as tuples."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
