"""Regular expressions as deterministic automata over the bytes of ASCII texts.

A pattern as `regex_syntax.translated` writes it becomes Thompson's nondeterministic automaton, and
that a table by the subset construction (A. V. Aho et al., Compilers, chapter 3). Whether a whole
text matches depends neither on greed nor on groups. Where the first match ends depends on greed:
for it the steps of a state are in the order in which they are preferred (R. Cox, Regular Expression
Matching in the Wild). A pattern that looks around, or has more states than are allowed, has no
automaton.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from intaglio.ops.text import regex_syntax

MAX_STATES, MAX_STEPS = 256, 4096
# Columns of the table; the first two states: no match any more, and a byte that is not ASCII.
BYTES, DEAD, OTHER = 256, 0, 1
ASCII = 128
# What states say of a text that ends in them.
REFUSED, ACCEPTED, UNKNOWN = 0, 1, 2


class NoAutomaton(Exception):
    """The pattern has none."""


class Automaton(NamedTuple):
    """`table[256 * state + byte]` is 256 times the next state (int32); `ends` what each state says
    of a text that ends there (int64); the first state."""

    table: np.ndarray
    ends: np.ndarray
    start: int


class Searcher(NamedTuple):
    """An automaton that is started at each position: `table` as above; bits of what each state says
    of a match (int64); the first states at the beginning of a text, and behind it."""

    table: np.ndarray
    matches: np.ndarray
    first: int
    behind: int


# Bits of a state that a match ends in: anywhere, or at the end of a text.
HERE, AT_END = 1, 2


class _Step(NamedTuple):
    """A state of the nondeterministic automaton: it reads a byte of a set, or nothing (an epsilon
    transition).

    `when` is a condition on the position: "start", "end", or "". A set is an integer whose bits are
    the codes; bit 128 is all characters beyond ASCII, after which the state is OTHER. `bound` is
    twice the number of a group that starts here, one more where it ends.
    """

    targets: list[int]
    codes: int = 0
    when: str = ""
    bound: int = -1


# Writes the steps of a part of a pattern before a step; gives the first of them.
_Part = Callable[[int], int]
_RANGE = re.compile(r"\\U([0-9a-f]{8})-\\U([0-9a-f]{8})")
_NUMBERED = re.compile(r"\\U([0-9a-f]{8})")
_COUNTS = re.compile(r"\{(\d+)(,?)(\d*)\}")


class _Parser:
    """Reads a translated pattern, and writes the steps from its end to its beginning."""

    def __init__(self, text: str, captures: bool = False) -> None:
        self.text, self.at = text, 0
        self.steps: list[_Step] = []
        self.captures, self.groups = captures, 0

    def step(self, targets: list[int], codes: int = 0, when: str = "", bound: int = -1) -> int:
        """A new step."""
        if len(self.steps) >= MAX_STEPS:
            raise NoAutomaton("too many steps")
        self.steps.append(_Step(targets, codes, when, bound))
        return len(self.steps) - 1

    def taken(self, text: str) -> bool:
        """A match of the pattern followed by a text, which is read."""
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def alternatives(self) -> _Part:
        """Parts with bars between them."""
        found = [self.sequence()]
        while self.taken("|"):
            found.append(self.sequence())
        return found[0] if len(found) == 1 else lambda to: self.step([part(to) for part in found])

    def sequence(self) -> _Part:
        """Parts one after the other."""
        parts: list[_Part] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self.repeated(self.term()))

        def written(to: int) -> int:
            for part in reversed(parts):
                to = part(to)
            return to

        return written

    def repeated(self, part: _Part) -> _Part:
        """A part with what says how often it is there."""
        counts = _COUNTS.match(self.text, self.at)
        least, most = 1, 1
        if counts:
            self.at = counts.end()
            least = int(counts[1])
            most = least if not counts[2] else int(counts[3]) if counts[3] else -1
        elif self.taken("*"):
            least, most = 0, -1
        elif self.taken("+"):
            least, most = 1, -1
        elif self.taken("?"):
            least, most = 0, 1
        else:
            return part
        lazy = self.taken("?")
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{"):
            raise NoAutomaton("a possessive repetition")
        return lambda to: self._copies(part, least, most, to, -1 if lazy else 1)

    def _copies(self, part: _Part, least: int, most: int, to: int, order: int) -> int:
        """So many copies of a part; the preferred continuation, another copy or the rest, comes
        first."""
        first = to
        if most < 0:
            targets: list[int] = []
            first = self.step(targets)
            targets += [part(first), to][::order]
        for _ in range(max(most - least, 0)):
            first = self.step([part(first), to][::order])
        for _ in range(least):
            first = part(first)
        return first

    def term(self) -> _Part:
        """A group, a set, a condition or a character."""
        if self.taken("("):
            captures = self.captures and not self.text.startswith("?", self.at)
            if self.taken("?") and not self.taken(":"):
                raise NoAutomaton("a look around")
            self.groups += captures
            group = self.groups
            found = self.alternatives()
            if not self.taken(")"):
                raise NoAutomaton("an open group")
            return self.captured(found, group) if captures else found
        if self.taken("["):
            return self.set_of(self._codes())
        if self.taken("\\A"):
            return lambda to: self.step([to], when="start")
        if self.taken("\\Z"):
            return lambda to: self.step([to], when="end")
        number = _NUMBERED.match(self.text, self.at)
        if number:
            self.at = number.end()
            return self.character(int(number[1], 16))
        escaped = self.taken("\\")
        code = self.text[self.at : self.at + 1]
        if not code or (code.isalnum() if escaped else code in ".^$*+?{"):
            raise NoAutomaton(f"{code} at {self.at}")
        self.at += 1
        return self.character(ord(code))

    def captured(self, part: _Part, group: int) -> _Part:
        """A part whose ends are kept."""

        def written(to: int) -> int:
            behind = self.step([to], bound=2 * group + 1)
            return self.step([part(behind)], bound=2 * group)

        return written

    def character(self, code: int) -> _Part:
        """One character."""
        return self.set_of(1 << min(code, ASCII))

    def set_of(self, codes: int) -> _Part:
        """A byte of a set."""
        if not codes:  # an epsilon transition
            raise NoAutomaton("a set without characters")
        return lambda to: self.step([to], codes)

    def _codes(self) -> int:
        codes = 0
        while not self.taken("]"):
            found = _RANGE.match(self.text, self.at)
            if not found:
                raise NoAutomaton("a set of another form")
            first, last = [min(int(found[n], 16), ASCII) for n in (1, 2)]
            codes |= (1 << (last + 1)) - (1 << first)
            self.at = found.end()
        return codes


class _Subsets:
    """The subset construction."""

    def __init__(self, steps: list[_Step], accepting: int) -> None:
        self.steps, self.accepting = steps, accepting
        self.numbers: dict[frozenset[int], int] = {}
        self.ends: list[int] = [REFUSED, UNKNOWN]

    def reached(self, steps: Iterable[int], conditions: tuple[str, ...]) -> set[int]:
        """The epsilon closure of steps, where such conditions hold."""
        found, waiting = set[int](), list(steps)
        while waiting:
            number = waiting.pop()
            if number in found:
                continue
            found.add(number)
            step = self.steps[number]
            if not step.codes and (not step.when or step.when in conditions):
                waiting += step.targets
        return found

    def number(self, steps: Iterable[int], first: bool = False) -> int:
        """The state of a set of steps; 0 for one that reads and accepts nothing."""
        here = ("start",) if first else ()
        whole = frozenset(self.reached(steps, here))
        accepted = self.accepting in self.reached(whole, (*here, "end"))
        if not accepted and not any(self.steps[n].codes for n in whole):
            return DEAD
        # The first state alone is at the start, which its own sets are not.
        key = whole | {-1} if first else whole
        if key not in self.numbers:
            if len(self.ends) >= MAX_STATES:
                raise NoAutomaton("too many states")
            self.numbers[key] = len(self.ends)
            self.ends.append(ACCEPTED if accepted else REFUSED)
        return self.numbers[key]

    def automaton(self, start: int) -> Automaton:
        """The table."""
        first = self.number([start], first=True)
        kinds = self._kinds()
        rows: list[Any] = [np.zeros(BYTES, np.int32), np.full(BYTES, OTHER * BYTES, np.int32)]
        done = 0
        while done < len(self.numbers):
            for whole in [*self.numbers][done:]:
                done += 1
                row = np.full(BYTES, OTHER * BYTES, np.int32)
                for code, members in kinds:
                    after = [
                        t for n in whole if n >= 0 and self.steps[n].codes >> code & 1
                        for t in self.steps[n].targets
                    ]  # fmt: skip
                    row[members] = BYTES * (self.number(after) if after else DEAD)
                rows.append(row)
        return Automaton(np.concatenate(rows), np.array(self.ends, np.int64), first * BYTES)

    def _kinds(self) -> list[tuple[int, list[int]]]:
        """Codes that no set tells apart: one of them, and all."""
        sets = sorted({s.codes for s in self.steps if s.codes})
        kinds: dict[tuple[int, ...], list[int]] = {}
        for code in range(ASCII):
            kinds.setdefault(tuple([s >> code & 1 for s in sets]), []).append(code)
        return [(codes[0], codes) for codes in kinds.values()]


class _Preferences(_Subsets):
    """The subset construction with steps in the order in which they are preferred."""

    def __init__(self, steps: list[_Step], accepting: int) -> None:
        super().__init__(steps, accepting)
        self.ordered: dict[tuple[int, ...], int] = {}
        self.ends = [0, 0]

    def preferred(self, steps: Iterable[int], first: bool) -> tuple[int, ...]:
        """The steps that are reached without reading, up to the one that accepts."""
        found: dict[int, None] = {}
        seen = set[int]()
        waiting = [*steps][::-1]
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            step = self.steps[number]
            if number == self.accepting:
                return (*found, number)
            if step.codes or step.when == "end":
                found[number] = None
            elif not step.when or first:
                waiting += step.targets[::-1]
        return tuple(found)

    def numbered(self, steps: Iterable[int], first: bool = False) -> int:
        """The state of steps in this order; 0 for one without."""
        whole = self.preferred(steps, first)
        if not whole:
            return DEAD
        if whole not in self.ordered:
            if len(self.ends) >= MAX_STATES:
                raise NoAutomaton("too many states")
            self.ordered[whole] = len(self.ends)
            at_end = self.accepting in self.reached(whole, ("start", "end") if first else ("end",))
            here = self.accepting in whole
            self.ends.append(HERE * here | AT_END * at_end)
        return self.ordered[whole]

    def searcher(self, start: int) -> Searcher:
        """The table. Raises NoAutomaton if a match may be empty."""
        _check_loops(self.steps)
        starts = [self.numbered([start], first=first) for first in (True, False)]
        if any(self.ends[state] for state in starts):
            raise NoAutomaton("an empty match")
        kinds = self._kinds()
        rows: list[Any] = [np.zeros(BYTES, np.int32), np.full(BYTES, OTHER * BYTES, np.int32)]
        done = 0
        while done < len(self.ordered):
            for whole in [*self.ordered][done:]:
                done += 1
                row = np.zeros(BYTES, np.int32)
                if any(self.steps[n].codes >> ASCII & 1 for n in whole):
                    row[ASCII:] = OTHER * BYTES
                for code, members in kinds:
                    after = [
                        t for n in whole if self.steps[n].codes >> code & 1
                        for t in self.steps[n].targets
                    ]  # fmt: skip
                    row[members] = BYTES * self.numbered(after)
                rows.append(row)
        first, behind = [BYTES * state for state in starts]
        return Searcher(np.concatenate(rows), np.array(self.ends, np.int64), first, behind)


def _check_loops(steps: list[_Step]) -> None:
    """Raises NoAutomaton if a repeated part may be empty: engines differ in what they prefer."""
    state = [0] * len(steps)  # 1 while the successors of a step are visited, then 2
    for root in range(len(steps)):
        waiting = [root]
        while waiting:
            number = waiting[-1]
            following = [] if steps[number].codes else steps[number].targets
            if state[number] == 0:
                state[number] = 1
                if any(state[t] == 1 for t in following):
                    raise NoAutomaton("a loop that reads nothing")
                waiting += [t for t in following if state[t] == 0]
            else:
                state[waiting.pop()] = 2


class Program(NamedTuple):
    """The steps of a pattern with its groups as arrays of int32, for matching by backtracking.

    `kinds` are the kinds of the steps; `first[i]` to `first[i + 1]` index their targets; `bounds`
    are the groups' bounds that they set; `sets[128 * i + byte]` (uint8) is 1 for the bytes that a
    step reads. `beginning` (uint8) has a 1 for every byte that a match may start with.
    """

    kinds: np.ndarray
    first: np.ndarray
    targets: np.ndarray
    bounds: np.ndarray
    sets: np.ndarray
    beginning: np.ndarray
    start: int
    groups: int


# The kinds of steps: to read a byte, to go on, also where a text begins or ends, to keep a position, to
# accept.
READS, SPLITS, BEGINS, ENDS, KEEPS, ACCEPTS = range(6)


def _kind(step: _Step) -> int:
    if step.codes:
        return READS
    if step.bound >= 0:
        return KEEPS
    return {"start": BEGINS, "end": ENDS}.get(step.when, SPLITS)


def _bits(codes: int) -> list[int]:
    return [codes >> code & 1 for code in range(ASCII)]


@functools.lru_cache(256)
def program_of(pattern: str) -> Program | None:
    """The program of a pattern in RE2's syntax; None without one, or if it matches the empty text."""
    try:
        parser = _Parser(regex_syntax.translated(pattern).pattern, captures=True)
        steps, start, accepting = _steps_by(parser)
        _check_loops(steps)
        subsets = _Subsets(steps, accepting)
        begun = subsets.reached([start], ("start", "end"))
    except (NoAutomaton, regex_syntax.InvalidPattern, RecursionError):
        return None
    if accepting in begun:
        return None
    kinds = [ACCEPTS if i == accepting else _kind(step) for i, step in enumerate(steps)]
    ends = np.cumsum([0, *[len(step.targets) for step in steps]])
    beginning = functools.reduce(lambda codes, i: codes | steps[i].codes, begun, 0)
    return Program(
        np.array(kinds, np.int32),
        ends.astype(np.int32),
        np.array([t for step in steps for t in step.targets], np.int32),
        np.array([step.bound for step in steps], np.int32),
        np.array([_bits(step.codes) for step in steps], np.uint8).reshape(-1),
        np.array(_bits(beginning), np.uint8),
        start,
        parser.groups,
    )


def _steps_of(pattern: str) -> tuple[list[_Step], int, int]:
    """The steps of a pattern in RE2's syntax, the first, and the one that accepts."""
    return _steps_by(_Parser(regex_syntax.translated(pattern).pattern))


def _steps_by(parser: _Parser) -> tuple[list[_Step], int, int]:
    whole = parser.alternatives()
    if parser.at < len(parser.text):
        raise NoAutomaton(parser.text[parser.at :])
    accepting = parser.step([])
    return parser.steps, whole(accepting), accepting


@functools.lru_cache(256)
def automaton_of(pattern: str) -> Automaton | None:
    """The automaton of a pattern in RE2's syntax; None if it has none."""
    try:
        steps, start, accepting = _steps_of(pattern)
        return _Subsets(steps, accepting).automaton(start)
    except (NoAutomaton, regex_syntax.InvalidPattern, RecursionError):
        return None


@functools.lru_cache(256)
def searcher_of(pattern: str) -> Searcher | None:
    """The automaton that finds matches of a pattern in RE2's syntax; None if it has none."""
    try:
        steps, start, accepting = _steps_of(pattern)
        return _Preferences(steps, accepting).searcher(start)
    except (NoAutomaton, regex_syntax.InvalidPattern, RecursionError):
        return None
