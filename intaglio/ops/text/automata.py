"""Regular expressions as deterministic automata over the bytes of ASCII texts.

A pattern as `regex_syntax.translated` writes it becomes Thompson's nondeterministic automaton, and
that a table by the subset construction (A. V. Aho et al., Compilers, chapter 3). Whether a whole
text matches depends neither on greed nor on groups; a pattern that looks around, or has
more states than are allowed, has no automaton.
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


class _Step(NamedTuple):
    """A state of the nondeterministic automaton: it reads a byte of a set, or goes on at once.

    `when` is a condition on the position: "start", "end", or nothing. A set is a number whose bits are
    the codes; bit 128 is all characters beyond ASCII, after which the state is OTHER.
    """

    targets: list[int]
    codes: int = 0
    when: str = ""


# Writes the steps of a part of a pattern before a step; gives the first of them.
_Part = Callable[[int], int]
_RANGE = re.compile(r"\\U([0-9a-f]{8})-\\U([0-9a-f]{8})")
_NUMBERED = re.compile(r"\\U([0-9a-f]{8})")
_COUNTS = re.compile(r"\{(\d+)(,?)(\d*)\}")


class _Parser:
    """Reads a translated pattern, and writes the steps from its end to its beginning."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.steps: list[_Step] = []

    def step(self, targets: list[int], codes: int = 0, when: str = "") -> int:
        """A new step."""
        if len(self.steps) >= MAX_STEPS:
            raise NoAutomaton("too many steps")
        self.steps.append(_Step(targets, codes, when))
        return len(self.steps) - 1

    def taken(self, text: str) -> bool:
        """Whether the pattern goes on with a text, which is read then."""
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
        self.taken("?")  # a preference among matches
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{"):
            raise NoAutomaton("a possessive repetition")
        return lambda to: self._copies(part, least, most, to)

    def _copies(self, part: _Part, least: int, most: int, to: int) -> int:
        first = to
        if most < 0:
            targets: list[int] = []
            first = self.step(targets)
            targets += [part(first), to]
        for _ in range(max(most - least, 0)):
            first = self.step([part(first), to])
        for _ in range(least):
            first = part(first)
        return first

    def term(self) -> _Part:
        """A group, a set, a condition or a character."""
        if self.taken("("):
            if self.taken("?") and not self.taken(":"):
                raise NoAutomaton("a look around")
            found = self.alternatives()
            if not self.taken(")"):
                raise NoAutomaton("an open group")
            return found
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

    def character(self, code: int) -> _Part:
        """One character."""
        return self.set_of(1 << min(code, ASCII))

    def set_of(self, codes: int) -> _Part:
        """A byte of a set."""
        if not codes:  # a step without codes reads nothing
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
        """The steps that are reached without reading, where such conditions hold."""
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
        """The state of a set of steps; 0 for one from which nothing is read or accepted."""
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


@functools.lru_cache(256)
def automaton_of(pattern: str) -> Automaton | None:
    """The automaton of a pattern in RE2's syntax; None if it has none."""
    try:
        parser = _Parser(regex_syntax.translated(pattern).pattern)
        whole = parser.alternatives()
        if parser.at < len(parser.text):
            return None
        accepting = parser.step([])
        start = whole(accepting)
        return _Subsets(parser.steps, accepting).automaton(start)
    except (NoAutomaton, regex_syntax.InvalidPattern, RecursionError):
        return None
