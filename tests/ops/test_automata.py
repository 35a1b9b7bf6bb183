"""Automata of regular expressions, against RE2's syntax as Python's `re` matches it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.text import automata, regex_syntax

PATTERNS = [
    "", "a", "a*", "a+b?", "(a|b)*c", "(?:ab|a)(c|bcd)", "a{2,3}", "a{0,2}b{2}", "a{2,}", "[^a-c]*",
    r"\d+\.\d*", r"^ab$", "^", "$", "(^a|b)*", "(a|b$)*", "x*?y", r"[[:alpha:]_]\w*", ".*", "(?s).*",
    "(?i)aB+", r"a\.b", r"\x41\n", "(a*)*", "(a?){5}a{5}", "", r"[a-z:/]+\.com/.*\?q=(a|b|c)[a-z]*",
    "é*a", "[é-ü]?b", "é", "(?:a|é)+", "日|𝄞", r"[^\x00-\x7f]a", "(é)?",
]  # fmt: skip
TEXTS = [
    "", "a", "b", "aa", "ab", "abc", "ac", "abcd", "aaa", "aab", "aabb", "xyz", "xxy", "1.", "12.5",
    ".5", "\n", "a\nb", "A\n", "aBbB", "a.b", "a-b", "word_1", "_", "http://x.com/abc?q=bz", "cab",
    "aaaaaaaaaa", "\0", "\x7f",
]  # fmt: skip


def said_of(automaton: automata.Automaton, text: bytes) -> int:
    """What the automaton says, state by state."""
    state = automaton.start
    for code in text:
        state = int(automaton.table[state + code])
    return int(automaton.ends[state // automata.BYTES])


@pytest.mark.parametrize("pattern", PATTERNS)
def test_automata_accept_what_matches(pattern):
    automaton = automata.automaton_of(pattern)
    assert automaton is not None
    expression = re.compile(regex_syntax.translated(pattern).pattern)
    for text in TEXTS:
        wanted = expression.fullmatch(text) is not None
        assert said_of(automaton, text.encode()) == int(wanted), text


pieces = st.recursive(
    st.sampled_from(["a", "b", "é", "[ab]", "[é-ü]", "[^a]", ".", "ab", "^", "$", ""]),
    lambda inner: st.one_of(
        st.builds("({})".format, inner),
        st.builds("(?:{}|{})".format, inner, inner),
        st.builds("{}{}".format, inner, inner),
        st.builds("(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}"])),
    ),
    max_leaves=8,
)


@settings(deadline=None, max_examples=150)
@given(pieces, st.lists(st.text("abcé\n", max_size=6), max_size=8))
def test_any_pattern(pattern, texts):
    automaton = automata.automaton_of(pattern)
    assume(automaton is not None)
    expression = re.compile(regex_syntax.translated(pattern).pattern)
    for text in texts:
        said = said_of(automaton, text.encode())
        known = text.isascii() or said != automata.UNKNOWN
        assert said == (int(expression.fullmatch(text) is not None) if known else automata.UNKNOWN)


@pytest.mark.parametrize("pattern", [r"\bab", r"a\B", "(?:a{1,900}b?){9}", r"\C"])
def test_patterns_without_an_automaton(pattern):
    assert automata.automaton_of(pattern) is None


def test_states_of_no_return():
    automaton = automata.automaton_of("ab*")
    assert automaton is not None
    assert said_of(automaton, b"xb") == automata.REFUSED
    assert said_of(automaton, "aé".encode()) == automata.UNKNOWN


def test_the_kernel_and_python_agree(monkeypatch):
    """Also of texts that are not ASCII, which are left to the expression."""
    texts = [f"https://{'ab'[n % 2] * (n % 5)}.com/{n}{'é' * (n % 7 == 0)}" for n in range(400)]
    tensor = tf.reshape(tf.constant(texts), [20, 20])
    for pattern in (r"https://[a-m]*\.com/.*", r".*1[0-9]?é?", "", r"[^é]*"):
        found = [tf.strings.regex_full_match(tensor, pattern).numpy() for _ in range(4)]
        monkeypatch.setattr("intaglio.ops.text.native_strings.MIN_NATIVE_STRINGS", 1 << 20)
        plain = tf.strings.regex_full_match(tensor, pattern).numpy()
        monkeypatch.undo()
        for one in found:
            np.testing.assert_array_equal(one, plain)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        tf.strings.regex_full_match(tensor, "a(")


def test_a_kernel_computes_many_texts(monkeypatch):
    """Once it is compiled, which happens at once here."""
    monkeypatch.setattr("intaglio.opdef.machine_code.IN_BACKGROUND", False)
    monkeypatch.setattr("intaglio.opdef.machine_code.MIN_TOTAL_WORK", 0)
    asked, found_by = [], automata.automaton_of
    monkeypatch.setattr(automata, "automaton_of", lambda p: asked.append(p) or found_by(p))
    texts = tf.constant([str(n) for n in range(300)])
    found = tf.strings.regex_full_match(texts, r"1\d*").numpy()
    assert asked == [r"1\d*"]
    np.testing.assert_array_equal(found, [str(n).startswith("1") for n in range(300)])


def matches_of(searcher: automata.Searcher, text: bytes) -> list[tuple[int, int]] | None:
    """Where the matches are, state by state; None where a byte leads to UNKNOWN."""
    found: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        state, end, at = searcher.behind if start else searcher.first, 0, start
        while at < len(text):
            state = int(searcher.table[state + text[at]])
            if state == automata.OTHER * automata.BYTES:
                return None
            if not state:
                break
            at += 1
            if searcher.matches[state // automata.BYTES] & automata.HERE:
                end = at
        else:
            if searcher.matches[state // automata.BYTES] & automata.AT_END:
                end = at
        if end:
            found.append((start, end))
        start = end or start + 1
    return found


@settings(deadline=None, max_examples=300)
@given(pieces, st.lists(st.text("abcé\n", max_size=8), max_size=8))
def test_matches_are_those_that_are_preferred(pattern, texts):
    searcher = automata.searcher_of(pattern)
    assume(searcher is not None)
    expression = re.compile(regex_syntax.translated(pattern).pattern)
    for text in texts:
        found = matches_of(searcher, text.encode())
        if found is None:
            assert not text.isascii()
        else:
            sizes = [len(text[:i].encode()) for i in range(len(text) + 1)]
            wanted = [(sizes[m.start()], sizes[m.end()]) for m in expression.finditer(text)]
            assert found == wanted


@pytest.mark.parametrize("pattern", ["a*", "", "(a|b*)*c", r"\bab", "^", "b*?"])
def test_patterns_that_are_not_searched_for(pattern):
    """Those with empty matches, of which RE2 and Python think differently, and loops of nothing."""
    assert automata.searcher_of(pattern) is None


@settings(deadline=None, max_examples=100)
@given(
    pieces,
    st.lists(st.text("abcé\n", max_size=8), min_size=1, max_size=8),
    st.sampled_from(["", "-", "éé", r"\\", r"<\0>"]),
    st.booleans(),
)
def test_texts_are_rewritten_together_as_one_by_one(pattern, texts, rewrite, every):
    def rewritten(some):
        return tf.strings.regex_replace(some, pattern, rewrite, replace_global=every).numpy()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("intaglio.opdef.machine_code.IN_BACKGROUND", False)
        patch.setattr("intaglio.opdef.machine_code.MIN_TOTAL_WORK", 0)
        found = rewritten(texts * 64).tolist()
    assert found == [rewritten([text])[0] for text in texts] * 64


def test_a_search_that_leads_far_is_left_to_the_expression(monkeypatch):
    """Each start reads to the end: machine code gives up, and RE2 or Python answers."""
    monkeypatch.setattr("intaglio.opdef.machine_code.IN_BACKGROUND", False)
    monkeypatch.setattr("intaglio.opdef.machine_code.MIN_TOTAL_WORK", 0)
    texts = ["a" * 5000, "a" * 300 + "b", "ab"] * 30
    found = tf.strings.regex_replace(texts, "a[^c]*b", "-").numpy().tolist()
    assert found == [b"a" * 5000, b"-", b"-"] * 30
