"""Patterns on which backtracking takes exponential time are matched in linear time, and alike."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.cpython import pattern_syntax
from intaglio.cpython.pattern_syntax import At, Branch, Group, Repeat, Sequence
from intaglio.ops.text.linear_matching import LinearPattern, _below, may_explode
from intaglio.ops.text.regular_expressions import compiled

CHARS = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "\\w", "\\b", "^", "\\Z", "(?i:A)"])
COUNTS = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}"])
PATTERNS = st.recursive(
    CHARS,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map("|".join).map("(?:{})".format),
        inner.map("({})".format),
        st.tuples(inner, COUNTS).map(lambda p: f"(?:{p[0]}){p[1]}"),
    ),
    max_leaves=6,
)


def is_nullable(tree: Any) -> bool:
    """Whether a part can match nothing."""
    if isinstance(tree, Sequence):
        return all(map(is_nullable, tree.parts))
    if isinstance(tree, Branch):
        return any(map(is_nullable, tree.options))
    if isinstance(tree, Repeat):
        return not tree.least or is_nullable(tree.part)
    return isinstance(tree, At) or (isinstance(tree, Group) and is_nullable(tree.part))


def repeats_nothing(tree: Any) -> bool:
    """Whether a repeated part can match nothing, of which Python and RE2 think differently."""
    if isinstance(tree, Repeat) and tree.most != 1 and is_nullable(tree.part):
        return True
    return any(map(repeats_nothing, _below(tree)))


@settings(max_examples=200, deadline=None)
@given(PATTERNS, st.text("abA \n", max_size=7))
def test_matches_are_those_of_backtracking(pattern: str, text: str) -> None:
    python = re.compile(pattern, re.ASCII)
    tree, groups = pattern_syntax.parsed(pattern)
    assume(not repeats_nothing(tree))
    linear = LinearPattern(tree, groups)
    assert linear.groups == python.groups
    assert (linear.fullmatch(text) is None) == (python.fullmatch(text) is None)
    wanted, found = python.search(text), linear.search(text)
    assert (wanted and wanted.span()) == (found and found.span())


@pytest.mark.parametrize(
    ("pattern", "explodes"),
    [
        ("(a+)+\\Z", True),
        ("(?:a|a)*b", True),
        ("(?:a|ab)*c", True),
        ("(a?){30}a{30}", True),
        ("a?" * 30 + "a" * 30, True),
        ("(?:x*)*", True),
        ("a+b+c+", False),
        ("(?:foo|bar)+", False),
        ("(\\w+,)*\\w+", False),
        ('(?:[^"]*")+', False),
        ("\\d{4}-\\d\\d", False),
    ],
)
def test_backtracking_is_kept_where_it_is_quick(pattern: str, explodes: bool) -> None:
    assert may_explode(pattern_syntax.parsed(pattern)[0]) is explodes
    assert isinstance(compiled(pattern.replace("\\Z", "$").encode()), LinearPattern) is explodes


@pytest.mark.parametrize("pattern", ["(a+)+", "(?:a|a)*", "(a?){30}a{30}", "(a*)*"])
def test_no_text_takes_exponential_time(pattern: str) -> None:
    found = tf.strings.regex_full_match(["a" * 500 + "!", "a" * 40], pattern)
    assert found.numpy().tolist() == [False, True]


def test_what_is_matched_is_rewritten() -> None:
    found = tf.strings.regex_replace(["xaab aab", "b"], "((?:a|aa)+)(b+)*", r"<\2\1>")
    assert found.numpy().tolist() == [b"x<baa> <baa>", b"b"]


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        ("a++", "bad repetition operator"),
        ("(?:(?:a{1000}){1000}){1000}", "invalid repetition size"),
        ("(?:(?:a*b*c*d*e*f*){900})*", "pattern too large"),
        ("\\p{Nonsense}", "invalid character class range"),
    ],
)
def test_patterns_that_re2_refuses(pattern: str, why: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=why):
        tf.strings.regex_full_match("a", pattern)
