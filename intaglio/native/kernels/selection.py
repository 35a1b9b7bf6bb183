"""Selection of the kernels of convolutions and pooling, by geometry and dtype."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from intaglio.base import later
from intaglio.native.kernels import convolution, im2col, matmul
from intaglio.native.kernels.convolution import Geometry
from intaglio.native.kernels.pooling_epilogue import Pooling
from intaglio.native.kernels.sequence import Chain, Rounding
from intaglio.native.kernels.tap_convolution import flags_of, guarded, then_taps
from intaglio.native.kernels.windows import Windows
from intaglio.native.kernels.winograd_transforms import F2_TRANSFORM, F4_TRANSFORM, Transform
from intaglio.ops.nn.convolution import plan_of
from intaglio.ops.nn.convolution_by_taps import multiplies_padding
from intaglio.ops.nn.pooling_kernels import plan
from intaglio.ops.nn.windows import Axis

if TYPE_CHECKING:
    from intaglio.native.kernels import (
        col2im,
        depthwise_convolution,
        grouped_convolution,
        narrow_convolution,
        narrow_matmul,
        pooling,
        strided_input_gradient,
        volume_pooling,
        winograd,
        winograd_filter_gradient,
        winograd_pooling,
    )
else:  # the first convolution of a program does not wait for the modules of other kernels
    col2im, depthwise_convolution, grouped_convolution, narrow_convolution, narrow_matmul = (
        later.Module(f"intaglio.native.kernels.{name}")
        for name in (
            "col2im",
            "depthwise_convolution",
            "grouped_convolution",
            "narrow_convolution",
            "narrow_matmul",
        )
    )
    (
        pooling,
        strided_input_gradient,
        volume_pooling,
        winograd,
        winograd_filter_gradient,
        winograd_pooling,
    ) = (
        later.Module(f"intaglio.native.kernels.{name}")
        for name in (
            "pooling",
            "strided_input_gradient",
            "volume_pooling",
            "winograd",
            "winograd_filter_gradient",
            "winograd_pooling",
        )
    )

# Convolutions of so few pixels, and 1x1 convolutions, are matrix products if they have so many
# channels times filters.
MAX_PIXELS_AS_PRODUCT = 200
MIN_CHANNEL_PAIRS = 1 << 18
# Images of so few channels do not fill the lanes of a vector.
MAX_DIRECT_CHANNELS = 8

Run = Callable[..., Any]
Along = tuple[Axis, ...]
# Selects a kernel by the shapes of images and filters and the axes of the windows.
Selection = Callable[[tuple[int, ...], tuple[int, ...], Along], Run | None]


def along_of(attrs: dict[str, Any], x: tuple[int, ...], filters: tuple[int, ...]) -> Along | None:
    """The geometry of filters over images, or volumes, in the layout of the kernels."""
    rank, layout = len(x), attrs["data_format"]
    if layout not in ("NHWC", "NDHWC") or len(layout) != rank or len(filters) != rank:
        return None
    sliding = plan_of(
        rank,
        attrs["strides"],
        attrs["padding"],
        layout,
        attrs["dilations"],
        attrs.get("explicit_paddings", ()),
    )
    return sliding.axes(x[1:-1], filters[:-2])


def pooled(attrs: dict[str, Any], x: tuple[int, ...]) -> Along:
    """The axes of a pooling op's windows over images of a shape."""
    return plan(
        x,
        attrs["ksize"],
        attrs["strides"],
        attrs["padding"],
        attrs["data_format"],
        attrs.get("explicit_paddings", ()),
    )


def geometry(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Geometry | None:
    """The geometry of a convolution of images or volumes; None if no kernel supports it."""
    if len(along) not in (2, 3) or x[-1] != filters[-2]:
        return None
    one = Axis(1, 1, 1, 1, 0, 0, 1)
    deep, down, across = (*(one,) * (3 - len(along)), *along)
    return Geometry(
        x[0], down.size, across.size, x[-1], down.out, across.out, filters[-1],
        down.window, across.window, down.stride, across.stride, down.before, across.before,
        down.dilation, across.dilation, len(along) == 3,
        deep.size, deep.out, deep.window, deep.stride, deep.before, deep.dilation,
    )  # fmt: skip


def worthwhile(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Geometry | None:
    """The geometry, unless products of matrices are faster."""
    g = geometry(x, filters, along)
    return None if g is None or _is_for_products(g) else g


def _is_for_products(g: Geometry) -> bool:
    """True for few pixels of many channels."""
    pixels = g.images * g.out_depth * g.out_height * g.out_width
    one = math.prod(g.window) == 1
    many = g.channels * g.filters >= MIN_CHANNEL_PAIRS
    return many and (one or pixels <= MAX_PIXELS_AS_PRODUCT)


def windows(along: Along) -> Windows | None:
    """The windows of a pooling op that slide over rows and columns only."""
    if len(along) != 4 or along[0].moves or along[3].moves:
        return None
    batch, down, across, channels = along
    return Windows(
        batch.size,
        down.size,
        across.size,
        channels.size,
        down.out,
        across.out,
        down.window,
        across.window,
        down.stride,
        across.stride,
        down.before,
        across.before,
    )


def finished(g: Geometry, relu: bool, ending: Pooling | None = None) -> Run | None:
    """(images, filters, bias) to the convolution with its bias, with relu if `relu`.

    With an `ending` the result is pooled, and the results that it selects are returned as a list.
    """

    def by_tiles(transform: Transform) -> Run | None:
        if ending is not None:
            return winograd_pooling.forward(g, ending, transform, relu)
        return winograd.forward(g, transform, biased=True, relu=relu)

    run = _transformed(g, by_tiles)
    pixels = _is_product(g) or im2col.skips(g)
    if run is None and pixels and g.channels > matmul.BLOCK_BYTES:
        return None  # without tiles it is a product, whose sums are computed in blocks
    if run is not None:
        return run
    if ending is not None:
        return convolution.pooled(
            g, relu, ending, functools.partial(_pooled_guard, g, relu, ending)
        )
    run = convolution.finished(g, relu)
    if not g.padded:
        return run
    return guarded(run, "forward", g, by_filters=True, biased=True, relu=relu)


def _pooled_guard(
    g: Geometry, relu: bool, ending: Pooling, chain: Chain, arrays: Sequence[int]
) -> None:
    """Adds to a chain what overwrites pooled results if filters are not all finite."""
    if g.padded:
        flags = flags_of(chain, 1, math.prod(g.window) * g.channels * g.filters, np.float32)
        then_taps(chain, "pooled", g, flags, arrays, relu=relu, pooling=ending)


def _transformed(g: Geometry, make: Callable[[Transform], Run | None]) -> Run | None:
    """The result of `make` for a Winograd transform that is faster than direct sums, if one is.

    A faster and less accurate one replaces it while the program's options allow that.
    """
    exact = make(F2_TRANSFORM) if winograd.is_profitable(g) else None
    if exact is None or not winograd.is_profitable(g, F4_TRANSFORM):
        return exact
    fast = functools.cache(lambda: make(F4_TRANSFORM) or exact)
    return Rounding(exact, fast)


def _is_product(g: Geometry) -> bool:
    """True for 1x1 windows without strides or padding."""
    steps = (*g.window, g.stride_z, g.stride_y, g.stride_x)
    outside = (g.front, g.top, g.left)
    same = (g.depth, g.height, g.width) == (g.out_depth, g.out_height, g.out_width)
    return same and {*steps} == {1} and {*outside} == {0}


def _products_of_pixels(g: Geometry, backwards: bool) -> Run | None:
    """The convolution, or its input gradient, as one product of matrices."""
    pixels = g.images * g.depth * g.height * g.width
    filters = (g.channels, g.filters)
    if not backwards:
        return matmul.product((pixels, g.channels), filters, shape=g.shape)
    shape = (*g.shape[:-1], g.channels)
    run = matmul.product((pixels, g.filters), filters, transpose_b=True, shape=shape)
    if run is None:
        return None
    chain = Chain(2)
    (product,) = chain.then(run, 1, 0)
    return chain.returning(product)


def _or_in_groups(name: str, dtype: Any, single: bool = True) -> Callable[[Selection], Selection]:
    """The decorator that extends the selection of ungrouped convolutions, or gradients, to grouped
    ones: by the function `name` of `grouped_convolution`, or of `depthwise_convolution` if groups
    of one channel have a kernel there (`single`)."""

    def decorate(whole: Selection) -> Selection:
        @functools.wraps(whole)
        def choose(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
            *window, inner, outputs = filters
            count = x[-1] // inner if inner else 0
            if count < 2:
                return whole(x, filters, along)
            dense = (*window, x[-1], outputs)
            g = geometry(x, dense, along)
            if g is None or g.empty or x[-1] % inner or outputs % count:
                return None
            if inner > 1 or g.solid or not single:
                grouped: Callable[..., Run | None] = getattr(grouped_convolution, name)
                return grouped(g, count, dtype, lambda: whole(x, dense, along))
            run = _depthwise(name)(x, (*window, count, outputs // count), along)
            return run and _shaped(run, filters) if name == "filter_gradient" else run

        return choose

    return decorate


def _shaped(run: Run, shape: tuple[int, ...]) -> Run:
    """A kernel of two arrays with another shape of its result."""
    chain = Chain(2)
    (result,) = chain.then(run, 0, 1, shape=shape)
    return chain.returning(result)


@_or_in_groups("forward", np.float32)
def forward(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
    """The convolution of images by filters."""
    g = geometry(x, filters, along)
    if g is None:
        return None
    if _is_product(g):
        return _products_of_pixels(g, backwards=False)
    if im2col.skips(g) or _is_for_products(g):
        run = im2col.forward(g)
    else:
        run = _transformed(g, lambda transform: winograd.forward(g, transform))
        if run is not None:
            return run
        run = convolution.forward(g)
    return guarded(run, "forward", g, by_filters=True) if g.padded else run


@_or_in_groups("filter_gradient", np.float32)
def filter_gradient(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
    """The gradient of the convolution with respect to its filters."""
    g = geometry(x, filters, along)
    if g is None:
        return None
    if _is_product(g):
        pixels, shape = math.prod(g.shape[:-1]), (*g.window, *filters[-2:])
        left, right = (pixels, g.channels), (pixels, g.filters)
        return matmul.product(left, right, transpose_a=True, shape=shape)
    if im2col.skips(g):
        return im2col.filter_gradient(g)
    transformed = None
    if _is_for_products(g):
        run = im2col.filter_gradient(g)
    else:
        if g.filters >= winograd.MIN_CHANNELS:
            transformed = _transformed(g, lambda t: winograd_filter_gradient.filter_gradient(g, t))
        run = transformed or convolution.filter_gradient(g)
    return guarded(run, "filter_gradient", g) if transformed or g.padded else run


@_or_in_groups("input_gradient", np.float32)
def input_gradient(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
    """The gradient of the convolution with respect to its images."""
    g = geometry(x, filters, along)
    if g is None:
        return None
    if _is_product(g):
        return _products_of_pixels(g, backwards=True)
    if _is_for_products(g):
        return col2im.input_gradient(g)
    opposite, run = convolution.transposed(g), None
    if opposite is not None:
        run = _transformed(opposite, lambda t: winograd.input_gradient(g, t))
    return run or _images_per_thread(g)


def _images_per_thread(g: Geometry, dtype: Any = np.float32) -> Run | None:
    """The input gradient by col2im, for strides and few channels.

    A convolution with rotated filters would have few columns there, and leave most lanes idle.
    """
    strides = (g.stride_z, g.stride_y, g.stride_x) != (1, 1, 1)
    run = None
    if strides or g.channels <= MAX_DIRECT_CHANNELS:
        run = col2im.input_gradient(g, dtype)
    by_pixels = (
        strided_input_gradient.input_gradient_by_phases if strides else convolution.input_gradient
    )
    return run or guarded(by_pixels(g, dtype), "input_gradient", g, dtype, by_filters=True)


def _doubled(*variants: Callable[..., Run | None]) -> Selection:
    """Convolutions of float64, by the first variant that has a kernel."""

    def choose(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
        g = geometry(x, filters, along)
        if g is None:
            return None
        kernels = (variant(g, np.float64) for variant in variants)
        return next((run for run in kernels if run is not None), None)

    return choose


def _short(
    variant: Callable[[Geometry, narrow_matmul.Form, Any], Run | None], operand: int
) -> Callable[..., Run | None]:
    """Convolutions of 16-bit floats where the processor multiplies such matrices; 1x1 ones as one
    product. `operand` is the index of the operand that the result is the gradient of, or 2."""

    def choose(
        dtype: Any, x: tuple[int, ...], filters: tuple[int, ...], along: Along
    ) -> Run | None:
        g, form = geometry(x, filters, along), narrow_matmul.short_form(dtype)
        if g is None or form is None:
            return None
        if not _is_product(g):
            return variant(g, form, dtype)
        pixels, matrix = math.prod(g.shape[:-1]), (g.channels, g.filters)
        if operand == 2:
            left = (pixels, g.channels)
            return narrow_matmul.product(left, matrix, False, False, form, dtype, g.shape)
        right = (pixels, g.filters)
        if operand == 1:
            shape = (*g.window, *matrix)
            left = (pixels, g.channels)
            return narrow_matmul.product(left, right, True, False, form, dtype, shape)
        run = narrow_matmul.product(right, matrix, False, True, form, dtype, x)
        if run is None:
            return None
        chain = Chain(2)
        (product,) = chain.then(run, 1, 0)
        return chain.returning(product)

    return choose


def _short_convolution(g: Geometry, form: narrow_matmul.Form, dtype: Any) -> Run | None:
    run = narrow_convolution.forward(g, form, dtype)
    if multiplies_padding(dtype) or not g.padded:
        return run
    return guarded(run, "forward", g, dtype, by_filters=True)


def _short_filter_gradient(g: Geometry, form: narrow_matmul.Form, dtype: Any) -> Run | None:
    run = narrow_convolution.filter_gradient(g, form, dtype)
    if multiplies_padding(dtype) or not g.padded:
        return run
    return guarded(run, "filter_gradient", g, dtype)


def _short_input_gradient(g: Geometry, form: narrow_matmul.Form, dtype: Any) -> Run | None:
    if g.channels <= MAX_DIRECT_CHANNELS:
        return None
    run = narrow_convolution.input_gradient(g, form, dtype)
    return guarded(run, "input_gradient", g, dtype, by_filters=True)


def _strided_input_gradient(g: Geometry, dtype: Any) -> Run | None:
    return im2col.forward(g, dtype) if im2col.skips(g) else None


def _strided_filter_gradient(g: Geometry, dtype: Any) -> Run | None:
    return im2col.filter_gradient(g, dtype) if im2col.skips(g) else None


def pooled_windows(name: str, along: Along) -> Run | None:
    """The kernel of a pooling op, `maximum` or `mean`, or of its gradient."""
    if len(along) == 5:
        return volume_pooling.volumes(name, along)
    w = windows(along)
    return None if w is None else pooling.pooling(name, w)


def _depthwise(name: str) -> Selection:
    """Depthwise convolutions, or gradients, by the function of that name in
    `depthwise_convolution`."""

    def choose(x: tuple[int, ...], filters: tuple[int, ...], along: Along) -> Run | None:
        g = geometry(x, filters, along)
        if g is None or g.solid or not filters[3]:
            return None
        make: Callable[[Windows], Run | None] = getattr(depthwise_convolution, name)
        return depthwise_convolution.with_multiplier(make, Windows(*g[:6], *g[7:15]), filters[3])

    return choose


doubled_forward = _or_in_groups("forward", np.float64, single=False)(
    _doubled(_strided_input_gradient, convolution.forward)
)
doubled_filter_gradient = _or_in_groups("filter_gradient", np.float64, single=False)(
    _doubled(_strided_filter_gradient, convolution.filter_gradient)
)
doubled_input_gradient = _or_in_groups("input_gradient", np.float64, single=False)(
    _doubled(_images_per_thread)
)
short_forward = _short(_short_convolution, 2)
short_filter_gradient = _short(_short_filter_gradient, 1)
short_input_gradient = _short(_short_input_gradient, 0)
depthwise_forward = _depthwise("forward")
depthwise_filter_gradient = _depthwise("filter_gradient")
depthwise_input_gradient = _depthwise("input_gradient")
