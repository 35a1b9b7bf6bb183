"""RE2's syntax, its time, and the same results by RE2 and by Python's `re` with translated patterns."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from intaglio import tf
from intaglio.ops.text import regex_syntax, regular_expressions
from tests.parity import snippets

try:
    import re2
except ImportError:  # pragma: no cover - there are no wheels for some platforms
    re2 = None

needs_re2 = pytest.mark.skipif(re2 is None, reason="google-re2 is not installed")
InvalidArgumentError = tf.errors.InvalidArgumentError
PATTERNS = 400


@pytest.fixture(params=[False, True], ids=["re2", "re"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[bool]:
    """With google-re2, if it is there, and without; True without."""
    if request.param:
        monkeypatch.setattr(regular_expressions, "_re2", lambda: None)
    regular_expressions.compiled.cache_clear()
    yield request.param
    regular_expressions.compiled.cache_clear()


# -- random patterns -------------------------------------------------------------------

CHARACTERS = ["a", "b", "A", " ", "1", "_", ".", "é", "é", "-", "\n", "ß", "K", "$"]
TEXT = ["a", "b", "A", "B", " ", "1", "_", ".", "é", "É", "-", "\n", "ß", "k", "$", "\ud800"]
ATOMS = [
    "a", "b", "A", "é", "1", " ", ".", "^", "$", r"\.", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b",
    r"\A", r"\z", r"\x41", r"\x{e9}", r"\141", r"\n", r"\pL", r"\PL", r"\p{Lu}", r"\p{^N}", r"\Qa.\E", "[ab]", "[^a]",
    "[a-c1]", r"[^\d]", r"[\w.]", "[[:alpha:]]", "[[:^space:]]", "[]a]", "[^]a]", r"[a\]-]", r"[\pL1]", "(?i)", "(?-i)", "(?s)", "(?m)"
]  # fmt: skip


def _pattern(draw: random.Random, depth: int = 3) -> str:
    parts: list[str] = []
    for _ in range(draw.randint(1, 4)):
        kind = draw.random()
        if depth and kind < 0.15:
            head = draw.choice(["(", "(?:", "(?i:", "(?P<n>" if draw.random() < 0.2 else "("])
            atom = f"{head}{_pattern(draw, depth - 1)})"
        elif depth and kind < 0.25:
            atom = f"{_pattern(draw, depth - 1)}|{_pattern(draw, depth - 1)}"
        else:
            atom = draw.choice(ATOMS)
        if draw.random() < 0.3 and len(atom) <= 8 and not atom.startswith("(?"):
            atom += draw.choice(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}?"])
        parts.append(atom)
    return "".join(parts)


def _text(draw: random.Random) -> bytes:
    letters = [draw.choice(TEXT[:-1]) for _ in range(draw.randint(0, 9))]
    text = "".join(letters).encode()
    if draw.random() < 0.2:
        at = draw.randint(0, len(text))
        text = text[:at] + draw.choice([b"\xff", b"\xc3", b"\xe2\x82"]) + text[at:]
    return text


def _results(pattern: str, texts: list[bytes]) -> Any:
    given = tf.constant(texts)
    try:
        return [
            tf.strings.regex_full_match(given, pattern).numpy().tolist(),
            tf.strings.regex_replace(given, pattern, r"<\0>").numpy().tolist(),
            tf.strings.regex_replace(given, pattern, r"[\0]", replace_global=False)
            .numpy()
            .tolist(),
        ]
    except InvalidArgumentError:
        return "refused"


@needs_re2
def test_both_engines_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = random.Random(11)
    for _ in range(PATTERNS):
        pattern, texts = _pattern(draw), [_text(draw) for _ in range(6)]
        regular_expressions.compiled.cache_clear()
        by_re2 = _results(pattern, texts)
        with monkeypatch.context() as patched:
            patched.setattr(regular_expressions, "_re2", lambda: None)
            regular_expressions.compiled.cache_clear()
            by_re = _results(pattern, texts)
        assert by_re == by_re2, (pattern, texts)
    regular_expressions.compiled.cache_clear()


@needs_re2
def test_both_engines_refuse_alike() -> None:
    """Of texts that are mostly no patterns."""
    draw = random.Random(12)
    options = re2.Options()
    options.log_errors = False
    pieces = [
        *"ab()[]{}*+?|^$.\\-:<>=!#,12",
        "(?",
        "(?P<",
        "\\p",
        "\\x",
        "{1,",
        "[[:",
        ":]]",
        "\\Q",
    ]
    for _ in range(2000):
        pattern = "".join([draw.choice(pieces) for _ in range(draw.randint(1, 7))])
        if "\\C" in pattern or "\\p" in pattern or "\\P" in pattern:
            continue  # there Python knows less
        try:
            re2.compile(pattern.encode(), options)
            accepted = True
        except re2.error:
            accepted = False
        try:
            regex_syntax.translated(pattern)
            translated = True
        except regex_syntax.InvalidPattern:
            translated = False
        assert translated == accepted, pattern


# -- what is accepted ------------------------------------------------------------------

REFUSED = (
    "(?=a)", "(?!a)", "(?<=a)", "(?<!a)", r"(a)\1", "(?P=n)", "(?>a)", "a++", "a*+", "a**", "a{2}{3}", "(?#x)", "(?(1)a)",
    "(", ")", "[", "[b-a]", "*", "a|*", "{2}*", r"\8", r"\Z", r"\u0041", r"[\b]", "[[:foo:]]", r"\pX", "a{1001}",
    "((a{100}){11})", "(?P<>a)", "a{3,2}", "(?z)", "\\"
)  # fmt: skip


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize("pattern", REFUSED)
def test_refused(pattern: str) -> None:
    if pattern == "{2}*":
        pytest.skip("a brace without an operand is a letter to RE2")
    with pytest.raises(
        InvalidArgumentError, match=re.escape(f"Invalid pattern: {pattern}, error:")
    ):
        tf.strings.regex_full_match("a", pattern)


@pytest.mark.usefixtures("engine")
@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        (r"\pN+", "12", True),
        (r"\p{Greek}", "\u03b1", None),
        ("(?U)a+?b", "aab", True),
        ("a(?i)b|c", "aB", True),
        ("a(?i)b|c", "C", True),
        (r"\101\x42\x{43}", "ABC", True),
        (r"\Qa+\Eb", "a+b", True),
        ("(?P<n>a)", "a", True),
        ("a{,2}", "a{,2}", True),
        ("x{", "x{", True),
        (r"a\z", "a", True),
        ("(?m)^a$\n^b$", "a\nb", True),
        ("a$\nb", "a\nb", False),
        ("(?s).", "\n", True),
        (".", "\n", False),
        (r"\bé\b", "é", False),
    ],
)
def test_accepted(pattern: str, text: str, matches: bool | None) -> None:
    if matches is None:
        if re2 is None or regular_expressions._re2() is None:
            pytest.skip("Python knows no scripts")
        matches = True
    assert bool(tf.strings.regex_full_match(text, pattern)) is matches


@pytest.mark.usefixtures("engine")
def test_bytes_that_are_no_text() -> None:
    texts = tf.constant([b"\xff", b"a\xffb", b"\xc3"])
    assert not tf.strings.regex_full_match(texts, "(?s).*").numpy().any()
    assert tf.strings.regex_replace(texts, "[^a]", "x").numpy().tolist() == [
        b"\xff",
        b"a\xffx",
        b"\xc3",
    ]
    with pytest.raises(InvalidArgumentError, match="invalid UTF-8"):
        tf.strings.regex_full_match("a", tf.constant(b"\xff"))


@needs_re2
def test_a_single_byte() -> None:
    assert bool(tf.strings.regex_full_match(tf.constant(b"\xff\xfe"), r"\C\C"))


@needs_re2
@pytest.mark.parametrize(
    "pattern", ["(a+)+$", "(a|aa)+$", "(a?){40}a{40}", "(.*)*x", "a*a*a*a*a*a*x", "(x+x+)+y"]
)
def test_time_is_linear(pattern: str) -> None:
    """Each would go on for years."""
    text = tf.constant("a" * 100_000 + "b" if "{" not in pattern else "a" * 39)
    assert not bool(tf.strings.regex_full_match(text, pattern))
    tf.strings.regex_replace(text[None], pattern, "")


def test_what_python_is_asked() -> None:
    """Simple patterns in any text, patterns without repeated groups in short ones."""
    for pattern in ("[a-z]", "abc|d+", "^x", "[^0-9]+"):
        assert regex_syntax.translated(pattern).linear
    for pattern in ("a+b", "(a)", "a*a*"):
        translated = regex_syntax.translated(pattern)
        assert not translated.linear
        assert translated.repeated is not None
    assert regex_syntax.translated("(a+)+").repeated is None
    assert regex_syntax.translated("(a|b|c)(d|e)").branches == 6


def test_the_syntax_that_tensorflow_was_asked() -> None:
    assert len(snippets.programs("regular_expressions")) > 20
