"""Lists that have become `GrownList`s, under all the names that they have.

A list that grows in a staged block is replaced in the places that the block writes. Other
places may hold the same list: a caller's variable, an attribute, an item. Wherever converted
code reads one, it gets what the list has become in the graph being recorded.
"""

from __future__ import annotations

import threading
from typing import Any

from intaglio.autograph.optional import Maybe
from intaglio.trace.grown_list import GrownList

# By the ids of the lists, which are kept alive: each list, and what it is now.
Known = dict[int, tuple[list[Any], GrownList]]


class _Lists(threading.local):
    def __init__(self) -> None:
        self.known: Known = {}


_lists = _Lists()


def current(value: Any) -> Any:
    """What a list has become; any other value itself."""
    if type(value) is list:
        found = _lists.known.get(id(value))
    elif type(value) is GrownList and value.root is not None:
        found = _lists.known.get(id(value.root))
    else:
        return value
    return value if found is None else found[1]


def root_of(value: Any) -> list[Any] | None:
    """The list that one that grows stands for, or None."""
    return value.root if type(value) is GrownList else None


def everywhere(value: Any) -> Any:
    """A structure of lists, tuples and dictionaries with the values that all places have now."""
    now = current(value)
    if type(now) is Maybe:
        return now.read()
    if type(now) is list:
        return [everywhere(v) for v in now]
    if type(now) is tuple:
        return tuple([everywhere(v) for v in now])
    if type(now) is dict:
        return {k: everywhere(v) for k, v in now.items()}
    return now


def follow(root: list[Any], grown: GrownList) -> None:
    """From now on `root` is `grown`, wherever it is read."""
    grown.root = root
    _lists.known[id(root)] = (root, grown)


def put_back(value: Any) -> None:
    """A list, or one that grows, is what it was before."""
    if type(value) is list:
        _lists.known.pop(id(value), None)
    elif type(value) is GrownList and value.root is not None:
        follow(value.root, value)


def any_known() -> bool:
    """True if a list has become one that grows."""
    return bool(_lists.known)


def state() -> Known:
    """All that is known, for `reset`."""
    return dict(_lists.known)


def reset(known: Known) -> None:
    """Goes back to what was known once."""
    _lists.known = dict(known)
