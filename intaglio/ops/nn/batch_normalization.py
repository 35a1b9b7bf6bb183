"""Batch normalisation in one op, with its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, DType, bfloat16, float32, float64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.compiled import select_kernel
from intaglio.ops.families import check_rank, shape_of, spec_of
from intaglio.ops.linalg.matmul import brackets
from intaglio.ops.math.summation import add_reduce
from intaglio.ops.nn import windows

FORMATS = ("NHWC", "NCHW", "NDHWC", "NCDHW")
ATTRS = (
    "epsilon: float = 9.999999747378752e-05, exponential_avg_factor: float = 1.0, "
    "data_format: str = 'NHWC', is_training: bool = True"
)
GRAD_ATTRS = (
    "epsilon: float = 9.999999747378752e-05, data_format: str = 'NHWC', is_training: bool = True"
)
# TensorFlow has float32 alone here; float64 lets gradients be checked by differences.
STATISTICS = (bfloat16, float32, float64)


def _layout(x: Any, data_format: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(the axes that are averaged over, the shape that lays a vector along the channels)."""
    rank = x.ndim
    if rank not in (4, 5):
        raise invalid_argument(f"input must be 4 or 5-dimensional: {brackets(x.shape)}")
    at = 1 if windows.channels_first(data_format) else rank - 1
    over = tuple([i for i in range(rank) if i != at])
    return over, tuple([x.shape[at] if i == at else 1 for i in range(rank)])


def _check(x: Any, channels: int, **vectors: Any) -> None:
    for name, v in vectors.items():
        if v.ndim != 1:
            raise invalid_argument(f"{name} must be 1-dimensional{brackets(v.shape)}")
        if v.shape[0] not in (channels,):
            raise invalid_argument(
                f"{name} must have the same number of elements as the channels of x, "
                f"got {v.shape[0]} and {channels}"
            )


def normalize(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    factor: float,
    data_format: str,
    training: bool,
) -> tuple[Any, ...]:
    """The kernel: y, the statistics to keep, and those that the gradient needs."""
    over, column = _layout(x, data_format)
    channels = int(np.prod(column, dtype=np.int64))
    _check(x, channels, scale=scale, offset=offset)
    if not training or factor != 1.0:
        _check(x, channels, mean=mean, variance=variance)
    check_rank("mean", mean, 1)
    check_rank("variance", variance, 1)
    wide = short_floats.widened(x)
    kind = scale.dtype
    run = _selected("batch normalization", wide, column, wide.shape, training, epsilon, factor)
    if run is not None:
        parameters = [v.astype(wide.dtype, copy=False) for v in (scale, offset, mean, variance)]
        y, *kept = run(wide, *parameters)
    else:
        y, *kept = _normalized(
            wide, scale, offset, mean, variance, epsilon, factor, over, column, training
        )
    return (y.astype(x.dtype, copy=False), *[v.astype(kind, copy=False) for v in kept])


def _normalized(
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    factor: float,
    over: tuple[int, ...],
    column: tuple[int, ...],
    training: bool,
) -> tuple[Any, ...]:
    """The same, in NumPy."""
    if training:
        count = x.size // max(scale.size, 1)
        terms = x.dtype.type(count)
        saved_mean = add_reduce(x, over) / terms
        saved_variance = add_reduce(np.square(x - saved_mean.reshape(column)), over) / terms
        batch_mean = saved_mean
        batch_variance = saved_variance * (count / max(count - 1, 1))
        if factor != 1.0:
            batch_mean = (1 - factor) * mean + factor * batch_mean
            batch_variance = (1 - factor) * variance + factor * batch_variance
    else:
        saved_mean = batch_mean = mean
        saved_variance = batch_variance = variance
    root = np.sqrt(saved_variance.astype(x.dtype) + x.dtype.type(epsilon))
    slope = scale.astype(x.dtype) / root
    middle, slope, offset = (
        v.astype(x.dtype, copy=False).reshape(column) for v in (saved_mean, slope, offset)
    )
    y = (x - middle) * slope + offset
    return y, batch_mean, batch_variance, saved_mean, saved_variance


def normalize_gradient(
    d: Any,
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    data_format: str,
    training: bool,
) -> tuple[Any, Any, Any]:
    """The gradient's kernel: by x, scale and offset."""
    over, column = _layout(x, data_format)
    for name, v in (("scale", scale), ("mean", mean), ("variance", variance)):
        check_rank(name, v, 1)
    wide = short_floats.widened(x)
    d = d.astype(wide.dtype, copy=False)
    kind = mean.dtype
    # Gradients of sums and means are one number everywhere.
    same = not any(d.strides)
    run = _selected(
        "batch normalization gradient", wide, column, wide.shape, training, epsilon, "", same
    )
    if run is not None:
        parameters = [v.astype(wide.dtype, copy=False) for v in (scale, mean, variance)]
        by_x, by_scale, by_offset = run(d.flat[:1] if same else d, wide, *parameters)
    else:
        by_x, by_scale, by_offset = _gradient(
            d, wide, scale, mean, variance, epsilon, over, column, training
        )
    return (
        by_x.astype(x.dtype, copy=False),
        by_scale.astype(kind, copy=False),
        by_offset.astype(kind, copy=False),
    )


def _gradient(
    d: Any,
    x: Any,
    scale: Any,
    mean: Any,
    variance: Any,
    epsilon: float,
    over: tuple[int, ...],
    column: tuple[int, ...],
    training: bool,
) -> tuple[Any, Any, Any]:
    """The same, in NumPy."""
    rate = 1 / np.sqrt(variance.astype(x.dtype) + x.dtype.type(epsilon))
    unit = (x - mean.reshape(column)) * rate.reshape(column)
    by_offset, by_scale = add_reduce(d, over), add_reduce(d * unit, over)
    inner = d
    if training:
        count = x.dtype.type(max(x.size // max(by_offset.size, 1), 1))
        inner = d - (by_offset / count).reshape(column)
        inner -= unit * (by_scale / count).reshape(column)
    return (scale * rate).reshape(column) * inner, by_scale, by_offset


def _selected(kind: str, x: Any, column: tuple[int, ...], *rest: Any) -> Any:
    """A compiled kernel for images that have their channels last."""
    channels = column[-1]
    if channels != x.shape[-1] or not x.size:
        return None
    # Each kernel does what takes NumPy several passes.
    return select_kernel(kind, x.dtype, 8 * x.size, x.size // channels, channels, *rest)


def _infer(x: Spec, scale: Spec, data_format: str, extra: int) -> Any:
    windows.check_format(data_format, FORMATS)
    if x.rank not in (None, 4, 5):
        raise ShapeError(f"Shape must be rank 4 but is rank {x.rank}")
    at = 1 if windows.channels_first(data_format) else -1
    channels = None if x.shape is None else x.shape[at]
    if scale.shape is not None:
        (channels,) = shapes.merge((channels,), scale.shape)  # type: ignore[misc]  # one dimension each
    vector = Spec(scale.dtype, (channels,))
    third = (Spec(scale.dtype, ()),) if extra else ()
    return (Spec(x.dtype, x.shape), *[vector] * 4, *third)


class BatchNorm(Op):
    """Normalises over all but the channels, then scales and shifts."""

    T: tuple[DType, ...] = FLOATING
    U: tuple[DType, ...] = STATISTICS
    back: str = ""

    def infer(self, x: Spec, scale: Spec, data_format) -> Any:
        return _infer(x, scale, data_format, self.back == "FusedBatchNormGradV3")

    def kernel(
        self,
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon,
        exponential_avg_factor,
        data_format,
        is_training,
    ):
        results = normalize(
            x,
            scale,
            offset,
            mean,
            variance,
            epsilon,
            exponential_avg_factor,
            data_format,
            is_training,
        )
        if self.back == "FusedBatchNormGradV3":
            return (*results, np.zeros((), scale.dtype))
        return results

    def gradient(
        self,
        x,
        scale,
        mean,
        variance,
        reserve_space_1,
        reserve_space_2,
        dy,
        epsilon,
        data_format,
        is_training,
    ) -> Any:
        statistics = (reserve_space_1, reserve_space_2) if is_training else (mean, variance)
        third = ()
        if self.back == "FusedBatchNormGradV3":
            third = (np.zeros((), scale.dtype.numpy),)
        gradients = getattr(raw, self.back)(
            dy,
            x,
            scale,
            *statistics,
            *third,
            epsilon=epsilon,
            data_format=data_format,
            is_training=is_training,
        )
        return *gradients[:3], None, None


class BatchNormGrad(Op):
    """The gradient of a batch normalisation by x, scale and offset."""

    T: tuple[DType, ...] = FLOATING
    U: tuple[DType, ...] = (float32, float64)

    def infer(self, x: Spec, scale: Spec, reserve_space_1: Spec, data_format) -> Any:
        windows.check_format(data_format, FORMATS)
        at = 1 if windows.channels_first(data_format) else -1
        channels = None if x.shape is None else x.shape[at]
        vector = Spec(reserve_space_1.dtype, (channels,))
        nothing = Spec(reserve_space_1.dtype, (0,))
        return Spec(x.dtype, x.shape), vector, vector, nothing, nothing

    def kernel(
        self,
        y_backprop,
        x,
        scale,
        reserve_space_1,
        reserve_space_2,
        epsilon,
        data_format,
        is_training,
    ):
        if y_backprop.shape != x.shape:
            raise invalid_argument(
                f"x and y_backprop must have same shape, but got {brackets(x.shape)} "
                f"and {brackets(y_backprop.shape)}"
            )
        gradients = normalize_gradient(
            y_backprop,
            x,
            scale,
            reserve_space_1,
            reserve_space_2,
            epsilon,
            data_format,
            is_training,
        )
        nothing = np.zeros(0, reserve_space_1.dtype)
        return *gradients, nothing, nothing

    def gradient(
        self,
        y_backprop,
        x,
        scale,
        reserve_space_1,
        reserve_space_2,
        epsilon,
        data_format,
        is_training,
        dx_backprop,
        dscale_backprop,
        doffset_backprop,
    ) -> Any:
        by = _Second(x, reserve_space_1, reserve_space_2, epsilon, data_format, is_training)
        found = by.gradients(y_backprop, scale, dx_backprop, dscale_backprop, doffset_backprop)
        return *found, *[None] * (len(self.input_names) - 3)


class _Second:
    """The second derivative, from the closed form of the first."""

    def __init__(
        self, x: Any, mean: Any, variance: Any, epsilon: float, layout: str, training: bool
    ) -> None:
        self.kind = mean.dtype
        self.wide = x.dtype if x.dtype.size > 2 else self.kind
        x = raw.Cast(x, DstT=self.wide)
        rank = len(layout)
        at = 1 if windows.channels_first(layout) else rank - 1
        self.over = np.asarray([i for i in range(rank) if i != at], np.int32)
        self.column = np.asarray([-1 if i == at else 1 for i in range(rank)], np.int32)
        self.training = training
        small = np.asarray(epsilon, self.wide.numpy)
        shifted_variance = raw.AddV2(raw.Cast(variance, DstT=self.wide), small)
        self.rate = raw.Rsqrt(shifted_variance)
        self.unit = raw.Mul(
            raw.Sub(x, self.lay(raw.Cast(mean, DstT=self.wide))), self.lay(self.rate)
        )
        total = raw.Prod(raw.GatherV2(shape_of(spec_of(x)), self.over, np.int32(0)), [0])
        self.count = raw.Cast(total, DstT=self.wide)

    def lay(self, vector: Any) -> Any:
        """The vector along the channels."""
        return raw.Reshape(vector, self.column)

    def sum(self, x: Any) -> Any:
        """The sum over all but the channels."""
        return raw.Sum(x, self.over)

    def projected(self, x: Any) -> Any:
        """x less its mean and less its part along the normalised input."""
        mean = raw.RealDiv(self.sum(x), self.count)
        part = raw.RealDiv(self.sum(raw.Mul(x, self.unit)), self.count)
        return raw.Sub(raw.Sub(x, self.lay(mean)), raw.Mul(self.unit, self.lay(part)))

    def gradients(self, d: Any, scale: Any, by_x: Any, by_scale: Any, by_offset: Any) -> Any:
        """The gradients by y_backprop, x and scale."""
        dtype, scale_dtype, out = d.dtype, scale.dtype, self.wide
        d, scale = raw.Cast(d, DstT=out), raw.Cast(scale, DstT=out)
        zero = raw.ZerosLike(d)
        a = zero if by_x is None else raw.Cast(by_x, DstT=out)
        none = raw.ZerosLike(scale)
        b = none if by_scale is None else raw.Cast(by_scale, DstT=out)
        c = none if by_offset is None else raw.Cast(by_offset, DstT=out)
        slope = self.lay(raw.Mul(scale, self.rate))
        inner = self.projected(a) if self.training else a
        to_d = raw.AddV2(
            raw.Mul(slope, inner), raw.AddV2(raw.Mul(self.lay(b), self.unit), self.lay(c))
        )
        matched = self.sum(raw.Mul(inner, d))
        to_scale = raw.Mul(self.rate, matched)
        to_x = raw.Mul(self.lay(raw.Mul(b, self.rate)), d)
        if self.training:
            to_x = self._to_x(a, d, scale, b, matched)
        return (
            raw.Cast(to_d, DstT=dtype),
            raw.Cast(to_x, DstT=dtype),
            raw.Cast(to_scale, DstT=scale_dtype),
        )

    def _to_x(self, a: Any, d: Any, scale: Any, b: Any, matched: Any) -> Any:
        along_a = self.sum(raw.Mul(a, self.unit))
        along_d = self.sum(raw.Mul(d, self.unit))
        weight = raw.Neg(raw.RealDiv(raw.Mul(scale, self.rate), self.count))
        mixed = raw.AddV2(raw.Mul(a, self.lay(along_d)), raw.Mul(d, self.lay(along_a)))
        by_unit = raw.AddV2(raw.Mul(self.lay(weight), mixed), raw.Mul(self.lay(b), d))
        through_unit = raw.Mul(self.lay(self.rate), self.projected(by_unit))
        squared = raw.RealDiv(raw.Mul(self.rate, self.rate), self.count)
        through_rate = raw.Mul(self.unit, self.lay(raw.Mul(squared, raw.Mul(scale, matched))))
        return raw.Sub(through_unit, through_rate)


@op
class FusedBatchNormV3(BatchNorm):
    """Batch normalisation with the statistics of the batch, or with given ones."""

    signature = (
        f"x: T, scale: U, offset: U, mean: U, variance: U; {ATTRS} -> y: T, "
        "batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, "
        "reserve_space_3: U"
    )
    back = "FusedBatchNormGradV3"


@op
class FusedBatchNormV2(BatchNorm):
    """The second version of FusedBatchNormV3."""

    signature = (
        f"x: T, scale: U, offset: U, mean: U, variance: U; {ATTRS} -> y: T, "
        "batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U"
    )
    back = "FusedBatchNormGradV2"


@op
class FusedBatchNorm(BatchNorm):
    """The first version of FusedBatchNormV3."""

    signature = (
        f"x: T, scale: T, offset: T, mean: T, variance: T; {ATTRS} -> y: T, "
        "batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T"
    )
    T = (float32, float64)
    back = "FusedBatchNormGrad"


@op
class FusedBatchNormGradV3(BatchNormGrad):
    """The gradient of FusedBatchNormV3."""

    signature = (
        "y_backprop: T, x: T, scale: U, reserve_space_1: U, reserve_space_2: U, "
        f"reserve_space_3: U; {GRAD_ATTRS} -> x_backprop: T, scale_backprop: U, "
        "offset_backprop: U, reserve_space_4: U, reserve_space_5: U"
    )


@op
class FusedBatchNormGradV2(BatchNormGrad):
    """The gradient of FusedBatchNormV2."""

    signature = (
        "y_backprop: T, x: T, scale: U, reserve_space_1: U, reserve_space_2: U; "
        f"{GRAD_ATTRS} -> x_backprop: T, scale_backprop: U, offset_backprop: U, "
        "reserve_space_3: U, reserve_space_4: U"
    )


@op
class FusedBatchNormGrad(BatchNormGrad):
    """The gradient of FusedBatchNorm."""

    signature = (
        "y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T; "
        f"{GRAD_ATTRS} -> x_backprop: T, scale_backprop: T, offset_backprop: T, "
        "reserve_space_3: T, reserve_space_4: T"
    )
    T = (float32, float64)
