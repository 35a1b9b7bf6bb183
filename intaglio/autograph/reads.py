"""The reads of Python state by a trace: globals, closure variables, attributes, items, containers.

Such values are constants of the trace. Converted code reports each read here; the innermost trace records
the value, the access path by which it can be read again, and the line. The reads of code that is not
converted are found in its bytecode (`unconverted_reads`); the reads of libraries are not known.

Reads of objects that the trace has created or written itself are not recorded: no later call depends on them.
"""

from __future__ import annotations

import array
import collections
import enum
import functools
import inspect
import os
import sys
import weakref
from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any

import numpy as np

from intaglio.autograph import aliases, libraries, provenance, side_effects
from intaglio.autograph.access_paths import (
    ARRAY,
    ATTRIBUTE,
    CELL,
    CLASS,
    CONTENTS,
    GLOBAL,
    HAS,
    IS_NONE,
    ITEM,
    LENGTH,
    ROOT,
    SIZES,
    VALUE,
    AccessPath,
    Presence,
    Read,
)
from intaglio.autograph.mutators import SETTING, mutators_of
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.read_values import CONTAINERS, ArrayContents, Contents, is_plain, keep
from intaglio.base import origins
from intaglio.base.origins import Frame
from intaglio.base.threads import Inherited
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.grown_list import GrownList
from intaglio.type_specs.type_spec import TypeSpec

_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, type)
# Objects with no state of the user's.
_WITHOUT_STATE = (Tensor, TypeSpec, *_FUNCTIONS[:3])
_GONE = object()


class Recorder:
    """Records the reads of one trace, while it is in progress."""

    def __init__(self, check_arrays: bool = False) -> None:
        self.check_arrays = check_arrays
        self.reads: dict[Any, Read] = {}
        self.known: dict[Any, AccessPath] = {}  # by owner and key
        self.paths: dict[int, AccessPath] = {}  # of objects, by their ids
        self.objects: dict[Any, tuple[AccessPath, Any, origins.Origin]] = {}
        self.written: set[Any] = set()
        self.keep: list[Any] = []  # what the ids are of
        # The functions whose code was looked at, with their first argument; those of libraries without one.
        self.scanned: set[int | tuple[int, int]] = set()
        self.absorbed: list[Read] = []
        self.effects = side_effects.Effects()

    def note(
        self, owner: Any, kind: str, key: Any, value: Any, origin: Callable[[], origins.Origin]
    ) -> None:
        """Notes the read of a variable, attribute or item."""
        ident = id(owner), kind, key
        if ident in self.known or ident in self.written:
            return
        path = self._path_of(owner, kind, key, origin)
        if path is None:
            return
        self.known[ident] = path
        self.keep.append(owner)
        if is_plain(value):
            self._read(path, VALUE, value)
        elif isinstance(value, np.ndarray):
            self.reach(value, path)
            self._read(path, VALUE, keep(value))
            if self.check_arrays:
                self._read(path, ARRAY, ArrayContents(value))
        elif isinstance(value, _WITH_ELEMENTS) or type(value) is ModuleType:
            self.reach(value, path)
        elif type(value) is not SymbolicTensor:
            self.reach(value, path)
            self.objects[ident] = (path, value, path.origin)

    def _path_of(
        self, owner: Any, kind: str, key: Any, origin: Callable[[], origins.Origin]
    ) -> AccessPath | None:
        if kind in (GLOBAL, CELL):
            return AccessPath(kind, owner, key, None, origin())
        parent = self.paths.get(id(owner))
        if parent is None:
            if isinstance(owner, (*CONTAINERS, tuple, np.ndarray)):
                return None  # a container from nowhere: nothing else may change it
            source = _reference(owner)
            parent = self.paths[id(owner)] = AccessPath(ROOT, source, "", None, ())
        return AccessPath(kind, None, key, parent, origin())

    def reach(self, value: Any, path: AccessPath) -> None:
        """Sets the access path by which later reads of an object are recorded."""
        self.paths.setdefault(id(value), path)
        self.keep.append(value)

    def _read(self, path: AccessPath, aspect: str, kept: Any, origin: Any = None) -> None:
        where = path.origin if origin is None else origin
        self.reads[id(path), aspect] = Read(path, aspect, kept, where)

    def aspect(self, value: Any, aspect: str, origin: Callable[[], origins.Origin]) -> None:
        """Notes that the length or all elements of a container are read."""
        path = self.paths.get(id(value))
        if path is None or (id(path), aspect) in self.reads:
            return
        if (id(value), None, None) in self.written:
            return
        kept = SIZES[aspect](value) if aspect in SIZES else Contents(value)
        self._read(path, aspect, kept, origin())
        if aspect == CONTENTS and len(value) <= 1000:
            self._reach_elements(value, path)

    def _reach_elements(self, value: Any, path: AccessPath) -> None:
        """Sets the access paths of the objects in a container."""
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        if isinstance(value, (set, frozenset)):
            return
        for key, part in pairs:
            if not is_plain(part):
                self.reach(part, AccessPath(ITEM, None, key, path, path.origin))

    def tested(self, owner: Any, kind: str, key: Any, value: Any, origin: Any) -> None:
        """Notes that a variable or an attribute is compared with None."""
        ident = id(owner), kind, key
        if ident in self.known or ident in self.written:
            return
        path = self._path_of(owner, kind, key, origin)
        if path is not None:
            self.keep.append(owner)
            self._read(path, IS_NONE, value is None)

    def has(self, owner: Any, kind: str, key: Any, present: bool, origin: Any) -> None:
        """Notes a test whether an owner has an attribute or item."""
        ident = id(owner), kind, key
        if ident in self.known or ident in self.written or (id(owner), None, None) in self.written:
            return
        path = self.paths.get(id(owner))
        if path is None:
            if kind == ITEM:
                return
            path = self.paths[id(owner)] = AccessPath(ROOT, _reference(owner), "", None, ())
        self.keep.append(owner)
        if (id(path), HAS, kind, key) not in self.reads:
            read = Read(path, HAS, Presence(kind, key, present), origin())
            self.reads[id(path), HAS, kind, key] = read

    def wrote(self, owner: Any, kind: str, key: Any) -> None:
        """Notes that the trace itself writes a variable, attribute or item."""
        self.written.add((id(owner), kind, key))
        if kind == ITEM:
            self.written.add((id(owner), None, None))
        self.keep.append(owner)

    def finished(self) -> tuple[Read, ...]:
        """The reads, without those of locations that the trace itself has changed."""
        if not (self.objects or self.reads or self.absorbed):
            return ()
        parents = {id(p.parent) for p in [*self.known.values(), *[r.path for r in self._all()]]}
        parents |= {id(r.path) for r in self._all() if r.aspect == HAS}
        idents = {id(p): i for i, p in self.known.items()}
        for ident, (path, value, origin) in self.objects.items():
            if ident in self.written:
                continue
            if id(path) in parents:
                if not isinstance(value, type):
                    self._read(path, CLASS, type(value), origin)
            elif not _is_fixed(path, value):
                self._read(path, VALUE, keep(value), origin)
        found = [r for r in self._all() if r.is_unchanged() and not r.is_lost]
        return tuple([r for r in found if not self._is_written(r.path, idents)])

    def _is_written(self, path: AccessPath | None, idents: dict[int, Any]) -> bool:
        while path is not None:
            if idents.get(id(path)) in self.written:
                return True
            path = path.parent
        return False

    def _all(self) -> Iterable[Read]:
        return [*self.reads.values(), *self.absorbed]


def _reference(value: Any) -> Callable[[], Any]:
    """A weak reference, or a function that returns the value where its class allows none."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value


def _is_fixed(path: AccessPath, value: Any) -> bool:
    """True for functions and classes of imported modules, which are assumed constant."""
    if not isinstance(value, (*_FUNCTIONS, ModuleType)) and not hasattr(value, "python_function"):
        return False
    return path.kind == GLOBAL and path.source.get("__name__") != "__main__"


class _Recorders(Inherited):
    def __init__(self) -> None:
        self.open: list[Recorder] = []
        self.current: Recorder | None = None


_recorders = _Recorders()


class recording:
    """A context in which the reads of a trace are noted; gives the recorder."""

    def __init__(self, check_arrays: bool = False) -> None:
        self.recorder = Recorder(check_arrays)

    def __enter__(self) -> Recorder:
        _recorders.open.append(self.recorder)
        _recorders.current = self.recorder
        return self.recorder

    def __exit__(self, *error: object) -> None:
        _recorders.open.pop()
        _recorders.current = _recorders.open[-1] if _recorders.open else None


def current() -> Recorder | None:
    """The recorder of the innermost trace."""
    return _recorders.current


def absorb(reads: Iterable[Read]) -> None:
    """Adds the reads of a called trace to the current one."""
    recorder = _recorders.current
    if recorder is not None:
        recorder.absorbed += reads


# -- what converted code reads ---------------------------------------------------------------


def _callers() -> origins.Origin:
    return origins.capture(2, 1)


def outer(value: Any, variable: Callable[[], Any], only_tested: bool = False) -> None:
    """Called for a read of a free name; `variable` is a function that reads it too.

    It may be `only_tested`: compared with None.
    """
    recorder = _recorders.current
    if recorder is None:
        return
    owner, kind, name = _variable(variable)
    if (id(owner), kind, name) in recorder.known:
        return
    if only_tested:
        recorder.tested(owner, kind, name, value, _callers)
    elif kind == CELL or name in owner:  # not a built-in function
        recorder.note(owner, kind, name, value, _callers)


def _variable(variable: Callable[[], Any]) -> tuple[Any, str, str]:
    """The location of a variable that a function reads: the cell or the globals, the kind, the name."""
    code, closure = variable.__code__, variable.__closure__
    if closure:
        return closure[0], CELL, code.co_freevars[0]
    return variable.__globals__, GLOBAL, code.co_names[0]


def attribute(owner: Any, name: str, value: Any) -> None:
    """Called for a read of an attribute."""
    recorder = _recorders.current
    if recorder is None or (id(owner), ATTRIBUTE, name) in recorder.known:
        return
    if is_stored(owner, name, value) and provenance.of(owner) is Provenance.OLDER:
        recorder.note(owner, ATTRIBUTE, name, value, _callers)


def tested(owner: Any, name: str, value: Any) -> None:
    """Called for a comparison of an attribute with None."""
    recorder = _recorders.current
    if recorder is None or not is_stored(owner, name, value):
        return
    if provenance.of(owner) is Provenance.OLDER:
        recorder.tested(owner, ATTRIBUTE, name, value, _callers)


def item(owner: Any, key: Any, value: Any) -> None:
    """Called for a read of an item of a list, tuple, dictionary or a standard library container."""
    recorder = _recorders.current
    if recorder is None or not _has_items(owner, value):
        return
    if id(owner) not in recorder.paths:
        owner = aliases.origin(owner)
    if not _is_key(key):
        return
    holder = provenance.holder(owner)
    if holder is not None and isinstance(key, str):
        attribute(holder, key, value)
    elif owner is os.environ or (
        id(owner) in recorder.paths and provenance.of(owner) is Provenance.OLDER
    ):
        recorder.note(owner, ITEM, key, value, _callers)


def _has_items(owner: Any, value: Any) -> bool:
    """True for containers whose items can be read again by key."""
    if isinstance(owner, np.ndarray):
        return isinstance(value, np.generic)
    return isinstance(owner, (list, tuple, dict)) or type(owner) in _INDEXED


def _is_key(key: Any) -> bool:
    return isinstance(key, (int, str, float, bytes, tuple, enum.Enum)) and is_plain(key)


def absent(owner: Any, key: Any, is_attribute: bool) -> None:
    """Called for a read of an absent item or attribute."""
    if is_attribute:
        _presence(owner, ATTRIBUTE, key, False)
    else:
        contained(key, owner, False)


def contained(key: Any, owner: Any, present: bool) -> None:
    """Called for a test whether a container has an element or key."""
    recorder = _recorders.current
    if recorder is None:
        return
    if isinstance(owner, (dict, set)) or owner is os.environ or type(owner) in _INDEXED:
        holder = provenance.holder(owner)
        if holder is not None and isinstance(key, str):
            _presence(holder, ATTRIBUTE, key, present)
        elif _is_key(key):
            _presence(owner, ITEM, key, present)
        else:
            contents(owner)
    elif isinstance(owner, _READABLE):
        contents(owner)


def _presence(owner: Any, kind: str, key: str, present: bool) -> None:
    recorder = _recorders.current
    if recorder is None or provenance.of(owner) is not Provenance.OLDER:
        return
    if kind == ATTRIBUTE and not _has_plain_attributes(owner):
        return
    recorder.has(owner, kind, key, present, _callers)


def _has_plain_attributes(owner: Any) -> bool:
    """True if testing an object for an attribute runs no code of the user's."""
    kind = type(owner)
    if issubclass(kind, _WITHOUT_STATE) or (kind.__module__ or "").partition(".")[0] in _OWN:
        return False
    return not hasattr(kind, "__getattr__") and not isinstance(kind.__getattribute__, FunctionType)


def contents(value: Any, aspect: str = CONTENTS) -> None:
    """Called for a read of all elements of a container, or of its length."""
    if not isinstance(value, _READABLE):
        return
    recorder = _recorders.current
    if recorder is None:
        return
    value = aliases.origin(value)
    if not isinstance(value, CONTAINERS):
        if type(value) is tuple:
            for part in value:
                contents(part, aspect)
        return
    if provenance.of(value) is Provenance.OLDER:
        recorder.aspect(value, aspect, _callers)


# Methods of containers by what they read; others change them, or are of the user's own classes.
_READING_ALL = frozenset(
    {"items", "values", "keys", "copy", "index", "count", "__iter__", "union", "intersection", "difference", "issubset",
     "issuperset", "isdisjoint", "elements", "most_common"}
)  # fmt: skip


def called(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Called for a call of unconverted code, which reads its container arguments."""
    recorder = _recorders.current
    if recorder is None:
        return
    effect = side_effects.kind_of_call(function, args)
    if effect is not None and not (effect == "iterator" and _is_of_trace(args[0])):
        recorder.effects.note(effect)
    owner = getattr(function, "__self__", None)
    if isinstance(owner, CONTAINERS):
        _method(owner, getattr(function, "__name__", ""), args)
        return
    if type(owner) in _INDEXED and getattr(function, "__name__", "") == "get" and args:
        _looked_up(owner, args[0])
        return
    if (function is getattr or function is hasattr) and len(args) >= 2 and isinstance(args[1], str):
        _named(function, *args[:2])
        return
    if function is os.getenv and args:
        _looked_up(os.environ, args[0])
        return
    if function is len and args:
        contents(args[0], LENGTH)
        return
    if type(function) is not FunctionType:
        if id(function) in SETTING and len(args) >= 2:
            wrote(args[0], args[1], True, *args[2:3])
            return
        if id(function) in _TESTING:
            return
    for value in args:
        if isinstance(value, _WITH_ELEMENTS):
            contents(value)
    for value in kwargs.values():
        if isinstance(value, _WITH_ELEMENTS):
            contents(value)


_WITH_ELEMENTS = (*CONTAINERS, tuple)
_READABLE = (*_WITH_ELEMENTS, GrownList)
# By id: not every function that a program calls can be hashed. These are there as long as Python is.
_TESTING = frozenset(map(id, (isinstance, type, id, print, hasattr, callable, next)))


def _is_of_trace(value: Any) -> bool:
    return provenance.of(value) is not Provenance.OLDER


def _method(owner: Any, name: str, args: tuple[Any, ...]) -> None:
    if name == "setdefault" and isinstance(owner, dict) and args:
        _looked_up(owner, args[0])
    if name in mutators_of(owner):
        _wrote_contents(owner)
    elif name in _READING_ALL:
        contents(owner)
    elif name in ("get", "__getitem__", "__contains__") and args and isinstance(owner, dict):
        _looked_up(owner, args[0])


def _looked_up(owner: Any, key: Any) -> None:
    """Called for `dict.get` and the like."""
    try:
        if key in owner:
            item(owner, key, owner[key])
        else:
            contained(key, owner, False)
    except TypeError:
        return  # a key that is no key, about which the call raises


def _named(function: Any, owner: Any, name: str) -> None:
    """Called for `getattr` and `hasattr`."""
    if function is hasattr:
        _presence(owner, ATTRIBUTE, name, hasattr(owner, name))
        return
    value = getattr(owner, name, _GONE)
    if value is _GONE:
        absent(owner, name, True)
    else:
        attribute(owner, name, value)


def assigned(variable: Callable[[], Any]) -> None:
    """Called for an assignment to a global, or to a variable of an enclosing function."""
    recorder = _recorders.current
    if recorder is not None:
        recorder.wrote(*_variable(variable))
        recorder.effects.note("variable")


def wrote(owner: Any, key: Any, is_attribute: bool, value: Any = None, read: Any = _GONE) -> None:
    """Called when the trace sets or deletes an attribute or item.

    `read` is what was there, where the statement has read it to change it.
    """
    recorder = _recorders.current
    if recorder is None or not (is_attribute or getattr(type(key), "__hash__", None)):
        return
    recorder.wrote(owner, ATTRIBUTE if is_attribute else ITEM, key)
    # A variable is created once; a tensor is declared state, or an error where it is used.
    stays = not (hasattr(value, "assign") or type(value) is SymbolicTensor)
    if provenance.of(owner) is Provenance.OLDER and stays:
        if read is not _GONE:
            recorder.effects.count(owner, key, is_attribute, read, value)
        recorder.effects.note("attribute" if is_attribute else "item")


def _wrote_contents(owner: Any) -> None:
    """Called when the trace changes a container by a method."""
    recorder = _recorders.current
    if recorder is not None:
        recorder.wrote(owner, ITEM, None)
        owner = provenance.holder(owner) or aliases.origin(owner)
        if provenance.of(owner) is Provenance.OLDER:
            recorder.effects.note("container")


# -- which attributes are stored -------------------------------------------------------------

_stored: weakref.WeakKeyDictionary[type, dict[str, str]] = weakref.WeakKeyDictionary()


def is_stored(owner: Any, name: str, value: Any) -> bool:
    """True if an attribute is stored, not computed."""
    if name.startswith("__"):
        return False
    kind = type(owner)
    if isinstance(owner, type):
        return _is_stored_in_class(owner, name)
    if kind is FunctionType:
        return name in vars(owner) and not libraries.is_library(owner)
    if kind is ModuleType or isinstance(owner, ModuleType):
        return name in vars(owner) and not libraries.is_one(owner)
    known = _stored.get(kind)
    if known is None:
        known = _stored.setdefault(kind, {})
    found = known.get(name)
    if found is None:
        found = known[name] = _storage(kind, name)
    if found == "instance":
        return not hasattr(kind, "__getattr__") or name in getattr(owner, "__dict__", ())
    if found == "cached":
        return name in getattr(owner, "__dict__", ())
    if found == "class":  # unless the object has one of its own
        if type(value) is MethodType and value.__self__ is owner:
            return False
        return name in getattr(owner, "__dict__", ()) or not isinstance(value, FunctionType)
    return False


def _storage(kind: type, name: str) -> str:
    """Where objects of a class have an attribute: "instance", "class", or "" if it is computed.

    "cached" is what the object may have, or else computes.
    """
    if issubclass(kind, _WITHOUT_STATE) or (kind.__module__ or "").partition(".")[0] in _OWN:
        return ""
    if isinstance(kind.__getattribute__, FunctionType):
        return "cached"
    found = inspect.getattr_static(kind, name, _GONE)
    if found is _GONE or inspect.ismemberdescriptor(found) or type(found) is _FIELD:
        return "instance"
    described = type(found)
    if hasattr(described, "__set__") or hasattr(described, "__delete__"):
        return ""
    if isinstance(found, (FunctionType, classmethod, staticmethod)):
        return "class"
    if described is functools.cached_property:
        return "cached"
    return "" if hasattr(described, "__get__") else "class"


# Containers of Python's library that find an item by its key, or its number.
_INDEXED = frozenset(
    {collections.deque, collections.ChainMap, collections.UserDict, collections.UserList, MappingProxyType, array.array,
     bytearray, type(os.environ)}
)  # fmt: skip
_FIELD = type(Frame.lineno)  # of named tuples
_OWN = frozenset({"intaglio", "numpy", "builtins", "enum"})


def _is_stored_in_class(owner: type, name: str) -> bool:
    module = sys.modules.get(owner.__module__)
    if module is None or libraries.is_one(module):
        return False
    found = inspect.getattr_static(owner, name, _GONE)
    described = type(found)
    meta = type(owner)
    plain = meta.__getattribute__ is type.__getattribute__ and not hasattr(meta, "__getattr__")
    return plain and found is not _GONE and not hasattr(described, "__get__")


__all__ = ["Recorder", "absent", "absorb", "assigned", "attribute", "called", "contained", "contents", "current", "is_stored", "item", "outer",
    "recording",
    "tested", "wrote"]  # fmt: skip
