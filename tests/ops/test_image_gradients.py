"""Gradients of image ops whose results are float32 whatever their inputs are.

Finite differences in float64 cannot check them. Resizing and cropping are linear in the
image, though: a gradient is right if <A x, y> = <x, A' y> for all x and y, and so is the
gradient of the gradient.
"""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

rng = np.random.RandomState(2)
IMAGES = rng.uniform(-1, 1, (2, 5, 7, 3)).astype("float32")
BOXES = np.array([[0, 0, 1, 1], [0.1, 0.3, 0.6, 0.9], [0.9, 0.8, 0.2, 0.1]], "float32")
WHERE = ([[0.6, 1.5], [0.3, -1.0]], [[1.7, 0.4], [0.0, 1.0]])
HALF = {"half_pixel_centers": True}
LINEAR = {
    "bilinear": lambda x: raw.ResizeBilinear(x, [3, 9], **HALF),
    "bilinear corners": lambda x: raw.ResizeBilinear(x, [8, 2], align_corners=True),
    "bicubic": lambda x: raw.ResizeBicubic(x, [8, 3], **HALF),
    "bicubic legacy": lambda x: raw.ResizeBicubic(x, [3, 9]),
    "nearest": lambda x: raw.ResizeNearestNeighbor(x, [9, 4], **HALF),
    "lanczos": lambda x: raw.ScaleAndTranslate(x, [4, 9], *WHERE[0]),
    "triangle": lambda x: raw.ScaleAndTranslate(
        x, [9, 4], *WHERE[1], kernel_type="triangle", antialias=False
    ),
    "crop": lambda x: raw.CropAndResize(x, BOXES, [0, 1, 1], [3, 5]),
    "crop nearest": lambda x: raw.CropAndResize(x, BOXES, [0, 1, 1], [3, 5], method="nearest"),
}
TWICE = [n for n in LINEAR if not n.startswith("crop")]


def _vjp(function, x, weights):
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = function(x)
    return made, tape.gradient(made, x, output_gradients=weights)


@pytest.mark.parametrize("name", LINEAR)
def test_the_gradient_is_the_transposed_map(name):
    x = tf.constant(IMAGES)
    made = LINEAR[name](x)
    weights = tf.constant(rng.uniform(-1, 1, made.shape).astype("float32"))
    made, found = _vjp(LINEAR[name], x, weights)
    np.testing.assert_allclose(np.vdot(made, weights), np.vdot(found, IMAGES), rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize("name", TWICE)
def test_the_gradient_of_the_gradient_is_the_map(name):
    x = tf.constant(IMAGES)
    shape = LINEAR[name](x).shape
    weights = tf.constant(rng.uniform(-1, 1, shape).astype("float32"))
    direction = tf.constant(rng.uniform(-1, 1, IMAGES.shape).astype("float32"))
    _, found = _vjp(lambda w: _vjp(LINEAR[name], x, w)[1], weights, direction)
    np.testing.assert_allclose(found, LINEAR[name](direction), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LINEAR)
def test_gradients_of_unknown_shapes(name):
    weights = rng.uniform(-1, 1, LINEAR[name](tf.constant(IMAGES)).shape)
    weights = tf.constant(weights.astype("float32"))
    wanted = _vjp(LINEAR[name], tf.constant(IMAGES), weights)[1]

    @tf.function(input_signature=[tf.TensorSpec([None] * 4, tf.float32)])
    def traced(x):
        return _vjp(LINEAR[name], x, weights)[1]

    np.testing.assert_allclose(traced(tf.constant(IMAGES)), wanted, rtol=1e-6)


def test_crops_follow_their_boxes():
    """Against differences; inside of pixels, where the crop is smooth."""
    boxes = np.array([[0.12, 0.31, 0.63, 0.88]], "float32")
    image, step = tf.constant(IMAGES.astype("float64")), 1e-3

    def total(b):
        return tf.reduce_sum(raw.CropAndResize(image, b, [1], [2, 3]) ** 2)

    given = tf.constant(boxes)
    with tf.GradientTape() as tape:
        tape.watch(given)
        made = total(given)
    found = tape.gradient(made, given).numpy()[0]
    for i in range(4):
        move = np.zeros_like(boxes)
        move[0, i] = step
        slope = (total(boxes + move) - total(boxes - move)).numpy() / (2 * step)
        np.testing.assert_allclose(found[i], slope, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("op", ["AdjustContrastv2", "AdjustHue", "AdjustSaturation"])
def test_what_has_no_gradient_in_tensorflow_raises(op):
    images = tf.constant(IMAGES)
    with pytest.raises(LookupError), tf.GradientTape() as tape:
        tape.watch(images)
        tape.gradient(getattr(raw, op)(images, 0.5), images)


def test_projections_move_gradients_back():
    """A whole shift loses nothing but what leaves the image, there and back."""
    shift = np.array([[1, 0, 2, 0, 1, -1, 0, 0]], "float32")
    attrs = {"interpolation": "NEAREST", "fill_mode": "CONSTANT"}
    x = tf.constant(IMAGES)
    weights = tf.constant(rng.uniform(-1, 1, IMAGES.shape).astype("float32"))
    _, found = _vjp(
        lambda x: raw.ImageProjectiveTransformV3(x, shift, [5, 7], 0.0, **attrs), x, weights
    )
    wanted = np.zeros_like(IMAGES)
    wanted[:, :-1, 2:] = weights.numpy()[:, 1:, :-2]
    np.testing.assert_allclose(found, wanted, atol=1e-6)
