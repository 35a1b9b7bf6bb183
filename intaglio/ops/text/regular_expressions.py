"""Regular expressions in RE2's syntax, which Python's `re` carries out.

Follows https://github.com/google/re2/wiki/Syntax. Patterns are translated: what RE2 lacks
(look-around, back-references) is refused, what Python writes differently is rewritten.
Classes such as `\\w` are ASCII, `$` is the end of the text unless `(?m)` is set.
"""

from __future__ import annotations

import functools
import re
import sys
import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import bool_, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.cpython import pattern_syntax
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text.linear_matching import LinearPattern, TooLarge, may_explode, repetitions
from intaglio.ops.text.strings import StringMap, mapped, shape_text

_POSIX = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7F",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
# How Unicode's categories are named.
_CATEGORY = re.compile("[CLMNPSZ][a-z]?")
_MOST_REPEATS = 1000
WRONG_ESCAPE = -1


def _refuse(pattern: str, why: str) -> Exception:
    return invalid_argument(f"Invalid pattern: {pattern}, error: {why}")


@functools.cache
def _category(name: str) -> str:
    """The characters of a Unicode category such as "L" or "Lu", as ranges of a class."""
    ranges: list[list[int]] = []
    for code in range(sys.maxunicode + 1):
        if unicodedata.category(chr(code)).startswith(name):
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"\\U{a:08x}-\\U{b:08x}" for a, b in ranges)


class _Translator:
    """Reads an RE2 pattern from left to right, writing Python's."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.out: list[str] = []
        # for each open group: what closes it, and whether (?m) is set inside
        self.groups: list[tuple[str, bool]] = []
        self.multiline = False

    def translated(self) -> str:
        """The whole pattern. Raises InvalidArgumentError."""
        while self.at < len(self.pattern):
            self._step()
        if self.groups:
            # flags without a group of their own, such as (?i) at the start, end here
            if any(close == ")" for close, _ in self.groups):
                raise _refuse(self.pattern, f"missing ): {self.pattern}")
            self.out.append(")" * sum(len(c) for c, _ in self.groups))
        return "".join(self.out)

    def _step(self) -> None:
        ch = self.pattern[self.at]
        if ch == "\\":
            self.out.append(self._escape(False))
        elif ch == "[":
            self.out.append(self._class())
        elif ch == "(":
            self._open()
        elif ch == ")":
            self._close()
        elif ch == "$":
            self.at += 1
            self.out.append("$" if self.multiline else "\\Z")
        elif ch == "{":
            self._repeat()
        else:
            self.at += 1
            self.out.append(ch)

    def _open(self) -> None:
        rest = self.pattern[self.at :]
        flags = re.match(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])", rest)
        named = re.match(r"\(\?P?<([A-Za-z_]\w*)>", rest)
        if flags:
            self._flags(*flags.groups(default=""))
            self.at += flags.end()
        elif named:
            self.groups.append((")", self.multiline))
            self.out.append(f"(?P<{named[1]}>")
            self.at += named.end()
        elif rest.startswith("(?"):
            raise _refuse(self.pattern, f"invalid perl operator: {rest[:3]}")
        else:
            self.groups.append((")", self.multiline))
            self.out.append("(")
            self.at += 1

    def _flags(self, on: str, off: str, end: str) -> None:
        if "U" in on + off:
            raise _refuse(self.pattern, "the flag U (ungreedy) is not supported here")
        outer = self.multiline
        if "m" in on:
            self.multiline = True
        if "m" in off:
            self.multiline = False
        self.out.append(f"(?{on}{'-' + off if off else ''}:")
        # (?i) holds until its group closes: a group of Python's, closed along with it
        self.groups.append((")" if end == ":" else "+", outer))

    def _close(self) -> None:
        extra = 0
        outer = self.multiline
        while self.groups and self.groups[-1][0] == "+":
            extra += 1
            outer = self.groups.pop()[1]
        if not self.groups:
            raise _refuse(self.pattern, f"unexpected ): {self.pattern}")
        _, outer = self.groups.pop()
        self.multiline = outer
        self.out.append(")" * (extra + 1))
        self.at += 1

    def _repeat(self) -> None:
        found = re.match(r"\{(\d+)(,(\d*))?\}", self.pattern[self.at :])
        if not found:
            self.out.append("\\{")
            self.at += 1
            return
        if any(int(n) > _MOST_REPEATS for n in (found[1], found[3]) if n):
            raise _refuse(self.pattern, f"invalid repetition size: {found[0]}")
        self.out.append(found[0])
        self.at += found.end()

    def _escape(self, inside: bool) -> str:
        rest = self.pattern[self.at :]
        if len(rest) < 2:
            raise _refuse(self.pattern, "trailing \\")
        code = rest[1]
        if code in "pP":
            return self._unicode(rest, inside)
        if code == "Q" and not inside:
            text, end, _ = rest[2:].partition("\\E")
            self.at += 2 + len(text) + len(end and "\\E")
            return re.escape(text)
        hexadecimal = re.match(r"\\x\{([0-9A-Fa-f]+)\}", rest)
        if hexadecimal:
            self.at += hexadecimal.end()
            return f"\\U{int(hexadecimal[1], 16):08x}"
        if code.isdigit() and code != "0":
            raise _refuse(self.pattern, f"invalid escape sequence: \\{code}")
        self.at += 2
        if code == "z":
            return "\\Z"
        if code == "C":
            raise _refuse(self.pattern, "\\C (one byte) is not supported here")
        if code.isalpha() and code not in "AbBdDsSwWafnrtvx":
            raise _refuse(self.pattern, f"invalid escape sequence: \\{code}")
        if code in "sS":  # RE2's \s has no vertical tab
            ranges = "\\t\\n\\f\\r "
            if code == "s":
                return ranges if inside else f"[{ranges}]"
            return "\\S\\v" if inside else f"[^{ranges}]"
        return "\\" + code

    def _unicode(self, rest: str, inside: bool) -> str:
        found = re.match(r"\\([pP])(?:\{(\^?)(\w+)\}|([A-Z]))", rest)
        name = found and (found[3] or found[4])
        ranges = _category(name) if name and _CATEGORY.fullmatch(name) else ""
        if not found or not ranges:
            raise _refuse(self.pattern, f"invalid character class range: {rest[:5]}")
        self.at += found.end()
        negated = (found[1] == "P") != bool(found[2])
        if inside and negated:
            raise _refuse(self.pattern, "\\P inside a class is not supported here")
        return ranges if inside else f"[{'^' if negated else ''}{ranges}]"

    def _class(self) -> str:
        text = "["
        self.at += 1
        if self.pattern.startswith("^", self.at):
            text += "^"
            self.at += 1
        first = True
        while True:
            rest = self.pattern[self.at :]
            if not rest:
                raise _refuse(self.pattern, f"missing ]: {self.pattern}")
            if rest[0] == "]" and not first:
                self.at += 1
                return text + "]"
            posix = re.match(r"\[:(\w+):\]", rest)
            if posix and posix[1] in _POSIX:
                text += _POSIX[posix[1]]
                self.at += posix.end()
            elif rest[0] == "\\":
                text += self._escape(True)
            else:
                text += "\\" + rest[0] if rest[0] in "[]&~|" else rest[0]
                self.at += 1
            first = False


Pattern = re.Pattern[str] | LinearPattern


@functools.lru_cache(256)
def compiled(pattern: bytes) -> Pattern:
    """An RE2 pattern as a Python pattern, or as a linear one where that may take exponential time.

    Raises InvalidArgumentError.
    """
    text = pattern.decode("utf-8", "surrogateescape")
    try:
        translated = _Translator(text).translated()
        tree, groups = pattern_syntax.parsed(translated)
        if repetitions(tree) > _MOST_REPEATS:
            raise _refuse(text, "invalid repetition size")
        if may_explode(tree):
            return LinearPattern(tree, groups)
        return re.compile(translated, re.ASCII)
    except TooLarge:
        raise _refuse(text, "pattern too large - compile failed") from None
    except pattern_syntax.Unknown:
        raise _refuse(text, "bad repetition operator") from None
    except (re.error, OverflowError, RecursionError) as e:
        raise _refuse(text, str(e)) from None


@functools.lru_cache(256)
def _rewriting(rewrite: bytes) -> list[str | int]:
    """Text and group numbers in turn; -1 for a wrong escape, which ends it, as in RE2."""
    text = rewrite.decode("utf-8", "surrogateescape")
    parts: list[str | int] = []
    at = 0
    while at < len(text):
        if text[at] != "\\":
            parts.append(text[at])
            at += 1
            continue
        code = text[at + 1 : at + 2]
        if code.isdigit():
            parts.append(int(code))
        elif code == "\\":
            parts.append("\\")
        else:
            parts.append(WRONG_ESCAPE)
            break
        at += 2
    return parts


def rewriter(pattern: Pattern, rewrite: bytes, every: bool) -> Callable[[bytes], bytes]:
    """What rewrites the first or every match in a text."""
    parts = _rewriting(rewrite)
    if max((p for p in parts if isinstance(p, int)), default=0) > pattern.groups:
        return bytes
    if WRONG_ESCAPE in parts:
        if not every:
            return bytes
        parts = parts[:-1]
    if isinstance(pattern, re.Pattern) and _takes_something(pattern):
        template = "".join(
            [f"\\g<{p}>" if isinstance(p, int) else p.replace("\\", r"\\") for p in parts]
        )
        sub, count = pattern.sub, 0 if every else 1

        def rewritten(text: bytes) -> bytes:
            source = text.decode("utf-8", "surrogateescape")
            return sub(template, source, count).encode("utf-8", "surrogateescape")

        return rewritten
    return lambda text: _replaced(text, pattern, parts, every)


def _takes_something(pattern: re.Pattern[str]) -> bool:
    """True if no match is empty, about which RE2 and Python have different rules.

    All zero-width conditions but those of words hold in an empty text: where
    an empty match is anywhere there is one.
    """
    words = re.search(r"\\[bB]", pattern.pattern)
    return words is None and pattern.search("") is None


def _replaced(text: bytes, pattern: Pattern, parts: list[str | int], every: bool) -> bytes:
    """The text with the first or every match rewritten, as RE2 goes about empty ones."""
    source = text.decode("utf-8", "surrogateescape")
    out: list[str] = []
    at, ended = 0, -1
    while at <= len(source):
        match = pattern.search(source, at)
        if match is None:
            break
        start, end = match.span()
        out.append(source[at:start])
        if start == end == ended:  # no empty match right behind another match
            out.append(source[start : start + 1])
            at = start + 1
            continue
        out += [p if isinstance(p, str) else match.group(p) or "" for p in parts]
        at = ended = end
        if start == end:
            out.append(source[start : start + 1])
            at = end + 1
        if not every:
            break
    out.append(source[at:])
    return "".join(out).encode("utf-8", "surrogateescape")


def _scalar(value: Any, name: str) -> bytes:
    if np.ndim(value) != 0:
        raise invalid_argument(f"{name} must be scalar, but received {shape_text(np.shape(value))}")
    return np.asarray(value).item()


def _scalars(*specs: Spec) -> None:
    for spec in specs:
        if spec.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {spec.rank}")


@op
class RegexReplace(Op):
    r"""Matches of the pattern rewritten; \1 to \9 are its groups, \0 is the whole match."""

    signature = (
        "input: string, pattern: string, rewrite: string; replace_global: bool = True"
        " -> output: string"
    )
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec, pattern: Spec, rewrite: Spec) -> Spec:
        _scalars(pattern, rewrite)
        return Spec(string, input.shape)

    def kernel(self, input, pattern, rewrite, replace_global):
        expression = compiled(_scalar(pattern, "Pattern"))
        instead = _scalar(rewrite, "Rewrite")
        return mapped(rewriter(expression, instead, replace_global), input)


@op
class StaticRegexReplace(StringMap):
    """RegexReplace with a pattern that is part of the graph."""

    signature = (
        "input: string; pattern: str, rewrite: str, replace_global: bool = True -> output: string"
    )
    batching = "leading"

    def kernel(self, input, pattern, rewrite, replace_global):
        expression, instead = compiled(pattern.encode()), rewrite.encode()
        return mapped(rewriter(expression, instead, replace_global), input)


def _matches(input: Any, pattern: bytes) -> np.ndarray:
    expression = compiled(pattern)
    found = [
        expression.fullmatch(v.decode("utf-8", "surrogateescape")) is not None
        for v in np.asarray(input).reshape(-1)
    ]
    return np.array(found, np.bool_).reshape(np.shape(input))


@op
class RegexFullMatch(Op):
    """True where the pattern matches the whole string."""

    signature = "input: string, pattern: string -> output: bool"
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec, pattern: Spec) -> Spec:
        _scalars(pattern)
        return Spec(bool_, input.shape)

    def kernel(self, input, pattern):
        return _matches(input, _scalar(pattern, "Pattern"))


@op
class StaticRegexFullMatch(Op):
    """RegexFullMatch with a pattern that is part of the graph."""

    signature = "input: string; pattern: str -> output: bool"
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(bool_, input.shape)

    def kernel(self, input, pattern):
        return _matches(input, pattern.encode())
