"""Sums of squares and normalisation over batches and neighbouring channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, float32
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import merge
from intaglio.opdef import raw
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
        wide = t.astype(np.float32) if t.dtype.itemsize == 2 else t
        return np.asarray(sum_of_squares(wide) / 2).astype(t.dtype)

    def native(self, t) -> Any:
        wide = raw.Cast(t, DstT=float32) if t.dtype.size == 2 else t
        total = raw.Sum(raw.Reshape(raw.Square(wide), [-1]), [0])
        return raw.Cast(raw.Mul(total, constant(0.5, wide)), DstT=t.dtype)

    def gradient(self, t, doutput) -> Any:
        return raw.Mul(t, doutput)


def _neighbours(x: np.ndarray, radius: int) -> np.ndarray:
    """The sum over each channel and its `radius` neighbours on either side."""
    depth = x.shape[-1]
    sums = np.zeros((*x.shape[:-1], depth + 1), np.float64)
    np.cumsum(x, axis=-1, out=sums[..., 1:])
    channels = np.arange(depth)
    upper = np.minimum(channels + radius + 1, depth)
    lower = np.maximum(channels - radius, 0)
    return sums[..., upper] - sums[..., lower]


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
        wide = input.astype(np.float64)
        norm = bias + alpha * _neighbours(np.square(wide), depth_radius)
        return (wide * norm**-beta).astype(input.dtype)

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
        d, x, y = (a.astype(np.float64) for a in (input_grads, input_image, output_image))
        norm = bias + alpha * _neighbours(np.square(x), depth_radius)
        neighbour_sums = _neighbours(d * y / norm, depth_radius)
        result = d * norm**-beta - 2 * alpha * beta * x * neighbour_sums
        return result.astype(input_grads.dtype)
