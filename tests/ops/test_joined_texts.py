"""What is computed of all texts at once is what it is of one text after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.text import joined

PIECES = st.sampled_from(
    [b"", b"a", b"A", b" ", b"\n", b"\0", b"\x1e", b"/", "é".encode(), "Σ".encode(), "日".encode(),
     "𝄞".encode(), b"\xe6\x97", b"\xa5", b"\xff", "\u0301".encode(), "ß".encode(), b"//"]
)  # fmt: skip
TEXTS = st.lists(st.lists(PIECES, max_size=5).map(b"".join), min_size=1, max_size=20)


def _one_by_one(function, texts):
    return [function(tf.constant([text])) for text in texts]


@given(TEXTS)
def test_cases_of_letters(texts):
    for function in (tf.strings.lower, tf.strings.upper):
        found = function(tf.constant(texts), "utf-8").numpy().tolist()
        assert found == [function(tf.constant([t]), "utf-8").numpy()[0] for t in texts]


@given(TEXTS, st.sampled_from(["/", "//", "a", "\n", ""]))
def test_split(texts, separator):
    found = tf.strings.split(tf.constant(texts), separator).to_list()
    wanted = [text.split(separator.encode() or None) for text in texts]
    assert found == wanted


@pytest.mark.parametrize("errors", ["replace", "ignore"])
@pytest.mark.parametrize("controls", [False, True])
@given(texts=TEXTS)
def test_code_points(texts, errors, controls):
    def decode(x):
        return tf.strings.unicode_decode_with_offsets(
            x, "UTF-8", errors=errors, replace_control_characters=controls
        )

    points, starts = decode(tf.constant(texts))
    ones = _one_by_one(decode, texts)
    assert points.to_list() == [p.to_list()[0] for p, _ in ones]
    assert starts.to_list() == [s.to_list()[0] for _, s in ones]


@given(TEXTS)
def test_characters_and_bytes(texts):
    split = tf.strings.unicode_split(tf.constant(texts), "UTF-8").to_list()
    assert split == [x.to_list()[0] for x in _one_by_one(tf_unicode_split, texts)]
    found = tf.strings.bytes_split(tf.constant(texts)).to_list()
    assert found == [[text[i : i + 1] for i in range(len(text))] for text in texts]


def tf_unicode_split(x):
    return tf.strings.unicode_split(x, "UTF-8")


def test_many_characters_are_looked_up_in_a_table():
    points = np.random.default_rng(0).integers(0x20, 0xD7FF, 5000).astype(np.int32)
    splits = np.arange(5001)
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        rows = tf.RaggedTensor.from_row_splits(points, splits)
        found = tf.strings.unicode_encode(rows, encoding).numpy().tolist()
        assert found == [chr(p).encode(encoding.lower()) for p in points.tolist()]
    some = np.concatenate([points, [-1, 0, 0x10FFFF, 0x110000, 2**31 - 1]]).astype(np.int32)
    scripts = tf.strings.unicode_script(some).numpy()
    parts = [tf.strings.unicode_script(some[i : i + 500]).numpy() for i in range(0, len(some), 500)]
    np.testing.assert_array_equal(scripts, np.concatenate(parts))


def test_no_separator_for_texts_with_all_of_them():
    assert joined.whole([b"\n\0\x1e"] * 20) is None
    assert joined.whole([b"a"] * 20) == (b"\n".join([b"a"] * 20), b"\n")
    assert joined.mapped(bytes.upper, [b"\n\0\x1ea"] * 20) == [b"\n\0\x1eA"] * 20


PATTERNS = [
    "a", "[^a]", "[^a]+", "[a-z]+", ".", "(?s).", ".+", "(?s).+", "^a", "a$", "^", "$", "(?m)^a", "(?m)a$",
    r"\Aa", r"a\z", r"\ba", r"\b", r"\Ba", "(?i)A", "(a)|(/)", "(a*)(/*)", "a?", r"\s+", r"\PL", r"\pL+",
    "[[:punct:]]", r"\x00", "\n", "(?m)^", "(?m)^.*$", "[^/]*/[^/]*", "(?:a|é)+", "", "日|𝄞", "(?U)a+",
]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=30)
@given(texts=TEXTS)
def test_full_matches(pattern, texts):
    found = tf.strings.regex_full_match(tf.constant(texts * 8), pattern).numpy().tolist()
    ones = [tf.strings.regex_full_match(tf.constant(t), pattern).numpy() for t in texts]
    assert found == ones * 8


@pytest.mark.parametrize("every", [True, False])
@pytest.mark.parametrize("pattern", PATTERNS)
@settings(max_examples=30)
@given(texts=TEXTS, rewrite=st.sampled_from(["", "x", r"[\0]", r"\1-", "\n", "\\\\"]))
def test_rewritten(pattern, every, texts, rewrite):
    def replaced(x):
        return tf.strings.regex_replace(x, pattern, rewrite, replace_global=every)

    found = replaced(tf.constant(texts * 8)).numpy().tolist()
    assert found == [replaced(tf.constant(t)).numpy() for t in texts] * 8
