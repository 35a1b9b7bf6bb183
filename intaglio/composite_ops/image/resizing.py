"""Images in other sizes: `tf.image.resize` and its relatives.

Follows https://www.tensorflow.org/api_docs/python/tf/image/resize.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int32
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.image import ranks_and_sizes
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


class ResizeMethod:
    """The names of the methods of `tf.image.resize`."""

    AREA = "area"
    BICUBIC = "bicubic"
    BILINEAR = "bilinear"
    GAUSSIAN = "gaussian"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    MITCHELLCUBIC = "mitchellcubic"
    NEAREST_NEIGHBOR = "nearest"


# Methods that exist without a kernel that is stretched, and the kernel they have with one.
PLAIN = {"bilinear": "triangle", "bicubic": "keyscubic"}
KERNELS = ("gaussian", "lanczos3", "lanczos5", "mitchellcubic")


@dispatchable
def resize(
    images: Any,
    size: Any,
    method: Any = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
    name: str | None = None,
) -> Tensor:
    """Images [height, width, channels], or a batch of them, in the size (height, width).

    The result is float32, but of the images' dtype for the method "nearest". With
    `preserve_aspect_ratio` images become as large as fits; with `antialias` a smaller image
    takes all pixels into account. Raises ValueError for other ranks, sizes and methods.

    >>> tf.image.resize([[[1.0], [3.0]]], [1, 4]).numpy()[0, :, 0]
    array([1. , 1.5, 2.5, 3. ], dtype=float32)
    """
    with door.level().scoped(name or "resize"):
        x = to_tensor(images, None, "images")
        if x.dims is None:
            raise ValueError("'images' contains no shape.")
        if len(x.dims) not in (3, 4):
            raise ValueError("'images' must have either 3 or 4 dimensions.")
        batch = x if len(x.dims) == 4 else raw.ExpandDims(x, 0)
        wanted = _size(size)
        if preserve_aspect_ratio:
            wanted = _fitting(batch, wanted)
        result = _resizer(method, antialias)(batch, wanted)
        return result if len(x.dims) == 4 else raw.Squeeze(result, axis=[0])


def _size(size: Any) -> Tensor:
    try:
        if isinstance(size, (list, tuple)) and not all(isinstance(n, int) for n in size):
            if any(isinstance(n, (float, np.floating)) for n in size):
                raise TypeError
            size = lengths.vector([lengths.length(n, "size") for n in size])
        tensor = to_tensor(size, int32, "size")
    except (TypeError, ValueError):
        raise ValueError("'size' must be a 1-D int32 Tensor") from None
    if tensor.dims is not None and tensor.dims != (2,):
        raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
    return tensor


def _fitting(images: Tensor, size: Tensor) -> Tensor:
    """The largest size within `size` that has the images' aspect ratio."""
    own = raw.Cast(lengths.vector(ranks_and_sizes.sizes(images)), DstT=float32)
    scale = raw.Min(raw.Cast(size, DstT=float32) / own, np.int32(0))
    return raw.Cast(raw.Round(own * scale), DstT=int32)


def _resizer(method: Any, antialias: bool) -> Callable[[Tensor, Tensor], Any]:
    if callable(method):
        return method
    if method in PLAIN and not antialias:
        op = raw.ResizeBilinear if method == "bilinear" else raw.ResizeBicubic
        return lambda x, size: op(x, size, half_pixel_centers=True)
    if method == "nearest":
        return lambda x, size: raw.ResizeNearestNeighbor(x, size, half_pixel_centers=True)
    if method == "area":
        return lambda x, size: raw.ResizeArea(x, size)
    if method not in PLAIN and method not in KERNELS:
        raise ValueError(f"Resize method is not implemented: {method}")
    kernel = PLAIN.get(method, method)

    def translate(x: Tensor, size: Tensor) -> Tensor:
        own = raw.Cast(lengths.vector(ranks_and_sizes.sizes(x)), DstT=float32)
        scale = raw.Cast(size, DstT=float32) / own
        still = np.zeros(2, np.float32)
        return raw.ScaleAndTranslate(x, size, scale, still, kernel_type=kernel, antialias=antialias)

    return translate


@dispatchable
def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Tensor:
    """Images as large as fits into a size with their aspect ratio, zeros around them.

    `method` and `antialias` are those of `tf.image.resize`.

    >>> tf.image.resize_with_pad(tf.ones([1, 2, 1]), 4, 4).numpy()[:, 0, 0]
    array([0., 1., 1., 0.], dtype=float32)
    """

    def resized(images: Any, size: Any) -> Tensor:
        return resize(images, size, method, antialias=antialias)

    return padded_to(image, target_height, target_width, resized)


def padded_to(
    image: Any, target_height: Any, target_width: Any, resized: Callable[[Any, Any], Any]
) -> Tensor:
    """Images that `resized` makes as large as fits into a size, zeros around them."""
    with door.level().scoped("resize_image_with_pad"):
        x, rank = ranks_and_sizes.batched(image)
        ranks_and_sizes.check_positive(target_height, "target_height")
        ranks_and_sizes.check_positive(target_width, "target_width")
        sizes = ranks_and_sizes.sizes(x)
        wanted = [lengths.length(n, "size") for n in (target_height, target_width)]
        if not all(isinstance(n, int) for n in (*sizes, *wanted)):
            new, offset = _placed_in_graph(sizes, wanted)
        else:
            new, offset = _padding_and_offsets(sizes, wanted)
        result = resized(x, lengths.vector(new))
        result = ranks_and_sizes.padded(result, *offset, *wanted)
        return ranks_and_sizes.with_rank(result, rank)


def _padding_and_offsets(sizes: Any, wanted: Any) -> tuple[list[int], list[int]]:
    """The size within `wanted` and the zeros before it, in single precision."""
    own, target = np.asarray(sizes, np.float32), np.asarray(wanted, np.float32)
    size = own / (own / target).max()
    new = np.floor(size).astype(int).tolist()
    offset = np.maximum(np.floor((target - size) / np.float32(2)), 0)
    return new, offset.astype(int).tolist()


def _placed_in_graph(sizes: Any, wanted: Any) -> tuple[list[Any], list[Any]]:
    own = raw.Cast(lengths.vector(sizes), DstT=float32)
    target = raw.Cast(lengths.vector(wanted), DstT=float32)
    size = own / raw.Max(own / target, np.int32(0))
    new = raw.Cast(raw.Floor(size), DstT=int32)
    offset = raw.Floor((target - size) / np.float32(2))
    offset = raw.Cast(raw.Maximum(offset, np.float32(0)), DstT=int32)
    return list(raw.Unpack(new, num=2)), list(raw.Unpack(offset, num=2))


@dispatchable
def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
    name: str | None = None,
) -> Tensor:
    """Boxes [n, 4] (y1, x1, y2, x2, of 0 to 1) of the images `box_indices`, all in one size.

    Boxes may reach beyond the image, where `extrapolation_value` is, and may be upside
    down. The result is float32. Raises OutOfRangeError for an image that does not exist.

    `method` is "bilinear" or "nearest".

    >>> image = tf.reshape(tf.range(4.0), [1, 2, 2, 1])
    >>> tf.image.crop_and_resize(image, [[0, 0, 1, 1]], [0], [1, 1]).numpy().item()
    1.5
    """
    return raw.CropAndResize(
        image,
        boxes,
        box_indices,
        crop_size,
        method=method,
        extrapolation_value=extrapolation_value,
        name=name,
    )


__all__ = ["ResizeMethod", "crop_and_resize", "resize", "resize_with_pad"]
