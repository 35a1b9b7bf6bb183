"""The largest elements of rows, in descending order, and their indices.

Equal elements keep their order, and NaN comes last. For few results a sorted buffer is updated
while the row is read; for many the indices of the whole row are sorted by radix, byte by byte.
Short rows are ranked in vectors (`short_top_k.py`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, Kind, Lanes, Unsupported
from intaglio.native.lowering import short_top_k
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

# Measured costs: of an insertion for each element of the buffer, and of a radix pass for an element
# and for the counts.
INSERTION_STEP, RADIX_STEP, RADIX_COUNTS = 13, 3, 130
# Bytes for an element that is being sorted: a number and an index, twice; and for all together.
BYTES_PER_PAIR, MAX_SORT_BYTES = 32, 1 << 27
RADIX = 256
DIMS = ("rows", "length", "count")


def top_k(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """TopKV2 of a constant count."""
    source, count = inputs
    if count.known is None or count.shape or not source.shape:
        raise Unsupported("TopKV2 of a count that is data")
    k, length = int(count.known), source.shape[-1]
    if not 0 < k <= length or not source.count:
        raise Unsupported("TopKV2 of no elements")
    rows, few = source.count // length, keeps_in_order(k, length, source.kind.bytes)
    short = length <= short_top_k.MAX_LENGTH and rows >= short_top_k.MIN_ROWS
    size = 0 if few else BYTES_PER_PAIR * source.count
    if size > MAX_SORT_BYTES:
        raise Unsupported("TopKV2 that sorts many elements")
    pointer, kind, index_kind = w.pointer(source), source.kind, w.kind(node.outputs[1])
    shape = (*source.shape[:-1], k)
    results = [w.allocate(v, w.kind(v), shape) for v in node.outputs]
    outs = [h.pointer for h in results]
    if short:
        name = w.kernel("top_short", short_top_k.write, kind, index_kind, length, k)
    else:
        name = w.kernel("top_few" if few else "top_many", _written(few), kind, index_kind)
    if not few:
        outs.append(w.scratch(size))
    if source.count >= entry.MIN_PARALLEL_ELEMENTS and rows > 1:
        name = shared(w, name, 1)
    w.long |= source.count >= entry.MIN_PARALLEL_ELEMENTS
    w.call_function(name, [pointer], outs, [rows, length, k])
    w.how = "kernel"
    return results


def _written(few: bool) -> Callable[..., Code]:
    """The function that emits the kernel with a sorted buffer (`few`), or the one that sorts."""

    def write(name: str, kind: Kind, index_kind: Kind) -> Code:
        writer = _TopKBuilder(name, kind, index_kind)
        return writer.few() if few else writer.many()

    return write


def keeps_in_order(k: int, length: int, size: int) -> bool:
    """True if a sorted buffer of the best elements is faster than sorting the row.

    Of a random row k (1 + log(length / k)) elements are ever among the best.
    """
    kept = k * (1 + math.log(length / k))
    return kept * k * INSERTION_STEP < size * (RADIX_STEP * length + RADIX_COUNTS)


class _TopKBuilder:
    """Emits the kernels."""

    def __init__(self, name: str, kind: Kind, index_kind: Kind) -> None:
        self.code = Code(name, entry.KERNEL, "internal void")
        self.kind, self.index_kind = kind, index_kind
        self.wide = FLOAT if kind.short else kind
        self.source = self.code.load("ptr", "%ins", 8)
        self.dims = entry.load_dims(self.code, DIMS)
        self.one = Functions(self.code, 1, 1)

    def _out(self, number: int) -> str:
        return self.code.load("ptr", self.code.at("ptr", "%outs", str(number)), 8)

    def _row(self, kind: Kind, data: str, number: str, length: str) -> str:
        return self.code.at(kind.llvm, data, self.code.integer("mul", number, length))

    def _load(self, s: Functions, row: str, at: str) -> Lanes:
        """Elements of a row, as they are compared."""
        pointer = self.code.at(self.kind.llvm, row, at)
        vector = self.code.load(s.vector(self.kind), pointer, self.kind.bytes)
        return s.converted(Lanes(self.kind, (vector,)), self.wide)

    def _better(self, s: Functions, x: Lanes, y: Lanes) -> Lanes:
        """True if x precedes y in the result, where y precedes it in the row."""
        larger = s.gt(x, y)
        if self.wide.letter != "f":
            return larger
        number = s.logical_and(s.isnan(y), s.logical_not(s.isnan(x)))
        return s.logical_or(larger, number)

    def _is(self, test: Lanes) -> str:
        return self.code.let(f"extractelement <1 x i1> {test.names[0]}, i64 0")

    # -- few ---------------------------------------------------------------------------

    def few(self) -> Code:
        """Keeps the best elements so far in the results, sorted."""
        code, dims = self.code, self.dims
        values, indices = self._out(0), self._out(1)
        count, length = dims["count"], dims["length"]
        last = code.integer("sub", count, 1)
        lanes = max(jit.WIDTH // self.wide.bytes, 1)
        s = Functions(code, lanes, 1)
        with code.loop("%from", "%to") as number:
            row = self._row(self.kind, self.source, number, length)
            best = self._row(self.kind, values, number, count)
            where = self._row(self.index_kind, indices, number, count)
            with code.loop("0", count) as i:
                self._insert(row, best, where, i, i)
            rest = code.integer("sub", length, count)
            whole = code.integer("mul", code.integer("sdiv", rest, lanes), lanes)
            middle = code.integer("add", count, whole)
            with code.loop(count, middle, lanes) as i:
                least = self._load(self.one, best, last)
                inner = self.wide.llvm
                only = code.let(f"extractelement <1 x {inner}> {least.names[0]}, i64 0")
                every = Lanes(self.wide, (code.splat(lanes, inner, only),))
                some = s.any(self._better(s, self._load(s, row, i), every))
                with code.when(some):
                    self._insert_range(row, best, where, i, code.integer("add", i, lanes))
            self._insert_range(row, best, where, middle, length)
        code.do("ret void")
        return code

    def _insert_range(self, row: str, best: str, where: str, start: str, stop: str) -> None:
        """Inserts those of a range that are better than the last of the best."""
        code = self.code
        last = code.integer("sub", self.dims["count"], 1)
        with code.loop(start, stop) as i:
            least, x = self._load(self.one, best, last), self._load(self.one, row, i)
            with code.when(self._is(self._better(self.one, x, least))):
                self._insert(row, best, where, i, last)

    def _insert(self, row: str, best: str, where: str, at: str, last: str) -> None:
        """Inserts an element into the first `last` of the best; those after it are shifted."""
        code, one = self.code, self.one
        x = self._load(one, row, at)
        with code.carrying("0", last, 1, ("i64", "0")) as state:
            behind = self._is(self._better(one, x, self._load(one, best, state.index)))
            stays = code.let(f"zext i1 {code.let(f'xor i1 {behind}, true')} to i64")
            state.following.append(code.integer("add", state.values[0], stays))
        position = state.values[0]
        with code.loop("0", code.integer("sub", last, position)) as i:
            to = code.integer("sub", last, i)
            of = code.integer("sub", to, 1)
            for kind, data in ((self.kind, best), (self.index_kind, where)):
                self._move(kind, code.at(kind.llvm, data, of), code.at(kind.llvm, data, to))
        self._move(
            self.kind, code.at(self.kind.llvm, row, at), code.at(self.kind.llvm, best, position)
        )
        self._put(at, code.at(self.index_kind.llvm, where, position))

    def _move(self, kind: Kind, here: str, there: str) -> None:
        value = self.code.load(kind.llvm, here, kind.bytes)
        self.code.do(f"store {kind.llvm} {value}, ptr {there}, align {kind.bytes}")

    def _put(self, index: str, there: str) -> None:
        """Stores an index in the dtype of the results."""
        kind = self.index_kind
        if kind.bits < 64:
            index = self.code.let(f"trunc i64 {index} to {kind.llvm}")
        self.code.do(f"store {kind.llvm} {index}, ptr {there}, align {kind.bytes}")

    # -- many --------------------------------------------------------------------------

    def many(self) -> Code:
        """Radix sort of a row's indices by keys that increase as elements get smaller."""
        code, dims = self.code, self.dims
        values, indices, operand = (self._out(i) for i in range(3))
        count, length = dims["count"], dims["length"]
        counts = code.first(f"alloca [{RADIX} x i64], align 64")
        with code.loop("%from", "%to") as number:
            row = self._row(self.kind, self.source, number, length)
            size = code.integer("mul", length, BYTES_PER_PAIR // 8)
            here = code.at("i64", operand, code.integer("mul", number, size))
            there = code.at("i64", here, code.integer("mul", length, 2))
            with code.loop("0", length) as i:
                self._store_word(self._worse(self._load(self.one, row, i)), here, i)
                self._store_word(i, code.at("i64", here, length), i)
            for byte in range(self.wide.bytes):
                self._radix_pass(here, there, counts, 8 * byte)
                here, there = there, here
            best = self._row(self.kind, values, number, count)
            where = self._row(self.index_kind, indices, number, count)
            with code.loop("0", count) as i:
                at = self._word(code.at("i64", here, length), i)
                self._move(
                    self.kind, code.at(self.kind.llvm, row, at), code.at(self.kind.llvm, best, i)
                )
                self._put(at, code.at(self.index_kind.llvm, where, i))
        code.do("ret void")
        return code

    def _worse(self, x: Lanes) -> str:
        """The unsigned key of an element: greater for elements that come later."""
        s, wide = self.one, self.wide
        transposed = Kind(f"i{wide.bits}", wide.bits, "i")
        if wide.letter == "f":
            bits = s.bits(s.add(x, s.const(0, x)))  # both zeros are equal
            most = 2 ** (wide.bits - 1) - 1
            positive = s.bit_and(s.invert(bits), s.const(most, bits))
            bits = s.select(s.lt(bits, s.const(0, bits)), bits, positive)
            bits = s.select(s.isnan(x), s.const(-1, bits), bits)
        else:
            bits = s.invert(Lanes(transposed, x.names))
            if wide.letter == "i":
                bits = s.bit_xor(bits, s.const(-(2 ** (wide.bits - 1)), bits))
        word = Kind("i64", 64, "u")
        worse = s.converted(Lanes(Kind(transposed.llvm, wide.bits, "u"), bits.names), word)
        return self.code.let(f"extractelement <1 x i64> {worse.names[0]}, i64 0")

    def _word(self, data: str, at: str) -> str:
        return self.code.load("i64", self.code.at("i64", data, at), 8)

    def _store_word(self, value: str, data: str, at: str) -> None:
        self.code.do(f"store i64 {value}, ptr {self.code.at('i64', data, at)}, align 8")

    def _radix_pass(self, here: str, there: str, counts: str, shift: int) -> None:
        """Sorts keys, and the indices behind them, by one byte."""
        code, length = self.code, self.dims["length"]

        def digit(number: str) -> str:
            return code.integer("and", code.integer("lshr", number, shift), RADIX - 1)

        code.zero(counts, str(8 * RADIX))
        with code.loop("0", length) as i:
            at = digit(self._word(here, i))
            more = code.integer("add", self._word(counts, at), 1)
            self._store_word(more, counts, at)
        with code.carrying("0", str(RADIX), 1, ("i64", "0")) as state:
            seen = self._word(counts, state.index)
            self._store_word(state.values[0], counts, state.index)
            state.following.append(code.integer("add", state.values[0], seen))
        with code.loop("0", length) as i:
            number = self._word(here, i)
            at = digit(number)
            to = self._word(counts, at)
            self._store_word(code.integer("add", to, 1), counts, at)
            self._store_word(number, there, to)
            position = self._word(code.at("i64", here, length), i)
            self._store_word(position, code.at("i64", there, length), to)
