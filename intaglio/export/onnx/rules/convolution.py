"""Convolutions and pooling: ONNX has channels first, and filters with the channels of the result first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.values import Operand, Unexportable, dims_of, is_known, rank_of
from intaglio.opdef import late, raw


class Layout:
    """Where the channels are, and the numbers of the spatial dimensions among attributes."""

    def __init__(self, rank: int, data_format: str) -> None:
        self.rank = rank
        self.first = data_format.startswith("NC") or data_format == "CHANNELS_FIRST"

    def spatial(self, sizes: Sequence[int]) -> list[int]:
        """The entries of a list with one for each dimension that belong to space."""
        part = sizes[2:] if self.first else sizes[1:-1]
        return [int(s) for s in part]

    def to_onnx(self, builder: Any, x: Operand) -> Operand:
        """The images with their channels first."""
        return (
            x if self.first else builder.transpose(x, [0, self.rank - 1, *range(1, self.rank - 1)])
        )

    def back(self, builder: Any, x: Operand) -> Operand:
        """The images as the op has them."""
        if self.first:
            return x
        return builder.add("Transpose", x, perm=[0, *range(2, self.rank), 1])


def pads(padding: str, explicit: Sequence[int], layout: Layout) -> dict[str, Any]:
    """The attributes for a padding: its name, or the sizes before and after each dimension."""
    if padding == "SAME":
        return {"auto_pad": "SAME_UPPER"}
    if padding == "VALID":
        return {"auto_pad": "VALID"}
    before = layout.spatial(list(explicit[::2]))
    after = layout.spatial(list(explicit[1::2]))
    return {"pads": [*before, *after]}


def _filter(builder: Any, filter: Operand, rank: int) -> Operand:
    """A filter with the channels of the result first, then those of the images."""
    return builder.transpose(filter, [rank - 1, rank - 2, *range(rank - 2)])


def _same_pads(
    x: Operand, filter: Operand, layout: Layout, strides: Sequence[int], dilations: Sequence[int]
) -> dict[str, Any]:
    """The sizes that SAME stands for: runtimes take the name for filters without gaps only."""
    window, dims = dims_of(filter), dims_of(x)
    before: list[int] = []
    after: list[int] = []
    places = zip(layout.spatial(strides), layout.spatial(dilations), strict=True)
    for i, (step, rate) in enumerate(places):
        size = None if dims is None else dims[i + 2 if layout.first else i + 1]
        length = None if window is None else window[i]
        if length is None or (size is None and step > 1):
            raise Unexportable("SAME of a filter with gaps, where sizes are open")
        left = 0 if size is None else (size - 1) % step  # what the last step does not need
        total = max((length - 1) * rate - left, 0)
        before.append(total // 2)
        after.append(total - total // 2)
    return {"pads": [*before, *after]}


def _convolved(
    builder: Any,
    x: Operand,
    filter: Operand,
    layout: Layout,
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: dict[str, Any],
    group: int = 1,
) -> Operand:
    if padding.get("auto_pad") == "SAME_UPPER" and max(layout.spatial(dilations), default=1) > 1:
        padding = _same_pads(x, filter, layout, strides, dilations)
    found = builder.add(
        "Conv",
        layout.to_onnx(builder, x),
        _filter(builder, filter, layout.rank),
        strides=layout.spatial(strides),
        dilations=layout.spatial(dilations) if dilations else None,
        group=group,
        **padding,
    )
    return layout.back(builder, found)


def _groups(x: Operand, filter: Operand, layout: Layout) -> int:
    """The number of groups: of the images' channels, each filter takes as many as it has."""
    dims, taken = dims_of(x), dims_of(filter)
    channels = None if dims is None else dims[1 if layout.first else -1]
    if channels is None or taken is None or taken[-2] is None:
        raise Unexportable("the number of channels must be known when the model is written")
    return channels // taken[-2]


@onnx_rule(raw.Conv2D)
def _conv2d(
    builder, input, filter, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    layout = Layout(4, data_format)
    padded = pads(padding, explicit_paddings, layout)
    group = _groups(input, filter, layout)
    return _convolved(builder, input, filter, layout, strides, dilations, padded, group)


@onnx_rule(raw.Conv3D)
def _conv3d(builder, input, filter, strides, padding, data_format, dilations) -> Any:
    layout = Layout(5, data_format)
    padded = pads(padding, (), layout)
    group = _groups(input, filter, layout)
    return _convolved(builder, input, filter, layout, strides, dilations, padded, group)


@onnx_rule(late.Conv)
def _conv(
    builder,
    input,
    filter,
    strides,
    padding,
    explicit_paddings,
    data_format,
    dilations,
    batch_dims,
    groups,
) -> Any:
    if batch_dims != 1:
        raise Unexportable("several dimensions of examples")
    layout = Layout(rank_of(filter), data_format)
    padded = pads(padding, explicit_paddings, layout)
    return _convolved(builder, input, filter, layout, strides, dilations, padded, groups)


@onnx_rule(raw.DepthwiseConv2dNative)
def _depthwise(
    builder, input, filter, strides, padding, explicit_paddings, data_format, dilations
) -> Any:
    dims = dims_of(filter)
    if dims is None or None in dims:
        raise Unexportable("the shape of the filter must be known when the model is written")
    rows, columns, channels, multiplier = (int(d or 0) for d in dims)
    layout = Layout(4, data_format)
    joined = builder.reshape(filter, np.array([rows, columns, 1, channels * multiplier]))
    if is_known(joined) and id(filter) in builder.model.labels:
        builder.model.labels[id(joined)] = builder.model.labels[id(filter)]
    joined = joined if is_known(joined) else joined._replace(dims=(rows, columns, 1, None))
    padded = pads(padding, explicit_paddings, layout)
    return _convolved(builder, input, joined, layout, strides, dilations, padded, channels)


# -- input gradients, which layers call transposed convolutions -------------------------------


def _transposed(
    builder: Any,
    sizes: Operand,
    filter: Operand,
    dy: Operand,
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: str,
    explicit: Sequence[int],
    layout: Layout,
) -> Operand:
    """The images whose convolution would have this shape: ConvTranspose, cut as the padding says."""
    window = dims_of(filter)
    if window is None or None in window:
        raise Unexportable("the shape of the filter must be known when the model is written")
    space = [int(d or 0) for d in window[: layout.rank - 2]]
    group = _input_channels(sizes, window, layout) // (window[-2] or 1)
    steps, rates = layout.spatial(strides), layout.spatial(dilations)
    whole = builder.add(
        "ConvTranspose",
        layout.to_onnx(builder, dy),
        builder.transpose(filter, [layout.rank - 1, layout.rank - 2, *range(layout.rank - 2)]),
        strides=steps,
        dilations=rates,
        group=group,
    )
    wanted = _sizes(builder, sizes, layout)
    extent = np.array([(k - 1) * d + 1 for k, d in zip(space, rates, strict=True)], np.int64)
    axes = np.arange(2, layout.rank)
    before = _before(builder, wanted, extent, np.array(steps), padding, explicit, layout)
    # Rows that no window reaches are 0 behind the last one that one does.
    zeros = np.zeros(layout.rank, np.int64)
    behind = np.array([0, 0, *steps], np.int64)
    padded = builder.add("Pad", whole, np.concatenate([zeros, behind]))
    ends = builder.add("Add", before, wanted)
    return layout.back(builder, builder.slice(padded, before, ends, axes))


def _input_channels(sizes: Operand, window: Sequence[int | None], layout: Layout) -> int:
    """The channels of the images; those that a filter takes, if the sizes do not say."""
    if is_known(sizes) and np.size(sizes) == layout.rank:
        return int(np.asarray(sizes)[1 if layout.first else -1])
    return window[-2] or 1


def _sizes(builder: Any, sizes: Operand, layout: Layout) -> Operand:
    """The spatial sizes of the images, of int64."""
    sizes = builder.int64(sizes)
    count = layout.rank - 2
    if is_known(sizes):
        found = np.asarray(sizes)
        return found if len(found) == count else np.array(layout.spatial(list(found)))
    start = 2 if layout.first else 1
    return builder.slice(sizes, np.array([start]), np.array([start + count]), np.array([0]))


def _before(
    builder: Any,
    wanted: Operand,
    extent: np.ndarray,
    steps: np.ndarray,
    padding: str,
    explicit: Sequence[int],
    layout: Layout,
) -> Operand:
    """The padding before each spatial dimension."""
    if padding == "VALID":
        return np.zeros(len(extent), np.int64)
    if padding == "EXPLICIT":
        return np.array(layout.spatial(list(explicit[::2])), np.int64)
    if is_known(wanted):
        count = -(-np.asarray(wanted) // steps)
        return np.maximum((count - 1) * steps + extent - np.asarray(wanted), 0) // 2
    up = builder.add("Add", wanted, (steps - 1).astype(np.int64))
    count = builder.add("Div", up, steps.astype(np.int64))
    reach = builder.add("Mul", count, steps.astype(np.int64))
    missing = builder.add("Sub", builder.add("Add", reach, extent - steps), wanted)
    return builder.add("Div", builder.add("Max", missing, np.zeros(1, np.int64)), np.array([2]))


@onnx_rule(raw.Conv2DBackpropInput)
def _conv2d_input(
    builder,
    input_sizes,
    filter,
    out_backprop,
    strides,
    padding,
    explicit_paddings,
    data_format,
    dilations,
) -> Any:
    layout = Layout(4, data_format)
    options = strides, dilations, padding, explicit_paddings, layout
    return _transposed(builder, input_sizes, filter, out_backprop, *options)


@onnx_rule(raw.Conv3DBackpropInputV2)
def _conv3d_input(
    builder, input_sizes, filter, out_backprop, strides, padding, data_format, dilations
) -> Any:
    layout = Layout(5, data_format)
    options = strides, dilations, padding, (), layout
    return _transposed(builder, input_sizes, filter, out_backprop, *options)


# -- pooling -----------------------------------------------------------------------------------


def _pooled(
    builder: Any, operator: str, x: Operand, ksize: Any, strides: Any, padding: Any, layout: Layout
) -> Operand:
    channel = 1 if layout.first else layout.rank - 1
    if any(int(s) != 1 for sizes in (ksize, strides) for s in (sizes[0], sizes[channel])):
        raise Unexportable("windows over examples or channels")
    found = builder.add(
        operator,
        layout.to_onnx(builder, x),
        kernel_shape=layout.spatial(ksize),
        strides=layout.spatial(strides),
        **padding,
    )
    return layout.back(builder, found)


@onnx_rule(raw.MaxPool)
def _max_pool(builder, input, ksize, strides, padding, explicit_paddings, data_format) -> Any:
    layout = Layout(4, data_format)
    padded = pads(padding, explicit_paddings, layout)
    return _pooled(builder, "MaxPool", input, ksize, strides, padded, layout)


@onnx_rule(raw.AvgPool)
def _average_pool(builder, value, ksize, strides, padding, data_format) -> Any:
    layout = Layout(4, data_format)
    return _pooled(builder, "AveragePool", value, ksize, strides, pads(padding, (), layout), layout)


@onnx_rule(raw.MaxPool3D)
def _max_pool3d(builder, input, ksize, strides, padding, data_format) -> Any:
    layout = Layout(5, data_format)
    return _pooled(builder, "MaxPool", input, ksize, strides, pads(padding, (), layout), layout)


@onnx_rule(raw.AvgPool3D)
def _average_pool3d(builder, input, ksize, strides, padding, data_format) -> Any:
    layout = Layout(5, data_format)
    return _pooled(builder, "AveragePool", input, ksize, strides, pads(padding, (), layout), layout)


# -- images ------------------------------------------------------------------------------------


def _resized(
    builder: Any, images: Operand, size: Operand, mode: str, centers: tuple[bool, bool], **more: Any
) -> Operand:
    align, half = centers
    layout = Layout(4, "NHWC")
    x = layout.to_onnx(builder, images)
    sizes = builder.concat([builder.sizes(x, [0, 1]), builder.int64(size)])
    coordinates = "align_corners" if align else "half_pixel" if half else "asymmetric"
    found = builder.add(
        "Resize",
        x,
        None,
        None,
        sizes,
        mode=mode,
        coordinate_transformation_mode=coordinates,
        **more,
    )
    return layout.back(builder, found)


@onnx_rule(raw.ResizeBilinear)
def _bilinear(builder, images, size, align_corners, half_pixel_centers) -> Any:
    centers = align_corners, half_pixel_centers
    return _resized(builder, builder.cast(images, np.float32), size, "linear", centers)


@onnx_rule(raw.ResizeNearestNeighbor)
def _nearest(builder, images, size, align_corners, half_pixel_centers) -> Any:
    centers = align_corners, half_pixel_centers
    rounding = "round_prefer_ceil" if align_corners or half_pixel_centers else "floor"
    return _resized(builder, images, size, "nearest", centers, nearest_mode=rounding)


@onnx_rule(raw.ResizeBicubic)
def _bicubic(builder, images, size, align_corners, half_pixel_centers) -> Any:
    """ONNX computes the weights, which the op takes from a table: of known sizes they are the op's."""
    if is_known(size) and shapes.known(dims_of(images)):
        raise Unexportable("weights that ONNX has not")
    centers = align_corners, half_pixel_centers
    options = {"cubic_coeff_a": -0.5 if half_pixel_centers else -0.75}
    if half_pixel_centers:
        options["exclude_outside"] = 1
    return _resized(builder, builder.cast(images, np.float32), size, "cubic", centers, **options)


@onnx_rule(raw.DepthToSpace)
def _depth_to_space(builder, input, block_size, data_format) -> Any:
    layout = Layout(4, data_format)
    x = layout.to_onnx(builder, input)
    return layout.back(builder, builder.add("DepthToSpace", x, blocksize=block_size, mode="DCR"))


@onnx_rule(raw.SpaceToDepth)
def _space_to_depth(builder, input, block_size, data_format) -> Any:
    layout = Layout(4, data_format)
    x = layout.to_onnx(builder, input)
    return layout.back(builder, builder.add("SpaceToDepth", x, blocksize=block_size))
