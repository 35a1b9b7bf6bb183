"""Sums, means and extremes over adjacent axes in machine code.

The array has three dims: outer rows, the reduced axis, and inner columns. A long axis is reduced in
chunks, and the results of the chunks likewise: rounding errors grow with the length of the chunks,
not of the array, and threads divide the chunks. The chunks are determined by the shape, so that
results do not depend on the number of threads.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm import vectors
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BOOL, FLOAT, Builder, Kind, Lanes, kind_of, literal
from intaglio.native.runtime import entry

Run = Callable[[Any], Any]
_SINGLE = np.dtype(np.float32)

# Elements of a chunk, its least number of rows, and the columns that are processed at a time.
CHUNK_ELEMENTS = 1 << 14
MIN_ROWS_PER_CHUNK = 64
COLUMNS_PER_CHUNK = 1024
# Vectors that are accumulated together.
VECTORS_PER_STEP = 4
DIMS = ("parts", "length", "inner", "chunks", "chunk", "slices", "divisor")
# The builder's method for each kind of reduction.
KINDS: dict[str, Callable[[Builder, Lanes, Lanes], Lanes]] = {
    "sum": Builder.add,
    "product": Builder.mul,
    "maximum": Builder.greatest,
    "minimum": Builder.least,
    "all": Builder.bit_and,
    "any": Builder.bit_or,
}
# A bool is a byte that is 0 or 1.
BYTE = Kind("i8", 8, "u")


def identity(kind: str, element: Kind) -> Any:
    """The identity element of a reduction."""
    if kind in ("maximum", "minimum"):
        sign = 1 if kind == "minimum" else -1
        if element.letter == "f":
            return sign * math.inf
        limits = np.iinfo(f"{element.letter}{element.bytes}")
        return limits.max if sign > 0 else limits.min
    if kind == "sum":
        return -0.0 if element.letter == "f" else 0
    return 0 if kind == "any" else 1


def finished(s: Builder, kind: str, total: Lanes) -> Lanes:
    """The result of a reduction, from the combination of all elements.

    A sum of -0.0 alone is 0.0, as in NumPy and TensorFlow. The identity element is -0.0 all the
    same: with 0.0 a loop could not omit its first addition, nor mask the last lanes.
    """
    if kind == "sum" and total.kind.letter == "f":
        return s.add(total, s.constant(0.0, total.kind))
    return total


class Joining:
    """Emits loops that reduce vectors by a kind of reduction."""

    def __init__(
        self, code: Code, kind: str, element: Kind = FLOAT, stored: Kind | None = None
    ) -> None:
        """`element` is the type of computation; in memory it may be another."""
        self.code = code
        self.element = element
        self.tiles = Tiles(element, stored)
        self.kind = kind
        number = literal(identity(kind, element), element)
        self.identity = f"splat ({element.llvm} {number})"

    def joined(self, xs: Sequence[str], ys: Sequence[str]) -> list[str]:
        """Each of some vectors combined with another."""
        s = Builder(self.code, self.tiles.lanes, len(xs))
        x, y = Lanes(self.element, tuple(xs)), Lanes(self.element, tuple(ys))
        return [*KINDS[self.kind](s, x, y).names]

    def finished(self, value: str) -> str:
        """A vector of results, from one of combinations of all elements."""
        s = Builder(self.code, self.tiles.lanes, 1)
        return finished(s, self.kind, Lanes(self.element, (value,))).names[0]

    def range(
        self,
        start: str,
        stop: str,
        step: int,
        sums: list[str],
        seen: Callable[[str], Sequence[str]],
    ) -> list[str]:
        """The vectors that `seen(i)` returns, for each i of a range, combined with the
        accumulators."""
        carried = [(self.tiles.vector, s) for s in sums]
        with self.code.carrying(start, stop, step, *carried) as iteration:
            iteration.following = self.joined(iteration.values, seen(iteration.index))
        return iteration.values

    def row(self, first: str, last: str, seen: Callable[[str, int, str], Sequence[str]]) -> str:
        """The reduction of the elements of a range, in the first lane of a vector.

        `seen(i, count, mask)` returns `count` vectors from element i on; with a mask only the lanes
        that it allows count.
        """
        code, tiles = self.code, self.tiles
        group = tiles.lanes * VECTORS_PER_STEP
        whole = code.integer("sdiv", code.integer("sub", last, first), group)
        middle = code.integer("add", first, code.integer("mul", whole, group))
        sums = [self.identity] * VECTORS_PER_STEP
        sums = self.range(first, middle, group, sums, lambda i: seen(i, VECTORS_PER_STEP, ""))
        while len(sums) > 1:
            half = len(sums) // 2
            sums = self.joined(sums[:half], sums[half:])

        def rest(index: str) -> list[str]:
            mask = tiles.mask(code, index, last)
            (value,) = seen(index, 1, mask)
            return [self.filled(value, mask)]

        (value,) = self.range(middle, last, tiles.lanes, sums, rest)
        return self.folded(value)

    def filled(self, value: str, mask: str) -> str:
        """A vector with the identity element in the lanes that a mask does not allow."""
        vector = self.tiles.vector
        return self.code.let(
            f"select {self.tiles.test} {mask}, {vector} {value}, {vector} {self.identity}"
        )

    def folded(self, value: str) -> str:
        """A vector whose first lane is the reduction of all lanes."""
        tiles, half = self.tiles, self.tiles.lanes // 2
        while half:
            order = [f"i32 {i % half + half}" for i in range(tiles.lanes)]
            upper = self.code.let(
                f"shufflevector {tiles.vector} {value}, {tiles.vector} poison, "
                f"<{tiles.lanes} x i32> <{', '.join(order)}>"
            )
            (value,) = self.joined([value], [upper])
            half //= 2
        return self.finished(value)


class _ReductionBuilder:
    """Emits a kernel: `down` the rows for every column, or `across` rows without columns.

    16-bit floats are accumulated as float32; they may be loaded, and stored.
    """

    def __init__(self, name: str, kind: str, source: Kind, target: Kind) -> None:
        self.code = Code(name, entry.KERNEL)
        self.element = element = FLOAT if source.short else source
        self.joining = Joining(self.code, kind, element, source)
        self.tiles, self.identity = self.joining.tiles, self.joining.identity
        self.results = Tiles(element, target)
        self.dims = entry.load_dims(self.code, DIMS)
        self.source = self.code.load("ptr", "%ins", 8)
        self.target = self.code.load("ptr", "%outs", 8)
        self.divisor = ""
        if element.letter == "f":
            whole = self.dims["divisor"]
            divisor = self.code.let(f"sitofp i64 {whole} to {element.llvm}")
            self.divisor = self.code.splat(self.tiles.lanes, element.llvm, divisor)

    def _seen(self, pointer: str, count: int, mask: str = "") -> list[str]:
        pointers = self.tiles.pointers(self.code, pointer, count)
        return [self.tiles.read(self.code, p, mask) for p in pointers]

    def _divided(self, value: str) -> str:
        if not self.divisor:
            return value
        return self.code.let(f"fdiv {self.tiles.vector} {value}, {self.divisor}")

    def _chunk(self, number: str) -> tuple[str, str, str]:
        """The rows of a chunk: the outer index, the first row and the one after the last."""
        code, dims = self.code, self.dims
        outer = code.integer("sdiv", number, dims["chunks"])
        first = code.integer("mul", code.integer("srem", number, dims["chunks"]), dims["chunk"])
        last = code.least(code.integer("add", first, dims["chunk"]), dims["length"])
        return outer, first, last

    def down(self) -> Code:
        """A part is a chunk of rows, and a slice of their columns."""
        code, tiles, dims = self.code, self.tiles, self.dims
        inner, lanes = dims["inner"], tiles.lanes
        with code.loop("%from", "%to") as part:
            number = code.integer("sdiv", part, dims["slices"])
            left = code.integer(
                "mul", code.integer("srem", part, dims["slices"]), COLUMNS_PER_CHUNK
            )
            right = code.least(code.integer("add", left, COLUMNS_PER_CHUNK), inner)
            outer, first, last = self._chunk(number)
            rows = tiles.step(code, self.source, outer, code.integer("mul", dims["length"], inner))
            target = self.results.step(code, self.target, number, inner)
            group = lanes * VECTORS_PER_STEP
            count = code.integer("sdiv", code.integer("sub", right, left), group)
            middle = code.integer("add", left, code.integer("mul", count, group))
            with code.loop(left, middle, group) as j:
                top = code.at(tiles.stored.llvm, rows, j)
                sums = self.joining.range(
                    first,
                    last,
                    1,
                    [self.identity] * VECTORS_PER_STEP,
                    lambda row: self._seen(tiles.step(code, top, row, inner), VECTORS_PER_STEP),
                )
                there = code.at(self.results.stored.llvm, target, j)
                pointers = self.results.pointers(code, there, VECTORS_PER_STEP)
                for pointer, value in zip(pointers, sums, strict=True):
                    self.results.write(code, self._divided(self.joining.finished(value)), pointer)
            with code.loop(middle, right, lanes) as j:
                self._column(code.at(tiles.stored.llvm, rows, j), first, last, j, right, target)
        code.do("ret void")
        return code

    def _column(self, top: str, first: str, last: str, j: str, right: str, target: str) -> None:
        """One vector of columns, or the remainder."""
        code, tiles = self.code, self.tiles
        mask = tiles.mask(code, j, right)
        (value,) = self.joining.range(
            first,
            last,
            1,
            [self.identity],
            lambda row: self._seen(tiles.step(code, top, row, self.dims["inner"]), 1, mask),
        )
        there = code.at(self.results.stored.llvm, target, j)
        self.results.write(code, self._divided(self.joining.finished(value)), there, mask)

    def across(self) -> Code:
        """A part is a chunk of a row."""
        code, tiles, dims = self.code, self.tiles, self.dims
        with code.loop("%from", "%to") as part:
            outer, first, last = self._chunk(part)
            row = tiles.step(code, self.source, outer, dims["length"])
            total = self.joining.row(
                first,
                last,
                lambda i, count, mask: self._seen(code.at(tiles.stored.llvm, row, i), count, mask),
            )
            value = Lanes(self.element, (self._divided(total),))
            kind = self.results.stored
            (value,) = Builder(code, tiles.lanes, 1).converted(value, kind).names
            one = code.let(f"extractelement <{tiles.lanes} x {kind.llvm}> {value}, i64 0")
            pointer = code.at(kind.llvm, self.target, part)
            code.do(f"store {kind.llvm} {one}, ptr {pointer}, align {kind.bytes}")
        code.do("ret void")
        return code


@functools.cache
def _library(kind: str, columns: bool, element: Kind, result: Kind) -> Library:
    """The kernel of a kind over columns or along rows; a program uses few of them."""

    def source() -> Source:
        writer = _ReductionBuilder(_name(kind, columns), kind, element, result)
        return Source([Kernel(writer.down() if columns else writer.across(), 1)])

    return Library(source)


def _name(kind: str, columns: bool) -> str:
    return f"{kind}_{'down' if columns else 'across'}"


def _levels(
    kind: str,
    outer: int,
    length: int,
    inner: int,
    divisor: int,
    shape: tuple[int, ...],
    dtype: Any,
    result: Any = None,
) -> Any:
    """Reduces the chunks, then their results, until there is one for each outer row.

    Sums and extremes of 16-bit floats are float32 until then, and rounded if `result` is no other
    dtype.
    """
    result = dtype if result is None else result
    between = _SINGLE if is_short(dtype) else dtype
    chunk = max(MIN_ROWS_PER_CHUNK, CHUNK_ELEMENTS // min(inner, COLUMNS_PER_CHUNK))
    chunks, slices = -(-length // chunk), -(-inner // COLUMNS_PER_CHUNK)
    last = chunks == 1
    shared = outer * length * inner >= entry.MIN_PARALLEL_ELEMENTS
    dims = (outer * chunks * slices, length, inner, chunks, chunk, slices, divisor if last else 1)
    own = result if last else between
    kinds = [BYTE if d.kind == "b" else kind_of(d) for d in (dtype, own)]
    function = _library(kind, inner > 1, *kinds).entry(_name(kind, inner > 1), shared)
    kernel = function.for_dims(dims)
    run: Any = entry.filling(kernel, shape if last else (outer, chunks, inner), own)
    if last:
        return run
    following: Any = _levels(kind, outer, chunks, inner, divisor, shape, between, result)
    return _sequential([run, following])


def over_chunks(how: str, shape: tuple[int, int], divisor: int, kind: Kind) -> Any:
    """The reduction of the results (chunks, outputs) of chunks, which have elements of a type.

    The sum of a mean is divided by `divisor`.
    """
    chunks, outputs = shape
    dtype = np.dtype("?" if kind == BOOL else f"{kind.letter}{kind.bytes}")
    name, divisor = ("sum", divisor) if how == "mean" else (how, 1)
    return _levels(name, 1, chunks, outputs, divisor, (outputs,), dtype)


def reduction(
    how: str, shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: bool, dtype: Any = _SINGLE
) -> Run | None:
    """The function of an op that `reduces` like that, over axes of arrays of a shape and dtype;
    None where NumPy is used.

    Axes that are not adjacent are reduced one group after the other, the last group first.
    """
    groups = [
        (is_reduced, math.prod([length for _, length in group]))
        for is_reduced, group in itertools.groupby(
            [(i in axes, d) for i, d in enumerate(shape) if d != 1], lambda d: d[0]
        )
    ]
    count = math.prod([length for is_reduced, length in groups if is_reduced])
    if not entry.AVAILABLE or 0 in shape or not has_code(how, dtype):
        return None
    reduced_groups = [i for i, (is_reduced, _) in enumerate(groups) if is_reduced]
    result = tuple(
        [1 if i in axes else d for i, d in enumerate(shape) if keep_dims or i not in axes]
    )
    runs: list[Any] = []
    kind = "sum" if how == "mean" else how  # divided at the end
    own: Any = dtype
    between = _SINGLE if is_short(dtype) else dtype
    for at in reversed(reduced_groups):
        lengths = [length for _, length in groups]
        outer, inner = math.prod(lengths[:at]), math.prod(lengths[at + 1 :])
        last = at == reduced_groups[0]
        form = result if last else (outer, inner)
        divisor = count if how == "mean" and last else 1
        levels = (kind, outer, lengths[at], inner, divisor, form)
        runs.append(_levels(*levels, own, dtype if last else between))
        own = between
        del groups[at]
    return _sequential(runs)


def _sequential(runs: Sequence[Any]) -> Run | None:
    """The composition of functions, the first one first."""
    if len(runs) < 2:
        return runs[0] if runs else None

    def whole(x: Any) -> Any:
        for run in runs:
            x = run(x)
        return x

    whole.steps = [step for run in runs for step in run.steps]  # type: ignore[attr-defined]  # as `filling`'s
    return whole


def has_code(how: str, dtype: Any) -> bool:
    """True for sums of dtypes that need no wider accumulator, and for reductions of bools."""
    if how in ("all", "any"):
        return dtype.kind == "b"
    if is_short(dtype):
        return how != "product"
    if dtype.itemsize < 4 and (how in ("mean", "product") or dtype.kind not in "iu"):
        return False
    return dtype.kind == "f" or (dtype.kind in "iu" and how != "mean")


def is_short(dtype: Any) -> bool:
    """True for 16-bit floats that the processor's vectors can load and store."""
    found = vectors.KINDS.get(dtype)
    return found is not None and found.short


def reduction_of(dtype: Any, *description: Any) -> Run | None:
    """`reduction` of a dtype."""
    return reduction(*description, dtype=dtype)
