"""Normals between bounds: short and long rows take the same numbers, which lie between the bounds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ops.random import philox, truncated_normal

bounds = st.tuples(
    st.floats(-8, 8, width=16) | st.just(-np.inf), st.floats(0.03125, 8, width=16) | st.just(np.inf)
).filter(lambda b: np.isfinite(b[0]) or np.isfinite(b[1]))


@settings(max_examples=120, deadline=None, derandomize=True)
@given(
    bounds,
    st.integers(0, 2**31),
    st.sampled_from(["float16", "float32", "float64"]),
    st.integers(1, truncated_normal.FEW_NUMBERS - 1),
)
def test_few_numbers_are_the_first_of_many(bound, seed, dtype, count):
    low, width = bound
    row = np.array([[0.0, 1.0, low, 0.5 if low == -np.inf else low + width]], dtype)
    stream = philox.scrambled(seed, 7)
    few = truncated_normal.truncated(stream, row, count, np.dtype(dtype))
    many = truncated_normal.truncated(stream, row, 64, np.dtype(dtype))
    np.testing.assert_array_equal(few, many[:, :count])
    assert np.all((many >= row[0, 2]) & (many <= row[0, 3]))


def test_rows_of_a_vector_begin_at_new_blocks():
    low, high = np.linspace(-3.0, 4.0, 300), np.linspace(-2.5, 9.0, 300)
    rows = np.stack([np.zeros(300), np.ones(300), low, high], -1)
    stream, dtype = philox.from_seed(1, 2), np.dtype("float64")
    together = truncated_normal.truncated(stream, rows, 3, dtype)
    for row, numbers in zip(rows, together, strict=True):
        interval = truncated_normal.Interval(row[2], row[3])
        alone = np.empty(3)
        stream = truncated_normal.fill(stream, interval, alone)
        np.testing.assert_array_equal(alone, numbers)


@pytest.mark.parametrize("count", [3, 1000])
def test_intervals_too_far_out_are_errors(count):
    with pytest.raises(tf.errors.InternalError, match="failed to accept a sample"):
        tf.random.stateless_parameterized_truncated_normal(
            [count], [1, 2], minvals=1e30, maxvals=2e30
        )


def test_moments_are_those_of_the_distribution():
    for low, high in ((-1.0, 2.0), (0.25, 1.0), (2.0, np.inf)):
        numbers = tf.random.stateless_parameterized_truncated_normal(
            [200000], [3, 4], tf.constant(0.0, tf.float64), minvals=low, maxvals=high
        ).numpy()
        x = np.linspace(low, min(high, 12.0), 200001)
        weights = np.exp(-x * x / 2)
        weights /= weights.sum()
        assert abs(numbers.mean() - (weights * x).sum()) < 0.01
        assert abs((numbers**2).mean() - (weights * x * x).sum()) < 0.03


def test_the_gradient_is_that_of_tensorflow():
    """TensorFlow 2.21 was asked: the mean moves a sample, the deviation stretches it, and the bounds
    move it along the quantile."""
    parameters = [
        tf.constant(values, tf.float64)
        for values in (
            [0.3, 1.0, -2.0, 0.5],
            [1.5, 0.7, 2.0, 0.4],
            [-1.0, 0.2, -3.0, -9.0],
            [2.0, 3.0, 1.0, 9.0],
        )
    ]
    with tf.GradientTape() as tape:
        tape.watch(parameters)
        drawn = tf.random.stateless_parameterized_truncated_normal([3, 4], [1, 2], *parameters)
    expected = (
        [3.0, 3.0, 3.0, 3.0],
        [1.15008, 0.28247, 1.78643, 0.0049],
        [0.73291, 0.92708, 1.28204, 0.0],
        [1.17592, 0.02657, 1.23643, 0.0],
    )
    for got, wanted in zip(tape.gradient(drawn, parameters), expected, strict=True):
        np.testing.assert_allclose(got, wanted, atol=6e-6)


@pytest.mark.parametrize("bounds", [(4.0, np.inf), (-np.inf, -4.0), (7.0, 7.5), (-1.0, 1.0)])
def test_a_sample_moves_with_its_bounds(bounds):
    """Where both bounds move by the same, a sample of an exponential tail moves by nearly as much."""
    low, high = (tf.constant(value) for value in bounds)
    with tf.GradientTape() as tape:
        tape.watch([low, high])
        drawn = tf.random.stateless_parameterized_truncated_normal([5], [3, 4], 0.0, 1.0, low, high)
    slopes = tape.gradient(drawn, [low, high])
    assert np.isfinite(slopes).all()
    assert 0 <= slopes[0] <= 5.0 * 1.0001
    assert 0 <= slopes[1] <= 5.0 * 1.0001
    assert slopes[0] + slopes[1] > 1
