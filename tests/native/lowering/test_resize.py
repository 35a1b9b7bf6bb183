"""Images in other sizes in machine code: the kernel's bits, for every method and size."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.runtime import entry


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area", "nearest"])
@pytest.mark.parametrize("size", [(7, 9), (20, 31), (5, 40), (33, 4)])
@pytest.mark.parametrize("channels", [1, 3, 20])
def test_resized_images_and_their_gradients_have_the_kernels_bits(method, size, channels):
    x = tf.constant(np.random.default_rng(1).normal(size=(2, 12, 17, channels)).astype("f4"))

    def resized(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.resize(x, size, method=method)
            loss = tf.reduce_sum(y * tf.cast(tf.range(channels), tf.float32))
        return y, tape.gradient(loss, x) if method != "area" else y

    call = tf.function(resized, jit_compile=True)
    for made, wanted in zip(call(x), resized(x), strict=True):
        assert made.numpy().tobytes() == wanted.numpy().tobytes()
    if entry.AVAILABLE:
        assert "NumPy" not in call.compile_report()


def test_a_decoder_that_doubles_its_images_is_one_function():
    rng = np.random.default_rng(1)
    filters = tf.constant(rng.normal(size=(3, 3, 8, 8)).astype("f4"))

    @tf.function(jit_compile=True)
    def decoder(x):
        for _ in range(2):
            x = tf.image.resize(x, 2 * np.array(x.shape[1:3]))
            x = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME"))
        return x

    assert decoder(tf.ones([1, 8, 8, 8])).shape == (1, 32, 32, 8)
    if entry.AVAILABLE:
        assert "NumPy" not in decoder.compile_report()
