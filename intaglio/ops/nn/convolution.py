"""Convolutions in two and three dimensions, plain, grouped and depthwise, with gradients."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, INDEX, float16, int32
from intaglio.base.errors import ShapeError, UnimplementedError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.linalg.matmul import brackets
from intaglio.ops.nn import convolution_by_taps as by_taps
from intaglio.ops.nn import convolution_kernels as kernels
from intaglio.ops.nn import windows
from intaglio.ops.nn.windows import Axis

FORMATS = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}
ATTRS_2D = (
    "strides: list(int), use_cudnn_on_gpu: bool = True, padding: str, "
    "explicit_paddings: list(int) = [], data_format: str = 'NHWC', "
    "dilations: list(int) = [1, 1, 1, 1]"
)
ATTRS_3D = (
    "strides: list(int), padding: str, data_format: str = 'NDHWC', "
    "dilations: list(int) = [1, 1, 1, 1, 1]"
)


class Plan:
    """A convolution's attributes, and the shapes that follow from them."""

    __slots__ = ("dilations", "ends", "format", "padding", "rank", "strides")

    def __init__(
        self,
        rank: int,
        strides: Sequence[int],
        padding: str,
        ends: Sequence[int],
        data_format: str,
        dilations: Sequence[int],
    ) -> None:
        windows.check_format(data_format, FORMATS[rank])
        windows.check_padding(padding)
        if len(strides) != rank:
            raise ShapeError(f"Sliding window strides field must specify {rank} dimensions")
        self._check_rates("strides", strides, data_format)
        self._check_rates("dilations", dilations, data_format)
        self.rank = rank
        self.format = data_format
        self.padding = padding
        self.strides = windows.spatial(strides, data_format)
        self.dilations = windows.spatial(dilations, data_format)
        self.ends = self._ends(ends)
        if min(self.strides) < 1:
            raise ShapeError("Row and column strides should be larger than 0.")
        if min(self.dilations) < 1:
            raise ShapeError("Dilated rates should be larger than 0.")

    @staticmethod
    def _check_rates(what: str, rates: Sequence[int], data_format: str) -> None:
        at = 1 if windows.channels_first(data_format) else -1
        if rates[0] != 1 or rates[at] != 1:
            raise UnimplementedError(
                None,
                None,
                f"Current implementation does not yet support {what} in the batch and depth dimensions.",
            )

    def _ends(self, ends: Sequence[int]) -> tuple[int, ...]:
        if self.padding != "EXPLICIT":
            if ends:
                raise ShapeError(
                    "explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT"
                )
            return ()
        if len(ends) != 2 * self.rank:
            raise ShapeError(
                f"explicit_paddings attribute must contain {2 * self.rank} values, but got: {len(ends)}"
            )
        if min(ends) < 0:
            raise ShapeError("All elements of explicit_paddings must be nonnegative")
        inner = windows.spatial_ends(ends, self.format)
        if sum(inner) != sum(ends):
            raise ShapeError(
                "Nonzero explicit padding in the batch or depth dimensions is not supported"
            )
        return inner

    def axes(self, sizes: Sequence[int], window: Sequence[int]) -> tuple[Axis, ...]:
        """How the windows slide over an input of these spatial sizes."""
        return windows.axes(
            tuple(sizes), tuple(window), self.strides, self.dilations, self.padding, self.ends
        )

    def out_sizes(self, sizes: Sequence[Any], window: Sequence[Any]) -> list[Any]:
        """The spatial sizes of the result, None for unknown ones."""
        pairs = [self.ends[2 * i : 2 * i + 2] or (0, 0) for i in range(len(sizes))]
        return [
            windows.out_size(n, k, s, d, self.padding, p)  # type: ignore[arg-type]  # a pair of numbers
            for n, k, s, d, p in zip(
                sizes, window, self.strides, self.dilations, pairs, strict=True
            )
        ]

    def infer(self, x: Spec, filters: Spec) -> Spec:
        """The spec of a convolution's result."""
        batch, sizes, channels = windows.split(x.shape, self.rank, self.format)
        window, inner, outputs = filter_dims(filters.shape, self.rank)
        if channels is not None and inner is not None:
            if inner == 0 or channels % inner:
                raise ShapeError(
                    f"Depth of input ({channels}) is not a multiple of input depth of filter ({inner})"
                )
            groups = channels // inner
            if outputs is not None and groups and outputs % groups:
                raise ShapeError(
                    f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})"
                )
        outs = self.out_sizes(sizes, window)
        return Spec(x.dtype, windows.joined(batch, outs, outputs, self.format))

    def prepare(self, x: Any, filter_shape: Sequence[int], what: str) -> tuple[Axis, ...]:
        """Checks a channels-last input's shape against the filters'; returns the axes.

        Raises InvalidArgumentError.
        """
        if len(filter_shape) != self.rank:
            raise invalid_argument(
                f"{what} filter must be {self.rank}-dimensional: {brackets(tuple(filter_shape))}"
            )
        channels, (inner, outputs) = x[-1], filter_shape[-2:]
        if not all(filter_shape if len(x) == 5 else filter_shape[:-1]):
            raise invalid_argument(
                "filter must not have zero elements (i.e. all dimensions must be non-zero)"
            )
        if channels % inner or (outputs and not channels):
            raise invalid_argument(
                f"input depth must be evenly divisible by filter depth: {channels} vs {inner}"
            )
        groups = channels // inner
        if groups and outputs % groups:
            raise invalid_argument(
                f"output depth must be evenly divisible by number of groups: {outputs} vs {groups}"
            )
        return self.axes(x[1:-1], filter_shape[:-2])

    def check_out(self, d: Any, along: Sequence[Axis], name: str, batch: int, depth: int) -> None:
        """Raises InvalidArgumentError unless a gradient has the result's shape."""
        if (d[0], d[-1]) != (batch, depth):
            raise invalid_argument(
                f"{name}: out_backprop must have batch size {batch} and depth {depth},"
                f" not {d[0]} and {d[-1]}"
            )
        for i, (got, a) in enumerate(zip(d[1:-1], along, strict=True), 1):
            if got != a.out:
                raise invalid_argument(
                    f"{name}: Size of out_backprop doesn't match computed: actual = {got}, "
                    f"computed = {a.out} spatial_dim: {i} input: {a.size} filter: {a.window} "
                    f"output: {got} stride: {a.stride} dilation: {a.dilation}"
                )

    def last(self, x: Any, what: str = "convolution input") -> np.ndarray:
        """The array with its channels last. Raises InvalidArgumentError for another rank."""
        if x.ndim != self.rank:
            raise invalid_argument(f"{what} must be {self.rank}-dimensional: {brackets(x.shape)}")
        return windows.channels_last(x, self.format)

    def last_shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """A shape with its channels last."""
        batch, sizes, channels = windows.split(tuple(shape), self.rank, self.format)
        return (batch, *sizes, channels)


@functools.lru_cache(maxsize=1024)
def plan_of(
    rank: int,
    strides: Sequence[int],
    padding: str,
    data_format: str,
    dilations: Sequence[int],
    explicit_paddings: Sequence[int] = (),
    use_cudnn_on_gpu: bool = True,
) -> Plan:
    """The Plan of a convolution op's attributes for operands of this rank."""
    return Plan(rank, strides, padding, explicit_paddings, data_format, dilations)


def filter_dims(dims: Any, rank: int) -> tuple[Any, Any, Any]:
    """(window, channels in, channels out). Raises ShapeError for another rank."""
    if dims is None:
        return (None,) * (rank - 2), None, None
    if len(dims) != rank:
        raise ShapeError(f"Shape must be rank {rank} but is rank {len(dims)}")
    return dims[:-2], dims[-2], dims[-1]


def _channels_of_group(filters: Any, channels: int) -> tuple[int, int]:
    """The input and output channels of each group."""
    inner, outputs = filters.shape[-2:]
    return max(inner, 1), max(outputs * inner // max(channels, 1), 1)


def convolve(plan: Plan, x: Any, filters: Any) -> np.ndarray:
    """The forward kernel."""
    data = plan.last(x)
    along = plan.prepare(data.shape, filters.shape, "convolution")
    result = kernels.grouped_forward(data, filters, along)
    shows = filters, result[..., :: _channels_of_group(filters, data.shape[-1])[1]]
    options = {"along": along, "zeros": by_taps.multiplies_padding(x.dtype)}
    result = by_taps.checked(result, shows, by_taps.forward, data, filters, **options)
    return windows.restored(result.astype(x.dtype, copy=False), plan.format)


def convolve_by_input(plan: Plan, sizes: Any, filters: Any, d: Any) -> np.ndarray:
    """The kernel of the gradient by the input."""
    shape = _declared_sizes(plan, sizes, filters, d)
    data = plan.last(d, "out_backprop")
    along = plan.prepare(shape, filters.shape, "convolution")
    plan.check_out(data.shape, along, "Conv2DCustomBackpropInput", shape[0], filters.shape[-1])
    result = kernels.grouped_by_input(np.ascontiguousarray(data), filters, along, shape[-1])
    shows = filters, result[..., :: _channels_of_group(filters, shape[-1])[0]]
    options = {"along": along, "channels": shape[-1]}
    result = by_taps.checked(result, shows, by_taps.by_input, data, filters, **options)
    return windows.restored(result.astype(d.dtype, copy=False), plan.format)


def _declared_sizes(plan: Plan, sizes: Any, filters: Any, d: Any) -> tuple[int, ...]:
    """The input's shape, channels last; two numbers are its spatial sizes alone."""
    numbers = [int(n) for n in sizes]
    if len(numbers) == 2 and plan.rank == 4:
        return (d.shape[0], *numbers, filters.shape[2])
    if len(numbers) != plan.rank:
        raise invalid_argument(f"input_sizes must have {plan.rank} elements, not {len(numbers)}")
    shape = plan.last_shape(numbers)
    if d.ndim == plan.rank and d.shape[0] != shape[0]:
        raise invalid_argument(
            "Conv2DCustomBackpropInput: input and out_backprop must have the same batch size."
            f"Input batch: {shape[0]}, outbackprop batch: {d.shape[0]}"
        )
    return shape


def convolution_filter_gradient(plan: Plan, x: Any, sizes: Any, d: Any) -> np.ndarray:
    """The kernel of the gradient by the filters."""
    shape = tuple([int(n) for n in sizes])
    data, grad = plan.last(x), plan.last(d, "out_backprop")
    along = plan.prepare(data.shape, shape, "convolution")
    plan.check_out(grad.shape, along, "Conv2DCustomBackpropFilter", data.shape[0], shape[-1])
    result = kernels.grouped_filter_gradient(data, np.ascontiguousarray(grad), along, shape[-2])
    options = {"along": along, "inner": shape[-2], "zeros": by_taps.multiplies_padding(x.dtype)}
    result = by_taps.checked(result, [result], by_taps.filter_gradient, data, grad, **options)
    return result.astype(x.dtype, copy=False)


def sized(sizes: Spec, like: Spec, rank: int) -> Spec:
    """The spec of a gradient whose shape an input names."""
    known = sizes.as_shape()
    return Spec(like.dtype, (None,) * rank if known is None else known)


def with_padding(
    input: Any, filters: Any, rank: int, attrs: dict[str, Any]
) -> tuple[Any, dict[str, Any]] | None:
    """(the input with its padding as elements, the attributes for it) for machine code that computes 16-bit
    floats as float32, whose padding it passes over; None where the kernel passes it over too, or there is none."""
    spec = spec_of(input)
    if spec.dtype is not float16 or 0 in filters:
        return None
    plan = plan_of(rank, **attrs)
    _, sizes, _ = windows.split(spec.shape, rank, plan.format)
    along = plan.axes(sizes, filters[:-2])
    if not any(a.padded for a in along):
        return None
    ends = windows.joined((0, 0), [(a.before, a.after) for a in along], (0, 0), plan.format)
    without = {"explicit_paddings": []} if "explicit_paddings" in attrs else {}
    return raw.Pad(input, np.asarray(ends, np.int32)), {**attrs, "padding": "VALID", **without}


def padded_convolution(convolution: Any, input: Any, filter: Any, rank: int, attrs: Any) -> Any:
    """The rule `native` of a convolution: `with_padding` or NotImplemented."""
    found = with_padding(input, spec_of(filter).shape, rank, attrs)
    return NotImplemented if found is None else convolution(found[0], filter, **found[1])


def padded_filter_gradient(
    gradient: Any, input: Any, filter_sizes: Spec, out_backprop: Any, rank: int, attrs: Any
) -> Any:
    """The rule `native` of a filter gradient: `with_padding` or NotImplemented."""
    filters = filter_sizes.as_shape()
    found = None if filters is None else with_padding(input, filters, rank, attrs)
    if found is None:
        return NotImplemented
    return gradient(found[0], np.asarray(filters, np.int32), out_backprop, **found[1])


# -- two dimensions --------------------------------------------------------------------


@op
class Conv2D(Op):
    """Every window's product with every filter; groups if the filters are narrower."""

    signature = f"input: T, filter: T; {ATTRS_2D} -> output: T"
    bilinear = True
    normwise_error = True
    T = (*FLOATING, int32)
    gradient_needs = {"input": ("filter",), "filter": ("input",)}
    batching = "examples"

    def infer(self, input: Spec, filter: Spec, **attrs: Any) -> Spec:
        plan = plan_of(4, **attrs)
        return plan.infer(input, filter)

    def kernel(self, input, filter, **attrs: Any):
        plan = plan_of(4, **attrs)
        return convolve(plan, input, filter)

    def native(self, input, filter, **attrs: Any) -> Any:
        return padded_convolution(raw.Conv2D, input, filter, 4, attrs)

    def gradient(self, input, filter, doutput, **attrs: Any) -> Any:
        return (
            lambda: raw.Conv2DBackpropInput(shape_of(spec_of(input)), filter, doutput, **attrs),
            lambda: raw.Conv2DBackpropFilter(input, shape_of(spec_of(filter)), doutput, **attrs),
        )


@op
class Conv2DBackpropInput(Op):
    """The gradient of Conv2D by its input."""

    signature = f"input_sizes: int32, filter: T, out_backprop: T; {ATTRS_2D} -> output: T"
    bilinear = True
    normwise_error = True
    T = (*FLOATING, int32)
    shape_input = "input_sizes"

    def infer(self, input_sizes: Spec, filter: Spec) -> Spec:
        return sized(input_sizes, filter, 4)

    def kernel(self, input_sizes, filter, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        return convolve_by_input(plan, input_sizes, filter, out_backprop)

    def gradient(self, filter, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            None,
            lambda: raw.Conv2DBackpropFilter(
                doutput, shape_of(spec_of(filter)), out_backprop, **attrs
            ),
            lambda: raw.Conv2D(doutput, filter, **attrs),
        )


@op
class Conv2DBackpropFilter(Op):
    """The gradient of Conv2D by its filters."""

    signature = f"input: T, filter_sizes: int32, out_backprop: T; {ATTRS_2D} -> output: T"
    bilinear = True
    normwise_error = True
    T = FLOATING

    def infer(self, input: Spec, filter_sizes: Spec) -> Spec:
        return sized(filter_sizes, input, 4)

    def kernel(self, input, filter_sizes, out_backprop, **attrs: Any):
        plan = plan_of(4, **attrs)
        return convolution_filter_gradient(plan, input, filter_sizes, out_backprop)

    def native(self, input, filter_sizes: Spec, out_backprop, **attrs: Any) -> Any:
        gradient = raw.Conv2DBackpropFilter
        return padded_filter_gradient(gradient, input, filter_sizes, out_backprop, 4, attrs)

    def gradient(self, input, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            lambda: raw.Conv2DBackpropInput(
                shape_of(spec_of(input)), doutput, out_backprop, **attrs
            ),
            None,
            lambda: raw.Conv2D(input, doutput, **attrs),
        )


# -- three dimensions ------------------------------------------------------------------


@op
class Conv3D(Op):
    """Conv2D with one spatial dimension more."""

    signature = f"input: T, filter: T; {ATTRS_3D} -> output: T"
    bilinear = True
    normwise_error = True
    T = FLOATING
    gradient_needs = {"input": ("filter",), "filter": ("input",)}
    batching = "examples"

    def infer(self, input: Spec, filter: Spec, **attrs: Any) -> Spec:
        return plan_of(5, **attrs).infer(input, filter)

    def kernel(self, input, filter, **attrs: Any):
        plan = plan_of(5, **attrs)
        return convolve(plan, input, filter)

    def native(self, input, filter, **attrs: Any) -> Any:
        return padded_convolution(raw.Conv3D, input, filter, 5, attrs)

    def gradient(self, input, filter, doutput, **attrs: Any) -> Any:
        return (
            lambda: raw.Conv3DBackpropInputV2(shape_of(spec_of(input)), filter, doutput, **attrs),
            lambda: raw.Conv3DBackpropFilterV2(input, shape_of(spec_of(filter)), doutput, **attrs),
        )


@op
class Conv3DBackpropInputV2(Op):
    """The gradient of Conv3D by its input."""

    signature = f"input_sizes: Tshape, filter: T, out_backprop: T; {ATTRS_3D} -> output: T"
    bilinear = True
    normwise_error = True
    T = FLOATING
    Tshape = INDEX

    def infer(self, input_sizes: Spec, filter: Spec) -> Spec:
        return sized(input_sizes, filter, 5)

    def kernel(self, input_sizes, filter, out_backprop, **attrs: Any):
        plan = plan_of(5, **attrs)
        return convolve_by_input(plan, input_sizes, filter, out_backprop)

    def gradient(self, filter, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            None,
            raw.Conv3DBackpropFilterV2(doutput, shape_of(spec_of(filter)), out_backprop, **attrs),
            raw.Conv3D(doutput, filter, **attrs),
        )


@op
class Conv3DBackpropFilterV2(Op):
    """The gradient of Conv3D by its filters."""

    signature = f"input: T, filter_sizes: int32, out_backprop: T; {ATTRS_3D} -> output: T"
    bilinear = True
    normwise_error = True
    T = FLOATING

    def infer(self, input: Spec, filter_sizes: Spec) -> Spec:
        return sized(filter_sizes, input, 5)

    def kernel(self, input, filter_sizes, out_backprop, **attrs: Any):
        plan = plan_of(5, **attrs)
        return convolution_filter_gradient(plan, input, filter_sizes, out_backprop)

    def native(self, input, filter_sizes: Spec, out_backprop, **attrs: Any) -> Any:
        gradient = raw.Conv3DBackpropFilterV2
        return padded_filter_gradient(gradient, input, filter_sizes, out_backprop, 5, attrs)

    def gradient(self, input, out_backprop, doutput, **attrs: Any) -> Any:
        return (
            raw.Conv3DBackpropInputV2(shape_of(spec_of(input)), doutput, out_backprop, **attrs),
            None,
            raw.Conv3D(input, doutput, **attrs),
        )
