"""Ranges of quantisation: one pair of numbers for all elements, whose steps are kept, and one for each channel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio import tf


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@settings(deadline=None, max_examples=40)
@given(
    low=st.sampled_from([-2.0, -0.5, -0.0, 0.0, 0.25]),
    high=st.sampled_from([0.0, 0.25, 1.0, 3.0]),
    bits=st.sampled_from([2, 8]),
    signed=st.booleans(),
    narrow=st.booleans(),
    mode=st.sampled_from(["HALF_TO_EVEN", "HALF_UP"]),
)
def test_channels_of_one_range_are_quantised_as_all_elements(
    dtype, low, high, bits, signed, narrow, mode
):
    assume(low < high)
    x = tf.cast(tf.constant(np.random.default_rng(bits).standard_normal((5, 3)) * 2), dtype)
    options = {
        "range_given": True,
        "signed_input": signed,
        "num_bits": bits,
        "narrow_range": narrow,
        "round_mode": mode,
    }
    one = [tf.cast(v, dtype) for v in (low, high)]
    each = [tf.cast([v] * 3, dtype) for v in (low, high)]
    op = tf.raw_ops.QuantizeAndDequantizeV2
    found = op(input=x, input_min=one[0], input_max=one[1], **options)
    wanted = op(input=x, input_min=each[0], input_max=each[1], axis=1, **options)
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


@pytest.mark.parametrize("bounds", [(np.nan, 1.0), (0.0, np.nan), (np.nan, np.nan), (2.0, 1.0)])
@pytest.mark.parametrize("axis", [-1, 0])
def test_a_range_without_order_is_an_error(bounds, axis):
    low, high = (np.float32(b) if axis == -1 else np.float32([0, b]) for b in bounds)
    for op in (tf.raw_ops.QuantizeAndDequantizeV2, tf.raw_ops.QuantizeAndDequantizeV4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid range"):
            op(input=tf.zeros(2), input_min=low, input_max=high, range_given=True, axis=axis)


def test_gradients_outside_of_a_range_are_multiplied_by_zero():
    """TensorFlow was asked: it does not look at the order of the bounds there, and NaN stays NaN."""
    values, gradients = [-3.0, 0.5, 3.0, np.nan, 3.0], [np.nan, 2.0, -2.0, 1.0, np.inf]
    found = tf.raw_ops.QuantizeAndDequantizeV4Grad(
        gradients=gradients, input=values, input_min=-1.0, input_max=1.0
    )
    np.testing.assert_array_equal(found[0], [np.nan, 2.0, 0.0, 0.0, np.nan])
    assert np.signbit(found[0][2])
    found = tf.raw_ops.QuantizeAndDequantizeV4Grad(
        gradients=[1.0], input=[0.5], input_min=1.0, input_max=-1.0
    )
    assert found[0].numpy().tolist() == [0.0]


def test_gradients_outside_of_fake_quantisation_are_multiplied_by_zero():
    """TensorFlow was asked; a channel whose bounds are both 0 gives them no gradient."""
    nan, inf = np.nan, np.inf
    x = np.float32([[0.1, -0.3], [5.0, nan], [-7.0, 0.0]])
    d = np.float32([[nan, 1.0], [2.0, -3.0], [inf, -0.0]])
    masked = [[nan, 1.0], [0.0, -0.0], [nan, -0.0]]
    raw = tf.raw_ops
    whole = raw.FakeQuantWithMinMaxVarsGradient(gradients=d, inputs=x, min=-1.0, max=1.0)
    same = raw.FakeQuantWithMinMaxArgsGradient(gradients=d, inputs=x, min=-1.0, max=1.0)
    for found in (whole[0], same):
        np.testing.assert_array_equal(found, masked)
        np.testing.assert_array_equal(np.signbit(found[:, 1]), [False, True, True])
    assert np.isnan(whole[1]) and np.isnan(whole[2])
    kind = raw.FakeQuantWithMinMaxVarsPerChannelGradient
    for bound, expected, by_bounds in ((1.0, masked, nan), (0.0, [[nan, 1], [2, 0], [inf, 0]], 0)):
        found = kind(gradients=d, inputs=x, min=[-bound, -1.0], max=[bound, 1.0])
        np.testing.assert_array_equal(found[0], expected)
        for total in found[1:]:
            np.testing.assert_array_equal(total, [by_bounds, 0.0])


_NARROW = np.float32(255) / np.finfo(np.float32).max


@pytest.mark.parametrize(
    ("bounds", "widened", "numbers", "scaled", "scaled_numbers"),
    [
        ((np.nan, 1.0), (0.0, 1.0), [128, 0, 77], (0.0, 1.0), [128, 0, 77]),
        ((-1.0, np.nan), (-1.0, 0.0), [255, 0, 255], (0.0, _NARROW), [255, 0, 255]),
        ((-np.inf, 1.0), (-np.inf, 1.0), [0, 0, 0], (0.0, 1.0), [128, 0, 77]),
        ((-np.inf, np.inf), (-np.inf, np.inf), [0, 0, 0], (np.nan, np.inf), [0, 0, 0]),
        ((np.nan, np.nan), (0.0, 0.0), [0, 0, 0], (0.0, _NARROW), [255, 0, 255]),
    ],
)
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
def test_bounds_that_are_not_finite_are_widened_as_by_tensorflow(
    bounds, widened, numbers, scaled, scaled_numbers, mode
):
    """TensorFlow 2.21 was asked for all: a bound that is NaN counts as 0."""
    found, *limits = tf.quantization.quantize([0.5, -9.0, 0.3], *bounds, tf.quint8, mode=mode)
    if mode == "SCALED":
        widened, numbers = scaled, scaled_numbers
    np.testing.assert_allclose(limits, widened, rtol=1e-6)
    np.testing.assert_array_equal(tf.bitcast(found, tf.uint8), numbers)


@pytest.mark.parametrize("bounds", [(np.nan, 1.0), (-1.0, np.nan), (np.nan, np.nan)])
def test_attributes_that_are_no_range_are_an_error(bounds):
    gradient = tf.raw_ops.FakeQuantWithMinMaxArgsGradient
    with pytest.raises(tf.errors.InvalidArgumentError, match="min has to be smaller"):
        tf.quantization.fake_quant_with_min_max_args(tf.zeros(2), *bounds)
    with pytest.raises(tf.errors.InvalidArgumentError, match="min has to be smaller"):
        gradient(gradients=tf.zeros(2), inputs=tf.zeros(2), min=bounds[0], max=bounds[1])
