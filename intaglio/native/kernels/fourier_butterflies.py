"""Butterflies: vectors of complex numbers with separate parts, and short transforms in registers."""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from intaglio.native.llvm.builder import Code


class Complex(NamedTuple):
    """The names of the vectors of real and of imaginary parts."""

    re: str
    im: str


class Vectors:
    """Emits operations on vectors of floats of one type."""

    def __init__(self, code: Code, kind: str, lanes: int) -> None:
        self.code, self.kind, self.lanes = code, kind, lanes
        self.bytes = 8 if kind == "double" else 4
        self.type = f"<{lanes} x {kind}>"

    # -- arithmetic ------------------------------------------------------------------------

    def number(self, value: float) -> str:
        """A constant as LLVM writes it."""
        if self.kind == "float":
            value = struct.unpack("f", struct.pack("f", value))[0]
        return f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"

    def op(self, word: str, x: str, y: str, lanes: int = 0) -> str:
        """An operation on vectors, or on scalars if there is one lane; `contract` may fuse products
        and sums."""
        kind = self.kind if lanes == 1 else self.type
        return self.code.let(f"{word} contract {kind} {x}, {y}")

    def add(self, x: Complex, y: Complex) -> Complex:
        """x + y."""
        return Complex(self.op("fadd", x.re, y.re), self.op("fadd", x.im, y.im))

    def sub(self, x: Complex, y: Complex) -> Complex:
        """x - y."""
        return Complex(self.op("fsub", x.re, y.re), self.op("fsub", x.im, y.im))

    def negative(self, x: str) -> str:
        """-x of real numbers."""
        return self.code.let(f"fneg {self.type} {x}")

    def times(self, x: Complex, y: Complex) -> Complex:
        """x * y."""
        re = self.op("fsub", self.op("fmul", x.re, y.re), self.op("fmul", x.im, y.im))
        im = self.op("fadd", self.op("fmul", x.re, y.im), self.op("fmul", x.im, y.re))
        return Complex(re, im)

    def scaled(self, x: Complex, factor: float) -> Complex:
        """x times a real constant."""
        by = f"splat ({self.kind} {self.number(factor)})"
        return Complex(self.op("fmul", x.re, by), self.op("fmul", x.im, by))

    def _rotated(self, x: Complex, angle: float) -> Complex:
        """x * exp(2 pi i * angle); the angle is a fraction of a full circle."""
        eighth = round(8 * (angle % 1), 9)
        if eighth == 0:
            return x
        if eighth == 4:
            return Complex(self.negative(x.re), self.negative(x.im))
        if eighth == 2:
            return Complex(self.negative(x.im), x.re)
        if eighth == 6:
            return Complex(x.im, self.negative(x.re))
        c, s = math.cos(2 * math.pi * angle), math.sin(2 * math.pi * angle)
        parts = [f"splat ({self.kind} {self.number(v)})" for v in (c, s)]
        return self.times(x, Complex(*parts))

    # -- transforms ----------------------------------------------------------------------------

    def transform(self, x: list[Complex], sign: int) -> list[Complex]:
        """The transform of a few numbers in each lane, with exp(sign * i ...)."""
        size = len(x)
        if size == 1:
            return x
        if size == 2:
            return [self.add(*x), self.sub(*x)]
        first = next((r for r in (4, 2, 3) if size % r == 0 and size > r), 0)
        if size == 4:
            return self._of_four(x, sign)
        return self._in_two_steps(x, first, sign) if first else self._of_prime(x, sign)

    def _of_four(self, x: list[Complex], sign: int) -> list[Complex]:
        even = self.add(x[0], x[2]), self.sub(x[0], x[2])
        odd = self.add(x[1], x[3]), self.sub(x[1], x[3])
        # even +- sign * i * odd
        up = Complex(self.op("fsub", even[1].re, odd[1].im), self.op("fadd", even[1].im, odd[1].re))
        down = Complex(
            self.op("fadd", even[1].re, odd[1].im), self.op("fsub", even[1].im, odd[1].re)
        )
        middle = (up, down) if sign > 0 else (down, up)
        return [
            self.add(even[0], odd[0]), middle[0], self.sub(even[0], odd[0]), middle[1],
        ]  # fmt: skip

    def _in_two_steps(self, x: list[Complex], first: int, sign: int) -> list[Complex]:
        """Transforms of `first` numbers, twiddle factors, and transforms of the others."""
        size, second = len(x), len(x) // first
        inner = [self.transform(x[n::second], sign) for n in range(second)]
        result = list(x)
        for k in range(first):
            rotated = [self._rotated(inner[n][k], sign * n * k / size) for n in range(second)]
            for j, y in enumerate(self.transform(rotated, sign)):
                result[k + first * j] = y
        return result

    def _of_prime(self, x: list[Complex], sign: int) -> list[Complex]:
        """A transform of odd length: pairs of elements with conjugate factors are combined."""
        size = len(x)
        half = (size - 1) // 2
        sums = [self.add(x[j], x[size - j]) for j in range(1, half + 1)]
        gaps = [self.sub(x[j], x[size - j]) for j in range(1, half + 1)]
        total = x[0]
        for s in sums:
            total = self.add(total, s)
        result = [total] * size
        for k in range(1, half + 1):
            even: Complex = x[0]
            odd: Complex | None = None
            for j in range(1, half + 1):
                angle = 2 * math.pi * (j * k % size) / size
                even = self.add(even, self.scaled(sums[j - 1], math.cos(angle)))
                part = self.scaled(gaps[j - 1], sign * math.sin(angle))
                odd = part if odd is None else self.add(odd, part)
            assert odd is not None
            result[k] = Complex(self.op("fsub", even.re, odd.im), self.op("fadd", even.im, odd.re))
            result[size - k] = Complex(
                self.op("fadd", even.re, odd.im), self.op("fsub", even.im, odd.re)
            )
        return result

    # -- movement between lanes -------------------------------------------------------------------

    def shuffle(self, x: str, y: str, lanes: list[int]) -> str:
        """A vector of lanes of two."""
        order = ", ".join([f"i32 {i}" for i in lanes])
        return self.code.let(
            f"shufflevector {self.type} {x}, {self.type} {y}, <{len(lanes)} x i32> <{order}>"
        )

    def _zipped(self, x: str, y: str) -> tuple[str, str]:
        """The interleaved lanes of two vectors: the first halves, and the second halves."""
        n = self.lanes
        orders = ([i // 2 + i % 2 * n + start for i in range(n)] for start in (0, n // 2))
        low, high = (self.shuffle(x, y, order) for order in orders)
        return low, high

    def _rows(self, columns: list[str]) -> list[str]:
        """The transposed square matrix."""
        n, found = self.lanes, columns
        for _ in range(n.bit_length() - 1):
            pairs = [self._zipped(found[i], found[i + n // 2]) for i in range(n // 2)]
            found = [row for pair in pairs for row in pair]
        return found

    def transposed(self, x: list[Complex]) -> list[Complex]:
        """The transposed square: lane i of vector j becomes lane j of vector i."""
        parts = [self._rows([v.re for v in x]), self._rows([v.im for v in x])]
        return [Complex(re, im) for re, im in zip(*parts, strict=True)]

    def reversed(self, x: Complex) -> Complex:
        """The lanes from the last to the first."""
        order = list(range(self.lanes - 1, -1, -1))
        return Complex(self.shuffle(x.re, x.re, order), self.shuffle(x.im, x.im, order))

    # -- memory ---------------------------------------------------------------------------------------

    def _load(self, pointer: str, at: str) -> str:
        return self.code.load(self.type, self.code.at(self.kind, pointer, at), self.bytes)

    def _store(self, pointer: str, at: str, x: str) -> None:
        there = self.code.at(self.kind, pointer, at)
        self.code.do(f"store {self.type} {x}, ptr {there}, align {self.bytes}")

    def load_apart(self, pointer: str, distance: int, at: str) -> Complex:
        """Numbers whose imaginary parts are `distance` elements behind their real ones."""
        behind = self.code.integer("add", at, distance)
        return Complex(self._load(pointer, at), self._load(pointer, behind))

    def store_apart(self, pointer: str, distance: int, at: str, x: Complex) -> None:
        """Stores numbers as `load_apart` reads them."""
        self._store(pointer, at, x.re)
        self._store(pointer, self.code.integer("add", at, distance), x.im)

    def load_pairs(self, pointer: str, at: str) -> Complex:
        """Numbers that are interleaved pairs in memory, from number `at` on."""
        first = self.code.integer("mul", at, 2)
        low = self._load(pointer, first)
        high = self._load(pointer, self.code.integer("add", first, self.lanes))
        n = 2 * self.lanes
        return Complex(
            self.shuffle(low, high, list(range(0, n, 2))),
            self.shuffle(low, high, list(range(1, n, 2))),
        )

    def store_pairs(self, pointer: str, at: str, x: Complex) -> None:
        """Stores numbers as interleaved pairs."""
        first = self.code.integer("mul", at, 2)
        low, high = self._zipped(x.re, x.im)
        self._store(pointer, first, low)
        self._store(pointer, self.code.integer("add", first, self.lanes), high)

    def scalar_at(self, pointer: str, at: str) -> str:
        """The element at an index."""
        return self.code.load(self.kind, self.code.at(self.kind, pointer, at), self.bytes)

    def store_scalar(self, pointer: str, at: str, re: str, im: str) -> None:
        """Stores one complex number as a pair."""
        first = self.code.integer("mul", at, 2)
        for offset, part in enumerate((re, im)):
            there = self.code.at(self.kind, pointer, self.code.integer("add", first, offset))
            self.code.do(f"store {self.kind} {part}, ptr {there}, align {self.bytes}")

    def broadcast(self, pointer: str, at: str) -> str:
        """The element at an index, in every lane."""
        return self.code.splat(self.lanes, self.kind, self.scalar_at(pointer, at))
