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
