"""Reductions with fused elementwise producers, in one loop nest that stores no intermediate arrays.

The loops are those of the arrays before the reductions; adjacent dims in which the same operands
advance are one loop. The *vector loop* is the innermost one or, if that has few iterations, the one
around it; the short innermost loop is then unrolled, and the elements that are adjacent along it
are deinterleaved in registers. So rows of three numbers are summed sixteen at a time. The loops
over elements of the results are outermost, and threads divide their iterations; then come the
reduced loops with their accumulators in registers. Long reductions are divided into chunks, whose
results are reduced by a second kernel (`reductions.py`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.ir.graph import Graph
from intaglio.native.kernels.loop_nest import MAX_BODY_INSTRUCTIONS, evaluate, instructions_of
from intaglio.native.kernels.reductions import KINDS, finished, identity
from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, FLOAT, Builder, Kind, Lanes, kind_of
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

# Iterations of an innermost loop that is unrolled.
MAX_UNROLLED_ITERATIONS = 16
# The most terms of one sum, in each lane; and the fewest elements of a chunk.
MAX_CHAIN_TERMS = 1 << 10
MIN_CHUNK_ELEMENTS = 1 << 13
# Loops over results that have fewer parts are divided further, into slices and chunks.
MIN_PARTS = 16


class Loops(NamedTuple):
    """The loop nest: for each input the loops in which it advances, and the loops over the results."""

    moves: tuple[tuple[bool, ...], ...]
    kept: tuple[bool, ...]
    # The iterations of the innermost loop where it is unrolled, else 0.
    unrolled: int

    @property
    def vector(self) -> int:
        """The index of the vector loop."""
        return len(self.kept) - (2 if self.unrolled else 1)

    @property
    def outer(self) -> list[int]:
        """The loops over the results, without the two innermost ones."""
        return [i for i in range(self.vector) if self.kept[i]]

    @property
    def reduced(self) -> list[int]:
        """The reduced loops, the outermost first; without the unrolled one."""
        return [i for i in range(self.vector + 1) if not self.kept[i]]


class Ranges(NamedTuple):
    """How the work is divided: the dims of the kernel before those of the loops."""

    parts: int
    slices: int  # of the vector loop, if it is over results
    slice: int
    chunks: int  # of the outermost reduced loop
    chunk: int


def loops_of(
    moves: Sequence[tuple[bool, ...]], kept: tuple[bool, ...], dims: Sequence[int]
) -> Loops:
    """The loop nest for loops of these lengths."""
    short = len(dims) > 1 and dims[-1] <= MAX_UNROLLED_ITERATIONS
    return Loops(tuple(moves), kept, dims[-1] if short else 0)


def ranges_of(loops: Loops, dims: Sequence[int], lanes: int) -> Ranges:
    """How the loops are divided: determined by their lengths, not by the number of threads."""
    outer = math.prod([dims[i] for i in loops.outer])
    vector = dims[loops.vector]
    slices, columns = 1, vector
    if loops.kept[loops.vector] and outer < MIN_PARTS:
        step = 4 * lanes
        columns = step * -(-vector // (step * -(-MIN_PARTS // outer)))
        slices = -(-vector // columns)
    chunks, chunk = 1, 1
    if loops.reduced:
        first = loops.reduced[0]
        chunk = dims[first]
        terms = math.prod([dims[i] for i in loops.reduced])
        side_by_side = 1 if loops.kept[loops.vector] else 4 * lanes
        whole = math.prod(dims)
        wanted = -(-terms // (MAX_CHAIN_TERMS * side_by_side))
        if outer * slices < MIN_PARTS:
            wanted = max(wanted, min(MIN_PARTS, whole // MIN_CHUNK_ELEMENTS))
        chunk = -(-dims[first] // max(1, min(wanted, dims[first])))
        chunks = -(-dims[first] // chunk)
    return Ranges(outer * slices * chunks, slices, columns, chunks, chunk)


class FusedReduction:
    """Emits the kernel that reduces a graph's outputs, the i-th by `hows[i]`.

    It takes the graph's inputs and then the `numbers`, constants of the graph. Its results are of
    the types that are accumulated: 16-bit floats as float32.
    """

    def __init__(
        self, graph: Graph, loops: Loops, hows: Sequence[str], numbers: Sequence[Any] = ()
    ) -> None:
        self.graph = graph
        self.numbers = numbers
        stays = (False,) * len(loops.kept)
        self.loops = loops._replace(moves=(*loops.moves, *[stays] * len(numbers)))
        self.hows = ["sum" if how == "mean" else how for how in hows]
        self.means = [how == "mean" for how in hows]
        self.code = Code("reduction", entry.KERNEL)
        dtypes = [*[v.dtype.numpy for v in graph.inputs], *[n.dtype for n in numbers]]
        self.inputs = [kind_of(dtype) for dtype in dtypes]
        self.kinds = [_accumulated(kind_of(v.dtype.numpy)) for v in graph.outputs]
        values = [kind_of(v.dtype.numpy) for n in graph.nodes for v in n.outputs]
        self.lanes = jit.WIDTH // max([k.width for k in (*self.inputs, *self.kinds, *values)])
        self.memory = VectorMemory(self.code, self.lanes)
        # The accumulators of each result: one for each unrolled iteration that it does not reduce.
        self.slots = loops.unrolled if loops.unrolled and loops.kept[-1] else 1
        instructions = instructions_of(graph, self.inputs, self.lanes, numbers)
        self.cost = instructions.executed
        self.once = instructions.written * max(loops.unrolled, 1) > MAX_BODY_INSTRUCTIONS
        self.vectors = self._vectors_per_step()

    def _vectors_per_step(self) -> int:
        """The vectors of one iteration, for whose accumulators there are registers."""
        if self.once:
            return 1
        sums = len(self.kinds) * self.slots
        return max(1, min(4 // max(self.loops.unrolled // 2, 1), 16 // sums))

    # -- the nest --------------------------------------------------------------------------

    def write(self) -> Code:
        """The function."""
        code, loops = self.code, self.loops
        pointers = [self._pointer("%ins", i) for i in range(len(self.inputs))]
        outs = [self._pointer("%outs", i) for i in range(len(self.kinds))]
        names = [*Ranges._fields, "divisor", *[f"length{i}" for i in range(len(loops.kept))]]
        self.dims = entry.load_dims(code, names)
        self.lengths = [self.dims[f"length{i}"] for i in range(len(loops.kept))]
        if loops.unrolled:
            self.lengths[-1] = str(loops.unrolled)
        self.strides = [self._strides(moves) for moves in loops.moves]
        with code.loop("%from", "%to") as part:
            self._part(part, pointers, outs)
        code.do("ret void")
        return code

    def _pointer(self, array: str, index: int) -> str:
        return self.code.load("ptr", self.code.at("ptr", array, str(index)), 8)

    def _strides(self, moves: tuple[bool, ...]) -> list[str]:
        """The elements by which an operand advances in each loop; 0 where it is broadcast."""
        strides, stride = [""] * len(moves), "1"
        for i in reversed(range(len(moves))):
            if moves[i]:
                strides[i] = stride
                stride = self.code.integer("mul", stride, self.lengths[i])
        return strides

    def _part(self, part: str, pointers: list[str], outs: list[str]) -> None:
        """One iteration of the loops over results, or one slice of them, for one chunk."""
        code, loops, dims = self.code, self.loops, self.dims
        columns = code.integer("srem", part, dims["slices"])
        rest = code.integer("sdiv", part, dims["slices"])
        kept = self._strides(loops.kept)
        offset = "0"
        for i in reversed(loops.outer):
            index = code.integer("srem", rest, self.lengths[i])
            rest = code.integer("sdiv", rest, self.lengths[i])
            pointers = self._advanced(pointers, i, index)
            offset = code.integer("add", offset, code.integer("mul", index, kept[i]))
        size = "1"
        for i, stays in enumerate(loops.kept):
            size = code.integer("mul", size, self.lengths[i]) if stays else size
        offset = code.integer("add", offset, code.integer("mul", rest, size))
        outs = [
            code.at(kind.memory, out, offset) for kind, out in zip(self.kinds, outs, strict=True)
        ]
        self.chunk = code.integer("mul", rest, dims["chunk"])
        if not loops.kept[loops.vector]:
            self._store_folded(self._reduced(loops.reduced, pointers, self._identities(1)), outs)
            return
        first = code.integer("mul", columns, dims["slice"])
        last = code.least(code.integer("add", first, dims["slice"]), self.lengths[loops.vector])
        block = self.lanes * self.vectors
        count = code.integer("sdiv", code.integer("sub", last, first), block)
        middle = code.integer("add", first, code.integer("mul", count, block))
        if self.once:
            middle = first
        else:
            with code.loop(first, middle, block) as at:
                self._columns(at, self.vectors, "", pointers, outs)
        with code.loop(middle, last, self.lanes) as at:
            self._columns(at, 1, self.memory.mask(at, last), pointers, outs)

    def _columns(
        self, at: str, vectors: int, mask: str, pointers: list[str], outs: list[str]
    ) -> None:
        """Some vectors of results, from an iteration of the vector loop on."""
        self.at, self.mask = at, mask
        sums = self._reduced(self.loops.reduced, pointers, self._identities(vectors), vectors)
        for number, (kind, out) in enumerate(zip(self.kinds, outs, strict=True)):
            for slot in range(self.slots):
                lanes = self._finished(number, self._of(sums, number, slot, vectors))
                for v, name in enumerate(lanes.names):
                    first = self.code.integer("add", at, v * self.lanes)
                    if self.slots == 1:
                        self.memory.write(kind, self.code.at(kind.memory, out, first), name, mask)
                        continue
                    first = self.code.integer("mul", first, self.slots)
                    there = self.code.at(kind.memory, out, first)
                    self.memory.write_apart(kind, there, slot, self.slots, name, mask)

    def _advanced(self, pointers: list[str], loop: int, index: str) -> list[str]:
        """The pointers of the operands in an iteration of a loop."""
        code = self.code
        return [
            code.at(kind.memory, pointer, code.integer("mul", index, strides[loop]))
            if strides[loop]
            else pointer
            for kind, pointer, strides in zip(self.inputs, pointers, self.strides, strict=True)
        ]

    # -- the reduced loops --------------------------------------------------------------------

    def _reduced(
        self, levels: list[int], pointers: list[str], sums: list[str], vectors: int = 1
    ) -> list[str]:
        """The accumulators after all iterations of some loops."""
        code, loops = self.code, self.loops
        if not levels:
            return self._joined(pointers, self.at, vectors, self.mask, sums)
        level, *inner = levels
        start, stop = "0", self.lengths[level]
        if level == loops.reduced[0]:
            start = self.chunk
            stop = code.least(code.integer("add", start, self.dims["chunk"]), stop)
        if level == loops.vector:
            return self._along(start, stop, pointers, sums)
        carried = zip(self._types(vectors), sums, strict=True)
        with code.carrying(start, stop, 1, *carried) as iteration:
            here = self._advanced(pointers, level, iteration.index)
            iteration.following = self._reduced(inner, here, iteration.values, vectors)
        return iteration.values

    def _along(self, start: str, stop: str, pointers: list[str], sums: list[str]) -> list[str]:
        """The vector loop where it is reduced: groups of vectors, then single ones."""
        code = self.code
        middle = start
        if not self.once and self.vectors > 1:
            block = self.lanes * self.vectors
            count = code.integer("sdiv", code.integer("sub", stop, start), block)
            middle = code.integer("add", start, code.integer("mul", count, block))
            wide = zip(self._types(self.vectors), self._identities(self.vectors), strict=True)
            with code.carrying(start, middle, block, *wide) as group:
                group.following = self._joined(
                    pointers, group.index, self.vectors, "", group.values
                )
            sums = self._narrowed(group.values, sums)
        whole = code.integer("sdiv", code.integer("sub", stop, middle), self.lanes)
        last = code.integer("add", middle, code.integer("mul", whole, self.lanes))
        with code.carrying(
            middle, last, self.lanes, *zip(self._types(1), sums, strict=True)
        ) as single:
            single.following = self._joined(pointers, single.index, 1, "", single.values)
        sums = single.values
        with code.carrying(last, stop, self.lanes, *zip(self._types(1), sums, strict=True)) as rest:
            mask = self.memory.mask(rest.index, stop)
            rest.following = self._joined(pointers, rest.index, 1, mask, rest.values)
        return rest.values

    def _narrowed(self, wide: list[str], sums: list[str]) -> list[str]:
        """The accumulators of groups of vectors combined into single ones, and with those before."""
        found: list[str] = []
        for number in range(len(self.kinds)):
            for slot in range(self.slots):
                names = [*self._of(wide, number, slot, self.vectors).names]
                before = self._of(sums, number, slot, 1)
                while len(names) > 1:
                    half = len(names) // 2
                    pairs = zip(names[:half], names[half : 2 * half], strict=True)
                    names = [
                        self._join(number, Lanes(before.kind, (x,)), Lanes(before.kind, (y,)))[0]
                        for x, y in pairs
                    ] + names[2 * half :]
                found += self._join(number, before, Lanes(before.kind, (names[0],)))
        return found

    def _joined(
        self, pointers: list[str], at: str, vectors: int, mask: str, sums: list[str]
    ) -> list[str]:
        """The accumulators after an iteration of the vector loop, for so many vectors."""
        s = Functions(self.code, self.lanes, vectors)
        reads = [
            self._operands(i, pointer, at, vectors, mask) for i, pointer in enumerate(pointers)
        ]
        for iteration in range(self.loops.unrolled or 1):
            inputs = [
                Lanes(kind, tuple([v[iteration % len(v)] for v in read]))
                for kind, read in zip(self.inputs, reads, strict=True)
            ]
            found = evaluate(s, self.graph, inputs, self.numbers)
            following: list[str] = []
            for number, value in enumerate(found):
                value = s.widened(value)
                if mask and not self.loops.kept[self.loops.vector]:
                    value = s.select(
                        Lanes(BOOL, (mask,) * vectors), value, self._identity(s, number)
                    )
                for slot in range(self.slots):
                    before = self._of(sums, number, slot, vectors)
                    here = self.slots == 1 or slot == iteration
                    following += self._join(number, before, value) if here else before.names
            sums = following
        return sums

    def _operands(
        self, index: int, pointer: str, at: str, vectors: int, mask: str
    ) -> list[list[str]]:
        """The vectors of an input: for each vector a list of one, or of all unrolled iterations."""
        code, kind, moves = self.code, self.inputs[index], self.loops.moves[index]
        unrolled = self.loops.unrolled
        inner = bool(unrolled) and moves[-1]
        if not moves[self.loops.vector]:
            count = unrolled if inner else 1
            splats = [
                self.memory.splat(kind, code.at(kind.memory, pointer, str(i))) for i in range(count)
            ]
            return [splats] * vectors
        stride = unrolled if inner else 1
        found: list[list[str]] = []
        for v in range(vectors):
            first = code.integer("add", at, v * self.lanes)
            there = code.at(kind.memory, pointer, code.integer("mul", first, stride))
            if stride == 1:
                found.append([self.memory.read(kind, there, mask)])
            else:
                found.append(self.memory.read_apart(kind, there, stride, mask))
        return found

    # -- sums -------------------------------------------------------------------------------

    def _types(self, vectors: int) -> list[str]:
        """The LLVM types of the accumulators: of each result, slot and vector."""
        return [
            f"<{self.lanes} x {kind.llvm}>"
            for kind in self.kinds
            for _ in range(self.slots * vectors)
        ]

    def _identities(self, vectors: int) -> list[str]:
        s = Functions(self.code, self.lanes, 1)
        return [
            self._identity(s, number).names[0]
            for number in range(len(self.kinds))
            for _ in range(self.slots * vectors)
        ]

    def _identity(self, s: Builder, number: int) -> Lanes:
        """The identity element of a reduction."""
        kind = self.kinds[number]
        return s.constant(identity(self.hows[number], kind), kind)

    def _of(self, sums: Sequence[str], number: int, slot: int, vectors: int) -> Lanes:
        first = (number * self.slots + slot) * vectors
        return Lanes(self.kinds[number], tuple(sums[first : first + vectors]))

    def _join(self, number: int, x: Lanes, y: Lanes) -> tuple[str, ...]:
        s = Builder(self.code, self.lanes, len(x.names))
        return KINDS[self.hows[number]](s, x, y).names

    def _finished(self, number: int, total: Lanes) -> Lanes:
        """A result, from what all elements joined to."""
        s = Builder(self.code, self.lanes, len(total.names))
        total = finished(s, self.hows[number], total)
        if not self.means[number]:
            return total
        kind = total.kind
        divisor = self.code.let(f"sitofp i64 {self.dims['divisor']} to {kind.llvm}")
        vector = self.code.splat(self.lanes, kind.llvm, divisor)
        return s.div(total, Lanes(kind, (vector,) * len(total.names)))

    def _store_folded(self, sums: list[str], outs: list[str]) -> None:
        """Stores the reduction of the lanes of each accumulator."""
        code = self.code
        for number, (kind, out) in enumerate(zip(self.kinds, outs, strict=True)):
            for slot in range(self.slots):
                total = self._finished(
                    number, self._folded(number, self._of(sums, number, slot, 1))
                )
                vector = f"<{self.lanes} x {kind.llvm}>"
                one = code.let(f"extractelement {vector} {total.names[0]}, i64 0")
                if kind == BOOL:
                    one = code.let(f"zext i1 {one} to i8")
                pointer = code.at(kind.memory, out, str(slot))
                code.do(f"store {kind.memory} {one}, ptr {pointer}, align {kind.bytes}")

    def _folded(self, number: int, total: Lanes) -> Lanes:
        """The reduction of all lanes of a vector, in its first lane."""
        half, vector = self.lanes // 2, f"<{self.lanes} x {total.kind.llvm}>"
        while half:
            order = ", ".join([f"i32 {i % half + half}" for i in range(self.lanes)])
            upper = self.code.let(
                f"shufflevector {vector} {total.names[0]}, {vector} poison, "
                f"<{self.lanes} x i32> <{order}>"
            )
            total = Lanes(total.kind, self._join(number, total, Lanes(total.kind, (upper,))))
            half //= 2
        return total


def _accumulated(kind: Kind) -> Kind:
    return FLOAT if kind.short else kind
