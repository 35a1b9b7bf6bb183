"""The reads of unconverted code, found in its bytecode.

Such code reports nothing. It is the `call` of Keras' layers, functions with `autograph=False`, generators, and what
Python itself calls: `__getitem__`, `__bool__`, `__enter__`. When such code makes a node, its frame is on the
stack; where converted code calls it, the function is at hand. The bytecode names the globals, the variables of
closures and the attributes and items of parameters that it loads. What they lead to is noted as read, also
in a branch that did not run, and so is what the functions read that it names. Code of libraries is left
out, and so is what the code writes itself.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import inspect
import sys
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import (
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    MappingProxyType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import numpy as np

from intaglio.autograph import libraries, provenance, reads
from intaglio.autograph.access_paths import ATTRIBUTE, CELL, GLOBAL, ITEM, ITEMS, ROOT, item_of
from intaglio.autograph.mutators import mutators_of
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.read_values import CONTAINERS, is_plain
from intaglio.autograph.reads import Recorder
from intaglio.base import origins
from intaglio.ir.graph import Node
from intaglio.opdef.tensor import Tensor

# The module that converted code calls, by the name that it has there.
_CONVERTED = "ag__"
_NO_CODE = ("CACHE", "EXTENDED_ARG", "PRECALL", "RESUME", "NOP")
_NOTHING = object()
_NO_KEYWORDS: Mapping[str, Any] = MappingProxyType({})
MAX_DEPTH = 6  # of functions that call each other


class _Step(NamedTuple):
    """An attribute or an item that is taken of a value, and the offset of the instruction."""

    kind: str
    key: Any
    offset: int


class _Load(NamedTuple):
    """A variable that code loads, and what it takes of it."""

    kind: str  # GLOBAL, CELL, or ROOT for a parameter
    name: str
    offset: int
    steps: tuple[_Step, ...]


class _Loads(NamedTuple):
    """The variables that a code object loads."""

    loads: tuple[_Load, ...]
    writes_items: bool


@functools.lru_cache(maxsize=1024)
def _loads(code: CodeType) -> _Loads:
    """What the code loads, without names and attributes that it writes."""
    steps = [i for i in dis.get_instructions(code) if i.opname not in _NO_CODE]
    written = {_last(i) for i in steps if i.opname.startswith(("STORE_", "DELETE_"))}
    parameters = set(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    found = tuple(
        load
        for load in _chains(steps, frozenset(code.co_freevars))
        if not written & {load.name, *[s.key for s in load.steps]}
        and (load.kind != ROOT or load.name in parameters)
    )
    return _Loads(found, any(i.opname in ("STORE_SUBSCR", "DELETE_SUBSCR") for i in steps))


def _chains(steps: Sequence[dis.Instruction], free: frozenset[str]) -> Iterator[_Load]:
    for at, step in enumerate(steps):
        if step.opname == "LOAD_GLOBAL":
            kind = GLOBAL
        elif step.opname == "LOAD_DEREF" and step.argval in free:
            kind = CELL
        elif step.opname.startswith("LOAD_FAST"):
            kind = ROOT
        else:
            continue
        taken = tuple(_taken(steps, at + 1))
        yield _Load(kind, _last(step), step.offset, taken)


def _taken(steps: Sequence[dis.Instruction], at: int) -> Iterator[_Step]:
    """The attributes, and the items of constant keys, that follow a load."""
    while at < len(steps):
        step = steps[at]
        if step.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            yield _Step(ATTRIBUTE, _last(step), step.offset)
            at += 1
            continue
        following = steps[at + 1] if at + 1 < len(steps) else None
        if following is None or not step.opname.startswith("LOAD_") or not _is_subscript(following):
            return
        if step.opname not in ("LOAD_CONST", "LOAD_SMALL_INT") or not is_plain(step.argval):
            return
        yield _Step(ITEM, step.argval, following.offset)
        at += 2


def _is_subscript(step: dis.Instruction) -> bool:
    is_operator = step.opname == "BINARY_OP" and step.argrepr == "[]"
    return is_operator or step.opname == "BINARY_SUBSCR"


def _last(step: dis.Instruction) -> str:
    """The name of an instruction's operand; the last one of instructions for two names."""
    return step.argval[-1] if isinstance(step.argval, tuple) else str(step.argval)


class _Scope(NamedTuple):
    """The variables of a call of a code object."""

    code: CodeType
    names: dict[str, Any]  # its globals
    cells: Mapping[str, CellType]
    values: Mapping[str, Any]  # parameters, and variables of closures whose cells are unknown

    def find(self, load: _Load) -> tuple[Any, str, str, Any]:
        """The owner of a variable, its kind there, its name and its value."""
        cell = self.cells.get(load.name) if load.kind == CELL else None
        if load.kind == GLOBAL:
            return self.names, GLOBAL, load.name, self.names.get(load.name, _NOTHING)
        if cell is None:
            return None, ROOT, load.name, self.values.get(load.name, _NOTHING)
        try:
            return cell, CELL, load.name, cell.cell_contents
        except ValueError:
            return cell, CELL, load.name, _NOTHING


# -- frames ----------------------------------------------------------------------------------


def observer() -> Callable[[Node], None] | None:
    """A function to be called with each new node; None outside of traces that note reads."""
    recorder = reads.current()
    if recorder is None:
        return None
    outside = sys._getframe(1)
    # Both by the code's id, which is faster than its hash. What needs no second look at the stack,
    # whatever its parameters are, is done.
    loads_of: dict[int, tuple[CodeType, _Loads | None]] = {}
    done: set[int] = set()
    seen: set[tuple[int, int]] = set()

    def observe(node: Node) -> None:
        if node.origin and id(node.origin[0][0]) in done:
            return
        for frame in origins.users_frames(sys._getframe(2), outside):
            code = frame.f_code
            if id(code) in done:
                return
            if id(code) not in loads_of:
                loads_of[id(code)] = code, _loads(code) if _is_unconverted(frame) else None
            loads = loads_of[id(code)][1]
            if loads is None or all([load.kind == GLOBAL for load in loads.loads]):
                done.add(id(code))
            else:
                first = frame.f_locals.get(code.co_varnames[0]) if code.co_varnames else None
                # The code of another object reads other attributes; all tensors are alike.
                ident = id(code), 0 if isinstance(first, Tensor) else id(first)
                if ident in seen:
                    return
                seen.add(ident)
            if loads is not None:
                # What the cells of the closure are is not known of a frame.
                scope = _Scope(code, frame.f_globals, {}, frame.f_locals)
                _Scan(recorder).note_all(scope, loads)

    return observe


def _is_unconverted(frame: FrameType) -> bool:
    """True for user code that was not converted."""
    return _is_users(frame.f_code, frame.f_globals)


def _is_users(code: CodeType, names: dict[str, Any]) -> bool:
    if _CONVERTED in code.co_names or _CONVERTED in code.co_freevars:
        return False
    package = (names.get("__name__") or "").partition(".")[0]
    is_known = libraries.is_standard(package) or libraries.library_of(names) is not None
    return not is_known and not origins.is_ours(code)


# -- functions -------------------------------------------------------------------------------


def called(
    function: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] = _NO_KEYWORDS
) -> None:
    """Called when converted code, or Python on its behalf, calls an unconverted function."""
    recorder = reads.current()
    if recorder is not None:
        _Scan(recorder).function(function, args, kwargs)


def entered(manager: Any) -> Any:
    """Called for a context manager that is about to be entered: a generator function, or an object."""
    if reads.current() is not None:
        if isinstance(manager, contextlib.AbstractContextManager) and hasattr(manager, "gen"):
            called(manager.func, manager.args, manager.kwds)  # type: ignore[attr-defined]  # of contextlib
        else:
            implicit(manager, "__enter__", "__exit__")
    return manager


# The special methods that a class does not have in Python, and the tuples of names of which it has none.
# Those that it has are not kept: a function that calls `super` refers to its class, which would live for ever.
_without_method: weakref.WeakKeyDictionary[type, set[str | tuple[str, ...]]] = (
    weakref.WeakKeyDictionary()
)


def implicit(value: Any, *names: str) -> None:
    """Called when Python calls special methods of an object, such as `__len__` and `__bool__`."""
    recorder = reads.current()
    if recorder is None:
        return
    kind = type(value)
    absent = _without_method.get(kind)
    if absent is None:
        absent = _without_method.setdefault(kind, set())
    if names in absent:
        return
    has_none = True
    for name in names:
        method = None if name in absent else _method(kind, name)
        if method is None:
            absent.add(name)
        else:
            has_none = False
            called(method, (value,))
    if has_none:
        absent.add(names)


def _method(kind: type, name: str) -> FunctionType | None:
    """A special method that a class of the user's has in Python."""
    found = inspect.getattr_static(kind, name, None)
    if type(found) is not FunctionType or not _is_users(found.__code__, found.__globals__):
        return None
    return found


# What built-in functions call of their arguments.
ITERATING = ("__iter__", "__next__", "__len__", "__getitem__")
_CALLED_BY: dict[Any, tuple[str, ...]] = {
    bool: ("__bool__", "__len__"),
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__"),
    complex: ("__complex__", "__float__", "__index__"),
    str: ("__str__", "__repr__"),
    format: ("__format__", "__str__"),
    len: ("__len__",),
    abs: ("__abs__",),
    round: ("__round__",),
    range: ("__index__",),
    repr: ("__repr__",),
    hash: ("__hash__",),
    **dict.fromkeys(
        (all, any, dict, enumerate, filter, iter, list, map, max, min, next, reversed, set, frozenset,
         sorted, sum, tuple, zip), ITERATING),
}  # fmt: skip
_BY_ID = {id(f): names for f, names in _CALLED_BY.items()}
COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
_AS_DATA = ("__array__", "__float__", "__index__")


def called_with(function: Any, args: Sequence[Any]) -> None:
    """Called for a function that calls special methods of its arguments."""
    if reads.current() is not None:
        names = _BY_ID.get(id(function), _AS_DATA)
        for value in args:
            implicit(value, *names)


# The names that a class does not compute.
_stored_names: weakref.WeakKeyDictionary[type, set[str]] = weakref.WeakKeyDictionary()


def computed(owner: Any, name: str) -> None:
    """Called for a read of an attribute that `__getattr__` or a descriptor's `__get__` may compute."""
    if reads.current() is None:
        return
    kind = type(owner)
    stored = _stored_names.get(kind)
    if stored is None:
        stored = _stored_names.setdefault(kind, set())
    found = None if name in stored else _computation(kind, name)
    if found is None:
        stored.add(name)
        return
    function, descriptor = found
    if descriptor is _NOTHING:
        if name not in getattr(owner, "__dict__", ()):
            called(function, (owner, name))
    else:
        called(function, (descriptor, owner, kind) if descriptor is not None else (owner,))


def _computation(kind: type, name: str) -> tuple[FunctionType, Any] | None:
    """The function that computes an attribute, and the descriptor that it is a method of.

    That is None for functions that take the object alone, and nothing for `__getattr__`.
    """
    found = inspect.getattr_static(kind, name, _NOTHING)
    if found is _NOTHING:
        method = _method(kind, "__getattr__")
        return None if method is None else (method, _NOTHING)
    if type(found) is functools.cached_property:
        return (found.func, None) if type(found.func) is FunctionType else None
    getter = None if type(found) is property else _method(type(found), "__get__")
    return None if getter is None else (getter, found)


class _Scan:
    """Notes the reads of functions, following the functions that they call."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.depth = 0

    def function(
        self, function: Any, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] = _NO_KEYWORDS
    ) -> None:
        """Notes the reads of a function, if it is unconverted user code."""
        if type(function) is functools.partial:
            self.function(function.func, (*function.args, *args), {**function.keywords, **kwargs})
            return
        if type(function) is MethodType:
            function, args = function.__func__, (function.__self__, *args)
        if type(function) is not FunctionType:
            return
        scanned = self.recorder.scanned
        if id(function) in scanned:
            return
        code = function.__code__
        if not _is_users(code, function.__globals__):
            wrapped = getattr(function, "__wrapped__", None)
            if wrapped is not None:
                self.function(wrapped, args, kwargs)
            else:  # of a library, whatever its arguments are
                scanned.add(id(function))
                self.recorder.keep.append(function)
            return
        ident = id(function), id(args[0]) if args else 0
        if ident in scanned or self.depth == MAX_DEPTH:
            return
        scanned.add(ident)
        self.recorder.keep += (function, *args[:1])
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        values = {**dict(zip(code.co_varnames[: code.co_argcount], args, strict=False)), **kwargs}
        self.depth += 1
        self.note_all(_Scope(code, function.__globals__, cells, values), _loads(code))
        self.depth -= 1

    def note_all(self, scope: _Scope, loads: _Loads) -> None:
        """Notes what the code loads that is stored where it is found."""
        for load in loads.loads:
            self._note(scope, load, loads.writes_items)

    def _note(self, scope: _Scope, load: _Load, writes_items: bool) -> None:
        owner, kind, name, found = scope.find(load)
        links: list[tuple[Any, str, Any, Any, int]] = []
        if kind != ROOT:
            links.append((owner, kind, name, found, load.offset))
        rest = list(load.steps)
        while rest and found is not _NOTHING:
            step = rest[0]
            inner = _stored(found, step)
            if inner is _NOTHING:
                break
            rest.pop(0)
            links.append((found, step.kind, step.key, inner, step.offset))
            found = inner
        if found is _NOTHING or _is_of_libraries(found):
            return
        if rest and rest[0].kind == ATTRIBUTE and self._goes_on(found, rest[0].key):
            return
        if isinstance(found, FunctionType):
            self.function(found)
        if links and _is_read(found, links[-1][1], writes_items):
            self._note_links(scope.code, links)

    def _goes_on(self, owner: Any, name: str) -> bool:
        """Follows a method or a property. True if it changes its owner."""
        if isinstance(owner, CONTAINERS):
            return name in mutators_of(owner)
        if isinstance(owner, (type, ModuleType, Tensor)) or is_plain(owner):
            return False
        found = inspect.getattr_static(type(owner), name, None)
        getter = found.fget if type(found) is property else found
        if isinstance(found, (classmethod, staticmethod)):
            self.function(found.__func__, (type(owner),) if isinstance(found, classmethod) else ())
        elif type(getter) is FunctionType:
            self.function(getter, (owner,))
        return False

    def _note_links(self, code: CodeType, links: Sequence[tuple[Any, str, Any, Any, int]]) -> None:
        for owner, kind, key, value, offset in links:
            if kind in (ATTRIBUTE, ITEM) and provenance.of(owner) is not Provenance.OLDER:
                return
            origin = functools.partial(_origin, code, offset)
            self.recorder.note(owner, kind, key, value, origin)
        value, origin = links[-1][3], functools.partial(_origin, code, links[-1][4])
        if isinstance(value, CONTAINERS) and provenance.of(value) is Provenance.OLDER:
            self.recorder.aspect(value, reads.CONTENTS, origin)


def _is_read(found: Any, kind: str, writes_items: bool) -> bool:
    """Whether the value that code has in the end is part of what it does; `kind` is how it got it."""
    if is_plain(found) or isinstance(found, (Tensor, np.ndarray)):
        return True
    if isinstance(found, CONTAINERS) or type(found) is tuple:
        return not writes_items
    return kind in (ATTRIBUTE, ITEM) and not isinstance(found, (type, ModuleType))


def _is_of_libraries(value: Any) -> bool:
    return isinstance(value, ModuleType) and libraries.is_one(value)


def _stored(owner: Any, step: _Step) -> Any:
    """An attribute that is kept in the object or, a plain one, in its class; an item; else `_NOTHING`."""
    if step.kind == ITEM:
        return _item(owner, step.key)
    name = step.key
    if is_plain(owner):
        return _NOTHING
    if isinstance(owner, ModuleType):
        return vars(owner).get(name, _NOTHING)
    found = getattr(owner, "__dict__", {}).get(name, _NOTHING)
    if found is _NOTHING:
        found = inspect.getattr_static(owner, name, _NOTHING)
        if inspect.ismemberdescriptor(found):
            found = getattr(owner, name, _NOTHING)
        elif not is_plain(found) and not isinstance(found, CONTAINERS):
            return _NOTHING
    return found if reads.is_stored(owner, name, found) else _NOTHING


def _item(owner: Any, key: Any) -> Any:
    if not isinstance(owner, ITEMS):
        return _NOTHING
    try:
        return item_of(owner, key)
    except (LookupError, TypeError):
        return _NOTHING


def _origin(code: CodeType, offset: int) -> origins.Origin:
    return ((code, offset),)


__all__ = [
    "COMPARING",
    "ITERATING",
    "called",
    "called_with",
    "computed",
    "entered",
    "implicit",
    "observer",
]
