"""The convolution of any number of batch and spatial dimensions, as one op."""

from __future__ import annotations

from math import prod
from typing import Any

from intaglio.base.dtypes import FLOATING, int32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.nn.convolution import FORMATS, Plan, convolve, plan_of


def _plan(
    rank: Any,
    filters: Any,
    strides: Any,
    padding: str,
    ends: Any,
    data_format: str,
    dilations: Any,
    batch_dims: int,
) -> Plan:
    """The plan of a convolution with its batch dimensions as one. Raises ShapeError."""
    spatial = rank - 1 - batch_dims
    if spatial not in (2, 3):
        raise ShapeError(
            f"The input must have 2 or 3 spatial dimensions but got {spatial}: its rank is "
            f"{rank}, with {batch_dims} batch dimensions and the channels"
        )
    if filters is not None and len(filters) != spatial + 2:
        raise ShapeError(f"The filter must be rank {spatial + 2} but got {len(filters)}")
    first = data_format == "CHANNELS_FIRST"
    channels = 1 if first else -1
    for what, rates in (("strides", strides), ("dilation rates", dilations)):
        if len(rates) == spatial + 2 and (rates[0], rates[channels]) != (1, 1):
            raise ShapeError(
                f"Current implementation does not support {what} in the batch and depth dimensions."
            )
    rates = tuple(dilations) or (1,) * (spatial + 2)
    if len(rates) != spatial + 2:
        raise ShapeError(f"Sliding window dilations field must specify {spatial + 2} dimensions")
    form = FORMATS[spatial + 2][first]
    return plan_of(spatial + 2, tuple(strides), padding, form, rates, tuple(ends))


def _check_groups(channels: Any, filters: Any, groups: int) -> None:
    if channels is None or filters is None or None in filters[-2:]:
        return
    inner, outputs = filters[-2:]
    if channels != inner * groups:
        times = "" if groups == 1 else f" times the {groups} groups"
        raise ShapeError(f"Input depth must be equal to filter depth{times}: {channels} vs {inner}")
    if outputs % groups:
        raise ShapeError(f"Output depth must be a multiple of the groups: {outputs} vs {groups}")


@op
class Conv(Op):
    """Conv2D or Conv3D of an input with any number of batch dimensions."""

    signature = (
        "input: T, filter: T; strides: list(int), padding: str,"
        " explicit_paddings: list(int) = [], data_format: str = 'CHANNELS_LAST',"
        " dilations: list(int) = [], batch_dims: int = 1, groups: int = 1 -> output: T"
    )
    bilinear = True
    T = (*FLOATING, int32)
    padding = ("SAME", "VALID", "EXPLICIT")
    data_format = ("CHANNELS_FIRST", "CHANNELS_LAST")

    def infer(
        self,
        input: Spec,
        filter: Spec,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        batch_dims,
        groups,
    ) -> Spec:
        if input.shape is None or filter.shape is None:
            return Spec(input.dtype, None)
        plan = _plan(
            len(input.shape),
            filter.shape,
            strides,
            padding,
            explicit_paddings,
            data_format,
            dilations,
            batch_dims,
        )
        batch, rest = input.shape[:batch_dims], input.shape[batch_dims:]
        _check_groups(rest[0 if plan.format[1] == "C" else -1], filter.shape, groups)
        one = plan.infer(Spec(input.dtype, (1, *rest)), filter)
        return Spec(input.dtype, (*batch, *(one.shape or ())[1:]))

    def kernel(
        self,
        input,
        filter,
        strides,
        padding,
        explicit_paddings,
        data_format,
        dilations,
        batch_dims,
        groups,
    ):
        plan = _plan(
            input.ndim,
            filter.shape,
            strides,
            padding,
            explicit_paddings,
            data_format,
            dilations,
            batch_dims,
        )
        batch, rest = input.shape[:batch_dims], input.shape[batch_dims:]
        _check_groups(rest[0 if plan.format[1] == "C" else -1], filter.shape, groups)
        if not filter.size:
            raise invalid_argument(
                f"filter must not have zero elements, but has the shape {filter.shape}"
            )
        result = convolve(plan, input.reshape((prod(batch), *rest)), filter)
        return result.reshape((*batch, *result.shape[1:]))
