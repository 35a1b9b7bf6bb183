"""Regular expressions of RE2: what matches a whole text, and matches rewritten.

Follows https://github.com/google/re2/wiki/Syntax. RE2 itself matches where google-re2 is installed:
in time that is linear in the text, whatever the pattern. A call of Python's `re` takes a fraction
of one of RE2 from Python: where it is certain to find its answer in few steps, it is asked, with a
translated pattern (`regex_syntax.py`). Without google-re2 it always is.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from intaglio.base import later
from intaglio.base.dtypes import bool_, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text import automata, joined, native_strings, regex_syntax, rewriting
from intaglio.ops.text.strings import StringMap, filled, shape_text

T = TypeVar("T")

WRONG_ESCAPE = -1
# Steps that Python's `re` may take for a text.
MAX_STEPS = 1 << 20
# A rewriting: text, and the numbers of groups.
Parts = list[bytes | int]
# Where a match and its groups begin and end, in bytes; (-1, -1) for a group that did not match.
Spans = list[tuple[int, int]]


class Expression(Protocol):
    """A pattern that is ready to match."""

    groups: int

    def full_matches(self, texts: list[bytes]) -> list[bool]:
        """Whether it matches the whole of each text."""
        ...

    def rewritten(self, texts: list[bytes], parts: Parts, every: bool) -> list[bytes]:
        """The texts with the first or every match rewritten."""
        ...


class _LinearTime:
    """A pattern that RE2 matches."""

    def __init__(self, compiled: Any) -> None:
        self.groups: int = compiled.groups
        self._full_match: Any = compiled.fullmatch
        self._search = compiled.search

    def full_matches(self, texts: list[bytes]) -> list[bool]:
        return [self._full_match(text) is not None for text in texts]

    def _spans(self, text: bytes, start: int) -> Spans | None:
        match = self._search(text, start)
        return match and [match.span(i) for i in range(self.groups + 1)]

    def rewritten(self, texts: list[bytes], parts: Parts, every: bool) -> list[bytes]:
        return [_replaced(text, self._spans, parts, every) for text in texts]


class _Together:
    """A pattern that Python's `re` matches in texts that are joined to one."""

    def __init__(self, pattern: bytes) -> None:
        self._pattern = _decoded(pattern)
        self._compiled: dict[tuple[str, str, bool], re.Pattern[str]] = {}

    def _for(self, form: str, separator: bytes, captures: bool = False) -> re.Pattern[str]:
        """A form with the pattern for `{p}`, and the separator for `{s}`."""
        key = (form, separator.decode(), captures)
        found = self._compiled.get(key)
        if found is None:
            text = regex_syntax.translated(self._pattern, key[1], captures).pattern
            mark = re.escape(key[1])
            found = re.compile(form.replace("{s}", mark).replace("{p}", f"(?:{text})"))
            self._compiled[key] = found
        return found

    def full_matches(self, texts: list[bytes]) -> list[bool] | None:
        """Whether the pattern matches each of the texts; None if they cannot be joined."""
        found = joined.whole(texts)
        if found is None:
            return None
        whole, separator = found
        matches = self._for("{p}({s})|[^{s}]*{s}", separator).findall(_decoded(whole + separator))
        return list(map(bool, matches))

    def rewritten(self, texts: list[bytes], parts: Parts, every: bool) -> list[bytes] | None:
        """The texts with the first or every match rewritten; None if they cannot be joined."""
        found = joined.whole(texts, b"".join([p for p in parts if isinstance(p, bytes)]))
        if found is None:
            return None
        whole, separator = found
        # Behind the first match the rest of the text is taken as it is.
        form = "({p})" if every else "({p})(?P<rest>[^{s}]*)"
        pattern = self._for(form, separator, captures=True)
        rest = [] if every else [pattern.groups]
        replaced = _substituted(pattern, _decoded(whole), [*_one_up(parts), *rest])
        return _encoded(replaced).split(separator)


class _Backtracking:
    """A pattern that Python's `re` matches, translated."""

    def __init__(self, compiled: re.Pattern[str], pattern: bytes) -> None:
        self.groups: int = compiled.groups
        self._compiled = compiled
        self._together = _Together(pattern)

    def full_matches(self, texts: list[bytes]) -> list[bool]:
        found = self._together.full_matches(texts)
        if found is None:
            match = self._compiled.fullmatch
            found = [match(_decoded(text)) is not None for text in texts]
        return found

    def rewritten(self, texts: list[bytes], parts: Parts, every: bool) -> list[bytes]:
        if not _takes_something(self._compiled):
            return [self._replaced(text, parts, every) for text in texts]
        found = self._together.rewritten(texts, parts, every)
        if found is None:
            template = _template(parts)
            sub, count = self._compiled.sub, 0 if every else 1
            found = [_encoded(sub(template, _decoded(text), count)) for text in texts]
        return found

    def _replaced(self, text: bytes, parts: Parts, every: bool) -> bytes:
        source = _decoded(text)
        ends = [0]
        for ch in source:
            ends.append(ends[-1] + len(_encoded(ch)))
        places = {end: i for i, end in enumerate(ends)}

        def spans(_: bytes, start: int) -> Spans | None:
            match = self._compiled.search(source, places[start])
            if match is None:
                return None
            found = [match.span(i) for i in range(self.groups + 1)]
            return [(ends[a], ends[b]) if a >= 0 else (a, b) for a, b in found]

        return _replaced(text, spans, parts, every)


class _Either:
    """A pattern that Python's `re` matches in texts of so many bytes, and RE2 in longer ones."""

    def __init__(self, short: Expression, long: Expression, most: int) -> None:
        self.groups = long.groups
        self._short, self._long, self._most = short, long, most

    def full_matches(self, texts: list[bytes]) -> list[bool]:
        return self._by_length(texts, lambda e, some: e.full_matches(some))

    def rewritten(self, texts: list[bytes], parts: Parts, every: bool) -> list[bytes]:
        return self._by_length(texts, lambda e, some: e.rewritten(some, parts, every))

    def _by_length(
        self, texts: list[bytes], function: Callable[[Expression, list[bytes]], list[T]]
    ) -> list[T]:
        if max(map(len, texts), default=0) <= self._most:
            return function(self._short, texts)
        short = iter(function(self._short, [t for t in texts if len(t) <= self._most]))
        long = iter(function(self._long, [t for t in texts if len(t) > self._most]))
        return [next(short if len(text) <= self._most else long) for text in texts]


def _template(parts: Parts) -> str:
    """The rewriting as Python's `re` takes it."""
    return "".join(
        [f"\\g<{p}>" if isinstance(p, int) else _decoded(p).replace("\\", r"\\") for p in parts]
    )


def _one_up(parts: Parts) -> list[str | int]:
    """The rewriting of a pattern that is a group itself, as text and numbers of groups."""
    return [p + 1 if isinstance(p, int) else _decoded(p) for p in parts]


def _substituted(pattern: re.Pattern[str], text: str, parts: Sequence[str | int]) -> str:
    """Every match rewritten: `split` returns the text between matches, and their groups.

    `sub` would expand a template for each match, in Python before 3.12.
    """
    found: list[Any] = pattern.split(text)
    stride = pattern.groups + 1
    count = len(found) // stride
    wide = len(parts) + 1
    out: list[Any] = [None] * (wide * count)
    out[::wide] = found[:-1:stride]
    for i, part in enumerate(parts):
        group = found[part::stride] if isinstance(part, int) else [part] * count
        out[i + 1 :: wide] = group
    if None in found:  # a group that is in no match
        out = [p or "" for p in out]
    return "".join([*out, found[-1]])


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


@functools.cache
def _re2() -> Any:
    """The module of google-re2; None where it is not installed."""
    try:
        return later.named("re2")
    except ImportError:
        return None


def _refused(pattern: bytes, error: Exception) -> Exception:
    why = error.args[0] if error.args else ""
    why = _decoded(why) if isinstance(why, bytes) else str(why)
    return invalid_argument(f"Invalid pattern: {_decoded(pattern)}, error: {why}")


def _with_re2(pattern: bytes, module: Any) -> Expression:
    options = module.Options()
    options.log_errors = False
    try:
        return _LinearTime(module.compile(pattern, options))
    except module.error as e:
        raise _refused(pattern, e) from None


@functools.lru_cache(256)
def compiled(pattern: bytes) -> Expression:
    """A pattern of RE2's. Raises InvalidArgumentError."""
    module = _re2()
    try:
        translated = regex_syntax.translated(_decoded(pattern))
    except (regex_syntax.InvalidPattern, RecursionError) as e:
        if module is None:
            raise _refused(pattern, e) from None
        return _with_re2(pattern, module)
    try:
        found = _Backtracking(re.compile(translated.pattern), pattern)
    except (re.error, OverflowError, RecursionError) as e:
        if module is None:
            raise _refused(pattern, e) from None
        return _with_re2(pattern, module)
    if module is None or translated.linear:
        return found
    exact = _with_re2(pattern, module)
    if translated.repeated is None:
        return exact
    steps = MAX_STEPS / translated.branches
    return _Either(found, exact, int(steps ** (1 / (translated.repeated + 1))) - 1)


@functools.lru_cache(256)
def _rewriting(rewrite: bytes) -> Parts:
    """Text and group numbers in order; WRONG_ESCAPE for one, which ends it, as in RE2."""
    parts: Parts = []
    at = 0
    while at < len(rewrite):
        code = rewrite[at + 1 : at + 2]
        if rewrite[at : at + 1] != b"\\":
            parts.append(rewrite[at : at + 1])
            at += 1
            continue
        if code.isdigit():
            parts.append(int(code))
        elif code == b"\\":
            parts.append(code)
        else:
            parts.append(WRONG_ESCAPE)
            break
        at += 2
    return parts


def rewritten(
    expression: Expression, texts: list[bytes], rewrite: bytes, every: bool
) -> list[bytes]:
    """The texts with the first or every match rewritten."""
    parts = _rewriting(rewrite)
    if max((p for p in parts if isinstance(p, int)), default=0) > expression.groups:
        return texts
    if WRONG_ESCAPE in parts:
        if not every:
            return texts
        parts = parts[:-1]
    return expression.rewritten(texts, parts, every)


def _takes_something(pattern: re.Pattern[str]) -> bool:
    """True if no match is empty, about which RE2 and Python have different rules.

    All zero-width conditions but those of words hold in an empty text: where
    an empty match is anywhere there is one.
    """
    words = "(?=" in pattern.pattern
    return not words and pattern.search("") is None


def _replaced(
    text: bytes, search: Callable[[bytes, int], Spans | None], parts: Parts, every: bool
) -> bytes:
    """The text with the first or every match rewritten, with RE2's treatment of empty matches."""
    out: list[bytes] = []
    at, ended = 0, -1
    while at <= len(text):
        spans = search(text, at)
        if spans is None:
            break
        start, end = spans[0]
        out.append(text[at:start])
        if start == end == ended:  # no empty match right behind another match
            at = start + _character_length(text, start)
            out.append(text[start:at])
            continue
        out += [p if isinstance(p, bytes) else text[slice(*spans[p])] for p in parts]
        at = ended = end
        if not every:
            break
    out.append(text[at:])
    return b"".join(out)


def _character_length(text: bytes, start: int) -> int:
    """The bytes of the character that begins there; 1 for invalid UTF-8, or the end."""
    one = text[start : start + 1]
    if one < b"\xc2" or one > b"\xf4":
        return 1
    length = 2 + (one >= b"\xe0") + (one >= b"\xf0")
    try:
        text[start : start + length].decode("utf-8")
    except UnicodeDecodeError:
        return 1
    return length


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
        expression = _scalar(pattern, "Pattern")
        return _rewritten(input, expression, _scalar(rewrite, "Rewrite"), replace_global)


@op
class StaticRegexReplace(StringMap):
    """RegexReplace with a pattern that is part of the graph."""

    signature = (
        "input: string; pattern: str, rewrite: str, replace_global: bool = True -> output: string"
    )
    batching = "leading"

    def kernel(self, input, pattern, rewrite, replace_global):
        return _rewritten(input, _encoded(pattern), _encoded(rewrite), replace_global)


def _rewritten(input: Any, pattern: bytes, rewrite: bytes, every: bool) -> np.ndarray:
    expression, texts = compiled(pattern), np.asarray(input).reshape(-1)
    parts = _rewriting(rewrite)
    plain = [part for part in parts if isinstance(part, bytes)]
    if len(plain) == len(parts):
        searcher = functools.partial(automata.searcher_of, _decoded(pattern))
        found = native_strings.replaced(texts, searcher, b"".join(plain), every)
        if found is not None:
            return _completed(found, expression, texts, rewrite, every).reshape(np.shape(input))
    listed = texts.tolist()
    numbers = [part for part in parts if isinstance(part, int)]
    if numbers and min(numbers) >= 0 and max(numbers) <= expression.groups:
        program = automata.program_of(_decoded(pattern))
        found = program and rewriting.rewritten(listed, program, parts, every)
        if found:
            return _completed(found, expression, texts, rewrite, every).reshape(np.shape(input))
    return filled(rewritten(expression, listed, rewrite, every), np.shape(input))


def _completed(
    found: Any, expression: Expression, texts: np.ndarray, rewrite: bytes, every: bool
) -> np.ndarray:
    """The results of machine code, with those of the texts that it has left to do."""
    results, notes = found
    (left,) = np.nonzero(notes)
    results[left] = filled(rewritten(expression, texts[left].tolist(), rewrite, every), -1)
    return results


def _matches(input: Any, pattern: bytes) -> np.ndarray:
    expression = compiled(pattern)
    texts = np.asarray(input).reshape(-1)
    automaton = functools.partial(automata.automaton_of, _decoded(pattern))
    ends = native_strings.matched(texts, automaton)
    if ends is None:
        found = np.array(expression.full_matches(texts.tolist()), np.bool_)
    else:
        found = ends == automata.ACCEPTED
        (left,) = np.nonzero(ends == automata.UNKNOWN)  # texts that are not ASCII
        if left.size:
            found[left] = expression.full_matches(texts[left].tolist())
    return found.reshape(np.shape(input))


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
        return _matches(input, _encoded(pattern))
