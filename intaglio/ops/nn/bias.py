"""Adding a bias to each channel."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.linalg.matmul import brackets
from intaglio.ops.math.reduction import by_kernel
from intaglio.ops.math.summation import add_reduce, column_sums
from intaglio.ops.nn import windows

FORMATS = ("NHWC", "NCHW")


def _column(bias: Any, rank: int, data_format: str) -> Any:
    """The bias shaped to be broadcast."""
    if windows.channels_first(data_format):
        return bias.reshape(-1, *[1] * (rank - 2))
    return bias


def _add(value: Any, bias: Any, data_format: str) -> Any:
    if value.ndim < 2:
        raise invalid_argument(f"Input tensor must be at least 2D: {brackets(value.shape)}")
    if bias.ndim != 1:
        raise invalid_argument(f"Biases must be 1D: {brackets(bias.shape)}")
    at = 1 if windows.channels_first(data_format) else -1
    if value.shape[at] != bias.shape[0]:
        where = "second" if at == 1 else "last"
        raise invalid_argument(
            f"Must provide as many biases as the {where} dimension of the input tensor: "
            f"{brackets(bias.shape)} vs. {brackets(value.shape)}"
        )
    return np.add(value, _column(bias, value.ndim, data_format))


def _infer(value: Spec, bias: Spec, data_format: str) -> Spec:
    windows.check_format(data_format, FORMATS)
    # Eagerly a matrix may have its channels first, as in TensorFlow.
    least = 3 if windows.channels_first(data_format) else 2
    if value.shape is not None and len(value.shape) < least:
        raise ShapeError(f"Shape must be at least rank {least} but is rank {len(value.shape)}")
    if bias.rank not in (None, 1):
        raise ShapeError(f"Shape must be rank 1 but is rank {bias.rank}")
    if value.shape is None or bias.shape is None:
        return Spec(value.dtype, value.shape)
    at = 1 if windows.channels_first(data_format) else len(value.shape) - 1
    channels, bias_size = value.shape[at], bias.shape[0]
    if channels is not None and bias_size is not None and channels != bias_size:
        raise ShapeError(f"Dimensions must be equal, but are {channels} and {bias_size}")
    dims = list(value.shape)
    dims[at] = bias_size if channels is None else channels
    return Spec(value.dtype, tuple(dims))


@op
class BiasAdd(Op):
    """value + bias, the bias along the channels."""

    signature = "value: T, bias: T; data_format: str = 'NHWC' -> output: T"
    T = NUMERIC

    def infer(self, value: Spec, bias: Spec, data_format) -> Spec:
        return _infer(value, bias, data_format)

    def kernel(self, value, bias, data_format):
        return _add(value, bias, data_format)

    def kernel_for(self, value: Spec, bias: Spec, data_format) -> Any:
        """NumPy's sum itself, where the channels come last and the shapes are known to fit."""
        dims = value.shape
        if data_format == "NCHW" or dims is None or len(dims) < 2 or dims[-1] is None:
            return None
        return np.add if bias.shape == dims[-1:] else None

    def scalar(self, s, value, bias, data_format):
        # Only of the last dimension is it what broadcasting does.
        return NotImplemented if data_format == "NCHW" else s.add(value, bias)

    def gradient(self, doutput, data_format) -> Any:
        return doutput, raw.BiasAddGrad(doutput, data_format=data_format)


@op
class BiasAddV1(Op):
    """value + bias, the bias along the last dimension."""

    native_exact = True
    signature = "value: T, bias: T -> output: T"
    T = NUMERIC

    def infer(self, value: Spec, bias: Spec) -> Spec:
        return _infer(value, bias, "NHWC")

    def kernel(self, value, bias):
        return _add(value, bias, "NHWC")

    def native(self, value, bias) -> Any:
        return raw.BiasAdd(value, bias)

    def gradient(self, doutput) -> Any:
        return doutput, raw.BiasAddGrad(doutput)


@op
class BiasAddGrad(Op):
    """The gradient of BiasAdd by the bias: the sum over all but the channels."""

    data_format = ("NHWC", "NCHW")

    signature = "out_backprop: T; data_format: str = 'NHWC' -> output: T"
    T = NUMERIC

    def infer(self, out_backprop: Spec, data_format) -> Spec:
        windows.check_format(data_format, FORMATS)
        dims = out_backprop.shape
        if dims is None:
            return Spec(out_backprop.dtype, (None,))
        if len(dims) < 2:
            raise ShapeError(f"Shape must be at least rank 2 but is rank {len(dims)}")
        at = 1 if windows.channels_first(data_format) else -1
        return Spec(out_backprop.dtype, (dims[at],))

    def kernel(self, out_backprop, data_format):
        if out_backprop.ndim < 2:
            raise invalid_argument(
                f"Input tensor must be at least 2D: {brackets(out_backprop.shape)}"
            )
        dtype = out_backprop.dtype
        x = out_backprop
        if dtype.kind not in "iu" and dtype.itemsize == 2:
            x = x.astype(np.float32)
        if windows.channels_first(data_format):
            over = (0, *range(2, x.ndim))
            return add_reduce(x, over).astype(dtype, copy=False)
        rows = x.reshape(prod(x.shape[:-1]), x.shape[-1])
        if rows.dtype.kind in "iu":
            return rows.sum(axis=0, dtype=dtype)
        found = by_kernel("sum", rows, (0,), False)
        if found is not None:
            return found.astype(dtype, copy=False)
        return column_sums(rows).astype(dtype, copy=False)

    def gradient(self, out_backprop, doutput, data_format) -> Any:
        if windows.channels_first(data_format):
            # (C,) broadcast to (N, C, ...): as a bias added to zeros.
            return raw.BiasAdd(raw.ZerosLike(out_backprop), doutput, data_format=data_format)
        return raw.BroadcastTo(doutput, raw.Shape(out_backprop))
