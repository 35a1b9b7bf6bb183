"""Convolutions and transposed ones, of any number of spatial dimensions up to three."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    like,
    rank,
    size,
    tensor,
    transpose,
    vector,
)
from intaglio.opdef import raw


class Windows(NamedTuple):
    """What windows over spatial dimensions are: sizes, strides, dilations, and padding before and after."""

    sizes: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]


def windows(c: Any, x: Any, sizes: Sequence[int]) -> Windows:
    """The windows of a convolution or pooling over the spatial dimensions of images."""
    count = len(sizes)
    strides = c.ints("strides") or [1] * count
    dilations = c.ints("dilations") or [1] * count
    pads = c.ints("pads") or [0] * (2 * count)
    auto = c.attr("auto_pad", "NOTSET")
    if auto in ("NOTSET", ""):
        return Windows(list(sizes), strides, dilations, pads[:count], pads[count:])
    if auto == "VALID":
        return Windows(list(sizes), strides, dilations, [0] * count, [0] * count)
    before, after = [], []
    for i, extent in enumerate(dims(x)[2:]):
        reach = (sizes[i] - 1) * dilations[i] + 1
        if extent is None and strides[i] > 1:
            raise ModelError(f"auto_pad={auto} on a dimension whose size is open")
        # With a step of 1 the padding is the same for every size.
        size_here = 1 if extent is None else extent
        outputs = -(-size_here // strides[i])
        missing = max((outputs - 1) * strides[i] + reach - size_here, 0)
        less, more = missing // 2, missing - missing // 2
        before.append(less if auto == "SAME_UPPER" else more)
        after.append(more if auto == "SAME_UPPER" else less)
    return Windows(list(sizes), strides, dilations, before, after)


def padded(x: Any, w: Windows, value: Any = None) -> Any:
    """Images, channels first, with their padding."""
    if not any(w.before) and not any(w.after):
        return x
    both = np.array([[0, 0], [0, 0], *zip(w.before, w.after, strict=True)], np.int64)
    return raw.PadV2(x, both, like(0, x) if value is None else value)


def channels_last(x: Any) -> Any:
    """Images with the channels behind."""
    return transpose(x, [0, *range(2, rank(x)), 1])


def channels_first(x: Any) -> Any:
    """Images with the channels in front."""
    return transpose(x, [0, rank(x) - 1, *range(1, rank(x) - 1)])


def convolved(c: Any, x: Any, weight: Any, group: int) -> Any:
    """The convolution of images, channels first, with filters as ONNX has them."""
    sizes = dims(weight)[2:]
    if None in sizes:
        raise ModelError("the sizes of the filters must be known")
    w = windows(c, x, [int(s or 0) for s in sizes])
    x = padded(x, w)
    strides, dilations = w.strides, w.dilations
    line = rank(x) == 3
    if line:
        x, weight = raw.ExpandDims(x, 2), raw.ExpandDims(weight, 2)
        strides, dilations = [1, *strides], [1, *dilations]
    filters = transpose(weight, [*range(2, rank(weight)), 1, 0])
    op = raw.Conv2D if rank(x) == 4 else raw.Conv3D
    options: dict[str, Any] = {
        "strides": [1, *strides, 1],
        "dilations": [1, *dilations, 1],
        "padding": "VALID",
    }
    images = channels_last(x)
    if rank(x) == 4 or group == 1:
        found = op(images, filters, **options)
    else:
        parts = raw.Split(rank(x) - 1, images, num_split=group)
        kernels = raw.Split(rank(x) - 1, filters, num_split=group)
        parts_found = [op(i, k, **options) for i, k in zip(parts, kernels, strict=True)]
        found = raw.ConcatV2(parts_found, rank(x) - 1)
    found = channels_first(found)
    return raw.Squeeze(found, axis=[2]) if line else found


def with_bias(x: Any, bias: Any) -> Any:
    """Images with a number added to each channel."""
    if bias is None:
        return x
    return raw.AddV2(x, raw.Reshape(bias, np.array([-1, *[1] * (rank(x) - 2)], np.int64)))


@operator("Conv")
def _conv(c, x, weight, bias=None) -> Any:
    return with_bias(convolved(c, tensor(x), tensor(weight), c.attr("group", 1)), bias)


@operator("ConvInteger")
def _integer_conv(c, x, weight, x_zero=None, weight_zero=None) -> Any:
    x, weight = (_wide(x, x_zero, 1), _wide(weight, weight_zero, 0))
    found = convolved(c, x, weight, c.attr("group", 1))
    return cast(raw.Rint(found), dtypes.int32)


def _wide(x: Any, zero: Any, axis: int) -> Any:
    """8-bit integers without their zero point, as float64, in which sums of products are exact."""
    x = cast(tensor(x), dtypes.float64)
    if zero is None:
        return x
    zero = cast(tensor(zero), dtypes.float64)
    if rank(zero) == 1 and dims(zero)[0] != 1:
        form = [1] * rank(x)
        form[axis] = -1
        zero = raw.Reshape(zero, np.array(form, np.int64))
    elif rank(zero) == 1:
        zero = raw.Reshape(zero, np.zeros(0, np.int64))
    return raw.Sub(x, zero)


@operator("ConvTranspose")
def _conv_transpose(c, x, weight, bias=None) -> Any:
    x, weight = tensor(x), tensor(weight)
    group = c.attr("group", 1)
    line = rank(x) == 3
    count = rank(x) - 2
    sizes = [int(s or 0) for s in dims(weight)[2:]]
    strides = c.ints("strides") or [1] * count
    dilations = c.ints("dilations") or [1] * count
    more = c.ints("output_padding") or [0] * count
    extents = [(k - 1) * d + 1 for k, d in zip(sizes, dilations, strict=True)]
    whole = [_reach(size(x, 2 + i), strides[i], extents[i]) for i in range(count)]
    before, wanted = _placed(c, x, whole, strides, more)
    options = [strides, dilations, whole]
    if line:
        x, weight = raw.ExpandDims(x, 2), raw.ExpandDims(weight, 2)
        options = [[1, *strides], [1, *dilations], [1, *whole]]
    found = _scattered(x, weight, group, *options)
    found = raw.Squeeze(found, axis=[2]) if line else found
    found = _cut(found, before, wanted, whole)
    return with_bias(found, bias)


def _reach(extent: Any, stride: int, window: int) -> Any:
    """The size that the windows of a result of this size cover."""
    if isinstance(extent, int):
        return (extent - 1) * stride + window
    return raw.AddV2(raw.Mul(raw.Sub(extent, np.int64(1)), np.int64(stride)), np.int64(window))


def _placed(
    c: Any, x: Any, whole: list[Any], strides: list[int], more: list[int]
) -> tuple[list[int], list[Any]]:
    """What is cut off before, and the size of the result, for each spatial dimension."""
    count = len(whole)
    pads = c.ints("pads") or [0] * (2 * count)
    auto = c.attr("auto_pad", "NOTSET")
    shapes = c.ints("output_shape")
    before, wanted = list(pads[:count]), []
    for i in range(count):
        cut = pads[i] + pads[count + i] - more[i]
        size_here = (
            whole[i] - cut if isinstance(whole[i], int) else raw.Sub(whole[i], np.int64(cut))
        )
        if shapes is not None or auto.startswith("SAME"):
            inside = dims(x)[2 + i]
            if inside is None:
                raise ModelError("a transposed convolution to a shape, of a size that is open")
            size_here = shapes[i - len(shapes)] if shapes is not None else inside * strides[i]
            missing = whole[i] + more[i] - size_here
            before[i] = missing // 2 if auto == "SAME_UPPER" else missing - missing // 2
        wanted.append(size_here)
    return before, wanted


def _scattered(
    x: Any, weight: Any, group: int, strides: list[int], dilations: list[int], whole: list[Any]
) -> Any:
    """The input gradient of the convolution, for images that the windows just cover."""
    filters = transpose(weight, [*range(2, rank(weight)), 1, 0])
    channels = dims(filters)[-2]
    images = channels_last(x)
    op = raw.Conv2DBackpropInput if rank(x) == 4 else raw.Conv3DBackpropInputV2
    options: dict[str, Any] = {
        "strides": [1, *strides, 1],
        "dilations": [1, *dilations, 1],
        "padding": "VALID",
    }
    sizes = cast(vector([size(x, 0), *whole, channels]), dtypes.int32)
    if group == 1:
        return channels_first(op(sizes, filters, images, **options))
    parts = raw.Split(rank(x) - 1, images, num_split=group)
    kernels = raw.Split(rank(x) - 1, filters, num_split=group)
    found = [op(sizes, k, i, **options) for i, k in zip(parts, kernels, strict=True)]
    return channels_first(raw.ConcatV2(found, rank(x) - 1))


def _cut(x: Any, before: list[int], wanted: list[Any], whole: list[Any]) -> Any:
    """The part of each spatial dimension that is the result; what lies outside is 0."""
    behind = []
    for b, w, all_ in zip(before, wanted, whole, strict=True):
        known = isinstance(w, int) and isinstance(all_, int)
        behind.append(max(0, b + w - all_) if known else max(0, b))
    front = [max(0, -b) for b in before]
    if any(behind) or any(front):
        both = [[0, 0], [0, 0], *[[f, e + f] for f, e in zip(front, behind, strict=True)]]
        x = raw.Pad(x, np.array(both, np.int64))
    starts = [0, 0, *[max(0, b) for b in before]]
    sizes = vector([size(x, 0), size(x, 1), *wanted])
    return raw.Slice(x, np.array(starts, np.int64), sizes)


@operator("Col2Im")
def _columns_to_image(c, x, image, block) -> Any:
    """Blocks added up where they lie: the input gradient of taking them out."""
    from_block = c.ints("block", block)
    extents = c.ints("image", image)
    count = len(extents or [])
    strides = c.ints("strides") or [1] * count
    dilations = c.ints("dilations") or [1] * count
    pads = c.ints("pads") or [0] * (2 * count)
    x = tensor(x)
    batch, depth, places = dims(x)
    if from_block is None or extents is None:
        raise ModelError("the sizes of blocks and of the image must be known")
    area = int(np.prod(from_block))
    if batch is None or depth is None or places is None:
        raise ModelError("the shape of the columns must be known")
    whole = [e + pads[i] + pads[count + i] for i, e in enumerate(extents)]
    index = _block_positions(whole, from_block, strides, dilations)
    channels = depth // area
    columns = raw.Reshape(x, np.array([batch, channels, area, places]))
    flat = transpose(raw.Reshape(columns, np.array([batch * channels, area * places])), [1, 0])
    total = raw.UnsortedSegmentSum(flat, index.reshape(-1), np.int64(int(np.prod(whole))))
    images = raw.Reshape(transpose(total, [1, 0]), np.array([batch, channels, *whole]))
    starts = [0, 0, *pads[:count]]
    return raw.Slice(images, np.array(starts), np.array([batch, channels, *extents]))


def _block_positions(
    whole: list[int], block: list[int], strides: list[int], dilations: list[int]
) -> np.ndarray:
    """The number in the flat image of each element of each block: [block, places]."""
    index = np.zeros((1, 1), np.int64)
    for extent, size_, stride, rate in zip(whole, block, strides, dilations, strict=True):
        starts = np.arange((extent - (size_ - 1) * rate - 1) // stride + 1) * stride
        along = np.arange(size_)[:, None] * rate + starts
        index = index[:, None, :, None] * extent + along[None, :, None, :]
        index = index.reshape(index.shape[0] * index.shape[1], -1)
    return index
