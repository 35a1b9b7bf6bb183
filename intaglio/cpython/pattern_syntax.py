"""The syntax tree of a regular expression, as Python's `re` has parsed it."""

from __future__ import annotations

import re
import re._constants as constants  # pyright: ignore[reportMissingImports]  # CPython's own
import re._parser as parser  # pyright: ignore[reportMissingImports]  # CPython's own
from collections.abc import Callable
from typing import Any


class Char:
    """One character for which a condition holds."""

    __slots__ = ("holds",)

    def __init__(self, holds: Callable[[str], bool]) -> None:
        self.holds = holds


class Sequence:
    """Parts one after the other."""

    __slots__ = ("parts",)

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts


class Branch:
    """The first of several that leads to a match."""

    __slots__ = ("options",)

    def __init__(self, options: list[Any]) -> None:
        self.options = options


class Repeat:
    """A part `least` to `most` times (None: without an end), as often as possible if `greedy`."""

    __slots__ = ("greedy", "least", "most", "part")

    def __init__(self, least: int, most: int | None, greedy: bool, part: Any) -> None:
        self.least = least
        self.most = most
        self.greedy = greedy
        self.part = part


class Group:
    """A part whose match has a number."""

    __slots__ = ("number", "part")

    def __init__(self, number: int, part: Any) -> None:
        self.number = number
        self.part = part


class At:
    """A condition on the position: "start", "line start", "end", "line end", "word", "no word"."""

    __slots__ = ("where",)

    def __init__(self, where: str) -> None:
        self.where = where


class Unknown(Exception):
    """The expression has something that this tree has no form for."""


_POSITIONS = {
    constants.AT_BEGINNING_STRING: "start",
    constants.AT_END_STRING: "end",
    constants.AT_BOUNDARY: "word",
    constants.AT_NON_BOUNDARY: "no word",
}


def parsed(pattern: str) -> tuple[Any, int]:
    """The tree of a pattern with ASCII classes, and the number of its groups.

    Raises re.error for no pattern, Unknown for what has no form here.
    """
    found = parser.parse(pattern, re.ASCII)
    return _sequence(found, found.state.flags), found.state.groups - 1


def _sequence(items: Any, flags: int) -> Sequence:
    return Sequence([_part(op, value, flags) for op, value in items])


def _part(op: Any, value: Any, flags: int) -> Any:
    if op in (constants.LITERAL, constants.NOT_LITERAL, constants.ANY, constants.IN):
        return Char(_condition(op, value, flags))
    if op is constants.SUBPATTERN:
        number, added, removed, part = value
        inner = _sequence(part, (flags | added) & ~removed)
        return inner if number is None else Group(number, inner)
    if op is constants.BRANCH:
        return Branch([_sequence(option, flags) for option in value[1]])
    if op in (constants.MAX_REPEAT, constants.MIN_REPEAT):
        least, most, part = value
        most = None if most is constants.MAXREPEAT else int(most)
        return Repeat(int(least), most, op is constants.MAX_REPEAT, _sequence(part, flags))
    if op is constants.AT:
        lines = bool(flags & re.MULTILINE)
        if value is constants.AT_BEGINNING:
            return At("line start" if lines else "start")
        if value is constants.AT_END and lines:
            return At("line end")
        if value in _POSITIONS:
            return At(_POSITIONS[value])
    raise Unknown(str(op))


def _condition(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    """Whether a character is one of those that a part stands for."""
    if op is constants.ANY:
        return (lambda c: True) if flags & re.DOTALL else (lambda c: c != "\n")
    items = [(constants.LITERAL, value)] if op is not constants.IN else value
    wanted = op is not constants.NOT_LITERAL
    if items and items[0][0] is constants.NEGATE:
        wanted, items = False, items[1:]
    ranges: list[tuple[int, int]] = []
    classes: list[Any] = []
    for kind, what in items:
        if kind is constants.LITERAL:
            ranges.append((what, what))
        elif kind is constants.RANGE:
            ranges.append(what)
        elif kind is constants.CATEGORY:
            classes.append(_CLASSES[what])
        else:
            raise Unknown(str(kind))
    folded = bool(flags & re.IGNORECASE)

    def contains(c: str) -> bool:
        number = ord(c)
        inside = any(low <= number <= high for low, high in ranges)
        return inside or any(member(c) == positive for member, positive in classes)

    def holds(c: str) -> bool:
        found = contains(c)
        if folded and not found and c.isascii():
            found = contains(c.swapcase())
        return found is wanted

    return holds


def _is_word(c: str) -> bool:
    return c.isascii() and (c.isalnum() or c == "_")


def _is_digit(c: str) -> bool:
    return c in "0123456789"


def _is_space(c: str) -> bool:
    return c in " \t\n\r\f\v"


_CLASSES = {
    constants.CATEGORY_WORD: (_is_word, True),
    constants.CATEGORY_NOT_WORD: (_is_word, False),
    constants.CATEGORY_DIGIT: (_is_digit, True),
    constants.CATEGORY_NOT_DIGIT: (_is_digit, False),
    constants.CATEGORY_SPACE: (_is_space, True),
    constants.CATEGORY_NOT_SPACE: (_is_space, False),
}
