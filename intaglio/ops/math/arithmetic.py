"""Elementwise arithmetic: sums, products, quotients, powers, extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import (
    COMPLEX,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from intaglio.base.errors import InternalError, InvalidArgumentError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.scalar import select
from intaglio.opdef.spec import Spec
from intaglio.ops.families import (
    Binary,
    Unary,
    UnaryGradient,
    conjugate,
    constant,
    divisor,
    no_kernel,
    quotient,
    remainder,
    spec_of,
    truncated_quotient,
    unbroadcast_both,
    zero_where,
)
from intaglio.ops.math import bounding

# In the order in which TensorFlow's error messages list the allowed dtypes.
FLOATS = (bfloat16, float16, float32, float64)
ALL_NUMBERS = (
    *FLOATS,
    uint8,
    int8,
    uint16,
    int16,
    int32,
    uint32,
    uint64,
    int64,
    complex64,
    complex128,
)
# The gradient by one operand needs the other.
CROSSED = {"x": ("y",), "y": ("x",)}
SIGNED_NUMBERS = (*FLOATS, int8, int16, int32, int64, complex64, complex128)


@op
class AddV2(Binary):
    """x + y."""

    T = (*FLOATS, uint8, uint16, uint32, uint64, int8, int16, int32, int64, complex64, complex128)
    native_exact = True
    cheap = True

    def scalar(self, s, x, y):
        return s.add(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, dz, x, y)


@op
class Add(Binary):
    """x + y; joins strings."""

    T = (*FLOATS, uint8, int8, int16, int32, int64, complex64, complex128, string)
    native_exact = True
    cheap = True

    def scalar(self, s, x, y):
        return s.add(x, y)

    def kernel(self, x, y):
        total = np.add(x, y)
        return total if type(total) is not bytes else np.asarray(total, object)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, dz, x, y)


@op
class Sub(Binary):
    """x - y."""

    T = (*FLOATS, uint8, int8, uint16, int16, int32, int64, complex64, complex128, uint32, uint64)
    native_exact = True
    cheap = True

    def scalar(self, s, x, y):
        return s.sub(x, y)

    def gradient(self, dz, x: Spec, y: Spec) -> Any:
        return unbroadcast_both(dz, lambda: raw.Neg(dz), x, y)


@op
class Mul(Binary):
    """x * y."""

    T = ALL_NUMBERS
    gradient_needs = CROSSED
    native_exact = True
    cheap = True

    def scalar(self, s, x, y):
        return s.mul(x, y)

    def gradient(self, dz, x, y) -> Any:
        return unbroadcast_both(
            lambda: raw.Mul(dz, conjugate(y)),
            lambda: raw.Mul(conjugate(x), dz),
            spec_of(x),
            spec_of(y),
        )


@op
class MulNoNan(Binary):
    """x * y, and 0 where y is 0 whatever x is."""

    native_exact = True
    gradient_needs = CROSSED
    T = (*FLOATS, complex64, complex128)

    def scalar(self, s, x, y):
        zero = s.const(0, like=y)
        return s.select(s.eq(y, zero), zero, s.mul(x, y))

    def gradient(self, dz, x, y) -> Any:
        return unbroadcast_both(
            lambda: raw.MulNoNan(dz, conjugate(y)),
            lambda: raw.MulNoNan(conjugate(x), dz),
            spec_of(x),
            spec_of(y),
        )


# The gradient by the divisor needs both operands, the other one only the divisor.
QUOTIENT = {"x": ("y",), "y": ("x", "y")}


def _quotient_gradient(dz: Any, x: Any, y: Any, divide: Op) -> Any:
    cy = conjugate(y)

    def by_y() -> Any:
        return raw.Mul(dz, divide(divide(raw.Neg(conjugate(x)), cy), cy))

    return unbroadcast_both(lambda: divide(dz, cy), by_y, spec_of(x), spec_of(y))


@op
class RealDiv(Binary):
    """x / y of floating and complex numbers."""

    T = ALL_NUMBERS
    gradient_needs = QUOTIENT
    quick_kernel = np.true_divide
    quick_types = (*FLOATS, complex64, complex128)
    native_exact = True
    cheap = True
    compiled_when_complex = True

    def scalar(self, s, x, y):
        return s.div(x, y)

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            raise no_kernel("RealDiv", x.dtype)
        return np.true_divide(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.RealDiv)


def nonzero(y: Any, x: Any) -> Any:
    """`divisor` for ops whose zero divisors TensorFlow reports as an error of the op."""
    try:
        return divisor(y, x)
    except InvalidArgumentError as e:
        raise InternalError(None, None, str(e)) from None


@op
class Div(Binary):
    """x / y; integers are rounded towards zero."""

    native_exact = True
    T = ALL_NUMBERS
    gradient_needs = QUOTIENT

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return truncated_quotient(x, y)
        return np.true_divide(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.Div)


@op
class TruncateDiv(Binary):
    """x / y rounded towards zero."""

    differentiable = False
    T = ALL_NUMBERS
    native_exact = True

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return truncated_quotient(x, nonzero(y, x))
        if x.dtype.kind == "c":
            raise no_kernel("TruncateDiv", x.dtype)
        return np.trunc(np.true_divide(x, y))

    def scalar(self, s, x, y):
        return s.trunc(s.div(x, y))


@op
class FloorDiv(Binary):
    """x / y rounded down."""

    differentiable = False
    blockwise = True
    T = ALL_NUMBERS
    native_exact = True

    def kernel(self, x, y):
        kind = x.dtype.kind
        if kind in "iu":
            return quotient(x, divisor(y, x))
        if kind == "c":
            raise no_kernel("FloorDiv", x.dtype)
        return np.floor(np.true_divide(x, y))

    def scalar(self, s, x, y):
        return s.floor(s.div(x, y))


@op
class FloorMod(Binary):
    """The remainder of x / y with the sign of y."""

    blockwise = True

    T = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, *FLOATS)
    native_exact = True

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            return remainder(x, divisor(y, x))
        rest = np.fmod(x, y)
        other_side = (np.less(x, 0) != np.less(y, 0)) & np.not_equal(rest, 0)
        return select(other_side, np.add(rest, y), rest)

    def gradient(self, dz, x, y) -> Any:
        def by_y() -> Any:
            return raw.Mul(dz, raw.Neg(raw.FloorDiv(x, y)))

        return unbroadcast_both(dz, by_y, spec_of(x), spec_of(y))


class Remainder(Binary):
    """The remainder of x / y with the sign of x."""

    T = (int32, int64, *FLOATS)

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            y = divisor(y, x)
        return np.fmod(x, y)


@op
class Mod(Remainder):
    """The remainder of x / y with the sign of x."""

    native_exact = True
    T = (int32, int64, float16, bfloat16, float32, float64)


@op
class TruncateMod(Remainder):
    """The remainder of x / y with the sign of x."""

    native_exact = True

    def kernel(self, x, y):
        if x.dtype.kind in "iu":
            y = nonzero(y, x)
        return np.fmod(x, y)


def special_powers(x: Any, y: Any, found: np.ndarray) -> np.ndarray:
    """Powers, in which those of 0 and of numbers that are not finite are e ** (y log x), as TensorFlow has them
    but for y = 0, and with positive zeros: infinite with a part that is NaN, 0, or NaN."""
    special = ((x == 0) | ~np.isfinite(x)) & (y != 0)
    base, exponent = (np.broadcast_to(a, found.shape)[special] for a in (x, y))
    found = found.copy()
    with np.errstate(all="ignore"):
        logarithm = np.log(base)
        length, angle = np.real(logarithm), np.imag(logarithm)
        angle = np.where(np.isinf(length) & np.isnan(angle), 0, angle)
        power, twist = np.real(exponent), np.imag(exponent)
        a, b = power * length - twist * angle, power * angle + twist * length
        lost = ~np.isfinite(b)
        result = np.exp(_complex(a, b))
        result = np.where(lost & (a == np.inf), result.dtype.type(complex(np.inf, np.nan)), result)
        found[special] = np.where(lost & (a == -np.inf), 0, result)
    return found


def _complex(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """Complex numbers of parts that need not be finite."""
    result = np.empty(real.shape, np.result_type(real, np.complex64))
    result.real, result.imag = real, imaginary
    return result


def _complex_power(x: Any, y: Any) -> Any:
    """x ** y; NumPy computes whole powers by multiplications, which may overflow where the result
    does not."""
    found = np.asarray(x**y)
    if not (x.all() and np.isfinite(x).all()):
        found = special_powers(x, y, found)
    lost = ~np.isfinite(found) & np.isfinite(x) & np.isfinite(y) & (x != 0)
    if not lost.any():
        return found
    base, exponent = (np.broadcast_to(a, found.shape)[lost] for a in (x, y))
    logarithm = np.log(base)  # |base| may be out of range
    length, angle = np.real(logarithm), np.imag(logarithm)
    power, twist = np.real(exponent), np.imag(exponent)
    size = np.exp(power * length - twist * angle)
    angle = power * angle + twist * length
    parts = [np.where(part == 0, part, size * part) for part in (np.cos(angle), np.sin(angle))]
    found = found.copy()
    found[lost] = _complex(*parts)
    return found


@op
class Pow(Binary):
    """x ** y."""

    T = (bfloat16, float32, float16, float64, int8, int16, int32, int64, complex64, complex128)
    compiled_when_complex = True

    def kernel(self, x, y):
        dtype = x.dtype
        kind = dtype.kind
        if kind == "c":
            return _complex_power(x, y)
        if kind == "i" and np.any(np.less(y, 0)):
            raise invalid_argument("Integers to negative integer powers are not allowed")
        if kind == "f":
            exponent = y.item() if y.ndim == 0 else None
            if exponent == 0.5:
                # NumPy takes the root, which has another sign at -0, and is NaN for -inf.
                infinite = np.isneginf(x)
                root = np.sqrt(x + np.zeros((), dtype))
                return np.where(infinite, -x, root) if infinite.any() else root
            if dtype.itemsize == 2:  # NumPy's own forgets that 1 ** nan is 1
                wide = np.power(x.astype(np.float32), y.astype(np.float32))
                return wide.astype(dtype)
            if exponent == 3:
                # As `native` has it: NumPy takes the general function, thirty times as long.
                return x * np.square(x)
        # The operator special-cases powers such as 1 and 2, which `np.power` of NumPy 1 rounds otherwise.
        return x**y

    def scalar(self, s, x, y):
        return s.power(x, y)

    def native(self, x, y: Spec) -> Any:
        if y.shape != () or y.value is None or x.dtype in COMPLEX:
            return NotImplemented
        exponent = y.value.item()
        if exponent == 2:
            return raw.Square(x)
        if exponent == 0.5 and x.dtype in (float32, float64):
            root = raw.Sqrt(raw.AddV2(x, constant(0, x)))  # -0 has the root 0
            infinite = raw.Equal(x, constant(-np.inf, x))
            return raw.SelectV2(infinite, constant(np.inf, x), root)
        # One rounding more than the power has, as in TensorFlow's graphs.
        return raw.Mul(x, raw.Square(x)) if exponent == 3 else NotImplemented

    def gradient(self, dz, x, y, z) -> Any:
        cx, cy = conjugate(x), conjugate(y)
        one, zero = constant(1, y), constant(0, x)

        def by_x() -> Any:
            return raw.Mul(raw.Mul(dz, cy), raw.Pow(cx, raw.Sub(cy, one)))

        def by_y() -> Any:
            compare = raw.NotEqual if x.dtype in COMPLEX else raw.Greater
            defined = compare(cx, zero)
            safe = raw.SelectV2(defined, cx, one)
            log_x = raw.SelectV2(defined, raw.Log(safe), zero)
            return raw.Mul(raw.Mul(dz, conjugate(z)), log_x)

        return unbroadcast_both(by_x, by_y, spec_of(x), spec_of(y))


class Extreme(Binary):
    """The larger or smaller of x and y; NaN if either is."""

    T = (*FLOATS, int8, uint8, int16, uint16, int32, uint32, int64, uint64)
    native_exact = True
    cheap = True

    def kernel_for(self, x: Spec, y: Spec) -> Any:
        """The kernel of eager calls where an operand is a scalar."""
        return self.quick_kernel if x.rank == 0 or y.rank == 0 else None


def _chosen_gradient(dz: Any, x: Any, y: Any, chosen: Any) -> Any:
    zero = constant(0, dz)
    return unbroadcast_both(
        lambda: raw.SelectV2(chosen, dz, zero),
        lambda: raw.SelectV2(chosen, zero, dz),
        spec_of(x),
        spec_of(y),
    )


@op
class Maximum(Extreme):
    """The larger of x and y."""

    quick_kernel = staticmethod(bounding.maximum)

    def scalar(self, s, x, y):
        return s.maximum(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _chosen_gradient(dz, x, y, raw.GreaterEqual(x, y))


@op
class Minimum(Extreme):
    """The smaller of x and y."""

    quick_kernel = staticmethod(bounding.minimum)

    def scalar(self, s, x, y):
        return s.minimum(x, y)

    def gradient(self, dz, x, y) -> Any:
        return _chosen_gradient(dz, x, y, raw.LessEqual(x, y))


@op
class SquaredDifference(Binary):
    """conj(x - y) * (x - y)."""

    native_exact = True
    blockwise = True
    T = (*FLOATS, int32, int64, complex64, complex128)

    def scalar(self, s, x, y):
        difference = s.sub(x, y)
        return s.mul(s.conj(difference), difference)

    def kernel(self, x, y):
        difference = np.subtract(x, y)
        if difference.dtype.kind == "c":
            return np.multiply(np.conjugate(difference), difference)
        return np.multiply(difference, difference)

    def gradient(self, dz, x, y) -> Any:
        two = constant(2, x)
        dx = raw.Mul(raw.Mul(two, dz), raw.Sub(x, y))
        return unbroadcast_both(dx, lambda: raw.Neg(dx), spec_of(x), spec_of(y))


@op
class DivNoNan(Binary):
    """x / y, and 0 where y is 0."""

    native_exact = True
    blockwise = True
    T = (float16, float32, bfloat16, float64, complex64, complex128)

    def scalar(self, s, x, y):
        none = s.eq(y, s.const(0, like=y))
        safe = s.select(none, s.const(1, like=y), y)
        return s.select(none, s.const(0, like=y), s.div(x, safe))

    def gradient(self, dz, x, y) -> Any:
        return _quotient_gradient(dz, x, y, raw.DivNoNan)


# -- one operand ---------------------------------------------------------------------


@op
class Neg(Unary):
    """-x."""

    T = SIGNED_NUMBERS
    native_exact = True
    cheap = True

    def scalar(self, s, x):
        return s.neg(x)

    def gradient(self, dy) -> Any:
        return raw.Neg(dy)


@op
class Abs(Unary):
    """|x|; of complex numbers see ComplexAbs."""

    T = (*FLOATS, int8, int16, int32, int64)
    native_exact = True
    cheap = True

    def scalar(self, s, x):
        return s.abs(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Sign(x))


def _sign(x: Any) -> Any:
    """The sign of numbers, x / |x| of complex ones."""
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return np.divide(x, np.where(size == 0, size.dtype.type(1), size))


# NumPy 1 returned the sign of the real part for complex numbers.
SIGN: Any = np.sign if np.sign(1j) == 1j else _sign


@op
class Sign(Unary):
    """-1, 0 or 1; x / |x| of complex numbers."""

    blockwise = True
    T = SIGNED_NUMBERS
    native_exact = True

    def kernel(self, x):
        # The sign of zero is plain zero.
        return np.add(SIGN(x), x.dtype.type(0), dtype=x.dtype)

    def scalar(self, s, x):
        zero, one = s.const(0, like=x), s.const(1, like=x)
        positive = s.select(s.gt(x, zero), one, s.add(x, zero))
        return s.select(s.lt(x, zero), s.neg(one), positive)

    def gradient(self, dy) -> Any:
        return raw.ZerosLike(dy)


@op
class Square(Unary):
    """x * x."""

    T = (*FLOATS, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128)
    native_exact = True
    cheap = True

    def scalar(self, s, x):
        return s.square(x)

    def gradient(self, dy, x) -> Any:
        return raw.Mul(dy, raw.Mul(constant(2, x), conjugate(x)))


class Inverse(Unary):
    """1 / x."""

    native_exact = True
    T = SIGNED_NUMBERS
    compiled_when_complex = True

    def scalar(self, s, x):
        return s.div(s.const(1, like=x), x)

    def kernel(self, x):
        if x.dtype.kind == "i":
            raise no_kernel(self.name, x.dtype)
        return np.true_divide(x.dtype.type(1), x)

    def gradient(self, dy, y) -> Any:
        return raw.ReciprocalGrad(y, dy)


@op
class Reciprocal(Inverse):
    """1 / x."""


@op
class Inv(Inverse):
    """1 / x, under its older name."""


class InverseGradient(UnaryGradient):
    """-dy * y * y, the gradient of y = 1 / x."""

    native_exact = True
    T = (*FLOATS, complex64, complex128)
    computes_wide = True

    def kernel(self, y, dy):
        y = np.conjugate(y) if y.dtype.kind == "c" else y
        return zero_where(np.multiply(np.multiply(np.negative(y), dy), y), dy)

    def scalar(self, s, y, dy):
        y, zero = s.conj(y), s.const(0, like=dy)
        return s.select(s.eq(dy, zero), zero, s.mul(s.mul(s.neg(y), dy), y))

    def gradient(self, dz, y, dy) -> Any:
        cy = conjugate(y)
        factor = raw.Mul(raw.Mul(conjugate(dz), constant(-2, y)), dy)
        return raw.Mul(factor, cy), raw.ReciprocalGrad(cy, dz)


@op
class ReciprocalGrad(InverseGradient):
    """The gradient of Reciprocal by its output."""


@op
class InvGrad(InverseGradient):
    """The gradient of Inv by its output."""
