"""What is said where a staged block leaves something in a place that no graph can carry."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from intaglio.autograph import aliases
from intaglio.autograph.containers import CONTAINERS
from intaglio.autograph.joins import DIFFERS
from intaglio.autograph.places import Item
from intaglio.autograph.values import Undefined
from intaglio.autograph.watches import Seen
from intaglio.base import origins
from intaglio.trace.grown_list import GrownList

TURNS = (
    "{} is a Python object of type {} that a turn of the loop changes: only tensors can change in "
    "a loop of the graph. Set it outside of the loop, or make it a tensor."
)
LACKING = (
    "{} is not there at the end of both branches of an `if` on a tensor: {} sets or deletes it in "
    "one of them only. Give it a value before the `if`."
)
_BRANCHES = (
    "the {} that {} changes differs between the main and the else branch of an `if` on a tensor: a "
    "graph chooses between tensors only. {}"
)
_LOOP = (
    "the {} that {} changes is another one in each turn of a loop of the graph, which carries "
    "tensors only. {}"
)
_ADVICE: list[tuple[Any, str]] = [
    (dict, "Give each key a number or tensor before the block: `d[key] = 0`."),
    ((list, GrownList), "Let all its elements be tensors of one type, or change it outside of the block."),
    (set, "Change it outside of the block, or keep a tensor that says for each member whether it is in."),
    (collections.deque, "Change it outside of the block, or use a list of tensors."),
    (np.ndarray, "Use a tensor, and tf.where or tf.tensor_scatter_nd_update."),
    (bytearray, "Change it outside of the block."),
]  # fmt: skip


def of_branches(seen: Seen, main: Any, other: Any) -> str:
    """Why nobody can tell what a place holds after an `if`, given what both branches leave."""
    told = _told(main) or _told(other)
    if told:
        return told
    container = container_of(seen)
    if container is not None:
        kind = _kind(container)
        return _BRANCHES.format(kind, _line(seen), _advice(container))
    name = f"'{seen.place.name}'"
    gone = [type(v) is Undefined and not v.why for v in (main, other)]
    if any(gone):
        return LACKING.format(name, _line(seen))
    return DIFFERS.format(name, type(main).__name__)


def of_turns(seen: Seen) -> str:
    """Why nobody can tell what a place holds in a loop that changes it."""
    told = aliases.spoilt(seen.value) or _told(seen.place.get())
    if told:
        return told
    container = container_of(seen)
    if container is not None:
        kind = _kind(container)
        return _LOOP.format(kind, _line(seen), _advice(container))
    return TURNS.format(f"'{seen.place.name}'", type(seen.place.get()).__name__)


def _told(value: Any) -> str:
    """Why a block inside cannot tell already, if that is so."""
    return value.why if type(value) is Undefined else ""


def container_of(seen: Seen) -> Any:
    """The container whose contents are in question, or None for a variable or attribute."""
    place = seen.place
    if isinstance(place, Item) and not place.is_global:
        return place.owner
    if seen.held is not None and isinstance(seen.value, (*CONTAINERS, GrownList)):
        return seen.value
    return None


def _kind(container: Any) -> str:
    return "list" if type(container) is GrownList else type(container).__name__


def _advice(container: Any) -> str:
    return next(text for kind, text in _ADVICE if isinstance(container, kind))


def _line(seen: Seen) -> str:
    for frame in origins.frames(tuple(seen.where)):
        source = f" (`{frame.source}`)" if frame.source else ""
        return f"line {frame.lineno}{source}"
    return "a staged block"


__all__ = ["container_of", "of_branches", "of_turns"]
