"""How images differ, and how they change from pixel to pixel.

Follows https://www.tensorflow.org/api_docs/python/tf/image/ssim and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.base.errors import invalid_argument
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.image.color import convert_image_dtype
from intaglio.composite_ops.math.casting import cast
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _shifted(x: Tensor, axis: int) -> Tensor:
    """The differences of neighbours along an axis counted from the end."""
    begin, end = [0] * -axis, [0] * -axis
    begin[axis] = 1
    later = raw.StridedSlice(
        x,
        [0, *begin],
        [0, *end],
        [1] * (1 - axis),
        ellipsis_mask=1,
        begin_mask=_all_but(axis),
        end_mask=_all(axis),
    )
    begin[axis], end[axis] = 0, -1
    former = raw.StridedSlice(
        x,
        [0, *begin],
        [0, *end],
        [1] * (1 - axis),
        ellipsis_mask=1,
        begin_mask=_all(axis),
        end_mask=_all_but(axis),
    )
    return later - former


def _all(axis: int) -> int:
    return sum(1 << i for i in range(1, 1 - axis))


def _all_but(axis: int) -> int:
    return _all(axis) - 2


@dispatchable
def total_variation(images: Any, name: str | None = None) -> Tensor:
    """The sum of the absolute differences of neighbours: of an image, or of each in a batch.

    >>> tf.image.total_variation([[[1.0], [3.0]], [[2.0], [3.0]]]).numpy().item()
    4.0
    """
    with door.level().scoped(name or "total_variation") as scope:
        x = to_tensor(images, None, "images")
        if x.dims is None or len(x.dims) not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        axes = np.asarray([-3, -2, -1], np.int32)
        down = raw.Sum(raw.Abs(_shifted(x, -3)), axes)
        across = raw.Sum(raw.Abs(_shifted(x, -2)), axes)
        return raw.AddV2(down, across, name=scope)


@dispatchable
def image_gradients(image: Any) -> tuple[Tensor, Tensor]:
    """The differences (dy, dx) to the next row and column of a batch; 0 for the last ones.

    >>> dy, dx = tf.image.image_gradients([[[[1.0], [3.0]]]])
    >>> dx.numpy()[0, 0, :, 0]
    array([2., 0.], dtype=float32)
    """
    x = to_tensor(image, None, "image")
    if x.dims is not None and len(x.dims) != 4:
        raise ValueError(
            f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {x.shape}."
        )
    down = raw.Pad(_shifted(x, -3), [[0, 0], [0, 1], [0, 0], [0, 0]])
    across = raw.Pad(_shifted(x, -2), [[0, 0], [0, 0], [0, 1], [0, 0]])
    return down, across


def _part(x: Tensor, axis: int, first: int, last: int) -> Tensor:
    """The elements from `first` to before `last` (0: the end) of a batch's axis."""
    begin, end = [0] * 4, [0] * 4
    begin[axis], end[axis] = first, last
    whole = 15 - (1 << axis)
    return raw.StridedSlice(
        x, begin, end, [1] * 4, begin_mask=whole, end_mask=whole | ((1 << axis) if last == 0 else 0)
    )


def _smooth_and_step(x: Tensor, smooth: int, step: int) -> Tensor:
    """Sobel's filter: 1 2 1 along an axis, -1 0 1 along the other."""
    middle = _part(x, smooth, 1, -1)
    soft = _part(x, smooth, 0, -2) + middle + middle + _part(x, smooth, 2, 0)
    return _part(soft, step, 2, 0) - _part(soft, step, 0, -2)


@dispatchable
def sobel_edges(image: Any) -> Tensor:
    """Edges by Sobel's filters: a batch [n, h, w, d] becomes [n, h, w, d, 2] (dy, dx).

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> tf.image.sobel_edges(image).numpy()[0, 1, 1, 0]
    array([24.,  8.], dtype=float32)
    """
    x = to_tensor(image, None, "image")
    padded = raw.MirrorPad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    down, across = _smooth_and_step(padded, 2, 1), _smooth_and_step(padded, 1, 2)
    return raw.Pack([down, across], axis=-1)


# -- likeness --------------------------------------------------------------------------


def _pair(first: Any, second: Any, max_val: Any) -> tuple[Tensor, Tensor, Tensor]:
    """Both images as floats, and what is white in them. Raises ValueError."""
    a, b = to_tensor(first, None, "a"), to_tensor(second, None, "b")
    for x in (a, b):
        if x.dims is not None and len(x.dims) < 3:
            raise ValueError(f"images must have at least 3 dimensions, not {x.shape}")
    if not a.shape.is_compatible_with(b.shape):
        raise ValueError(f"Shapes {a.shape} and {b.shape} are incompatible")
    white = convert_image_dtype(cast(max_val, a.dtype), float32)
    return convert_image_dtype(a, float32), convert_image_dtype(b, float32), white


@dispatchable
def psnr(a: Any, b: Any, max_val: Any, name: str | None = None) -> Tensor:
    """The peak signal-to-noise ratio of images, in decibels; `max_val` is white.

    >>> tf.image.psnr(tf.ones([1, 1, 3]), tf.zeros([1, 1, 3]), 10.0).numpy().item()
    20.0
    """
    with door.level().scoped(name or "PSNR") as scope:
        first, second, white = _pair(a, b, max_val)
        error = raw.SquaredDifference(first, second)
        lead = raw.StridedSlice(raw.Shape(error), [0], [-3], [1], begin_mask=1)
        error = raw.Reshape(error, raw.ConcatV2([lead, [-1]], 0))
        error = raw.Mean(error, np.asarray([-1], np.int32))
        ten = np.float32(np.log(10))
        peak = raw.Log(white) * np.float32(20) / ten
        return raw.Sub(peak, np.float32(10 / np.log(10)) * raw.Log(error), name=scope)


def _gaussian(size: int, sigma: float) -> np.ndarray:
    """A Gaussian filter along one axis, whose sum is 1."""
    at = np.arange(size) - (size - 1) / 2
    weights = np.exp(np.square(at) * (-0.5 / sigma**2))
    return (weights / weights.sum()).astype(np.float32)


def _per_channel(
    first: Tensor, second: Tensor, white: Tensor, plan: tuple[int, float, float, float]
) -> tuple[Tensor, Tensor]:
    """Likeness, and its part without brightness, around every pixel of every channel.

    A Gaussian is the product of one down and one across: two depthwise convolutions of the four
    maps that are smoothed, whose channels stand side by side.
    """
    size, sigma, k1, k2 = plan
    for x in (first, second):
        if x.dims is not None and any(d is not None and d < size for d in x.dims[-3:-1]):
            error = invalid_argument if door.level().eager else ValueError
            raise error(f"images must be at least as large as the filter: {size}, not {x.shape}")
    lead = lengths.leading(first, 3)
    channels = lengths.of_axis(first, -1)
    first, second = (_flat(x) for x in (first, second))
    squares = raw.Square(first) + raw.Square(second)
    maps = raw.ConcatV2([first, second, first * second, squares], -1)
    weights = raw.BroadcastTo(
        _gaussian(size, sigma).reshape(size, 1, 1, 1), lengths.vector([size, 1, channels * 4, 1])
    )
    one: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "VALID"}
    maps = raw.DepthwiseConv2dNative(maps, weights, **one)
    across = raw.Transpose(weights, np.asarray([1, 0, 2, 3], np.int32))
    maps = raw.DepthwiseConv2dNative(maps, across, **one)
    one_mean, other_mean, shared, own = raw.Split(np.int32(-1), maps, num_split=4)
    bright = raw.Square(np.float32(k1) * white)
    varied = raw.Square(np.float32(k2) * white)
    product = one_mean * other_mean * 2
    squares = raw.Square(one_mean) + raw.Square(other_mean)
    luminance = (product + bright) / (squares + bright)
    structure = (shared * 2 - product + varied) / (own - squares + varied)
    plane = [lengths.of_axis(structure, axis) for axis in (-3, -2)]

    def shaped(x: Tensor) -> Tensor:
        return lengths.reshaped(x, lead, [*plane, channels])

    return shaped(luminance * structure), shaped(structure)


@dispatchable
def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Tensor:
    """The structural similarity of images [..., height, width, channels]: 1 if they are equal.

    With `return_index_map` one value for every position of the filter. Raises ValueError for
    images smaller than the filter.

    Neighbourhoods are weighted by a Gaussian of `filter_size` pixels and deviation `filter_sigma`;
    `k1` and `k2` are the constants of the method.

    >>> tf.image.ssim(tf.ones([11, 11, 1]), tf.ones([11, 11, 1]), 1.0).numpy().item()
    1.0
    """
    with door.level().scoped("SSIM"):
        first, second, white = _pair(img1, img2, max_val)
        plan = (filter_size, filter_sigma, k1, k2)
        likeness, _ = _per_channel(first, second, white, plan)
        axes = [-1] if return_index_map else [-3, -2, -1]
        return raw.Mean(likeness, np.asarray(axes, np.int32))


# The weights of the five scales, by Wang, Simoncelli and Bovik (2003).
WEIGHTS = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def _halved(x: Tensor) -> Tensor:
    """A batch of images of half the size: means of four pixels, the edge repeated."""
    odd = [n % 2 for n in (lengths.of_axis(x, -3), lengths.of_axis(x, -2))]
    if any(not isinstance(n, int) or n for n in odd):
        pairs = lengths.vector([0, 0, 0, odd[0], 0, odd[1], 0, 0])
        x = raw.MirrorPad(x, raw.Reshape(pairs, [4, 2]), mode="SYMMETRIC")
    two = [1, 2, 2, 1]
    return raw.AvgPool(x, ksize=two, strides=two, padding="VALID")


@dispatchable
def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = WEIGHTS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Tensor:
    """The structural similarity at several scales, each half as large as the one before.

    `power_factors` has a weight for each scale; negative similarities
    count as 0.

    Neighbourhoods are weighted by a Gaussian of `filter_size` pixels and deviation `filter_sigma`;
    `k1` and `k2` are the constants of the method.

    >>> image = tf.ones([16, 16, 1])
    >>> tf.image.ssim_multiscale(image, image, 1.0, power_factors=(0.5, 0.5), filter_size=4).numpy().item()
    1.0
    """
    with door.level().scoped("MS-SSIM"):
        first, second, white = _pair(img1, img2, max_val)
        lead = raw.StridedSlice(raw.Shape(first), [0], [-3], [1], begin_mask=1)
        plan = (filter_size, filter_sigma, k1, k2)
        axes, found = np.asarray([-3, -2], np.int32), []
        scales = len(power_factors)
        for scale in range(scales):
            if scale:
                first, second = (_halved(_flat(x)) for x in (first, second))
            whole, part = _per_channel(first, second, white, plan)
            kept = raw.Mean(whole if scale == scales - 1 else part, axes)
            tail = raw.StridedSlice(raw.Shape(kept), [-1], [0], [1], end_mask=1)
            kept = raw.Reshape(kept, raw.ConcatV2([lead, tail], 0))
            found.append(raw.Relu(kept))
        weights = np.asarray(power_factors, np.float32)
        powers = raw.Pow(raw.Pack(found, axis=-1), weights)
        likeness = raw.Prod(powers, np.asarray([-1], np.int32))
        return raw.Mean(likeness, np.asarray([-1], np.int32))


def _flat(x: Tensor) -> Tensor:
    """Images as one batch."""
    if x.dims is not None and len(x.dims) == 4:
        return x
    tail = raw.StridedSlice(raw.Shape(x), [-3], [0], [1], end_mask=1)
    return raw.Reshape(x, raw.ConcatV2([[-1], tail], 0))


__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale", "total_variation"]
