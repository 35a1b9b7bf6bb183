"""Elementwise ops that ONNX has an operator for, or whose expressions look at their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.builder import BOOL
from intaglio.export.onnx.registry import onnx_rule
from intaglio.export.onnx.scalars import Scalars
from intaglio.export.onnx.types import stored
from intaglio.export.onnx.values import Operand, Unexportable, Value, is_known
from intaglio.opdef import raw


def _float(x: Operand) -> bool:
    return np.dtype(x.dtype).kind not in "iub"


def _of_features(op: Any, operator: str, **attributes: Any) -> None:
    @onnx_rule(op)
    def rule(builder, features) -> Any:
        return builder.add(operator, features, **attributes)


for _op, _operator in (
    (raw.Relu, "Relu"),
    (raw.Elu, "Elu"),
    (raw.Softplus, "Softplus"),
    (raw.Softsign, "Softsign"),
):
    _of_features(_op, _operator)
# The attributes' defaults are rounded to fewer digits than TensorFlow's constants.
_of_features(raw.Selu, "Selu", alpha=1.6732632423543772, gamma=1.0507009873554805)


@onnx_rule(raw.LeakyRelu)
def _leaky_relu(builder, features, alpha) -> Any:
    return builder.add("LeakyRelu", features, alpha=float(alpha))


@onnx_rule(raw.Sigmoid)
def _sigmoid(builder, x) -> Any:
    if np.dtype(x.dtype).kind == "c":
        raise Unexportable("ONNX' operators take no complex numbers")
    return builder.add("Sigmoid", x)


@onnx_rule(raw.Reciprocal, raw.Inv)
def _reciprocal(builder, x) -> Any:
    return builder.add("Reciprocal", x)


@onnx_rule(raw.Cast)
def _cast(builder, x, DstT: DType, node) -> Any:
    own, wanted = np.dtype(x.dtype), DstT.numpy
    if "c" in (own.kind, wanted.kind) or wanted.kind == "O" != own.kind or own.kind == "O":
        raise Unexportable(f"a conversion from {node.inputs[0].dtype.name} to {DstT.name}")
    return builder.cast(x, wanted)


@onnx_rule(raw.Bitcast)
def _bitcast(input, type: DType) -> Any:
    """Quantised numbers as the integers that they are, and back."""
    if stored(np.dtype(input.dtype)) != stored(np.dtype(type.numpy)):
        raise Unexportable(f"elements of {input.dtype} as the bits of {type.name}")
    return input.view(type.numpy) if is_known(input) else input._replace(dtype=type.numpy)


@onnx_rule(raw.Equal)
def _equal(builder, x, y) -> Any:
    return builder.add("Equal", x, y, dtype=BOOL)


@onnx_rule(raw.NotEqual)
def _not_equal(builder, x, y) -> Any:
    return builder.add("Not", builder.add("Equal", x, y, dtype=BOOL))


@onnx_rule(raw.FloorMod)
def _floor_mod(builder, x, y) -> Any:
    if not _float(x):
        return builder.add("Mod", x, y)
    rest = builder.add("Mod", x, y, fmod=1)
    s = Scalars(builder)
    zero = builder.scalar(0, rest)
    differs = s.ne(s.lt(rest, zero), s.lt(y, zero))
    return s.select(s.logical_and(s.ne(rest, zero), differs), s.add(rest, y), rest)


@onnx_rule(raw.Mod, raw.TruncateMod)
def _truncated_mod(builder, x, y) -> Any:
    return builder.add("Mod", x, y, fmod=1)


@onnx_rule(raw.FloorDiv)
def _floor_divide(builder, x, y) -> Any:
    if not _float(x):
        return builder.add("Div", builder.add("Sub", x, builder.add("Mod", x, y)), y)
    return builder.add("Floor", builder.add("Div", x, y))


@onnx_rule(raw.Div)
def _divide(builder, x, y) -> Any:
    return builder.add("Div", x, y)


@onnx_rule(raw.TruncateDiv)
def _truncated_quotient(builder, x, y) -> Any:
    quotient = builder.add("Div", x, y)
    return Scalars(builder).trunc(quotient) if _float(x) else quotient


@onnx_rule(raw.LeftShift)
def _left_shift(builder, x, y) -> Any:
    return _shifted(builder, x, y, "LEFT")


@onnx_rule(raw.RightShift)
def _right_shift(builder, x, y) -> Any:
    if np.dtype(x.dtype).kind == "u":
        return _shifted(builder, x, y, "RIGHT")
    s = Scalars(builder)
    negative = s.lt(x, builder.scalar(0, x))
    shifted = _shifted(builder, s.select(negative, s.invert(x), x), y, "RIGHT")
    return s.select(negative, s.invert(shifted), shifted)


def _shifted(builder: Any, x: Operand, y: Operand, direction: str) -> Value:
    """The bits moved by at least none and less than all: ONNX shifts unsigned integers."""
    s, bits = Scalars(builder), np.dtype(x.dtype).itemsize * 8
    y = s.minimum(s.maximum(y, builder.scalar(0, y)), builder.scalar(bits - 1, y))
    unsigned = np.dtype(f"uint{bits}")
    operands = builder.cast(x, unsigned), builder.cast(y, unsigned)
    return builder.cast(builder.add("BitShift", *operands, direction=direction), x.dtype)


@onnx_rule(raw.Select)
def _select(builder, condition, x, y, node) -> Any:
    ranks = [t.dims for t in node.inputs[:2]]
    if ranks[0] is not None and len(ranks[0]) == 1 and ranks[1] is not None and len(ranks[1]) > 1:
        condition = builder.unsqueeze(condition, range(1, len(ranks[1])))
    return Scalars(builder).select(condition, x, y)


@onnx_rule(raw.AddN, raw.AccumulateNV2)
def _sum_of_all(builder, inputs) -> Any:
    if not all(_float(x) for x in inputs):
        total = inputs[0]
        for x in inputs[1:]:
            total = builder.add("Add", total, x)
        return total if is_known(total) else builder.add("Identity", total)
    return builder.add("Sum", *inputs)


@onnx_rule(raw.ClipByValue)
def _clipped(builder, t, clip_value_min, clip_value_max) -> Any:
    return builder.add("Min", builder.add("Max", t, clip_value_min), clip_value_max)


@onnx_rule(raw.BiasAdd)
def _bias_add(builder, value, bias, data_format, node) -> Any:
    dims = node.inputs[0].dims
    if data_format == "NCHW" and dims is not None and len(dims) > 2:
        bias = builder.unsqueeze(bias, range(1, len(dims) - 1))
    return builder.add("Add", value, bias)


@onnx_rule(raw.BiasAddV1)
def _bias_add_v1(builder, value, bias) -> Any:
    return builder.add("Add", value, bias)


@onnx_rule(raw.ApproximateEqual)
def _nearly_equal(builder, x, y, tolerance) -> Any:
    distance = builder.add("Abs", builder.add("Sub", x, y))
    return builder.add("Less", distance, builder.scalar(tolerance, x), dtype=BOOL)


@onnx_rule(raw.StringJoin)
def _joined_texts(builder, inputs, separator) -> Any:
    found = inputs[0]
    for text in inputs[1:]:
        if separator:
            found = builder.add("StringConcat", found, np.array(separator.encode(), object))
        found = builder.add("StringConcat", found, text)
    return found
