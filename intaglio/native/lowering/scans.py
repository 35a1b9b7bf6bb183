"""Scans along an axis (cumulative sums and products), and the index of the largest element."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

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
from intaglio.opdef.op import Op

WORD = Kind("i64", 64, "i")
DIMS = ("outer", "length", "inner")
# The longest rows that are searched in vectors, one row in each lane, and the least number of such
# rows.
MAX_SHORT_ROW, MIN_SHORT_ROWS = 32, 8
# The position of an element in a short row.
PLACE = Kind("i32", 32, "i")


def _along(node: Node, inputs: list[Any]) -> tuple[ArrayOperand, int, list[int]]:
    """The value, its axis, and what `DIMS` are."""
    source, axis = inputs
    rank = len(source.shape)
    if axis.known is None or axis.shape or not -rank <= int(axis.known) < rank:
        raise Unsupported(f"{node.op.name} along an axis that is data, or none")
    if not source.count:
        raise Unsupported("no elements")
    at = int(axis.known) % rank
    shape = source.shape
    return source, at, [math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])]


def _columns(code: Code, inner: str, lanes: int, body: Callable[[str, int], None]) -> None:
    """`body(column, width)` for all columns, as many at a time as fit a vector."""
    whole = code.integer("mul", code.integer("sdiv", inner, lanes), lanes)
    for start, stop, width in (("0", whole, lanes), (whole, inner, 1)):
        with code.loop(start, stop, width) as column:
            body(column, width)


# -- running totals -------------------------------------------------------------------------


def _log_of_sum(s: Functions, x: Lanes, y: Lanes) -> Lanes:
    """log(exp(x) + exp(y)), of equal infinities too."""
    greater = s.select(s.gt(x, y), x, y)
    apart = s.select(s.eq(x, y), s.const(0, x), s.abs(s.sub(x, y)))
    return s.add(greater, s.log1p(s.exp(s.neg(apart))))


class _Step(NamedTuple):
    """The combination of a running total and an element; its identity; and the total before the
    first element. With many dependent instructions, several rows are combined at a time."""

    combine: Callable[[Functions, Lanes, Lanes], Lanes]
    neutral: Any
    before: Any
    is_long: bool = False


STEPS: dict[Op, _Step] = {
    raw.Cumsum: _Step(Functions.add, -0.0, 0),
    raw.Cumprod: _Step(Functions.mul, 1, 1),
    raw.CumulativeLogsumexp: _Step(_log_of_sum, -np.inf, -np.inf, is_long=True),
}


@lowering(raw.Cumsum, raw.Cumprod, raw.CumulativeLogsumexp)
def running(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Cumsum, Cumprod and CumulativeLogsumexp."""
    source, _, dims = _along(node, inputs)
    kind, attrs = source.kind, node.attrs
    pointer = w.pointer(source)
    result = w.allocate(node.outputs[0], kind, source.shape)
    options = (bool(attrs["exclusive"]), bool(attrs["reverse"]))
    rows = STEPS[node.op].is_long and dims[2] == 1
    write = functools.partial(_running_total, STEPS[node.op])
    name = w.kernel(node.op.name.lower(), write, kind, *options, rows)
    if source.count >= entry.MIN_PARALLEL_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    w.call_function(name, [pointer], [result.pointer], dims)
    w.how = "kernel"
    return [result]


def _running_total(
    step: _Step, name: str, kind: Kind, exclusive: bool, reverse: bool, rows: bool
) -> Code:
    return _Running(name, step, kind, exclusive, reverse).write(rows)


class _Running:
    """Emits the kernel of a scan: along columns, or along contiguous rows."""

    def __init__(self, name: str, step: _Step, kind: Kind, exclusive: bool, reverse: bool) -> None:
        self.code = Code(name, entry.KERNEL, "internal void")
        self.source, self.target = (self.code.load("ptr", p, 8) for p in ("%ins", "%outs"))
        self.dims = entry.load_dims(self.code, DIMS)
        # 16-bit floats are added as float32.
        self.kind, self.wide = kind, FLOAT if kind.short else kind
        self.step, self.exclusive, self.reverse = step, exclusive, reverse
        self.lanes = max(jit.WIDTH // self.wide.width, 1)

    def write(self, rows: bool) -> Code:
        """The kernel."""
        code, dims = self.code, self.dims
        if rows:
            with code.loop("%from", "%to", self.lanes) as first:
                self._rows(first)
        else:
            size = code.integer("mul", dims["length"], dims["inner"])
            with code.loop("%from", "%to") as outer:
                slab = code.integer("mul", outer, size)
                _columns(code, dims["inner"], self.lanes, lambda c, n: self._column(slab, c, n))
        code.do("ret void")
        return code

    def _column(self, slab: str, column: str, width: int) -> None:
        code, kind = self.code, self.kind
        vector = f"<{width} x {kind.llvm}>"

        def place(row: str) -> str:
            at = code.integer("add", code.integer("mul", row, self.dims["inner"]), column)
            return code.integer("add", slab, at)

        def read(row: str) -> str:
            return code.load(vector, code.at(kind.llvm, self.source, place(row)), kind.bytes)

        def write(row: str, name: str) -> None:
            there = code.at(kind.llvm, self.target, place(row))
            code.do(f"store {vector} {name}, ptr {there}, align {kind.bytes}")

        self._scan(width, read, write)

    def _rows(self, first: str) -> None:
        """A lane for each of several rows; the last row is repeated in lanes beyond it."""
        code, kind, lanes = self.code, self.kind, self.lanes
        memory, vector = VectorMemory(code, lanes), f"<{lanes} x i64>"
        last = code.splat(lanes, "i64", code.integer("sub", "%to", 1))
        numbers = ", ".join([f"i64 {i}" for i in range(lanes)])
        row = code.let(f"add {vector} {code.splat(lanes, 'i64', first)}, <{numbers}>")
        row = code.call(vector, f"llvm.smin.v{lanes}i64", (vector, row), (vector, last))
        begins = code.let(f"mul {vector} {row}, {code.splat(lanes, 'i64', self.dims['length'])}")

        def addresses(base: str, at: str) -> str:
            index = code.let(f"add {vector} {begins}, {code.splat(lanes, 'i64', at)}")
            return code.let(f"getelementptr {kind.llvm}, ptr {base}, {vector} {index}")

        def read(at: str) -> str:
            return memory.gather(kind, addresses(self.source, at), "splat (i1 true)")

        self._scan(
            lanes, read, lambda at, name: memory.scatter(kind, addresses(self.target, at), name)
        )

    def _scan(
        self, width: int, read: Callable[[str], str], write: Callable[[str, str], None]
    ) -> None:
        """The scan of vectors that are loaded and stored by their position along the axis."""
        code, kind, wide = self.code, self.kind, self.wide
        s, step = Functions(code, width, 1), self.step
        whole = wide.letter not in "fc"
        first = s.constant(int(step.neutral) if whole else step.neutral, wide)
        with code.carrying("0", self.dims["length"], 1, (s.vector(wide), first.names[0])) as state:
            at = state.index
            if self.reverse:
                end = code.integer("sub", self.dims["length"], 1)
                at = code.integer("sub", end, state.index)
            x = s.converted(Lanes(kind, (read(at),)), wide)
            sofar = Lanes(wide, (state.values[0],))
            total = step.combine(s, sofar, x)
            shown = total
            if self.exclusive:
                start = code.integer("icmp eq", state.index, 0)
                nothing = s.constant(step.before, wide).names[0]
                chosen = code.let(
                    f"select i1 {start}, {s.vector(wide)} {nothing}, {s.vector(wide)} {sofar.names[0]}"
                )
                shown = Lanes(wide, (chosen,))
            write(at, s.converted(shown, kind).names[0])
            state.following.append(total.names[0])


# -- where the extreme is ---------------------------------------------------------------------


@lowering(raw.ArgMax, raw.ArgMin)
def arg_extreme(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """ArgMax and ArgMin: the first of equal elements; NaNs are ignored."""
    source, at, dims = _along(node, inputs)
    kind = Kind("i8", 8, "u") if source.kind == BOOL else source.kind
    if kind.letter == "c":
        raise Unsupported(f"{node.op.name} of complex numbers")
    result = w.kind(node.outputs[0])
    pointer = w.pointer(source)
    shape = (*source.shape[:at], *source.shape[at + 1 :])
    indices = w.allocate(node.outputs[0], result, shape)
    greatest, rows = node.op is raw.ArgMax, dims[2] == 1
    if rows and dims[1] <= MAX_SHORT_ROW and dims[0] >= MIN_SHORT_ROWS:
        name = w.kernel("best_short", _finding_short, kind, result, greatest, dims[1])
    else:
        name = w.kernel("best", _finding, kind, result, greatest, rows)
    if source.count >= entry.MIN_PARALLEL_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    w.call_function(name, [pointer], [indices.pointer], dims)
    w.how = "kernel"
    return [indices]


def _finding(name: str, kind: Kind, result: Kind, greatest: bool, rows: bool) -> Code:
    return _Finder(name, kind, result, greatest).write(rows)


def _finding_short(name: str, kind: Kind, result: Kind, greatest: bool, length: int) -> Code:
    return _ShortFinder(name, kind, result, greatest, length).write_vectors()


class _Finder:
    """Emits the kernel: the best element so far and its index in each lane, the first of equal
    ones."""

    def __init__(self, name: str, kind: Kind, result: Kind, greatest: bool) -> None:
        self.code = Code(name, entry.KERNEL, "internal void")
        self.kind, self.result, self.greatest = kind, result, greatest
        self.wide = FLOAT if kind.short else kind
        self.lanes = jit.WIDTH // 8
        self.source, self.target = (self.code.load("ptr", p, 8) for p in ("%ins", "%outs"))
        self.dims = entry.load_dims(self.code, DIMS)

    def write(self, rows: bool) -> Code:
        """The kernel: for contiguous rows, or for columns."""
        code, dims = self.code, self.dims
        size = code.integer("mul", dims["length"], dims["inner"])
        with code.loop("%from", "%to") as outer:
            slab = code.at(self.kind.llvm, self.source, code.integer("mul", outer, size))
            if rows:
                self._row(slab, outer)
            else:
                first = code.integer("mul", outer, dims["inner"])
                _columns(
                    code, dims["inner"], self.lanes, lambda c, n: self._column(slab, first, c, n)
                )
        code.do("ret void")
        return code

    def _worst(self, s: Functions) -> Lanes:
        wide = self.wide
        if wide.letter == "f":
            return s.constant(-np.inf if self.greatest else np.inf, wide)
        limits = np.iinfo(f"{wide.letter}{wide.bytes}")
        return s.constant(limits.min if self.greatest else limits.max, wide)

    def _read(self, s: Functions, pointer: str) -> Lanes:
        vector = f"<{s.lanes} x {self.kind.llvm}>"
        there = self.code.load(vector, pointer, self.kind.bytes)
        return s.converted(Lanes(self.kind, (there,)), self.wide)

    def _better(self, s: Functions, x: Lanes, best: Lanes) -> Lanes:
        return s.gt(x, best) if self.greatest else s.lt(x, best)

    def _step(self, s: Functions, x: Lanes, positions: Lanes, best: str, at: str) -> list[str]:
        """The best and its index after one more element."""
        old, where = Lanes(self.wide, (best,)), Lanes(WORD, (at,))
        better = self._better(s, x, old)
        return [s.select(better, x, old).names[0], s.select(better, positions, where).names[0]]

    def _column(self, slab: str, first: str, column: str, width: int) -> None:
        code, dims = self.code, self.dims
        s = Functions(code, width, 1)
        start = [
            (s.vector(self.wide), self._worst(s).names[0]),
            (s.vector(WORD), "zeroinitializer"),
        ]
        with code.carrying("0", dims["length"], 1, *start) as state:
            at = code.integer("mul", state.index, dims["inner"])
            at = code.integer("add", at, column)
            x = self._read(s, code.at(self.kind.llvm, slab, at))
            position = Lanes(WORD, (code.splat(width, "i64", state.index),))
            state.following = self._step(s, x, position, *state.values)
        found = s.converted(Lanes(WORD, (state.values[1],)), self.result)
        position = code.integer("add", first, column)
        there = code.at(self.result.llvm, self.target, position)
        code.do(
            f"store {s.vector(self.result)} {found.names[0]}, ptr {there}, align {self.result.bytes}"
        )

    def _row(self, slab: str, outer: str) -> None:
        code, length = self.code, self.dims["length"]
        lanes = self.lanes
        s, one = Functions(code, lanes, 1), Functions(code, 1, 1)
        vectors = [s.vector(self.wide), s.vector(WORD)]
        whole = code.integer("mul", code.integer("sdiv", length, lanes), lanes)
        start = zip(vectors, [self._worst(s).names[0], "zeroinitializer"], strict=True)
        steps = ", ".join([f"i64 {i}" for i in range(lanes)])
        with code.carrying("0", whole, lanes, *start) as state:
            x = self._read(s, code.at(self.kind.llvm, slab, state.index))
            base = Lanes(WORD, (code.splat(lanes, "i64", state.index),))
            positions = s.add(base, Lanes(WORD, (f"<{steps}>",)))
            state.following = self._step(s, x, positions, *state.values)
        best, at = self._joined(one, *state.values)
        start = zip([one.vector(self.wide), one.vector(WORD)], [best, at], strict=True)
        with code.carrying(whole, length, 1, *start) as state:
            x = self._read(one, code.at(self.kind.llvm, slab, state.index))
            position = Lanes(WORD, (code.splat(1, "i64", state.index),))
            state.following = self._step(one, x, position, *state.values)
        found = one.converted(Lanes(WORD, (state.values[1],)), self.result)
        there = code.at(self.result.llvm, self.target, outer)
        code.do(
            f"store {one.vector(self.result)} {found.names[0]}, ptr {there}, align {self.result.bytes}"
        )

    def _joined(self, one: Functions, bests: str, positions: str) -> list[str]:
        """The best of all lanes; of equal ones that of the lowest index."""
        code, lanes = self.code, self.lanes

        def lane(kind: Kind, vector: str, i: int) -> Lanes:
            name = code.let(f"extractelement <{lanes} x {kind.llvm}> {vector}, i64 {i}")
            return Lanes(kind, (code.splat(1, kind.llvm, name),))

        best, at = lane(self.wide, bests, 0), lane(WORD, positions, 0)
        for i in range(1, lanes):
            x, position = lane(self.wide, bests, i), lane(WORD, positions, i)
            equal = one.logical_and(one.eq(x, best), one.lt(position, at))
            better = one.logical_or(self._better(one, x, best), equal)
            best, at = one.select(better, x, best), one.select(better, position, at)
        return [best.names[0], at.names[0]]


class _ShortFinder(_Finder):
    """The same for short rows, one row in each lane."""

    def __init__(self, name: str, kind: Kind, result: Kind, greatest: bool, length: int) -> None:
        super().__init__(name, kind, result, greatest)
        self.length = length
        self.lanes = jit.WIDTH // max(self.wide.bytes, PLACE.bytes)
        self.memory = VectorMemory(self.code, self.lanes)

    def write_vectors(self) -> Code:
        """The kernel, over vectors of rows."""
        for row, mask in self.memory.vectors("%from", "%to"):
            self._rows(row, mask)
        self.code.do("ret void")
        return self.code

    def _rows(self, row: str, mask: str) -> None:
        code, s = self.code, Functions(self.code, self.lanes, 1)
        start = code.at(self.kind.memory, self.source, code.integer("mul", row, self.length))
        best, place = self._worst(s), Lanes(PLACE, ("zeroinitializer",))
        for i, name in enumerate(self.memory.read_apart(self.kind, start, self.length, mask)):
            x = s.converted(Lanes(self.kind, (name,)), self.wide)
            better = self._better(s, x, best)
            best = s.select(better, x, best)
            place = s.select(better, s.const(i, place), place)
        found = s.converted(place, self.result)
        target = code.at(self.result.memory, self.target, row)
        self.memory.write(self.result, target, found.names[0], mask)
