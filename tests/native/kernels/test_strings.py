"""What machine code finds out about texts is what NumPy and Python do."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.native.kernels import kinds
from intaglio.native.kernels.strings import KERNELS, texts
from intaglio.native.llvm import background
from intaglio.opdef import machine_code

RNG = np.random.RandomState(0)
LENGTHS = [*range(140), 191, 192, 193, 255, 256, 257, 1000, 4096]


def _array(values: list[bytes]) -> np.ndarray:
    made = np.empty(len(values), object)
    made[:] = values
    return made


TEXTS = _array([RNG.bytes(n) for n in LENGTHS])
SHORT = _array([RNG.bytes(n) for n in RNG.randint(3, 9, 100)])
WIDE = _array([("aé日𝄞"[i % 4] * 2 + "x日é"[: 1 + i % 3]).encode() for i in range(100)])
SPACED = _array(
    [b" \t\n\v\f\r"[: i % 7] + RNG.bytes(i % 5) + b"\r\x1f \x1c"[: i % 4] for i in range(300)]
)
WHOLE = [b"%d" % n for n in RNG.randint(-(10**6), 10**6, 100)]
UNUSUAL_WHOLE = [b"+5", b" 7", b"-0", b"9223372036854775807", b"-9223372036854775808"]
DECIMAL = [repr(x).encode() for x in RNG.standard_normal(100).round(5).tolist()]
UNUSUAL_DECIMAL = [
    b"-0", b"-0.0", b"5.", b".5", b"+.5", b"1e5", b"0.1e-400", b"inf", b"-NaN", b"0x1p3", b" 4 ",
    b"0.123456789012345678", b"123456789012345678", b"12345678901234567890", b"9007199254740993",
]  # fmt: skip


@pytest.fixture
def compiled_at_once(monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)


def _both(call, monkeypatch):
    """A call with machine code and without it."""
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    with_it = call().numpy()
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    return with_it, call().numpy()


CALLS = {
    "length": lambda: tf.strings.length(TEXTS),
    "length in a table": lambda: tf.strings.length(TEXTS[:140].reshape(10, 14)),
    "fast": lambda: tf.strings.to_hash_bucket_fast(TEXTS, 2**62 - 1),
    "strong": lambda: tf.strings.to_hash_bucket_strong(TEXTS, 2**62 - 1, [5, -3]),
    "plain": lambda: tf.strings.to_hash_bucket(TEXTS, 1000),
    "fingerprint": lambda: tf.fingerprint(TEXTS),
    "substr": lambda: tf.strings.substr(TEXTS[3:], 2, 70),
    "substr from the end": lambda: tf.strings.substr(SHORT, -3, 2),
    "substr to the end": lambda: tf.strings.substr(SHORT, 1, -1),
    "substr, each its own": lambda: tf.strings.substr(
        SHORT, np.arange(100) % 7 - 3, np.arange(100) % 5
    ),
    "characters": lambda: tf.strings.length(TEXTS, "UTF8_CHAR"),
    "characters of an alphabet": lambda: tf.strings.length(WIDE, "UTF8_CHAR"),
    "substr of characters": lambda: tf.strings.substr(WIDE, 1, 2, "UTF8_CHAR"),
    "substr of characters from the end": lambda: tf.strings.substr(WIDE, -2, 9, "UTF8_CHAR"),
    "substr of no characters": lambda: tf.strings.substr(WIDE, 1, -4, "UTF8_CHAR"),
    "substr of characters, each its own": lambda: tf.strings.substr(
        WIDE, np.arange(100) % 5 - 2, np.arange(100) % 4, "UTF8_CHAR"
    ),
    "substr of what is no UTF-8": lambda: tf.strings.substr(TEXTS, 0, 5, "UTF8_CHAR"),
    "join": lambda: tf.strings.join([TEXTS, "-", TEXTS[::-1]], ""),
    "join with separators": lambda: tf.strings.join([WIDE, SHORT, WIDE], ", "),
    "join of one": lambda: tf.strings.join([SHORT], ", "),
    "reduce_join": lambda: tf.strings.reduce_join(SHORT.reshape(5, 20), axis=1, separator="é"),
    "reduce_join of columns": lambda: tf.strings.reduce_join(SHORT.reshape(5, 20), axis=0),
    "reduce_join of all": lambda: tf.strings.reduce_join(TEXTS, separator="+", keepdims=True),
    "reduce_join of nothing": lambda: tf.strings.reduce_join(SHORT[:0].reshape(3, 0), axis=1),
    "segments": lambda: tf.strings.unsorted_segment_join(
        SHORT.reshape(50, 2), np.arange(50) % 7, 9, ":"
    ),
    "segments of columns": lambda: tf.strings.unsorted_segment_join(
        SHORT.reshape(10, 5, 2), np.arange(50).reshape(10, 5) % 11 * 9, 100, ":"
    ),
    "lower": lambda: tf.strings.lower(TEXTS),
    "upper": lambda: tf.strings.upper(TEXTS),
    "strip": lambda: tf.strings.strip(SPACED),
    "base 64": lambda: tf.io.encode_base64(TEXTS),
    "base 64 with padding": lambda: tf.io.encode_base64(TEXTS, pad=True),
    "from base 64": lambda: tf.io.decode_base64(tf.io.encode_base64(TEXTS)),
    "from base 64 with padding": lambda: tf.io.decode_base64(tf.io.encode_base64(TEXTS, pad=True)),
    "raw": lambda: tf.io.decode_raw(_array([b"%08d" % n for n in range(70)]), tf.int16),
    "ngrams": lambda: tf.strings.ngrams(SHORT.reshape(4, 25), 3, "|"),
    "ngrams of short rows": lambda: (
        tf.strings.ngrams(
            tf.RaggedTensor.from_row_lengths(SHORT, [0, 1, 2, 3, 90, 4]),
            3,
            preserve_short_sequences=True,
        ).values
    ),
    "floats": lambda: tf.strings.to_number(_array(DECIMAL + UNUSUAL_DECIMAL)),
    "doubles": lambda: tf.strings.to_number(_array(DECIMAL + UNUSUAL_DECIMAL), tf.float64),
    "integers": lambda: tf.strings.to_number(_array(WHOLE + UNUSUAL_WHOLE), tf.int64),
    "unsigned": lambda: tf.strings.to_number(
        _array([w.strip(b"-") for w in WHOLE] + [b"18446744073709551615"]), tf.uint64
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_the_same_with_and_without(name, monkeypatch):
    got, wanted = _both(CALLS[name], monkeypatch)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.usefixtures("compiled_at_once")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.strings.substr(SHORT, 4, 1), "pos 4 out of range for string"),
        (lambda: tf.strings.substr(SHORT, -5, 1), "pos -5 out of range for string"),
        (lambda: tf.strings.substr(WIDE, 4, 1, "UTF8_CHAR"), "pos 4 out of range for string"),
        (
            lambda: tf.strings.to_number(_array([*WHOLE, b"2147483648"]), tf.int32),
            "could not correctly convert string: 2147483648",
        ),
        (
            lambda: tf.strings.to_number(_array([*WHOLE, b"1.0"]), tf.int32),
            "could not correctly convert string: 1.0",
        ),
        (
            lambda: tf.strings.to_number(_array([b"1"] * 99 + [b"-1"]), tf.uint32),
            "could not correctly convert string: -1",
        ),
        (
            lambda: tf.strings.to_number(_array([*DECIMAL, b"1.2.3"])),
            "could not correctly convert string: 1.2.3",
        ),
    ],
)
def test_errors_are_the_same(call, words):
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        call()


OTHERS = {"parts", "character_parts", "joined", "decimals", "spans", "span_numbers"}
# What kernels read besides the texts and the words: letters, or the states of an automaton.
TABLES = {
    "distinct": [np.zeros(9, np.int64)],
    "found": [np.zeros(8, np.int64), np.empty(1, object)],
    "replaced": [
        np.zeros(1024, np.int32),
        np.zeros(4, np.int64),
        np.zeros(2, np.uint8),
        np.zeros(8, np.int64),
    ],
    "base64": [np.zeros(256, np.uint8)],
    "from_base64": [np.zeros(256, np.uint8)],
    "automaton": [np.zeros(512, np.int32), np.zeros(2, np.int64)],
}


@pytest.mark.parametrize("name", sorted(set(KERNELS) - OTHERS))
def test_what_is_no_text_is_left_to_others(name):
    run = texts(name)
    assert run is not None
    tables = TABLES.get(name, ())
    assert run(_array([b"aa", "bb"]), *tables, words=[7, 1, 2, 1]) is None  # type: ignore[list-item]
    assert run(np.empty(2, object), *tables, words=[7, 1, 2, 1]) is None
    assert run(_array([b"aa", b"bb"]), *tables, words=[7, 1, 2, 1]) is not None


def test_parts_are_new_objects_whose_references_are_counted():
    text = b"some text that nobody else has"
    run = texts("parts")
    assert run is not None
    made = run(_array([text]), np.array([5]), np.array([4]), words=[0, 0])
    assert made.tolist() == [b"text"]
    for _ in range(1000):  # None, the array's element before, is not freed
        run(_array([text]), np.array([5]), np.array([4]), words=[0, 0])
    assert np.empty(1, object).tolist() == [None]


def test_machine_code_takes_over_after_some_work(monkeypatch):
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 3 * 100)
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    monkeypatch.setattr(machine_code, "_done", {})
    asked: list[tuple[str, ...]] = []
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *what: asked.append(what))
    for _ in range(5):
        machine_code.exact_kernel("texts", 100, "lengths")
    assert asked == [("texts", "lengths")] * 3


def test_a_second_kernel_of_a_kind_is_compiled_too(monkeypatch):
    kinds.select.cache_clear()

    def not_yet(*_):
        raise background.NotCompiled

    monkeypatch.setitem(kinds.KINDS, "texts", not_yet)
    with pytest.raises(background.NotCompiled):
        kinds.select("texts", "upper")
    monkeypatch.undo()
    assert kinds.select("texts", "upper") is not None
