"""Elu and selu at numbers that are neither positive nor negative."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


@pytest.mark.parametrize("jit_compile", [None, False, True])
@pytest.mark.parametrize("count", [5, 100_000])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("function", [tf.nn.elu, tf.nn.selu], ids=["elu", "selu"])
def test_zeros_keep_their_signs(function, dtype, count, jit_compile):
    """As in TensorFlow 2.21; NaN and infinities are what they were, but for the negative limit."""
    x = tf.cast(np.resize([-0.0, 0.0, np.nan, np.inf, -np.inf], count), dtype)
    run = function if jit_compile is None else tf.function(function, jit_compile=jit_compile)
    for _ in range(2):
        found = tf.cast(run(x), tf.float32).numpy()[-5:]
        assert np.signbit(found[:2]).tolist() == [True, False]
        assert not found[:2].any() and np.isnan(found[2]) and found[3] == np.inf
        assert found[4] == pytest.approx(-1.7580993 if function is tf.nn.selu else -1, rel=1e-2)
