"""Locations that converted code may write besides its own names.

Variables of closures, globals, attributes, items, and the elements of containers.
"""

from __future__ import annotations

import ast
import collections
import functools
import weakref
from collections.abc import Iterator
from types import CellType, CodeType
from typing import Any

from intaglio.autograph import aliases
from intaglio.autograph.optional import Maybe
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.values import Undefined
from intaglio.cpython import bytecode
from intaglio.type_specs.grown_list import GrownList


class Location:
    """A variable, attribute or item; `get` returns Undefined while it has no value."""

    __slots__ = ("key", "name", "owner", "provenance")

    def __init__(
        self, owner: Any, key: Any, name: str, provenance: Provenance = Provenance.OLDER
    ) -> None:
        self.owner = owner
        self.key = key
        self.name = name
        # Of the object that has the location; of a variable, of the function that has it.
        self.provenance = provenance

    @property
    def outlives(self) -> bool:
        """True if the location is known to outlive the trace: what Python leaves there stays."""
        return self.provenance is Provenance.OLDER

    @property
    def may_outlive(self) -> bool:
        """True unless only the trace can see the location."""
        return self.provenance is not Provenance.CREATED

    @property
    def ident(self) -> tuple[int, Any]:
        """Equal for equal locations, as long as the owner lives."""
        return id(self.owner), self.key

    def get(self) -> Any:
        """The value."""
        try:
            return aliases.current(self._read())
        except (AttributeError, KeyError, IndexError, ValueError):
            return Undefined(self.name)

    def put(self, value: Any) -> None:
        """Sets the value; Undefined removes it."""
        if type(value) is Undefined:
            if type(self.get()) is not Undefined:
                self._remove()
        else:
            self._write(value)

    def poison(self, why: str) -> None:
        """Makes any use of it in converted code an error."""
        self._write(Undefined(self.name, why))

    def _read(self) -> Any:
        raise NotImplementedError

    def _write(self, value: Any) -> None:
        raise NotImplementedError

    def _remove(self) -> None:
        raise NotImplementedError


class Cell(Location):
    """A variable that functions share."""

    __slots__ = ()

    def _read(self) -> Any:
        return self.owner.cell_contents

    def _write(self, value: Any) -> None:
        self.owner.cell_contents = value

    def _remove(self) -> None:
        if self.provenance is Provenance.CREATED:
            # Converted code reads the state of a block before it is assigned.
            self.owner.cell_contents = Undefined(self.name)
        else:
            del self.owner.cell_contents


class Attribute(Location):
    """An attribute of an object."""

    __slots__ = ()

    def _read(self) -> Any:
        return getattr(self.owner, self.key)

    def _write(self, value: Any) -> None:
        setattr(self.owner, self.key, value)

    def _remove(self) -> None:
        delattr(self.owner, self.key)


class Item(Location):
    """An item of a list or dictionary; globals are items of their module's dictionary."""

    __slots__ = ()

    @property
    def is_global(self) -> bool:
        """True for the items of a module's dictionary."""
        return isinstance(self.owner, dict) and "__builtins__" in self.owner

    def _read(self) -> Any:
        if isinstance(self.owner, dict) and not dict.__contains__(self.owner, self.key):
            raise KeyError(self.key)  # not what a defaultdict would make
        return self.owner[self.key]

    def _write(self, value: Any) -> None:
        if type(self.owner) is list and self.key >= len(self.owner):
            return  # it comes back with the others of its list
        self.owner[self.key] = value
        if type(value) is Maybe:
            aliases.note_optional(self.owner)

    def _remove(self) -> None:
        del self.owner[self.key]


class Elements(Location):
    """The elements of a container, wherever it is; of a dictionary its keys and their order."""

    __slots__ = ()

    @property
    def ident(self) -> tuple[int, Any]:
        return elements_of(self.key[0])

    def _read(self) -> Any:
        return self.key[0]

    def _write(self, value: Any) -> None:
        if type(value) is not GrownList:
            return
        grown = aliases.current(self.key[0])
        if type(grown) is list:
            aliases.follow(grown, value)
        elif grown is not value:
            grown.become(value.flows)


def elements_of(container: Any) -> tuple[int, Any]:
    """The `ident` of the location of a container's elements."""
    return id(container), Elements


class _Facts:
    """Facts about code objects, memoized by id while they live, as code objects are slow to hash."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}

    def get(self, code: CodeType) -> Any:
        """The noted fact, or None."""
        found = self._known.get(id(code))
        return None if found is None else found[1]

    def note(self, code: CodeType, fact: Any) -> Any:
        """Keeps a fact, and returns it."""
        number = id(code)
        ref = weakref.ref(code, lambda _: self._known.pop(number, None))
        self._known[number] = (ref, fact)
        return fact


# The names that converted code has from functions that were not traced.
_free_variables = _Facts()


def note_free_variables(code: CodeType, names: frozenset[str]) -> None:
    """Notes the free variables of a converted function."""
    _free_variables.note(code, names)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            note_free_variables(part, names)


def variables_of(function: Any) -> Iterator[Location]:
    """The variables that a function shares: those of enclosing functions, and globals that it may set."""
    free_variables = _free_variables.get(function.__code__)
    for name, cell in cells_of(function):
        is_older = free_variables is None or name in free_variables
        origin = Provenance.OLDER if is_older else Provenance.CREATED
        yield Cell(cell, "", name, origin)
    stored, used = global_names(function.__code__)
    space = function.__globals__
    for name in used:
        if name in stored or type(space.get(name)) in (list, collections.defaultdict):
            yield Item(space, name, name)


def cells_of(function: Any) -> Iterator[tuple[str, CellType]]:
    """The closure cells of a function."""
    closure = getattr(function, "__closure__", None) or ()
    for name, cell in zip(function.__code__.co_freevars, closure, strict=True):
        if name != "ag__":
            yield name, cell


_names = _Facts()


def global_names(code: CodeType) -> tuple[frozenset[str], frozenset[str]]:
    """The global names that code sets, and all that it uses."""
    known = _names.get(code)
    if known is None:
        stored, used = bytecode.global_names(code)
        for part in code.co_consts:
            if isinstance(part, CodeType):
                inner = global_names(part)
                stored |= inner[0]
                used |= inner[1]
        known = _names.note(code, (frozenset(stored), frozenset(used)))
    return known


# -- symbols ------------------------------------------------------------------------------


def location_of(symbol: str, accessor: Any) -> tuple[Any, Any] | None:
    """Owner and key of the location that a symbol of generated code refers to, None if unknown.

    `accessor` is a function that sees the same names.
    """
    cells = dict(cells_of(accessor))
    space = accessor.__globals__
    if symbol.isidentifier():
        return (cells[symbol], "") if symbol in cells else (space, symbol)
    node = _parsed(symbol)
    try:
        if isinstance(node, ast.Attribute):
            return _owner(node, cells, space), node.attr
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            return _owner(node, cells, space), node.slice.value
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
    owner = _owner(node, cells, space)
    if isinstance(node, ast.Attribute):
        return getattr(owner, node.attr)
    return owner[node.slice.value]


def _owner(node: Any, cells: dict[str, CellType], space: dict[str, Any]) -> Any:
    return aliases.current(_value(node.value, cells, space))


def own_names(code: CodeType) -> set[str]:
    """The names that code has for itself, and the code in it."""
    found = {*code.co_varnames, *code.co_cellvars}
    for part in code.co_consts:
        if isinstance(part, CodeType):
            found |= own_names(part)
    return found
