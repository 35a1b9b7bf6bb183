"""Complex numbers as their real and imaginary parts: ops that move them, and their arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType
from intaglio.export.onnx.registry import complex_rule
from intaglio.export.onnx.scalars import Scalars
from intaglio.export.onnx.values import (
    ComplexValue,
    Operand,
    Unexportable,
    is_complex,
    is_known,
    known,
)
from intaglio.opdef import raw

# Powers are products of at most so many factors.
MAX_FACTORS = 8


def parts(x: Operand) -> tuple[Operand, Operand]:
    """The real and the imaginary part of complex numbers."""
    if isinstance(x, ComplexValue):
        return x
    return np.real(x).copy(), np.imag(x).copy()


def _real(builder: Any, x: Operand) -> Operand:
    """A part as a value of the model, also one that is known."""
    return builder.add("Identity", x, dims=x.shape) if is_known(x) else x


# -- made and taken apart ----------------------------------------------------------------------


@complex_rule(raw.Complex)
def _joined(builder, real, imag) -> Any:
    shape = builder.shape(builder.add("Add", real, imag)) if _differ(real, imag) else None
    if shape is not None:
        real, imag = (builder.add("Expand", v, shape) for v in (real, imag))
    return ComplexValue(real, imag)


def _differ(x: Operand, y: Operand) -> bool:
    dims = [v.shape if is_known(v) else v.dims for v in (x, y)]
    return dims[0] is None or None in dims[0] or dims[0] != dims[1]


@complex_rule(raw.Real)
def _real_part(builder, input) -> Any:
    return _real(builder, parts(input)[0])


@complex_rule(raw.Imag)
def _imaginary_part(builder, input) -> Any:
    return _real(builder, parts(input)[1])


@complex_rule(raw.Conj)
def _conjugate(builder, input) -> Any:
    real, imag = parts(input)
    return ComplexValue(real, Scalars(builder).neg(imag))


@complex_rule(raw.Cast)
def _cast(builder, x, DstT: DType) -> Any:
    if not DstT.is_complex:
        return builder.cast(_real(builder, parts(x)[0]), DstT.numpy)
    dtype = DstT.real_dtype.numpy
    if is_complex(x):
        return ComplexValue(*[builder.cast(v, dtype) for v in parts(x)])
    real = builder.cast(x, dtype)
    return ComplexValue(real, builder.filled(builder.shape(real), 0, dtype))


@complex_rule(raw.ComplexAbs)
def _absolute(builder, x) -> Any:
    s = Scalars(builder)
    a, b = (s.abs(v) for v in parts(x))
    # Of the larger part, so that no square is out of range.
    larger = s.maximum(a, b)
    zero = s.const(0, larger)
    divisor = s.select(s.eq(larger, zero), s.const(1, larger), larger)
    ratio = s.div(s.minimum(a, b), divisor)
    length = s.mul(larger, s.sqrt(s.add(s.square(ratio), s.const(1, larger))))
    return s.select(s.isinf(larger), larger, length)


@complex_rule(raw.Angle)
def _angle(builder, input) -> Any:
    real, imag = parts(input)
    return Scalars(builder).atan2(imag, real)


# -- arithmetic --------------------------------------------------------------------------------


def _sums(op: Any, name: str) -> None:
    @complex_rule(op)
    def rule(builder, x, y) -> Any:
        s = Scalars(builder)
        pairs = zip(parts(x), parts(y), strict=True)
        return ComplexValue(*[getattr(s, name)(a, b) for a, b in pairs])


_sums(raw.AddV2, "add")
_sums(raw.Add, "add")
_sums(raw.Sub, "sub")


def product(s: Scalars, x: Operand, y: Operand) -> ComplexValue:
    """The product of two complex numbers."""
    (a, b), (c, d) = parts(x), parts(y)
    return ComplexValue(s.sub(s.mul(a, c), s.mul(b, d)), s.add(s.mul(a, d), s.mul(b, c)))


@complex_rule(raw.Mul)
def _product(builder, x, y) -> Any:
    return product(Scalars(builder), x, y)


@complex_rule(raw.Square)
def _square(builder, x) -> Any:
    return product(Scalars(builder), x, x)


@complex_rule(raw.Pow)
def _power(builder, x, y) -> Any:
    exponent = known(y, "the exponent of a complex number")
    count = 0 if exponent.ndim else int(np.real(exponent))
    if not 1 <= count <= MAX_FACTORS or exponent != count:
        raise Unexportable(f"a power of complex numbers other than 1 to {MAX_FACTORS}")
    found: Operand = ComplexValue(*parts(x))
    for _ in range(count - 1):
        found = product(Scalars(builder), found, x)
    return found


@complex_rule(raw.RealDiv, raw.Div)
def _quotient(builder, x, y) -> Any:
    s = Scalars(builder)
    c, d = parts(y)
    # Of the divisor by its larger part, so that no square is out of range.
    size = s.maximum(s.abs(c), s.abs(d))
    c, d = s.div(c, size), s.div(d, size)
    square = s.mul(s.add(s.square(c), s.square(d)), size)
    found = product(s, x, ComplexValue(c, s.neg(d)))
    return ComplexValue(*[s.div(v, square) for v in found])


@complex_rule(raw.Neg)
def _negative(builder, x) -> Any:
    return ComplexValue(*[Scalars(builder).neg(v) for v in parts(x)])


@complex_rule(raw.Log)
def _logarithm(builder, x) -> Any:
    real, imag = parts(x)
    s = Scalars(builder)
    return ComplexValue(s.log(_absolute(builder, x)), s.atan2(imag, real))


@complex_rule(raw.Sign)
def _direction(builder, x) -> Any:
    s = Scalars(builder)
    size = _absolute(builder, x)
    divisor = s.select(s.eq(size, s.const(0, size)), s.const(1, size), size)
    return ComplexValue(*[s.div(v, divisor) for v in parts(x)])


@complex_rule(raw.Exp)
def _exponential(builder, x) -> Any:
    s = Scalars(builder)
    real, imag = parts(x)
    size = s.exp(real)
    return ComplexValue(s.mul(size, s.cos(imag)), s.mul(size, s.sin(imag)))


@complex_rule(raw.Equal)
def _equal(builder, x, y) -> Any:
    s = Scalars(builder)
    return s.logical_and(*[s.eq(a, b) for a, b in zip(parts(x), parts(y), strict=True)])


@complex_rule(raw.NotEqual)
def _differing(builder, x, y) -> Any:
    return Scalars(builder).logical_not(_equal(builder, x, y))


@complex_rule(raw.MatMul)
def _matrix_product(lowering, a, b, node) -> Any:
    return _of_products(lowering, node, parts(a), parts(b))


@complex_rule(raw.BatchMatMul, raw.BatchMatMulV2, raw.BatchMatMulV3)
def _batch_product(lowering, x, y, adj_x, adj_y, node) -> Any:
    s = Scalars(lowering.builder)
    (a, b), (c, d) = parts(x), parts(y)
    return _of_products(
        lowering, node, (a, s.neg(b) if adj_x else b), (c, s.neg(d) if adj_y else d)
    )


def _of_products(lowering: Any, node: Any, x: Any, y: Any) -> ComplexValue:
    """The complex product of four real ones."""
    s = Scalars(lowering.builder)

    def times(a: Operand, b: Operand) -> Operand:
        return lowering.by_real_rule(node, [a, b])[0]

    (a, b), (c, d) = x, y
    return ComplexValue(s.sub(times(a, c), times(b, d)), s.add(times(a, d), times(b, c)))


# -- the parts one by one ----------------------------------------------------------------------


@complex_rule(
    raw.AddN, raw.AccumulateNV2, raw.BatchToSpaceND, raw.BroadcastTo, raw.Concat, raw.ConcatV2,
    raw.Cumsum, raw.EnsureShape, raw.ExpandDims, raw.Fill, raw.Gather, raw.GatherNd, raw.GatherV2,
    raw.Identity, raw.IdentityN, raw.MatrixBandPart, raw.Mean, raw.MirrorPad, raw.Pack, raw.Pad, raw.PadV2,
    raw.PreventGradient, raw.Reshape, raw.ReverseSequence, raw.ReverseV2, raw.Roll, raw.ScatterNd, raw.Select,
    raw.Slice, raw.SpaceToBatchND, raw.Split, raw.SplitV, raw.Squeeze, raw.StopGradient,
    raw.StridedSlice, raw.Sum, raw.Tile, raw.Transpose, raw.Unpack, raw.UnsortedSegmentSum,
)  # fmt: skip
def _by_parts(lowering, node, operands) -> Any:
    """Ops that move elements or add them up: once for each part, by their rule for real numbers."""
    split = [parts(v) if is_complex(v) else (v, v) for v in operands]
    found = [lowering.by_real_rule(node, [v[i] for v in split]) for i in range(2)]
    return [ComplexValue(*pair) for pair in zip(*found, strict=True)]


@complex_rule(raw.Shape, raw.ShapeN, raw.Size, raw.Rank, raw.ZerosLike, raw.OnesLike)
def _by_real_part(lowering, builder, node, operands) -> Any:
    """Ops that look at shapes alone."""
    found = lowering.by_real_rule(node, [parts(v)[0] for v in operands])
    if not node.outputs[0].dtype.is_complex:
        return found
    return [ComplexValue(v, builder.filled(builder.shape(v), 0, v.dtype)) for v in found]


@complex_rule(raw.SelectV2)
def _selected(builder, condition, t, e) -> Any:
    s = Scalars(builder)
    pairs = zip(parts(t), parts(e), strict=True)
    return ComplexValue(*[s.select(condition, a, b) for a, b in pairs])
