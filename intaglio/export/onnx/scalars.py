"""The builder of `scalar` rules: elementwise ops as ONNX operators from their one expression."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.export.onnx.builder import BOOL, Builder
from intaglio.export.onnx.values import Operand, Unexportable, is_known
from intaglio.opdef.op import Op
from intaglio.opdef.scalar import NumpyScalars

# Primitives that are one operator of the same dtype.
_OPERATORS = {
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "add": "Add",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "bit_and": "BitwiseAnd",
    "bit_or": "BitwiseOr",
    "bit_xor": "BitwiseXor",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "div": "Div",
    "erf": "Erf",
    "exp": "Exp",
    "floor": "Floor",
    "invert": "BitwiseNot",
    "log": "Log",
    "maximum": "Max",
    "minimum": "Min",
    "mul": "Mul",
    "neg": "Neg",
    "power": "Pow",
    "rint": "Round",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "sqrt": "Sqrt",
    "sub": "Sub",
    "tan": "Tan",
    "tanh": "Tanh",
}
# Those whose result is of type bool.
_TESTS = {
    "eq": "Equal",
    "ge": "GreaterOrEqual",
    "gt": "Greater",
    "isinf": "IsInf",
    "isnan": "IsNaN",
    "le": "LessOrEqual",
    "logical_and": "And",
    "logical_not": "Not",
    "logical_or": "Or",
    "lt": "Less",
}


# Lanczos' approximation of the gamma function for g = 7, as P. Godfrey computed it.
LANCZOS_G = 7.0
LANCZOS = (
    0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313,
    -176.61502916214059, 12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6,
    1.5056327351493116e-7,
)  # fmt: skip


class Scalars:
    """What `scalar` rules call. Numbers that are known are computed at once."""

    def __init__(self, builder: Builder) -> None:
        self._b = builder

    def __getattr__(self, name: str) -> Callable[..., Operand]:
        operator = _OPERATORS.get(name) or _TESTS.get(name)
        if operator is None:
            raise Unexportable(f"ONNX has no operator for {name}")
        primitive = getattr(NumpyScalars, name, None)

        def call(*operands: Operand) -> Operand:
            if primitive is not None and all(is_known(v) for v in operands):
                return primitive(*operands)
            _check_real(operands)
            if name in _TESTS:
                return self._b.add(operator, *operands, dtype=BOOL)
            return self._b.add(operator, *operands)

        return call

    @staticmethod
    def const(value: Any, like: Operand) -> Any:
        """A constant of the type of `like`."""
        return np.asarray(value, like.dtype)

    def square(self, x: Operand) -> Operand:
        """x * x."""
        return self.mul(x, x)

    def ne(self, x: Operand, y: Operand) -> Operand:
        """True where they differ, as NaN does from itself."""
        return self.logical_not(self.eq(x, y))

    def isfinite(self, x: Operand) -> Operand:
        """True for what is neither infinite nor NaN."""
        return self.logical_not(self.logical_or(self.isnan(x), self.isinf(x)))

    def select(self, condition: Operand, x: Operand, y: Operand) -> Operand:
        """`x` where the condition holds, else `y`."""
        dtype = (y if is_known(x) and not is_known(y) else x).dtype
        return self._b.add("Where", condition, x, y, dtype=dtype)

    def expm1(self, x: Operand) -> Operand:
        """exp(x) - 1 = tanh(x / 2) * (exp(x) + 1), which keeps its digits near 0."""
        half = self.mul(x, self.const(0.5, x))
        return self.mul(self.tanh(half), self.add(self.exp(x), self.const(1, x)))

    def log1p(self, x: Operand) -> Operand:
        """log(u) * x / (u - 1) with u = 1 + x, where that is neither 0/0 nor infinite."""
        one = self.const(1, x)
        u = self.add(x, one)
        rest = self.sub(u, one)
        plain = self.logical_or(self.eq(rest, self.const(0, x)), self.isinf(u))
        divisor = self.select(plain, one, rest)
        exact = self.mul(self.log(u), self.div(x, divisor))
        return self.select(plain, x, exact)

    def erfc(self, x: Operand) -> Operand:
        """1 - erf(x), of 16-bit floats in float32."""
        narrow = np.dtype(x.dtype)
        wide = self._b.cast(x, np.float32) if narrow.itemsize == 2 else x
        return self._b.cast(self.sub(self.const(1, wide), self.erf(wide)), narrow)

    def trunc(self, x: Operand) -> Operand:
        """Rounded towards zero."""
        return self.select(self.lt(x, self.const(0, x)), self.ceil(x), self.floor(x))

    def atan2(self, y: Operand, x: Operand) -> Operand:
        """The angle of the point (x, y); the quadrant follows from the signs."""
        zero, pi = self.const(0, x), self.const(math.pi, x)
        angle = self.atan(self.div(y, x))
        rotated = self.add(angle, self.select(self.lt(y, zero), self.neg(pi), pi))
        found = self.select(self.lt(x, zero), rotated, angle)
        upright = self.mul(self.sign(y), self.const(math.pi / 2, x))
        return self.select(self.eq(x, zero), upright, found)

    def lgamma(self, x: Operand) -> Operand:
        """log(|gamma(x)|) by Lanczos' approximation in double precision; left of 1/2 by reflection."""
        narrow = np.dtype(x.dtype)
        wide = self._b.cast(x, np.float64)
        half, one, pi = (self.const(v, wide) for v in (0.5, 1.0, math.pi))
        left = self.lt(wide, half)
        z = self.sub(self.select(left, self.sub(one, wide), wide), one)
        total: Operand = self.const(LANCZOS[0], wide)
        for number, weight in enumerate(LANCZOS[1:], 1):
            term = self.div(self.const(weight, wide), self.add(z, self.const(number, wide)))
            total = self.add(total, term)
        t = self.add(z, self.const(LANCZOS_G + 0.5, wide))
        power = self.sub(self.mul(self.add(z, half), self.log(t)), t)
        right = self.add(
            self.add(self.const(math.log(2 * math.pi) / 2, wide), power), self.log(total)
        )
        # The sine of the distance to the nearest integer has all its digits.
        apart = self.abs(self.sub(wide, self.rint(wide)))
        reflected = self.sub(self.sub(self.log(pi), self.log(self.sin(self.mul(pi, apart)))), right)
        found = self.select(left, reflected, right)
        limit = self.select(self.isinf(wide), self.abs(wide), found)
        return self._b.cast(limit, narrow)

    def conj(self, x: Operand) -> Operand:
        """The number itself: ONNX' operators have no complex ones."""
        _check_real([x])
        return x


def _check_real(operands: Any) -> None:
    if any(np.dtype(v.dtype).kind == "c" for v in operands):
        raise Unexportable("ONNX' operators take no complex numbers")


def expressed(op: Op, builder: Builder, values: Any, attrs: dict[str, Any]) -> Operand:
    """The result of an elementwise op by its `scalar` rule.

    Raises Unexportable if the rule has no expression for these attributes.
    """
    rule = op.rules["scalar"]
    names = rule.takes[1 + len(op.input_names) :]
    inputs = list(values)
    narrow = np.dtype(inputs[0].dtype)
    wide = op.computes_wide and narrow.itemsize == 2 and narrow.kind not in "iu"
    if wide:
        inputs = [builder.cast(x, np.float32) for x in inputs]
    try:
        result = rule.fn(Scalars(builder), *inputs, *[attrs[n] for n in names])
    except (AttributeError, TypeError) as e:
        raise Unexportable("its expression looks at the elements") from e
    if result is NotImplemented:
        raise Unexportable("it has no elementwise expression for these attributes")
    return builder.cast(result, narrow) if wide and result.dtype == np.float32 else result
