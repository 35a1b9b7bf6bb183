"""The largest elements of short rows, as of windows of a picture, one row in each lane.

Every pair of elements is compared once, which counts the elements before each: its position among
the results. Elements are stored at their positions. Nothing is moved in between, and equal elements
keep their order.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, FLOAT, Kind, Lanes
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

# Longer rows have too many pairs.
MAX_LENGTH = 16
# The least rows for vectors of them.
MIN_ROWS = 8
PLACE = Kind("i32", 32, "i")


def write(name: str, kind: Kind, index_kind: Kind, length: int, count: int) -> Code:
    """A kernel for rows of `length` elements: stores the best `count` of each, and their indices."""
    return _Writer(name, kind, index_kind, length, count).write()


class _Writer:
    def __init__(self, name: str, kind: Kind, index_kind: Kind, length: int, count: int) -> None:
        self.code = Code(name, entry.KERNEL, "internal void")
        self.kind, self.index_kind = kind, index_kind
        self.length, self.count = length, count
        self.wide = FLOAT if kind.short else kind
        self.lanes = jit.WIDTH // max(self.wide.bytes, index_kind.bytes, PLACE.bytes)
        self.memory = VectorMemory(self.code, self.lanes)
        self.s = Functions(self.code, self.lanes, 1)

    def write(self) -> Code:
        """The function, over vectors of rows."""
        code = self.code
        self.source = code.load("ptr", "%ins", 8)
        self.targets = [code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in range(2)]
        for row, mask in self.memory.vectors("%from", "%to"):
            self._rows(row, mask)
        code.do("ret void")
        return code

    def _rows(self, row: str, mask: str) -> None:
        """Loads, ranks and stores a vector of rows."""
        code = self.code
        start = code.at(self.kind.memory, self.source, code.integer("mul", row, self.length))
        read = self.memory.read_apart(self.kind, start, self.length, mask)
        first = code.integer("mul", row, self.count)
        targets = [
            code.at(kind.memory, target, first)
            for kind, target in zip((self.kind, self.index_kind), self.targets, strict=True)
        ]
        for i, position in enumerate(self._positions([Lanes(self.kind, (name,)) for name in read])):
            self._store(i, read[i], position, targets, mask)

    def _positions(self, elements: Sequence[Lanes]) -> list[Lanes]:
        """The number of elements of its row that come before each."""
        s = self.s
        x = [s.converted(e, self.wide) for e in elements]
        numbers = [s.logical_not(s.isnan(e)) if self.wide.letter == "f" else None for e in x]
        zero = Lanes(PLACE, ("zeroinitializer",))
        one = s.const(1, zero)
        positions = [s.const(i, zero) for i in range(self.length)]
        for j in range(self.length):
            for i in range(j):
                # Element j comes after an equal element i < j.
                before = s.logical_not(s.le(x[j], x[i]))
                number = numbers[j]
                if number is not None:  # NaN comes last
                    before = s.logical_and(before, number)
                positions[i] = s.select(before, s.add(positions[i], one), positions[i])
                positions[j] = s.select(before, s.sub(positions[j], one), positions[j])
        return positions

    def _store(
        self, index: int, value: str, position: Lanes, targets: Sequence[str], mask: str
    ) -> None:
        """Stores the elements of a column, and its index, at their positions."""
        code, s = self.code, self.s
        within = Lanes(BOOL, (mask,)) if mask else None
        if self.count < self.length:
            few = s.lt(position, s.const(self.count, position))
            within = few if within is None else s.logical_and(within, few)
        vector = f"<{self.lanes} x i32>"
        rows = ", ".join([f"i32 {lane * self.count}" for lane in range(self.lanes)])
        at = code.let(f"add {vector} {position.names[0]}, <{rows}>")
        number = f"splat ({self.index_kind.llvm} {index})"
        stored = ((self.kind, value), (self.index_kind, number))
        for (kind, name), target in zip(stored, targets, strict=True):
            there = code.let(f"getelementptr {kind.memory}, ptr {target}, {vector} {at}")
            self.memory.scatter(kind, there, name, within.names[0] if within else "")
