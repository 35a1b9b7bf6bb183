"""Algebra that keeps every bit: the equations hold for NaN, infinities and signed zeros too."""

from __future__ import annotations

import numpy as np

from intaglio.base.dtypes import float32, float64
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import raw
from intaglio.optimize.pattern import RuleSet, is_constant, pat, same_shape

ALGEBRA = RuleSet()
rule = ALGEBRA.rule

Value = SymbolicTensor


@rule(lambda x: pat.Identity(x))
def passed_on(x: Value):
    """identity(x)  ->  x"""
    return x


@rule(lambda x: pat.StopGradient(x))
def stopped_gradient(x: Value):
    """stop_gradient(x)  ->  x    when a graph runs its gradients are built already"""
    return x


@rule(lambda x: pat.PreventGradient(x))
def prevented_gradient(x: Value):
    """prevent_gradient(x)  ->  x    as above"""
    return x


@rule(lambda x: pat.Snapshot(x))
def snapshot(x: Value):
    """snapshot(x)  ->  x    no kernel writes to what another one reads"""
    return x


@rule(lambda x: pat.Cast(x))
def cast_to_itself(x: Value):
    """cast(x, x.dtype)  ->  x    (a replacement of another dtype is refused)"""
    return x


@rule(lambda x: pat.EnsureShape(x))
def ensured_shape(x: Value):
    """ensure_shape(x, shape)  ->  x    if the shape of x is known to fit"""
    return x if x.dims is not None and None not in x.dims else None


@rule(lambda x: pat.Neg(pat.Neg(x)))
def double_negation(x: Value):
    """-(-x)  ->  x"""
    return x


@rule(lambda x: pat.LogicalNot(pat.LogicalNot(x)))
def double_not(x: Value):
    """not not x  ->  x"""
    return x


@rule(lambda x: pat.Invert(pat.Invert(x)))
def double_invert(x: Value):
    """~~x  ->  x"""
    return x


@rule(lambda x: pat.Conj(pat.Conj(x)))
def double_conjugation(x: Value):
    """conj(conj(x))  ->  x"""
    return x


@rule(lambda x: pat.Abs(pat.Abs(x)))
def repeated_absolute(x: Value):
    """||x||  ->  |x|"""
    return raw.Abs(x)


@rule(lambda x: pat.Relu(pat.Relu(x)))
def repeated_relu(x: Value):
    """relu(relu(x))  ->  relu(x)"""
    return raw.Relu(x)


@rule(lambda x, one: pat.Mul(x, one))
def times_one(x: Value, one: Value):
    """x * 1  ->  x    for real numbers: an infinite part times the 0 of 1 + 0i is NaN"""
    return None if x.dtype.is_complex else _if_unit(x, one, 1)


@rule(lambda x, one: pat.Mul(one, x))
def one_times(x: Value, one: Value):
    """1 * x  ->  x    as above"""
    return None if x.dtype.is_complex else _if_unit(x, one, 1)


@rule(lambda x, one: pat.RealDiv(x, one))
def divided_by_one(x: Value, one: Value):
    """x / 1  ->  x    as above"""
    return None if x.dtype.is_complex else _if_unit(x, one, 1)


@rule(lambda x, zero: pat.Sub(x, zero))
def minus_zero(x: Value, zero: Value):
    """x - 0  ->  x    (x - (-0.0) would make 0.0 of -0.0, so the zero must be positive)"""
    known = zero.spec.value
    if known is None or (not x.dtype.is_integer and _has_sign(known)):
        return None
    return _if_unit(x, zero, 0)


@rule(lambda x, zero: pat.AddV2(x, zero))
def plus_zero(x: Value, zero: Value):
    """x + 0  ->  x    for integers: -0.0 + 0.0 is 0.0"""
    return _if_unit(x, zero, 0) if x.dtype.is_integer else None


@rule(lambda x, zero: pat.AddV2(zero, x))
def zero_plus(x: Value, zero: Value):
    """0 + x  ->  x    for integers"""
    return _if_unit(x, zero, 0) if x.dtype.is_integer else None


@rule(lambda x, y: pat.Sub(x, pat.Neg(y)))
def minus_negative(x: Value, y: Value):
    """x - (-y)  ->  x + y    for integers: the sign of a NaN would change"""
    return raw.AddV2(x, y) if x.dtype.is_integer else None


@rule(lambda x, y: pat.AddV2(x, pat.Neg(y)))
def plus_negative(x: Value, y: Value):
    """x + (-y)  ->  x - y    for integers: the sign of a NaN would change"""
    return raw.Sub(x, y) if x.dtype.is_integer else None


@rule(lambda x, y: pat.Pow(x, y))
def known_power(x: Value, y: Value):
    """x ** 1, 2, -1  ->  x, square(x), 1 / x    as NumPy computes those of arrays

    Scalars are left: NumPy calls the C library's function for them.
    """
    if x.dims is None or x.dims == () or y.dims != () or x.dtype not in (float32, float64):
        return None
    if is_constant(y, 1):
        return x
    for exponent, op in ((2, raw.Square), (-1, raw.Reciprocal)):
        if is_constant(y, exponent):
            return op(x)
    return None


@rule(lambda x, p, q: pat.Transpose(pat.Transpose(x, p), q))
def merge_transposes(x: Value, p: Value, q: Value):
    """transpose(transpose(x, p), q)  ->  transpose(x, p[q])"""
    if p.spec.value is None or q.spec.value is None:
        return None
    return raw.Transpose(x, np.asarray(p.spec.value)[np.asarray(q.spec.value)])


@rule(lambda x, p: pat.Transpose(x, p))
def empty_transpose(x: Value, p: Value):
    """transpose(x, [0, 1, ...])  ->  x"""
    known = p.spec.value
    return x if known is not None and known.tolist() == list(range(known.size)) else None


@rule(lambda x, s, t: pat.Reshape(pat.Reshape(x, s), t))
def merge_reshapes(x: Value, s: Value, t: Value):
    """reshape(reshape(x, s), t)  ->  reshape(x, t)    if the -1 of t is the same for both"""
    return raw.Reshape(x, t) if x.spec.count or _follows_from_count(t) else None


def _follows_from_count(shape: Value) -> bool:
    """Whether the number of elements alone determines the -1 of a shape.

    Beside a 0 it is worked out from the sizes of the reshaped tensor that are not 0.
    """
    if shape.node.op.shape_only:
        return True  # no -1
    sizes = shape.spec.partial
    if sizes is None:
        return False
    empty = {i for i, n in enumerate(sizes) if n in (0, None)}
    found = {i for i, n in enumerate(sizes) if n in (-1, None)}
    return not (empty and found) or (empty == found and len(empty) == 1)


@rule(lambda x, s: pat.Reshape(x, s))
def empty_reshape(x: Value, s: Value):
    """reshape(x, shape(x))  ->  x"""
    known = s.spec.value
    return x if known is not None and x.dims == tuple(known.tolist()) else None


@rule(lambda x, s: pat.BroadcastTo(x, s))
def empty_broadcast(x: Value, s: Value):
    """broadcast_to(x, shape(x))  ->  x"""
    known = s.spec.value
    return x if known is not None and x.dims == tuple(known.tolist()) else None


def _has_sign(x: np.ndarray) -> bool:
    """True if a sign is set in any of these floats, or in a part of one of these complex numbers."""
    return bool(np.signbit(np.real(x)).any() or np.signbit(np.imag(x)).any())


def _if_unit(x: Value, unit: Value, number: int) -> Value | None:
    """`x`, if `unit` is `number` throughout and does not stretch `x`."""
    if not is_constant(unit, number):
        return None
    if same_shape(x, unit) or unit.dims == ():
        return x
    return None
