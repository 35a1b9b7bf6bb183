"""Ops on many texts at once give what Python gives text by text, in machine code and without."""

from __future__ import annotations

import base64
import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code
from intaglio.ops.text.format import _formatted

PIECES = st.sampled_from(
    [b"", b"a", b"Zz", b" ", b"\t", b"\n", b"\0", b"\x1c", b"=", b"-_", b"@[`{", "é".encode(), "日".encode(),
     b"\xff", b"x" * 100]
)  # fmt: skip
TEXTS = st.lists(st.lists(PIECES, max_size=5).map(b"".join), max_size=20)
# Machine code takes arrays of 64 texts and more.
REPEATED = 64


@pytest.fixture(params=["machine code", "Python"], autouse=True)
def selection(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    else:
        monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)


def _list(x):
    return x.numpy().tolist()


def _texts(values):
    return tf.constant(values, tf.string, shape=[len(values)])


@given(TEXTS)
def test_cases_and_spaces(texts):
    many = texts * REPEATED
    assert _list(tf.strings.lower(_texts(many))) == [t.lower() for t in many]
    assert _list(tf.strings.upper(_texts(many))) == [t.upper() for t in many]
    assert _list(tf.strings.strip(_texts(many))) == [t.strip() for t in many]


@given(TEXTS, st.booleans())
def test_base_64(texts, pad):
    many = texts * REPEATED
    found = tf.io.encode_base64(_texts(many), pad=pad)
    wanted = [base64.urlsafe_b64encode(t) for t in many]
    assert _list(found) == (wanted if pad else [w.rstrip(b"=") for w in wanted])
    assert _list(tf.io.decode_base64(found)) == many


@pytest.mark.parametrize(
    "wrong", [b"a", b"=", b"==", b"ab=", b"abcd=", b"ab=c", b"a+bc", b"ab\n=", b"abc\xff", b"abcde", b"====",
              b"a===", b"ab===", b"!", b"!a"]
)  # fmt: skip
def test_what_is_no_base_64(wrong):
    for texts in ([wrong], [b"QUJD"] * 100 + [wrong]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"base64|Base64"):
            tf.io.decode_base64(_texts(texts))


@given(TEXTS)
def test_words(texts):
    found = tf.strings.split(_texts(texts)).to_list()
    assert found == [t.split() for t in texts]


@given(TEXTS, st.integers(1, 9), st.integers(0, 2**32))
def test_segments(texts, segments, seed):
    ids = np.random.default_rng(seed).integers(0, segments, len(texts))
    found = tf.strings.unsorted_segment_join(_texts(texts), ids, segments, "+")
    wanted = [
        b"+".join([t for t, i in zip(texts, ids, strict=True) if i == s]) for s in range(segments)
    ]
    assert _list(found) == wanted


@given(
    TEXTS,
    st.lists(st.integers(0, 20), max_size=9),
    st.lists(st.integers(1, 4), min_size=1, max_size=3),
    st.integers(-1, 3),
    st.booleans(),
)
def test_ngrams(texts, cuts, widths, pad_width, short):
    splits = [0, *sorted([min(c, len(texts)) for c in cuts]), len(texts)]
    found, ends = tf.raw_ops.StringNGrams(
        data=_texts(texts), data_splits=np.array(splits), separator="_", ngram_widths=widths,
        left_pad="<", right_pad="", pad_width=pad_width, preserve_short_sequences=short,
    )  # fmt: skip
    wanted, counts = [], [0]
    for a, b in itertools.pairwise(splits):
        row, grams = texts[a:b], []
        for width in widths:
            pads = width - 1 if pad_width < 0 else min(pad_width, width - 1)
            padded = [b"<"] * pads + row + [b""] * pads
            grams += [b"_".join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
        if short and row and not grams:
            grams = [b"_".join(row)]
        wanted += grams
        counts.append(len(wanted))
    assert (_list(found), ends.numpy().tolist()) == (wanted, counts)


FLOATS = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    1.5,
    2.5,
    0.125,
    -0.0625,
    1e-5,
    1e9,
    -1e15,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]


@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float64", "int8", "int64", "uint64"]
)
@settings(max_examples=30)
@given(
    st.integers(0, 2**32),
    st.sampled_from([-1, 0, 1, 3, 9, 12, 13]),
    st.sampled_from([-1, 0, 3, 14]),
    st.sampled_from(["", "0", "-", "+", " "]),
    st.sampled_from([{}, {"scientific": True}, {"shortest": True}]),
    st.booleans(),
)
def test_numbers(dtype, seed, precision, width, fill, style, finite):
    rng = np.random.default_rng(seed)
    dtype = tf.as_dtype(dtype)
    if dtype.is_floating:
        values = rng.standard_normal(100) * 10.0 ** (rng.choice([1, 9]) * rng.integers(-7, 5, 100))
        values[:15] = FLOATS
        values = values[np.isfinite(values)] if finite else values
        with np.errstate(over="ignore"):
            values = values.astype(dtype.as_numpy_dtype)
        if finite:
            values = values[np.isfinite(values)]
        letter = "e" if "scientific" in style else "g" if "shortest" in style else "f"
        letter = f".{precision}{letter}" if precision >= 0 else letter
        options = {**style, "precision": precision}
    else:
        values = rng.integers(dtype.min, dtype.max, 100, dtype.as_numpy_dtype, endpoint=True)
        values[:3] = [0, dtype.min, dtype.max]
        letter, options = "d", {}
    found = tf.strings.as_string(values, width=width, fill=fill, **options)
    unsigned = dtype.is_unsigned and fill in ("+", " ")
    each = [_formatted(v, max(width, 0), "" if unsigned else fill, letter) for v in values.tolist()]
    assert _list(found) == each


@settings(max_examples=30)
@given(
    st.integers(0, 2**32),
    st.integers(0, 12),
    st.sampled_from(["scientific", "shortest"]),
    st.booleans(),
)
def test_numbers_that_are_nearly_rounded_otherwise(seed, precision, style, single):
    """Next to powers of ten, where the exponent changes, and to halves of the last digit."""
    rng = np.random.default_rng(seed)
    digits = rng.integers(1, 10 ** min(precision + 1, 6), 100)
    values = np.concatenate([10.0 ** rng.integers(-9, 9, 50), (digits + 0.5) / 10.0 ** (seed % 6)])
    values = np.nextafter(values, rng.choice([0.0, 1.0, np.inf], values.size))
    values = values.astype(np.float32) if single else values
    scientific = style == "scientific"
    letter = f".{precision}{'e' if scientific else 'g'}"
    found = tf.strings.as_string(
        values, precision=precision, scientific=scientific, shortest=not scientific
    )
    assert _list(found) == [f"%{letter}".encode() % v for v in values.tolist()]


@settings(max_examples=60)
@given(st.lists(st.text("15.e-+", max_size=6).map(str.encode), min_size=1, max_size=5))
def test_texts_with_exponents_are_read_at_once_as_one_by_one(texts):
    def read(some):
        try:
            return _list(tf.strings.to_number(_texts(some), tf.float64))
        except tf.errors.InvalidArgumentError:
            return None

    single = [read([text]) for text in texts]
    wanted = None if None in single else [row[0] for row in single if row] * 80
    assert read(texts * 80) == wanted


def test_numbers_without_a_sign_have_none():
    # As TensorFlow 2.21 was asked.
    for dtype in (tf.uint8, tf.uint64):
        assert _list(tf.strings.as_string(tf.constant([5], dtype), width=4, fill="+")) == [b"   5"]
        assert _list(tf.strings.as_string(tf.constant([5], dtype), fill=" ")) == [b"5"]


@pytest.mark.parametrize("every", [True, False])
@settings(max_examples=30)
@given(TEXTS, st.sampled_from([r"<\1>", r"\2\2", r"\0\1", "x", ""]))
def test_rewritten_groups(every, texts, rewrite):
    pattern = "(a)|([zZ]+)|x+"
    found = tf.strings.regex_replace(_texts(texts * 8), pattern, rewrite, replace_global=every)
    ones = [
        tf.strings.regex_replace(t, pattern, rewrite, replace_global=every).numpy() for t in texts
    ]
    assert _list(found) == ones * 8


def test_raw_bytes_of_no_texts_and_of_unequal_ones():
    assert tf.io.decode_raw(_texts([]), tf.int16).shape == (0, 0)
    assert tf.io.decode_raw(_texts([b""] * 70), tf.int16).shape == (70, 0)
    assert (
        tf.io.decode_raw(_texts([b"abcd"] * 70), tf.int16).numpy().tolist() == [[25185, 25699]] * 70
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 70 has size 4 != 2"):
        tf.io.decode_raw(_texts([b"abcd"] * 70 + [b"ab"]), tf.int16)


FIELDS = st.sampled_from(
    [b"", b"0", b"-7", b"+3", b"2.5", b"-0.0", b"1e3", b"nan", b"NA", b"x", b'"a,b"', b"1_0", b"12345678901",
     b"0.1234567890123456789", b" 4"]
)  # fmt: skip
DEFAULTS = st.sampled_from([0, 0.5, "", [1], [2.5], ["y"]])


@given(
    st.lists(st.lists(FIELDS, min_size=3, max_size=3).map(b",".join), min_size=1, max_size=6),
    st.tuples(DEFAULTS, DEFAULTS, DEFAULTS),
    st.sampled_from(["", "NA"]),
    st.sampled_from([None, [0, 2], [1]]),
)
def test_columns(records, defaults, na_value, chosen):
    some = [[d] for d in (defaults if chosen is None else [defaults[c] for c in chosen])]
    some = [tf.constant(d[0] if isinstance(d[0], list) else d) for d in some]

    def columns(texts):
        try:
            found = tf.io.decode_csv(_texts(texts), some, na_value=na_value, select_cols=chosen)
            return [column.numpy().tolist() for column in found]
        except tf.errors.InvalidArgumentError:
            return None

    rows = [columns([record]) for record in records]
    good = [row for row in rows if row is not None]
    wanted = None
    if len(good) == len(rows):
        wanted = [[row[c][0] for row in good] * 16 for c in range(len(some))]
    assert repr(columns(records * 16)) == repr(wanted)


def test_the_record_of_a_wrong_field_is_named():
    records = [b"1,2", b",2"] * 50 + [b"1,z"]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Field 1 in record 100 is not a valid"
    ):
        tf.io.decode_csv(records, [[0], [0]])
    records = [b"1,2", b",2"] * 50 + [b"z,1"]
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="Field 0 in record 100 is not a valid"
    ):
        tf.io.decode_csv(records, [[0], [0]])


def test_no_separator_is_an_empty_one():
    # As in TensorFlow 2.21.
    assert tf.strings.join(["a", "b"], separator=None).numpy() == b"ab"
    assert tf.strings.reduce_join(["a", "b"], separator=None).numpy() == b"ab"
    joined = tf.strings.unsorted_segment_join(["a", "b"], [0, 0], 1, separator=None)
    assert joined.numpy().tolist() == [b"ab"]


@given(TEXTS, st.integers(0, 200))
def test_distinct_texts(texts, others):
    many = [*texts, *[b"%d" % (i * i % 97) for i in range(others)]] * 2
    many = (many * REPEATED)[: max(REPEATED, len(many))]
    found, which, counts = tf.unique_with_counts(_texts(many))
    wanted = list(dict.fromkeys(many))
    assert _list(found) == wanted
    assert _list(which) == [wanted.index(text) for text in many]
    assert _list(counts) == [many.count(text) for text in wanted]
