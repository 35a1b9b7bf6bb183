"""Texts inside of exported functions: their lengths, hashes and numbers are those of Python."""

from __future__ import annotations

import pathlib
import random
import shutil
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.loaded import Loaded
from tests.export.test_selected_rows import compare

pytestmark = pytest.mark.skipif(not shutil.which("cc"), reason="there is no C compiler")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def seen(**texts: Any) -> dict[str, Any]:
    """What a library can give of texts: their lengths, and hashes that are theirs alone."""
    found: dict[str, Any] = {}
    for name, text in texts.items():
        found[f"{name}_hash"] = tf.strings.to_hash_bucket_fast(text, 2**62)
        found[f"{name}_length"] = tf.strings.length(text)
    return found


def extremes(dtype: str) -> np.ndarray:
    info = np.iinfo(dtype)
    return np.array([info.min, info.max, 0, 1, 9, 10, 99, 100, info.max - 1, info.min + 1], dtype)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype: str, tmp_path: pathlib.Path) -> None:
    """With every flag of the format, and back to numbers."""

    def f(x: Any) -> Any:
        text = tf.strings.as_string(x)
        padded = {
            f"fill{i}": tf.strings.as_string(x, width=12, fill=fill)
            for i, fill in enumerate(("", "0", "-", " ", "+"))
        }
        found = seen(text=text, **padded)
        if dtype in ("int32", "uint32", "int64", "uint64"):
            found["number"] = tf.strings.to_number(text, dtype)
            found["padded"] = tf.strings.to_number(padded["fill0"], dtype)
        return found

    compare(f, tmp_path, (extremes(dtype),), (extremes(dtype)[::-1].copy(),))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("precision", [-1, 0, 1, 3, 9, 15])
def test_floats(dtype: str, precision: int, tmp_path: pathlib.Path) -> None:
    """Digits are those of the exact number, rounded once, halves to even."""
    rng = np.random.default_rng(precision + 1)
    halves = np.arange(-20, 20) / 8 + 0.0625
    numbers = [rng.normal(size=40), rng.normal(size=20) * 900, rng.normal(size=20) / 1e4, halves]
    numbers += [np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, 0.5, 1.5, 2.5])]
    x = np.concatenate(numbers).astype(dtype)

    def f(x: Any) -> Any:
        return seen(
            text=tf.strings.as_string(x, precision=precision),
            signed=tf.strings.as_string(x, precision=precision, width=9, fill="+"),
            zeros=tf.strings.as_string(x, precision=precision, width=14, fill="0"),
        )

    compare(f, tmp_path, (x,), (-x,))


def test_more_digits_than_are_written(tmp_path: pathlib.Path) -> None:
    concrete = tf.function(
        lambda x: tf.strings.length(tf.strings.as_string(x))
    ).get_concrete_function(tf.TensorSpec([1], tf.float64, name="x"))
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    assert library.call("run", {"x": [12.0]})["output"].tolist() == [9]
    with pytest.raises(RuntimeError, match="more decimal digits than the library writes"):
        library.call("run", {"x": [1e30]})
    library.close()


def test_hashes(tmp_path: pathlib.Path) -> None:
    """Of texts of every number of bytes up to 150: each range of lengths has a function of its own."""
    text = tf.constant(b"".join([bytes([33 + i * i % 90]) for i in range(150)]))

    def f(x: Any) -> Any:
        parts = tf.strings.substr(tf.fill([x.shape[0]], text), tf.zeros_like(x), x)
        return {
            "fast": tf.strings.to_hash_bucket_fast(parts, 2**61 - 1),
            "strong": tf.strings.to_hash_bucket_strong(parts, 1000, [1, -2]),
            "bucket": tf.strings.to_hash_bucket(parts, 1000),
            "length": tf.strings.length(parts),
        }

    compare(f, tmp_path, (np.arange(151, dtype=np.int32),))


def test_positions_and_numbers_that_are_none(tmp_path: pathlib.Path) -> None:
    """What raises in Python is an error of the library."""

    def f(x: Any, at: Any) -> Any:
        text = tf.strings.as_string(x)
        return tf.strings.to_number(tf.strings.substr(text, at, [3, 3]), tf.int32)

    specs = [tf.TensorSpec([2], tf.int32, name=n) for n in ("x", "at")]
    concrete = tf.function(f).get_concrete_function(*specs)
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    assert library.call("run", {"x": [12345, -7], "at": [1, 0]})["output"].tolist() == [234, -7]
    with pytest.raises(RuntimeError, match="pos out of range"):
        library.call("run", {"x": [12345, 7], "at": [1, 2]})
    with pytest.raises(RuntimeError, match="no number of the dtype"):
        library.call("run", {"x": [12345, -7], "at": [5, 0]})
    library.close()


def test_code_points(tmp_path: pathlib.Path) -> None:
    """As many as the data says, and as rows of a tensor."""
    words = tf.constant(["", "a", "é", "日本", "🙂x", "plain"])

    def f(x: Any) -> Any:
        points = tf.strings.unicode_decode(tf.gather(words, x), "UTF-8")
        return {
            "flat": points.flat_values, "splits": points.row_splits, "dense": points.to_tensor(),
            "cut": points.to_tensor(default_value=-1, shape=[None, 2]),
            "number": tf.strings.length(tf.gather(words, x), unit="UTF8_CHAR"),
        }  # fmt: skip

    calls = [[5, 4, 3, 2], [0, 0, 0, 0], [1, 0, 5, 5]]
    compare(f, tmp_path, *[(np.array(c, np.int32),) for c in calls])


def test_messages_of_assertions(tmp_path: pathlib.Path) -> None:
    """Texts of the data in a message are left out; those that are known are that of the error."""

    def f(x: Any) -> Any:
        tf.debugging.Assert(x[0] > 0, ["not positive:", tf.strings.as_string(x)])
        return x + 1

    spec = tf.TensorSpec([2], tf.int32, name="x")
    concrete = tf.function(f).get_concrete_function(spec)
    library = Loaded(intaglio.export_library(concrete, tmp_path / "model", kinds=["shared"]))
    assert library.call("run", {"x": [1, 2]})["output"].tolist() == [2, 3]
    with pytest.raises(RuntimeError, match="not positive:"):
        library.call("run", {"x": [0, 2]})
    library.close()


def test_text_of_other_ops_is_named(tmp_path: pathlib.Path) -> None:
    concrete = tf.function(
        lambda x: tf.strings.length(tf.strings.regex_replace(tf.strings.as_string(x), "1", "2"))
    ).get_concrete_function(tf.TensorSpec([2], tf.int32, name="x"))
    with pytest.raises(
        intaglio.ExportError,
        match=r"StaticRegexReplace '.*' \(test_texts.py:\d+\) works on strings",
    ):
        intaglio.export_library(concrete, tmp_path / "model")


# -- random programs -----------------------------------------------------------------------------

STEPS: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, x: tf.strings.join([a, b], separator="-"),
    lambda a, b, x: tf.strings.join([b, "", a]),
    lambda a, b, x: tf.strings.upper(a),
    lambda a, b, x: tf.strings.lower(a),
    lambda a, b, x: tf.strings.strip(tf.strings.join([" \t", a, "\n"])),
    lambda a, b, x: tf.strings.substr(a, tf.zeros_like(x), tf.abs(x) % 5),
    lambda a, b, x: tf.strings.substr(a, -tf.minimum(tf.strings.length(a), 2), [-1] * 4),
    lambda a, b, x: tf.where(a == b, "same", tf.strings.join([a, "!"])),
    lambda a, b, x: tf.where(a != tf.reverse(b, [0]), a, b),
    lambda a, b, x: tf.gather(tf.concat([a, b, [" Word "]], 0), tf.abs(x) % 9),
    lambda a, b, x: tf.fill([4], tf.strings.reduce_join(b[:2], separator=",")),
    lambda a, b, x: tf.strings.reduce_join(tf.stack([a, b]), axis=0),
    lambda a, b, x: tf.reshape(tf.strings.reduce_join([[a, b]], axis=[0, 1]), [-1]),
    lambda a, b, x: tf.tile(tf.unstack(a)[1:2], [4]),
    lambda a, b, x: tf.strings.as_string(x * 37),
    lambda a, b, x: tf.strings.as_string(x > 0),
    lambda a, b, x: tf.strings.as_string(tf.cast(x, tf.float32) / 7, precision=2),
    lambda a, b, x: tf.cond(x[0] > 2, lambda: tf.strings.as_string(x), lambda: tf.strings.as_string(-x)),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int, tmp_path: pathlib.Path) -> None:
    rng = random.Random(seed)
    steps = [rng.choice(STEPS) for _ in range(6)]
    chosen = [(rng.random(), rng.random()) for _ in steps]

    def f(x: Any) -> Any:
        texts = [tf.strings.as_string(x), tf.constant(["Ab", "", " c ", "2"])]
        for step, (one, two) in zip(steps, chosen, strict=True):
            a, b = texts[int(one * len(texts))], texts[int(two * len(texts))]
            texts.append(step(a, b, x))
        return seen(**{f"t{i}": t for i, t in enumerate(texts)})

    calls = [np.array([rng.randint(-99, 99) for _ in range(4)], np.int32) for _ in range(3)]
    compare(f, tmp_path, *[(c,) for c in calls])
