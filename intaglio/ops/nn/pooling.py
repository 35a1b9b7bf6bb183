"""Pooling: the maximum or mean of every window, with gradients of all orders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import FLOATING, INDEX, REAL, DType, float32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant, shape_of, spec_of
from intaglio.ops.nn import pooling_kernels as kernels
from intaglio.ops.nn import windows

ATTRS = (
    "ksize: list(int), strides: list(int), padding: str, "
    "explicit_paddings: list(int) = [], data_format: str = 'NHWC'"
)
ATTRS_2D = "ksize: list(int), strides: list(int), padding: str, data_format: str = 'NHWC'"
ATTRS_3D = "ksize: list(int), strides: list(int), padding: str, data_format: str = 'NDHWC'"
MAX_TYPES = REAL


def infer_pooled(
    x: Spec,
    ksize: Sequence[int],
    strides: Sequence[int],
    padding: str,
    data_format: str = "NHWC",
    explicit_paddings: Sequence[int] = (),
) -> Spec:
    """The spec of a pooled array."""
    rank = len(kernels.FORMATS[5 if data_format in kernels.FORMATS[5] else 4][0])
    kernels.check(ksize, strides, padding, data_format, rank)
    if x.rank not in (None, rank):
        raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
    sizes = x.shape or (None,) * rank
    pairs = [tuple(explicit_paddings[2 * i : 2 * i + 2]) or (0, 0) for i in range(rank)]
    dims = [
        windows.out_size(n, k, s, 1, padding, p)  # type: ignore[arg-type]  # a pair of numbers
        for n, k, s, p in zip(sizes, ksize, strides, pairs, strict=True)
    ]
    return Spec(x.dtype, tuple(dims))


def _check_gradient(d: Any, y: Any) -> None:
    if d.shape != y.shape:
        raise invalid_argument(f"Expected grad shape to be {y.shape}, but got {d.shape}")


def _check_pooled(y: Any, along: Any) -> None:
    if y.shape != kernels.outs(along):
        raise invalid_argument(
            f"Expected orig_output shape to be {kernels.outs(along)}, but got {y.shape}"
        )


@op
class MaxPool(Op):
    """The maximum of every window."""

    native_exact = True
    signature = f"input: T; {ATTRS} -> output: T"
    T = MAX_TYPES
    batching = "examples"

    def infer(self, input: Spec, **attrs: Any) -> Spec:
        return infer_pooled(input, **attrs)

    def kernel(self, input, **attrs: Any):
        along = kernels.plan(input.shape, **attrs)
        return kernels.maximum(input, along)

    def native(self, input, **attrs: Any) -> Any:
        return _short_maxima(raw.MaxPool, input, attrs)

    def gradient(self, input, output, doutput, **attrs: Any) -> Any:
        return raw.MaxPoolGrad(input, output, doutput, **attrs)


def _is_short(dtype: DType) -> bool:
    """Whether numbers are computed as float32 in compiled functions."""
    return dtype.is_floating and dtype.size == 2


def _short_maxima(pool: Any, input: Any, attrs: dict[str, Any]) -> Any:
    """The rule `native` of maxima of 16-bit floats; NotImplemented for others."""
    if not _is_short(input.dtype):
        return NotImplemented
    # The search begins at the least number of the dtype, which is another one in float32.
    pooled = pool(raw.Cast(input, DstT=float32), **attrs)
    least = constant(kernels.least_finite(input.dtype.numpy), input)
    return raw.Maximum(raw.Cast(pooled, DstT=input.dtype), least)


def _with_least_finite(x: Any) -> Any:
    """16-bit floats as float32, the least finite number of the one dtype as that of the other."""
    least = constant(kernels.least_finite(x.dtype.numpy), x)
    wide = raw.Cast(x, DstT=float32)
    return raw.SelectV2(raw.Equal(x, least), kernels.least_finite(float32.numpy), wide)


@op
class MaxPoolGrad(Op):
    """The gradient of MaxPool by its input."""

    signature = f"orig_input: T, orig_output: T, grad: T; {ATTRS} -> output: T"
    T = MAX_TYPES
    batched_inputs = 3
    batching = "examples"

    def infer(self, orig_input: Spec) -> Spec:
        return Spec(orig_input.dtype, orig_input.shape)

    def kernel(self, orig_input, orig_output, grad, **attrs: Any):
        _check_gradient(grad, orig_output)
        along = kernels.plan(orig_input.shape, **attrs)
        _check_pooled(orig_output, along)
        return kernels.maximum_gradient(orig_input, orig_output, grad, along)

    def native(self, orig_input, orig_output, grad, **attrs: Any) -> Any:
        if not _is_short(grad.dtype):
            return NotImplemented
        x, y = _with_least_finite(orig_input), _with_least_finite(orig_output)
        found = raw.MaxPoolGrad(x, y, raw.Cast(grad, DstT=float32), **attrs)
        return raw.Cast(found, DstT=grad.dtype)

    def gradient(
        self, orig_input, orig_output, doutput, padding, explicit_paddings, **attrs: Any
    ) -> Any:
        if padding == "EXPLICIT":
            raise NotImplementedError(
                "The second derivative of max pooling with explicit padding does not exist in "
                "TensorFlow either: pad with tf.pad and pool with 'VALID' instead."
            )
        return (
            raw.ZerosLike(orig_input),
            raw.ZerosLike(orig_output),
            raw.MaxPoolGradGrad(orig_input, orig_output, doutput, padding=padding, **attrs),
        )


class SecondMaximum(Op):
    """The gradient of a maximum pooling's gradient by the gradient given to it."""

    T = MAX_TYPES
    pair: str = ""
    batched_inputs = 3
    batching = "examples"

    def infer(self, orig_output: Spec) -> Spec:
        return Spec(orig_output.dtype, orig_output.shape)

    def kernel(self, orig_input, orig_output, grad, **attrs: Any):
        _check_gradient(grad, orig_input)
        along = kernels.plan(orig_input.shape, **attrs)
        _check_pooled(orig_output, along)
        return kernels.at_maxima(orig_input, orig_output, grad, along)

    def gradient(self, orig_input, orig_output, doutput, **attrs: Any) -> Any:
        first = getattr(raw, self.pair)
        return (
            raw.ZerosLike(orig_input),
            raw.ZerosLike(orig_output),
            first(orig_input, orig_output, doutput, **attrs),
        )


@op
class MaxPoolGradGrad(SecondMaximum):
    """The elements of `grad` where MaxPool found its maxima."""

    signature = f"orig_input: T, orig_output: T, grad: T; {ATTRS_2D} -> output: T"
    pair = "MaxPoolGrad"


@op
class MaxPool3D(Op):
    """The maximum of every window in three spatial dimensions."""

    native_exact = True
    signature = f"input: T; {ATTRS_3D} -> output: T"
    T = FLOATING
    batching = "examples"

    def infer(self, input: Spec, **attrs: Any) -> Spec:
        return infer_pooled(input, **attrs)

    def kernel(self, input, **attrs: Any):
        return kernels.maximum(input, kernels.plan(input.shape, **attrs))

    def native(self, input, **attrs: Any) -> Any:
        return _short_maxima(raw.MaxPool3D, input, attrs)

    def gradient(self, input, output, doutput, **attrs: Any) -> Any:
        return raw.MaxPool3DGrad(input, output, doutput, **attrs)


@op
class MaxPool3DGrad(Op):
    """The gradient of MaxPool3D by its input."""

    signature = f"orig_input: TInput, orig_output: TInput, grad: T; {ATTRS_3D} -> output: T"
    T = FLOATING
    TInput = FLOATING
    batched_inputs = 3
    batching = "examples"

    def infer(self, orig_input: Spec, grad: Spec) -> Spec:
        return Spec(grad.dtype, orig_input.shape)

    def kernel(self, orig_input, orig_output, grad, **attrs: Any):
        _check_gradient(grad, orig_output)
        along = kernels.plan(orig_input.shape, **attrs)
        _check_pooled(orig_output, along)
        return kernels.maximum_gradient(orig_input, orig_output, grad, along, always=False)

    def gradient(self, orig_input, orig_output, doutput, **attrs: Any) -> Any:
        return (
            raw.ZerosLike(orig_input),
            raw.ZerosLike(orig_output),
            raw.MaxPool3DGradGrad(orig_input, orig_output, doutput, **attrs),
        )


@op
class MaxPool3DGradGrad(SecondMaximum):
    """The elements of `grad` where MaxPool3D found its maxima."""

    signature = f"orig_input: T, orig_output: T, grad: T; {ATTRS_3D} -> output: T"
    pair = "MaxPool3DGrad"


# -- mean ------------------------------------------------------------------------------


class MeanGrad(Op):
    """The gradient of a mean pooling."""

    T: tuple[DType, ...] = FLOATING
    forth: str = ""
    rank: int = 4

    def infer(self, orig_input_shape: Spec, grad: Spec) -> Spec:
        known = orig_input_shape.as_shape()
        return Spec(grad.dtype, (None,) * self.rank if known is None else known)

    def kernel(self, orig_input_shape, grad, **attrs: Any):
        shape = tuple([int(n) for n in orig_input_shape])
        along = kernels.plan(shape, **attrs)
        if grad.shape != kernels.outs(along):
            raise invalid_argument(
                f"Expected grad shape to be {kernels.outs(along)}, but got {grad.shape}"
            )
        return kernels.mean_gradient(grad, along)

    def gradient(self, doutput, **attrs: Any) -> Any:
        return None, getattr(raw, self.forth)(doutput, **attrs)


class Averages(Op):
    """The mean of every window; padding does not count."""

    T = FLOATING
    back: str
    batching = "examples"

    def infer(self, x: Spec, **attrs: Any) -> Spec:
        return infer_pooled(x, **attrs)

    def kernel(self, x, **attrs: Any):
        return kernels.mean(x, kernels.plan(x.shape, **attrs))

    def gradient(self, x, doutput, **attrs: Any) -> Any:
        return getattr(raw, self.back)(shape_of(spec_of(x)), doutput, **attrs)


@op
class AvgPool(Averages):
    """The means of windows over two dimensions."""

    signature = f"value: T; {ATTRS_2D} -> output: T"
    called = {"x": "value"}
    back = "AvgPoolGrad"


@op
class AvgPoolGrad(MeanGrad):
    """The gradient of AvgPool."""

    signature = f"orig_input_shape: int32, grad: T; {ATTRS_2D} -> output: T"
    forth = "AvgPool"


@op
class AvgPool3D(Averages):
    """AvgPool in three spatial dimensions."""

    signature = f"input: T; {ATTRS_3D} -> output: T"
    called = {"x": "input"}
    back = "AvgPool3DGrad"


@op
class AvgPool3DGrad(MeanGrad):
    """The gradient of AvgPool3D."""

    signature = f"orig_input_shape: int32, grad: T; {ATTRS_3D} -> output: T"
    forth = "AvgPool3D"
    rank = 5


# -- maximum with argmax ---------------------------------------------------------------


def _flat_positions(shape: tuple[int, ...], with_batch: bool) -> np.ndarray:
    positions = np.arange(int(np.prod(shape[1:], dtype=np.int64))).reshape(1, *shape[1:])
    if not with_batch:
        return np.broadcast_to(positions, shape)
    return positions + np.arange(shape[0]).reshape(-1, 1, 1, 1) * positions.size


@op
class MaxPoolWithArgmax(Op):
    """The maximum of every window and its index in the flat array."""

    Targmax = INDEX

    signature = (
        "input: T; ksize: list(int), strides: list(int), Targmax: type = int64, "
        "padding: str, include_batch_in_index: bool = False "
        "-> output: T, argmax: Targmax"
    )
    T = MAX_TYPES

    def infer(self, input: Spec, ksize, strides, padding, Targmax: DType) -> Any:
        pooled = infer_pooled(input, ksize, strides, padding)
        return pooled, Spec(Targmax, pooled.shape)

    def kernel(self, input, ksize, strides, padding, Targmax: DType, include_batch_in_index):
        if not input.size:
            raise invalid_argument(f"tensor_in must not be empty, its shape is {list(input.shape)}")
        along = kernels.plan(input.shape, ksize, strides, padding)
        positions = _flat_positions(input.shape, include_batch_in_index)
        output, found = kernels.first_maxima(input, positions, along)
        return output, found.astype(Targmax.numpy, copy=False)

    def gradient(
        self, input, argmax, doutput, ksize, strides, padding, include_batch_in_index
    ) -> Any:
        return raw.MaxPoolGradWithArgmax(
            input,
            doutput,
            argmax,
            ksize=ksize,
            strides=strides,
            padding=padding,
            include_batch_in_index=include_batch_in_index,
        )


def _flat_argmax(argmax: Any, shape: tuple[int, ...], with_batch: bool) -> np.ndarray:
    """The flat indices into the whole batch. Raises InvalidArgumentError for bad ones."""
    size = int(np.prod(shape, dtype=np.int64))
    flat = argmax
    if not with_batch:
        each = size // max(shape[0], 1)
        steps = np.arange(shape[0]).reshape(-1, *[1] * (argmax.ndim - 1))
        flat = argmax + steps * each
    if flat.size and not (flat.min() >= 0 and flat.max() < size):
        raise invalid_argument(f"Invalid index value: argmax has values outside [0, {size})")
    return flat


@op
class MaxPoolGradWithArgmax(Op):
    """The gradient of MaxPoolWithArgmax by its input."""

    signature = (
        "input: T, grad: T, argmax: Targmax; ksize: list(int), strides: list(int), "
        "padding: str, include_batch_in_index: bool = False -> output: T"
    )
    T = MAX_TYPES
    Targmax = INDEX

    def infer(self, input: Spec) -> Spec:
        return Spec(input.dtype, input.shape)

    def kernel(self, input, grad, argmax, ksize, strides, padding, include_batch_in_index):
        along = kernels.plan(input.shape, ksize, strides, padding)
        _check_pooled(grad, along)
        _check_pooled(argmax, along)
        result = np.zeros(input.size, grad.dtype)
        flat = _flat_argmax(argmax, input.shape, include_batch_in_index)
        np.add.at(result, flat.reshape(-1), grad.reshape(-1))
        return result.reshape(input.shape)

    def gradient(
        self, input, grad, argmax, doutput, ksize, strides, padding, include_batch_in_index
    ) -> Any:
        return (
            raw.ZerosLike(input),
            raw.MaxPoolGradGradWithArgmax(
                input,
                doutput,
                argmax,
                ksize=ksize,
                strides=strides,
                padding=padding,
                include_batch_in_index=include_batch_in_index,
            ),
            None,
        )


@op
class MaxPoolGradGradWithArgmax(Op):
    """The elements of `grad` at the indices of the maxima."""

    signature = (
        "input: T, grad: T, argmax: Targmax; ksize: list(int), strides: list(int), "
        "padding: str, include_batch_in_index: bool = False -> output: T"
    )
    T = MAX_TYPES
    Targmax = INDEX

    def infer(self, input: Spec, argmax: Spec) -> Spec:
        return Spec(input.dtype, argmax.shape)

    def kernel(self, input, grad, argmax, include_batch_in_index):
        flat = _flat_argmax(argmax, input.shape, include_batch_in_index)
        return grad.reshape(-1)[flat]
