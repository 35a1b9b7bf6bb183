"""Random numbers in machine code: Philox4x32-10, and uniform and normal numbers from it.

Bits and uniform numbers are those of the NumPy code in `ops/random/philox.py`. Normal float32s are
computed by logarithms and sines of float64 in both, so that they hardly ever differ after rounding;
normal float64s differ in their last bits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BFLOAT, DOUBLE, FLOAT, HALF, Kind, Lanes, literal
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.ops.random.philox import (
    LOW,
    MIN_UNIFORM,
    MULTIPLIERS,
    RESERVED,
    TRUNCATE_AT,
    WEYL_0,
    WEYL_1,
)

Run = Callable[..., Any]
Finish = Callable[[Functions, Sequence[Lanes]], list[Lanes]]

WORD_KIND, HALF_WORD_KIND = Kind("i64", 64, "u"), Kind("i32", 32, "u")
# The representation of a bfloat16 in memory.
BFLOAT_BITS = Kind("i16", 16, "u")
BLOCKS_PER_VECTOR = max(jit.WIDTH // 4, 4)
# The words of a kernel's state: the stream's key, its counter's halves, and the step from one
# block's counter to the next.
STATE_DIMS = ("key", "low", "high", "step")


def _cipher(s: Functions, counter: Sequence[Lanes], keys: Sequence[Any]) -> list[Lanes]:
    """Ten rounds over blocks of four words, as 32-bit numbers in 64-bit lanes."""
    x0, x1, x2, x3 = counter
    first, second = [s.constant(int(m), WORD_KIND) for m in np.ravel(MULTIPLIERS)]
    low = s.constant(int(LOW), WORD_KIND)
    for k0, k1 in keys:
        p0, p1 = s.mul(x0, first), s.mul(x2, second)
        x0 = s.bit_xor(s.bit_xor(s.high_half(p1), x1), k0)
        x2 = s.bit_xor(s.bit_xor(s.high_half(p0), x3), k1)
        x1, x3 = s.bit_and(p1, low), s.bit_and(p0, low)
    return [x0, x1, x2, x3]


def _round_keys(s: Functions, key: str) -> list[tuple[Lanes, Lanes]]:
    """The two words that each round adds, in every lane."""
    code = s.code
    words = [code.integer("and", key, int(LOW)), code.integer("lshr", key, 32)]
    round_keys: list[tuple[Lanes, Lanes]] = []
    for _ in range(10):
        pair = [Lanes(WORD_KIND, (code.splat(s.lanes, "i64", w),) * s.vectors) for w in words]
        round_keys.append((pair[0], pair[1]))
        words = [
            code.integer("and", code.integer("add", w, weyl), int(LOW))
            for w, weyl in zip(words, (WEYL_0, WEYL_1), strict=True)
        ]
    return round_keys


def _counters(s: Functions, state: dict[str, str], first: str, step: str = "") -> list[Lanes]:
    """The four words of the counters of `lanes` blocks from number `first` on.

    Counters are `step` apart, or the state's step.
    """
    code, lanes = s.code, s.lanes

    def everywhere(value: str) -> Lanes:
        return Lanes(WORD_KIND, (code.splat(lanes, "i64", value),))

    steps = ", ".join([f"i64 {i}" for i in range(lanes)])
    numbers = s.add(everywhere(first), Lanes(WORD_KIND, (f"<{steps}>",)))
    offsets = s.mul(numbers, everywhere(step or state["step"]))
    low = s.add(everywhere(state["low"]), offsets)
    carried = s.converted(s.lt(low, offsets), WORD_KIND)
    high = s.add(everywhere(state["high"]), carried)
    mask = s.const(int(LOW), low)
    return [part for half in (low, high) for part in (s.bit_and(half, mask), s.high_half(half))]


# -- distributions of the words --------------------------------------------------------


def _bits(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    return [s.converted(w, HALF_WORD_KIND) for w in words]


def _unit(s: Functions, word: Lanes) -> Lanes:
    """A float32 in [0, 1) from a word."""
    bits = s.converted(word, HALF_WORD_KIND)
    bits = s.bit_or(s.bit_and(bits, s.const(0x7FFFFF, bits)), s.const(0x3F800000, bits))
    number = s.floats(bits)
    return s.sub(number, s.const(1, number))


def _half_unit(bits: int, kind: Kind) -> Finish:
    """16-bit floats in [0, 1), from so many bits of each word."""

    def finish(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
        numbers: list[Lanes] = []
        for word in words:
            number = s.bit_and(word, s.const((1 << bits) - 1, word))
            number = s.converted(s.converted(number, HALF_WORD_KIND), FLOAT)
            numbers.append(s.converted(s.mul(number, s.const(2.0**-bits, number)), kind))
        return numbers

    return finish


def _bfloat_unit(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    numbers = _half_unit(7, BFLOAT)(s, words)
    return [Lanes(BFLOAT_BITS, x.names) for x in numbers]


def _double_unit(s: Functions, high: Lanes, low: Lanes) -> Lanes:
    """A float64 in [0, 1) from two words."""
    upper = s.shift_left(s.bit_and(high, s.const(0xFFFFF, high)), 32)
    bits = s.bit_or(s.bit_or(upper, low), s.const(0x3FF << 52, low))
    number = s.floats(bits)
    return s.sub(number, s.const(1, number))


def _normals(s: Functions, first: Lanes, second: Lanes) -> list[Lanes]:
    """Two normal numbers from two uniform ones (Box and Muller), each step rounded."""
    kind = first.kind
    least = s.maximum(first, s.const(MIN_UNIFORM, first))
    log = s.converted(s.log(s.converted(least, DOUBLE)), kind)
    radius = s.sqrt(s.mul(s.const(-2, log), log))
    wide = s.converted(second, DOUBLE)
    angle = s.converted(s.mul(s.const(2 * math.pi, wide), wide), kind)
    wide = s.converted(angle, DOUBLE)
    return [
        s.mul(s.converted(transposed, kind), radius) for transposed in (s.sin(wide), s.cos(wide))
    ]


def _uniform(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    return [_unit(s, w) for w in words]


def _uniform_double(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    return [_double_unit(s, *words[i : i + 2]) for i in (0, 2)]


def _normal(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    u = _uniform(s, words)
    return [*_normals(s, *u[:2]), *_normals(s, *u[2:])]


def _normal_double(s: Functions, words: Sequence[Lanes]) -> list[Lanes]:
    return _normals(s, *_uniform_double(s, words))


FINISHES: dict[str, tuple[Finish, Kind]] = {
    "bits": (_bits, HALF_WORD_KIND),
    "uniform": (_uniform, FLOAT),
    "uniform_double": (_uniform_double, DOUBLE),
    "uniform_half": (_half_unit(10, HALF), HALF),
    "uniform_brief": (_bfloat_unit, BFLOAT_BITS),
    "normal": (_normal, FLOAT),
    "normal_double": (_normal_double, DOUBLE),
}
# Kernels of truncated normal numbers, and the words that a number consumes.
TRUNCATED = {"truncated": "normal", "truncated_double": "normal_double"}
DTYPES = {
    HALF_WORD_KIND: np.uint32,
    FLOAT: np.float32,
    DOUBLE: np.float64,
    HALF: np.float16,
    BFLOAT_BITS: ml_dtypes.bfloat16,
}


def _of_block(kind: Kind) -> int:
    """The numbers from one block."""
    return 2 if kind == DOUBLE else 4


# -- kernels ---------------------------------------------------------------------------


def _kernel(name: str) -> Kernel:
    """Fills an array: dims are the number of groups of `LANES` blocks, and that of elements."""
    finish, kind = FINISHES[name]
    code = Code(name, entry.KERNEL)
    state, out, size = _arguments(code)
    s = Functions(code, BLOCKS_PER_VECTOR, 1)
    keys = _round_keys(s, state["key"])
    with code.loop("%from", "%to") as group:
        first = code.integer("mul", group, BLOCKS_PER_VECTOR)
        vectors = finish(s, _cipher(s, _counters(s, state, first), keys))
        start = code.integer("mul", first, len(vectors))
        for i, vector in enumerate(_in_order(s, vectors)):
            index = code.integer("add", start, i * BLOCKS_PER_VECTOR)
            _write(s, kind, vector, out, index, size)
    code.do("ret void")
    return Kernel(code, 1)


def _arguments(code: Code) -> tuple[dict[str, str], str, str]:
    """The stream's state, the array to be filled, and its number of elements."""
    words = code.load("ptr", "%ins", 8)
    state = {
        part: code.load("i64", code.at("i64", words, str(i)), 8)
        for i, part in enumerate(STATE_DIMS)
    }
    size = code.load("i64", code.at("i64", "%dims", "1"), 8)
    return state, code.load("ptr", "%outs", 8), size


class _Truncated:
    """Emits the kernel of truncated normal numbers, by rejection.

    The numbers of one block have counters of their own, from which they take further blocks until
    they are complete; nearly all need one block.
    """

    def __init__(self, name: str) -> None:
        self.finish, self.kind = FINISHES[TRUNCATED[name]]
        self.code = code = Code(name, entry.KERNEL)
        self.state, self.out, self.size = _arguments(code)
        self.of_block = _of_block(self.kind)
        size = BLOCKS_PER_VECTOR * self.of_block
        self.scratch = code.first(f"alloca [{size} x {self.kind.llvm}], align 64")
        self.filled = code.first("alloca i64, align 8")
        self.seen = code.first(f"alloca [{BLOCKS_PER_VECTOR} x i64], align 64")
        self.s = Functions(code, BLOCKS_PER_VECTOR, 1)
        self.keys = _round_keys(self.s, self.state["key"])

    def write(self) -> Kernel:
        """The kernel: first one block for each, then more for those that lack numbers."""
        code, of_block = self.code, self.of_block
        apart = str(RESERVED * of_block // 4)
        with code.loop("%from", "%to") as group:
            number = code.integer("mul", group, BLOCKS_PER_VECTOR)
            self._generate(number, apart)
            with code.loop("0", str(BLOCKS_PER_VECTOR)) as lane:
                self._fill(0)
                block = code.integer("add", number, lane)
                first = code.integer("mul", block, of_block)
                self._accept(code.integer("mul", lane, of_block), of_block, first)
                self._store(self._load(self.filled), code.at("i64", self.seen, lane))
            with code.loop("0", str(BLOCKS_PER_VECTOR)) as lane:
                seen = self._load(code.at("i64", self.seen, lane))
                block = code.integer("add", number, lane)
                first = code.integer("mul", block, of_block)
                beyond = code.integer("add", first, seen)
                lacking = code.integer("icmp slt", seen, of_block)
                wanted = code.integer("icmp slt", beyond, self.size)
                with code.when(code.let(f"and i1 {lacking}, {wanted}")):
                    self._more_blocks(code.integer("mul", block, apart), apart, first)
        code.do("ret void")
        return Kernel(code, 1)

    def _more_blocks(self, start: str, count: str, first: str) -> None:
        """The numbers from a block's own counters, until there are enough."""
        code = self.code
        self._fill(0)
        with code.loop("0", count, BLOCKS_PER_VECTOR) as iteration:
            lacking = code.integer("icmp slt", self._load(self.filled), self.of_block)
            with code.when(lacking):
                self._generate(code.integer("add", start, iteration), "1")
                self._accept("0", BLOCKS_PER_VECTOR * self.of_block, first)

    def _generate(self, first: str, step: str) -> None:
        """Normal numbers from `LANES` blocks, stored in scratch memory."""
        code, s, kind = self.code, self.s, self.kind
        words = _cipher(s, _counters(s, self.state, first, step), self.keys)
        for i, vector in enumerate(_in_order(s, self.finish(s, words))):
            pointer = code.at(kind.llvm, self.scratch, str(i * BLOCKS_PER_VECTOR))
            code.do(f"store {s.vector(kind)} {vector}, ptr {pointer}, align {kind.bytes}")

    def _accept(self, start: str, count: int, first: str) -> None:
        """Appends the accepted numbers of the scratch memory from index `first` on."""
        code, kind = self.code, self.kind
        word = kind.llvm
        with code.loop("0", str(count)) as i:
            pointer = code.at(word, self.scratch, code.integer("add", start, i))
            x = code.load(word, pointer, kind.bytes)
            far = code.call(word, f"llvm.fabs.f{kind.bits}", (word, x))
            near = code.let(f"fcmp olt {word} {far}, {literal(TRUNCATE_AT, kind)}")
            seen = self._load(self.filled)
            at = code.integer("add", first, seen)
            rest = code.integer("icmp slt", seen, self.of_block)
            inside = code.integer("icmp slt", at, self.size)
            good = code.let(f"and i1 {near}, {code.let(f'and i1 {rest}, {inside}')}")
            with code.when(good):
                code.do(f"store {word} {x}, ptr {code.at(word, self.out, at)}, align {kind.bytes}")
                self._store(code.integer("add", seen, 1), self.filled)

    def _fill(self, count: int) -> None:
        self._store(str(count), self.filled)

    def _load(self, pointer: str) -> str:
        return self.code.load("i64", pointer, 8)

    def _store(self, value: str, pointer: str) -> None:
        self.code.do(f"store i64 {value}, ptr {pointer}, align 8")


def _truncated_kernel(name: str) -> Kernel:
    return _Truncated(name).write()


def _in_order(s: Functions, vectors: Sequence[Lanes]) -> list[str]:
    """The vectors interleaved: the first elements of all, then the second ones, ..."""
    code, lanes = s.code, s.lanes
    element = vectors[0].kind.llvm
    parts, width = [m.names[0] for m in vectors], lanes
    while len(parts) > 1:  # side by side
        vector = f"<{width} x {element}>"
        every = ", ".join([f"i32 {i}" for i in range(2 * width)])
        parts = [
            code.let(f"shufflevector {vector} {a}, {vector} {b}, <{2 * width} x i32> <{every}>")
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ]
        width *= 2
    whole, vector, count = parts[0], f"<{width} x {element}>", len(vectors)
    iterations: list[str] = []
    for start in range(0, width, lanes):
        lanes_in_order = [e % count * lanes + e // count for e in range(start, start + lanes)]
        order = ", ".join([f"i32 {p}" for p in lanes_in_order])
        iterations.append(
            code.let(f"shufflevector {vector} {whole}, {vector} poison, <{lanes} x i32> <{order}>")
        )
    return iterations


def _write(s: Functions, kind: Kind, vector: str, out: str, index: str, size: str) -> None:
    """Stores a vector's elements, those within the array."""
    code, lanes = s.code, s.lanes
    test = f"<{lanes} x i1>"
    mask = code.call(
        test, f"llvm.get.active.lane.mask.v{lanes}i1.i64", ("i64", index), ("i64", size)
    )
    code.call(
        "void",
        f"llvm.masked.store.{s.suffix(kind)}.p0",
        (s.vector(kind), vector),
        (f"ptr align {kind.bytes}", code.at(kind.llvm, out, index)),
        (test, mask),
    )


def _swaps() -> Kernel:
    """range(n) after a Fisher-Yates shuffle: each element is swapped with the one at the input's
    offset."""
    code = Code("swaps", entry.KERNEL)
    offsets, out = code.load("ptr", "%ins", 8), code.load("ptr", "%outs", 8)
    with code.loop("%from", "%to") as i:
        code.do(f"store i64 {i}, ptr {code.at('i64', out, i)}, align 8")
    with code.loop("%from", code.integer("sub", "%to", 1)) as i:
        offset = code.load("i32", code.at("i32", offsets, i), 4)
        other = code.integer("add", i, code.let(f"zext i32 {offset} to i64"))
        pointers = [code.at("i64", out, at) for at in (i, other)]
        values = [code.load("i64", pointer, 8) for pointer in pointers]
        for pointer, value in zip(pointers, values[::-1], strict=True):
            code.do(f"store i64 {value}, ptr {pointer}, align 8")
    code.do("ret void")
    return Kernel(code, 1)


LIBRARIES = {
    name: Library(lambda name=name, write=write: Source([write(name)]))
    for names, write in ((FINISHES, _kernel), (TRUNCATED, _truncated_kernel))
    for name in names
}
PERMUTATIONS = Library(lambda: Source([_swaps()]))


def permutation(count: int) -> Run | None:
    """The function from uint32 offsets, all but the last, to a permutation of range(count)."""
    if not entry.AVAILABLE:
        return None
    fill = PERMUTATIONS.entry("swaps", shared=False).for_dims((count,))
    return entry.filling(fill, (count,), np.int64)


def generator(name: str, count: int) -> Run | None:
    """The function from a stream's state (an array of `STATE`) to `count` numbers; for names in
    `LIBRARIES`."""
    if not entry.AVAILABLE or not count:
        return None
    _, kind = FINISHES[TRUNCATED.get(name, name)]
    groups = -(-count // (BLOCKS_PER_VECTOR * _of_block(kind)))
    # Few numbers take less time than waking another thread.
    fill = (
        LIBRARIES[name].entry(name, count >= entry.MIN_PARALLEL_ELEMENTS).for_dims((groups, count))
    )
    return entry.filling(fill, (count,), DTYPES[kind])
