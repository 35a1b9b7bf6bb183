"""Guards on what a trace has read: generated Python code, and steps of a native entry.

A guard finds a place again and compares what is there: by identity first, and by value where that
fails. A native entry compares by identity only; its trace has an entry in Python too.
"""

from __future__ import annotations

import functools
import keyword
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph.read_values import Contents, Kept, is_plain, same
from intaglio.autograph.reads import (
    ATTRIBUTE,
    CELL,
    CLASS,
    CONTENTS,
    GLOBAL,
    IS_NONE,
    ITEM,
    ITEMS,
    LENGTH,
    ROOT,
    TRUTH,
    VALUE,
    Place,
    Read,
    item_of,
)
from intaglio.base.generated_code import GeneratedCode

MAX_NATIVE_ELEMENTS = 16


class Unguardable(Exception):
    """No native guard covers the read."""


class _Lines:
    """The lines of generated code that return unless nothing has changed."""

    def __init__(self, name: Callable[[Any], str], failed: str) -> None:
        self.name = name
        self.failed = failed
        self.lines: list[str] = []
        self.places: dict[int, str] = {}

    def read(self, read: Read) -> None:
        """The guard of one read."""
        at = self.place(read.place)
        self.lines.append(f"if {self._differs(at, read)}: {self.failed}")

    def place(self, place: Place) -> str:
        """The local variable that has what is in a place."""
        found = self.places.get(id(place))
        if found is None:
            text = self._found(place)
            found = self.places[id(place)] = f"r{len(self.places)}"
            self.lines.append(f"{found} = {text}")
            if place.kind == ROOT:
                self.lines.append(f"if {found} is None: {self.failed}")
        return found

    def _found(self, place: Place) -> str:
        if place.kind == ROOT:
            return f"{self.name(place.source)}()"
        if place.kind == GLOBAL:
            return f"{self.name(place.source)}[{place.key!r}]"
        if place.kind == CELL:
            return f"{self.name(place.source)}.cell_contents"
        assert place.parent is not None
        owner = self.place(place.parent)
        if place.kind == ITEM:
            kind = type(place.parent.find())
            if kind not in ITEMS:
                return f"{self.name(item_of)}({owner}, {self.name(place.key)})"
            self.lines.append(f"if type({owner}) is not {kind.__name__}: {self.failed}")
            return f"{owner}[{self.name(place.key)}]"
        if place.key.isidentifier() and not keyword.iskeyword(place.key):
            return f"{owner}.{place.key}"
        return f"{self.name(getattr)}({owner}, {place.key!r})"

    def _differs(self, at: str, read: Read) -> str:
        kept = read.kept
        if read.aspect == IS_NONE:
            return f"({at} is None) is not {kept}"
        if read.aspect == CLASS:
            return f"type({at}) is not {self.name(kept)}"
        if read.aspect == TRUTH:
            return f"{self.name(bool)}({at}) is not {kept}"
        if read.aspect == LENGTH:
            return f"len({at}) != {kept}"
        if read.aspect == VALUE and type(kept) is Kept:
            reference, is_same = self.name(kept.reference), self.name(kept.is_same)
            return f"({at} is not {reference}() or {at} is None) and not {is_same}({at})"
        if read.aspect == VALUE:
            if kept is None or kept is True or kept is False:
                return f"{at} is not {kept!r}"
            is_same = self.name(functools.partial(same, kept))
            return f"{at} is not {self.name(kept)} and not {is_same}({at})"
        plain = _plain_list(kept) if read.aspect == CONTENTS else None
        quick = "" if plain is None else f"{at} != {self.name(plain)} and "
        return f"{quick}not {self.name(kept.is_same)}({at})"


def _plain_list(contents: Contents) -> list[Any] | None:
    """The elements of a list of plain values, or None for other containers."""
    if contents.kind is not list or contents.count != len(contents.kept):
        return None
    return contents.kept if all(map(is_plain, contents.kept)) else None


def lines(reads: Sequence[Read], name: Callable[[Any], str], failed: str) -> list[str]:
    """The code that executes `failed` if one of the reads would give something else now.

    `name` gives the name of a global variable of the code that has a value.
    """
    if not reads:
        return []
    code = _Lines(name, failed)
    for read in reads:
        code.read(read)
    return ["try:", *[f" {line}" for line in code.lines], f"except {name(Exception)}: {failed}"]


def checker(reads: Sequence[Read]) -> Callable[[], bool]:
    """A function that is True as long as all reads would give what they gave."""
    space: dict[str, Any] = {}

    def name(value: Any) -> str:
        space[f"k{len(space)}"] = value
        return f"k{len(space) - 1}"

    body = lines(reads, name, "return False")
    text = "\n ".join(["def unchanged():", *body, "return True"])
    return GeneratedCode("unchanged", text, space).function("unchanged")


# -- native entries ------------------------------------------------------------------------


def add_native(table: Any, reads: Sequence[Read]) -> None:
    """Adds the guards to the table of a native entry. Raises Unguardable if one has no such form."""
    if not reads:
        return
    places: dict[int, int] = {}
    invalidate = table.invalidation()
    alone, rest = _globals_alone(reads)
    for found in alone.values():
        with table.unless_unchanged(found[0].place.source):
            for read in found:
                _add(table, read, _number(table, read.place, {}, invalidate), invalidate)
    for read in rest:
        _add(table, read, _number(table, read.place, places, invalidate), invalidate)


def _globals_alone(reads: Sequence[Read]) -> tuple[dict[int, list[Read]], list[Read]]:
    """The reads of globals that nothing else is found through, by their dictionary; and the others.

    Their values follow from the dictionary alone, of which one version tells that it has not changed.
    """
    parents = {id(read.place.parent) for read in reads}
    alone: dict[int, list[Read]] = {}
    rest: list[Read] = []
    for read in reads:
        place = read.place
        by_identity = read.aspect in (VALUE, IS_NONE)
        if place.kind == GLOBAL and by_identity and id(place) not in parents:
            alone.setdefault(id(place.source), []).append(read)
        else:
            rest.append(read)
    return alone, rest


def _number(table: Any, place: Place, places: dict[int, int], lost: Callable[[], None]) -> int:
    """The number of the object in a place."""
    found = places.get(id(place))
    if found is not None:
        return found
    if place.kind == ROOT:
        number = table.known(_alive(table, place.source(), lost))
    elif place.kind == GLOBAL:
        number = table.item_of_dict(table.known(place.source), place.key, keep=place.source)
    elif place.kind == CELL:
        number = table.contents_of_cell(place.source)
    elif place.kind == ATTRIBUTE:
        assert place.parent is not None
        number = table.attribute(_number(table, place.parent, places, lost), place.key)
    else:
        assert place.parent is not None
        owner = _number(table, place.parent, places, lost)
        kind = type(place.parent.find())
        if kind not in ITEMS:
            raise Unguardable
        table.of_class(owner, kind)
        number = table.item(owner, place.key)
    places[id(place)] = number
    return number


def _alive(table: Any, value: Any, lost: Callable[[], None]) -> Any:
    """The object; the guards fail once it is gone, whatever is at its address then."""
    if value is None:
        raise Unguardable
    try:
        table.keep.append(weakref.ref(value, lambda _: lost()))
    except TypeError:
        raise Unguardable from None
    return value


def _add(table: Any, read: Read, number: int, lost: Callable[[], None]) -> None:
    kept = read.kept
    if read.aspect == VALUE:
        if type(kept) is Kept:
            table.same(number, _alive(table, kept.reference(), lost))
        else:
            table.identity(number, read.place.find() if same(kept, read.place.find()) else kept)
    elif read.aspect == IS_NONE and kept:
        table.identity(number, None)
    elif read.aspect == IS_NONE:
        table.different(number, None)
    elif read.aspect == CLASS:
        table.of_class(number, kept)
    elif (
        read.aspect == CONTENTS
        and _plain_list(kept) is not None
        and kept.count <= MAX_NATIVE_ELEMENTS
    ):
        now = read.place.find()
        first = table.sequence(number, now)
        for i, element in enumerate(now):
            table.identity(first + i, element)
    else:
        raise Unguardable
