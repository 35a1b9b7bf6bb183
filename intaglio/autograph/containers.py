"""The contents of Python containers, which staged blocks save and restore."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

CONTAINERS = (list, dict, set, collections.deque, bytearray, np.ndarray)


class Contents(list[Any]):
    """The elements that a container holds at some time, in order; of a dictionary its items."""


def contents(value: Any) -> Contents:
    """The current contents of a container."""
    if isinstance(value, dict):
        return Contents(part for item in value.items() for part in item)
    if isinstance(value, np.ndarray):
        return Contents([value.tobytes(), value.copy()])
    if isinstance(value, set):
        return Contents([frozenset(value)])
    return Contents(value)


def put_contents(value: Any, contents: list[Any]) -> None:
    """Restores a container's contents."""
    if isinstance(value, dict):
        dict.clear(value)
        for key, item in zip(contents[::2], contents[1::2], strict=True):
            dict.__setitem__(value, key, item)
    elif isinstance(value, np.ndarray):
        value[...] = contents[1]
    elif isinstance(value, set):
        set.clear(value)
        set.update(value, contents[0])
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(contents)
    else:
        value[:] = contents


def is_equal(one: list[Any], other: list[Any]) -> bool:
    """True if two contents hold the same objects."""
    return len(one) == len(other) and all(
        a is b or _is_equal_fact(a, b) for a, b in zip(one, other, strict=True)
    )


def _is_equal_fact(a: Any, b: Any) -> bool:
    kinds = (bytes, frozenset)  # of arrays and sets
    return type(a) is type(b) and isinstance(a, kinds) and a == b


_SEARCHED = (*CONTAINERS, tuple)


def inside(value: Any) -> list[Any]:
    """A container and the containers nested in it."""
    found: list[Any] = [value] if isinstance(value, CONTAINERS) else []
    parts: Any = value if type(value) in (list, tuple) else ()
    if type(value) is dict:
        parts = value.values()
    for part in parts:
        if isinstance(part, _SEARCHED):
            found += inside(part)
    return found
