"""Quantised values: linear quantisation in both directions, and products of quantised numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.operators.convolution import convolved
from intaglio.export.onnx.loading.operators.elementwise import converted, product
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import cast, dims, dtype_of, element, rank, tensor
from intaglio.opdef import raw

# The bounds of integer types, the 4-bit and 2-bit ones included.
_BITS = {"int2": (-2, 1), "uint2": (0, 3), "int4": (-8, 7), "uint4": (0, 15)}


def _bounds(dtype: Any) -> tuple[float, float] | None:
    """The least and greatest integers; None for floats."""
    if dtype.name in _BITS:
        return _BITS[dtype.name]
    if dtype.is_integer:
        return dtype.min, dtype.max
    return None


def _broadcast(v: Any, x: Any, axis: int, block: int) -> Any:
    """Scales or zero points in the shape of the tensor: of all, of an axis, or of blocks of one."""
    v = tensor(v)
    if rank(v) == 0 or (rank(v) == 1 and dims(v)[0] == 1 and not block and rank(x) != 1):
        return raw.Reshape(v, np.zeros(0, np.int64))
    if not block:
        form = [1] * rank(x)
        form[axis % rank(x)] = -1
        return raw.Reshape(v, np.array(form, np.int64)) if rank(v) == 1 else v
    axis %= rank(x)
    count = dims(v)[axis]
    index = np.repeat(np.arange(count or 0), block)
    size = dims(x)[axis]
    return raw.GatherV2(v, index if size is None else index[:size], axis)


def _quantised(value: Any, scale: Any, zero: Any, wanted: Any, saturate: bool = True) -> Any:
    """value / scale + zero, rounded to even, within the bounds of the dtype."""
    quotient = raw.RealDiv(value, scale)
    bounds = _bounds(wanted)
    if bounds is None:
        c = _Saturating(saturate)
        shifted = quotient if zero is None else raw.AddV2(quotient, cast(zero, quotient.dtype))
        return converted(c, shifted, wanted)
    steps = raw.Rint(quotient)
    wide = cast(steps, dtypes.float64)
    if zero is not None:
        wide = raw.AddV2(wide, cast(cast(zero, dtypes.int32), dtypes.float64))
    inside = raw.Minimum(raw.Maximum(wide, np.float64(bounds[0])), np.float64(bounds[1]))
    return cast(cast(inside, dtypes.int32), wanted)


class _Saturating:
    """The attributes of a conversion that saturates, or does not."""

    def __init__(self, saturate: bool) -> None:
        self._saturate = int(saturate)

    def attr(self, name: str, default: Any = None) -> Any:
        """`saturate`, whatever is asked for."""
        return self._saturate


@operator("QuantizeLinear")
def _quantize(c, x, scale, zero=None) -> Any:
    axis, block = c.attr("axis", 1), c.attr("block_size", 0)
    number = c.attr("output_dtype", 0)
    wanted = dtype_of(number) if number else dtypes.uint8 if zero is None else element(zero)
    x = tensor(x)
    precision = c.attr("precision", 0)
    wide = dtype_of(precision) if precision else dtypes.float32
    if x.dtype.is_integer or (x.dtype.size < 4 and not precision):
        x = cast(x, dtypes.float32)
    scale = cast(_broadcast(scale, x, axis, block), wide)
    zero = None if zero is None else _broadcast(_plain(zero), x, axis, block)
    return _quantised(cast(x, wide), scale, zero, wanted, bool(c.attr("saturate", 1)))


def _plain(x: Any) -> Any:
    """Numbers of few bits in a dtype that ops have."""
    dtype = element(x)
    if dtype.is_integer:
        return cast(x, dtypes.int32)
    return cast(tensor(x), dtypes.float32)


@operator("DequantizeLinear")
def _dequantize(c, x, scale, zero=None) -> Any:
    axis, block = c.attr("axis", 1), c.attr("block_size", 0)
    number = c.attr("output_dtype", 0)
    wanted = dtype_of(number) if number else element(scale)
    x = _plain(tensor(x))
    if zero is not None:
        x = raw.Sub(x, _broadcast(_plain(zero), x, axis, block))
    scale = cast(_broadcast(scale, x, axis, block), dtypes.float32)
    return cast(raw.Mul(cast(x, dtypes.float32), scale), wanted)


def _centred(x: Any, zero: Any, per_row: bool) -> Any:
    """8-bit integers without their zero point, as float64, in which sums of products are exact."""
    x = cast(_plain(tensor(x)), dtypes.float64)
    if zero is None:
        return x
    zero = cast(_plain(tensor(zero)), dtypes.float64)
    if rank(zero) == 1 and per_row and dims(zero)[0] != 1:
        zero = raw.ExpandDims(zero, 1)
    elif rank(zero) == 1 and dims(zero)[0] == 1:
        zero = raw.Reshape(zero, np.zeros(0, np.int64))
    return raw.Sub(x, zero)


@operator("MatMulInteger")
def _integer_product(c, a, b, a_zero=None, b_zero=None) -> Any:
    found = product(_centred(a, a_zero, True), _centred(b, b_zero, False))
    return cast(found, dtypes.int32)


@operator("QLinearMatMul")
def _quantised_product(c, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero) -> Any:
    total = product(_centred(a, a_zero, True), _centred(b, b_zero, False))
    scales = [cast(tensor(s), dtypes.float64) for s in (a_scale, b_scale, y_scale)]
    value = raw.Mul(raw.Mul(total, scales[0]), scales[1])
    return _quantised(value, scales[2], _plain(y_zero), element(y_zero))


@operator("QLinearConv")
def _quantised_conv(c, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None) -> Any:
    images = _centred(x, x_zero, False)
    filters = cast(_plain(tensor(w)), dtypes.float64)
    zero = cast(_plain(tensor(w_zero)), dtypes.float64)
    filters = raw.Sub(filters, _front(zero, rank(filters)))
    total = convolved(c, images, filters, c.attr("group", 1))
    if bias is not None:
        form = np.array([-1, *[1] * (rank(total) - 2)])
        total = raw.AddV2(total, raw.Reshape(cast(bias, dtypes.float64), form))
    scale = raw.Mul(cast(tensor(x_scale), dtypes.float64), cast(tensor(w_scale), dtypes.float64))
    value = raw.Mul(total, _front(scale, rank(total) - 1))
    return _quantised(value, cast(tensor(y_scale), dtypes.float64), _plain(y_zero), element(y_zero))


def _front(v: Any, count: int) -> Any:
    """A vector along the first of so many dimensions; a single number as it is."""
    if rank(v) == 0 or dims(v)[0] == 1:
        return raw.Reshape(v, np.zeros(0, np.int64))
    return raw.Reshape(v, np.array([-1, *[1] * (count - 1)]))
