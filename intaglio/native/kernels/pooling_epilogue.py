"""2x2 pooling as an epilogue of convolutions, while the results are in registers.

Besides the means or maxima it stores, on request, the results themselves, or the argmaxes of the
maxima, one byte each. The gradient needs only the argmax, which says which result was the maximum
and whether Relu was zero there, and neither results nor maxima.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, literal
from intaglio.ops.fused import CUT

# The dims of kernels that describe a pooling.
WORDS = ("mean", "argmax", "whole")


class Pooling(NamedTuple):
    """The requested results: maxima, or means; with `argmax` the argmaxes after Relu; with `whole`
    the results before pooling, too."""

    mean: bool = False
    argmax: bool = False
    whole: bool = False

    def results(self, shape: tuple[int, ...]) -> list[tuple[tuple[int, ...], Any]]:
        """Shapes and dtypes of kernels' outputs: results of a shape, pooled values, and argmaxes.

        An output that is not requested has one element, which is not written.
        """
        images, height, width, filters = shape
        small = (images, height // 2, width // 2, filters)
        return [
            (shape if self.whole else (1,), np.dtype(np.float32)),
            (small, np.dtype(np.float32)),
            (small if self.argmax else (1,), np.dtype(np.uint8)),
        ]

    @property
    def requested(self) -> list[int]:
        """The indices of the requested outputs."""
        return [i for i, there in enumerate((self.whole, True, self.argmax)) if there]


class Pool:
    """Emits the pooling of windows of four vectors."""

    def __init__(
        self, code: Code, tiles: Tiles, dims: dict[str, str], arrays: tuple[str, str] | None = None
    ) -> None:
        """`arrays` are the pooled values and argmaxes, if they are not outputs of the kernel."""
        self.code, self.tiles = code, tiles
        self.flags = {w: code.integer("icmp ne", dims[w], 0) for w in WORDS}
        self._out, self._argmax = arrays or (
            code.load("ptr", code.at("ptr", "%outs", i), 8) for i in ("1", "2")
        )

    def write(self, window: list[str], at: str, mask: str) -> None:
        """Pools a window whose result has the index `at`."""
        code = self.code
        out = code.at("float", self._out, at)
        with code.when(self.flags["mean"]):
            self.tiles.write(code, self._mean(window), out, mask)
        with code.when(code.let(f"xor i1 {self.flags['mean']}, true")):
            most, position = self.maximum(window)
            self.tiles.write(code, most, out, mask)
            with code.when(self.flags["argmax"]):
                to = code.at("i8", self._argmax, at)
                write_bytes(code, self.tiles, self._cut(most, position), to, mask)

    def _mean(self, window: list[str]) -> str:
        code, vector = self.code, self.tiles.vector
        total = "zeroinitializer"
        for value in window:
            total = code.let(f"fadd {vector} {total}, {value}")
        return code.let(f"fmul {vector} {total}, splat (float 0.25)")

    def maximum(self, window: list[str]) -> tuple[str, str]:
        """The greatest of some vectors, and which is the first of them; NaN is ignored, 0 if all are."""
        code, tiles = self.code, self.tiles
        most = f"splat (float {literal(np.finfo(np.float32).min, FLOAT)})"
        position = "zeroinitializer"
        for number, seen in enumerate(window):
            above = code.let(f"fcmp ogt {tiles.vector} {seen}, {most}")
            most = self._chosen(above, tiles.vector, seen, most)
            position = self._chosen(above, self._integers, f"splat (i32 {number})", position)
        return most, position

    def _cut(self, most: str, position: str) -> str:
        """Argmaxes, marked where Relu was zero."""
        code = self.code
        open_ = code.let(f"fcmp ogt {self.tiles.vector} {most}, zeroinitializer")
        shut = code.let(f"or {self._integers} {position}, splat (i32 {CUT})")
        return self._chosen(open_, self._integers, position, shut)

    @property
    def _integers(self) -> str:
        return f"<{self.tiles.lanes} x i32>"

    def _chosen(self, test: str, kind: str, yes: str, no: str) -> str:
        return self.code.let(f"select {self.tiles.test} {test}, {kind} {yes}, {kind} {no}")


def write_bytes(code: Code, tiles: Tiles, value: str, pointer: str, mask: str) -> None:
    """Stores a vector of small integers as bytes."""
    lanes = tiles.lanes
    short = code.let(f"trunc <{lanes} x i32> {value} to <{lanes} x i8>")
    if not mask:
        code.do(f"store <{lanes} x i8> {short}, ptr {pointer}, align 1")
        return
    code.call(
        "void",
        f"llvm.masked.store.v{lanes}i8.p0",
        (f"<{lanes} x i8>", short),
        ("ptr align 1", pointer),
        (tiles.test, mask),
    )


def read_bytes(code: Code, tiles: Tiles, pointer: str, mask: str) -> str:
    """Loads bytes as a vector of integers."""
    kind = f"<{tiles.lanes} x i8>"
    if not mask:
        seen = code.load(kind, pointer, 1)
    else:
        seen = code.call(
            kind,
            f"llvm.masked.load.v{tiles.lanes}i8.p0",
            ("ptr align 1", pointer),
            (tiles.test, mask),
            (kind, "zeroinitializer"),
        )
    return code.let(f"zext {kind} {seen} to <{tiles.lanes} x i32>")
