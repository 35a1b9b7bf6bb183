"""Regular expressions in linear time, for those on which backtracking may take exponential time.

A program of instructions is run for all of its threads at once, character by character, with the
submatches of each thread (https://swtch.com/~rsc/regexp/regexp2.html). Of two threads at the same
instruction only the preferred one goes on, so that a character costs at most the size of the
program. Matches are those of backtracking: leftmost, then by preference.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.cpython.pattern_syntax import At, Branch, Char, Group, Repeat, Sequence

# Larger programs are refused, as RE2 does.
MAX_INSTRUCTIONS = 10_000
# A pattern of more choices, one after the other, is not left to backtracking.
MAX_CHOICES = 8
# Characters by which sets of characters are compared: those of ASCII, and some others.
SAMPLES = [chr(i) for i in range(128)] + ["é", "ß", "中", "\U0001f600"]
# The kinds of instructions.
CHAR, SPLIT, SAVE, AT, MATCH = range(5)


class TooLarge(Exception):
    """The program of a pattern has more than MAX_INSTRUCTIONS instructions."""


# -- which patterns ------------------------------------------------------------------------


def may_explode(tree: Any) -> bool:
    """Whether a pattern can match a text in so many ways that backtracking should not try them all.

    That is so of a repeated part that can itself match in several ways, and of many such parts.
    """
    return _choices(tree) > MAX_CHOICES or _repeats_choices(tree)


def _repeats_choices(tree: Any) -> bool:
    if isinstance(tree, Repeat) and tree.most != 1:
        return (_varies(tree.part) and not _is_delimited(tree.part)) or _repeats_choices(tree.part)
    return any(map(_repeats_choices, _below(tree)))


def _choices(tree: Any) -> int:
    """The number of parts that can match in several ways."""
    own = isinstance(tree, (Branch, Repeat)) and _is_choice(tree)
    return own + sum(map(_choices, _below(tree)))


def _is_choice(tree: Branch | Repeat) -> bool:
    if isinstance(tree, Repeat):
        return tree.least != tree.most
    begins = [_first(option) for option in tree.options]
    return any(a & b for i, a in enumerate(begins) for b in begins[:i])


def _varies(tree: Any) -> bool:
    """Whether a part can match in several ways: repeats inside, or options that begin alike."""
    own = isinstance(tree, (Branch, Repeat)) and _is_choice(tree)
    return own or any(map(_varies, _below(tree)))


def _below(tree: Any) -> list[Any]:
    """The parts of a part."""
    if isinstance(tree, Sequence):
        return tree.parts
    if isinstance(tree, Branch):
        return tree.options
    return [tree.part] if isinstance(tree, (Group, Repeat)) else []


def repetitions(tree: Any) -> int:
    """How often the most repeated part has to be matched, as its counts say."""
    inner = max(map(repetitions, _below(tree)), default=1)
    if isinstance(tree, Repeat):
        return inner * max(tree.least if tree.most is None else tree.most, 1)
    return inner


def _first(tree: Any) -> frozenset[str]:
    """The samples with which a match can begin; all of them where that is not clear."""
    if isinstance(tree, Char):
        return _members(tree)
    if isinstance(tree, Group):
        return _first(tree.part)
    if isinstance(tree, Sequence) and tree.parts:
        return _first(tree.parts[0])
    return frozenset(SAMPLES)


def _is_delimited(tree: Any) -> bool:
    """Whether a part matches a text in one way: one repeat, and a character that ends it."""
    chars = _chars(tree)
    repeats = [p for p in _all(tree) if isinstance(p, Repeat) and len(_chars(p)) == 1]
    return _choices(tree) == len(repeats) == 1 and any(
        all(char is other or not _members(char) & _members(other) for other in chars)
        for char in _mandatory(tree)
    )


def _all(tree: Any) -> list[Any]:
    """A part and all below it."""
    return [tree, *[part for below in _below(tree) for part in _all(below)]]


def _mandatory(tree: Any) -> list[Char]:
    """The characters that every match of a part has, once each."""
    if isinstance(tree, Char):
        return [tree]
    if isinstance(tree, (Branch, Repeat)):
        return []
    return [char for part in _below(tree) for char in _mandatory(part)]


def _chars(tree: Any) -> list[Char]:
    return [tree] if isinstance(tree, Char) else [c for part in _below(tree) for c in _chars(part)]


def _members(char: Char) -> frozenset[str]:
    return frozenset([c for c in SAMPLES if char.holds(c)])


# -- programs ------------------------------------------------------------------------------


class _Program:
    """The instructions of a tree."""

    def __init__(self, tree: Any) -> None:
        self.code: list[list[Any]] = []
        self._add(SAVE, 0)
        self._write(tree)
        self._add(SAVE, 1)
        self._add(MATCH)

    def _add(self, *instruction: Any) -> int:
        if len(self.code) >= MAX_INSTRUCTIONS:
            raise TooLarge
        self.code.append([*instruction])
        return len(self.code) - 1

    def _write(self, tree: Any) -> None:
        if isinstance(tree, Sequence):
            for part in tree.parts:
                self._write(part)
        elif isinstance(tree, Char):
            self._add(CHAR, tree.holds, {})
        elif isinstance(tree, At):
            self._add(AT, tree.where)
        elif isinstance(tree, Group):
            self._add(SAVE, 2 * tree.number)
            self._write(tree.part)
            self._add(SAVE, 2 * tree.number + 1)
        elif isinstance(tree, Branch):
            self._branch(tree)
        else:
            self._repeat(tree)

    def _branch(self, tree: Branch) -> None:
        ends: list[int] = []
        for option in tree.options[:-1]:
            split = self._add(SPLIT, len(self.code) + 1, 0)
            self._write(option)
            ends.append(self._add(SPLIT, 0))
            self.code[split][2] = len(self.code)
        self._write(tree.options[-1])
        for end in ends:
            self.code[end][1] = len(self.code)

    def _repeat(self, tree: Repeat) -> None:
        if tree.most is None:
            self._endless(tree)
            return
        for _ in range(tree.least):
            self._write(tree.part)
        splits: list[int] = []
        for _ in range(tree.most - tree.least):
            splits.append(self._add(SPLIT, 0, 0))
            self._write(tree.part)
        for split in splits:
            self._choose(split, split + 1, len(self.code), tree.greedy)

    def _endless(self, tree: Repeat) -> None:
        """A repeat without an end; x* is (x+)?, for a match of nothing ends it."""
        for _ in range(tree.least - 1):
            self._write(tree.part)
        outer = self._add(SPLIT, 0, 0) if not tree.least else None
        inside = len(self.code)
        self._write(tree.part)
        again = self._add(SPLIT, 0, 0)
        for split in (again, outer):
            if split is not None:
                self._choose(split, inside, len(self.code), tree.greedy)

    def _choose(self, split: int, inside: int, after: int, greedy: bool) -> None:
        self.code[split][1:] = [inside, after] if greedy else [after, inside]


class Match:
    """A match: where its groups begin and end, the whole match first."""

    __slots__ = ("places", "text")

    def __init__(self, text: str, places: tuple[int, ...]) -> None:
        self.text = text
        self.places = places

    def span(self) -> tuple[int, int]:
        """Where the match begins and ends."""
        return self.places[0], self.places[1]

    def group(self, number: int) -> str | None:
        """The text of a group, None if it took no part."""
        begin, end = self.places[2 * number : 2 * number + 2]
        return None if begin < 0 or end < 0 else self.text[begin:end]


class LinearPattern:
    """A pattern with the methods of `re.Pattern` that the ops call."""

    def __init__(self, tree: Any, groups: int) -> None:
        """Raises TooLarge."""
        self.groups = groups
        self._code = _Program(tree).code

    def fullmatch(self, text: str) -> Match | None:
        """The match of the whole text."""
        return self._run(text, 0, True)

    def search(self, text: str, start: int = 0) -> Match | None:
        """The first match at or after a position."""
        return self._run(text, start, False)

    def _run(self, text: str, start: int, whole: bool) -> Match | None:
        none = (-1,) * (2 * self.groups + 2)
        threads: list[tuple[int, tuple[int, ...]]] = []
        seen: set[int] = set()
        found: tuple[int, ...] | None = None
        for at in range(start, len(text) + 1):
            if found is None and (at == start or not whole):
                self._follow(threads, seen, 0, text, at, none)
            if not threads:
                if found is not None or whole:
                    break
                seen.clear()
                continue
            following: list[tuple[int, tuple[int, ...]]] = []
            seen = set()
            for number, places in threads:
                instruction = self._code[number]
                if instruction[0] == MATCH:
                    if whole and at < len(text):
                        continue
                    found = places
                    break  # those behind are less preferred
                if at < len(text) and _holds(instruction, text[at]):
                    self._follow(following, seen, number + 1, text, at + 1, places)
            threads = following
        return None if found is None else Match(text, found)

    def _follow(
        self,
        threads: list[tuple[int, tuple[int, ...]]],
        seen: set[int],
        number: int,
        text: str,
        at: int,
        places: tuple[int, ...],
    ) -> None:
        """Adds the threads that instructions without a character lead to, preferred ones first."""
        stack = [(number, places)]
        while stack:
            number, places = stack.pop()
            if number in seen:
                continue
            seen.add(number)
            kind, *rest = self._code[number]
            if kind == SPLIT:
                stack += [(target, places) for target in reversed(rest)]
            elif kind == SAVE:
                slot = rest[0]
                stack.append((number + 1, (*places[:slot], at, *places[slot + 1 :])))
            elif kind == AT:
                if _POSITIONS[rest[0]](text, at):
                    stack.append((number + 1, places))
            else:
                threads.append((number, places))


def _holds(instruction: list[Any], char: str) -> bool:
    known = instruction[2]
    found = known.get(char)
    if found is None:
        found = known[char] = instruction[1](char)
    return found


def _is_boundary(text: str, at: int) -> bool:
    sides = [text[i : i + 1] if i >= 0 else "" for i in (at - 1, at)]
    before, after = [c.isascii() and (c.isalnum() or c == "_") for c in sides]
    return before != after


_POSITIONS: dict[str, Callable[[str, int], bool]] = {
    "start": lambda text, at: at == 0,
    "line start": lambda text, at: at == 0 or text[at - 1] == "\n",
    "end": lambda text, at: at == len(text),
    "line end": lambda text, at: at == len(text) or text[at] == "\n",
    "word": _is_boundary,
    "no word": lambda text, at: not _is_boundary(text, at),
}
