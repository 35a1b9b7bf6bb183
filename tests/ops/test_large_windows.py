"""Pooling windows larger than the array: taps that see padding only cost nothing."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.nn import pooling_kernels

POOLS = {
    "maximum": lambda x, k, s: tf.nn.max_pool(x, k, s, "SAME"),
    "mean": lambda x, k, s: tf.nn.avg_pool(x, k, s, "SAME"),
}


@pytest.mark.parametrize("name", POOLS)
@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("window", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("stride", [1, 2, 5, 9])
def test_skipped_taps_change_nothing(
    name: str, dtype: str, window: int, stride: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = tf.cast(tf.random.stateless_normal([2, 5, 4, 3], [1, window]), dtype)

    def both() -> list[np.ndarray]:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = POOLS[name](x, window, stride)
            squares = y * y
        return [y.numpy(), tape.gradient(squares, x).numpy()]

    got = both()
    monkeypatch.setattr(pooling_kernels, "inner_taps", pooling_kernels.taps)
    for one, other in zip(got, both(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_window_of_millions_is_one_of_the_whole_array() -> None:
    x = tf.cast(tf.random.stateless_normal([1, 3, 4, 1], [1, 2]), tf.float64)
    for name, over in (("maximum", tf.reduce_max), ("mean", tf.reduce_mean)):
        got = POOLS[name](x, [1 << 20, 1], 1)
        np.testing.assert_allclose(got, tf.tile(over(x, 1, keepdims=True), [1, 3, 1, 1]))


@pytest.mark.parametrize("shape", [(1, 2, 0, 1), (1, 0, 3, 2), (0, 2, 2, 1)])
def test_images_without_pixels_have_no_patches(shape: tuple[int, ...]) -> None:
    """Of the shapes that TensorFlow 2.21 gives."""
    x, volume = tf.zeros(shape), tf.zeros([*shape[:2], 2, *shape[2:]])

    def patches(x: tf.Tensor, volume: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        ones = [1, 1, 1, 1]
        flat = tf.image.extract_patches(x, [1, 2, 2, 1], ones, ones, "SAME")
        return flat, tf.extract_volume_patches(volume, [1, 2, 1, 2, 1], [1, *ones], "SAME")

    for run in (patches, tf.function(patches), tf.function(patches, jit_compile=True)):
        flat, deep = run(x, volume)
        assert flat.shape == (*shape[:3], 4 * shape[3])
        assert deep.shape == (*shape[:2], 2, shape[2], 4 * shape[3])


@pytest.mark.parametrize("shape", [(2, 0, 7, 3), (2, 5, 0, 3), (0, 5, 7, 3), (2, 5, 7, 0)])
def test_images_without_pixels_are_sampled(shape: tuple[int, ...]) -> None:
    """What is outside is 0, or `fill_value`; TensorFlow 2.21 was asked."""
    x, n, depth = tf.zeros(shape), shape[0], shape[3]

    def sampled(x: tf.Tensor) -> tuple[tf.Tensor, ...]:
        glimpse = tf.raw_ops.ExtractGlimpse(
            input=x, size=[3, 2], offsets=tf.zeros([n, 2]), noise="zero", uniform_noise=False
        )
        turned = tf.raw_ops.ImageProjectiveTransformV3(
            images=x, transforms=[[1.0, 0, 0, 0, 1, 0, 0, 0]], output_shape=[6, 9],
            interpolation="BILINEAR", fill_mode="CONSTANT", fill_value=2.5,
        )  # fmt: skip
        back = tf.raw_ops.ScaleAndTranslateGrad(
            grads=x, original_image=tf.zeros([n, 4, 6, depth]), scale=[1.0, 1], translation=[0.0, 0]
        )
        return glimpse, turned, back

    for run in (sampled, tf.function(sampled), tf.function(sampled, jit_compile=True)):
        glimpse, turned, back = run(x)
        np.testing.assert_array_equal(glimpse, np.zeros((n, 3, 2, depth)))
        np.testing.assert_array_equal(turned, np.full((n, 6, 9, depth), 2.5))
        np.testing.assert_array_equal(back, np.zeros((n, 4, 6, depth)))
