"""Sizes and images that functions refuse, with TensorFlow 2.21's classes of error."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

IMAGE = tf.ones([4, 4, 3])


@pytest.mark.parametrize(
    "size", [(2.5, 3), (2.0, 3.0), (np.float32(2), 3), tf.constant([2.0, 3.0]), None, "ab", [2, None]]
)  # fmt: skip
def test_a_size_is_of_integers(size):
    for call in (tf.image.resize, tf.function(lambda x, n: tf.image.resize(x, size))):
        with pytest.raises(ValueError, match="'size' must be a 1-D int32 Tensor"):
            call(IMAGE, size)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.image.ssim(IMAGE, IMAGE, 1.0),
        lambda: tf.image.ssim_multiscale(tf.ones([1, 12, 12, 1]), tf.ones([1, 12, 12, 1]), 1.0),
        lambda: tf.image.rgb_to_grayscale(tf.ones([2, 2, 4])),
    ],
)
def test_images_that_do_not_fit(call):
    with pytest.raises(tf.errors.InvalidArgumentError):
        call()
    with pytest.raises(ValueError, match=r"large as the filter|Dimensions must be equal"):
        tf.function(call)()
