"""Parts of images, and images in larger frames.

Follows https://www.tensorflow.org/api_docs/python/tf/image/central_crop and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float64, int32
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.image import ranks_and_sizes
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def central_crop(image: Any, central_fraction: Any) -> Tensor:
    """The middle of images: `central_fraction` of the height and of the width.

    Raises ValueError unless the fraction is in (0, 1].

    >>> tf.image.central_crop(tf.ones([4, 6, 1]), 0.5).shape
    TensorShape([2, 4, 1])
    """
    with door.level().scoped("central_crop"):
        x = to_tensor(image, None, "image")
        fraction = _fraction(central_fraction)
        if isinstance(fraction, float):
            if not 0.0 < fraction <= 1.0:
                raise ValueError("central_fraction must be within (0, 1]")
            if fraction == 1.0:
                return x
        batch, rank = ranks_and_sizes.batched(x)
        starts = [_start(n, fraction) for n in ranks_and_sizes.sizes(batch)]
        inner = [n - s * 2 for n, s in zip(ranks_and_sizes.sizes(batch), starts, strict=True)]
        return ranks_and_sizes.with_rank(ranks_and_sizes.cropped(batch, *starts, *inner), rank)


def _fraction(value: Any) -> Any:
    if isinstance(value, (int, float)):
        return float(value)
    tensor = to_tensor(value, None, "central_fraction")
    if tensor.dims not in (None, ()):
        raise ValueError("central_fraction must be a scalar")
    return tensor


def _start(size: Any, fraction: Any) -> Any:
    if isinstance(size, int) and isinstance(fraction, float):
        return int((size - size * fraction) / 2)
    whole = _double(size) if isinstance(size, int) else raw.Cast(size, DstT=float64)
    share = _double(fraction) if isinstance(fraction, float) else raw.Cast(fraction, DstT=float64)
    rest = raw.Sub(whole, raw.Mul(whole, share)) / np.float64(2)
    return raw.Cast(rest, DstT=int32)


def _double(value: float) -> np.ndarray:
    return np.asarray(value, np.float64)


def _lengths(*values: Any) -> list[Any]:
    return [lengths.length(v, "size") for v in values]


@dispatchable
def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """A window of images: its corner from the top left, and its size.

    Raises ValueError for a window that reaches beyond the image.

    >>> tf.image.crop_to_bounding_box(tf.ones([4, 6, 1]), 1, 2, 3, 4).shape
    TensorShape([3, 4, 1])
    """
    with door.level().scoped("crop_to_bounding_box"):
        x, rank = ranks_and_sizes.batched(image)
        top, left, height, width = _lengths(
            offset_height, offset_width, target_height, target_width
        )
        own = ranks_and_sizes.sizes(x)
        ranks_and_sizes.check(left >= 0, "offset_width must be >= 0.")
        ranks_and_sizes.check(top >= 0, "offset_height must be >= 0.")
        ranks_and_sizes.check(width > 0, "target_width must be > 0.")
        ranks_and_sizes.check(height > 0, "target_height must be > 0.")
        ranks_and_sizes.check(own[1] >= width + left, "width must be >= target + offset.")
        ranks_and_sizes.check(own[0] >= height + top, "height must be >= target + offset.")
        return ranks_and_sizes.with_rank(ranks_and_sizes.cropped(x, top, left, height, width), rank)


@dispatchable
def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Tensor:
    """Images in a frame of zeros: offset from the top left, and the whole size.

    Raises ValueError if the image does not fit.

    >>> tf.image.pad_to_bounding_box(tf.ones([1, 1, 1]), 0, 1, 1, 3).numpy()[0, :, 0]
    array([0., 1., 0.], dtype=float32)
    """
    with door.level().scoped("pad_to_bounding_box"):
        x, rank = ranks_and_sizes.batched(image)
        top, left, height, width = _lengths(
            offset_height, offset_width, target_height, target_width
        )
        own = ranks_and_sizes.sizes(x)
        ranks_and_sizes.check(top >= 0, "offset_height must be >= 0")
        ranks_and_sizes.check(left >= 0, "offset_width must be >= 0")
        ranks_and_sizes.check(width - left - own[1] >= 0, "width must be <= target - offset")
        ranks_and_sizes.check(height - top - own[0] >= 0, "height must be <= target - offset")
        return ranks_and_sizes.with_rank(ranks_and_sizes.padded(x, top, left, height, width), rank)


@dispatchable
def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Tensor:
    """Images cut in the middle, or with zeros around them, to a size.

    >>> tf.image.resize_with_crop_or_pad(tf.ones([4, 1, 1]), 2, 3).numpy()[:, :, 0]
    array([[0., 1., 0.],
           [0., 1., 0.]], dtype=float32)
    """
    with door.level().scoped("resize_image_with_crop_or_pad"):
        x, rank = ranks_and_sizes.batched(image)
        ranks_and_sizes.check_positive(target_width, "target_width")
        ranks_and_sizes.check_positive(target_height, "target_height")
        wanted, own = _lengths(target_height, target_width), ranks_and_sizes.sizes(x)
        over = [_larger((n - w) // 2, 0) for n, w in zip(own, wanted, strict=True)]
        under = [_larger((w - n) // 2, 0) for n, w in zip(own, wanted, strict=True)]
        inner = [_smaller(n, w) for n, w in zip(own, wanted, strict=True)]
        x = ranks_and_sizes.cropped(x, *over, *inner)
        return ranks_and_sizes.with_rank(ranks_and_sizes.padded(x, *under, *wanted), rank)


def _larger(a: Any, b: int) -> Any:
    return max(a, b) if isinstance(a, int) else raw.Maximum(a, np.int32(b))


def _smaller(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    return raw.Minimum(a, b)


@dispatchable
def extract_patches(
    images: Any, sizes: Any, strides: Any, rates: Any, padding: str, name: str | None = None
) -> Tensor:
    """Every window of a batch of images, laid out as channels: [n, rows, columns, window].

    `sizes`, `strides` and `rates` (the steps within a window) are [1, height, width, 1].

    >>> image = tf.reshape(tf.range(16), [1, 4, 4, 1])
    >>> ones = [1, 1, 1, 1]
    >>> tf.image.extract_patches(image, [1, 2, 2, 1], [1, 2, 2, 1], ones, "VALID").numpy()[0, 0]
    array([[0, 1, 4, 5],
           [2, 3, 6, 7]], dtype=int32)
    """
    return raw.ExtractImagePatches(
        images, ksizes=sizes, strides=strides, rates=rates, padding=padding, name=name
    )


@dispatchable
def extract_glimpse(
    input: Any,
    size: Any,
    offsets: Any,
    centered: bool = True,
    normalized: bool = True,
    noise: str = "uniform",
    name: str | None = None,
) -> Tensor:
    """A window of each image around an offset; outside of the image is noise.

    With `centered` offsets count from the middle, with `normalized` in halves of the image.
    `noise` is "uniform", "gaussian" or "zero".

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.extract_glimpse(image, [1, 1], [[0.0, 0.0]]).numpy().item()
    4.0
    """
    return raw.ExtractGlimpseV2(
        input,
        size,
        offsets,
        centered=centered,
        normalized=normalized,
        noise=noise,
        uniform_noise=False,
        name=name,
    )


__all__ = [
    "central_crop",
    "crop_to_bounding_box",
    "extract_glimpse",
    "extract_patches",
    "pad_to_bounding_box",
    "resize_with_crop_or_pad",
]
