"""Colours: contrast, hue, saturation, and RGB to HSV and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, DType, float16, float32
from intaglio.base.errors import FailedPreconditionError, ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.machine_code import exact_kernel
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant

# Pixels that are computed at a time: intermediate results fit into the processor's cache.
CHUNK_PIXELS = 1 << 14


# The cost of a pixel without machine code, in units of `machine_code.MIN_TOTAL_WORK`.
WORK_PER_PIXEL = 60


def in_chunks(function: Any, pixels: np.ndarray, name: str = "", number: Any = 0.0) -> np.ndarray:
    """`function(red, green, blue)` -> three planes, for pixels [..., 3] of any dtype.

    Half precision is computed in single. `name` and `number` are those of the kernel that computes the
    same, if there is one.
    """
    dtype = pixels.dtype
    if name and dtype == np.float32 and pixels.size:
        run = exact_kernel("colors", WORK_PER_PIXEL * pixels.size, name)
        if run is not None:
            return run(pixels, float(number))
    wide = np.dtype(np.float32) if dtype.itemsize == 2 else dtype
    result = np.empty_like(pixels, order="C")
    flat, out = pixels.reshape(-1, 3), result.reshape(-1, 3)
    for start in range(0, len(flat), CHUNK_PIXELS):
        planes = flat[start : start + CHUNK_PIXELS].T.astype(wide, order="C")
        channels = function(*planes)
        for channel, plane in enumerate(channels):
            out[start : start + CHUNK_PIXELS, channel] = plane
    return result


def hue_of(red: Any, green: Any, blue: Any, value: Any, span: Any) -> Any:
    """The hue of RGB planes whose largest channel is `value`, `span` above the smallest."""
    one = red.dtype.type
    step = one(1) / (one(6) * np.where(span > 0, span, 1))
    hue = np.where(
        red == value,
        step * (green - blue),
        np.where(
            green == value, step * (blue - red) + one(2 / 6), step * (red - green) + one(4 / 6)
        ),
    )
    hue = np.where(span > 0, hue, one(0))
    return np.where(hue < 0, hue + one(1), hue)


def hsv_of(red: Any, green: Any, blue: Any) -> tuple[Any, Any, Any]:
    """Hue, saturation and value of RGB planes."""
    value = np.maximum(np.maximum(red, green), blue)
    span = value - np.minimum(np.minimum(red, green), blue)
    light = value > 0
    saturation = np.where(light, span / np.where(light, value, 1), value.dtype.type(0))
    return hue_of(red, green, blue, value, span), saturation, value


def ramps_of(hue: Any) -> tuple[Any, Any, Any]:
    """How far each channel of a hue's purest colour is up from the smallest to the largest."""
    one = hue.dtype.type
    sixths = hue * one(6)
    return (
        np.clip(np.abs(sixths - one(3)) - one(1), 0, 1),
        np.clip(one(2) - np.abs(sixths - one(2)), 0, 1),
        np.clip(one(2) - np.abs(sixths - one(4)), 0, 1),
    )


def rgb_of(hue: Any, saturation: Any, value: Any) -> tuple[Any, Any, Any]:
    """Red, green and blue of HSV planes."""
    red, green, blue = ramps_of(hue)
    rest = value.dtype.type(1) - saturation
    return (
        (rest + saturation * red) * value,
        (rest + saturation * green) * value,
        (rest + saturation * blue) * value,
    )


class ColorSpace(Op):
    """Images [..., 3] in another colour space."""

    signature = "images: T -> output: T"
    T: tuple[DType, ...] = FLOATING
    convert: Any = None
    space: str = ""
    batching = "leading"

    def infer(self, images: Spec) -> Spec:
        shape = images.shape
        if shape is not None:
            if not shape:
                raise ShapeError(
                    "Shape must be at least rank 1 but is rank 0", "input must be at least 1D[]"
                )
            if shape[-1] not in (None, 3):
                raise ShapeError(f"Dimension must be 3 but is {shape[-1]}")
            shape = (*shape[:-1], 3)
        return Spec(images.dtype, shape)

    def kernel(self, images):
        if images.ndim < 1:
            raise invalid_argument("input must be at least 1D[]")
        if images.shape[-1] != 3:
            raise FailedPreconditionError(
                None,
                None,
                f"input must have 3 channels but input only has {images.shape[-1]} channels.",
            )
        return in_chunks(self.convert, images, self.space)


@op
class RGBToHSV(ColorSpace):
    """Hue, saturation and value of colours, each in [0, 1]."""

    convert = staticmethod(hsv_of)
    space = "hsv"

    def gradient(self, images, output, doutput) -> Any:
        """The gradient depends on which channel is the largest and which the smallest."""
        zero = constant(0, images)
        red, green, blue = _planes(images)
        by_hue, by_saturation, by_value = _planes(doutput)
        value = raw.Unpack(output, num=3, axis=-1)[2]
        least = raw.Minimum(raw.Minimum(red, green), blue)
        span = raw.Sub(value, least)
        # The first channel that is largest, the last that is smallest: one of each.
        is_red = raw.Equal(red, value)
        is_green = raw.LogicalAnd(raw.Equal(green, value), raw.LogicalNot(is_red))
        is_blue = raw.LogicalNot(raw.LogicalOr(is_red, is_green))
        no_blue = raw.Equal(blue, least)
        no_green = raw.LogicalAnd(raw.Equal(green, least), raw.LogicalNot(no_blue))
        no_red = raw.LogicalNot(raw.LogicalOr(no_blue, no_green))
        most = [raw.Cast(m, DstT=images.dtype) for m in (is_red, is_green, is_blue)]
        fewest = [raw.Cast(m, DstT=images.dtype) for m in (no_red, no_green, no_blue)]
        # value = most; saturation = span / most; hue = turn + difference / (6 span).
        square = raw.Square(value)
        to_most = raw.AddV2(by_value, raw.Mul(by_saturation, raw.DivNoNan(least, square)))
        to_least = raw.Neg(raw.DivNoNan(by_saturation, value))
        sixth = raw.DivNoNan(by_hue, raw.Mul(constant(6, images), span))
        pairs = ((green, blue), (blue, red), (red, green))
        difference = zero
        for mark, (first, second) in zip(most, pairs, strict=True):
            difference = raw.AddV2(difference, raw.Mul(mark, raw.Sub(first, second)))
        to_span = raw.Neg(raw.Mul(sixth, raw.DivNoNan(difference, span)))
        to_most, to_least = raw.AddV2(to_most, to_span), raw.Sub(to_least, to_span)
        gradients: list[Any] = []
        for i in range(3):
            # Channel i comes first in the pair of the channel before it, second in the next.
            sign = raw.Sub(most[(i + 2) % 3], most[(i + 1) % 3])
            whole = raw.Mul(sixth, sign)
            whole = raw.AddV2(whole, raw.Mul(to_most, most[i]))
            gradients.append(raw.AddV2(whole, raw.Mul(to_least, fewest[i])))
        return raw.Pack(gradients, axis=-1)


def _planes(images: Any) -> Any:
    return raw.Unpack(images, num=3, axis=-1)


@op
class HSVToRGB(ColorSpace):
    """Red, green and blue of hues, saturations and values."""

    convert = staticmethod(rgb_of)
    space = "rgb"
    differentiable = False


# -- adjustments -----------------------------------------------------------------------


class Adjustment(Op):
    """Images [..., height, width, channels] changed by one number."""

    T: tuple[DType, ...] = (float16, float32)
    batching = "leading"

    def infer(self, images: Spec) -> Spec:
        if images.rank is not None and images.rank < 3:
            raise ShapeError(
                f"Shape must be at least rank 3 but is rank {images.rank}",
                f"input must be at least 3-D, got shape{list(images.shape or ())}",
            )
        return Spec(images.dtype, images.shape)


def _check(images: Any, number: Any, name: str, channels: int | None) -> None:
    if images.ndim < 3:
        raise invalid_argument(f"input must be at least 3-D, got shape{list(images.shape)}")
    if number.ndim:
        raise invalid_argument(f"{name} must be scalar: {list(number.shape)}")
    if channels is not None and images.shape[-1] != channels:
        raise invalid_argument(
            f"input must have {channels} channels but instead has {images.shape[-1]} channels."
        )


@op
class AdjustContrastv2(Adjustment):
    """Each channel's distances from its mean in the image, times a factor."""

    signature = "images: T, contrast_factor: float32 -> output: T"

    def kernel(self, images, contrast_factor):
        _check(images, contrast_factor, "contrast_factor", None)
        dtype, shape = images.dtype, images.shape
        if not images.size:
            return np.zeros(shape, dtype)
        # Whole rows at a time, all channels of a row side by side.
        height, width, depth = shape[-3:]
        rows = images.astype(np.float32, copy=False).reshape(-1, height, width * depth)
        totals = rows.sum(axis=1).reshape(-1, width, depth).sum(axis=1)
        rest = np.float32(1) - contrast_factor
        offset = totals * np.float32(rest / (height * width))
        adjusted = rows * contrast_factor
        adjusted += np.tile(offset, (1, width))[:, None]
        return adjusted.reshape(shape).astype(dtype, copy=False)

    def native(self, images, contrast_factor) -> Any:
        dims = images.dims
        if len(dims) < 3 or contrast_factor.dims:
            return NotImplemented
        wide = raw.Cast(images, DstT=float32)
        totals = raw.Sum(raw.Sum(wide, [-3], keep_dims=True), [-2], keep_dims=True)
        rest = raw.Sub(constant(1, wide), contrast_factor)
        share = raw.RealDiv(rest, constant(dims[-3] * dims[-2], wide))
        adjusted = raw.AddV2(raw.Mul(wide, contrast_factor), raw.Mul(totals, share))
        return raw.Cast(adjusted, DstT=images.dtype)


@op
class AdjustHue(Adjustment):
    """The hue of RGB images rotated by `delta`, in units of the full circle."""

    signature = "images: T, delta: float32 -> output: T"

    def kernel(self, images, delta):
        _check(images, delta, "delta", 3)

        def moved(red: Any, green: Any, blue: Any) -> Any:
            # Kept between the smallest and largest channel, be they outside of [0, 1].
            value = np.maximum(np.maximum(red, green), blue)
            least = np.minimum(np.minimum(red, green), blue)
            span = value - least
            hue = hue_of(red, green, blue, value, span)
            hue += np.float32(delta)
            hue -= np.floor(hue)
            return [least + span * ramp for ramp in ramps_of(hue)]

        return in_chunks(moved, images, "hue", delta)


@op
class AdjustSaturation(Adjustment):
    """The saturation of RGB images times a factor, at most 1."""

    signature = "images: T, scale: float32 -> output: T"

    def kernel(self, images, scale):
        _check(images, scale, "scale", 3)

        def scaled(red: Any, green: Any, blue: Any) -> Any:
            hue, saturation, value = hsv_of(red, green, blue)
            return rgb_of(hue, np.clip(saturation * np.float32(scale), 0, 1), value)

        return in_chunks(scaled, images, "saturation", scale)
