"""Programs on pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program

FILES = ("eager", "graph")


@program(random=True)
def augmentation(tf: Any, inputs: Inputs) -> Any:
    """A batch of bytes: floats, crops, mirrors, brightness, contrast, normalisation."""
    b, size = inputs.size(8, 32, 2), inputs.size(48, 120, 12, step=4)
    crop = size * 7 // 8
    mean, deviation = tf.constant([0.48, 0.45, 0.4]), tf.constant([0.22, 0.22, 0.23])

    def step(images: Any, seed: Any) -> Any:
        x = tf.image.convert_image_dtype(images, tf.float32)
        x = tf.image.stateless_random_crop(x, [b, crop, crop, 3], seed)
        x = tf.image.stateless_random_flip_left_right(x, seed + 1)
        x = tf.image.stateless_random_brightness(x, 0.2, seed + 2)
        x = tf.image.stateless_random_contrast(x, 0.7, 1.3, seed + 3)
        return (tf.clip_by_value(x, 0.0, 1.0) - mean) / deviation

    images = inputs.pixels(b, size, size, 3)
    return step, (tf.constant(images), tf.constant(inputs.integers(1000, 2)))


@program(modes=FILES, tolerance=0.1)
def decode_and_resize(tf: Any, inputs: Inputs) -> Any:
    """JPEG files to a batch of one size, as before a classifier."""
    count, size = inputs.size(3, 8, 2), inputs.size(96, 224, 16)
    pictures = [
        inputs.pixels(inputs.size(150, 400, 20), inputs.size(150, 400, 24), 3) for _ in range(count)
    ]
    files = tf.stack([tf.io.encode_jpeg(p, quality=90) for p in pictures])

    def one(data: Any) -> Any:
        image = tf.io.decode_jpeg(data, channels=3)
        return tf.image.resize(image, [size, size]) / 127.5 - 1.0

    def step(files: Any) -> Any:
        return tf.map_fn(one, files, fn_output_signature=tf.TensorSpec([size, size, 3], tf.float32))

    return step, (files,)


@program(modes=FILES)
def png_round_trip(tf: Any, inputs: Inputs) -> Any:
    """A mask painted on a picture, encoded, decoded, compared."""
    h, w = inputs.size(100, 300, 12), inputs.size(100, 300, 14)

    def step(image: Any, mask: Any) -> Any:
        painted = tf.where(mask[..., None] > 0.5, tf.constant([255, 0, 0], tf.uint8), image)
        back = tf.io.decode_png(tf.io.encode_png(painted))
        return back, tf.reduce_mean(tf.image.psnr(back, image, 255))

    return step, (tf.constant(inputs.pixels(h, w, 3)), tf.constant(inputs.uniform(h, w)))


@program()
def byte_arithmetic(tf: Any, inputs: Inputs) -> Any:
    """Blend, threshold, invert and saturate bytes of pictures."""
    b, h, w = inputs.size(2, 8, 2), inputs.size(100, 300, 8), inputs.size(100, 300, 9)

    def step(a: Any, other: Any) -> Any:
        wide = 3 * tf.cast(a, tf.int32) + tf.cast(other, tf.int32)
        blend = tf.cast(wide // 4, tf.uint8)
        inverse = 255 - blend
        bright = tf.saturate_cast(tf.cast(blend, tf.float32) * 1.4 + 10.0, tf.uint8)
        return tf.maximum(inverse, bright), tf.reduce_sum(tf.cast(blend > 128, tf.int32))

    shape = (b, h, w, 3)
    return step, (tf.constant(inputs.pixels(*shape)), tf.constant(inputs.pixels(*shape)))


@program()
def colour_spaces(tf: Any, inputs: Inputs) -> Any:
    """Hue and saturation changed, grey scale, structural similarity."""
    b, size = inputs.size(1, 6, 1), inputs.size(64, 180, 16)

    def step(images: Any) -> Any:
        x = tf.image.convert_image_dtype(images, tf.float32)
        y = tf.image.adjust_saturation(tf.image.adjust_hue(x, 0.1), 1.3)
        grey = tf.image.rgb_to_grayscale(y)
        return grey, tf.image.ssim(x, y, 1.0)

    return step, (tf.constant(inputs.pixels(b, size, size, 3)),)


@program()
def pyramid(tf: Any, inputs: Inputs) -> Any:
    """Resizes by several methods down and up, edges, patches."""
    b, size = inputs.size(1, 6, 1), inputs.size(64, 160, 16, step=8)

    def step(images: Any) -> Any:
        x = tf.cast(images, tf.float32) / 255.0
        half = tf.image.resize(x, [size // 2, size // 2], "area")
        back = tf.image.resize(half, [size, size], "bicubic")
        near = tf.image.resize(half, [size, size], "nearest")
        edges = tf.image.sobel_edges(x - back)
        patches = tf.image.extract_patches(near, [1, 4, 4, 1], [1, 4, 4, 1], [1] * 4, "VALID")
        return tf.reduce_mean(tf.abs(edges), [1, 2]), tf.reduce_mean(patches, [1, 2])

    return step, (tf.constant(inputs.pixels(b, size, size, 3)),)


@program(modes=FILES, tolerance=1.0)
def keras_augmentation(tf: Any, inputs: Inputs) -> Any:
    """Keras' layers for mirrors, rotation, zoom and contrast."""
    b, size = inputs.size(8, 24, 2), inputs.size(32, 80, 12)
    layers = tf.keras.layers
    stack = [
        layers.RandomFlip("horizontal", seed=1), layers.RandomRotation(0.1, seed=2),
        layers.RandomZoom(0.2, seed=3), layers.RandomContrast(0.3, seed=4),
    ]  # fmt: skip

    def step(images: Any) -> Any:
        x = images
        for layer in stack:
            x = layer(x, training=True)
        return tf.reduce_mean(x, [1, 2, 3])

    images = tf.constant(inputs.pixels(b, size, size, 3).astype("float32"))
    step(images)
    return step, (images,)


@program()
def morphology(tf: Any, inputs: Inputs) -> Any:
    """Dilation, erosion and local normalisation of grey pictures."""
    b, size, c = inputs.size(1, 6, 1), inputs.size(40, 120, 10), inputs.size(1, 8, 4)
    element = tf.zeros([3, 3, c])

    def step(x: Any) -> Any:
        wide = tf.nn.dilation2d(x, element, [1] * 4, "SAME", "NHWC", [1] * 4)
        narrow = tf.nn.erosion2d(x, element, [1] * 4, "SAME", "NHWC", [1] * 4)
        return tf.nn.local_response_normalization(wide - narrow, 2)

    return step, (tf.constant(inputs.uniform(b, size, size, c)),)


@program()
def bilinear_warp(tf: Any, inputs: Inputs) -> Any:
    """Images sampled where a flow points, with the gradient of the flow."""
    b, h, w, c = inputs.size(1, 4, 2), inputs.size(60, 160, 7), inputs.size(60, 160, 8), 3
    image = tf.constant(inputs.uniform(b, h, w, c))
    rows, columns = (tf.constant(a.astype("float32")) for a in np.mgrid[:h, :w])

    def step(image: Any, flow: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(flow)
            y = tf.clip_by_value(rows + flow[..., 0], 0.0, h - 1.001)
            x = tf.clip_by_value(columns + flow[..., 1], 0.0, w - 1.001)
            top, left = tf.floor(y), tf.floor(x)
            fy, fx = (y - top)[..., None], (x - left)[..., None]
            i, j = tf.cast(top, tf.int32), tf.cast(left, tf.int32)

            def at(i: Any, j: Any) -> Any:
                return tf.gather_nd(image, tf.stack([i, j], -1), batch_dims=1)

            upper = at(i, j) * (1 - fx) + at(i, j + 1) * fx
            lower = at(i + 1, j) * (1 - fx) + at(i + 1, j + 1) * fx
            warped = upper * (1 - fy) + lower * fy
            loss = tf.reduce_mean(tf.abs(warped - image))
        return loss, tape.gradient(loss, flow)

    return step, (image, tf.constant(inputs.normal(b, h, w, 2)))


@program()
def stereo_matching(tf: Any, inputs: Inputs) -> Any:
    """Absolute differences at shifts, averaged over a window; the shift of the smallest."""
    h, w, shifts = inputs.size(60, 160, 9), inputs.size(80, 200, 12), inputs.size(8, 24, 3)

    def step(left: Any, right: Any) -> Any:
        costs = []
        for d in range(shifts):
            moved = tf.pad(right, [[0, 0], [d, 0]])[:, :w]
            costs.append(tf.abs(left - moved))
        volume = tf.stack(costs, -1)[None]
        smooth = tf.nn.avg_pool2d(volume, 5, 1, "SAME")
        best = tf.argmin(smooth, -1)
        return best, tf.reduce_min(smooth, -1)

    return step, (tf.constant(inputs.uniform(h, w)), tf.constant(inputs.uniform(h, w)))


@program()
def histogram_features(tf: Any, inputs: Inputs) -> Any:
    """Oriented gradients of grey pictures, bins added by one-hot products."""
    b, h, w = inputs.size(2, 6, 2), 8 * inputs.size(8, 20, 2), 8 * inputs.size(8, 20, 2)

    def step(x: Any) -> Any:
        dy = tf.pad(x[:, 2:] - x[:, :-2], [[0, 0], [1, 1], [0, 0]])
        dx = tf.pad(x[:, :, 2:] - x[:, :, :-2], [[0, 0], [0, 0], [1, 1]])
        size = tf.sqrt(dx * dx + dy * dy + 1e-6)
        angle = tf.math.atan2(dy, dx + 1e-6)
        position = tf.cast((angle / np.pi + 1.0) * 4.0, tf.int32) % 8
        votes = tf.one_hot(position, 8) * size[..., None]
        cells = tf.reshape(votes, [b, h // 8, 8, w // 8, 8, 8])
        cells = tf.reduce_sum(cells, [2, 4])
        return cells / (tf.norm(cells, axis=-1, keepdims=True) + 1e-3)

    return step, (tf.constant(inputs.uniform(b, h, w)),)
