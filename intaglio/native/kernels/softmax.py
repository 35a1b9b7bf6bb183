"""Softmax, its logarithm and the cross entropies of rows in machine code.

A row is read three times while it is in cache: for its maximum, for the sum of the exponentials of
the elements less the maximum, and for the results. 16-bit floats are computed as float32. Short
rows have kernels of their own (`short_softmax.py`).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.native.kernels import short_softmax
from intaglio.native.kernels.library import Kernel, Library, Source
from intaglio.native.kernels.microkernel import Tiles
from intaglio.native.kernels.reductions import Joining, is_short
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import FLOAT, Builder, Kind, Lanes, kind_of, literal
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions

Run = Callable[..., Any]

DIMS = ("rows", "classes")
SINGLE = np.dtype(np.float32)
# Rows of 16-bit floats have a buffer of float32 on the stack.
MAX_SHORT_CLASSES = 1 << 16


class _Rows:
    """Emits a kernel over rows of elements `stored` as a type."""

    def __init__(self, name: str, stored: Kind) -> None:
        self.code = Code(name, entry.KERNEL)
        self.kind = kind = FLOAT if stored.short else stored
        self.sum, self.maximum = (Joining(self.code, k, kind, stored) for k in ("sum", "maximum"))
        self.tiles, self.wide = self.sum.tiles, Tiles(kind)
        self.classes = entry.load_dims(self.code, DIMS)["classes"]
        self._buffer = ""
        if stored.short:
            self._buffer = self.code.let(f"alloca {kind.llvm}, i64 {self.classes}, align 64")

    def row_buffer(self, result: str) -> str:
        """Memory for a row of unrounded numbers: the result's, if it has their type."""
        return self._buffer or result

    def array(self, table: str, index: int) -> str:
        """The data of an input or output."""
        return self.code.load("ptr", self.code.at("ptr", table, str(index)), 8)

    def at(self, row: str, index: str) -> str:
        """The pointer to an element."""
        return self.code.at(self.tiles.stored.llvm, row, index)

    def load(self, pointer: str) -> str:
        """One element."""
        return self.code.load(self.kind.llvm, pointer, self.kind.bytes)

    def row(self, data: str, number: str) -> str:
        """The pointer to the first element of a row."""
        return self.tiles.step(self.code, data, number, self.classes)

    def read(self, row: str, at: str, count: int, mask: str) -> Lanes:
        """Vectors of a row, from an element on."""
        pointers = self.tiles.pointers(self.code, self.at(row, at), count)
        return Lanes(self.kind, tuple([self.tiles.read(self.code, p, mask) for p in pointers]))

    def write(self, values: Lanes, row: str, at: str, mask: str) -> None:
        """Stores vectors to a row, from an element on."""
        self._write(self.tiles, values, row, at, mask)

    def read_unrounded(self, row: str, at: str, count: int, mask: str) -> Lanes:
        """Vectors of a row of unrounded numbers, from an element on."""
        pointers = self.wide.pointers(self.code, self.code.at(self.kind.llvm, row, at), count)
        return Lanes(self.kind, tuple([self.wide.read(self.code, p, mask) for p in pointers]))

    def _write(self, tiles: Tiles, values: Lanes, row: str, at: str, mask: str) -> None:
        first = self.code.at(tiles.stored.llvm, row, at)
        pointers = tiles.pointers(self.code, first, len(values.names))
        for pointer, value in zip(pointers, values.names, strict=True):
            tiles.write(self.code, value, pointer, mask)

    def over(self, joining: Joining, body: Callable[[Functions, str, str], Lanes]) -> str:
        """Reduces the results of `body(builder, i, mask)` for all elements of a row; in every lane."""

        def seen(at: str, count: int, mask: str) -> Sequence[str]:
            return body(Functions(self.code, self.tiles.lanes, count), at, mask).names

        return self.splat(self.first(joining.row("0", self.classes, seen)))

    def first(self, vector: str) -> str:
        """The number in the first lane."""
        return self.code.let(f"extractelement {self.tiles.vector} {vector}, i64 0")

    def splat(self, number: str) -> str:
        """A number in every lane."""
        return self.code.splat(self.tiles.lanes, self.kind.llvm, number)

    def exponential_row(self, logits: str, out: str) -> tuple[str, str]:
        """Stores the unrounded exponentials of a row; returns its maximum and their sum."""

        def logit(s: Functions, at: str, mask: str) -> Lanes:
            return self.read(logits, at, s.vectors, mask)

        most = self.over(self.maximum, logit)

        def exponential(s: Functions, at: str, mask: str) -> Lanes:
            value = s.exp(s.sub(logit(s, at, mask), self.every(s, most)))
            self._write(self.wide, value, out, at, mask)
            return value

        return most, self.over(self.sum, exponential)

    def log(self, vector: str) -> str:
        """The logarithms of one vector."""
        s = Functions(self.code, self.tiles.lanes, 1)
        return s.log(self.every(s, vector)).names[0]

    def store(self, vector: str, data: str, number: str) -> None:
        """Stores the first lane as the element of a vector with one for each row."""
        self.put(self.first(vector), self.at(data, number))

    def put(self, value: str, pointer: str) -> None:
        """Stores one element."""
        stored = self.tiles.stored
        (one,) = self._one(f"<1 x {self.kind.llvm}>", value, self.kind, stored).names
        self.code.do(f"store <1 x {stored.llvm}> {one}, ptr {pointer}, align {stored.bytes}")

    def _one(self, vector: str, value: str, kind: Kind, to: Kind) -> Lanes:
        """A number as a vector of another type."""
        whole = self.code.let(f"insertelement {vector} poison, {kind.llvm} {value}, i64 0")
        return Builder(self.code, 1, 1).converted(Lanes(kind, (whole,)), to)

    def every(self, s: Functions, vector: str) -> Lanes:
        """One vector, once for each vector that the builder computes."""
        return Lanes(self.kind, (vector,) * s.vectors)


def _softmax(k: _Rows) -> None:
    """exp(logits) / sum(exp(logits))"""
    logits, out = k.array("%ins", 0), k.array("%outs", 0)
    with k.code.loop("%from", "%to") as number:
        result = k.row(out, number)
        grown = k.row_buffer(result)
        _, total = k.exponential_row(k.row(logits, number), grown)

        def share(s: Functions, at: str, mask: str) -> Lanes:
            value = s.div(k.read_unrounded(grown, at, s.vectors, mask), k.every(s, total))
            k.write(value, result, at, mask)
            return value

        k.over(k.sum, share)


def _log_softmax(k: _Rows) -> None:
    """logits - log(sum(exp(logits)))"""
    logits, out = k.array("%ins", 0), k.array("%outs", 0)
    with k.code.loop("%from", "%to") as number:
        row, result = k.row(logits, number), k.row(out, number)
        most, total = k.exponential_row(row, k.row_buffer(result))
        less = k.log(total)

        def logarithm(s: Functions, at: str, mask: str) -> Lanes:
            shifted = s.sub(k.read(row, at, s.vectors, mask), k.every(s, most))
            value = s.sub(shifted, k.every(s, less))
            k.write(value, result, at, mask)
            return value

        k.over(k.sum, logarithm)


def _cross_entropy(k: _Rows) -> None:
    """Inputs: logits and labels; outputs: the losses and their gradients with respect to the
    logits."""
    logits, labels = k.array("%ins", 0), k.array("%ins", 1)
    losses, gradients = k.array("%outs", 0), k.array("%outs", 1)
    with k.code.loop("%from", "%to") as number:
        row, wanted, gradient = (k.row(d, number) for d in (logits, labels, gradients))
        grown = k.row_buffer(gradient)
        most, total = k.exponential_row(row, grown)
        less = k.log(total)

        def term(s: Functions, at: str, mask: str) -> Lanes:
            label = k.read(wanted, at, s.vectors, mask)
            shifted = s.sub(k.read(row, at, s.vectors, mask), k.every(s, most))
            loss = s.mul(label, s.sub(k.every(s, less), shifted))
            share = s.div(k.read_unrounded(grown, at, s.vectors, mask), k.every(s, total))
            k.write(s.sub(share, label), gradient, at, mask)
            # The limit of x log x at 0, which is 0.
            none = s.const(0, label)
            return s.select(s.eq(label, none), none, loss)

        k.store(k.over(k.sum, term), losses, number)


def _sparse_cross_entropy(k: _Rows) -> None:
    """As `_cross_entropy`, for labels that are the index of the only 1 in each row."""
    code, logits, labels = k.code, k.array("%ins", 0), k.array("%ins", 1)
    losses, gradients = k.array("%outs", 0), k.array("%outs", 1)
    with code.loop("%from", "%to") as number:
        row, gradient = k.row(logits, number), k.row(gradients, number)
        most, total = k.exponential_row(row, gradient)
        less = k.log(total)

        def share(s: Functions, at: str, mask: str) -> Lanes:
            value = s.div(k.read(gradient, at, s.vectors, mask), k.every(s, total))
            k.write(value, gradient, at, mask)
            return value

        k.over(k.sum, share)
        label = code.load("i64", code.at("i64", labels, number), 8)
        logit = k.splat(k.load(k.at(row, label)))
        shifted = code.let(f"fsub {k.tiles.vector} {logit}, {most}")
        k.store(code.let(f"fsub {k.tiles.vector} {less}, {shifted}"), losses, number)
        pointer = k.at(gradient, label)
        one = literal(-1.0, k.kind)
        k.put(code.let(f"fadd {k.kind.llvm} {k.load(pointer)}, {one}"), pointer)


# The function that emits each kernel, and the numbers of its inputs and outputs.
KERNELS: dict[str, tuple[Callable[[_Rows], None], int, int]] = {
    "softmax": (_softmax, 1, 1),
    "log_softmax": (_log_softmax, 1, 1),
    "cross_entropy": (_cross_entropy, 2, 2),
    "sparse_cross_entropy": (_sparse_cross_entropy, 2, 2),
}


@functools.cache
def _library(name: str, kind: Kind, classes: int) -> Library:
    """A kernel in its own module, for rows of so many elements; 0 for any number."""

    def source() -> Source:
        write, inputs, outputs = KERNELS[name]
        if classes:
            code = short_softmax.code(name, kind, classes)
            return Source([Kernel(code, inputs, outputs, short_softmax.unit(kind))])
        kernel = _Rows(name, kind)
        write(kernel)
        kernel.code.do("ret void")
        return Source([Kernel(kernel.code, inputs, outputs)])

    return Library(source)


def _kernel(name: str, shape: tuple[int, ...], dtype: Any) -> Run | None:
    if not entry.AVAILABLE or not shape or 0 in shape:
        return None
    if dtype.itemsize == 2 and (
        name == "sparse_cross_entropy" or shape[-1] > MAX_SHORT_CLASSES or not is_short(dtype)
    ):
        return None
    size = math.prod(shape)
    dims = (size // shape[-1], shape[-1])
    short = shape[-1] if shape[-1] <= short_softmax.MAX_CLASSES else 0
    kernels = _library(name, kind_of(dtype), short)
    return kernels.entry(name, size >= entry.MIN_PARALLEL_ELEMENTS).for_dims(dims)


def row_softmax(name: str, shape: tuple[int, ...], dtype: Any = SINGLE) -> Run | None:
    """`softmax` or `log_softmax` along the last axis of arrays of a shape."""
    kernel = _kernel(name, shape, dtype)
    return kernel and entry.filling(kernel, shape, dtype)


def eager_softmax(dtype: Any, name: str, shape: tuple[int, ...]) -> Run | None:
    """`row_softmax` as a kernel that ops request."""
    return row_softmax(name, shape, dtype)


def cross_entropy(shape: tuple[int, ...], dtype: Any = SINGLE) -> Run | None:
    """(logits, labels) to the losses and their gradients with respect to the logits, all of one
    shape."""
    return _entropy("cross_entropy", shape, dtype)


def sparse_cross_entropy(shape: tuple[int, ...], dtype: Any = SINGLE) -> Run | None:
    """The same for labels that are the index of the only 1 in each row.

    The function returns NotImplemented if an index is out of bounds.
    """
    entropy: Any = _entropy("sparse_cross_entropy", shape, dtype)
    if entropy is None:
        return None
    classes = shape[-1]

    def run(logits: Any, labels: Any) -> Any:
        if labels.min() < 0 or labels.max() >= classes:
            return NotImplemented
        return entropy(logits, labels.astype(np.int64, copy=False))

    run.steps = entropy.steps  # type: ignore[attr-defined]  # the steps without the check of the labels
    return run


def _entropy(name: str, shape: tuple[int, ...], dtype: Any) -> Run | None:
    kernel = _kernel(name, shape, dtype)
    return kernel and entry.filling_all(kernel, [(shape[:-1], dtype), (shape, dtype)])
