"""State that a staged block writes where its own code does not show: by a fixpoint over traces.

A block is traced with the state that its code names. If a watch finds that it also changed
variables of closures, globals, attributes or items, or that a list has grown, the trace is
given up, everything is put back, and the block traced again with these as state. Lists
become `GrownList`s. What has no type that a graph could carry stays as Python left it.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.autograph import aliases
from intaglio.autograph.joins import DIFFERS, is_same
from intaglio.autograph.optional import Maybe, known
from intaglio.autograph.places import Cell, Elements, Seen, Watch, place_of, watching
from intaglio.autograph.regions import MARK, Unreachable
from intaglio.autograph.strictness import is_strict
from intaglio.autograph.values import Undefined
from intaglio.base import nest, shapes
from intaglio.base.composite import CompositeTensor
from intaglio.ir.graph import SymbolicTensor
from intaglio.op import convert, door
from intaglio.op.tensor import Tensor
from intaglio.trace.grown_list import Form, GrownList

State = tuple[Any, ...]
Body = Callable[..., None]
# Traces of one block at most: a block that finds new state in each is left as it is.
ATTEMPTS = 8


class Change:
    """What a trace did to a place: what it held, and what it would hold."""

    def __init__(self, seen: Seen, ends: Sequence[Any]) -> None:
        self.seen = seen
        self.ends = ends
        self.form = _list_form(seen, *ends)

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
            _traces.leave(change.seen, change.left)

    def begin(self) -> None:
        """Before the block: a list becomes one that a graph can carry."""
        if self.form is not None and type(self.get()) is list:
            old = self.get()
            grown = GrownList.of(self.form, old)
            aliases.follow(old, grown)
            self.put(grown)
            # Whoever else has the list finds tensors of a graph that is done: use raises.
            left = self.left
            old[:] = left if isinstance(left, _Elements) else [*old, *left.flows]

    def get(self) -> Any:
        """The value."""
        return self.seen[0].place.get()

    def put(self, value: Any) -> None:
        """Sets it everywhere."""
        for seen in self.seen:
            seen.place.put(value)


class Found(Exception):
    """A trace changed more than its block is known to change."""

    def __init__(self, block: Block, chosen: Sequence[Hidden]) -> None:
        super().__init__("found more state")
        self.block = block
        self.chosen = chosen


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
        self.inside: list[GrownList | None] = [None] * len(names)
        # For each value the list that it stands for, as far as that is still so.
        self.roots: list[list[Any] | None] = []
        self.hidden: list[Hidden] = []
        self.promoted: list[Hidden] = []  # lists among the block's own names
        self.forms: list[Form | None] = []
        self.suspects: set[tuple[int, Any]] = set()
        self.kept: list[Any] = []  # what suspects belong to, kept alive
        self.attempts = 0

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
        self.inside = [_owner(n, self.get_state) for n in self.own_names]
        self.roots = [aliases.root_of(v) for v in self._values()]

    def _outside(self, values: Sequence[Any]) -> list[Any]:
        return [v for v, i in zip(values, self.inside, strict=False) if i is None]

    def get(self) -> State:
        """All state, in the order of `names`. A list in the place of one that grows is one."""
        values = self._values()
        self.roots = [
            root if root is aliases.root_of(v) else None
            for v, root in zip(values, self.roots, strict=False)
        ]
        values = [v.copy() if type(v) is GrownList else v for v in values]
        for at, form in enumerate(self.forms[: len(values)]):
            if form is not None and type(values[at]) is list:
                values[at] = GrownList.of(form, values[at])
        return tuple(values)

    def _values(self) -> list[Any]:
        own = map(aliases.current, self.get_state())
        return [h.get() for h in self.hidden] + self._outside(list(own))

    def put(self, state: State) -> None:
        """Sets all state. Lists that grow are copied: a block changes its own."""
        values = [v.copy() if type(v) is GrownList else v for v in state]
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
        around = [o for o in owners if o is not None]
        for grown in around:
            grown.frozen = True
        self.set_state(tuple([next(own) if i is None else None for i in self.inside]))
        for grown in around:
            grown.frozen = False

    def take(self, chosen: Sequence[Hidden]) -> None:
        """What was found is state from now on."""
        for hidden in chosen:
            named = any(s.place.ident in self.own for s in hidden.seen)
            (self.promoted if named else self.hidden).append(hidden)
        self.forms = []

    # -- what a trace changed ------------------------------------------------------------

    def is_known(self, seen: Seen) -> bool:
        """True for places that are state already."""
        ident = seen.place.ident
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
    ) -> None:
        """Takes what was found for state, puts all changes back and raises Found.

        Places that may be no older than the block must be found twice. Returns if there is
        nothing to take.
        """
        self.attempts += 1
        if not found or self.attempts >= ATTEMPTS or is_strict():
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
            if any([self._is_older(c.seen) for c in group])
        ]
        idents = {c.seen.place.ident for c in changes}
        for watch in watches:
            for ident, seen in watch.seen.items():
                if ident in idents:
                    seen.restore()
        raise Found(self, chosen)

    def _is_older(self, seen: Seen) -> bool:
        ident = seen.place.ident
        before = seen.value if seen.elements is None else seen.elements
        tells = type(seen.place) is not Elements and _has_tensor(before)
        if seen.certain or ident in self.suspects or tells:
            return True
        self.suspects.add(ident)
        self.kept.append(seen)
        return False


def _ident(name: str, accessor: Any) -> tuple[int, Any] | None:
    place = place_of(name, accessor)
    return None if place is None else (id(place[0]), place[1])


def _owner(name: str, accessor: Any) -> GrownList | None:
    place = None if name.isidentifier() else place_of(name, accessor)
    return place[0] if place and type(place[0]) is GrownList else None


def settle(
    stage: Callable[[Block, Sequence[Body]], None],
    bodies: Sequence[Body],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    sources: Sequence[Any] = (),
) -> None:
    """Stages a block, again and again until all that it changes is its state.

    `stage(block, bodies)` traces the given bodies, each of them once and in order, with
    the block's `get`, `put` and `names`; nothing may be left behind if a body raises.
    `sources` are the functions of converted code that the bodies are made of.
    """
    block = Block(get_state, set_state, names, sources or bodies)
    watch = _branches if len(bodies) > 1 else _loop_body
    while True:
        block.begin()
        start = block.get()
        block.put(start)
        known = aliases.state()
        try:
            stage(block, watch(block, bodies))
            return
        except Found as found:
            if found.block is not block:
                raise
            aliases.reset(known)
            block.put(start)
            block.take(found.chosen)


def _loop_body(block: Block, bodies: Sequence[Body]) -> list[Body]:
    (body,) = bodies

    def turn(*args: Any) -> None:
        with watching(*block.sources) as watch:
            stop = _stopped(body, *args)
        changes = _changes((watch, {}), (watch, _ends(block, watch)))
        found = [c for c in changes if _may_be_state(c, in_loop=True)]
        block.accept([watch], changes, found)
        if stop is not None:
            raise stop

    return [turn]


def _branches(block: Block, bodies: Sequence[Body]) -> list[Body]:
    """Both branches, begun from the same state. What is no state stays as Python left it."""
    first, second = bodies
    left: list[Traced] = []
    variables: dict[Any, Any] = {}  # those of functions, at the end of the first branch

    @functools.wraps(first)
    def main() -> None:
        with watching(*block.sources) as watch:
            stop = _stopped(first)
        after = _ends(block, watch)
        left[:] = [(watch, after)]
        variables.update(_variables(block, watch))
        for ident in {**after, **variables}:
            watch.seen[ident].restore()
        if _is_error(stop):
            accept((watch, {}))
        if stop is not None:
            raise stop

    @functools.wraps(second)
    def other() -> None:
        with watching(*block.sources) as watch:
            stop = _stopped(second)
        other_after = _ends(block, watch)
        accept((watch, other_after))
        (main_watch, after) = left[0]
        for ident, value in after.items():
            if ident not in other_after:
                _put_back(main_watch.seen[ident], value)
        _part(main_watch, variables, watch, _variables(block, watch))
        if stop is not None:
            raise stop

    def accept(end: Traced) -> None:
        changes = _changes(left[0], end)
        found = [c for c in changes if _may_be_state(c, in_loop=False)]
        block.accept([end[0], left[0][0]], changes, found)

    return [main, other]


def _variables(block: Block, watch: Watch) -> dict[Any, Any]:
    """Variables of functions being traced that hold what no graph can carry: their values."""
    if is_strict():
        return {}
    return {
        ident: _now(s)
        for ident, s in watch.seen.items()
        if isinstance(s.place, Cell)
        and not s.place.lasting
        and s.is_changed()
        and not block.is_known(s)
        and not _is_carried(s.place.get() if s.elements is None else None)
        and _list_form(s, _now(s)) is None
    }


def _part(
    one: Watch, ends: dict[Any, Any], other: Watch, other_ends: dict[Any, Any]
) -> None:
    """Where the branches leave different objects in a variable, its use is an error."""
    for ident in {**ends, **other_ends}:
        seen = one.seen.get(ident) or other.seen[ident]
        mine, its = [e.get(ident, seen.before) for e in (ends, other_ends)]
        if is_same(mine, its):
            _put_back(seen, mine)
            continue
        kind = type(mine if type(mine) is not Undefined else its)
        name = seen.place.name
        word = "list" if issubclass(kind, list) else kind.__name__
        seen.place.spoil(DIFFERS.format(name, word))


# A trace: who watched it, and what it left in the places that it changed.
Traced = tuple[Watch, dict[Any, Any]]


def _changes(one: Traced, other: Traced) -> list[Change]:
    """What differs at the ends of two traces; what one left as it was is as before."""
    seen = {**other[0].seen, **one[0].seen}
    return [
        Change(seen[i], [ends.get(i, seen[i].before) for ends in (one[1], other[1])])
        for i in {**one[1], **other[1]}
    ]


def _stopped(body: Body, *args: Any) -> BaseException | None:
    """Runs a body; what it raises. An error may come of state that is not known yet."""
    try:
        body(*args)
    except Found:
        raise
    except (Exception, Unreachable) as e:
        return e
    return None


def _is_error(stop: BaseException | None) -> bool:
    """False for what ends a branch because the graph raises there."""
    return isinstance(stop, Exception) and getattr(stop, MARK, None) is None


def _ends(block: Block, watch: Watch) -> dict[Any, Any]:
    """What a trace changed and a graph can carry: the new values."""
    return {
        ident: _now(s)
        for ident, s in watch.seen.items()
        if s.is_changed()
        and not block.is_known(s)
        and not _is_built(s, watch)
        and (_is_carried(_now(s)) or _list_form(s, _now(s)) is not None)
    }


def _is_built(seen: Seen, watch: Watch) -> bool:
    """True for Python values of an object that is given its variables meanwhile."""
    return id(seen.place.owner) in watch.builds and not _has_tensor(_now(seen))


# -- values -------------------------------------------------------------------------------


class _Elements(list[Any]):
    """The elements that a list has grown to."""


def _now(seen: Seen) -> Any:
    value = seen.place.get()
    if type(value) is GrownList:
        return value.copy()
    # An inner loop may have put another list in the place of the one that has grown.
    return _Elements(value) if type(value) is list and seen.is_grown() else value


def _may_be_state(change: Change, in_loop: bool) -> bool:
    """True if both values are of one type: before and after a turn, or after two branches."""
    seen, (before, after) = change.seen, change.ends
    if seen.elements is not None:
        return change.form is not None
    if type(before) is Undefined:
        return in_loop and all(
            isinstance(t, Tensor) and shapes.known(t.dims) for t in nest.flatten(after)
        )
    if any(v is None or type(v) is Maybe for v in change.ends):
        return _may_be_optional(seen, before, after)
    if any(v is seen.before and not _is_carried(v) for v in (before, after)):
        return False
    if not (_has_tensor(before) or _has_tensor(after)) and _is_equal(before, after):
        return False
    return _types(before) == _types(after)


def _may_be_optional(seen: Seen, *ends: Any) -> bool:
    """True if both are None, a Maybe, or what a tensor can be; and one has a tensor."""
    there = [v for v in ends if v is not None]
    if any(v is seen.before and not _is_carried(known(v)) for v in there):
        return False
    types = [_types(known(v)) for v in there]
    return any(map(_has_tensor, there)) and types == types[:1] * len(there)


def _is_equal(before: Any, after: Any) -> bool:
    one, other = nest.flatten(before), nest.flatten(after)
    return len(one) == len(other) and all(
        np.array_equal(a, b) for a, b in zip(one, other, strict=True)
    )


def _leaves(value: Any) -> list[Any]:
    try:
        return nest.flatten(value, expand_composites=True)
    except (AttributeError, TypeError, ValueError):  # an array of eager tensors
        return [value]


def _is_carried(value: Any) -> bool:
    """True for tensors of graphs that are open, numbers, and structures of these."""
    leaves = _leaves(value)
    return bool(leaves) and all(
        _is_open(v)
        if isinstance(v, Tensor)
        else isinstance(v, (bool, int, float, complex, np.ndarray, np.generic))
        for v in leaves
    )


def _is_open(tensor: Any) -> bool:
    if not isinstance(tensor, SymbolicTensor):
        return True
    graph = tensor.graph
    return any(getattr(lv, "graph", None) is graph for lv in door.stack().levels)


def _has_tensor(value: Any) -> bool:
    return any(isinstance(v, SymbolicTensor) for v in _leaves(value))


def _types(value: Any) -> Any:
    """Structure and dtypes; shapes are the business of branches and loops."""
    leaves = [
        v.dtype if isinstance(v, Tensor) else convert.to_tensor(v).dtype
        for v in _leaves(value)
    ]
    outer = nest.map_structure(
        lambda v: type(v).__name__ if isinstance(v, CompositeTensor) else "", value
    )
    return repr(outer), leaves


def _list_form(seen: Seen, *values: Any) -> Form | None:
    """The form of the elements of a list that grows; None if it cannot be carried.

    Lists that outlive the trace and get nothing but Python values are somebody's log.
    """
    if seen.elements is None:
        return None
    elements = list(seen.elements)
    for value in values:
        if type(value) is GrownList:
            return value.form
        if isinstance(value, _Elements):
            elements += value
        elif value is not seen.value:
            return None
    if not elements or (seen.place.lasting and not _has_tensor(elements[-1])):
        return None
    try:
        return Form.common(elements)
    except (TypeError, ValueError):
        return None


# -- the whole trace ----------------------------------------------------------------------


class _Traces(threading.local):
    """What was Python's before it became state, for each trace that this thread is in."""

    def __init__(self) -> None:
        self.open: list[list[tuple[Seen, Any]]] = []

    def leave(self, seen: Seen, value: Any) -> None:
        """Notes what Python would have left in a place that outlives the trace."""
        is_python = isinstance(value, _Elements) or not _has_tensor(value)
        if self.open and seen.place.lasting and is_python:
            self.open[-1].append((seen, value))


_traces = _Traces()


def traced(call: Callable[[], Any]) -> Any:
    """What a traced call returns. Lists and numbers that became state are Python's again after it.

    A list has the tensors of the graph then, as TensorFlow leaves them: their use says so.
    """
    left: list[tuple[Seen, Any]] = []
    _traces.open.append(left)
    known = aliases.state()
    try:
        result = aliases.everywhere(call())
        return nest.map_structure(lambda v: v, result) if left else result
    finally:
        _traces.open.pop()
        for seen, value in reversed(left):
            if _has_tensor(seen.place.get()):
                _put_back(seen, value)
        aliases.reset(known)


def _put_back(seen: Seen, value: Any) -> None:
    if isinstance(value, _Elements):
        seen.value[:] = value
        seen.place.put(seen.value)
    else:
        seen.place.put(value)
