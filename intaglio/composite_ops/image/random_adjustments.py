"""Random changes of images, in two forms: drawn from a stream, and from a seed alone.

Follows https://www.tensorflow.org/api_docs/python/tf/image/random_brightness and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.composite_ops.image import color, files
from intaglio.composite_ops.random.stateful import uniform
from intaglio.composite_ops.random.stateless import stateless_uniform
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor
from intaglio.trace.assertions import check


def _symmetric(max_delta: Any, most: float | None = None) -> tuple[Any, Any]:
    if most is not None and max_delta > most:
        raise ValueError(f"max_delta must be <= {most}.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return -max_delta, max_delta


def _between(lower: Any, upper: Any) -> tuple[Any, Any]:
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return lower, upper


@dispatchable
def random_brightness(image: Any, max_delta: Any, seed: int | None = None) -> Tensor:
    """Images brighter or darker by at most `max_delta`; see `tf.image.adjust_brightness`.

    >>> tf.image.random_brightness(tf.ones([1, 1, 3]), 0.2, seed=5).shape
    TensorShape([1, 1, 3])
    """
    delta = uniform([], *_symmetric(max_delta), seed=seed)
    return color.adjust_brightness(image, delta)


@dispatchable
def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_brightness` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_brightness([[[1.0]]], 0.2, (1, 2)).numpy().round(3).item()
    1.1380000114440918
    """
    delta = stateless_uniform([], seed, *_symmetric(max_delta))
    return color.adjust_brightness(image, delta)


@dispatchable
def random_contrast(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Tensor:
    """Images with a contrast factor in [lower, upper); see `tf.image.adjust_contrast`.

    >>> tf.image.random_contrast(tf.ones([1, 1, 3]), 0.2, 0.5, seed=5).shape
    TensorShape([1, 1, 3])
    """
    factor = uniform([], *_between(lower, upper), seed=seed)
    return color.adjust_contrast(image, factor)


@dispatchable
def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Tensor:
    """`random_contrast` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_contrast(tf.ones([1, 1, 3]), 0.2, 0.5, (1, 2)).shape
    TensorShape([1, 1, 3])
    """
    factor = stateless_uniform([], seed, *_between(lower, upper))
    return color.adjust_contrast(image, factor)


@dispatchable
def random_hue(image: Any, max_delta: Any, seed: int | None = None) -> Tensor:
    """RGB images whose hue changes by at most `max_delta`, up to 0.5; see `adjust_hue`.

    >>> tf.image.random_hue(tf.ones([1, 1, 3]), 0.2, seed=5).shape
    TensorShape([1, 1, 3])
    """
    delta = uniform([], *_symmetric(max_delta, 0.5), seed=seed)
    return color.adjust_hue(image, delta)


@dispatchable
def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Tensor:
    """`random_hue` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_hue(tf.ones([1, 1, 3]), 0.2, (1, 2)).shape
    TensorShape([1, 1, 3])
    """
    delta = stateless_uniform([], seed, *_symmetric(max_delta, 0.5))
    return color.adjust_hue(image, delta)


@dispatchable
def random_saturation(image: Any, lower: Any, upper: Any, seed: int | None = None) -> Tensor:
    """RGB images with a saturation factor in [lower, upper); see `adjust_saturation`.

    >>> tf.image.random_saturation(tf.ones([1, 1, 3]), 0.2, 0.5, seed=5).shape
    TensorShape([1, 1, 3])
    """
    factor = uniform([], *_between(lower, upper), seed=seed)
    return color.adjust_saturation(image, factor)


@dispatchable
def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Tensor:
    """`random_saturation` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_saturation(tf.ones([1, 1, 3]), 0.2, 0.5, (1, 2)).shape
    TensorShape([1, 1, 3])
    """
    factor = stateless_uniform([], seed, *_between(lower, upper))
    return color.adjust_saturation(image, factor)


# -- crops -----------------------------------------------------------------------------


def _check_fits(value: Tensor, size: Tensor) -> None:
    shape = raw.Shape(value)
    fits = raw.All(raw.GreaterEqual(shape, size), [0])
    check(fits, ["Need value.shape >= size, got ", shape, size])


@dispatchable
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A random window of `size` (one number for each dimension) of any tensor.

    >>> tf.image.random_crop(tf.ones([4, 4, 3]), [2, 3, 3], seed=1).shape
    TensorShape([2, 3, 3])
    """
    with door.level().scoped(name or "random_crop") as scope:
        x, dims = to_tensor(value, None, "value"), to_tensor(size, int32, "size")
        _check_fits(x, dims)
        most = np.iinfo(np.int32).max
        shape = raw.Shape(x)
        offsets = uniform(raw.Shape(shape), 0, most, int32, seed=seed)
        return raw.Slice(x, raw.FloorMod(offsets, shape - dims + 1), dims, name=scope)


@dispatchable
def stateless_random_crop(value: Any, size: Any, seed: Any, name: str | None = None) -> Tensor:
    """`random_crop` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_crop([1, 2, 3, 4], [2], seed=(1, 2)).shape
    TensorShape([2])
    """
    with door.level().scoped(name or "random_crop") as scope:
        x, dims = to_tensor(value, None, "value"), to_tensor(size, int32, "size")
        _check_fits(x, dims)
        most = np.iinfo(np.int32).max
        shape = raw.Shape(x)
        offsets = stateless_uniform(raw.Shape(shape), seed, 0, most, int32)
        return raw.Slice(x, raw.FloorMod(offsets, shape - dims + 1), dims, name=scope)


# -- JPEG ------------------------------------------------------------------------------


@dispatchable
def adjust_jpeg_quality(
    image: Any, jpeg_quality: Any, dct_method: str = "", name: str | None = None
) -> Tensor:
    """An RGB or gray image as it is after it was a JPEG file of this quality, 0 to 100.

    `dct_method` is a hint that has no effect.

    >>> image = tf.zeros([8, 8, 3], tf.uint8)
    >>> tf.image.adjust_jpeg_quality(image, 75).numpy().max().item()
    0
    """
    with door.level().scoped(name or "adjust_jpeg_quality") as scope:
        x = to_tensor(image, None, "image")
        channels = 0 if x.dims is None or x.dims[-1] is None else x.dims[-1]
        pixels = color.convert_image_dtype(x, "uint8", saturate=True)
        quality = to_tensor(jpeg_quality, int32, "jpeg_quality")
        stored = raw.EncodeJpegVariableQuality(pixels, quality)
        result = files.decode_jpeg(stored, channels=channels, dct_method=dct_method)
        return color.convert_image_dtype(result, x.dtype, saturate=True, name=scope)


def _qualities(least: Any, most: Any) -> tuple[Any, Any]:
    if least < 0 or most < 0 or least > 100 or most > 100:
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if least >= most:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")
    return least, most


@dispatchable
def random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: int | None = None
) -> Tensor:
    """An image after it was a JPEG file of a random quality.

    >>> tf.image.random_jpeg_quality(tf.ones([8, 8, 3]), 50, 95, seed=5).shape
    TensorShape([8, 8, 3])
    """
    limits = _qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, uniform([], *limits, dtype=int32, seed=seed))


@dispatchable
def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Tensor:
    """`random_jpeg_quality` that depends on the seed (two integers) alone.

    >>> tf.image.stateless_random_jpeg_quality(tf.ones([8, 8, 3]), 50, 95, (1, 2)).shape
    TensorShape([8, 8, 3])
    """
    limits = _qualities(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, stateless_uniform([], seed, *limits, dtype=int32))


__all__ = [
    "adjust_jpeg_quality",
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_hue",
    "random_jpeg_quality",
    "random_saturation",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_hue",
    "stateless_random_jpeg_quality",
    "stateless_random_saturation",
]
