"""States of random generators; TensorFlow 2.21 was asked."""

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("dtype", [tf.int32, tf.uint64, tf.float32])
def test_a_state_of_another_dtype_is_cast(dtype):
    made = tf.random.Generator.from_state(tf.constant([1, 2, 3], dtype), "philox")
    assert made.state.dtype == tf.int64
    np.testing.assert_array_equal(made.state, [1, 2, 3])
