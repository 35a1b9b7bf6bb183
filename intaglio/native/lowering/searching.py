"""Insertion points of values in sorted rows: every lane of a vector searches for a value of its own."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.kernels.vector_memory import VectorMemory
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, FLOAT, Kind, Lanes, Unsupported
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw

DIMS = ("rows", "length", "count", "halvings")
PLACE = Kind("i32", 32, "i")
# The most elements of a row: positions of 32 bits are doubled.
MAX_LENGTH = 1 << 30


@lowering(raw.LowerBound, raw.UpperBound)
def insertion_points(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """LowerBound and UpperBound of rows in memory."""
    source, values = inputs
    if len(source.shape) != 2 or len(values.shape) != 2 or source.shape[0] != values.shape[0]:
        raise Unsupported(f"{node.op.name} of other shapes")
    kind, result = source.kind, w.kind(node.outputs[0])
    if kind.letter == "c" or kind == BOOL or not source.count or not values.count:
        raise Unsupported(f"{node.op.name} of {kind.name}")
    (rows, length), count = source.shape, values.shape[1]
    if length >= MAX_LENGTH:
        raise Unsupported(f"{node.op.name} in a long row")
    pointers = [w.pointer(source), w.pointer(values)]
    found = w.allocate(node.outputs[0], result, values.shape)
    name = w.kernel("search", _searching, kind, result, node.op is raw.UpperBound)
    if values.count >= entry.MIN_PARALLEL_ELEMENTS and rows > 1:
        name = shared(w, name, 1)
        w.long = True
    halvings = length.bit_length()
    w.call_function(name, pointers, [found.pointer], [rows, length, count, halvings])
    w.how = "kernel"
    return [found]


def _searching(name: str, kind: Kind, result: Kind, after: bool) -> Code:
    return _Search(name, kind, result, after).write()


class _Search:
    """Emits the kernel: the steps of C++'s `lower_bound` and `upper_bound` without a branch.

    So rows with NaN, or unsorted ones, have the same insertion points as in the op's kernel.
    """

    def __init__(self, name: str, kind: Kind, result: Kind, after: bool) -> None:
        self.code = Code(name, entry.KERNEL, "internal void")
        self.kind, self.result, self.after = kind, result, after
        self.wide = FLOAT if kind.short else kind
        self.lanes = jit.WIDTH // max(self.wide.bytes, result.bytes, PLACE.bytes)
        self.memory = VectorMemory(self.code, self.lanes)
        self.s = Functions(self.code, self.lanes, 1)

    def write(self) -> Code:
        """The function."""
        code = self.code
        tables = (("%ins", 0), ("%ins", 1), ("%outs", 0))
        sorted_rows, values, found = (
            code.load("ptr", code.at("ptr", table, str(i)), 8) for table, i in tables
        )
        self.dims = entry.load_dims(code, DIMS)
        count, kind = self.dims["count"], self.kind.memory
        with code.loop("%from", "%to") as number:
            here = code.integer("mul", number, count)
            row = code.at(kind, sorted_rows, code.integer("mul", number, self.dims["length"]))
            wanted = code.at(kind, values, here)
            target = code.at(self.result.memory, found, here)
            with code.loop("0", count, self.lanes) as first:
                mask = self.memory.mask(first, count)
                position = self._searched(row, self._read(code.at(kind, wanted, first), mask), mask)
                name = self.s.converted(position, self.result).names[0]
                self.memory.write(
                    self.result, code.at(self.result.memory, target, first), name, mask
                )
        code.do("ret void")
        return code

    def _read(self, pointer: str, mask: str) -> Lanes:
        return self._compared(self.memory.read(self.kind, pointer, mask))

    def _compared(self, name: str) -> Lanes:
        return self.s.converted(Lanes(self.kind, (name,)), self.wide)

    def _searched(self, row: str, value: Lanes, mask: str) -> Lanes:
        """The insertion points: every search halves the row as often as the longest one."""
        code, s = self.code, self.s
        kind = f"<{self.lanes} x i32>"
        length = self._splat(self.dims["length"])
        begin = [(kind, "zeroinitializer"), (kind, length.names[0])]
        with code.carrying("0", self.dims["halvings"], 1, *begin) as state:
            first, left = (Lanes(PLACE, (name,)) for name in state.values)
            one, half = s.const(1, left), Lanes(PLACE, (self._halved(left),))
            middle = s.add(first, half)
            within = s.logical_and(s.gt(left, s.const(0, left)), Lanes(BOOL, (mask,)))
            pointers = code.let(
                f"getelementptr {self.kind.memory}, ptr {row}, {kind} {middle.names[0]}"
            )
            element = self._compared(self.memory.gather(self.kind, pointers, within.names[0]))
            behind = s.logical_and(within, self._precedes(element, value))
            state.following += s.select(behind, s.add(middle, one), first).names
            rest = s.sub(s.sub(left, half), one)
            state.following += s.select(behind, rest, half).names
        return Lanes(PLACE, (state.values[0],))

    def _halved(self, x: Lanes) -> str:
        return self.code.let(f"lshr <{self.lanes} x i32> {x.names[0]}, splat (i32 1)")

    def _precedes(self, element: Lanes, value: Lanes) -> Lanes:
        """True if an element is before the insertion point of a value."""
        s = self.s
        return s.logical_not(s.lt(value, element)) if self.after else s.lt(element, value)

    def _splat(self, number: str) -> Lanes:
        short = self.code.let(f"trunc i64 {number} to i32")
        return Lanes(PLACE, (self.code.splat(self.lanes, "i32", short),))
