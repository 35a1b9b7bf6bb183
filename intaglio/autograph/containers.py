"""Python's containers as staged blocks see them: what they hold, and who made them.

A container that a trace makes belongs to it: a staged block may change it only in ways that
a graph can carry. One that is older may be somebody's log or cache, and outlives the trace.
"""

from __future__ import annotations

import collections
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from intaglio.ir.graph import SymbolicTensor
from intaglio.type_specs.grown_list import GrownList

CONTAINERS = (list, dict, set, collections.deque, bytearray, np.ndarray)


class Contents(list[Any]):
    """The elements that a container holds at some time, in order; of a dictionary its items."""


def contents(value: Any) -> Contents:
    """What a container holds now."""
    if isinstance(value, dict):
        return Contents(part for item in value.items() for part in item)
    if isinstance(value, np.ndarray):
        return Contents([value.tobytes(), value.copy()])
    if isinstance(value, set):
        return Contents([frozenset(value)])
    return Contents(value)


def put_contents(value: Any, held: list[Any]) -> None:
    """Makes a container hold what it held at some time."""
    if isinstance(value, dict):
        dict.clear(value)
        for key, item in zip(held[::2], held[1::2], strict=True):
            dict.__setitem__(value, key, item)
    elif isinstance(value, np.ndarray):
        value[...] = held[1]
    elif isinstance(value, set):
        set.clear(value)
        set.update(value, held[0])
    elif isinstance(value, collections.deque):
        value.clear()
        value.extend(held)
    else:
        value[:] = held


def is_equal(one: list[Any], other: list[Any]) -> bool:
    """True if two contents hold the same objects."""
    return len(one) == len(other) and all(
        a is b or _is_equal_fact(a, b) for a, b in zip(one, other, strict=True)
    )


def _is_equal_fact(a: Any, b: Any) -> bool:
    kinds = (bytes, frozenset)  # of arrays and sets
    return type(a) is type(b) and isinstance(a, kinds) and a == b


# -- what a trace makes -----------------------------------------------------------------------


class _Traces(threading.local):
    """For each trace that this thread is in: the objects that it has made, by their ids."""

    def __init__(self) -> None:
        self.made: list[dict[int, Any]] = []
        # The containers that it has put together to hold tensors of a block.
        self.stand_ins: list[dict[int, Any]] = []
        # The objects whose attributes a dictionary holds, by the dictionaries' ids.
        self.holders: dict[int, tuple[Any, Any]] = {}


_traces = _Traces()


def begin_trace() -> None:
    """From now on what is made belongs to a new trace."""
    _traces.made.append({})
    _traces.stand_ins.append({})


def end_trace() -> None:
    """What is made belongs to the trace around the last one again."""
    _traces.made.pop()
    _traces.stand_ins.pop()
    if not _traces.made:
        _traces.holders.clear()


def in_trace() -> bool:
    """True while a function is traced."""
    return bool(_traces.made)


def note_made(value: Any) -> None:
    """Tells that the trace has made an object."""
    if _traces.made:
        _traces.made[-1][id(value)] = value


def note_holder(value: Any, attributes: Any) -> None:
    """Tells whose attributes a dictionary holds."""
    if _traces.made:
        _traces.holders[id(attributes)] = (value, attributes)


def put_together(value: Any) -> Any:
    """The value, whose containers the trace has made to hold its tensors."""
    if _traces.stand_ins:
        _traces.stand_ins[-1].update({id(c): c for c in inside(value)})
    return value


def is_of_trace(value: Any) -> bool:
    """True for what the innermost trace has made, and for what stands for it in a block."""
    if is_made(value) or type(value) is GrownList:
        return True
    return bool(_traces.stand_ins) and id(value) in _traces.stand_ins[-1]


def holder(attributes: Any) -> Any:
    """The object whose attributes a dictionary is known to hold, or None."""
    found = _traces.holders.get(id(attributes))
    return None if found is None else found[0]


def is_made(value: Any) -> bool:
    """True for what the innermost trace has made, and for tensors of graphs."""
    if type(value) is SymbolicTensor:
        return True
    return bool(_traces.made) and id(value) in _traces.made[-1]


def inside(value: Any) -> Iterator[Any]:
    """A container, and those in it: a value that code writes as a whole."""
    if isinstance(value, CONTAINERS):
        yield value
    parts = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    for part in parts:
        if isinstance(part, (*CONTAINERS, tuple)):
            yield from inside(part)


def _alone() -> int:
    """What `sys.getrefcount` says of an object that only one variable holds."""
    made: list[Any] = []
    return sys.getrefcount(made)


# A call's result with this count is new: whoever made it has not kept it.
ALONE = _alone()
