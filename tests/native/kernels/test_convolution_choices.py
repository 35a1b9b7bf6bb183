"""Which convolutions are products of matrices, and that all kernels agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import selection
from intaglio.ops.nn.windows import axis

# Images, height and width, channels, window, filters, stride; whether it is a product.
CHOICES = [
    (2, 6, 16, 1, 24, 2, False),
    (3, 5, 8, 1, 8, 3, False),
    (4, 4, 512, 1, 512, 1, True),
    (2, 5, 640, 1, 448, 2, True),
    (4, 2, 512, 3, 512, 1, True),
    (2, 3, 512, 3, 512, 2, True),
    (8, 8, 64, 3, 64, 1, False),
    (8, 33, 3, 5, 24, 1, False),
    (8, 33, 3, 7, 24, 2, False),
    (4, 14, 96, 1, 40, 2, False),
    (4, 13, 96, 3, 40, 2, False),
]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("choice", CHOICES)
def test_convolutions_of_large_and_small_images(choice: Any, compiled: bool) -> None:
    images, size, channels, window, filters, stride, is_product = choice
    along = (axis(size, window, stride, 1, "SAME"),) * 2
    dims = (images, size, size, channels), (window, window, channels, filters)
    assert (selection.worthwhile(*dims, along) is None) is is_product

    numbers = np.random.default_rng(size)
    # Small integers: every order of summing them is exact.
    x, w = (numbers.integers(-3, 4, d).astype(np.float32) for d in dims)

    def gradients(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch((x, w))
            y = tf.nn.conv2d(x, w, stride, "SAME")
            loss = tf.reduce_sum(y * tf.stop_gradient(tf.sign(y)))
        return y, *tape.gradient(loss, (x, w))

    run = tf.function(gradients, jit_compile=True) if compiled else gradients
    given = tf.constant(x), tf.constant(w)
    run(*given)
    mine = [v.numpy() for v in run(*given)]
    exact = [v.numpy() for v in gradients(*(tf.cast(v, tf.float64) for v in given))]
    for got, expected in zip(mine, exact, strict=True):
        np.testing.assert_array_equal(got, expected)
    if compiled:
        assert "NumPy" not in run.compile_report()
