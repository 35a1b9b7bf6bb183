"""Hidden state: locations that a staged block writes without naming them, found by a fixpoint over traces.

A block is traced with the state that its code names. If a watch finds that it also changed
variables of closures, globals, attributes or items, or that a list has grown, the trace is
given up, everything is put back, and the block traced again with these as state. Lists
become `GrownList`s. Values that no graph can carry are put back too, if the trace created them, and
using them is an error from then on; objects older than the trace stay as Python left them.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intaglio.autograph import aliases, change_messages
from intaglio.autograph.blocks import Block, Change, Found, Poisoned, State, poison
from intaglio.autograph.carried import has_tensor, is_carried, list_form, may_be_state, now
from intaglio.autograph.containers import Contents, is_equal
from intaglio.autograph.joins import is_same
from intaglio.autograph.locations import Elements
from intaglio.autograph.memory import Memory, around, remembering
from intaglio.autograph.regions import MARK, Unreachable
from intaglio.autograph.static_errors import left_to_the_run
from intaglio.autograph.strictness import is_strict
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen, Watch, note_copies, watching
from intaglio.autograph.whole_trace import note_changed, put_end

Body = Callable[..., None]
# A trace: its watch, the values that it left in the locations that it changed and a graph can
# carry, and those in others.
Traced = tuple[Watch, dict[Any, Any], dict[Any, Any]]


def stage_to_fixpoint(
    stage: Callable[[Block, Sequence[Body]], None],
    bodies: Sequence[Body],
    get_state: Callable[[], State],
    set_state: Callable[[State], None],
    names: Sequence[str],
    sources: Sequence[Any] = (),
) -> None:
    """Stages a block, repeatedly until all locations that it changes are its state.

    `stage(block, bodies)` traces the given bodies, each of them once and in order, with
    the block's `get`, `put` and `names`; nothing may be left behind if a body raises.
    `sources` are the functions of converted code that the bodies come from.
    """
    block = Block(get_state, set_state, names, sources or bodies)
    watch = _branches if len(bodies) > 1 else _loop_body
    outer = around()
    code = getattr(inspect.unwrap(bodies[0]), "__code__", None)
    memory = Memory() if outer is None else outer.next_inside(code)
    block.is_retrace = memory.block is not None or is_strict()
    if outer is not None:
        block.recall(memory, outer.block)
    memory.block = block
    while True:
        block.begin()
        start = block.get()
        if outer is None and memory.begun is None:
            memory.begun = dict(zip(block.names, start, strict=True))
        known = aliases.state()
        try:
            with remembering(memory):
                stage(block, watch(block, bodies))
            note_copies(block.done())
            break
        except Found as found:
            if found.block is not block:
                raise
            aliases.reset(known)
            block.restart(start)
            block.is_retrace = True
            block.take(found.chosen, found.poisoned)
    block.store(memory)
    for poisoned in block.poisoned:
        poisoned.poison()


def _begin() -> None:
    memory = around()
    assert memory is not None  # a block is staged
    memory.begin()


# -- loops --------------------------------------------------------------------------------


def _loop_body(block: Block, bodies: Sequence[Body]) -> list[Body]:
    (body,) = bodies
    block.ends(in_loop=True)  # of no iteration

    def iteration(*args: Any) -> None:
        _begin()
        with watching(*block.sources, is_retrace=block.is_retrace) as watch:
            note_copies(block.identities.copies)
            stop = _stopped(body, *args)
        block.ends(in_loop=True, created=watch.inside)
        end = _traced(block, watch)
        changes = _changes((watch, {}, {}), end)
        found = [c for c in changes if _is_state(c, in_loop=True)]
        poisoned = _poisoned(_others(changes, found, end))
        # An iteration that reads what no iteration has set yet fails by itself.
        block.poisoned += [s for s in poisoned if type(s.seen.before) is Undefined]
        poisoned = [s for s in poisoned if type(s.seen.before) is not Undefined]
        block.accept([watch], changes, found, poisoned)
        if stop is not None:
            raise stop

    return [iteration]


def _poisoned(seen: Iterable[Seen]) -> list[Poisoned]:
    return [Poisoned(s, change_messages.of_iterations(s)) for s in seen]


def _others(changes: Sequence[Change], found: Sequence[Change], end: Traced) -> list[Seen]:
    """The locations of the trace that an iteration changes and that are no state."""
    if is_strict():
        return []
    taken = {c.seen.location.ident for c in found}
    watch, carried, rest = end
    left = [c.seen for c in changes if not c.seen.location.outlives]
    idents = [
        seen.location.ident
        for seen in left
        if seen.location.ident not in taken
        and not _is_same_end(_before(seen, carried), carried[seen.location.ident])
    ]
    return [watch.seen[i] for i in (*idents, *rest)]


# -- branches -----------------------------------------------------------------------------


def _branches(block: Block, bodies: Sequence[Body]) -> list[Body]:
    """Both branches, begun from the same state. What is no state stays as Python left it."""
    first, second = bodies
    left: list[Traced] = []

    @functools.wraps(first)
    def main() -> None:
        _begin()
        with watching(*block.sources, is_retrace=block.is_retrace) as watch:
            note_copies(block.identities.copies)
            stop = _stopped(first)
        block.ends()
        left[:] = [_traced(block, watch)]
        watch.restore({**left[0][1], **left[0][2]})
        if _is_error(stop):
            accept((watch, {}, {}))
        if stop is not None:
            raise stop

    @functools.wraps(second)
    def other() -> None:
        with watching(*block.sources, is_retrace=block.is_retrace) as watch:
            note_copies(block.identities.copies)
            stop = _stopped(second)
        block.ends()
        end = _traced(block, watch)
        accept(end)
        _part(left[0], end)
        if stop is not None:
            raise stop

    def accept(end: Traced) -> None:
        changes = _changes(left[0], end)
        found = [c for c in changes if _is_state(c, in_loop=False)]
        block.accept([end[0], left[0][0]], changes, found)

    return [main, other]


def _part(one: Traced, other: Traced) -> None:
    """Poisons locations in which the branches leave different values that cannot be state.

    In what is older than the trace stays what Python leaves there.
    """
    ends, other_ends = {**one[1], **one[2]}, {**other[1], **other[2]}
    parted: list[tuple[Seen, str]] = []
    for ident in {**ends, **other_ends}:
        seen = one[0].seen.get(ident) or other[0].seen[ident]
        before = _before(seen, ends, other_ends)
        own, its = ends.get(ident, before), other_ends.get(ident, before)
        if seen.location.outlives or is_strict():
            if ident not in other_ends:
                put_end(seen, own)
        elif _is_same_end(own, its) and aliases.poisoned(seen.value) is None:
            put_end(seen, own)
        else:
            parted.append((seen, change_messages.of_branches(seen, own, its)))
    for seen, why in parted:
        poison(seen, why)


# -- what a trace changed -------------------------------------------------------------------


def _traced(block: Block, watch: Watch) -> Traced:
    """The values that a trace has left in the locations that it changed."""
    carried: dict[Any, Any] = {}
    rest: dict[Any, Any] = {}
    for ident, seen in watch.seen.items():
        if not seen.is_changed():
            if ident[0] in watch.copied:
                _note_outliving(block, seen, watch)
            continue
        if ident[0] in watch.received:  # the next trace shows whether it is new
            watch.pending.add(ident)
            continue
        _note_outliving(block, seen, watch)
        if block.is_known(seen) or seen.is_in_grown():
            continue
        value = now(seen)
        if seen.is_poisoned():
            if not is_strict():
                rest[ident] = Undefined(seen.location.name, str(aliases.poisoned(seen.value)))
        elif is_carried(value) or list_form(seen, value) is not None:
            if not _is_built(seen, watch):
                carried[ident] = value
        elif not seen.location.outlives and not is_strict():
            rest[ident] = value
    return watch, carried, rest


def _note_outliving(block: Block, seen: Seen, watch: Watch) -> None:
    """Notes what a trace changes in a location that is older than the whole trace."""
    memory = around()
    assert memory is not None  # a block is staged
    if memory.begun is None or _is_built(seen, watch):
        return
    is_elsewhere = (id(seen.value), Elements) in watch.seen
    if is_elsewhere and type(seen.location) is not Elements and not _is_rebound(seen):
        return  # a container that is noted itself
    ident = seen.location.ident
    name = block.own.get(ident)
    before = memory.begun.get(name) if name is not None else seen.value
    is_renewed = change_messages.container_of(seen) is None and has_tensor(before)
    note_changed(seen, is_renewed, block.is_known(seen))


def _is_rebound(seen: Seen) -> bool:
    return seen.location.get() is not seen.value


def _is_built(seen: Seen, watch: Watch) -> bool:
    """True for Python values of an object that is given its variables meanwhile.

    And for objects with variables where there was nothing: these are created once.
    """
    value = now(seen)
    if hasattr(type(value), "trainable_variables"):
        return seen.value is None or type(seen.value) is Undefined
    return id(seen.location.owner) in watch.builds and not has_tensor(value)


def _changes(one: Traced, other: Traced) -> list[Change]:
    """What differs at the ends of two traces; what one left as it was is as before."""
    seen = {**other[0].seen, **one[0].seen}
    return [
        Change(seen[i], [ends.get(i, seen[i].before) for ends in (one[1], other[1])])
        for i in {**one[1], **other[1]}
    ]


def _is_state(change: Change, in_loop: bool) -> bool:
    return may_be_state(change.seen, change.ends, change.form, in_loop)


def _before(seen: Seen, *ends: dict[Any, Any]) -> Any:
    """The earlier value of a location, or contents, in the form in which its change was noted."""
    ident = seen.location.ident
    end = next(e[ident] for e in ends if ident in e)
    return seen.contents if isinstance(end, Contents) else seen.before


def _is_same_end(one: Any, other: Any) -> bool:
    if isinstance(one, Contents) and isinstance(other, Contents):
        return is_equal(one, other)
    if type(one) is Undefined and type(other) is Undefined:
        return not (one.why or other.why)
    if type(one) is Undefined or type(other) is Undefined:
        return False
    return is_same(one, other)


def _stopped(body: Body, *args: Any) -> BaseException | None:
    """Runs a body; returns the exception that it raises, which may result from unknown state."""
    try:
        body(*args)
    except Found:
        raise
    except (Exception, Unreachable) as e:
        left_to_the_run(e)
        return e
    return None


def _is_error(stop: BaseException | None) -> bool:
    """False for what ends a branch because the graph raises there."""
    return isinstance(stop, Exception) and getattr(stop, MARK, None) is None


__all__ = ["Block", "stage_to_fixpoint"]
