"""The methods and functions of Python and NumPy that change a container in place, and the keys they write."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

# Methods by which containers lose items or change their order.
LOSING = frozenset({"clear", "pop", "popitem", "move_to_end", "subtract"})
_MUTATORS: list[tuple[type, frozenset[str]]] = [
    (dict, LOSING | {"update", "setdefault", "__setitem__", "__delitem__"}),
    (set, frozenset({
        "add", "clear", "discard", "pop", "remove", "update", "difference_update",
        "intersection_update", "symmetric_difference_update",
    })),
    (list, frozenset({
        "append", "extend", "insert", "pop", "clear", "remove", "reverse", "sort", "__setitem__",
        "__delitem__",
    })),
    (collections.deque, frozenset({
        "append", "appendleft", "extend", "extendleft", "insert", "pop", "popleft", "clear", "remove",
        "reverse", "rotate",
    })),
    (bytearray, frozenset({
        "append", "extend", "insert", "pop", "clear", "remove", "reverse",
    })),
    (np.ndarray, frozenset({"fill", "sort", "put", "resize", "partition", "byteswap", "setfield"})),
]  # fmt: skip
# The ids of the functions that set or delete an attribute.
_SETTING = (setattr, delattr, object.__setattr__, object.__delattr__)
SETTING = frozenset(map(id, _SETTING))
# NumPy's functions that write to their first argument.
WRITING = frozenset(
    {"copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis", "shuffle"}
)


def mutators_of(owner: Any) -> frozenset[str]:
    """The methods that change a container."""
    return next(names for kind, names in _MUTATORS if isinstance(owner, kind))


def keys_written(
    owner: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> list[Any] | None:
    """The keys of a dictionary that a method writes, None if they may be any."""
    if not isinstance(owner, dict):
        return None
    if name in ("pop", "setdefault", "__setitem__", "__delitem__"):
        return [args[0]] if args else []
    if name == "update" and not isinstance(owner, collections.Counter):
        argument = args[0] if args else ()
        if isinstance(argument, dict):
            return [*argument, *kwargs]
        if isinstance(argument, (list, tuple)):
            return [*[pair[0] for pair in argument], *kwargs]
    counted = name == "update" and isinstance(owner, collections.Counter)
    if counted and args and isinstance(args[0], (dict, list, tuple, str)):
        return [*args[0], *kwargs]
    return None


__all__ = ["LOSING", "SETTING", "WRITING", "keys_written", "mutators_of"]
