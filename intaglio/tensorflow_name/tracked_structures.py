"""Lists and dicts by which TensorFlow replaces those in attributes.

Intaglio leaves attributes as they are. Libraries name the classes, as nodes of trees.
"""

from __future__ import annotations

from typing import Any


class ListWrapper(list[Any]):
    """A list that an object is saved with."""


class _DictWrapper(dict[Any, Any]):  # pyright: ignore[reportUnusedClass]  # TensorFlow's name, which messages show
    """A dict that an object is saved with."""


def NoDependency(value: Any) -> Any:  # TensorFlow's name of a class
    """The value: what is saved is found when saving begins."""
    return value


def wrap_or_unwrap(value: Any) -> Any:
    """The value: lists and dicts in attributes stay what they are."""
    return value
