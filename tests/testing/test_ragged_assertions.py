"""`assertAllEqual` of ragged tensors. TensorFlow's answers were recorded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf


def case() -> Any:
    return tf.test.TestCase()


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (tf.ragged.constant([[1, 2], [3]]), [[1, 2], [3]]),
        ([[1, 2], [3]], tf.ragged.constant([[1, 2], [3]])),
        (tf.ragged.constant([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
        (tf.ragged.constant([[1, 2], [3, 4]]), tf.constant([[1, 2], [3, 4]])),
        (tf.ragged.constant([["a"], []]), [[b"a"], []]),
        (tf.ragged.constant([[1.0], [2.0, 3.0]]), [tf.constant([1.0]), tf.constant([2.0, 3.0])]),
    ],
)
def test_equal(a: Any, b: Any) -> None:
    case().assertAllEqual(a, b)


@pytest.mark.parametrize("b", [[[1, 2], [4]], [[1, 2, 3]], [[1, 2]], [[1, 2], [3], []]])
def test_different(b: Any) -> None:
    with pytest.raises(AssertionError, match="Lists differ"):
        case().assertAllEqual(tf.ragged.constant([[1, 2], [3]]), b)


rows = st.lists(st.lists(st.integers(-2, 2), max_size=3), max_size=3)


@given(rows, rows)
def test_as_lists_are(a: list[list[int]], b: list[list[int]]) -> None:
    one, other = (tf.ragged.constant(v, dtype=tf.int32, ragged_rank=1) for v in (a, b))
    if a == b:
        case().assertAllEqual(one, other)
    else:
        with pytest.raises(AssertionError):
            case().assertAllEqual(one, other)


def test_in_a_graph() -> None:
    with tf.Graph().as_default():
        ragged = tf.ragged.constant([[1, 2], [3]])
        with tf.compat.v1.Session():
            case().assertAllEqual(ragged, [[1, 2], [3]])
