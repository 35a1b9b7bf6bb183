"""Maximum pooling and its gradient against the NumPy kernels."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from intaglio.native import pooling
from intaglio.native.pooling import Windows
from intaglio.ops import pooling_kernels

size = st.integers(1, 9)
part = st.integers(1, 4)


@settings(deadline=None, max_examples=120)
@given(size, size, st.integers(1, 40), part, part, part, part, st.booleans())
def test_any_windows(height, width, channels, down, across, sy, sx, same):
    assume(same or (height >= down and width >= across))
    x_shape = (2, height, width, channels)
    along = pooling_kernels.plan(
        x_shape,
        (1, down, across, 1),
        (1, sy, sx, 1),
        "SAME" if same else "VALID",
        (),
        "NHWC",
    )
    _, y, x, _ = along
    w = Windows(*x_shape, y.out, x.out, down, across, sy, sx, y.before, x.before)
    rng = np.random.default_rng(height * 10 + width)
    images = rng.integers(-3, 4, x_shape).astype(np.float32)  # with many equal maxima
    forward, gradient = pooling.maximum(w), pooling.maximum_gradient(w)
    assert forward is not None and gradient is not None
    most = pooling_kernels.maximum(images, along)
    np.testing.assert_array_equal(forward(images), most)
    d = rng.integers(-5, 6, most.shape).astype(np.float32)
    wanted = pooling_kernels.maximum_gradient(images, most, d, along)
    np.testing.assert_array_equal(gradient(images, most, d), wanted)


def test_nan_is_passed_over_and_the_search_begins_at_the_least_finite_number():
    w = Windows(1, 2, 4, 1, 1, 2, 2, 2, 2, 2, 0, 0)
    run = pooling.maximum(w)
    assert run is not None
    x = np.array([np.nan, 1, -np.inf, -np.inf, 2, np.nan, -np.inf, -np.inf], np.float32)
    least = np.finfo(np.float32).min
    np.testing.assert_array_equal(run(x.reshape(1, 2, 4, 1)).ravel(), [2.0, least])
