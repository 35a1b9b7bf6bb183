"""Which objects are one and the same, as far as it can be told while tracing.

A block has copies of the lists and dictionaries that its names hold, and a name that it sets
has one of its own afterwards, which stands for what either branch, or the last turn, has left
there. So two names may have the same object when the graph runs, and the trace has two.
This is remembered; once one of them is changed in place, reading the other is an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

from intaglio.autograph import aliases
from intaglio.autograph.containers import CONTAINERS
from intaglio.autograph.records import is_record
from intaglio.trace.grown_list import GrownList

ANOTHER = (
    "this {} may be the one that was changed under another name: a staged branch or loop puts one of "
    "several into a name, and only the graph knows which. Change a copy, or change it before the block."
)


def slots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """The objects in a value that can be changed, by their places in it."""
    kind = type(value)
    if is_record(value):
        yield path, value
        parts = [(f.name, getattr(value, f.name)) for f in dataclasses.fields(kind)]
    elif kind is dict:
        yield path, value
        parts = list(value.items())
    elif kind is list or kind is tuple:
        if kind is list:
            yield path, value
        parts = list(enumerate(value))
    else:
        if kind is GrownList or isinstance(value, CONTAINERS):
            yield path, value
        return
    for key, part in parts:
        yield from slots(part, (*path, key))


def _of_all(values: Sequence[Any]) -> dict[Any, Any]:
    return dict(slots(tuple(values)))


class Identities:
    """The objects that the names of a block have, from its beginning to its end."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.begun = values
        self.in_loop = False
        self.copies: dict[int, Any] = {}
        self.ends: list[dict[Any, Any]] = []
        self.stale: dict[
            Any, str
        ] = {}  # places at whose end an object was changed elsewhere

    def copied(self, values: Sequence[Any], copies: Sequence[Any]) -> None:
        """Tells that the block goes on with copies of these values."""
        mine = _of_all(values)
        for path, copy in _of_all(copies).items() if mine else ():
            value = mine.get(path, copy)
            if copy is not value:
                aliases.note_copy(copy, value)
                self.copies[id(copy)] = copy

    def put(self, values: Sequence[Any]) -> None:
        """Tells what the names get: in a turn of a loop, what they had before it or others."""
        if self.in_loop:
            self.copied(self.begun, values)

    def left(self, values: Sequence[Any]) -> None:
        """Tells with which values a branch or a turn ends, or that the loop has none."""
        end = _of_all(values)
        self.ends.append(end)
        for path, value in end.items():
            why = aliases.spoilt(value)
            if why is not None and id(value) in self.copies:
                self.stale[path] = why
        for copy in self.copies.values():
            aliases.mend(copy)

    def results(self, values: Sequence[Any]) -> dict[int, Any]:
        """Tells what stands for the ends after the block. The objects, by their ids."""
        results = _of_all(values)
        # What each may be at each end, before the results are among it.
        may_be = {
            path: [
                {id(v): v for v in (end[path], *aliases.twins_of(end[path]))}
                for end in self.ends
                if path in end
            ]
            for path in results
        }
        for path, value in results.items():
            self.copies.pop(id(value), None)
            aliases.note_result(value)
            for same in may_be[path]:
                others = [v for i, v in same.items() if i not in self.copies]
                aliases.relate(value, others)
            aliases.relate(
                value,
                [
                    other
                    for place, other in results.items()
                    if any(
                        place in end and id(end[place]) in same
                        for end, same in zip(
                            [e for e in self.ends if path in e],
                            may_be[path],
                            strict=True,
                        )
                    )
                ],
            )
            if path in self.stale:
                aliases.spoil(value, self.stale[path])
        aliases.forget_twins()
        return {id(v): v for v in results.values()}


def is_same_object(one: Any, other: Any) -> bool:
    """`one is other`. Raises TypeError where only the graph knows."""
    if aliases.may_be_same(one, other):
        raise TypeError(
            f"`is` asks whether two names have the same {type(one).__name__}, and a staged branch or loop "
            "decides about that. Keep a tensor that says so."
        )
    return one is other


__all__ = ["ANOTHER", "Identities", "is_same_object", "slots"]
