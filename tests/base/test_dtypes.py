"""DTypes by all their names, and their attributes. Answers recorded from TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from intaglio import tf

NAMES: list[tuple[Any, Any]] = [
    ("float32", tf.float32), ("float", tf.float32), ("double", tf.float64),
    ("half", tf.float16), (np.int32, tf.int32), (np.float32, tf.float32),
    (np.float64, tf.float64), (np.float16, tf.float16), (np.bool_, tf.bool),
    (np.uint8, tf.uint8), (np.complex64, tf.complex64), (np.object_, tf.string),
    (np.str_, tf.string), (ml_dtypes.bfloat16, tf.bfloat16),
    (np.dtype("int16"), tf.int16), (np.dtype("U3"), tf.string), (np.dtype("<f4"), tf.float32),
    (int, tf.int32), (float, tf.float32), (bool, tf.bool), (complex, tf.complex128),
    (str, tf.string), (bytes, tf.string), (object, tf.string), (1, tf.float32),
    (np.zeros(2, np.int8), tf.int8), (tf.int64, tf.int64),
]  # fmt: skip


@pytest.mark.parametrize(("value", "dtype"), NAMES, ids=lambda v: str(v)[:20])
def test_names_of_types(value: Any, dtype: Any) -> None:
    assert tf.as_dtype(value) is dtype


@pytest.mark.parametrize("value", ["nope", None, 4711, np.datetime64, [1], ()], ids=str)
def test_what_names_no_type_is_refused(value: Any) -> None:
    with pytest.raises(TypeError):
        tf.as_dtype(value)


def test_types_are_found_under_their_numbers() -> None:
    """Tools have tables by the numbers of messages; equality and hash are TensorFlow's."""
    names = {1: "float", 9: "int64", 20: "resource"}
    assert [names[t] for t in (tf.float32, tf.int64, tf.resource)] == list(names.values())
    assert {tf.float32, 1, tf.as_dtype("float32")} == {1}


def test_types_are_equal_to_their_names() -> None:
    assert tf.float32 == np.float32 and tf.float32 == "float32"
    assert tf.float32 != np.float64 and tf.float32 != 3 and tf.float32 is not None
    assert tf.constant(1, np.float32).dtype is tf.float32
    assert tf.cast([1.5], np.int8).dtype is tf.int8
    assert tf.zeros([2], dtype=np.uint16).dtype is tf.uint16


@pytest.mark.parametrize(
    ("dtype", "limits"),
    [(tf.float32, (0, 1)), (tf.int8, (0, 127)), (tf.uint8, (0, 255)), (tf.bool, (0, True))],
    ids=str,
)
def test_limits_of_intensities(dtype: Any, limits: tuple[Any, Any]) -> None:
    assert dtype.limits == limits


@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.string, tf.complex64], ids=str)
def test_types_without_limits(dtype: Any) -> None:
    with pytest.raises(ValueError, match="does not have defined limits"):
        _ = dtype.limits


def test_types_of_numpy() -> None:
    assert tf.string.as_numpy_dtype is object
    assert tf.float32.as_numpy_dtype is np.float32


def test_values_without_a_fixed_width_have_size_0() -> None:
    """Recorded from TensorFlow 2.21."""
    assert [d.size for d in (tf.string, tf.resource, tf.variant)] == [0, 0, 0]
    assert [d.size for d in (tf.bool, tf.half, tf.bfloat16, tf.complex128)] == [1, 2, 2, 16]
