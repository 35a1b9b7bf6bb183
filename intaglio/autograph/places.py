"""Places that converted code writes to apart from its own names, and who watches them.

While a staged block is traced, a watch on it is told of each place that might change: the
variables of closures, globals, attributes and items. It remembers what they held, so that
the block can be traced again with those that changed as state (`hidden_state`).
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
import threading
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from types import CellType, CodeType, FunctionType
from typing import Any

import numpy as np

from intaglio.autograph import aliases
from intaglio.autograph.values import Undefined, ld
from intaglio.trace.grown_list import GrownList


class Place:
    """A variable, attribute or item: `get` gives Undefined where there is nothing yet."""

    __slots__ = ("key", "lasting", "name", "owner")

    def __init__(self, owner: Any, key: Any, name: str, lasting: bool = True) -> None:
        self.owner = owner
        self.key = key
        self.name = name
        # False for variables of functions that are being traced.
        self.lasting = lasting

    @property
    def ident(self) -> tuple[int, Any]:
        """Equal for equal places, as long as the owner lives."""
        return id(self.owner), self.key

    def get(self) -> Any:
        """What is there."""
        try:
            return aliases.current(self._read())
        except (AttributeError, KeyError, IndexError, ValueError):
            return Undefined(self.name)

    def put(self, value: Any) -> None:
        """Sets it; Undefined removes it."""
        if type(value) is Undefined:
            if type(self.get()) is not Undefined:
                self._remove()
        else:
            self._write(value)

    def spoil(self, why: str) -> None:
        """Makes any use of it in converted code an error."""
        self._write(Undefined(self.name, why))

    def _read(self) -> Any:
        raise NotImplementedError

    def _write(self, value: Any) -> None:
        raise NotImplementedError

    def _remove(self) -> None:
        raise NotImplementedError


class Cell(Place):
    """A variable that functions share."""

    __slots__ = ()

    def _read(self) -> Any:
        return self.owner.cell_contents

    def _write(self, value: Any) -> None:
        self.owner.cell_contents = value

    def _remove(self) -> None:
        del self.owner.cell_contents


class Attribute(Place):
    """An attribute of an object."""

    __slots__ = ()

    def _read(self) -> Any:
        return getattr(self.owner, self.key)

    def _write(self, value: Any) -> None:
        setattr(self.owner, self.key, value)

    def _remove(self) -> None:
        delattr(self.owner, self.key)


class Item(Place):
    """An item of a list or dictionary; globals are items of their module's dictionary."""

    __slots__ = ()

    def _read(self) -> Any:
        return self.owner[self.key]

    def _write(self, value: Any) -> None:
        self.owner[self.key] = value

    def _remove(self) -> None:
        del self.owner[self.key]


class Elements(Place):
    """The elements of a list, wherever it is."""

    __slots__ = ()

    @property
    def ident(self) -> tuple[int, Any]:
        return id(self.key[0]), Elements

    def _read(self) -> Any:
        return self.key[0]

    def _write(self, value: Any) -> None:
        if type(value) is GrownList:
            aliases.follow(self.key[0], value)


class Seen:
    """What a place held before the block; of a list also its elements."""

    __slots__ = ("before", "certain", "has_items", "held", "place", "value")

    def __init__(self, place: Place, certain: bool) -> None:
        self.place = place
        self.value = place.get()
        # True if the place is known to be older than the block.
        self.certain = certain
        self.held = _held(self.value)
        self.has_items = False
        # The value as it was, though the block may change the list itself.
        self.before = self.value.copy() if type(self.value) is GrownList else self.value

    @property
    def elements(self) -> list[Any] | None:
        """The elements of an ordinary list, None for what is none."""
        return self.held if type(self.value) is list else None

    def is_grown(self) -> bool:
        """True if the list that was there is longer or shorter, or has other elements.

        Elements that are written one by one are places of their own.
        """
        if self.held is None:
            return False
        now = _held(self.value) or []
        if len(now) != len(self.held):
            return True
        return not self.has_items and any(
            a is not b for a, b in zip(now, self.held, strict=True)
        )

    def is_changed(self) -> bool:
        """True if the place holds something else, or a list that has grown."""
        return self.is_grown() or self.place.get() is not self.value

    def restore(self) -> None:
        """Puts back what was there."""
        if type(self.value) is GrownList:
            self.value.flows = list(self.held or ())
        elif self.held is not None:
            self.value[:] = self.held
        aliases.put_back(self.value)
        if self.place.get() is not self.value:
            self.place.put(self.value)


def _held(value: Any) -> list[Any] | None:
    if type(value) is GrownList:
        return list(value.flows)
    return list(value) if type(value) is list else None


class Watch:
    """The places that one trace of a block may have changed."""

    def __init__(self) -> None:
        self.seen: dict[tuple[int, Any], Seen] = {}
        self.made: dict[int, Any] = {}  # objects made in the block, kept alive
        self.held: dict[int, list[Any]] = {}  # of each list, what it held at first
        self.items: set[int] = set()  # lists of which single elements were written
        self.builds: set[int] = set()  # objects that got a variable in the block

    def note(self, place: Place, certain: bool = False) -> None:
        """Remembers what a place holds, the first time."""
        ident = place.ident
        if ident in self.seen or ident[0] in self.made:
            return
        seen = self.seen[ident] = Seen(place, certain)
        if seen.held is not None:  # another name may have told of the list already
            seen.held = self.held.setdefault(id(seen.value), seen.held)
        if isinstance(place, Item) and type(place.owner) is list:
            self.items.add(ident[0])


class _Watches(threading.local):
    def __init__(self) -> None:
        self.stack: list[Watch] = []


_watches = _Watches()


@contextmanager
def watching(*blocks: Callable[..., Any]) -> Generator[Watch]:
    """A watch on what is traced meanwhile, and on the variables that the blocks see."""
    watch = Watch()
    for block in blocks:
        for place in variables_of(inspect.unwrap(block)):
            watch.note(place, certain=True)
    _watches.stack.append(watch)
    try:
        yield watch
    finally:
        _watches.stack.remove(watch)
        for seen in watch.seen.values():
            seen.has_items = id(seen.value) in watch.items


class _Facts:
    """What is known of code objects, as long as they live. Hashing them takes long."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def get(self, code: CodeType) -> Any:
        """What was noted, or None."""
        found = self._known.get(id(code))
        return None if found is None else found[1]

    def note(self, code: CodeType, fact: Any) -> Any:
        """Keeps a fact, and returns it."""
        number = id(code)
        ref = weakref.ref(code, lambda _: self._known.pop(number, None))
        self._known[number] = (ref, fact)
        return fact


# The names that converted code has from functions that were not traced.
_given = _Facts()


def note_given(code: CodeType, names: frozenset[str]) -> None:
    """Tells which variables a converted function has from the functions around it."""
    _given.note(code, names)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            note_given(part, names)


def variables_of(function: Any) -> Iterator[Place]:
    """What a function shares: variables of functions around it, globals that it may change."""
    given = _given.get(function.__code__)
    for name, cell in cells_of(function):
        yield Cell(cell, "", name, given is None or name in given)
    stored, used = _global_names(function.__code__)
    space = function.__globals__
    for name in used:
        if name in stored or type(space.get(name)) is list:
            yield Item(space, name, name)


def cells_of(function: Any) -> Iterator[tuple[str, CellType]]:
    """The variables that a function sees of the functions around it."""
    closure = getattr(function, "__closure__", None) or ()
    for name, cell in zip(function.__code__.co_freevars, closure, strict=True):
        if name != "ag__":
            yield name, cell


# -- what converted code tells ------------------------------------------------------------


def written(owner: Any) -> Any:
    """`owner`, an attribute or item of which is about to be written or grown."""
    return _Written(owner) if _watches.stack or aliases.any_known() else owner


def is_watched() -> bool:
    """True while a staged block is traced."""
    return bool(_watches.stack)


def own(value: Any) -> Any:
    """A value that is about to be changed in place: of an array a staged block has its own."""
    value = ld(value)
    return value.copy() if _watches.stack and type(value) is np.ndarray else value


def _note(place: Place) -> None:
    for watch in _watches.stack:
        watch.note(place)


class _Written:
    """Stands for an object in the target of an assignment, and tells what is written."""

    __slots__ = ("_owner",)

    def __init__(self, owner: Any) -> None:
        object.__setattr__(self, "_owner", owner)

    def __getattr__(self, name: str) -> Any:
        owner = object.__getattribute__(self, "_owner")
        _note(Attribute(owner, name, f"{_label(owner)}.{name}"))
        return own(getattr(owner, name))

    def __setattr__(self, name: str, value: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        _note(Attribute(owner, name, f"{_label(owner)}.{name}"))
        setattr(owner, name, value)
        if _is_variable(value):
            for watch in _watches.stack:
                watch.builds.add(id(owner))

    def __delattr__(self, name: str) -> None:
        owner = object.__getattribute__(self, "_owner")
        _note(Attribute(owner, name, f"{_label(owner)}.{name}"))
        delattr(owner, name)

    def __getitem__(self, key: Any) -> Any:
        owner = object.__getattribute__(self, "_owner")
        _note_item(owner, key)
        return own(owner[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        _note_item(owner, key)
        owner[key] = value

    def __delitem__(self, key: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        _note_item(owner, key)
        del owner[key]


def _note_item(owner: Any, key: Any) -> None:
    if isinstance(owner, (list, dict)) and isinstance(key, (str, int, bytes, tuple)):
        _note(Item(owner, key, f"{_label(owner)}[{key!r}]"))


def _label(owner: Any) -> str:
    return type(owner).__name__


def _is_variable(value: Any) -> bool:
    return hasattr(value, "assign") and hasattr(value, "handle")


def note_call(function: Any, args: tuple[Any, ...]) -> None:
    """A converted function is about to be called: it may write what it shares or is given."""
    if not _watches.stack or not isinstance(function, FunctionType):
        return
    for place in variables_of(function):
        _note(place)
    for argument in args:
        if type(argument) is list:
            _note(Elements(None, (argument,), "list"))


def note_made(made: Any) -> None:
    """An object was made: what is written to it inside is nobody's state."""
    for watch in _watches.stack:
        watch.made[id(made)] = made


_names = _Facts()


def _global_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that code sets, and all that it uses."""
    known = _names.get(code)
    if known is None:
        stored: set[str] = set()
        used: set[str] = set()
        for step in dis.get_instructions(code):
            if step.opname.endswith("_GLOBAL"):
                used.add(step.argval)
                if step.opname != "LOAD_GLOBAL":
                    stored.add(step.argval)
        for part in code.co_consts:
            if isinstance(part, CodeType):
                inner = _global_names(part)
                stored |= inner[0]
                used |= inner[1]
        known = _names.note(code, (frozenset(stored), frozenset(used)))
    return known


# -- symbols ------------------------------------------------------------------------------


def place_of(symbol: str, accessor: Any) -> tuple[Any, Any] | None:
    """Owner and key of the place that a symbol of generated code means, None if unknown.

    `accessor` is a function that sees the same names.
    """
    cells = dict(cells_of(accessor))
    space = accessor.__globals__
    if symbol.isidentifier():
        return (cells[symbol], "") if symbol in cells else (space, symbol)
    node = _parsed(symbol)
    try:
        if isinstance(node, ast.Attribute):
            return _value(node.value, cells, space), node.attr
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return _value(node.value, cells, space), node.slice.value
    except (AttributeError, LookupError, TypeError, ValueError):
        pass
    return None


@functools.lru_cache(maxsize=1000)
def _parsed(symbol: str) -> ast.expr | None:
    try:
        return ast.parse(symbol, mode="eval").body
    except SyntaxError:
        return None


def _value(node: Any, cells: dict[str, CellType], space: dict[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return cells[node.id].cell_contents if node.id in cells else space[node.id]
    owner = _value(node.value, cells, space)
    if isinstance(node, ast.Attribute):
        return getattr(owner, node.attr)
    return owner[node.slice.value]
