"""Loads and stores of vectors, whole or under a mask, contiguous or strided."""

from __future__ import annotations

from collections.abc import Generator

from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, Kind

# Odd strides for which gathers are slower than shuffles.
MAX_SEPARATED_STRIDE = 7


class VectorMemory:
    """Emits loads and stores of vectors with so many lanes.

    In registers a bool is a bit, in memory a byte.
    """

    def __init__(self, code: Code, lanes: int) -> None:
        self.code = code
        self.lanes = lanes
        self.test = f"<{lanes} x i1>"

    def mask(self, first: str, stop: str) -> str:
        """The lanes before `stop` of a vector whose first lane has the index `first`."""
        name = f"llvm.get.active.lane.mask.v{self.lanes}i1.i64"
        return self.code.call(self.test, name, ("i64", first), ("i64", stop))

    def vectors(self, start: str, stop: str) -> Generator[tuple[str, str]]:
        """For each vector of indices of a range: the first one, and the mask.

        The body is emitted twice: for whole vectors, whose mask is "", and for the remainder.
        """
        code = self.code
        rest = code.integer("srem", code.integer("sub", stop, start), self.lanes)
        middle = code.integer("sub", stop, rest)
        for first, last, masked in ((start, middle, False), (middle, stop, True)):
            with code.loop(first, last, self.lanes) as index:
                yield index, self.mask(index, stop) if masked else ""

    def splat(self, kind: Kind, pointer: str) -> str:
        """The element at a pointer in every lane."""
        value = self.code.load(kind.memory, pointer, kind.bytes)
        return self.from_memory(kind, self.code.splat(self.lanes, kind.memory, value))

    def read(self, kind: Kind, pointer: str, mask: str = "") -> str:
        """Consecutive elements; with a mask only the lanes that it allows, zeros elsewhere."""
        return self.from_memory(kind, self._loaded(kind, pointer, mask))

    def write(self, kind: Kind, pointer: str, name: str, mask: str = "") -> None:
        """Stores consecutive elements, or the lanes that a mask allows."""
        vector, name = self._vector(kind), self._to_memory(kind, name)
        if not mask:
            self.code.do(f"store {vector} {name}, ptr {pointer}, align {kind.bytes}")
            return
        self.code.call(
            "void",
            f"llvm.masked.store.{self._suffix(kind)}.p0",
            (vector, name),
            (f"ptr align {kind.bytes}", pointer),
            (self.test, mask),
        )

    def read_apart(self, kind: Kind, pointer: str, stride: int, mask: str = "") -> list[str]:
        """`stride` vectors, deinterleaved: vector k has the elements k, k + stride, k + 2 stride,
        ...

        Contiguous vectors are loaded and deinterleaved in registers, by as many instructions for
        each as the odd factor of the stride. A mask allows the first lanes.
        """
        if stride // (stride & -stride) > MAX_SEPARATED_STRIDE:
            mask = mask or "splat (i1 true)"
            return [self._gathered(kind, pointer, stride, at, mask) for at in range(stride)]
        starts = [i * self.lanes for i in range(stride)]
        masks = [""] * stride
        if mask:
            stop = self.code.integer("mul", self._allowed(mask), stride)
            masks = [self.mask(str(start), stop) for start in starts]
        vectors = [
            self._loaded(kind, self.code.at(kind.memory, pointer, str(start)), part)
            for start, part in zip(starts, masks, strict=True)
        ]
        return [self.from_memory(kind, v) for v in self._separated(kind, vectors)]

    def _allowed(self, mask: str) -> str:
        """The number of lanes that a mask allows."""
        bits = f"i{self.lanes}"
        word = self.code.let(f"bitcast {self.test} {mask} to {bits}")
        count = self.code.call(bits, f"llvm.ctpop.{bits}", (bits, word))
        return count if bits == "i64" else self.code.let(f"zext {bits} {count} to i64")

    def write_apart(
        self, kind: Kind, pointer: str, at: int, stride: int, name: str, mask: str = ""
    ) -> None:
        """Stores elements that are `stride` apart, the first one `at` elements from a pointer."""
        self.scatter(kind, self._pointers(kind, pointer, stride, at), name, mask)

    def scatter(self, kind: Kind, pointers: str, name: str, mask: str = "") -> None:
        """Stores elements at a vector of pointers."""
        self.code.call(
            "void",
            f"llvm.masked.scatter.{self._suffix(kind)}.v{self.lanes}p0",
            (self._vector(kind), self._to_memory(kind, name)),
            (f"<{self.lanes} x ptr>", pointers),
            ("i32", str(kind.bytes)),
            (self.test, mask or "splat (i1 true)"),
        )

    def write_joined(self, kind: Kind, pointer: str, names: list[str], mask: str = "") -> None:
        """Stores vectors interleaved: the first elements of all, the second ones, ... (the inverse
        of `read_apart`)."""
        if mask:
            for at, name in enumerate(names):
                self.write_apart(kind, pointer, at, len(names), name, mask)
            return
        joined = self._joined(self._vector(kind), [self._to_memory(kind, n) for n in names])
        for i, vector in enumerate(joined):
            there = self.code.at(kind.memory, pointer, str(i * self.lanes))
            self.code.do(f"store {self._vector(kind)} {vector}, ptr {there}, align {kind.bytes}")

    def from_memory(self, kind: Kind, vector: str) -> str:
        """A loaded vector, as it is computed with: a byte of a bool becomes a bit."""
        if kind != BOOL:
            return vector
        return self.code.let(f"icmp ne {self._vector(kind)} {vector}, zeroinitializer")

    def _to_memory(self, kind: Kind, name: str) -> str:
        if kind != BOOL:
            return name
        return self.code.let(f"zext {self.test} {name} to {self._vector(kind)}")

    def _loaded(self, kind: Kind, pointer: str, mask: str) -> str:
        vector = self._vector(kind)
        if not mask:
            return self.code.load(vector, pointer, kind.bytes)
        return self.code.call(
            vector,
            f"llvm.masked.load.{self._suffix(kind)}.p0",
            (f"ptr align {kind.bytes}", pointer),
            (self.test, mask),
            (vector, "zeroinitializer"),
        )

    def _gathered(self, kind: Kind, pointer: str, stride: int, at: int, mask: str) -> str:
        return self.gather(kind, self._pointers(kind, pointer, stride, at), mask)

    def gather(self, kind: Kind, pointers: str, mask: str) -> str:
        """The elements at a vector of pointers in the lanes that a mask allows, zeros elsewhere."""
        vector = self._vector(kind)
        loaded = self.code.call(
            vector,
            f"llvm.masked.gather.{self._suffix(kind)}.v{self.lanes}p0",
            (f"<{self.lanes} x ptr>", pointers),
            ("i32", str(kind.bytes)),
            (self.test, mask),
            (vector, "zeroinitializer"),
        )
        return self.from_memory(kind, loaded)

    def _pointers(self, kind: Kind, pointer: str, stride: int, at: int) -> str:
        offsets = ", ".join([f"i64 {at + i * stride}" for i in range(self.lanes)])
        return self.code.let(
            f"getelementptr {kind.memory}, ptr {pointer}, <{self.lanes} x i64> <{offsets}>"
        )

    def _separated(self, kind: Kind, vectors: list[str]) -> list[str]:
        """Contiguous vectors deinterleaved: even from odd elements, and so on."""
        count, vector = len(vectors), self._vector(kind)
        if count % 2 == 0:
            pairs = list(zip(vectors[::2], vectors[1::2], strict=True))
            evens, odds = (
                self._separated(kind, [self._picked(vector, *pair, first, 2) for pair in pairs])
                for first in (0, 1)
            )
            return [v for pair in zip(evens, odds, strict=True) for v in pair]
        if count == 1:
            return vectors
        return [self._every(vector, vectors, first) for first in range(count)]

    def _picked(self, vector: str, x: str, y: str, first: int, step: int) -> str:
        """Every `step`-th element of two consecutive vectors."""
        order = ", ".join([f"i32 {first + i * step}" for i in range(self.lanes)])
        return self.code.let(
            f"shufflevector {vector} {x}, {vector} {y}, <{self.lanes} x i32> <{order}>"
        )

    def _every(self, vector: str, vectors: list[str], first: int) -> str:
        """The elements from `first` on that are as far apart as there are vectors."""
        wanted = [divmod(first + i * len(vectors), self.lanes) for i in range(self.lanes)]
        return self._picked_from(vector, vectors, wanted)

    def _picked_from(self, vector: str, vectors: list[str], wanted: list[tuple[int, int]]) -> str:
        """A vector whose lanes are those `wanted`: (index of the vector, its lane)."""
        lanes, found = self.lanes, vectors[0]
        for number, other in enumerate(vectors[1:], 1):
            # The first vector's are put in their lanes with the second's.
            order = [
                (at if number == 1 else i)
                if source < number
                else lanes + at
                if source == number
                else 0
                for i, (source, at) in enumerate(wanted)
            ]
            order_text = ", ".join([f"i32 {i}" for i in order])
            found = self.code.let(
                f"shufflevector {vector} {found}, {vector} {other}, <{lanes} x i32> <{order_text}>"
            )
        return found

    def _joined(self, vector: str, vectors: list[str]) -> list[str]:
        """The inverse of `_separated`: interleaves vectors."""
        count, lanes = len(vectors), self.lanes
        if count == 1:
            return vectors
        if count % 2:
            return [self._gathered_from(vector, vectors, number) for number in range(count)]
        evens, odds = (self._joined(vector, vectors[first::2]) for first in (0, 1))
        halves = [
            ", ".join([f"i32 {first + i // 2 + (i % 2) * lanes}" for i in range(lanes)])
            for first in (0, lanes // 2)
        ]
        return [
            self.code.let(f"shufflevector {vector} {x}, {vector} {y}, <{lanes} x i32> <{order}>")
            for x, y in zip(evens, odds, strict=True)
            for order in halves
        ]

    def _gathered_from(self, vector: str, vectors: list[str], number: int) -> str:
        """The vector of this index among those that the interleaved vectors form."""
        count, lanes = len(vectors), self.lanes
        wanted = [divmod(number * lanes + i, count) for i in range(lanes)]
        return self._picked_from(vector, vectors, [(source, at) for at, source in wanted])

    def _vector(self, kind: Kind) -> str:
        return f"<{self.lanes} x {kind.memory}>"

    def _suffix(self, kind: Kind) -> str:
        letter = "i" if kind.memory.startswith("i") else "f"
        return f"v{self.lanes}{letter}{kind.bytes * 8}"
