"""The builder for `scalar` rules that emits vector code, for several vectors at a time.

A value is a group of vectors, and every operation is emitted for all of them before the next one: the
instructions of a group are independent, so that the processor overlaps their latencies in chains of
dependent operations.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from intaglio.native.llvm import jit as llvm
from intaglio.native.llvm.builder import Code


class Unsupported(Exception):
    """The expression has a part without native code; the message names it.

    `node` is the node of the graph that it belongs to, if it was written for one.
    """

    node: Any = None

    @classmethod
    def at(cls, node: Any, text: str) -> Unsupported:
        """The error with the node set."""
        error = cls(text)
        error.node = node
        return error


class Kind(NamedTuple):
    """An element type: LLVM's name, bits, and NumPy's kind: f, i, u, b or c.

    16-bit floats are `short`: stored in 16 bits, computed as float32, and rounded after each operation.
    In LLVM a bfloat16 is an integer here, and so is a complex number (`complexes`).
    """

    llvm: str
    bits: int
    letter: str

    @property
    def name(self) -> str:
        """The name of the type in messages."""
        words = {"f": "float", "i": "int", "u": "uint", "b": "bool", "c": "complex"}
        if self.letter == "b" or self == BFLOAT:
            return "bool" if self.letter == "b" else "bfloat16"
        return f"{words[self.letter]}{self.bits}"

    @property
    def memory(self) -> str:
        """The type in memory: a bool is a byte there."""
        return "i8" if self.letter == "b" else self.llvm

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return max(self.bits, 8) // 8

    @property
    def short(self) -> bool:
        """True for floats of 16 bits."""
        return self.letter == "f" and self.bits == 16

    @property
    def width(self) -> int:
        """The bytes of an element in registers: those of the type that is computed with."""
        return 4 if self.short else self.bytes


BOOL = Kind("i1", 1, "b")
FLOAT, DOUBLE = Kind("float", 32, "f"), Kind("double", 64, "f")
KINDS = {
    np.dtype(bool): BOOL,
    np.dtype("f4"): FLOAT,
    np.dtype("f8"): DOUBLE,
    **{
        np.dtype(f"{letter}{bits // 8}"): Kind(f"i{bits}", bits, letter)
        for bits in (8, 16, 32, 64)
        for letter in "iu"
    },
    np.dtype("c8"): Kind("i64", 64, "c"),
    np.dtype("c16"): Kind("i128", 128, "c"),
}
HALF, BFLOAT = Kind("half", 16, "f"), Kind("i16", 16, "f")
KINDS[np.dtype(ml_dtypes.bfloat16)] = BFLOAT
if llvm.HAS_HALF:
    KINDS[np.dtype(np.float16)] = HALF


def kind_of(dtype: Any) -> Kind:
    """The kind of a NumPy dtype. Raises Unsupported for others."""
    try:
        return KINDS[np.dtype(dtype)]
    except KeyError:
        raise Unsupported(f"elements of type {dtype}") from None


def dtype_of(kind: Kind) -> Any:
    """NumPy's dtype of elements in memory."""
    return next(dtype for dtype, found in KINDS.items() if found == kind)


def part_of(kind: Kind) -> Kind:
    """The kind of the real and imaginary parts of complex numbers."""
    return FLOAT if kind.bits == 64 else DOUBLE


def complex_of(part: Kind) -> Kind:
    """The complex kind with parts of this kind. Raises Unsupported if there is none."""
    if part not in (FLOAT, DOUBLE):
        raise Unsupported(f"complex numbers of {part.name}")
    return Kind(f"i{2 * part.bits}", 2 * part.bits, "c")


class Lanes(NamedTuple):
    """A value: a kind and the names of its vectors."""

    kind: Kind
    names: tuple[str, ...]


def literal(value: Any, kind: Kind) -> str:
    """A number as an LLVM constant."""
    if kind.short:
        dtype = np.float16 if kind == HALF else ml_dtypes.bfloat16
        bits = int(np.asarray(value, dtype).view(np.uint16))
        return f"0xH{bits:04X}" if kind == HALF else str(bits)
    if kind.letter == "f":
        number = float(np.float32(value)) if kind.bits == 32 else float(value)
        return f"0x{struct.unpack('<Q', struct.pack('<d', number))[0]:016X}"
    if kind.letter == "b":
        return "true" if value else "false"
    if kind.letter == "c":
        whole = np.asarray(value, np.complex64 if kind.bits == 64 else np.complex128)
        return str(int.from_bytes(whole.tobytes(), sys.byteorder))
    return str(int(value))


def literals(array: Any, kind: Kind) -> str:
    """A constant vector."""
    flat = np.asarray(array).reshape(-1).tolist()
    if len({repr(x) for x in flat}) == 1:
        return f"splat ({kind.llvm} {literal(flat[0], kind)})"
    return f"<{', '.join([f'{kind.llvm} {literal(x, kind)}' for x in flat])}>"


class Builder:
    """The builder that `scalar` rules call: each method emits its instructions for every vector."""

    def __init__(self, code: Code, lanes: int, vectors: int) -> None:
        self.code = code
        self.lanes = lanes
        self.vectors = vectors

    # -- writing -------------------------------------------------------------------

    def vector(self, kind: Kind) -> str:
        """The LLVM type of a vector of that kind."""
        return f"<{self.lanes} x {kind.llvm}>"

    def suffix(self, kind: Kind) -> str:
        """How the names of intrinsics on such vectors end."""
        letter = "f" if kind.letter == "f" else "i"
        return f"v{self.lanes}{letter}{kind.bits}"

    def each(self, kind: Kind, form: Callable[..., str], *operands: Lanes) -> Lanes:
        """Emits one instruction for every vector; `form` is called with the operands' names."""
        groups = zip(*[o.names for o in operands], strict=True)
        return Lanes(kind, tuple([self.code.let(form(*g)) for g in groups]))

    def intrinsic(self, name: str, *operands: Lanes, flag: str | None = None) -> Lanes:
        """Calls an LLVM intrinsic on vectors of one kind."""
        kind = operands[0].kind
        if kind.short:
            wide = self.intrinsic(name, *map(self.widened, operands), flag=flag)
            return self.converted(wide, kind)
        vector = self.vector(kind)
        full = f"llvm.{name}.{self.suffix(kind)}"
        extra = [("i1", flag)] if flag is not None else []
        names = [
            self.code.call(vector, full, *[(vector, n) for n in group], *extra)
            for group in zip(*[o.names for o in operands], strict=True)
        ]
        return Lanes(kind, tuple(names))

    def constant(self, value: Any, kind: Kind) -> Lanes:
        """The same number in every lane."""
        text = f"splat ({kind.llvm} {literal(value, kind)})"
        return Lanes(kind, (text,) * self.vectors)

    def const(self, value: Any, like: Lanes) -> Lanes:
        """A constant of the type of `like`."""
        return self.constant(value, like.kind)

    def _arithmetic(self, of_floats: str, of_integers: str, *operands: Lanes) -> Lanes:
        kind = operands[0].kind
        name = of_floats if kind.letter == "f" else of_integers
        if not name or kind.letter == "b":
            raise Unsupported(f"{of_floats} of {kind.name}")
        if kind.short:
            wide = self._arithmetic(of_floats, "", *map(self.widened, operands))
            return self.converted(wide, kind)
        vector = self.vector(kind)
        return self.each(kind, lambda *n: f"{name} {vector} {', '.join(n)}", *operands)

    # -- arithmetic ----------------------------------------------------------------

    def add(self, x: Lanes, y: Lanes) -> Lanes:
        return self._arithmetic("fadd", "add", x, y)

    def sub(self, x: Lanes, y: Lanes) -> Lanes:
        return self._arithmetic("fsub", "sub", x, y)

    def mul(self, x: Lanes, y: Lanes) -> Lanes:
        return self._arithmetic("fmul", "mul", x, y)

    def div(self, x: Lanes, y: Lanes) -> Lanes:
        return self._arithmetic("fdiv", "", x, y)

    def square(self, x: Lanes) -> Lanes:
        return self.mul(x, x)

    def fma(self, x: Lanes, y: Lanes, z: Lanes) -> Lanes:
        """x * y + z, rounded once. For approximations; the rules of ops have no such operation."""
        return self.intrinsic("fma", x, y, z)

    def neg(self, x: Lanes) -> Lanes:
        if x.kind.letter == "f":
            return self._arithmetic("fneg", "", x)
        return self.sub(self.const(0, x), x)

    def abs(self, x: Lanes) -> Lanes:
        if x.kind.letter == "f":
            return self.intrinsic("fabs", x)
        return self.intrinsic("abs", x, flag="false") if x.kind.letter == "i" else x

    def sqrt(self, x: Lanes) -> Lanes:
        return self._floating("sqrt", x)

    def floor(self, x: Lanes) -> Lanes:
        return self._floating("floor", x)

    def ceil(self, x: Lanes) -> Lanes:
        return self._floating("ceil", x)

    def rint(self, x: Lanes) -> Lanes:
        return self._floating("roundeven", x)

    def trunc(self, x: Lanes) -> Lanes:
        return self._floating("trunc", x)

    def _floating(self, name: str, x: Lanes) -> Lanes:
        if x.kind.letter != "f":
            raise Unsupported(f"{name} of {x.kind.name}")
        return self.intrinsic(name, x)

    def maximum(self, x: Lanes, y: Lanes) -> Lanes:
        return self._extreme(self.ge if x.kind == HALF else self.gt, x, y)

    def minimum(self, x: Lanes, y: Lanes) -> Lanes:
        # Of two zeros NumPy and TensorFlow return the first for float16, NumPy the second for
        # others.
        return self._extreme(self.le if x.kind == HALF else self.lt, x, y)

    def _extreme(self, better: Callable[[Lanes, Lanes], Lanes], x: Lanes, y: Lanes) -> Lanes:
        chosen = self.select(better(x, y), x, y)
        # A NaN in y is selected already, as no comparison with it holds.
        return self.select(self.isnan(x), x, chosen) if x.kind.letter == "f" else chosen

    def greatest(self, x: Lanes, y: Lanes) -> Lanes:
        """`maximum` with 0 greater than -0, so that the maximum of several numbers does not depend on their order."""
        return self._ordered(self.maximum(x, y), self.bit_and, x, y)

    def least(self, x: Lanes, y: Lanes) -> Lanes:
        """`minimum` with -0 less than 0, so that the minimum of several numbers does not depend on their order."""
        return self._ordered(self.minimum(x, y), self.bit_or, x, y)

    def _ordered(
        self, chosen: Lanes, zero: Callable[[Lanes, Lanes], Lanes], x: Lanes, y: Lanes
    ) -> Lanes:
        """`chosen`, and of equal numbers `zero` of their bits, which changes zeros of different signs only."""
        kind = x.kind
        if kind.letter != "f":
            return chosen
        both = zero(self.bits(x), self.bits(y))
        return self.select(self.eq(x, y), self._reread(both, kind), chosen)

    # -- comparisons ---------------------------------------------------------------

    def _compare(self, of_floats: str, of_integers: str, x: Lanes, y: Lanes) -> Lanes:
        x, y = self.widened(x), self.widened(y)
        kind = x.kind
        test = of_integers
        if of_integers not in ("eq", "ne"):
            test = ("s" if kind.letter == "i" else "u") + of_integers
        word = f"fcmp {of_floats}" if kind.letter == "f" else f"icmp {test}"
        vector = self.vector(kind)
        return self.each(BOOL, lambda a, b: f"{word} {vector} {a}, {b}", x, y)

    def eq(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("oeq", "eq", x, y)

    def ne(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("une", "ne", x, y)

    def lt(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("olt", "lt", x, y)

    def le(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("ole", "le", x, y)

    def gt(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("ogt", "gt", x, y)

    def ge(self, x: Lanes, y: Lanes) -> Lanes:
        return self._compare("oge", "ge", x, y)

    def isnan(self, x: Lanes) -> Lanes:
        return self._compare("uno", "ne", x, x)

    def isinf(self, x: Lanes) -> Lanes:
        return self.eq(self.abs(x), self.const(np.inf, x))

    def isfinite(self, x: Lanes) -> Lanes:
        return self.lt(self.abs(x), self.const(np.inf, x))

    # -- logic ---------------------------------------------------------------------

    def _bitwise(self, name: str, x: Lanes, y: Lanes) -> Lanes:
        if x.kind.letter == "f":
            raise Unsupported(f"{name} of {x.kind.name}")
        vector = self.vector(x.kind)
        return self.each(x.kind, lambda a, b: f"{name} {vector} {a}, {b}", x, y)

    def bit_and(self, x: Lanes, y: Lanes) -> Lanes:
        return self._bitwise("and", x, y)

    def bit_or(self, x: Lanes, y: Lanes) -> Lanes:
        return self._bitwise("or", x, y)

    def bit_xor(self, x: Lanes, y: Lanes) -> Lanes:
        return self._bitwise("xor", x, y)

    def invert(self, x: Lanes) -> Lanes:
        return self.bit_xor(x, self.constant(-1, x.kind))

    logical_and = bit_and
    logical_or = bit_or

    def logical_not(self, x: Lanes) -> Lanes:
        return self.bit_xor(x, self.const(True, x))

    def select(self, condition: Lanes, x: Lanes, y: Lanes) -> Lanes:
        test, vector = self.vector(BOOL), self.vector(x.kind)
        return self.each(
            x.kind,
            lambda c, a, b: f"select {test} {c}, {vector} {a}, {vector} {b}",
            condition,
            x,
            y,
        )

    # -- branches ----------------------------------------------------------------

    def any(self, condition: Lanes) -> str:
        """An i1: whether the condition holds in any lane of any vector."""
        test = self.vector(BOOL)
        whole = condition.names[0]
        for other in condition.names[1:]:
            whole = self.code.let(f"or {test} {whole}, {other}")
        return self.code.call("i1", f"llvm.vector.reduce.or.v{self.lanes}i1", (test, whole))

    def either(self, condition: str, one: Callable[[], Lanes], other: Callable[[], Lanes]) -> Lanes:
        """The result of one of two branches, of which only one is executed."""
        code = self.code
        labels = [code.new_label(word) for word in ("yes", "no", "after")]
        code.branch(condition, *labels[:2])
        results: list[Lanes] = []
        ends: list[str] = []
        for label, branch in zip(labels, (one, other), strict=False):
            code.label(label)
            results.append(branch())
            ends.append(code.block)
            code.jump(labels[2])
        code.label(labels[2])
        kind = results[0].kind
        names: list[str] = []
        for incoming in zip(*[m.names for m in results], strict=True):
            phi = code.phi(self.vector(kind))
            code.arrive(phi, *zip(incoming, ends, strict=True))
            names.append(phi.name)
        return Lanes(kind, tuple(names))

    def iterated(
        self,
        state: Sequence[Lanes],
        step: Callable[[Sequence[Lanes]], tuple[Sequence[Lanes], Lanes]],
    ) -> list[Lanes]:
        """The state after as many steps as each lane needs; `step` returns which lanes continue.

        A lane that has ended keeps its numbers, so that they do not depend on other lanes.
        """
        code, going = self.code, self.constant(True, BOOL)
        before, head, after = code.block, code.new_label("step"), code.new_label("after")
        code.jump(head)
        code.label(head)
        first = [*state, going]
        phis = [[code.phi(self.vector(x.kind)) for _ in x.names] for x in first]
        *old, going = [
            Lanes(x.kind, tuple([p.name for p in row])) for x, row in zip(first, phis, strict=True)
        ]
        new, more = step(old)
        kept = [self.select(going, y, x) for x, y in zip(old, new, strict=True)]
        going = self.logical_and(going, more)
        for x, row, y in zip(first, phis, [*kept, going], strict=True):
            for name, phi, following in zip(x.names, row, y.names, strict=True):
                code.arrive(phi, (name, before), (following, code.block))
        code.branch(self.any(going), head, after)
        code.label(after)
        return kept

    # -- conversions -------------------------------------------------------------

    def cast(self, x: Lanes, dtype: Any) -> Lanes:
        """Numbers converted to another type, as by the op Cast."""
        return self.converted(x, kind_of(dtype))

    def converted(self, x: Lanes, to: Kind) -> Lanes:
        """`cast` to a kind."""
        kind = x.kind
        if kind == to:
            return x
        if kind.short:
            return self.converted(self.widened(x), to)
        if to.short:
            return self._shortened(x, to)
        if to.letter == "b":
            return self.ne(x, self.const(0, x))
        if kind.letter == "f" and to.letter != "f":
            return self._truncated(x, to)
        if to.letter == "f":
            if kind.letter == "f":
                word = "fpext" if to.bits > kind.bits else "fptrunc"
            else:
                word = "sitofp" if kind.letter == "i" else "uitofp"
        elif to.bits == kind.bits:
            return Lanes(to, x.names)
        elif to.bits < kind.bits:
            word = "trunc"
        else:
            word = "sext" if kind.letter == "i" else "zext"
        return self._word(word, x, to)

    def _word(self, word: str, x: Lanes, to: Kind) -> Lanes:
        old, new = self.vector(x.kind), self.vector(to)
        return self.each(to, lambda a: f"{word} {old} {a} to {new}", x)

    def _truncated(self, x: Lanes, to: Kind) -> Lanes:
        """Floating-point numbers truncated to integers; out of range the result is that of the x86
        instructions."""
        if to.bits < 32:
            return self.converted(self._truncated(x, Kind("i32", 32, "i")), to)
        half = 2.0 ** (to.bits - 1)
        above = 2 * half if to.letter == "u" else half
        fits = self.logical_and(self.ge(x, self.const(-half, x)), self.lt(x, self.const(above, x)))
        inside = self.select(fits, x, self.const(0, x))
        lowest = self.constant(-(2 ** (to.bits - 1)), to)
        if to.letter == "i":
            return self.select(fits, self._word("fptosi", inside, to), lowest)
        high = self.ge(inside, self.const(half, x))
        low = self.select(high, self.sub(inside, self.const(half, x)), inside)
        truncated = self.converted(self._word("fptosi", low, Kind("i64", 64, "i")), to)
        whole = self.add(truncated, self.select(high, lowest, self.const(0, truncated)))
        return self.select(fits, whole, lowest)

    def widened(self, x: Lanes) -> Lanes:
        """Short floats as float32; other kinds unchanged."""
        if not x.kind.short:
            return x
        if x.kind == HALF:
            return self._word("fpext", x, FLOAT)
        whole = self._word("zext", x, Kind("i32", 32, "i"))
        return self.floats(self.shift_left(whole, 16))

    def _shortened(self, x: Lanes, to: Kind) -> Lanes:
        """Numbers rounded to float32 first, then to 16-bit floats."""
        if to == HALF and x.kind == DOUBLE:
            raise Unsupported("float64 to float16")  # through float32 it would be rounded twice
        x = self.converted(x, FLOAT)
        if to == HALF:
            return self._word("fptrunc", x, HALF)
        bits = self.bits(x)
        odd = self.bit_and(self.shift_right(bits, 16), self.const(1, bits))
        rounded = self.add(self.add(bits, self.const(0x7FFF, bits)), odd)
        # A NaN stays a NaN and keeps its sign.
        sign = self.bit_and(bits, self.const(-(2**31), bits))
        quiet = self.bit_or(sign, self.const(0x7FC00000, bits))
        bits = self.select(self.isnan(x), quiet, rounded)
        return self._word("trunc", self.shift_right(bits, 16), BFLOAT)

    def bits(self, x: Lanes) -> Lanes:
        """Floating-point numbers reinterpreted as integers."""
        return self._reread(x, Kind(f"i{x.kind.bits}", x.kind.bits, "i"))

    def floats(self, x: Lanes) -> Lanes:
        """Integers reinterpreted as floating-point numbers."""
        return self._reread(x, FLOAT if x.kind.bits == 32 else DOUBLE)

    def _reread(self, x: Lanes, to: Kind) -> Lanes:
        old, new = self.vector(x.kind), self.vector(to)
        return self.each(to, lambda a: f"bitcast {old} {a} to {new}", x)

    def high_half(self, x: Lanes) -> Lanes:
        """The upper half of the bits of integers."""
        return self._shift("lshr", x, x.kind.bits // 2)

    def shift_left(self, x: Lanes, count: int) -> Lanes:
        """Integers times 2 ** count, wrapping around."""
        return self._shift("shl", x, count)

    def shift_right(self, x: Lanes, count: int) -> Lanes:
        """Integers divided by 2 ** count, rounded down."""
        return self._shift("ashr", x, count)

    def _shift(self, word: str, x: Lanes, count: int) -> Lanes:
        return self._bitwise(word, x, self.const(count, x))

    def left_shift(self, x: Lanes, y: Lanes) -> Lanes:
        """x * 2 ** y, for y clamped to the width of the type."""
        return self._bitwise("shl", x, self._shift_count(x, y))

    def right_shift(self, x: Lanes, y: Lanes) -> Lanes:
        """x / 2 ** y rounded down, for y clamped to the width of the type."""
        word = "ashr" if x.kind.letter == "i" else "lshr"
        return self._bitwise(word, x, self._shift_count(x, y))

    def _shift_count(self, x: Lanes, y: Lanes) -> Lanes:
        most = self.const(x.kind.bits - 1, y)
        return self.minimum(self.maximum(y, self.const(0, y)), most)

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(name)
