"""Data class instances as structures of their fields, which can be state of blocks."""

from __future__ import annotations

import dataclasses
from typing import Any


class Record:
    """The fields of an object of a data class."""

    __slots__ = ("kind", "origin", "values")

    def __init__(self, kind: type, values: tuple[Any, ...], origin: Any = None) -> None:
        self.kind = kind
        self.values = values
        self.origin = origin  # the object that has them, None for one that is new

    def __tf_flatten__(self) -> tuple[Any, tuple[Any, ...]]:
        return (self.kind,), self.values

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, components: tuple[Any, ...]) -> Record:
        return cls(metadata[0], tuple(components))

    def instance(self) -> Any:
        """An object with these fields, created without calling `__init__`."""
        instance = object.__new__(self.kind)
        for field, value in zip(dataclasses.fields(self.kind), self.values, strict=True):
            object.__setattr__(instance, field.name, value)
        return instance


def is_record(value: Any) -> bool:
    """True for objects of data classes that have nothing but their fields."""
    kind = type(value)
    if not dataclasses.is_dataclass(kind) or hasattr(kind, "__tf_flatten__"):
        return False
    names = {f.name for f in dataclasses.fields(kind)}
    return names == set(getattr(value, "__dict__", names))


def record(value: Any) -> Record:
    """The fields of an object of a data class."""
    kind = type(value)
    values = tuple([getattr(value, f.name) for f in dataclasses.fields(kind)])
    return Record(kind, values, value)


__all__ = ["Record", "is_record", "record"]
