"""What `tf.reduce_all` and `tf.reduce_any` take for truth values. TensorFlow 2.21 was asked for all of it."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize(
    ("values", "axis", "every", "some"),
    [
        ([], None, True, False),
        ([[], []], 1, [True, True], [False, False]),
        ([[]], 0, np.zeros(0, bool), np.zeros(0, bool)),
        (np.zeros(0), None, True, False),
        (np.array([1.5, 0.0]), None, False, True),
        (np.array([[1, 0], [2, 3]]), 1, [False, True], [True, True]),
        ([np.True_, False], None, False, True),
        (True, None, True, True),
    ],
)
def test_lists_without_elements_and_arrays_become_truth_values(values, axis, every, some, traced):
    for reduction, expected in [(tf.reduce_all, every), (tf.reduce_any, some)]:

        def reduced(reduction=reduction):
            return reduction(values, axis)

        found = (tf.function(reduced) if traced else reduced)()
        assert found.dtype is tf.bool
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("values", [[1], [0.0], [[1, 0]], tf.constant([1]), tf.constant([0.5])])
@pytest.mark.parametrize("reduction", [tf.reduce_all, tf.reduce_any])
def test_numbers_in_lists_and_tensors_are_none(reduction, values):
    with pytest.raises((TypeError, tf.errors.InvalidArgumentError), match="bool"):
        reduction(values)
    with pytest.raises(TypeError, match="bool"):
        tf.function(lambda: reduction(values))()
