"""Elementwise operators, matrix products, and conversions of elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    dtype_of,
    element,
    is_float,
    like,
    rank,
    reshape,
    tensor,
)
from intaglio.opdef import raw

# Operators that are one op, with as many operands.
_UNARY: dict[str, Callable[..., Any]] = {
    "Abs": raw.Abs,
    "Acos": raw.Acos,
    "Acosh": raw.Acosh,
    "Asin": raw.Asin,
    "Asinh": raw.Asinh,
    "Atan": raw.Atan,
    "Atanh": raw.Atanh,
    "BitwiseNot": raw.Invert,
    "Ceil": raw.Ceil,
    "Cos": raw.Cos,
    "Cosh": raw.Cosh,
    "Erf": raw.Erf,
    "Exp": raw.Exp,
    "Floor": raw.Floor,
    "Identity": raw.Identity,
    "IsNaN": raw.IsNan,
    "Log": raw.Log,
    "Neg": raw.Neg,
    "Not": raw.LogicalNot,
    "Reciprocal": raw.Reciprocal,
    "Round": raw.Rint,
    "Sigmoid": raw.Sigmoid,
    "Sign": raw.Sign,
    "Sin": raw.Sin,
    "Sinh": raw.Sinh,
    "Softplus": raw.Softplus,
    "Softsign": raw.Softsign,
    "Sqrt": raw.Sqrt,
    "Tan": raw.Tan,
    "Tanh": raw.Tanh,
}
_BINARY: dict[str, Callable[..., Any]] = {
    "Add": raw.AddV2,
    "And": raw.LogicalAnd,
    "BitwiseAnd": raw.BitwiseAnd,
    "BitwiseOr": raw.BitwiseOr,
    "BitwiseXor": raw.BitwiseXor,
    "Greater": raw.Greater,
    "GreaterOrEqual": raw.GreaterEqual,
    "Less": raw.Less,
    "LessOrEqual": raw.LessEqual,
    "Mul": raw.Mul,
    "Or": raw.LogicalOr,
    "Sub": raw.Sub,
    "Xor": raw.NotEqual,
}


def _old_broadcast(c: Any, a: Any, b: Any) -> Any:
    """The second operand where versions before 7 have it: along `axis` of the first."""
    axis = c.attr("axis")
    if c.version >= 7 or axis is None:
        return b
    behind = rank(a) - int(axis) % rank(a) - rank(b)
    return reshape(b, [*[d if d is not None else -1 for d in dims(b)], *[1] * behind])


def _of_one(name: str, function: Callable[..., Any]) -> None:
    @operator(name)
    def rule(c, x) -> Any:
        if isinstance(x, list) or x is None:
            return x
        return function(x)


def _of_two(name: str, function: Callable[..., Any]) -> None:
    @operator(name)
    def rule(c, a, b) -> Any:
        return function(a, _old_broadcast(c, a, b))


for _name, _function in _UNARY.items():
    _of_one(_name, _function)
for _name, _function in _BINARY.items():
    _of_two(_name, _function)


@operator("Relu")
def _relu(c, x) -> Any:
    return raw.Relu(x)


@operator("Equal")
def _equal(c, a, b) -> Any:
    return raw.Equal(a, _old_broadcast(c, a, b))


@operator("Div")
def _divide(c, a, b) -> Any:
    b = _old_broadcast(c, a, b)
    return raw.RealDiv(a, b) if is_float(a) else raw.TruncateDiv(a, b)


@operator("Mod")
def _modulo(c, a, b) -> Any:
    return raw.TruncateMod(a, b) if c.attr("fmod", 0) else raw.FloorMod(a, b)


@operator("Pow")
def _power(c, x, y) -> Any:
    """In the dtype of the base; of an integer base to a real power in floats."""
    y = _old_broadcast(c, x, y)
    if element(x) is element(y):
        return raw.Pow(x, y)
    own, other = element(x), element(y)
    if own.is_floating:
        return raw.Pow(x, cast(y, own))
    if other.is_floating:
        wide = dtypes.float64 if own.size > 2 else dtypes.float32
        return cast(raw.Pow(cast(x, wide), cast(y, wide)), own)
    return cast(raw.Pow(cast(x, dtypes.int64), cast(y, dtypes.int64)), own)


def _folded(name: str, function: Callable[..., Any]) -> None:
    @operator(name)
    def rule(c, *values) -> Any:
        found = tensor(values[0])
        for value in values[1:]:
            found = function(found, value)
        return found


_folded("Max", raw.Maximum)
_folded("Min", raw.Minimum)
_folded("Sum", raw.AddV2)


@operator("Mean")
def _mean(c, *values) -> Any:
    total = tensor(values[0])
    for value in values[1:]:
        total = raw.AddV2(total, value)
    return raw.RealDiv(total, like(len(values), total))


@operator("BitShift")
def _shift(c, x, y) -> Any:
    """Bits moved by a negative number, or by more than there are, leave none but the sign's."""
    bits = element(x).size * 8
    beyond = raw.LogicalOr(raw.Less(y, like(0, y)), raw.GreaterEqual(y, like(bits, y)))
    y = raw.SelectV2(beyond, like(bits - 1, y), y)
    if c.attr("direction") == "LEFT":
        return raw.SelectV2(beyond, like(0, x), raw.LeftShift(x, y))
    moved = raw.RightShift(x, y)
    return moved if element(x).name[0] == "i" else raw.SelectV2(beyond, like(0, x), moved)


@operator("IsInf")
def _is_infinite(c, x) -> Any:
    infinite = raw.IsInf(x)
    zero = like(0, x)
    if not c.attr("detect_negative", 1):
        infinite = raw.LogicalAnd(infinite, raw.Greater(x, zero))
    if not c.attr("detect_positive", 1):
        infinite = raw.LogicalAnd(infinite, raw.Less(x, zero))
    return infinite


@operator("Clip")
def _clip(c, x, least=None, most=None) -> Any:
    if c.version < 11:
        least, most = c.attr("min"), c.attr("max")
    x = tensor(x)
    least, most = (None if v is None else cast(tensor(v), x.dtype) for v in (least, most))
    x = x if least is None else raw.Maximum(x, least)
    return x if most is None else raw.Minimum(x, most)


@operator("Where")
def _where(c, condition, x, y) -> Any:
    return raw.SelectV2(condition, x, y)


# -- activations -------------------------------------------------------------------------------


@operator("LeakyRelu")
def _leaky_relu(c, x) -> Any:
    return raw.SelectV2(raw.Less(x, like(0, x)), raw.Mul(x, like(c.attr("alpha", 0.01), x)), x)


@operator("PRelu")
def _parametric_relu(c, x, slope) -> Any:
    return raw.SelectV2(raw.Less(x, like(0, x)), raw.Mul(x, slope), x)


@operator("Elu")
def _elu(c, x) -> Any:
    negative = raw.Mul(raw.Expm1(raw.Minimum(x, like(0, x))), like(c.attr("alpha", 1.0), x))
    return raw.SelectV2(raw.Less(x, like(0, x)), negative, x)


@operator("Selu")
def _selu(c, x) -> Any:
    alpha, gamma = (
        c.attr("alpha", 1.67326319217681884765625),
        c.attr("gamma", 1.05070102214813232421875),
    )
    negative = raw.Mul(raw.Expm1(raw.Minimum(x, like(0, x))), like(alpha, x))
    return raw.Mul(raw.SelectV2(raw.Less(x, like(0, x)), negative, x), like(gamma, x))


@operator("HardSigmoid")
def _hard_sigmoid(c, x) -> Any:
    line = raw.AddV2(raw.Mul(x, like(c.attr("alpha", 0.2), x)), like(c.attr("beta", 0.5), x))
    return raw.Maximum(raw.Minimum(line, like(1, x)), like(0, x))


@operator("ThresholdedRelu")
def _thresholded_relu(c, x) -> Any:
    return raw.SelectV2(raw.Greater(x, like(c.attr("alpha", 1.0), x)), x, like(0, x))


# -- conversions -------------------------------------------------------------------------------


def converted(c: Any, x: Any, wanted: Any) -> Any:
    """The elements in another dtype, also from and to text."""
    x = tensor(x)
    if x.dtype is wanted:
        return raw.Identity(x)
    if x.dtype is dtypes.string:
        if wanted is dtypes.bool_:
            return raw.NotEqual(raw.StringToNumber(x, out_type=dtypes.float32), np.float32(0))
        direct = wanted in (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)
        number = raw.StringToNumber(x, out_type=wanted if direct else dtypes.float32)
        return cast(number, wanted)
    if wanted is dtypes.string:
        return raw.AsString(cast(x, dtypes.float32) if x.dtype.size < 4 and is_float(x) else x)
    if wanted.name.startswith("float8") and c.attr("saturate", 1):
        return _saturated(x, wanted)
    if (wanted.is_floating and wanted.size == 1) or x.dtype.name.startswith(("float8", "float4")):
        x = raw.Cast(x, DstT=dtypes.float32)
    return raw.Cast(x, DstT=wanted)


def _saturated(x: Any, wanted: Any) -> Any:
    """8-bit floats: numbers beyond the greatest become it; NaN stays."""
    wide = raw.Cast(x, DstT=dtypes.float32)
    most = np.float32(float(ml_dtypes.finfo(wanted.numpy).max))
    inside = raw.Minimum(raw.Maximum(wide, -most), most)
    return raw.Cast(raw.SelectV2(raw.IsNan(wide), wide, inside), DstT=wanted)


@operator("Cast")
def _cast(c, x) -> Any:
    to = c.attr("to")
    if isinstance(to, str):
        raise ModelError(f"conversion to {to!r}, as versions before 6 write it")
    return converted(c, x, dtype_of(to))


@operator("CastLike")
def _cast_like(c, x, target) -> Any:
    return converted(c, x, element(target))


@operator("BitCast")
def _bit_cast(c, x) -> Any:
    wanted = dtype_of(c.attr("to"))
    x = cast(x, dtypes.uint8) if element(x) is dtypes.bool_ else x
    if wanted is dtypes.bool_:
        return raw.NotEqual(x, like(0, x))
    return raw.Bitcast(x, type=wanted)


# -- matrix products ---------------------------------------------------------------------------


@operator("MatMul")
def _product(c, a, b) -> Any:
    return product(a, b)


def product(a: Any, b: Any) -> Any:
    """The product of matrices, of stacks of them, or of vectors."""
    first, second = rank(a), rank(b)
    if first == 1:
        a = raw.ExpandDims(a, 0)
    if second == 1:
        b = raw.ExpandDims(b, -1)
    if element(a) in (dtypes.uint32, dtypes.uint64):
        wide = cast(a, dtypes.int64), cast(b, dtypes.int64)
        found = cast(raw.BatchMatMulV2(*wide), element(a))
    elif rank(a) == 2 and rank(b) == 2:
        found = raw.MatMul(a, b)
    else:
        found = raw.BatchMatMulV2(a, b)
    if first == 1:
        found = raw.Squeeze(found, axis=[-2])
    return raw.Squeeze(found, axis=[-1]) if second == 1 else found


@operator("Gemm")
def _general_product(c, a, b, added=None) -> Any:
    found = raw.MatMul(
        a, b, transpose_a=bool(c.attr("transA", 0)), transpose_b=bool(c.attr("transB", 0))
    )
    alpha, beta = c.attr("alpha", 1.0), c.attr("beta", 1.0)
    if alpha != 1:
        found = raw.Mul(found, like(alpha, found))
    if added is None:
        return found
    return raw.AddV2(found, added if beta == 1 else raw.Mul(added, like(beta, found)))


@operator("Einsum")
def _einsum(c, *values) -> Any:
    equation = c.attr("equation").replace(" ", "")
    if "->" not in equation:
        letters = equation.replace(",", "").replace(".", "")
        once = "".join(sorted([x for x in set(letters) if letters.count(x) == 1]))
        equation += f"->{'...' if '...' in equation else ''}{once}"
    return raw.Einsum(list(values), equation=equation)


@operator("Det")
def _determinant(c, x) -> Any:
    return raw.MatrixDeterminant(x)
