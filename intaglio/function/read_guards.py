"""Guards on the Python values that a trace has read: generated code, and steps of a native entry.

A guard evaluates an access path and compares the result with the value of the trace: by identity,
and by equality where that fails. A native entry compares by identity only; its trace has an entry
in Python too.
"""

from __future__ import annotations

import functools
import inspect
import keyword
import weakref
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from intaglio.autograph.access_paths import (
    ATTRIBUTE,
    CELL,
    CLASS,
    CONTENTS,
    GLOBAL,
    HAS,
    IS_NONE,
    ITEM,
    ITEMS,
    LENGTH,
    ROOT,
    TRUTH,
    VALUE,
    AccessPath,
    Read,
    item_of,
)
from intaglio.autograph.read_values import Contents, Kept, is_plain, same
from intaglio.base.generated_code import GeneratedCode

MAX_NATIVE_ELEMENTS = 16


class Unguardable(Exception):
    """No native guard covers the read."""


class _Lines:
    """Generated code that executes the statement `failed` if a read gives another value."""

    def __init__(self, name: Callable[[Any], str], failed: str) -> None:
        self.name = name
        self.failed = failed
        self.lines: list[str] = []
        self.paths: dict[int, str] = {}

    def read(self, read: Read) -> None:
        """Appends the guard of one read."""
        at = self.local(read.path)
        self.lines.append(f"if {self._differs(at, read)}: {self.failed}")

    def local(self, path: AccessPath) -> str:
        """The local variable with the value of an access path; appends the lines that evaluate it."""
        found = self.paths.get(id(path))
        if found is None:
            text = self._expression(path)
            found = self.paths[id(path)] = f"r{len(self.paths)}"
            self.lines.append(f"{found} = {text}")
            if path.kind == ROOT:
                self.lines.append(f"if {found} is None: {self.failed}")
        return found

    def _expression(self, path: AccessPath) -> str:
        if path.kind == ROOT:
            return f"{self.name(path.source)}()"
        if path.kind == GLOBAL:
            return f"{self.name(path.source)}[{path.key!r}]"
        if path.kind == CELL:
            return f"{self.name(path.source)}.cell_contents"
        assert path.parent is not None
        owner = self.local(path.parent)
        if path.kind == ITEM:
            kind = type(path.parent.find())
            if kind not in ITEMS:
                return f"{self.name(item_of)}({owner}, {self.name(path.key)})"
            self.lines.append(f"if type({owner}) is not {kind.__name__}: {self.failed}")
            return f"{owner}[{self.name(path.key)}]"
        if path.key.isidentifier() and not keyword.iskeyword(path.key):
            return f"{owner}.{path.key}"
        return f"{self.name(getattr)}({owner}, {path.key!r})"

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
        if read.aspect == HAS:
            test = f"{self.name(kept.key)} in {at}"
            if kept.kind == ATTRIBUTE:
                test = f"{self.name(hasattr)}({at}, {kept.key!r})"
            return f"({test}) is not {kept.present}"
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
    """The code that executes `failed` if one of the reads would give another value now.

    `name` maps a value to the name of a global of the generated code that holds it.
    """
    if not reads:
        return []
    code = _Lines(name, failed)
    for read in reads:
        code.read(read)
    return ["try:", *[f" {line}" for line in code.lines], f"except {name(Exception)}: {failed}"]


def checker(reads: Sequence[Read]) -> Callable[[], bool]:
    """A function that returns True while all reads give the values that they gave in the trace."""
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
    if reads:
        _NativeGuards(table, reads).emit()


class _NativeGuards:
    """The guards of one native entry.

    One dict version covers all globals of a module, or all attributes of an object.
    """

    def __init__(self, table: Any, reads: Sequence[Read]) -> None:
        self.table = table
        self.lost = table.invalidation()
        self.numbers: dict[int, int] = {}
        self.reads: dict[int, list[Read]] = {}
        self.paths: list[AccessPath] = []  # each after its parent
        for read in reads:
            self._enter(read.path)
            self.reads[id(read.path)].append(read)
        self.parents = {id(path.parent) for path in self.paths}
        self.groups: dict[int, list[AccessPath]] = {}  # by the parent, or by the globals
        for path in self.paths:
            if self._has_version(path):
                self.groups.setdefault(_owner_id(path), []).append(path)

    def _enter(self, path: AccessPath) -> None:
        if id(path) not in self.reads:
            if path.parent is not None:
                self._enter(path.parent)
            self.reads[id(path)] = []
            self.paths.append(path)

    def _has_version(self, path: AccessPath) -> bool:
        """True if a dict version suffices to tell that the path still leads to the same object."""
        if any(r.aspect not in (VALUE, IS_NONE, CLASS) for r in self.reads[id(path)]):
            return False
        if id(path) in self.parents and not _can_be_referenced(path.find()):
            return False
        if path.kind == GLOBAL:
            return self.table.dicts_have_versions
        if path.kind != ATTRIBUTE:
            return False
        assert path.parent is not None
        owner = path.parent.find()
        return _follows_from_dicts(owner, path.key) and self.table.has_versions(owner)

    def emit(self) -> None:
        """Adds the guards to the entry's table."""
        emitted: set[int] = set()
        for path in self.paths:
            group = self.groups.get(_owner_id(path), [])
            if path not in group:
                self._guard_value(path)
            elif _owner_id(path) not in emitted:
                emitted.add(_owner_id(path))
                self._guard_group(group)
            if id(path) not in self.groups:
                self._guard_class(path)

    def _guard_group(self, group: Sequence[AccessPath]) -> None:
        owner = group[0].parent
        if owner is None:
            block = self.table.unless_unchanged(group[0].source)
        else:
            block = self.table.unless_same_attributes(self._number(owner), owner.find())
        before = dict(self.numbers)
        with block:
            if owner is not None:
                self._guard_class(owner)
            for path in group:
                self._guard_value(path)
                if id(path) in self.parents:
                    self.table.same(self._number(path), path.find())
        self.numbers = before
        for path in group:
            if id(path) in self.parents:
                self.numbers[id(path)] = self.table.known(
                    _alive(self.table, path.find(), self.lost)
                )

    def _guard_value(self, path: AccessPath) -> None:
        for read in self.reads[id(path)]:
            if read.aspect != CLASS:
                _add(self.table, read, self._number(path), self.lost)

    def _guard_class(self, path: AccessPath) -> None:
        for read in self.reads[id(path)]:
            if read.aspect == CLASS:
                self.table.of_class(self._number(path), read.kept)

    def _number(self, path: AccessPath) -> int:
        """The index in the entry's table of the object that a path leads to."""
        found = self.numbers.get(id(path))
        if found is not None:
            return found
        table = self.table
        if path.kind == ROOT:
            number = table.known(_alive(table, path.source(), self.lost))
        elif path.kind == GLOBAL:
            number = table.item_of_dict(table.known(path.source), path.key, keep=path.source)
        elif path.kind == CELL:
            number = table.contents_of_cell(path.source)
        elif path.kind == ATTRIBUTE:
            assert path.parent is not None
            number = table.attribute(self._number(path.parent), path.key)
        else:
            assert path.parent is not None
            owner = self._number(path.parent)
            kind = type(path.parent.find())
            if kind not in ITEMS:
                raise Unguardable
            table.of_class(owner, kind)
            number = table.item(owner, path.key)
        self.numbers[id(path)] = number
        return number


_MISSING = object()


def _owner_id(path: AccessPath) -> int:
    return id(path.source if path.parent is None else path.parent)


def _follows_from_dicts(owner: Any, name: str) -> bool:
    """True if the dicts of the object and its classes alone determine an attribute."""
    kind = type(owner)
    if kind.__getattribute__ not in (object.__getattribute__, ModuleType.__getattribute__):
        return False
    found = inspect.getattr_static(kind, name, _MISSING)
    described = type(found)
    if name in getattr(owner, "__dict__", ()):
        return not hasattr(described, "__set__") and not hasattr(described, "__delete__")
    return found is not _MISSING and not hasattr(described, "__get__")


def _can_be_referenced(value: Any) -> bool:
    try:
        weakref.ref(value)
    except TypeError:
        return False
    return True


def _alive(table: Any, value: Any, lost: Callable[[], None]) -> Any:
    """The object; the guards fail once it is collected, even if another one gets its address."""
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
            table.identity(number, read.path.find() if same(kept, read.path.find()) else kept)
    elif read.aspect == IS_NONE and kept:
        table.identity(number, None)
    elif read.aspect == IS_NONE:
        table.different(number, None)
    elif (
        read.aspect == CONTENTS
        and _plain_list(kept) is not None
        and kept.count <= MAX_NATIVE_ELEMENTS
    ):
        now = read.path.find()
        first = table.sequence(number, now)
        for i, element in enumerate(now):
            table.identity(first + i, element)
    else:
        raise Unguardable
