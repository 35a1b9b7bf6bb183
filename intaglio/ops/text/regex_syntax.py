"""The syntax of RE2, and patterns of Python's `re` that match the same.

Follows https://github.com/google/re2/wiki/Syntax. What only Python's `re` accepts (lookarounds,
backreferences, possessive and atomic groups, comments, conditions) is an error, as it is to RE2.
Classes such as `\\w` are ASCII, `$` is the end of the text unless `(?m)` is set. A text is decoded
with `surrogateescape`: a byte that is no UTF-8 is one of BYTES, which no pattern matches.
"""

from __future__ import annotations

import bisect
import functools
import re
import sys
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

Ranges = tuple[tuple[int, int], ...]

LAST = sys.maxunicode
# What bytes that are no UTF-8 are decoded to.
BYTES = (0xDC80, 0xDCFF)
MAX_REPEATS = 1000
_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\x00-\x7f",
    "blank": "\t ",
    "cntrl": "\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@[-`{-~",
    "space": "\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Z_a-z",
    "xdigit": "0-9A-Fa-f",
}
_PERL = {"d": "0-9", "s": "\t\n\f\r ", "w": "0-9A-Z_a-z"}
_CHARACTERS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_WORD = "[0-9A-Za-z_]"
_EMPTY = {
    "A": "\\A",
    "z": "\\Z",
    "b": f"(?:(?<={_WORD})(?!{_WORD})|(?<!{_WORD})(?={_WORD}))",
    "B": f"(?:(?<={_WORD})(?={_WORD})|(?<!{_WORD})(?!{_WORD}))",
}


class InvalidPattern(ValueError):
    """What RE2 does not accept, in its words."""


class Translation(NamedTuple):
    """A pattern of Python's, and a bound of the time that Python takes.

    A search in n characters tries at most `branches * n ** repeated` paths from each of them, where
    `repeated` characters are repeated; None if groups are. `linear` patterns have no group, and
    repeat nothing but a last character.
    """

    pattern: str
    linear: bool
    branches: int
    repeated: int | None


class _Term(NamedTuple):
    """A piece of Python's pattern that one repetition operator would apply to.

    `repeats` is by how much its repetitions multiply, `character` is true for what matches one.
    """

    text: str
    character: bool = False
    repeats: int = 1
    repeated: bool = False


class _Flags(NamedTuple):
    """What `(?imsU)` sets."""

    i: bool = False
    m: bool = False
    s: bool = False
    U: bool = False


def translated(pattern: str, separator: str = "", captures: bool = True) -> Translation:
    """A pattern of RE2's for Python's `re`. Raises InvalidPattern.

    With a `separator`, it is for a text that consists of several with this character between them,
    and matches in each of them as it would in that text alone. Without `captures` it has no groups.
    """
    parser = _Parser(pattern, separator, captures)
    text, _ = parser.alternatives(_Flags())
    if parser.at < len(pattern):
        raise InvalidPattern(f"unexpected ): {pattern}")
    return Translation(text, parser.linear, parser.branches, parser.repeated)


# -- sets of characters ----------------------------------------------------------------


def _ranges(text: str) -> Ranges:
    """The characters of "0-9A-F_"."""
    found = re.findall("(.)-(.)|(.)", text, re.DOTALL)
    return tuple([(ord(a), ord(b)) if a else (ord(c), ord(c)) for a, b, c in found])


def _complement(ranges: Sequence[tuple[int, int]]) -> Ranges:
    """All characters but those."""
    found: list[tuple[int, int]] = []
    start = 0
    for first, last in sorted(ranges):
        if first > start:
            found.append((start, first - 1))
        start = max(start, last + 1)
    if start <= LAST:
        found.append((start, LAST))
    return tuple(found)


# Letters with two cases are below it; this one has the case of another alphabet's i.
END_OF_CASES = 0x1F000
DOTLESS_I = 0x131


@functools.cache
def _cases() -> tuple[tuple[int, ...], ...]:
    """The letters that are one but for their case, together: k, K and the sign for Kelvin."""
    found: dict[int, set[int]] = {}
    for code in range(END_OF_CASES):
        ch = chr(code)
        if code == DOTLESS_I or not (ch.lower() != ch or ch.upper() != ch):
            continue
        same = {code}
        for other in (ch.lower(), ch.upper()):
            if len(other) == 1:
                same |= found.get(ord(other), {ord(other)})
        same = same.union(*[found.get(c, ()) for c in same])
        for c in same:
            found[c] = same
    return tuple({tuple(sorted(same)) for same in found.values() if len(same) > 1})


def _folded(ranges: Ranges) -> Ranges:
    """The characters with those that differ by case."""
    ordered = sorted(ranges)
    starts = [first for first, _ in ordered]

    def has(code: int) -> bool:
        at = bisect.bisect_right(starts, code) - 1
        return at >= 0 and code <= ordered[at][1]

    more = [(c, c) for same in _cases() if any(map(has, same)) for c in same]
    return (*ranges, *more)


@functools.cache
def _category(name: str) -> Ranges:
    """The characters of a Unicode category such as "L" or "Lu"; none for an unknown one.

    In RE2, unassigned code points are in no category.
    """
    ranges: list[list[int]] = []
    for code in range(LAST + 1):
        category = unicodedata.category(chr(code))
        if category.startswith(name) and category != "Cn":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return tuple([(a, b) for a, b in ranges])


def _without(ranges: Sequence[tuple[int, int]], excluded: tuple[int, int]) -> Ranges:
    """The characters less those of a range."""
    kept: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if first < excluded[0]:
            kept.append((first, min(last, excluded[0] - 1)))
        if last > excluded[1]:
            kept.append((max(first, excluded[1] + 1), last))
    return tuple(kept)


def _as_class(ranges: Sequence[tuple[int, int]], separator: str) -> str:
    """A class of Python's with these characters, less the bytes that are no UTF-8 and the separator."""
    kept = _without(ranges, BYTES)
    if separator:
        kept = _without(kept, (ord(separator), ord(separator)))
    if not kept:
        return "(?!)"
    return f"[{''.join([f'{_escaped(a)}-{_escaped(b)}' for a, b in kept])}]"


def _escaped(code: int) -> str:
    return f"\\U{code:08x}"


# -- the parser ------------------------------------------------------------------------


class _Parser:
    """Reads a pattern from left to right, and gives Python's."""

    def __init__(self, pattern: str, separator: str, captures: bool) -> None:
        self.pattern = pattern
        self.separator = separator
        self.captures = captures
        self.at = 0
        self.linear = True
        self.branches = 1
        self.repeated: int | None = 0

    def _rest(self) -> str:
        return self.pattern[self.at :]

    def alternatives(self, flags: _Flags) -> tuple[str, int]:
        """The pattern up to a closing parenthesis, and the factor of its repetitions."""
        branches: list[str] = []
        terms: list[_Term] = []
        repeats = count = 1
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            ch = self.pattern[self.at]
            if ch == "|":
                count += 1
                branches.append("".join([t.text for t in terms]))
                terms = []
                self.at += 1
            elif ch in "*+?" or (ch == "{" and self._counts()):
                terms.append(self._repeated(terms, flags))
                repeats = max(repeats, terms[-1].repeats)
            else:
                if terms and terms[-1].repeated:
                    self.linear = False
                changed = self._flags_changed(flags)
                if changed is not None:
                    flags = changed
                    continue
                term = self._term(flags)
                terms += term
                repeats = max([repeats, *[t.repeats for t in term]])
        branches.append("".join([t.text for t in terms]))
        self.branches *= count
        return "|".join(branches), repeats

    def _counts(self) -> re.Match[str] | None:
        return re.match(r"\{(\d+)(,(\d*))?\}", self._rest())

    def _repeated(self, terms: list[_Term], flags: _Flags) -> _Term:
        """The last term with the repetition operator at this position."""
        counts = self._counts()
        operator = counts[0] if counts else self.pattern[self.at]
        if not terms:
            raise InvalidPattern(f"no argument for repetition operator: {operator}")
        most = 1
        if counts:
            least, most = int(counts[1]), int(counts[3] or counts[1])
            if max(least, most) > MAX_REPEATS or (counts[3] and least > most):
                raise InvalidPattern(f"invalid repetition size: {operator}")
        self.at += len(operator)
        lazy = self.pattern.startswith("?", self.at)
        self.at += lazy
        term = terms.pop()
        if term.repeated:
            raise InvalidPattern(f"bad repetition operator: {operator}")
        repeats = term.repeats * max(most, 1)
        if repeats > MAX_REPEATS:
            raise InvalidPattern(f"invalid repetition size: {operator}")
        if not term.character:
            self.linear, self.repeated = False, None
        elif self.repeated is not None:
            self.repeated += 1
        one = term.text if term.character else f"(?:{term.text})"
        return _Term(f"{one}{operator}{'?' * (lazy != flags.U)}", False, repeats, True)

    def _flags_changed(self, flags: _Flags) -> _Flags | None:
        """The flags after `(?i)`, which holds until the group ends; None if there are none here."""
        found = re.match(r"\(\?([imsU]*)(?:-([imsU]+))?\)", self._rest())
        if found is None:
            return None
        self.at += found.end()
        return _with(flags, found)

    def _term(self, flags: _Flags) -> list[_Term]:
        ch = self.pattern[self.at]
        if ch == "(":
            return [self._group(flags)]
        if ch == "[":
            return [_Term(self._set_of(self._class(flags)), True)]
        if ch == "\\":
            return self._escape(flags)
        self.at += 1
        if ch == ".":
            every = [(0, LAST)] if flags.s else [(0, 9), (11, LAST)]
            return [_Term(self._set_of(every), True)]
        if ch in "^$":
            return [_Term(self._end(ch, flags.m))]
        return [self._literal(ch, flags)]

    def _set_of(self, ranges: Sequence[tuple[int, int]]) -> str:
        return _as_class(ranges, self.separator)

    def _end(self, which: str, lines: bool) -> str:
        """The beginning or end of the text, or of `lines`."""
        if not self.separator:
            return f"(?m:{which})" if lines else "\\A" if which == "^" else "\\Z"
        ends = _escaped(ord(self.separator)) + ("\\n" if lines else "")
        return f"(?<![^{ends}])" if which == "^" else f"(?![^{ends}])"

    def _literal(self, ch: str, flags: _Flags) -> _Term:
        if BYTES[0] <= ord(ch) <= BYTES[1]:
            raise InvalidPattern("invalid UTF-8")
        if flags.i and ch.lower() != ch.upper():
            return _Term(self._set_of(_folded(((ord(ch), ord(ch)),))), True)
        if ch == self.separator:
            return _Term("(?!)", True)
        return _Term(re.escape(ch), True)

    def _group(self, flags: _Flags) -> _Term:
        rest = self._rest()
        start = "(" if self.captures else "(?:"
        modified = re.match(r"\(\?([imsU]*)(?:-([imsU]+))?:", rest)
        named = re.match(r"\(\?P?<(\w+)>", rest)
        if modified:
            flags, start = _with(flags, modified), "(?:"
            self.at += modified.end()
        elif named:
            self.at += named.end()
        elif re.match(r"\(\?P?<", rest):
            raise InvalidPattern(f"invalid named capture group: {rest}")
        elif rest.startswith("(?"):
            raise InvalidPattern(f"invalid perl operator: {rest[:3]}")
        else:
            self.at += 1
        self.linear = False
        text, repeats = self.alternatives(flags)
        if self.at == len(self.pattern):
            raise InvalidPattern(f"missing ): {self.pattern}")
        self.at += 1
        return _Term(f"{start}{text})", False, repeats)

    # -- escapes -----------------------------------------------------------------------

    def _escape(self, flags: _Flags) -> list[_Term]:
        rest = self._rest()
        code = rest[1:2]
        if code in _EMPTY and code:
            self.at += 2
            if code == "B":  # to RE2 it is there between the bytes of a character too
                self.linear, self.repeated = False, None
            anchor = {"A": "^", "z": "$"}.get(code)
            return [_Term(self._end(anchor, False) if anchor else _EMPTY[code])]
        if code == "Q":
            text, _, _ = rest[2:].partition("\\E")
            self.at += min(len(text) + 4, len(rest))
            return [self._literal(ch, flags) for ch in text]
        if code == "C":
            raise InvalidPattern("\\C matches a byte, for which google-re2 must be installed")
        ranges = self._escaped_class(flags)
        if ranges is not None:
            return [_Term(self._set_of(ranges), True)]
        return [self._literal(chr(self._escaped_character()), flags)]

    def _escaped_class(self, flags: _Flags) -> Ranges | None:
        r"""The characters of `\d` or `\pL`; None if there is no such class here."""
        rest = self._rest()
        code = rest[1:2]
        if code and code.lower() in _PERL:
            self.at += 2
            return _set(_ranges(_PERL[code.lower()]), flags, code.isupper())
        if code not in ("p", "P"):
            return None
        found = re.match(r"\\[pP](?:\{(\^?)([^}]*)\}|(.))", rest, re.DOTALL)
        name = (found[2] or found[3]) if found else None
        ranges = _named(name) if name else ()
        if found is None or not ranges:
            raise InvalidPattern(
                f"invalid character class range: {found[0] if found else rest[:5]}"
            )
        self.at += found.end()
        return _set(ranges, flags, (code == "P") != bool(found[1]))

    def _escaped_character(self) -> int:
        r"""The code of `\n`, `\x41`, `\.`."""
        rest = self._rest()
        if len(rest) < 2:
            raise InvalidPattern("trailing \\")
        code = rest[1]
        number = re.match(r"\\x([0-9A-Fa-f]{2})|\\x\{([0-9A-Fa-f]+)\}", rest)
        octal = re.match(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})", rest)
        if number or octal:
            found = int(number[1] or number[2], 16) if number else int(octal[1], 8)  # type: ignore[index]  # one of them
            if found > LAST:
                raise InvalidPattern(f"invalid escape sequence: {rest[:4]}")
            self.at += (number or octal).end()  # type: ignore[union-attr]  # one of them
            return found
        if code in _CHARACTERS:
            self.at += 2
            return _CHARACTERS[code]
        if ord(code) >= 0x80 or code.isalnum():
            raise InvalidPattern(f"invalid escape sequence: \\{code}")
        self.at += 2
        return ord(code)

    # -- classes -----------------------------------------------------------------------

    def _class(self, flags: _Flags) -> Ranges:
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        found: list[tuple[int, int]] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            rest = self._rest()
            if not rest:
                raise InvalidPattern(f"missing ]: {self.pattern}")
            first = False
            posix = re.match(r"\[:(\^?)([^:\]]*):\]", rest)
            ranges = self._escaped_class(flags) if rest[0] == "\\" else None
            if posix:
                if posix[2] not in _POSIX:
                    raise InvalidPattern(f"invalid character class range: {posix[0]}")
                self.at += posix.end()
                ranges = _set(_ranges(_POSIX[posix[2]]), flags, bool(posix[1]))
            found += _set(self._range(), flags) if ranges is None else ranges
        self.at += 1
        return _complement(found) if negated else tuple(found)

    def _range(self) -> Ranges:
        """A character, or a range of them."""
        start, low = self.at, self._class_character()
        rest = self._rest()
        if not rest.startswith("-") or rest.startswith("-]") or len(rest) < 2:
            return ((low, low),)
        self.at += 1
        high = self._class_character()
        if high < low:
            text = self.pattern[start : self.at]
            raise InvalidPattern(f"invalid character class range: {text}")
        return ((low, high),)

    def _class_character(self) -> int:
        if self.pattern[self.at] == "\\":
            return self._escaped_character()
        self.at += 1
        code = ord(self.pattern[self.at - 1])
        if BYTES[0] <= code <= BYTES[1]:
            raise InvalidPattern("invalid UTF-8")
        return code


def _set(ranges: Ranges, flags: _Flags, negated: bool = False) -> Ranges:
    """A set of characters, or all others; with `(?i)` the cases of its letters count as one."""
    ranges = _folded(ranges) if flags.i else ranges
    return _complement(ranges) if negated else ranges


def _with(flags: _Flags, found: re.Match[str]) -> _Flags:
    on, off = found[1] or "", found[2] or ""
    return flags._replace(**dict.fromkeys(on, True))._replace(**dict.fromkeys(off, False))


def _named(name: str) -> Ranges:
    """The characters of a category of Unicode's, or all."""
    if name == "Any":
        return ((0, LAST),)
    return _category(name) if re.fullmatch("[A-Z][a-z]?", name) else ()
