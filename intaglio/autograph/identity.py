"""Identity analysis: which objects may be identical when the graph runs.

A block has copies of the lists and dictionaries that its names hold, and a name that it sets
has one of its own afterwards, which stands for the result of either branch, or the last iteration,
there. So two names may refer to one object when the graph runs, and to two in the trace.
This is noted; once one of them is changed in place, reading the other is an error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Container, Iterator, Sequence
from typing import Any

from intaglio.autograph import aliases, provenance
from intaglio.autograph.containers import CONTAINERS
from intaglio.autograph.provenance import Provenance, is_of_trace, note_packed
from intaglio.autograph.records import is_record
from intaglio.type_specs.grown_list import GrownList

ANOTHER = (
    "this {} may be the one that was changed under another name: a staged branch or loop puts one of "
    "several into a name, and only the graph knows which. Change a copy, or change it before the block."
)


def slots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any]]:
    """The mutable objects in a value, by their paths in it."""
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


class Moves:
    """What the names of a loop may have at the beginning of an iteration besides what they had before it.

    An iteration may leave another object in a name: one that another name had, or has as well.
    """

    def __init__(self) -> None:
        self.older: dict[Any, dict[int, Any]] = {}
        self.merged: set[tuple[Any, Any]] = set()

    def count(self) -> int:
        """The number of moves that are known."""
        return len(self.merged) + sum(map(len, self.older.values()))


class Identities:
    """The objects that the names of a block have, from its beginning to its end."""

    def __init__(self, values: Sequence[Any], moves: Moves | None = None) -> None:
        self.begun = values
        self.moves = moves or Moves()
        self.starts: dict[Any, Any] = {}  # what the iteration has begun with
        self.in_loop = False
        self.copies: dict[int, Any] = {}
        self.ends: list[dict[Any, Any]] = []
        self.stale: dict[
            Any, str
        ] = {}  # paths whose object was changed under another name by the end

    def copied(self, values: Sequence[Any], copies: Sequence[Any]) -> None:
        """Notes that the block continues with copies of these values.

        Two of them may be the same object as far as the values may.
        """
        own = _of_all(values)
        if not own:
            return
        copied_paths = {
            path: copy for path, copy in _of_all(copies).items() if own.get(path, copy) is not copy
        }
        for path, copy in copied_paths.items():
            value = own[path]
            if is_of_trace(value):
                note_packed(copy)
            aliases.note_copy(copy, [value, *self._older_aliases(value)])
            aliases.relate(
                copy,
                [
                    other
                    for location, other in copied_paths.items()
                    if own[location] is value or aliases.may_be_same(own[location], value)
                ],
            )
        self.copies.update({id(copy): copy for copy in copied_paths.values()})

    def _older_aliases(self, value: Any) -> list[Any]:
        return [v for v in aliases.may_aliases_of(value) if id(v) not in self.copies]

    def put(self, values: Sequence[Any]) -> None:
        """Notes what the names get: in an iteration of a loop, what they had before it or others."""
        if not self.in_loop:
            return
        self.copied(self.begun, values)
        self.starts = starts = _of_all(values)
        for key, older in self.moves.older.items():
            value = starts.get(self._path(key))
            for old in older.values() if value is not None else ():
                aliases.relate(value, [old, *self._older_aliases(old)])
        for pair in self.moves.merged:
            one, other = [starts.get(self._path(key)) for key in pair]
            if one is not None and other is not None:
                aliases.relate(one, [other])

    def _key(self, path: Any) -> Any:
        """A path as it is in every trace: more state may be in front of the names."""
        return (path[0] - len(self.begun), *path[1:])

    def _path(self, key: Any) -> Any:
        return (key[0] + len(self.begun), *key[1:])

    def left(self, values: Sequence[Any], created: Container[int] = ()) -> None:
        """Notes the values with which a branch or an iteration ends, or that the loop has none.

        `created` are the ids of objects that are new in it.
        """
        end = _of_all(values)
        if self.in_loop:
            self._note_moves(end, created)
        self.ends.append(end)
        for path, value in end.items():
            why = aliases.poisoned(value)
            if why is not None and id(value) in self.copies:
                self.stale[path] = why
        for copy in self.copies.values():
            aliases.mend(copy)

    def _note_moves(self, end: dict[Any, Any], created: Container[int]) -> None:
        begun = _of_all(self.begun)
        moved = [p for p, start in self.starts.items() if end.get(p, start) is not start]
        for path in moved:
            for old in self._older(end[path], created):
                key = self._key(path)
                if old is not begun.get(path):
                    self.moves.older.setdefault(key, {})[id(old)] = old
            self.moves.merged |= {
                (self._key(path), self._key(other))
                for other in self.starts
                if other != path
                and other in end
                and (end[other] is end[path] or aliases.may_be_same(end[other], end[path]))
            }

    def _older(self, value: Any, created: Container[int]) -> list[Any]:
        """The objects older than the loop that one at the end of an iteration may be."""
        begun = _of_all(self.begun)
        for path, start in self.starts.items():
            if start is value:
                older = self.moves.older.get(self._key(path), {})
                return [begun[path], *older.values()] if path in begun else []
        is_known = provenance.of(aliases.origin(value)) is not Provenance.OLDER
        is_older = is_known and id(value) not in created
        return [value] if is_older or any(v is value for v in begun.values()) else []

    def results(self, values: Sequence[Any]) -> dict[int, Any]:
        """Notes what stands for the ends after the block. Returns the objects, by their ids."""
        results = _of_all(values)
        own = {id(v) for v in results.values()}
        # What each may be at each end, before the results are among it.
        may_be = {
            path: [
                {id(v): v for v in (end[path], *aliases.may_aliases_of(end[path]))}
                for end in self.ends
                if path in end
            ]
            for path in results
        }
        for path, value in results.items():
            self.copies.pop(id(value), None)
            aliases.note_result(value)
            for same in may_be[path]:
                others = [v for i, v in same.items() if i not in self.copies and i not in own]
                aliases.relate(value, others)
            aliases.relate(
                value,
                [
                    other
                    for key, other in results.items()
                    if any(
                        key in end and id(end[key]) in same
                        for end, same in zip(
                            [e for e in self.ends if path in e], may_be[path], strict=True
                        )
                    )
                ],
            )
            if path in self.stale:
                aliases.poison(value, self.stale[path])
        return {id(v): v for v in results.values()}


def is_same_object(one: Any, other: Any) -> bool:
    """`one is other`. Raises TypeError where it is decided only when the graph runs."""
    if aliases.may_be_same(one, other):
        raise TypeError(
            f"`is` asks whether two names have the same {type(one).__name__}, and a staged branch or loop "
            "decides about that. Keep a tensor that says so."
        )
    return one is other


__all__ = ["ANOTHER", "Identities", "Moves", "is_same_object", "slots"]
