"""Alias analysis: the values of objects in the graph being recorded, under all their names.

A list that grows in a staged block is replaced by a `GrownList` in the locations that the block
writes. Other locations may refer to the same list: a caller's variable, an attribute, an item.
Converted code that reads one of them gets the `GrownList`. In the same manner a list,
dict or set is poisoned, an error wherever it is read, once a staged block has changed it in
a form that no graph can carry: its contents are unknown. So is one that may be an alias of
a changed one, after a block has put one of several into a name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from intaglio.autograph.optional import Maybe
from intaglio.base.threads import Inherited
from intaglio.type_specs.grown_list import GrownList


class _Kept:
    """Keeps an object alive for any number of users, which share one reference."""

    __slots__ = ("copied", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.copied = False  # True for the copy that a block works on


class Known(NamedTuple):
    """The facts about objects, by id; the objects are kept alive."""

    grown: dict[int, tuple[list[Any], GrownList]]
    poisoned: dict[int, tuple[Any, str]]
    # Dictionaries with items whose presence is known only when the graph runs.
    optional: dict[int, Any]
    # With each object those that may be the same one when the graph runs.
    may_alias: dict[int, tuple[_Kept, frozenset[int]]]

    def copied(self) -> Known:
        """An independent copy."""
        return Known(
            dict(self.grown), dict(self.poisoned), dict(self.optional), dict(self.may_alias)
        )


class _Objects(Inherited):
    def __init__(self) -> None:
        self.known = Known({}, {}, {}, {})


_objects = _Objects()


def current(value: Any) -> Any:
    """The `GrownList` that has replaced a list; any other value itself."""
    if type(value) is not list:
        return value
    found = _objects.known.grown.get(id(value))
    return value if found is None else found[1]


def used(value: Any) -> Any:
    """The current value of an object that is read. Raises TypeError if it is poisoned."""
    known = _objects.known
    if known.poisoned:
        why = poisoned(value)
        if why is not None:
            raise TypeError(why)
    return current(value) if known.grown else value


def origin(value: Any) -> Any:
    """The Python list that a `GrownList` replaced; any other object itself."""
    return value if type(value) is not GrownList or value.root is None else value.root


def everywhere(value: Any) -> Any:
    """A structure of lists, tuples and dictionaries with the current values of all locations."""
    now = used(value)
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
    """Replaces `root` by `grown` in all later reads."""
    if grown.root is None:
        grown.root = root
    _objects.known.grown[id(root)] = (root, grown)


def put_back(value: Any) -> None:
    """Undoes `follow` for a list."""
    if type(value) is list:
        _objects.known.grown.pop(id(value), None)


def any_known() -> bool:
    """True if an object was replaced by another, or is poisoned."""
    return any(_objects.known)


# -- poisoned objects ---------------------------------------------------------------------------


def poison(value: Any, why: str) -> None:
    """Poisons an object: reading it is an error from now on, with the reason `why` in the message."""
    value = origin(value)
    _objects.known.poisoned[id(value)] = (value, why)


def poisoned(value: Any) -> str | None:
    """The reason why an object is poisoned, or None."""
    found = _objects.known.poisoned.get(id(origin(value)))
    return None if found is None else found[1]


def mend(value: Any) -> None:
    """Undoes `poison`."""
    _objects.known.poisoned.pop(id(origin(value)), None)


# -- items that may be there ------------------------------------------------------------------


def note_optional(owner: Any) -> None:
    """Notes that a dictionary has an item whose presence is known only when the graph runs."""
    _objects.known.optional[id(owner)] = owner


def may_lack(owner: Any) -> bool:
    """True for dictionaries that have such an item."""
    return bool(_objects.known.optional) and id(owner) in _objects.known.optional


# -- what may be the same ---------------------------------------------------------------------


def relate(value: Any, others: Iterable[Any]) -> None:
    """Notes that an object may be an alias of each of these when the graph runs."""
    may_alias = _objects.known.may_alias
    value = origin(value)
    for other in map(origin, others):
        if other is not value:
            for one, two in ((value, other), (other, value)):
                kept, ids = may_alias.get(id(one)) or (_Kept(one), frozenset[int]())
                may_alias[id(one)] = kept, ids | {id(two)}


def note_copy(copy: Any, others: Iterable[Any]) -> None:
    """Notes that a block continues with a copy of an object that may be each of these."""
    relate(copy, others)
    _objects.known.may_alias[id(origin(copy))][0].copied = True


def note_result(value: Any) -> None:
    """Notes that an object is the result of a block, although the block may have worked on it."""
    found = _objects.known.may_alias.get(id(origin(value)))
    if found is not None:
        found[0].copied = False


def is_copy(value: Any) -> bool:
    """True for the copy that a block works on."""
    found = _objects.known.may_alias.get(id(origin(value)))
    return found is not None and found[0].copied


def may_aliases_of(value: Any) -> list[Any]:
    """The objects that an object may be an alias of."""
    may_alias = _objects.known.may_alias
    found = may_alias.get(id(origin(value))) if may_alias else None
    return [] if found is None else [may_alias[i][0].value for i in found[1] if i in may_alias]


def may_be_same(one: Any, other: Any) -> bool:
    """True for two objects that may be aliases, which is decided only when the graph runs."""
    found = _objects.known.may_alias.get(id(origin(one)))
    return found is not None and id(origin(other)) in found[1]


def any_may_alias() -> bool:
    """True if some objects may be the same."""
    return bool(_objects.known.may_alias)


# -- going back -------------------------------------------------------------------------------


def state() -> Known:
    """A snapshot of all facts, for `reset`."""
    return _objects.known.copied()


def reset(known: Known) -> None:
    """Restores a snapshot."""
    _objects.known = known.copied()
