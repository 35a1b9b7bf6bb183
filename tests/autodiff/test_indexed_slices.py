"""IndexedSlices. Answers asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

M = tf.constant([[1.0, 2.0], [3.0, 4.0]])


def test_conversion_adds_rows_of_one_index():
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0]), tf.constant([4, 3]))
    assert slices.shape == (4, 3)
    assert slices.dtype == tf.float32
    dense = tf.convert_to_tensor(slices)
    np.testing.assert_array_equal(dense, [[2, 2, 2], [0] * 3, [0] * 3, [0] * 3])
    np.testing.assert_array_equal(tf.convert_to_tensor(-slices), -dense)


def test_conversion_needs_the_shape():
    with pytest.raises(ValueError, match="without dense_shape"):
        tf.convert_to_tensor(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0])))


@pytest.mark.parametrize(
    "make", [lambda: M, lambda: tf.Variable(M)], ids=["tensor", "variable"]
)
def test_gradients_of_gathers(make):
    v = make()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
        one = tf.gather(v, [0, 0])
        two = one + tf.gather(v, [1, 0])
        mixed = one + v
        along = tf.gather(v, [0, 0], axis=1)
    found = tape.gradient(one, v)
    assert isinstance(found, tf.IndexedSlices)
    np.testing.assert_array_equal(found.indices, [0, 0])
    np.testing.assert_array_equal(found.dense_shape, [2, 2])
    found = tape.gradient(two, v)
    assert isinstance(found, tf.IndexedSlices)
    assert len(found.indices) == 4
    np.testing.assert_array_equal(tape.gradient(mixed, v), [[3, 3], [1, 1]])
    np.testing.assert_array_equal(tape.gradient(along, v), [[2, 0], [2, 0]])


def test_they_pass_through_functions_as_values():
    @tf.function
    def double(s):
        return tf.IndexedSlices(s.values * 2.0, s.indices, s.dense_shape)

    out = double(tf.IndexedSlices(M, tf.constant([0, 0]), tf.constant([2, 2])))
    assert isinstance(out, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(out), [[8, 12], [0, 0]])


def test_spec():
    spec = tf.IndexedSlicesSpec([4, 3])
    assert repr(spec) == (
        "IndexedSlicesSpec(TensorShape([4, 3]), tf.float32, tf.int64, None, TensorShape([None]))"
    )
    assert spec.is_compatible_with(
        tf.IndexedSlices(tf.ones([2, 3]), tf.constant([0, 0], tf.int64))
    ) in (True, False)
