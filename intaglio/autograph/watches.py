"""Watches: they record the locations that a staged block changes while it is traced.

A watch records the old value of each location that the block may change, so that the block can be
traced again with the changed locations as state (`hidden_state`). Converted code reports its writes
through the functions of this module.
"""

from __future__ import annotations

import collections
import copy
import inspect
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from intaglio.autograph import (
    aliases,
    attribute_writes,
    containers,
    provenance,
    reads,
    unconverted_reads,
)
from intaglio.autograph.containers import CONTAINERS, Contents, contents
from intaglio.autograph.creation import RETURNED
from intaglio.autograph.identity import ANOTHER
from intaglio.autograph.locations import Attribute, Elements, Item, Location, variables_of
from intaglio.autograph.mutators import LOSING, SETTING, WRITING, keys_written, mutators_of
from intaglio.autograph.optional import Maybe, value_or
from intaglio.autograph.provenance import Provenance, in_trace, is_created
from intaglio.autograph.values import ld
from intaglio.base import origins
from intaglio.base.records import fields_of
from intaglio.base.threads import Inherited
from intaglio.opdef.tensor import Tensor
from intaglio.type_specs.grown_list import GrownList, ListObserver

ANOTHER_NAME = (
    "this {} has another name, by which a staged branch or loop changes it in place, and a graph chooses "
    "between tensors only. Change it outside of the block."
)


class Seen:
    """The value of a location before the block; of a container also its contents."""

    __slots__ = (
        "before",
        "certain",
        "contents",
        "items",
        "location",
        "may_only",
        "poisoned",
        "value",
        "where",
    )

    def __init__(
        self, location: Location, certain: bool, where: Any = (), may_only: bool = False
    ) -> None:
        self.location = location
        self.value = location.get()
        # True if the location is known to be older than the block.
        self.certain = certain
        # Where the user's program changes it, or the code that does; or may do so, for all
        # that is known yet.
        self.where = where
        self.may_only = may_only or not where
        self.contents = _contents_of(self.value, type(location) is Elements)
        self.poisoned = aliases.poisoned(self.value)
        # The elements of a list that are locations of their own: they are written one by one.
        self.items: set[int] = set()
        # The value as it was, though the block may change the list itself.
        self.before = self.value.snapshot() if type(self.value) is GrownList else self.value

    @property
    def elements(self) -> list[Any] | None:
        """The elements of an ordinary list, None for any other value."""
        return self.contents if type(self.value) is list else None

    def is_grown(self) -> bool:
        """True if the container has another length or other elements.

        Items of dictionaries are locations of their own, and so may elements of lists be.
        """
        if self.contents is None:
            return False
        now = _contents_of(self.value, True) or Contents()
        if self.items and len(now) == len(self.contents):
            pairs = zip(now, self.contents, strict=True)
            return any(a is not b for i, (a, b) in enumerate(pairs) if i not in self.items)
        if isinstance(self.value, dict):
            return now[::2] != self.contents[::2]
        return not containers.is_equal(now, self.contents)

    def _holds_others(self) -> bool:
        now = _contents_of(self.value, True) or Contents()
        return not containers.is_equal(now, self.contents or Contents())

    def _is_another(self) -> bool:
        return aliases.current(self.value) is not self.value

    def is_in_grown(self) -> bool:
        """True for an element of a list that has become one that grows: it changes as a whole."""
        owner = self.location.owner if isinstance(self.location, Item) else None
        return type(aliases.current(owner)) is GrownList

    def is_poisoned(self) -> bool:
        """True if the container was poisoned meanwhile."""
        return aliases.poisoned(self.value) != self.poisoned

    def is_changed(self) -> bool:
        """True if the location has another value, or a container with other contents."""
        return self.is_grown() or self.is_poisoned() or self.location.get() is not self.value

    def restore(self) -> None:
        """Restores the old value."""
        if type(self.value) is GrownList:
            if self.contents is not None:
                self.value.become(self.contents)
        elif self.contents is not None and (self._holds_others() or self._is_another()):
            containers.put_contents(self.value, self.contents)
        aliases.put_back(self.value)
        if self.poisoned is None:
            aliases.mend(self.value)
        if self.location.get() is not self.value:
            self.location.put(self.value)


def _contents_of(value: Any, any_container: bool) -> Contents | None:
    if type(value) is GrownList:
        return Contents(value.flows) if any_container else None
    if type(value) is list or (any_container and isinstance(value, CONTAINERS)):
        return contents(value)
    return None


class Watch:
    """The locations that one trace of a block may have changed."""

    def __init__(self, staged: bool = True, is_retrace: bool = True) -> None:
        self.staged = staged  # False if Python may run it as it is
        self.seen: dict[tuple[int, Any], Seen] = {}
        self.created: dict[int, Any] = {}  # objects created in the block, kept alive
        # Of what code that is not converted returns, the trace has had it before, or it is
        # new: the first trace of a block cannot decide it, and collects it.
        self.is_retrace = is_retrace
        self.received: dict[int, Any] = {}
        # The locations that the block changes, and True if it takes items of an iterator.
        self.pending: set[tuple[int, Any]] = set()
        self.is_advancing = False
        self.contents: dict[int, Any] = {}  # of each list, its first contents
        self.items: dict[int, set[int]] = {}  # of each list, the elements that were written
        self.builds: set[int] = set()  # objects that got a variable in the block
        self.copied: set[int] = set()  # arrays of which the block changes a copy

    def note(
        self, location: Location, certain: bool = False, where: Any = (), may_only: bool = False
    ) -> None:
        """Records the value of a location, unless it has been recorded before."""
        ident = location.ident
        known = self.seen.get(ident)
        if known is not None and known.may_only and where and not may_only:
            known.where, known.may_only = where, False
        if known is not None or ident[0] in self.created:
            return
        seen = self.seen[ident] = Seen(location, certain, where, may_only)
        if isinstance(seen.value, collections.defaultdict):  # a look may add an item
            origin = provenance.of(seen.value)
            name = _label(seen.value)
            inside = Elements(None, (seen.value,), name, origin)
            self.note(inside, certain, where, may_only)
        if seen.contents is not None:  # another name may have reported the list already
            seen.contents = self.contents.setdefault(id(seen.value), seen.contents)
        if isinstance(location, Item) and type(location.owner) is list:
            self.items.setdefault(ident[0], set()).add(location.key)

    @property
    def inside(self) -> dict[int, Any]:
        """The objects that the block has created, or that a call in it has returned first."""
        return {**self.created, **self.received}

    def is_inside(self, value: Any) -> bool:
        """True for such an object."""
        return id(value) in self.created or id(value) in self.received

    def restore(self, idents: Iterable[Any]) -> None:
        """Restores these locations, the last written first."""
        wanted = set(idents)
        for ident in reversed([i for i in self.seen if i in wanted]):
            self.seen[ident].restore()


class _Watches(Inherited):
    def __init__(self) -> None:
        self.stack: list[Watch] = []


_watches = _Watches()


@contextmanager
def watching(
    *blocks: Callable[..., Any], staged: bool = True, is_retrace: bool = True
) -> Generator[Watch]:
    """A context in which a new watch records changes, including those of the blocks' free variables."""
    watch = Watch(staged, is_retrace)
    for block in blocks:
        function: Any = inspect.unwrap(block)
        for location in variables_of(function):
            watch.note(location, True, function.__code__, may_only=True)
    _watches.stack.append(watch)
    try:
        yield watch
    finally:
        _watches.stack.remove(watch)
        for seen in watch.seen.values():
            seen.items = watch.items.get(id(seen.value), set())


def is_watched() -> bool:
    """True while a staged block is traced."""
    return any([watch.staged for watch in _watches.stack])


def _note(location: Location, may_only: bool = False) -> None:
    where = origins.capture(3, 1)
    for watch in _watches.stack:
        watch.note(location, where=where, may_only=may_only)


# -- what converted code writes -----------------------------------------------------------


def written(owner: Any) -> Any:
    """Returns `owner`, an attribute or item of which is about to be written or grown."""
    return _Written(owner) if in_trace() else owner


def own(value: Any) -> Any:
    """The block's own copy of a value that is about to be changed in place.

    Under other names the old one is poisoned from then on.
    """
    value = ld(value)
    note_write(value)
    _note_inside(value, "__iadd__")
    if not _watches.stack or not isinstance(value, CONTAINERS):
        return value
    if type(value) is np.ndarray:
        return _own_array(value)
    if type(value) is list or isinstance(value, np.ndarray):
        return value
    if not is_created(value) or id(value) in _watches.stack[-1].created:
        if type(value) is not list:
            note_changing(value)
        return value
    note_changing(value)
    kind = type(value).__name__
    aliases.poison(value, ANOTHER_NAME.format(kind))
    copied = copy.copy(value)
    note_created(copied)
    return copied


def _own_array(value: Any) -> Any:
    """A copy of an array, whose changes are not visible through other references to the array."""
    if not in_block(value):
        if provenance.of(value) is not Provenance.OLDER:
            aliases.poison(value, ANOTHER_NAME.format("ndarray"))
        _note_contents(value)
        for watch in _watches.stack:
            watch.copied.add(id(value))
    copied = value.copy()
    note_created(copied)
    return copied


def outer(value: Any, variable: Callable[[], Any], only_tested: bool = False) -> Any:
    """A name's value, where the name is not the function's own; `variable` is a function that reads it.

    It may be `only_tested`: compared with None, as it is.
    """
    reads.outer(value, variable, only_tested)
    return value if only_tested else ld(value)


def item(owner: Any, key: Any) -> Any:
    """`owner[key]`."""
    try:
        value = owner[key]
    except LookupError:
        reads.absent(owner, key, False)
        raise
    reads.item(owner, key, value)
    unconverted_reads.implicit(owner, "__getitem__")
    unconverted_reads.implicit(key, "__index__", "__hash__", "__eq__")
    return ld(value)


def iterated(value: Any) -> Any:
    """Returns `value`, all elements of which are about to be read."""
    reads.contents(value)
    unconverted_reads.implicit(value, *unconverted_reads.ITERATING)
    return value


def compared(value: Any) -> Any:
    """Returns `value`, which is about to be compared by its contents."""
    reads.contents(value)
    unconverted_reads.implicit(value, *unconverted_reads.COMPARING)
    return value


def looked(owner: Any) -> Any:
    """Returns `owner`, an item of which is about to be read; that may add one to a defaultdict."""
    if _watches.stack and isinstance(owner, collections.defaultdict):
        _note_contents(owner)
    return owner


def created(value: Any) -> Any:
    """Returns `value`, which converted code has created if it is a container or an iterator."""
    is_view = isinstance(value, np.ndarray) and value.base is not None
    if in_trace() and isinstance(value, RETURNED) and not is_view:
        note_created(value)
    return value


def note_arguments(arguments: Any, structures: Sequence[Any]) -> None:
    """The containers (`structures`) and records in the arguments of a trace are copies of the caller's."""
    for part in structures:
        note_created(part)
    for part in _parts(arguments):
        _note_record(part)


def _note_record(value: Any) -> None:
    if isinstance(value, Tensor):
        return
    names = None if isinstance(value, tuple) else fields_of(value)
    if names is not None:
        note_created(value)
    for part in _parts(value) if names is None else [getattr(value, n) for n in names]:
        _note_record(part)


def _parts(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple)):
        return value
    return value.values() if isinstance(value, dict) else ()


class _Written:
    """A proxy of an object in the target of an assignment, which reports the write."""

    __slots__ = ("_owner", "_read")

    def __init__(self, owner: Any) -> None:
        object.__setattr__(self, "_owner", owner)
        object.__setattr__(self, "_read", ())

    def __getattr__(self, name: str) -> Any:
        owner = object.__getattribute__(self, "_owner")
        note_attribute(owner, name)
        value = own(getattr(owner, name))
        object.__setattr__(self, "_read", (value,))  # by an augmented assignment
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        note_write(owner)
        note_attribute(owner, name)
        setattr(owner, name, value)
        reads.wrote(owner, name, True, value, *object.__getattribute__(self, "_read"))
        _set(owner, name)
        if _is_variable(value):
            for watch in _watches.stack:
                watch.builds.add(id(owner))

    def __delattr__(self, name: str) -> None:
        owner = object.__getattribute__(self, "_owner")
        note_write(owner)
        note_attribute(owner, name)
        delattr(owner, name)
        reads.wrote(owner, name, True)

    def __getitem__(self, key: Any) -> Any:
        owner = object.__getattribute__(self, "_owner")
        _note_item(owner, key)
        lacking = hasattr(type(owner), "__missing__") and key not in owner
        value = owner[key]
        if lacking:  # whatever the factory is
            note_created(value)
        if type(value) is Maybe and isinstance(owner, collections.defaultdict):
            assert owner.default_factory is not None  # or the key would not be missing
            return value_or(value, owner.default_factory)
        value = own(value)
        object.__setattr__(self, "_read", (value,))
        return value

    def __setitem__(self, key: Any, value: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        note_write(owner)
        _note_item(owner, key)
        _note_inside(owner, "__setitem__")
        owner[key] = value
        reads.wrote(owner, key, False, value, *object.__getattribute__(self, "_read"))
        _set(owner, key)

    def __delitem__(self, key: Any) -> None:
        owner = object.__getattribute__(self, "_owner")
        note_write(owner)
        _note_loss(owner, key)
        _note_inside(owner, "__delitem__")
        del owner[key]
        reads.wrote(owner, key, False)


def note_write(owner: Any) -> None:
    """Called before an object is changed in place: poisons its possible aliases."""
    for alias in aliases.may_aliases_of(owner):
        if _watches.stack and not aliases.is_copy(alias):
            is_ours = provenance.is_of_trace(alias)
            origin = Provenance.CREATED if is_ours else provenance.of(alias)
            _note(_elements(alias, origin))
        aliases.poison(alias, ANOTHER.format(_label(alias)))


def note_location(owner: Any, key: Any, is_attribute: bool) -> None:
    """Notes an attribute or item that a block owns and may write."""
    location = _attribute(owner, key) if is_attribute else _item(owner, key)
    for watch in _watches.stack:
        watch.note(location)


def note_attribute(owner: Any, name: str) -> None:
    """Called before an attribute is written."""
    if _watches.stack:
        _note(_attribute(owner, name))


def _attribute(owner: Any, name: str) -> Location:
    return Attribute(owner, name, f"{_label(owner)}.{name}", provenance.of(owner))


def _item(owner: Any, key: Any) -> Location:
    at = key + len(owner) if type(owner) is list and key < 0 else key
    return Item(owner, at, f"{_label(owner)}[{key!r}]", provenance.of(owner))


def _note_item(owner: Any, key: Any) -> None:
    if not _watches.stack:
        return
    whose = provenance.holder(owner)
    if whose is not None:
        note_attribute(whose, key)
    elif isinstance(owner, dict) or (type(owner) is list and isinstance(key, int)):
        if not isinstance(key, Tensor) and getattr(type(key), "__hash__", None):
            _note(_item(owner, key))
    elif isinstance(owner, CONTAINERS):
        _note_contents(owner)


def _set(owner: Any, key: Any) -> None:
    if not _watches.stack:
        attribute_writes.note_set(owner, key)


def _note_inside(owner: Any, method: str) -> None:
    """Called before an unconverted user method runs, which may change its object."""
    if _watches.stack and type(getattr(type(owner), method, None)) is FunctionType:
        for name, value in list(getattr(owner, "__dict__", {}).items()):
            note_attribute(owner, name)
            if isinstance(value, CONTAINERS):
                note_changing(value)


def _note_loss(owner: Any, key: Any) -> None:
    """Called before an item is deleted, which moves the items after it."""
    if isinstance(owner, CONTAINERS):
        _note_contents(owner)
    if type(owner) is not list:
        _note_item(owner, key)


def _note_contents(owner: Any, may_only: bool = False) -> None:
    origin = provenance.of(aliases.origin(owner))
    _note(_elements(owner, origin), may_only)


def _elements(owner: Any, origin: Provenance) -> Elements:
    """The contents of a container; those of a growing list are under the original list."""
    return Elements(None, (aliases.origin(owner),), _label(owner), origin)


def _label(owner: Any) -> str:
    return "list" if type(owner) is GrownList else type(owner).__name__


class _ListObserver(ListObserver):
    """Growing lists report their own changes."""

    def created(self, grown: GrownList) -> None:
        note_created(grown)

    def changing(self, grown: GrownList) -> None:
        note_write(grown)
        if _watches.stack:
            _note_contents(grown)

    def replacing(self, grown: GrownList) -> None:
        if _watches.stack:
            _note_contents(grown)


OBSERVER = _ListObserver()


def _is_variable(value: Any) -> bool:
    return type(value) is not Maybe and hasattr(value, "assign") and hasattr(value, "handle")


# -- what calls change --------------------------------------------------------------------


def note_changing(owner: Any, keys: Iterable[Any] | None = None) -> None:
    """Called before a container is changed, at these keys or anywhere."""
    if not _watches.stack:
        return
    if isinstance(owner, dict):
        for key in list(owner) if keys is None else keys:
            _note_item(owner, key)
        if keys is not None:
            return
    _note_contents(owner)


def note_call(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Called before a function call, which may write the function's free variables and arguments."""
    if not (_watches.stack or aliases.any_may_alias()):
        return
    if isinstance(function, FunctionType):
        for location in variables_of(function):
            _note(location, may_only=True)
        for argument in args:
            if type(argument) is list or isinstance(argument, collections.defaultdict):
                _note_contents(argument, may_only=True)
    else:
        _note_native(function, args, kwargs)


def _note_native(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    owner = getattr(function, "__self__", None)
    name = getattr(function, "__name__", "")
    if isinstance(owner, CONTAINERS):
        if name in mutators_of(owner):
            note_write(owner)
            keys = keys_written(owner, name, args, kwargs)
            note_changing(owner, keys)
            if keys is not None and name in LOSING:
                _note_contents(owner)
    elif owner is None or isinstance(owner, ModuleType):
        if id(function) in SETTING:
            note_write(args[0])
            note_attribute(args[0], args[1])
            return
        for argument in args:
            if isinstance(argument, (list, bytearray, collections.deque)):
                _note_contents(argument)
            elif isinstance(argument, (dict, set)):
                note_changing(argument)
    if name in WRITING and args and isinstance(args[0], np.ndarray):
        _note_contents(args[0])
    if isinstance(kwargs.get("out"), np.ndarray):
        _note_contents(kwargs["out"])


def note_created(value: Any) -> None:
    """Called when an object was created: writes to it inside the block are no state."""
    provenance.note_created(value)
    for watch in _watches.stack:
        watch.created[id(value)] = value


def note_returned(value: Any, new: bool) -> None:
    """Called when unconverted code has returned a value, which it has created or whose provenance is unknown."""
    if not in_trace():
        return
    if new and type(value) is not tuple:
        note_created(value)
        return
    for part in [value, *containers.inside(value)]:
        if new:
            note_created(part)
        elif provenance.note_unknown(part):
            for watch in _watches.stack:
                known = watch.created if watch.is_retrace else watch.received
                known[id(part)] = part


def note_advance(iterator: Any) -> None:
    """Called when a block advances an iterator."""
    for watch in _watches.stack:
        watch.is_advancing |= id(iterator) in watch.received


def note_copies(copies: dict[int, Any]) -> None:
    """Notes the copies that a block works on: writes to them are in its state. Lists may have to grow."""
    own = {i: v for i, v in copies.items() if type(v) is not list}
    for watch in _watches.stack:
        watch.created.update(own)


def in_block(value: Any) -> bool:
    """True for an object that the innermost staged block has created or received."""
    return bool(_watches.stack) and _watches.stack[-1].is_inside(value)


__all__ = [
    "Seen", "Watch", "created", "in_block", "is_watched", "looked", "note_advance", "note_arguments", "note_attribute", "note_call",
    "note_changing", "note_copies", "note_created", "note_location", "note_returned", "own", "watching", "written",
]  # fmt: skip
