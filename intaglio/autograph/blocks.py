"""A staged block and its state: the names in its code, and hidden state that tracing found."""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Any

import numpy as np

from intaglio.autograph import aliases, change_messages, provenance
from intaglio.autograph.carried import has_tensor, is_carried, list_form
from intaglio.autograph.containers import Contents
from intaglio.autograph.identity import Identities, Moves, slots
from intaglio.autograph.locations import Elements, Item, elements_of, location_of
from intaglio.autograph.memory import Memory
from intaglio.autograph.names import is_composite
from intaglio.autograph.optional import Maybe
from intaglio.autograph.provenance import Provenance
from intaglio.autograph.records import Record, is_record, record
from intaglio.autograph.strictness import is_strict
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen, Watch, note_location
from intaglio.autograph.whole_trace import leave
from intaglio.type_specs.grown_list import UNCHANGED, Form, GrownList

State = tuple[Any, ...]
# Where something is: an own name, and the path inside its value.
Path = tuple[Any, ...]
# Traces of one block at most: a block that finds new state in each is left as it is.
MAX_TRACES_OF_A_BLOCK = 8


class Change:
    """A change of a location by a trace: its values before and after."""

    def __init__(self, seen: Seen, ends: Sequence[Any]) -> None:
        self.seen = seen
        self.ends = ends
        self.form = list_form(seen, *ends)

    @property
    def left(self) -> Any:
        """The value that Python alone would leave there."""
        return next((v for v in self.ends if v is not self.seen.before), None)


class Hidden:
    """A hidden state value, which has no name in the block's code: of a location, or a list's elements."""

    def __init__(self, changes: Sequence[Change], owner: Any = None) -> None:
        self.seen = [c.seen for c in changes]
        self.form = changes[0].form
        self.left = changes[0].left
        for change in changes:
            leave(change.seen, change.left)
        # The list whose elements are the state, whatever refers to it.
        self.list = owner

    @property
    def name(self) -> str:
        """The name in messages."""
        return self.seen[0].location.name

    @property
    def idents(self) -> set[tuple[int, Any]]:
        """The locations that hold it."""
        if self.list is not None:
            return {elements_of(self.list)}
        return {s.location.ident for s in self.seen}

    def begin(self) -> None:
        """Called before the block: converts a list to one that a graph can carry."""
        if self.list is None:
            return
        old = aliases.current(self.list)
        if type(old) is list and self.form is not None:
            grown = GrownList.of(self.form, old)
            aliases.follow(old, grown)
            for seen in self.seen:
                seen.location.put(grown)
            # Whoever else has the list finds tensors of a graph that is done: use raises.
            left = self.left
            old[:] = left if isinstance(left, Contents) else [*old, *left.flows]

    def get(self) -> Any:
        """The value."""
        if self.list is None:
            return self.seen[0].location.get()
        return aliases.current(self.list).snapshot()

    def put(self, value: Any) -> None:
        """Sets the value in all its locations."""
        if self.list is not None:
            aliases.current(self.list).become(value.flows)
            return
        for seen in self.seen:
            seen.location.put(value)


class Found(Exception):
    """Raised when a trace has changed locations that are not yet state of its block."""

    def __init__(
        self, block: Block, chosen: Sequence[Hidden], poisoned: Sequence[Poisoned] = ()
    ) -> None:
        super().__init__("found more state")
        self.block = block
        self.chosen = chosen
        self.poisoned = poisoned


class Poisoned:
    """A location that a loop changes to a value that no graph can carry."""

    def __init__(self, seen: Seen, why: str) -> None:
        self.seen = seen
        self.why = why

    def poison(self) -> None:
        """Poisons the location, with the reason in the message."""
        poison(self.seen, self.why)


def poison(seen: Seen, why: str) -> None:
    """Restores a location to its value before the block, and makes any use of it an error."""
    seen.restore()
    container = change_messages.container_of(seen)
    if container is None:
        seen.location.poison(why)
    else:
        aliases.poison(container, why)


class Block:
    """A staged block: the state that its code names, and the hidden state that traces have found.

    Its state is the values of its names, and the elements of growing lists. So a
    name bound to such a list is bound to it in all branches and iterations, and is no state itself, as
    long as none of them gives it another one.
    """

    def __init__(
        self,
        get_state: Callable[[], State],
        set_state: Callable[[State], None],
        names: Sequence[str],
        sources: Sequence[Any],
    ) -> None:
        self.sources = sources
        self.get_state = get_state
        self.set_state = set_state
        self.own = {_ident(n, get_state): n for n in names}
        self.own_names = names
        # For each own name the list that grows it is an element of, if it is: the list is
        # the state then.
        self.inside: list[Any] = [None] * len(names)
        self.lists: list[Hidden] = []
        self.hidden: list[Hidden] = []
        self.forms: list[Form | None] = []
        # The lists that grow which own names have at the beginning, where in them they are,
        # and where a branch or iteration leaves others.
        self.had: dict[Path, GrownList] = {}
        self.rebound: set[Path] = set()
        self.originals: dict[int, Any] = {}  # by the ids of copies of other lists
        self.copies: list[Any] = []
        self.others: set[Path] = set()
        self.suspects: set[tuple[int, Any]] = set()
        self.kept: list[Any] = []  # what suspects belong to, kept alive
        self.attempts = 0
        # True if the block's code was traced before, in this trace of the function.
        self.is_retrace = False
        self.poisoned: list[Poisoned] = []
        self.identities = Identities(())
        self.moves = Moves()
        self.known_moves = 0
        # Attributes and items among the own names: setting one to nothing removes it.
        self.composites = [i for i, n in enumerate(names) if is_composite(n)]

    # -- state -------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """The names of hidden state, then the block's own names."""
        found = [h.name for h in (*self.lists, *self.hidden)]
        return (*found, *self._outside(self.own_names))

    def count(self, outputs: int) -> int:
        """The number of names that are returned, given that of the block's own."""
        found = len(self.lists) + len(self.hidden)
        return found + len(self._outside(self.own_names[:outputs]))

    def begin(self) -> None:
        """Called before a trace: converts growing lists to lists that a graph can carry."""
        for hidden in self.lists:
            hidden.begin()
        self.hidden = [h for h in self.hidden if not h.seen[0].is_in_grown()]
        for poisoned in self.poisoned:
            poisoned.poison()
        for i in self.composites:  # those around this one have them as they are now
            location = location_of(self.own_names[i], self.get_state)
            if location is not None and type(location[0]) is not GrownList:
                note_location(*location, is_attribute=not self.own_names[i].endswith("]"))
        self.inside = [_owner(n, self.get_state) for n in self.own_names]
        values = self._values()
        self.had = dict(self._lists(values))
        own = self._outside(self.own_names)
        for at, *path in self.moves.older:
            if -at <= len(own):
                self.rebound.add((own[at], *path))
        self.others = set()
        self.identities = Identities(values, self.moves)
        self.known_moves = self.moves.count()

    def _outside(self, values: Sequence[Any]) -> list[Any]:
        return [v for v, i in zip(values, self.inside, strict=False) if i is None]

    def _lists(self, values: Sequence[Any]) -> Iterator[tuple[Path, GrownList]]:
        """The lists that grow among the values of own names."""
        own = values[len(self.hidden) :]
        for name, value in zip(self._outside(self.own_names), own, strict=True):
            for path, part in slots(value, (name,)):
                if type(part) is GrownList:
                    yield path, part

    def get(self) -> State:
        """All state, in the order of `names`. A list that replaces a growing one grows too."""
        current = self._values()
        same = {
            path
            for path, grown in self._lists(current)
            if self.had.get(path) is grown and self._is_bound(path)
        }
        own = [("",)] * len(self.hidden)
        own += [(name,) for name in self._outside(self.own_names)]
        values = [_as_it_is_now(v, p, same) for v, p in zip(current, own, strict=True)]
        self.identities.copied(current, values)
        for at, form in enumerate(self.forms[: len(values)]):
            if form is not None and type(values[at]) is list:
                values[at] = GrownList.of(form, values[at])
        return (*[h.get() for h in self.lists], *values)

    def _is_bound(self, path: Path) -> bool:
        """True if the location has the same growing list at each start and end of the block."""
        return path not in self.rebound or not self.identities.ends

    def ends(self, in_loop: bool = False, created: Container[int] = ()) -> None:
        """Called at the end of a branch or iteration, in which these objects were created."""
        values = self._values()
        self.identities.left(values, created)
        self.identities.in_loop = in_loop
        now = dict(self._lists(values))
        self.others |= {p for p, grown in self.had.items() if now.get(p) is not grown}

    def done(self) -> dict[int, Any]:
        """Called when the block is staged; returns the containers of its names, by their ids."""
        return self.identities.results(self._values())

    def _values(self) -> list[Any]:
        """What was found to be bound in the block, and what its own names have."""
        own = map(aliases.current, self._own_state())
        return [h.get() for h in self.hidden] + self._outside(list(own))

    def _own_state(self) -> State:
        """The values of the block's own names. Looking at a defaultdict adds nothing to it."""
        lacking: list[tuple[int, Any, Any]] = []
        for i in self.composites:
            location = location_of(self.own_names[i], self.get_state)
            if location is None or not hasattr(type(location[0]), "__missing__"):
                continue
            if location[1] not in location[0]:
                lacking.append((i, *location))
        state = self.get_state()
        for i, owner, key in lacking:
            owner.pop(key, None)
            state = (*state[:i], Undefined(self.own_names[i]), *state[i + 1 :])
        return state

    def put(self, state: State) -> None:
        """Sets all state. Containers are copied: each branch and each iteration changes its own."""
        for found, value in zip(self.lists, state, strict=False):
            found.put(value)
        state = state[len(self.lists) :]
        records: list[tuple[Any, Any]] = []
        values = [_own(v, records) for v in state]
        self._note_copies(values)
        self.identities.copied(state, values)
        self.identities.put(values)
        for origin, copy in records:
            self.identities.copied([origin], [copy])
        self.forms = [v.form if type(v) is GrownList else None for v in values]
        self._set(values)

    def restart(self, start: State) -> None:
        """Restores the state from the beginning of the block, with the identical objects."""
        for found, value in zip(self.lists, start, strict=False):
            found.put(value)
        self._set(self.identities.begun)

    def _set(self, values: Sequence[Any]) -> None:
        for hidden, value in zip(self.hidden, values, strict=False):
            hidden.put(value)
        outside = self._outside(self.own_names)
        own = dict(zip(outside, values[len(self.hidden) :], strict=True))
        self.set_state(
            tuple(
                [
                    own[name] if i is None else self._as_it_is(name, own)
                    for name, i in zip(self.own_names, self.inside, strict=True)
                ]
            )
        )
        self._remove_undefined()

    def _note_copies(self, values: Sequence[Any]) -> None:
        began = dict(slots(tuple(self.identities.begun)))
        for path, copy in slots(tuple(values)):
            old = began.get(path)
            if type(copy) is list and type(old) is list:
                self.originals[id(copy)] = old
                self.copies.append(copy)

    def _as_it_is(self, name: str, own: dict[str, Any]) -> Any:
        """What to set an element to that is changed with all others."""
        location = location_of(name, self.get_state)
        if location is None:
            return UNCHANGED
        owner = own.get(name[: name.rindex("[")], location[0])
        return UNCHANGED if type(owner) is GrownList else owner[location[1]]

    def _remove_undefined(self) -> None:
        for i in self.composites:
            location = location_of(self.own_names[i], self.get_state)
            if location is None:
                continue
            owner, key = location
            if isinstance(owner, dict):
                value = dict.get(owner, key)
                if type(value) is Undefined and not value.why:
                    dict.pop(owner, key)
                elif type(value) is Maybe:
                    aliases.note_optional(owner)
                continue
            current = getattr(owner, "__dict__", {}).get(key)
            if type(current) is Undefined and not current.why:
                delattr(owner, key)

    def take(self, chosen: Sequence[Hidden], poisoned: Sequence[Poisoned] = ()) -> None:
        """Adds the changes that were found to the state, or poisons the locations."""
        self.poisoned += poisoned
        for hidden in chosen:
            (self.hidden if hidden.list is None else self.lists).append(hidden)
        self.rebound |= self.others
        self.forms = []

    def store(self, memory: Memory) -> None:
        """Stores the hidden state for the next trace of the block."""
        memory.hidden = [*self.lists, *self.hidden]
        memory.poisoned = self.poisoned
        memory.rebound = self.rebound
        memory.moves = self.moves

    def recall(self, memory: Memory, outer: Block) -> None:
        """Takes what was found when the block was traced before, with the one around it.

        As far as it is state there: blocks inside are traced again.
        """
        idents = {i for h in (*outer.lists, *outer.hidden) for i in h.idents}
        idents |= {i for i in outer.own if i is not None}
        poisoned = {s.seen.location.ident for s in outer.poisoned}
        self.rebound = set(memory.rebound)
        self.moves = memory.moves or self.moves
        self.take(
            [h for h in memory.hidden if h.idents & idents],
            [s for s in memory.poisoned if s.seen.location.ident in poisoned],
        )

    # -- what a trace changed ------------------------------------------------------------

    def is_known(self, seen: Seen) -> bool:
        """True for locations that are state already."""
        ident = seen.location.ident
        if any(ident == s.seen.location.ident for s in self.poisoned):
            return True
        if isinstance(seen.location, Item) and id(seen.location.owner) in self.originals:
            return True  # in a copy that a name has, which is state
        if ident in self.own:  # a list among them may have to become one that grows
            return seen.elements is None or not (
                seen.is_grown() or type(seen.location.get()) is GrownList
            )
        return any(ident in h.idents for h in (*self.lists, *self.hidden))

    def accept(
        self,
        watches: Sequence[Watch],
        changes: Sequence[Change],
        found: Sequence[Change],
        poisoned: Sequence[Poisoned] = (),
    ) -> None:
        """Adds the changes that were found to the state, reverts them all and raises Found.

        Places that may be no older than the block must be found twice. So must what a call of
        code that is not converted has returned: a second trace gets it again if it is shared.
        Returns if there is nothing to take.
        """
        self.attempts += 1
        pending = {i for w in watches for i in w.pending}
        if pending:
            found = [c for c in found if c.seen.location.ident not in pending]
            poisoned = [s for s in poisoned if s.seen.location.ident not in pending]
        retrace = bool(pending) or any(w.is_advancing for w in watches)
        moved = self.moves.count() > self.known_moves or bool(self.others - self.rebound)
        if (
            not (found or poisoned or moved or retrace)
            or self.attempts >= MAX_TRACES_OF_A_BLOCK
            or is_strict()
        ):
            return
        owners = map(self._list_of, found)
        lists = {id(owner) for owner in owners if owner is not None}
        groups: dict[int, tuple[Any, list[Change]]] = {}
        for change in found:
            if id(self._original(change.seen.location.owner)) in lists:
                continue  # an element of a list that grows
            owner = self._list_of(change)
            shared = change if owner is None else owner
            groups.setdefault(id(shared), (owner, []))[1].append(change)
        chosen = [
            Hidden(group, owner)
            for owner, group in groups.values()
            if any([self._is_older(c.seen, watches) for c in group])
        ]
        idents = {c.seen.location.ident for c in changes}
        idents |= pending | {s.seen.location.ident for s in poisoned}
        for watch in watches:
            elements = [
                i for i, s in watch.seen.items() if id(self._original(s.location.owner)) in lists
            ]
            watch.restore({*idents, *elements})
        grown = {id(h.list) for h in chosen if h.list is not None}
        poisoned = [
            s
            for s in poisoned
            if id(self._original(s.seen.value)) not in grown
            and id(self._original(s.seen.location.owner)) not in grown
        ]
        raise Found(self, chosen, poisoned)

    def _list_of(self, change: Change) -> Any:
        """The list whose elements have changed, if that is the change; None for other changes."""
        seen = change.seen
        grown = type(seen.location) is Elements and type(seen.value) is GrownList
        if change.form is None and not grown:
            return None
        return self._original(seen.value)

    def _original(self, value: Any) -> Any:
        """The list that a block will have where it works on a copy; what any object was at first."""
        value = aliases.origin(value)
        return self.originals.get(id(value), value)

    def _is_older(self, seen: Seen, watches: Sequence[Watch]) -> bool:
        ident = seen.location.ident
        if type(seen.value) is GrownList and type(seen.location) is Elements:
            return True  # else the block would have reported that it creates it
        is_known = provenance.of(seen.value) is not Provenance.OLDER
        if is_known and not any(w.is_inside(seen.value) for w in watches):
            return True  # the trace has it, and not from the block
        before = seen.value if seen.elements is None else seen.elements
        is_state = type(seen.location) is not Elements and has_tensor(before)
        if seen.certain or ident in self.suspects or is_state:
            return True
        self.suspects.add(ident)
        self.kept.append(seen)
        return False


class Same:
    """A placeholder for a growing list, whose elements are the state, not the list itself."""

    __slots__ = ("grown",)

    def __init__(self, grown: GrownList) -> None:
        self.grown = grown

    def __eq__(self, other: Any) -> bool:
        return type(other) is Same and other.grown is self.grown

    def __hash__(self) -> int:
        return id(self.grown)


def _as_it_is_now(value: Any, path: Path, same: set[Path]) -> Any:
    """A structure of its own around the same values: items of the first may be state too.

    Lists that grow are what they hold, or where they stay themselves.
    """
    kind = type(value)
    if kind is GrownList:
        return Same(value) if path in same else value.snapshot()
    if kind is list or kind is tuple:
        now = aliases.current(value)
        if now is not value:
            return _as_it_is_now(now, path, same)
        return kind([_as_it_is_now(v, (*path, i), same) for i, v in enumerate(value)])
    if kind is dict:
        return {k: _as_it_is_now(v, (*path, k), same) for k, v in value.items()}
    if is_record(value):
        recorded = record(value)
        if not is_carried(recorded):
            return value
        names = [f.name for f in dataclasses.fields(kind)]
        parts = zip(names, recorded.values, strict=True)
        values = [_as_it_is_now(v, (*path, name), same) for name, v in parts]
        return Record(kind, tuple(values), value)
    return value


def _own(value: Any, records: list[tuple[Any, Any]]) -> Any:
    """The values that a block works on: copies of this state, noted with their originals."""
    kind = type(value)
    if kind is Same:
        return value.grown
    if kind is GrownList:
        return value.copy()
    if kind is list or kind is tuple:
        return kind([_own(v, records) for v in value])
    if kind is dict:
        return {k: _own(v, records) for k, v in value.items()}
    if kind is Record:
        parts = tuple([_own(v, records) for v in value.values])
        copied = Record(value.kind, parts).instance()
        if value.origin is not None:
            records.append((value.origin, copied))
        return copied
    return value


def _ident(name: str, accessor: Any) -> tuple[int, Any] | None:
    location = location_of(name, accessor)
    return None if location is None else (id(location[0]), location[1])


def _owner(name: str, accessor: Any) -> Any:
    """The list that grows, or array, that a name is an element of: it is changed as a whole."""
    location = None if name.isidentifier() else location_of(name, accessor)
    owner = location[0] if location else None
    whole = (GrownList, bytearray, np.ndarray, collections.deque)
    return owner if isinstance(owner, whole) else None
