"""x86 instructions on float32 registers for which LLVM has no target-independent intrinsic.

They are available if `entries` is not 0 (`picked`), and with AVX-512 (the others). Vectors may be of
any length: they are split into registers, or padded to one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intaglio.native.llvm import jit
from intaglio.native.llvm.vectors import FLOAT, Builder, Kind, Lanes, literal

_PERMUTATIONS = {8: "llvm.x86.avx2.permps", 16: "llvm.x86.avx512.permvar.sf.512"}
# Significands from 3/4 to 3/2; of negative numbers NaN.
_AROUND_ONE = 0b1011
# All lanes, rounded as always.
_PLAIN = (("i16", "-1"), ("i32", "4"))


def entries(kind: Kind) -> int:
    """The number of float32 in a table of one register from which each lane can select; 0 without such
    an instruction."""
    return jit.PERMUTED_ENTRIES if kind == FLOAT else 0


def has_parts(kind: Kind) -> bool:
    """True where `scaled`, `exponent` and `significand` are single instructions."""
    return kind == FLOAT and jit.PERMUTED_ENTRIES == 16


def picked(s: Builder, table: Sequence[float], index: Lanes) -> Lanes:
    """For every lane, the entry of a table at the index in the lowest bits of the lane."""
    size = jit.PERMUTED_ENTRIES
    numbers = ", ".join([f"float {literal(n, FLOAT)}" for n in table])
    register = f"<{size} x float>"
    indices = s.code.named(f"bitcast {register} <{numbers}> to {register}")

    def permuted(part: str) -> str:
        operands = (register, indices), (f"<{size} x i32>", part)
        return s.code.call(register, _PERMUTATIONS[size], *operands)

    return _by_registers(s, permuted, index)


def scaled(s: Builder, x: Lanes, power: Lanes) -> Lanes:
    """x * 2 ** floor(power), rounded once, also where the result is subnormal."""

    def one(x: str, power: str) -> str:
        operands = [("<16 x float>", name) for name in (x, power, "poison")]
        return _instruction(s, "scalef", *operands)

    return _by_registers(s, one, x, power)


def exponent(s: Builder, x: Lanes) -> Lanes:
    """The floor of the binary logarithm of |x|: -inf for 0, inf for inf."""

    def one(x: str) -> str:
        return _instruction(s, "getexp", ("<16 x float>", x), ("<16 x float>", "poison"))

    return _by_registers(s, one, x)


def significand(s: Builder, x: Lanes) -> Lanes:
    """x divided by a power of 2, between 3/4 and 3/2; 1 for 0 and inf, NaN for negative numbers."""

    def one(x: str) -> str:
        interval = ("i32", str(_AROUND_ONE))
        operands = ("<16 x float>", x), interval, ("<16 x float>", "poison")
        return _instruction(s, "getmant", *operands)

    return _by_registers(s, one, x)


def _instruction(s: Builder, name: str, *operands: tuple[str, str]) -> str:
    full = f"llvm.x86.avx512.mask.{name}.ps.512"
    return s.code.call("<16 x float>", full, *operands, *_PLAIN)


def _by_registers(s: Builder, form: Callable[..., str], *operands: Lanes) -> Lanes:
    """`form` applied to whole registers, for vectors of any length."""
    size = jit.PERMUTED_ENTRIES
    names: list[str] = []
    for group in zip(*[o.names for o in operands], strict=True):
        if s.lanes == size:
            names.append(form(*group))
            continue
        whole = -(-s.lanes // size) * size
        registers: list[str] = []
        for start in range(0, whole, size):
            part = range(start, start + size)
            some = [
                _taken(s, operand.kind, name, s.lanes, part)
                for operand, name in zip(operands, group, strict=True)
            ]
            registers.append(form(*some))
        names.append(_joined(s, registers, size))
    return Lanes(FLOAT, tuple(names))


def _joined(s: Builder, vectors: list[str], size: int) -> str:
    """The concatenation of registers, whose number is a power of two."""
    while len(vectors) > 1:
        pairs = zip(vectors[::2], vectors[1::2], strict=True)
        vectors = [_taken(s, FLOAT, a, size, range(2 * size), b) for a, b in pairs]
        size *= 2
    return _taken(s, FLOAT, vectors[0], size, range(s.lanes))


def _taken(
    s: Builder, kind: Kind, vector: str, lanes: int, wanted: range, other: str = "poison"
) -> str:
    """Selected lanes of one or two vectors; undefined beyond their end."""
    if wanted == range(lanes):
        return vector
    there = lanes if other == "poison" else 2 * lanes
    order = ", ".join([f"i32 {i if i < there else 'poison'}" for i in wanted])
    each = f"<{lanes} x {kind.llvm}>"
    return s.code.let(
        f"shufflevector {each} {vector}, {each} {other}, <{len(wanted)} x i32> <{order}>"
    )
