"""Sums of squares and normalisation over batches and neighbouring channels."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, float32
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import merge
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant
from intaglio.ops.math.summation import sum_of_squares


@op
class L2Loss(Op):
    """sum(t ** 2) / 2."""

    signature = "t: T -> output: T"
    T = FLOATING

    def infer(self, t: Spec) -> Spec:
        return Spec(t.dtype, ())

    def kernel(self, t):
        wide = short_floats.widened(t)
        return np.asarray(sum_of_squares(wide) / 2).astype(t.dtype)

    def native(self, t) -> Any:
        wide = raw.Cast(t, DstT=float32) if t.dtype.size == 2 else t
        total = raw.Sum(raw.Reshape(raw.Square(wide), [-1]), [0])
        return raw.Cast(raw.Mul(total, constant(0.5, wide)), DstT=t.dtype)

    def gradient(self, t, doutput) -> Any:
        return raw.Mul(t, doutput)


# Elements that are normalised at a time: intermediate results fit into the cache.
_BLOCK_ELEMENTS = 1 << 15
# Neighbours on either side for which there is code: each is a slice of a loop's operand.
_MAX_NATIVE_RADIUS = 16


def _neighbours(x: np.ndarray, radius: int) -> np.ndarray:
    """The sum over each channel and its `radius` neighbours on either side: [pixels, channels].

    Few neighbours are added one by one, as in native code. Rows are concatenated with zeros between
    them, so that a sum is one of whole arrays.
    """
    pixels, depth = x.shape
    radius = min(radius, depth - 1)
    if not radius:
        return x
    if radius > _MAX_NATIVE_RADIUS:
        return _neighbours_of_many(x, radius)
    stride = depth + radius
    rows = np.zeros(pixels * stride + 2 * radius, x.dtype)
    rows[radius : radius + pixels * stride].reshape(pixels, stride)[:, :depth] = x
    count = pixels * stride
    sums = rows[:count] + rows[1 : count + 1]
    for at in range(2, 2 * radius + 1):
        sums += rows[at : at + count]
    return sums.reshape(pixels, stride)[:, :depth]


def _neighbours_of_many(x: np.ndarray, radius: int) -> np.ndarray:
    """The same by differences of running sums."""
    pixels, depth = x.shape
    sums = np.zeros((pixels, depth + 1), np.float64)
    np.cumsum(x, axis=1, dtype=np.float64, out=sums[:, 1:])
    channels = np.arange(depth)
    upper = np.minimum(channels + radius + 1, depth)
    lower = np.maximum(channels - radius, 0)
    return (sums[:, upper] - sums[:, lower]).astype(x.dtype)


def _power(norm: np.ndarray, beta: float) -> np.ndarray:
    """norm ** -beta, by square roots where they suffice."""
    if beta in (0.5, 0.75):
        inverse = 1 / np.sqrt(norm)
        return inverse if beta == 0.5 else inverse * np.sqrt(inverse)
    return norm ** norm.dtype.type(-beta)


def _norm(x: np.ndarray, radius: int, bias: float, alpha: float) -> np.ndarray:
    """The base of the power, of [pixels, channels]."""
    number = x.dtype.type
    return _neighbours(np.square(x), radius) * number(alpha) + number(bias)


def _by_pixels(function: Callable[..., np.ndarray], *arrays: np.ndarray) -> np.ndarray:
    """The function of blocks of the arrays' pixels: [pixels, channels], not of 16-bit floats."""
    first = arrays[0]
    depth = first.shape[-1]
    result = np.empty_like(first, order="C")
    if not result.size:
        return result
    step = max(1, _BLOCK_ELEMENTS // depth)
    flat = [a.reshape(-1, depth) for a in (*arrays, result)]
    for at in range(0, len(flat[0]), step):
        blocks = [a[at : at + step] for a in flat]
        wide = [short_floats.widened(b) for b in blocks[:-1]]
        blocks[-1][...] = function(*wide)
    return result


def _neighbours_of(x: Any, radius: int) -> Any:
    """`_neighbours` of the last axis of a tensor, as a sum of slices."""
    padded = raw.PadV2(x, [[0, 0]] * 3 + [[radius, radius]], constant(0, x))
    depth = x.shape[-1]
    parts = [raw.Slice(padded, [0, 0, 0, i], [*x.shape[:3], depth]) for i in range(2 * radius + 1)]
    return functools.reduce(raw.AddV2, parts)


def _power_of(norm: Any, beta: float) -> Any:
    """`_power` of a tensor."""
    if beta in (0.5, 0.75):
        inverse = raw.Rsqrt(norm)
        return inverse if beta == 0.5 else raw.Mul(inverse, raw.Sqrt(inverse))
    return raw.Pow(norm, constant(-beta, norm))


def _has_code(x: Any, radius: int) -> bool:
    """Whether the neighbours of this tensor, whose shape is known, are few."""
    return (
        bool(x.shape and len(x.shape) == 4 and all(x.shape)) and 0 <= radius <= _MAX_NATIVE_RADIUS
    )


def _norm_of(x: Any, radius: int, bias: float, alpha: float) -> Any:
    """The base of the power."""
    sums = _neighbours_of(raw.Square(x), min(radius, x.shape[-1] - 1))
    return raw.AddV2(raw.Mul(sums, constant(alpha, x)), constant(bias, x))


def _widened(*tensors: Any) -> list[Any]:
    """16-bit floats as float32."""
    return [raw.Cast(t, DstT=float32) if t.dtype.size == 2 else t for t in tensors]


def _check_radius(radius: int) -> None:
    if radius < 0:
        raise invalid_argument(f"depth_radius must not be negative, got {radius}")


@op
class LRN(Op):
    """input / (bias + alpha * the sum of squares of neighbouring channels) ** beta."""

    signature = (
        "input: T; depth_radius: int = 5, bias: float = 1.0, alpha: float = 1.0, "
        "beta: float = 0.5 -> output: T"
    )
    T = FLOATING
    batching = "examples"

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, merge(input.shape, (None,) * 4))

    def kernel(self, input, depth_radius, bias, alpha, beta):
        _check_radius(depth_radius)
        if input.ndim != 4:
            raise invalid_argument("in must be 4-dimensional")

        def normalised(x: np.ndarray) -> np.ndarray:
            return x * _power(_norm(x, depth_radius, bias, alpha), beta)

        return _by_pixels(normalised, input)

    def native(self, input, depth_radius, bias, alpha, beta) -> Any:
        if not _has_code(input, depth_radius):
            return NotImplemented
        (x,) = _widened(input)
        power = _power_of(_norm_of(x, depth_radius, bias, alpha), beta)
        return raw.Cast(raw.Mul(x, power), DstT=input.dtype)

    def gradient(self, input, output, doutput, depth_radius, bias, alpha, beta) -> Any:
        return raw.LRNGrad(
            doutput, input, output, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta
        )


@op
class LRNGrad(Op):
    """The gradient of LRN."""

    signature = (
        "input_grads: T, input_image: T, output_image: T; depth_radius: int = 5, "
        "bias: float = 1.0, alpha: float = 1.0, beta: float = 0.5 -> output: T"
    )
    T = FLOATING
    batched_inputs = 3
    batching = "examples"

    def infer(self, input_grads: Spec, input_image: Spec) -> Spec:
        return Spec(input_grads.dtype, merge(input_grads.shape, input_image.shape))

    def kernel(self, input_grads, input_image, output_image, depth_radius, bias, alpha, beta):
        _check_radius(depth_radius)
        shapes = {a.shape for a in (input_grads, input_image, output_image)}
        if len(shapes) != 1 or input_image.ndim != 4:
            raise invalid_argument(
                "input_grads, input_image and output_image must be 4-dimensional and of"
                f" one shape, not of {sorted(shapes)}"
            )

        def backwards(d: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
            norm = _norm(x, depth_radius, bias, alpha)
            away = x * _neighbours(d * y / norm, depth_radius)
            return d * _power(norm, beta) - away * x.dtype.type(2 * alpha * beta)

        return _by_pixels(backwards, input_grads, input_image, output_image)

    def native(
        self, input_grads, input_image, output_image, depth_radius, bias, alpha, beta
    ) -> Any:
        if not _has_code(input_image, depth_radius):
            return NotImplemented
        d, x, y = _widened(input_grads, input_image, output_image)
        norm = _norm_of(x, depth_radius, bias, alpha)
        radius = min(depth_radius, x.shape[-1] - 1)
        neighbours = _neighbours_of(raw.Div(raw.Mul(d, y), norm), radius)
        away = raw.Mul(raw.Mul(x, neighbours), constant(2 * alpha * beta, x))
        grads = raw.Sub(raw.Mul(d, _power_of(norm, beta)), away)
        return raw.Cast(grads, DstT=input_grads.dtype)
