"""States of random generators; TensorFlow 2.21 was asked."""

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("dtype", [tf.int32, tf.uint64, tf.float32])
def test_a_state_of_another_dtype_is_cast(dtype):
    made = tf.random.Generator.from_state(tf.constant([1, 2, 3], dtype), "philox")
    assert made.state.dtype == tf.int64
    np.testing.assert_array_equal(made.state, [1, 2, 3])


@pytest.mark.parametrize(
    ("state", "steps", "expected"),
    [
        ([1025, 0, 7], 1, [1281, 0, 7]),
        ([1025, 0, 7], -1, [769, 0, 7]),
        ([100, 0, 7], -3, [-668, 0, 7]),
        ([1025, 0, 7], 2**57 + 1, [1281, 0, 7]),
        ([-300, 5, 7], -(2**40), [-281474976710956, 6, 7]),
        ([-300, 5, 7], 2, [212, 6, 7]),
        ([-1, -1, 7], 2**57 + 1, [255, 0, 7]),
        ([2**40, 3, 7], -1, [2**40 - 256, 4, 7]),
    ],
)
def test_a_counter_is_moved_in_both_directions(state, steps, expected):
    generator = tf.random.Generator.from_state(state, "philox")
    generator.skip(steps)
    np.testing.assert_array_equal(generator.state, expected)
