"""Quotients and remainders as vector code; callers guard against integer division by zero, which
traps."""

from __future__ import annotations

from intaglio.native.llvm.vectors import DOUBLE, Kind, Lanes, Unsupported
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.opdef.op import Op

OPS = (raw.FloorDiv, raw.FloorMod, raw.TruncateDiv, raw.TruncateMod, raw.Mod, raw.Div)


def divided(s: Functions, op: Op, x: Lanes, y: Lanes) -> Lanes:
    """One of `OPS`; integers must not be divided by zero."""
    kind = x.kind
    if kind.letter == "c" and op is raw.Div:
        return s.div(x, y)
    if kind.letter in "cb":
        raise Unsupported(f"{op.name} of {kind.name}")
    return (_of_floats if kind.letter == "f" else _of_integers)(s, op, x, y)


def _of_floats(s: Functions, op: Op, x: Lanes, y: Lanes) -> Lanes:
    if op is raw.FloorDiv:
        return s.floor(s.div(x, y))
    if op is raw.Div:
        return s.div(x, y)
    if op is raw.TruncateDiv:
        return s.intrinsic("trunc", s.div(x, y))
    rest = _remainder(s, x, y)
    if op is not raw.FloorMod:
        return rest
    zero = s.const(0, x)
    unlike = s.logical_and(s.bit_xor(s.lt(x, zero), s.lt(y, zero)), s.ne(rest, zero))
    return s.select(unlike, s.add(rest, y), rest)


def _remainder(s: Functions, x: Lanes, y: Lanes) -> Lanes:
    wide = s.widened(x)
    vector = s.vector(wide.kind)
    rest = s.each(wide.kind, lambda a, b: f"frem {vector} {a}, {b}", wide, s.widened(y))
    return s.converted(rest, x.kind)


def _of_integers(s: Functions, op: Op, x: Lanes, y: Lanes) -> Lanes:
    quotient = _truncated(s, x, y)
    if op in (raw.Div, raw.TruncateDiv):
        return quotient
    rest = s.sub(x, s.mul(quotient, y))
    if op in (raw.Mod, raw.TruncateMod):
        return rest
    if x.kind.letter == "u":
        return quotient if op is raw.FloorDiv else rest
    zero = s.const(0, x)
    unlike = s.bit_xor(s.lt(x, zero), s.lt(y, zero))
    inexact = s.logical_and(s.ne(rest, zero), unlike)
    if op is raw.FloorDiv:
        return s.select(inexact, s.sub(quotient, s.const(1, x)), quotient)
    return s.select(inexact, s.add(rest, y), rest)


def _truncated(s: Functions, x: Lanes, y: Lanes) -> Lanes:
    """Quotients rounded towards zero; the least number divided by -1 wraps around."""
    kind = x.kind
    if kind.letter == "u":
        return _plain(s, x, y)
    opposite = s.eq(y, s.const(-1, y))
    return s.select(opposite, s.neg(x), _plain(s, x, s.select(opposite, s.const(1, y), y)))


def _plain(s: Functions, x: Lanes, y: Lanes) -> Lanes:
    """The quotient of 32-bit integers in float64, which is exact and has vector instructions."""
    kind = x.kind
    if kind.bits > 32:
        sign = "s" if kind.letter == "i" else "u"
        vector = s.vector(kind)
        # Lanes past the end of an array are zeros, which must not be divisors.
        y = s.select(s.eq(y, s.const(0, y)), s.const(1, y), y)
        return s.each(kind, lambda a, b: f"{sign}div {vector} {a}, {b}", x, y)
    quotient = s.div(s.converted(x, DOUBLE), s.converted(y, DOUBLE))
    whole = Kind("i64", 64, "i") if kind.bits == 32 else Kind("i32", 32, "i")
    old, new = s.vector(DOUBLE), s.vector(whole)
    truncated = s.each(whole, lambda a: f"fptosi {old} {a} to {new}", quotient)
    return s.converted(truncated, kind)
