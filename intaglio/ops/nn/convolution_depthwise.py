"""Depthwise convolution, in which each channel has filters of its own, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw, short_floats
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.nn import convolution_kernels as kernels
from intaglio.ops.nn import windows
from intaglio.ops.nn.convolution import Plan, filter_dims, plan_of, sized

ATTRS = (
    "strides: list(int), padding: str, explicit_paddings: list(int) = [], "
    "data_format: str = 'NHWC', dilations: list(int) = [1, 1, 1, 1]"
)


def _infer(plan: Plan, x: Spec, filters: Spec) -> Spec:
    batch, sizes, channels = windows.split(x.shape, 4, plan.format)
    window, inner, many = filter_dims(filters.shape, 4)
    if channels is not None and inner is not None and channels != inner:
        raise ShapeError(f"Dimensions must be equal, but are {channels} and {inner}")
    channels = inner if channels is None else channels
    outputs = None if channels is None or many is None else channels * many
    outs = plan.out_sizes(sizes, window)
    return Spec(x.dtype, windows.joined(batch, outs, outputs, plan.format))


def _axes(plan: Plan, shape: Any, filter_shape: Any) -> Any:
    """The axes of an input of this shape, channels last. Raises InvalidArgumentError."""
    if len(filter_shape) != 4:
        raise invalid_argument(f"filter must be 4-dimensional: {list(filter_shape)}")
    if shape[-1] != filter_shape[2]:
        raise invalid_argument(
            f"input and filter must have the same depth: {shape[-1]} vs {filter_shape[2]}"
        )
    return plan.axes(shape[1:-1], filter_shape[:2])


@op
class DepthwiseConv2dNative(Op):
    """Each channel's windows with that channel's filters."""

    signature = f"input: T, filter: T; {ATTRS} -> output: T"
    bilinear = True
    T = FLOATING
    batching = "examples"

    def infer(self, input: Spec, filter: Spec, **attrs: Any) -> Spec:
        plan = plan_of(4, **attrs)
        return _infer(plan, input, filter)

    def kernel(self, input, filter, **attrs: Any):
        plan = plan_of(4, **attrs)
        data = plan.last(input, "input")
        along = _axes(plan, data.shape, filter.shape)
        result = kernels.depthwise(short_floats.widened(data), short_floats.widened(filter), along)
        return windows.restored(result.astype(input.dtype, copy=False), plan.format)

    def gradient(self, input, filter, doutput, **attrs: Any) -> Any:
        return (
            raw.DepthwiseConv2dNativeBackpropInput(
                shape_of(spec_of(input)), filter, doutput, **attrs
            ),
            raw.DepthwiseConv2dNativeBackpropFilter(
                input, shape_of(spec_of(filter)), doutput, **attrs
            ),
        )


@op
class DepthwiseConv2dNativeBackpropInput(Op):
    """The gradient of DepthwiseConv2dNative by its input."""

    signature = f"input_sizes: int32, filter: T, out_backprop: T; {ATTRS} -> output: T"
    bilinear = True
    T = FLOATING
    shape_input = "input_sizes"

    def infer(self, input_sizes: Spec, filter: Spec) -> Spec:
        return sized(input_sizes, filter, 4)

    def kernel(self, input_sizes, filter, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        shape = plan.last_shape([int(n) for n in input_sizes])
        data = plan.last(out_backprop, "out_backprop")
        along = _axes(plan, shape, filter.shape)
        depth = filter.shape[-2] * filter.shape[-1]
        plan.check_out(data.shape, along, "DepthwiseConv2DBackpropInput", shape[0], depth)
        result = kernels.depthwise_by_input(
            np.ascontiguousarray(short_floats.widened(data)), short_floats.widened(filter), along
        )
        return windows.restored(result.astype(out_backprop.dtype, copy=False), plan.format)

    def gradient(self, filter, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            None,
            raw.DepthwiseConv2dNativeBackpropFilter(
                doutput, shape_of(spec_of(filter)), out_backprop, **attrs
            ),
            raw.DepthwiseConv2dNative(doutput, filter, **attrs),
        )


@op
class DepthwiseConv2dNativeBackpropFilter(Op):
    """The gradient of DepthwiseConv2dNative by its filters."""

    signature = f"input: T, filter_sizes: int32, out_backprop: T; {ATTRS} -> output: T"
    bilinear = True
    T = FLOATING

    def infer(self, input: Spec, filter_sizes: Spec) -> Spec:
        return sized(filter_sizes, input, 4)

    def kernel(self, input, filter_sizes, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        shape = tuple([int(n) for n in filter_sizes])
        data, grad = plan.last(input), plan.last(out_backprop, "out_backprop")
        along = _axes(plan, data.shape, shape)
        depth = shape[-2] * shape[-1]
        plan.check_out(grad.shape, along, "DepthwiseConv2DBackpropFilter", data.shape[0], depth)
        result = kernels.depthwise_filter_gradient(
            short_floats.widened(data),
            np.ascontiguousarray(short_floats.widened(grad)),
            along,
            shape[3],
        )
        return result.astype(input.dtype, copy=False)

    def gradient(self, input, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            raw.DepthwiseConv2dNativeBackpropInput(
                shape_of(spec_of(input)), doutput, out_backprop, **attrs
            ),
            None,
            raw.DepthwiseConv2dNative(input, doutput, **attrs),
        )
