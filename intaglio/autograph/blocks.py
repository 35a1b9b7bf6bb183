"""A staged block and its state: what its own code names, and what was found to be state as well."""

from __future__ import annotations

import collections
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.autograph import aliases, telling
from intaglio.autograph.carried import has_tensor, is_carried, list_form
from intaglio.autograph.containers import Contents, is_made
from intaglio.autograph.identity import Identities
from intaglio.autograph.memory import Memory
from intaglio.autograph.names import is_composite
from intaglio.autograph.optional import Maybe
from intaglio.autograph.places import Elements, place_of
from intaglio.autograph.records import Record, is_record, record
from intaglio.autograph.strictness import is_strict
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen, Watch
from intaglio.autograph.whole_trace import leave
from intaglio.trace.grown_list import Form, GrownList

State = tuple[Any, ...]
# Traces of one block at most: a block that finds new state in each is left as it is.
ATTEMPTS = 8


class Change:
    """What a trace did to a place: what it held, and what it would hold."""

    def __init__(self, seen: Seen, ends: Sequence[Any]) -> None:
        self.seen = seen
        self.ends = ends
        self.form = list_form(seen, *ends)

    @property
    def left(self) -> Any:
        """What Python alone would leave there."""
        return next((v for v in self.ends if v is not self.seen.before), None)


class Hidden:
    """One value that is state though no name says so: in one place, or a list in several."""

    def __init__(self, changes: Sequence[Change]) -> None:
        self.seen = [c.seen for c in changes]
        self.name = self.seen[0].place.name
        self.form = changes[0].form
        self.left = changes[0].left
        for change in changes:
            leave(change.seen, change.left)

    def begin(self) -> None:
        """Before the block: a list becomes one that a graph can carry."""
        if self.form is not None and type(self.get()) is list:
            old = self.get()
            grown = GrownList.of(self.form, old)
            aliases.follow(old, grown)
            self.put(grown)
            # Whoever else has the list finds tensors of a graph that is done: use raises.
            left = self.left
            old[:] = left if isinstance(left, Contents) else [*old, *left.flows]

    def get(self) -> Any:
        """The value."""
        return self.seen[0].place.get()

    def put(self, value: Any) -> None:
        """Sets it everywhere."""
        for seen in self.seen:
            seen.place.put(value)


class Found(Exception):
    """A trace changed more than its block is known to change."""

    def __init__(
        self, block: Block, chosen: Sequence[Hidden], spoilt: Sequence[Spoilt] = ()
    ) -> None:
        super().__init__("found more state")
        self.block = block
        self.chosen = chosen
        self.spoilt = spoilt


class Spoilt:
    """A place that a turn of a loop changes in a way that no graph can carry."""

    def __init__(self, seen: Seen, why: str) -> None:
        self.seen = seen
        self.why = why

    def spoil(self) -> None:
        """From now on reading it is an error that says why."""
        spoil(self.seen, self.why)


def spoil(seen: Seen, why: str) -> None:
    """Makes a place what it was before the block, and any use of it an error."""
    seen.restore()
    container = telling.container_of(seen)
    if container is None:
        seen.place.spoil(why)
    else:
        aliases.spoil(container, why)


class Block:
    """One staged block: its own state, and what was found to be state as well."""

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
        self.own = {_ident(n, get_state) for n in names}
        self.own_names = names
        # For each own name the list that grows it is an element of, if it is: the list is
        # the state then.
        self.inside: list[Any] = [None] * len(names)
        # For each value the list that it stands for, as far as that is still so.
        self.roots: list[list[Any] | None] = []
        self.hidden: list[Hidden] = []
        self.promoted: list[Hidden] = []  # lists among the block's own names
        self.forms: list[Form | None] = []
        self.suspects: set[tuple[int, Any]] = set()
        self.kept: list[Any] = []  # what suspects belong to, kept alive
        self.attempts = 0
        self.spoilt: list[Spoilt] = []
        self.identities = Identities(())
        # Attributes and items among the own names: setting one to nothing removes it.
        self.composites = [i for i, n in enumerate(names) if is_composite(n)]

    # -- state -------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """What was found first, then the block's own names."""
        return (*[h.name for h in self.hidden], *self._outside(self.own_names))

    def count(self, outputs: int) -> int:
        """How many names are given back, if these many of the block's own are."""
        return len(self.hidden) + len(self._outside(self.own_names[:outputs]))

    def begin(self) -> None:
        """Before a trace: lists that grow become what a graph can carry."""
        for hidden in (*self.hidden, *self.promoted):
            hidden.begin()
        for spoilt in self.spoilt:
            spoilt.spoil()
        self.inside = [_owner(n, self.get_state) for n in self.own_names]
        values = self._values()
        self.roots = [aliases.root_of(v) for v in values]
        self.identities = Identities(values)

    def _outside(self, values: Sequence[Any]) -> list[Any]:
        return [v for v, i in zip(values, self.inside, strict=False) if i is None]

    def get(self) -> State:
        """All state, in the order of `names`. A list in the place of one that grows is one."""
        values = self._values()
        self.roots = [
            root if root is aliases.root_of(v) else None
            for v, root in zip(values, self.roots, strict=False)
        ]
        given, values = values, [_as_it_is_now(v) for v in values]
        self.identities.copied(given, values)
        for at, form in enumerate(self.forms[: len(values)]):
            if form is not None and type(values[at]) is list:
                values[at] = GrownList.of(form, values[at])
        return tuple(values)

    def ends(self, in_loop: bool = False) -> None:
        """A branch or a turn has come to its end."""
        self.identities.left(self._values())
        self.identities.in_loop = in_loop

    def done(self) -> dict[int, Any]:
        """The block is staged: the containers that its names have now, by their ids."""
        return self.identities.results(self._values())

    def _values(self) -> list[Any]:
        own = map(aliases.current, self._own_state())
        return [h.get() for h in self.hidden] + self._outside(list(own))

    def _own_state(self) -> State:
        """The values of the block's own names. Looking at a defaultdict adds nothing to it."""
        lacking: list[tuple[int, Any, Any]] = []
        for i in self.composites:
            place = place_of(self.own_names[i], self.get_state)
            if place is None or not hasattr(type(place[0]), "__missing__"):
                continue
            if place[1] not in place[0]:
                lacking.append((i, *place))
        state = self.get_state()
        for i, owner, key in lacking:
            owner.pop(key, None)
            state = (*state[:i], Undefined(self.own_names[i]), *state[i + 1 :])
        return state

    def put(self, state: State) -> None:
        """Sets all state. Containers are copied: each branch and each turn changes its own."""
        given = [v if type(v) is Record else _as_it_is_now(v) for v in state]
        self.identities.copied(state, given)
        values = given
        origins = [v.origin if type(v) is Record else v for v in values]
        values = [v.made() if type(v) is Record else v for v in values]
        self.identities.put(origins, values)
        self.forms = [v.form if type(v) is GrownList else None for v in values]
        count = len(self.hidden)
        for value, root in zip(values, self.roots, strict=False):
            if root is not None and type(value) is GrownList:
                aliases.follow(root, value)
        for hidden, value in zip(self.hidden, values, strict=False):
            hidden.put(value)
        own = iter(values[count:])
        owners = [
            _owner(n, self.get_state) if i is not None else None
            for n, i in zip(self.own_names, self.inside, strict=True)
        ]
        around = [o for o in owners if type(o) is GrownList]
        for grown in around:
            grown.frozen = True
        self.set_state(
            tuple(
                [
                    next(own) if i is None else self._as_it_is(name, i)
                    for name, i in zip(self.own_names, self.inside, strict=True)
                ]
            )
        )
        for grown in around:
            grown.frozen = False
        self._remove_undefined()

    def _as_it_is(self, name: str, owner: Any) -> Any:
        """An element that is changed with all others."""
        place = None if type(owner) is GrownList else place_of(name, self.get_state)
        return None if place is None else place[0][place[1]]

    def _remove_undefined(self) -> None:
        for i in self.composites:
            place = place_of(self.own_names[i], self.get_state)
            if place is None:
                continue
            owner, key = place
            if isinstance(owner, dict):
                value = dict.get(owner, key)
                if type(value) is Undefined and not value.why:
                    dict.pop(owner, key)
                elif type(value) is Maybe:
                    aliases.note_optional(owner)
                continue
            held = getattr(owner, "__dict__", {}).get(key)
            if type(held) is Undefined and not held.why:
                delattr(owner, key)

    def take(self, chosen: Sequence[Hidden], spoilt: Sequence[Spoilt] = ()) -> None:
        """What was found is state from now on, or an error where it is read."""
        self.spoilt += spoilt
        for hidden in chosen:
            named = any(s.place.ident in self.own for s in hidden.seen)
            (self.promoted if named else self.hidden).append(hidden)
        self.forms = []

    def known_of(self, memory: Memory) -> tuple[list[Hidden], list[Spoilt]]:
        """What a block inside found when it was traced before, as far as it is state here."""
        idents = {s.place.ident for h in (*self.hidden, *self.promoted) for s in h.seen}
        idents |= {i for i in self.own if i is not None}
        spoilt = {s.seen.place.ident for s in self.spoilt}
        return (
            [h for h in memory.hidden if any(s.place.ident in idents for s in h.seen)],
            [s for s in memory.spoilt if s.seen.place.ident in spoilt],
        )

    # -- what a trace changed ------------------------------------------------------------

    def is_known(self, seen: Seen) -> bool:
        """True for places that are state already."""
        ident = seen.place.ident
        if any(ident == s.seen.place.ident for s in self.spoilt):
            return True
        if ident in self.own:  # a list among them may have to become one that grows
            return seen.elements is None or not (
                seen.is_grown() or type(seen.place.get()) is GrownList
            )
        return any(ident == s.place.ident for h in self.hidden for s in h.seen)

    def accept(
        self,
        watches: Sequence[Watch],
        changes: Sequence[Change],
        found: Sequence[Change],
        spoilt: Sequence[Spoilt] = (),
    ) -> None:
        """Takes what was found for state, puts all changes back and raises Found.

        Places that may be no older than the block must be found twice. Returns if there is
        nothing to take.
        """
        self.attempts += 1
        if not (found or spoilt) or self.attempts >= ATTEMPTS or is_strict():
            return
        lists = {id(c.seen.value) for c in found if c.seen.elements is not None}
        groups: dict[int, list[Change]] = {}
        for change in found:
            if id(change.seen.place.owner) in lists:
                continue  # an element of a list that grows
            seen = change.seen
            shared = seen if seen.held is None else seen.value
            groups.setdefault(id(shared), []).append(change)
        chosen = [
            Hidden(group)
            for group in groups.values()
            if any([self._is_older(c.seen, watches) for c in group])
        ]
        idents = {c.seen.place.ident for c in changes}
        idents |= {s.seen.place.ident for s in spoilt}
        for watch in watches:
            watch.restore(idents)
        raise Found(self, chosen, spoilt)

    def _is_older(self, seen: Seen, watches: Sequence[Watch]) -> bool:
        ident = seen.place.ident
        if is_made(seen.value) and not any(id(seen.value) in w.made for w in watches):
            return True  # made by the trace, and not in the block
        before = seen.value if seen.elements is None else seen.elements
        tells = type(seen.place) is not Elements and has_tensor(before)
        if seen.certain or ident in self.suspects or tells:
            return True
        self.suspects.add(ident)
        self.kept.append(seen)
        return False


def _as_it_is_now(value: Any) -> Any:
    """A structure of its own around the same values: items of the first may be state too."""
    kind = type(value)
    if kind is GrownList:
        return value.copy()
    if kind is list:
        now = aliases.current(value)
        return now.copy() if now is not value else [_as_it_is_now(v) for v in value]
    if kind is tuple:
        return tuple([_as_it_is_now(v) for v in value])
    if kind is dict:
        return {k: _as_it_is_now(v) for k, v in value.items()}
    if is_record(value):
        made = record(value)
        return made if is_carried(made) else value
    return value


def _ident(name: str, accessor: Any) -> tuple[int, Any] | None:
    place = place_of(name, accessor)
    return None if place is None else (id(place[0]), place[1])


def _owner(name: str, accessor: Any) -> Any:
    """The list that grows, or array, that a name is an element of: it is changed as a whole."""
    place = None if name.isidentifier() else place_of(name, accessor)
    owner = place[0] if place else None
    whole = (GrownList, bytearray, np.ndarray, collections.deque)
    return owner if isinstance(owner, whole) else None
