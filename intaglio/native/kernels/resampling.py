"""Resampling along one axis by taps: the old elements of every new element, and their weights.

Products are added in the order of the taps, and each step is rounded, as NumPy does it in
`ops/image/resampling.py`: the results have the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.runtime import entry

Run = Callable[..., Any]

LANES = jit.WIDTH // 4
# New rows in all, old elements of a row, new elements of a row, taps of each; for rows, how many an
# image has, before and after.
DIMS = ("rows", "old", "new", "taps", "old_rows", "new_rows")


class _Taps:
    """A kernel that sums taps, for a vector of new elements or one."""

    def __init__(self, name: str, between: bool) -> None:
        self.code = code = Code(name, entry.KERNEL)
        self.between = between
        self.dims = entry.load_dims(code, DIMS)
        self.data, self.indices, self.weights = (
            code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in range(3)
        )
        self.out = code.load("ptr", "%outs", 8)

    def row(self, base: str, number: str, length: str) -> str:
        return self.code.at("float", base, self.code.integer("mul", number, self.dims[length]))

    def kind(self, lanes: int) -> str:
        return "float" if lanes == 1 else f"<{lanes} x float>"

    def sum(self, lanes: int, element: Callable[[str], str], weight: Callable[[str], str]) -> str:
        """The weighted sum over all taps, by functions of a tap's index."""
        code, kind = self.code, self.kind(lanes)
        if self.between:
            first, other = element("0"), element("1")
            apart = code.let(f"fsub {kind} {other}, {first}")
            part = code.let(f"fmul {kind} {apart}, {weight('1')}")
            return code.let(f"fadd {kind} {part}, {first}")
        total = code.let(f"fmul {kind} {element('0')}, {weight('0')}")
        with code.carrying("1", self.dims["taps"], 1, (kind, total)) as loop:
            part = code.let(f"fmul {kind} {element(loop.index)}, {weight(loop.index)}")
            loop.following = [code.let(f"fadd {kind} {loop.values[0]}, {part}")]
        return loop.values[0]

    def each(self, target: str, write: Callable[[str, int], str]) -> None:
        """Stores the results of `write` for the new elements of a row, from an index on."""
        code, new = self.code, self.dims["new"]
        whole = code.integer("and", new, -LANES)
        for start, stop, lanes in (("0", whole, LANES), (whole, new, 1)):
            with code.loop(start, stop, lanes) as j:
                value = write(j, lanes)
                at = code.at("float", target, j)
                code.do(f"store {self.kind(lanes)} {value}, ptr {at}, align 4")

    def kernel(self) -> Kernel:
        self.code.do("ret void")
        return Kernel(self.code, 3, unit=4)


def _columns(between: bool) -> Kernel:
    """Elements of a row: each tap has an index (int32) and a weight for each new element."""
    taps = _Taps(f"columns_{'between' if between else 'sums'}", between)
    code, new = taps.code, taps.dims["new"]

    def at(base: str, kind: str, k: str, j: str) -> str:
        return code.at(kind, base, code.integer("add", code.integer("mul", k, new), j))

    with code.loop("%from", "%to") as row:
        source, target = taps.row(taps.data, row, "old"), taps.row(taps.out, row, "new")

        def write(j: str, lanes: int) -> str:
            def element(k: str) -> str:
                index = at(taps.indices, "i32", k, j)
                return _gathered(code, source, index, lanes)

            def weight(k: str) -> str:
                return code.load(taps.kind(lanes), at(taps.weights, "float", k, j), 4)

            return taps.sum(lanes, element, weight)

        taps.each(target, write)
    return taps.kernel()


def _gathered(code: Code, source: str, index: str, lanes: int) -> str:
    """The elements whose indices are at a pointer."""
    if lanes == 1:
        number = code.let(f"zext i32 {code.load('i32', index, 4)} to i64")
        return code.load("float", code.at("float", source, number), 4)
    numbers = code.load(f"<{lanes} x i32>", index, 4)
    found = "poison"
    kind = f"<{lanes} x float>"
    for lane in range(lanes):
        number = code.let(f"extractelement <{lanes} x i32> {numbers}, i32 {lane}")
        number = code.let(f"zext i32 {number} to i64")
        value = code.load("float", code.at("float", source, number), 4)
        found = code.let(f"insertelement {kind} {found}, float {value}, i32 {lane}")
    return found


def _rows(between: bool) -> Kernel:
    """Whole rows of images: each tap has an index and a weight for each new row."""
    taps = _Taps(f"rows_{'between' if between else 'sums'}", between)
    code, dims = taps.code, taps.dims
    with code.loop("%from", "%to") as row:
        image = code.integer("udiv", row, dims["new_rows"])
        number = code.integer("sub", row, code.integer("mul", image, dims["new_rows"]))
        before = code.integer("mul", image, dims["old_rows"])
        target = taps.row(taps.out, row, "new")

        def write(j: str, lanes: int) -> str:
            def cell(base: str, kind: str, k: str) -> str:
                at = code.integer("add", code.integer("mul", k, dims["new_rows"]), number)
                return code.load(kind, code.at(kind, base, at), 4)

            def element(k: str) -> str:
                index = code.let(f"zext i32 {cell(taps.indices, 'i32', k)} to i64")
                source = taps.row(taps.data, code.integer("add", before, index), "old")
                return code.load(taps.kind(lanes), code.at("float", source, j), 4)

            def weight(k: str) -> str:
                value = cell(taps.weights, "float", k)
                return value if lanes == 1 else code.splat(lanes, "float", value)

            return taps.sum(lanes, element, weight)

        taps.each(target, write)
    return taps.kernel()


LIBRARY = Library(lambda: Source([make(b) for make in (_columns, _rows) for b in (False, True)]))


def resampling() -> Run | None:
    """(images [n, rows, elements] of float32, indices and weights [taps, new], axis, between, out).

    The axis is 1 for rows, whose indices are of rows, or 2 for elements. `between` has two taps whose
    weights are 1 - t and t. Indices are within bounds.
    """
    if not entry.AVAILABLE:
        return None
    for name in ("rows", "columns"):
        for how in ("between", "sums"):
            LIBRARY.entry(f"{name}_{how}")

    def run(
        images: Any, indices: Any, weights: Any, axis: int, between: bool, out: Any = None
    ) -> Any:
        count, rows, old = images.shape
        taps, new = indices.shape
        shape = (count, new, old) if axis == 1 else (count, rows, new)
        result = np.empty(shape, np.float32) if out is None else out
        dims = (count * shape[1], old, shape[2], taps, rows, shape[1])
        name = f"{'rows' if axis == 1 else 'columns'}_{'between' if between else 'sums'}"
        kernel = LIBRARY.entry(name, result.size >= entry.MIN_PARALLEL_ELEMENTS).for_dims(dims)
        numbers = np.ascontiguousarray(indices, np.int32)
        kernel(entry.in_order(images), numbers, np.ascontiguousarray(weights), result)
        return result

    return run
