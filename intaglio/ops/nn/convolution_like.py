"""Gradients of Conv2D whose shapes are those of tensors, not numbers given."""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import FLOATING, int32
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.nn.convolution import (
    ATTRS_2D,
    convolution_filter_gradient,
    convolve_by_input,
    plan_of,
)


@op
class Conv2DBackpropInputV2(Op):
    """The gradient of Conv2D by its input, shaped like `input`."""

    signature = f"input: T, filter: T, out_backprop: T; {ATTRS_2D} -> output: T"
    bilinear = True
    T = (*FLOATING, int32)

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, input.shape)

    def kernel(self, input, filter, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        return convolve_by_input(plan, input.shape, filter, out_backprop)

    def gradient(self, filter, out_backprop, doutput, **attrs: Any) -> Any:
        sizes = shape_of(spec_of(filter))
        return (
            None,
            lambda: raw.Conv2DBackpropFilter(doutput, sizes, out_backprop, **attrs),
            lambda: raw.Conv2D(doutput, filter, **attrs),
        )


@op
class Conv2DBackpropFilterV2(Op):
    """The gradient of Conv2D by its filters, shaped like `filter`."""

    signature = f"input: T, filter: T, out_backprop: T; {ATTRS_2D} -> output: T"
    bilinear = True
    T = FLOATING

    def infer(self, filter: Spec) -> Spec:
        return Spec(filter.dtype, filter.shape)

    def kernel(self, input, filter, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        return convolution_filter_gradient(plan, input, filter.shape, out_backprop)

    def gradient(self, input, out_backprop, doutput, **attrs: Any) -> Any:
        sizes = shape_of(spec_of(input))
        return (
            lambda: raw.Conv2DBackpropInput(sizes, doutput, out_backprop, **attrs),
            None,
            lambda: raw.Conv2D(input, doutput, **attrs),
        )
