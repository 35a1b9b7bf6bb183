"""Colours, brightness and dtypes of images.

Follows https://www.tensorflow.org/api_docs/python/tf/image/adjust_brightness and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, float16, float32
from intaglio.composite_ops.image import ranks_and_sizes
from intaglio.composite_ops.linalg.products import tensordot
from intaglio.composite_ops.math.casting import cast, saturate_cast
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def convert_image_dtype(
    image: Any, dtype: Any, saturate: bool = False, name: str | None = None
) -> Tensor:
    """Images in another dtype, scaled: floats are 0 to 1, integers 0 to their largest.

    With `saturate` numbers that are too large or small become the largest or smallest.
    Raises AttributeError for dtypes that are neither floats nor integers.

    >>> tf.image.convert_image_dtype(tf.constant([0, 255], tf.uint8), tf.float32).numpy()
    array([0., 1.], dtype=float32)
    """
    x = to_tensor(image, None, "image")
    wanted, own = as_dtype(dtype), x.dtype
    for kind in (wanted, own):
        if not (kind.is_floating or kind.is_integer):
            raise AttributeError("dtype must be either floating point or integer")
    if wanted is own:
        return raw.Identity(x, name=name)
    with door.level().scoped(name or "convert_image") as scope:
        if own.is_integer and wanted.is_integer:
            return _between_integers(x, wanted, saturate, scope)
        if own.is_floating and wanted.is_floating:
            return cast(x, wanted, name=scope)
        if own.is_integer:
            scale = np.asarray(1.0 / own.max, wanted.numpy)
            return raw.Mul(cast(x, wanted), scale, name=scope)
        scaled = x * np.asarray(wanted.max + 0.5, own.numpy)
        convert = saturate_cast if saturate else cast
        return convert(scaled, wanted, name=scope)


def _between_integers(x: Tensor, wanted: DType, saturate: bool, scope: str) -> Tensor:
    own = x.dtype
    convert = saturate_cast if saturate else cast
    if own.max > wanted.max:
        step = (own.max + 1) // (wanted.max + 1)
        return convert(raw.FloorDiv(x, np.asarray(step, own.numpy)), wanted, name=scope)
    if saturate:
        x = raw.Maximum(x, np.asarray(0, own.numpy)) if wanted.min == 0 else x
    result = cast(x, wanted)
    step = (wanted.max + 1) // (own.max + 1)
    return raw.Mul(result, np.asarray(step, wanted.numpy), name=scope)


def in_floats(image: Any, change: Callable[[Tensor], Tensor], name: str) -> Tensor:
    """Images changed as floats of 0 to 1 and brought back to their dtype."""
    with door.level().scoped(name) as scope:
        x = to_tensor(image, None, "image")
        if x.dtype in (float16, float32):
            return change(x)
        result = change(convert_image_dtype(x, float32))
        return convert_image_dtype(result, x.dtype, saturate=True, name=scope)


# -- adjustments -----------------------------------------------------------------------


@dispatchable
def adjust_brightness(image: Any, delta: Any) -> Tensor:
    """Images with `delta` added to all pixels, on a scale of 0 to 1.

    >>> tf.image.adjust_brightness(tf.constant([[[10, 250]]], tf.uint8), 0.1).numpy()
    array([[[ 35, 255]]], dtype=uint8)
    """
    return in_floats(image, lambda x: x + cast(delta, x.dtype), "adjust_brightness")


@dispatchable
def adjust_contrast(images: Any, contrast_factor: Any) -> Tensor:
    """Images whose channels' distances from their means are multiplied by a factor.

    >>> tf.image.adjust_contrast([[[1.0], [3.0]]], 2.0).numpy()[0, :, 0]
    array([0., 4.], dtype=float32)
    """
    return in_floats(images, lambda x: raw.AdjustContrastv2(x, contrast_factor), "adjust_contrast")


@dispatchable
def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Tensor:
    """gain * image ** gamma, on a scale of 0 to 1. Raises ValueError for a negative gamma.

    >>> tf.image.adjust_gamma([[[0.5]]], 2.0).numpy().item()
    0.25
    """
    if isinstance(gamma, (int, float)) and gamma < 0:
        raise ValueError("Gamma should be a non-negative real number.")

    def change(x: Tensor) -> Tensor:
        power = raw.Pow(x, cast(gamma, x.dtype))
        return raw.Mul(cast(gain, x.dtype), power)

    return in_floats(image, change, "adjust_gamma")


@dispatchable
def adjust_hue(image: Any, delta: Any, name: str | None = None) -> Tensor:
    """RGB images whose hue is shifted by `delta`, a part of the circle in [-1, 1].

    >>> tf.image.adjust_hue([[[1.0, 0.0, 0.0]]], 0.5).numpy()[0, 0]
    array([0., 1., 1.], dtype=float32)
    """
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return in_floats(image, lambda x: raw.AdjustHue(x, delta), name or "adjust_hue")


@dispatchable
def adjust_saturation(image: Any, saturation_factor: Any, name: str | None = None) -> Tensor:
    """RGB images whose saturation is multiplied by a factor.

    >>> tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 0.0).numpy()[0, 0]
    array([1., 1., 1.], dtype=float32)
    """
    return in_floats(
        image, lambda x: raw.AdjustSaturation(x, saturation_factor), name or "adjust_saturation"
    )


@dispatchable
def per_image_standardization(image: Any) -> Tensor:
    """Images shifted and scaled to mean 0 and variance 1, as float32; uniform images become 0.

    >>> tf.image.per_image_standardization([[[1.0], [3.0]]]).numpy()[0, :, 0]
    array([-1.,  1.], dtype=float32)
    """
    with door.level().scoped("per_image_standardization") as scope:
        x = to_tensor(image, None, "image")
        ranks_and_sizes.check_rank(x)
        x = cast(x, float32)
        axes = np.asarray([-1, -2, -3], np.int32)
        mean = raw.Mean(x, axes, keep_dims=True)
        centred = x - mean
        deviation = raw.Sqrt(raw.Mean(raw.Square(centred), axes, keep_dims=True))
        tail = raw.StridedSlice(raw.Shape(x), [-3], [0], [1], end_mask=1)
        least = raw.Rsqrt(raw.Cast(raw.Prod(tail, [0]), DstT=x.dtype))
        return raw.RealDiv(centred, raw.Maximum(deviation, least), name=scope)


# -- colour spaces ---------------------------------------------------------------------


@dispatchable
def rgb_to_hsv(images: Any, name: str | None = None) -> Tensor:
    """Hue, saturation and value of RGB images [..., 3], all of 0 to 1.

    >>> tf.image.rgb_to_hsv([[0.0, 1.0, 0.0]]).numpy()[0].round(3)
    array([0.333, 1.   , 1.   ], dtype=float32)
    """
    return raw.RGBToHSV(to_tensor(images, None, "images", float32), name=name)


@dispatchable
def hsv_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Red, green and blue of images [..., 3] of hue, saturation and value.

    >>> tf.image.hsv_to_rgb([[0.5, 1.0, 1.0]]).numpy()[0]
    array([0., 1., 1.], dtype=float32)
    """
    return raw.HSVToRGB(to_tensor(images, None, "images", float32), name=name)


GRAY = (0.2989, 0.5870, 0.1140)


@dispatchable
def rgb_to_grayscale(images: Any, name: str | None = None) -> Tensor:
    """The brightness of RGB images [..., 3], in one channel.

    >>> tf.image.rgb_to_grayscale(tf.constant([[100, 200, 50]], tf.uint8)).numpy()
    array([[153]], dtype=uint8)
    """
    with door.level().scoped(name or "rgb_to_grayscale") as scope:
        x = to_tensor(images, None, "images")
        floats = convert_image_dtype(x, float32)
        gray = tensordot(floats, np.asarray(GRAY, np.float32), [[-1], [-1]])
        gray = raw.ExpandDims(gray, -1)
        return convert_image_dtype(gray, x.dtype, name=scope)


@dispatchable
def grayscale_to_rgb(images: Any, name: str | None = None) -> Tensor:
    """Images of one channel with three equal ones.

    >>> tf.image.grayscale_to_rgb([[[7]]]).numpy()
    array([[[7, 7, 7]]], dtype=int32)
    """
    with door.level().scoped(name or "grayscale_to_rgb") as scope:
        x = to_tensor(images, None, "images")
        if x.dims is not None and (not x.dims or x.dims[-1] not in (None, 1)):
            raise ValueError(
                f"The last dimension of a grayscale image should be size 1, not {x.shape}"
            )
        return raw.ConcatV2([x, x, x], -1, name=scope)


# From RGB by the columns of each; the standards of NTSC and PAL television.
TO_YIQ = (
    (0.299, 0.59590059, 0.2115),
    (0.587, -0.27455667, -0.52273617),
    (0.114, -0.32134392, 0.31119955),
)
FROM_YIQ = ((1, 1, 1), (0.95598634, -0.27201283, -1.10674021), (0.6208248, -0.64720424, 1.70423049))
TO_YUV = (
    (0.299, -0.14714119, 0.61497538),
    (0.587, -0.28886916, -0.51496512),
    (0.114, 0.43601035, -0.10001026),
)
FROM_YUV = ((1, 1, 1), (0, -0.394642334, 2.03206185), (1.13988303, -0.58062185, 0))


def _mixed(images: Any, kernel: Any) -> Tensor:
    x = to_tensor(images, None, "images")
    return tensordot(x, np.asarray(kernel, x.dtype.numpy), [[-1], [0]])


@dispatchable
def rgb_to_yiq(images: Any) -> Tensor:
    """RGB images [..., 3] as brightness and the two colours of NTSC.

    >>> tf.image.rgb_to_yiq([[1.0, 1.0, 1.0]]).numpy()[0, 0].round(3).item()
    1.0
    """
    return _mixed(images, TO_YIQ)


@dispatchable
def yiq_to_rgb(images: Any) -> Tensor:
    """The inverse of `tf.image.rgb_to_yiq`.

    >>> tf.image.yiq_to_rgb([[1.0, 0.0, 0.0]]).numpy()[0]
    array([1., 1., 1.], dtype=float32)
    """
    return _mixed(images, FROM_YIQ)


@dispatchable
def rgb_to_yuv(images: Any) -> Tensor:
    """RGB images [..., 3] as brightness and the two colours of PAL.

    >>> tf.image.rgb_to_yuv([[1.0, 1.0, 1.0]]).numpy()[0, 0].round(3).item()
    1.0
    """
    return _mixed(images, TO_YUV)


@dispatchable
def yuv_to_rgb(images: Any) -> Tensor:
    """The inverse of `tf.image.rgb_to_yuv`.

    >>> tf.image.yuv_to_rgb([[1.0, 0.0, 0.0]]).numpy()[0]
    array([1., 1., 1.], dtype=float32)
    """
    return _mixed(images, FROM_YUV)


__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "convert_image_dtype",
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "per_image_standardization",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
]
