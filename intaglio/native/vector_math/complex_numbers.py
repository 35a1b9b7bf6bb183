"""Complex numbers: the builder of `scalar` rules for interleaved pairs of floats.

In LLVM a complex number is an integer of twice the bits, which is loaded and stored like any other
element. Arithmetic deinterleaves the vector and interleaves the results; between two operations
LLVM removes both.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.native.llvm import jit
from intaglio.native.llvm.vectors import (
    DOUBLE,
    FLOAT,
    Builder,
    Kind,
    Lanes,
    Unsupported,
    complex_of,
    part_of,
)
from intaglio.native.vector_math import complex_functions

# Beyond this, a float64's exponential may overflow where the complex one does not.
EXP_LIMIT = 700.0
# NumPy rounds a sum of two products once where the processor has an instruction for it.
FUSED = jit.HAS_FMA


class Complexes(Builder):
    """A builder whose operations support complex numbers; others raise Unsupported for them."""

    # -- parts ---------------------------------------------------------------------

    def parts(self, x: Lanes) -> tuple[Lanes, Lanes]:
        """The real and the imaginary parts."""
        kind, count = part_of(x.kind), 2 * self.lanes
        vector, wide = self.vector(x.kind), f"<{count} x {kind.llvm}>"
        both = [self.code.let(f"bitcast {vector} {n} to {wide}") for n in x.names]
        real, imaginary = (
            Lanes(kind, tuple([self._shuffled(wide, n, n, range(first, count, 2)) for n in both]))
            for first in (0, 1)
        )
        return real, imaginary

    def complex(self, real: Lanes, imag: Lanes) -> Lanes:
        """Complex numbers from their parts."""
        kind, lanes = complex_of(real.kind), self.lanes
        vector = self.vector(real.kind)
        order = [i // 2 + i % 2 * lanes for i in range(2 * lanes)]
        names = [
            self.code.let(
                f"bitcast <{2 * lanes} x {real.kind.llvm}> {self._shuffled(vector, a, b, order)} "
                f"to {self.vector(kind)}"
            )
            for a, b in zip(real.names, imag.names, strict=True)
        ]
        return Lanes(kind, tuple(names))

    def _shuffled(self, vector: str, a: str, b: str, order: Any) -> str:
        lanes = [f"i32 {i}" for i in order]
        return self.code.let(
            f"shufflevector {vector} {a}, {vector} {b}, <{len(lanes)} x i32> <{', '.join(lanes)}>"
        )

    def real(self, x: Lanes) -> Lanes:
        return self.parts(x)[0] if x.kind.letter == "c" else x

    def imag(self, x: Lanes) -> Lanes:
        return self.parts(x)[1] if x.kind.letter == "c" else self.const(0, x)

    def conj(self, x: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return x
        real, imaginary = self.parts(x)
        return self.complex(real, self.neg(imaginary))

    # -- arithmetic ----------------------------------------------------------------

    def _by_parts(self, step: Callable[[Lanes, Lanes], Lanes], x: Lanes, y: Lanes) -> Lanes:
        (a, b), (c, d) = self.parts(x), self.parts(y)
        return self.complex(step(a, c), step(b, d))

    def add(self, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter == "c":
            return self._by_parts(self.add, x, y)
        return super().add(x, y)

    def sub(self, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter == "c":
            return self._by_parts(self.sub, x, y)
        return super().sub(x, y)

    def neg(self, x: Lanes) -> Lanes:
        if x.kind.letter == "c":
            real, imaginary = self.parts(x)
            return self.complex(self.neg(real), self.neg(imaginary))
        return super().neg(x)

    def mul(self, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return super().mul(x, y)
        (a, b), (c, d) = self.parts(x), self.parts(y)
        bd, bc = self.mul(b, d), self.mul(b, c)
        if FUSED:
            return self.complex(self.fma(a, c, self.neg(bd)), self.fma(a, d, bc))
        return self.complex(self.sub(self.mul(a, c), bd), self.add(self.mul(a, d), bc))

    def div(self, x: Lanes, y: Lanes) -> Lanes:
        """Smith's algorithm: numerator and denominator are divided by the larger part of the
        denominator."""
        if x.kind.letter != "c":
            return super().div(x, y)
        (a, b), (c, d) = self.parts(x), self.parts(y)
        large = self.ge(self.abs(c), self.abs(d))
        most, least = self.select(large, c, d), self.select(large, d, c)
        ratio = self.div(least, most)
        scale = self.div(self.const(1, c), self.add(most, self.mul(least, ratio)))
        real = self.select(large, self.add(a, self.mul(b, ratio)), self.add(self.mul(a, ratio), b))
        imaginary = self.select(
            large, self.sub(b, self.mul(a, ratio)), self.sub(self.mul(b, ratio), a)
        )
        real, imaginary = self.mul(real, scale), self.mul(imaginary, scale)
        # Zero has no larger part.
        size = self.abs(c)
        none = self.logical_and(self.eq(c, self.const(0, c)), self.eq(d, self.const(0, d)))
        return self.complex(
            self.select(none, self.div(a, size), real),
            self.select(none, self.div(b, size), imaginary),
        )

    def abs(self, x: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return super().abs(x)
        self.code.approximates = True
        a, b = map(self.abs, self.parts(x))
        infinite = self.logical_or(self.isinf(a), self.isinf(b))
        if a.kind == FLOAT:
            wide = [self.square(self.converted(p, DOUBLE)) for p in (a, b)]
            size = self.converted(self.sqrt(self.add(*wide)), FLOAT)
        else:
            most, least = self.maximum(a, b), self.minimum(a, b)
            ratio = self.div(least, most)
            root = self.sqrt(self.add(self.square(ratio), self.const(1, ratio)))
            zero = self.eq(most, self.const(0, most))
            size = self.select(zero, most, self.mul(most, root))
        return self.select(infinite, self.const(float("inf"), size), size)

    def exp(self, x: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return self._function("exp", x)
        a, b = self.parts(x)
        narrow = a.kind
        a, b = self.converted(a, DOUBLE), self.converted(b, DOUBLE)
        late = self.gt(a, self.const(EXP_LIMIT, a))
        one = self.const(1, a)
        size = self._function("exp", self.select(late, self.sub(a, one), a))
        rest = self.select(late, self.const(2.718281828459045, a), one)
        # Zero is zero where it has no direction, too; a real number stays real.
        nothing = self.eq(a, self.const(float("-inf"), a))
        flat = self.eq(b, self.const(0, b))

        def part(name: str) -> Lanes:
            product = self.mul(self.mul(self._function(name, b), size), rest)
            lost = self.logical_and(nothing, self.isnan(product))
            return self.select(lost, self.const(0, a), product)

        real = self.select(flat, self.mul(size, rest), part("cos"))
        # An infinite number stays infinite where its angle is NaN.
        aimless = self.logical_and(self.isinf(a), self.isnan(real))
        real = self.select(aimless, size, real)
        imaginary = self.select(flat, b, part("sin"))
        return self.complex(self.converted(real, narrow), self.converted(imaginary, narrow))

    def sqrt(self, x: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return super().sqrt(x)
        self.code.approximates = True
        return complex_functions.of(self, "sqrt", x)

    def _function(self, name: str, x: Lanes) -> Lanes:
        """One of the approximated functions, of real numbers."""
        return self.__getattr__(name)(x)

    # -- questions, and numbers of another type ----------------------------------------

    def eq(self, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return super().eq(x, y)
        (a, b), (c, d) = self.parts(x), self.parts(y)
        return self.logical_and(self.eq(a, c), self.eq(b, d))

    def ne(self, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter != "c":
            return super().ne(x, y)
        return self.logical_not(self.eq(x, y))

    def converted(self, x: Lanes, to: Kind) -> Lanes:
        """`cast` to a kind."""
        if x.kind == to or "c" not in (x.kind.letter, to.letter):
            return super().converted(x, to)
        if to.letter != "c":  # bools too: the imaginary part is dropped
            return super().converted(self.real(x), to)
        real, imaginary = self.real(x), self.imag(x)
        if imaginary.kind.letter != "f":
            imaginary = self.const(0, real)
        part = part_of(to)
        real, imaginary = super().converted(real, part), super().converted(imaginary, part)
        return self.complex(real, imaginary)

    def _arithmetic(self, of_floats: str, of_integers: str, *operands: Lanes) -> Lanes:
        return super()._arithmetic(of_floats, of_integers, *_real(of_floats, operands))

    def _compare(self, of_floats: str, of_integers: str, x: Lanes, y: Lanes) -> Lanes:
        return super()._compare(of_floats, of_integers, *_real(of_floats, (x, y)))

    def _bitwise(self, name: str, x: Lanes, y: Lanes) -> Lanes:
        return super()._bitwise(name, *_real(name, (x, y)))


def _real(name: str, operands: tuple[Lanes, ...]) -> tuple[Lanes, ...]:
    """The operands, unless they are complex. Raises Unsupported for such."""
    if operands[0].kind.letter == "c":
        raise Unsupported(f"{name} of complex numbers")
    return operands
