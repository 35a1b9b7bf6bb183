"""Dictionaries with items whose presence is known only when the graph runs.

A loop that is the first to set `d[k]` may have no iteration. `d.get(k)`, `d.setdefault(k)`, `d.pop(k)`
and `k in d` become ops then; a use of the whole dictionary makes the graph fail
where an item is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.autograph import aliases, reads, unconverted_reads
from intaglio.autograph.optional import Maybe, value_or
from intaglio.type_specs.grown_list import GrownList


def _get(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    return _or_default(owner.get(key, default), default, "get")


def _setdefault(owner: dict[Any, Any], key: Any, default: Any = None) -> Any:
    value = _or_default(owner.setdefault(key, default), default, "setdefault")
    owner[key] = value
    return value


def _pop(owner: dict[Any, Any], key: Any, *default: Any) -> Any:
    value = owner.pop(key, *default)
    return _or_default(value, default[0], "pop") if default else read(value)


def _or_default(value: Any, default: Any, method: str) -> Any:
    if type(value) is not Maybe:
        return value
    if default is None:
        raise TypeError(
            f"`{method}` of a key that only some iterations or branches set gives a tensor or None, and a "
            f"graph must know which: write `{method}(key, default)` with a number or tensor."
        )
    return value_or(value, lambda: default)


def read(value: Any) -> Any:
    """The value of a Maybe, which the graph checks to be there; any other value itself."""
    return value.read() if type(value) is Maybe else value


_METHODS: dict[str, Callable[..., Any]] = {"get": _get, "setdefault": _setdefault, "pop": _pop}


def of_dict(function: Any) -> Callable[..., Any] | None:
    """What a method of a dictionary with such items is, or None if nothing is to be changed."""
    owner = getattr(function, "__self__", None)
    if not isinstance(owner, dict) or not aliases.may_lack(owner):
        return None
    method = _METHODS.get(function.__name__)
    if method is None:
        whole(owner)
        return None
    return lambda *args, **kwargs: method(owner, *args, **kwargs)


def whole(value: Any) -> Any:
    """A dictionary all items of which are there: the graph fails where one is not."""
    if isinstance(value, dict) and aliases.may_lack(value):
        for key, item in value.items():
            value[key] = read(item)
    return value


def contains(item: Any, container: Any) -> Any:
    """`item in container`; of an item that may be there, and in a list that grows, a tensor."""
    if isinstance(container, dict) and aliases.may_lack(container):
        value = container.get(item)
        if type(value) is Maybe and value.present is not None:
            return value.present
    if type(container) is GrownList:
        return container.has(item)
    found = item in container
    reads.contained(item, container, found)
    unconverted_reads.implicit(container, "__contains__", "__iter__")
    return found


__all__ = ["contains", "of_dict", "read", "whole"]
