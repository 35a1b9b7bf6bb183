"""Pooling of channels-last images in machine code, with its gradients.

As in the NumPy kernels the search for a maximum starts with the least finite number and ignores
NaN, and each window's gradient goes to its first maximum.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels.convolution import clamped
from intaglio.native.kernels.pooling_epilogue import Pool, Pooling, read_bytes
from intaglio.native.kernels.sequence import Chain
from intaglio.native.kernels.windows import Sliding, Window, Windows, library
from intaglio.native.llvm.vectors import FLOAT, literal
from intaglio.native.runtime import entry
from intaglio.ops.fused import CUT


def _maximum(k: Sliding) -> None:
    """The greatest element of every window."""
    images, out = k.pointer("%ins", 0), k.pointer("%outs", 0)
    least = f"splat (float {literal(np.finfo(np.float32).min, FLOAT)})"
    with k.code.loop("%from", "%to") as number:
        image, result = k.image(images, number), k.image(out, number, "out_")
        with k.windows() as (y, x, down, across), k.channels() as (c, mask):

            def larger(i: str, j: str, row: str, column: str, most: str) -> str:
                seen = k.tiles.read(k.code, k.pixel(image, row, column, c), mask)
                greater = k.code.let(f"fcmp ogt {k.vector} {seen}, {most}")
                return k.code.let(
                    f"select {k.test} {greater}, {k.vector} {seen}, {k.vector} {most}"
                )

            most = k.over(down, across, k.vector, least, larger)
            k.tiles.write(k.code, most, k.pixel(result, y, x, c, "out_"), mask)


def _maximum_gradient(k: Sliding, always: bool = True) -> None:
    """Each window's gradient at its first maximum; inputs: images, maxima, gradients.

    If no element is above the lowest number it is at the first one, or nowhere unless `always`.
    """
    images, maxima, gradients = (k.pointer("%ins", i) for i in range(3))
    out, code = k.pointer("%outs", 0), k.code
    with code.loop("%from", "%to") as number:
        image, result = k.image(images, number), k.image(out, number)
        k.clear(result)
        found = [k.image(d, number, "out_") for d in (maxima, gradients)]
        with k.windows() as (y, x, down, across), k.channels() as (c, mask):
            most, slope = (k.tiles.read(code, k.pixel(d, y, x, c, "out_"), mask) for d in found)

            def window(i: str, j: str, row: str, column: str, free: str) -> str:
                seen = k.tiles.read(code, k.pixel(image, row, column, c), free)
                hit = code.let(f"fcmp oeq {k.vector} {seen}, {most}")
                hit = code.let(f"and {k.test} {hit}, {free}")
                _add(k, k.pixel(result, row, column, c), slope, hit)
                return code.let(f"xor {k.test} {free}, {hit}")

            free = k.over(down, across, k.test, mask, window)
            if not always:
                return
            lost = _lost(k, free, most)
            pairs = [code.integer("icmp slt", w.first, w.last) for w in (down, across)]
            with code.when(code.let(f"and i1 {pairs[0]}, {pairs[1]}")), code.when(_any(k, lost)):
                row, column = (
                    k.at(w.start, w.first, axis) for w, axis in ((down, "y"), (across, "x"))
                )
                _add(k, k.pixel(result, row, column, c), slope, lost)


def _lost(k: Sliding, free: str, most: str) -> str:
    """The lanes of windows without a maximum: all elements are NaN or -inf, which the search passes over."""
    lowest = literal(np.finfo(np.float32).min, FLOAT)
    none = k.code.let(f"fcmp oeq {k.vector} {most}, splat (float {lowest})")
    return k.code.let(f"and {k.test} {free}, {none}")


def _any(k: Sliding, lanes: str) -> str:
    """Whether any lane is set."""
    name = f"llvm.vector.reduce.or.v{k.tiles.lanes}i1"
    return k.code.call("i1", name, (k.test, lanes))


def _squares(
    k: Sliding,
    images: str,
    body: Callable[[str, str, str, list[str], str], None],
    begin: Callable[[str], None] = lambda number: None,
) -> None:
    """Loops over 2x2 windows with strides of 2 that cover the images.

    Calls `begin(number)` for every image, and `body(number, c, at, pointers, mask)` for vectors of
    channels, the first of which is c: their index in arrays with an element for each window, and
    pointers to the window's elements.
    """
    code, dims = k.code, k.dims
    channels = dims["channels"]
    line = code.integer("mul", dims["width"], channels)
    beside = ["0", channels, line, code.integer("add", line, channels)]
    with code.loop("%from", "%to") as number:
        begin(number)
        _square_rows(k, number, images, beside, body)


def _square_rows(
    k: Sliding,
    number: str,
    images: str,
    beside: list[str],
    body: Callable[[str, str, str, list[str], str], None],
) -> None:
    """The windows of one image."""
    code, dims, line = k.code, k.dims, beside[2]
    channels = dims["channels"]
    with code.loop("0", dims["out_height"]) as y:
        row = code.integer("add", code.integer("mul", number, dims["out_height"]), y)
        window = code.integer("mul", row, code.integer("mul", dims["out_width"], channels))
        top = code.integer("mul", code.integer("mul", row, 2), line)
        with code.loop("0", dims["out_width"]) as x:
            across = code.integer("mul", x, channels)
            window_x = code.integer("add", window, across)
            left = code.integer("add", top, code.integer("mul", across, 2))

            def of_channels(c: str, mask: str) -> None:
                first = code.at("float", images, code.integer("add", left, c))
                pointers = [code.at("float", first, step) for step in beside]
                body(number, c, code.integer("add", window_x, c), pointers, mask)

            k.vectors(of_channels)


def _square_maximum(k: Sliding) -> None:
    """The greatest element of disjoint 2x2 windows."""
    images, out, code = k.pointer("%ins", 0), k.pointer("%outs", 0), k.code

    def body(number: str, c: str, at: str, pointers: list[str], mask: str) -> None:
        most = f"splat (float {literal(np.finfo(np.float32).min, FLOAT)})"
        for pointer in pointers:
            seen = k.tiles.read(code, pointer, mask)
            greater = code.let(f"fcmp ogt {k.vector} {seen}, {most}")
            most = code.let(f"select {k.test} {greater}, {k.vector} {seen}, {k.vector} {most}")
        k.tiles.write(code, most, code.at("float", out, at), mask)

    _squares(k, images, body)


def _square_gradient(k: Sliding, relu: bool = False, always: bool = True) -> None:
    """As `_maximum_gradient`; every element is seen just once: nothing is cleared or added to.

    With `relu` images are results of Relu, through which gradients go where they are not zero; a
    second output is their sum over every image.
    """
    images, maxima, gradients = (k.pointer("%ins", i) for i in range(3))
    out, code = k.pointer("%outs", 0), k.code
    ends = [code.let(f"ptrtoint ptr {p} to i64") for p in (out, images)]
    away = code.integer("sub", *ends)
    sums = k.pointer("%outs", 1) if relu else ""
    channels = k.dims["channels"]

    def clear(number: str) -> None:
        if relu:
            size = code.integer("mul", channels, 4)
            code.zero(k.tiles.step(code, sums, number, channels), size)

    def body(number: str, c: str, at: str, pointers: list[str], mask: str) -> None:
        most, slope = (
            k.tiles.read(code, code.at("float", d, at), mask) for d in (maxima, gradients)
        )
        if relu:
            open_ = code.let(f"fcmp ogt {k.vector} {most}, zeroinitializer")
            share = code.let(
                f"select {k.test} {open_}, {k.vector} splat (float 1.0), {k.vector} zeroinitializer"
            )
            slope = code.let(f"fmul {k.vector} {slope}, {share}")
        free, total = mask or "splat (i1 true)", "zeroinitializer"
        for pointer in pointers:
            seen = k.tiles.read(code, pointer, mask)
            hit = code.let(f"fcmp oeq {k.vector} {seen}, {most}")
            hit = code.let(f"and {k.test} {hit}, {free}")
            value = code.let(
                f"select {k.test} {hit}, {k.vector} {slope}, {k.vector} zeroinitializer"
            )
            k.tiles.write(code, value, code.at("i8", pointer, away), mask)
            free = code.let(f"xor {k.test} {free}, {hit}")
            total = code.let(f"fadd {k.vector} {total}, {value}")
        if not always:
            return
        lost = _lost(k, free, most)
        with code.when(_any(k, lost)):
            k.tiles.write(code, slope, code.at("i8", pointers[0], away), lost)
        if relu:
            value = code.let(
                f"select {k.test} {lost}, {k.vector} {slope}, {k.vector} zeroinitializer"
            )
            total = code.let(f"fadd {k.vector} {total}, {value}")
            sum_ = code.at("float", k.tiles.step(code, sums, number, channels), c)
            before = k.tiles.read(code, sum_, mask)
            after = code.let(f"fadd {k.vector} {before}, {total}")
            k.tiles.write(code, after, sum_, mask)

    _squares(k, images, body, clear)


def _relu_pooling_gradient(k: Sliding) -> None:
    """`_square_gradient` of the results of Relu."""
    _square_gradient(k, relu=True)


def _maximum_with_argmax(k: Sliding) -> None:
    """Relu and the maximum of windows of 2x2 with strides 2, with its argmax."""
    images, code, zero = k.pointer("%ins", 0), k.code, "zeroinitializer"
    truth = {"mean": "0", "argmax": "1", "whole": "0"}
    pool = Pool(code, k.tiles, truth)

    def body(number: str, c: str, at: str, pointers: list[str], mask: str) -> None:
        seen = [k.tiles.read(code, pointer, mask) for pointer in pointers]
        pool.write([clamped(code, k.tiles, v, zero) for v in seen], at, mask)

    _squares(k, images, body)


def _argmax_gradient(k: Sliding) -> None:
    """The gradient for the argmaxes of `_maximum_with_argmax`, and its sums over every image.

    Inputs are argmaxes and gradients. Every element is stored once.
    """
    positions, gradients = (k.pointer("%ins", i) for i in (0, 1))
    out, sums = (k.pointer("%outs", i) for i in (0, 1))
    code, tiles, dims = k.code, k.tiles, k.dims
    channels = dims["channels"]
    line = code.integer("mul", dims["width"], channels)
    beside = ["0", channels, line, code.integer("add", line, channels)]
    size = code.integer("mul", channels, 4)
    with code.loop("%from", "%to") as number:
        total = tiles.step(code, sums, number, channels)
        code.zero(total, size)
        with code.loop("0", dims["out_height"]) as y:
            row = code.integer("add", code.integer("mul", number, dims["out_height"]), y)
            pixel = code.integer("mul", row, dims["out_width"])
            top = tiles.step(code, out, code.integer("mul", row, 2), line)

            def of_row(c: str, mask: str) -> None:
                carried = (k.vector, "zeroinitializer")
                with code.carrying("0", dims["out_width"], 1, carried) as iteration:
                    x = iteration.index
                    at = code.integer("mul", code.integer("add", pixel, x), channels)
                    at = code.integer("add", at, c)
                    position = read_bytes(code, tiles, code.at("i8", positions, at), mask)
                    slope = tiles.read(code, code.at("float", gradients, at), mask)
                    left = tiles.step(code, top, code.integer("mul", x, 2), channels)
                    left = code.at("float", left, c)
                    targets = [code.at("float", left, step) for step in beside]
                    iteration.following = [
                        _gradient_at_argmax(k, slope, position, targets, mask, iteration.values[0])
                    ]
                sum_ = code.at("float", total, c)
                before = tiles.read(code, sum_, mask)
                after = code.let(f"fadd {k.vector} {before}, {iteration.values[0]}")
                tiles.write(code, after, sum_, mask)

            k.vectors(of_row)


def _gradient_at_argmax(
    k: Sliding, slope: str, position: str, targets: list[str], mask: str, total: str
) -> str:
    """Stores the gradients of a window, and returns `total` with them added."""
    code, vector = k.code, k.vector
    integers = f"<{k.tiles.lanes} x i32>"
    zero, one = "zeroinitializer", "splat (float 1.0)"
    open_ = code.let(f"icmp ult {integers} {position}, splat (i32 {CUT})")
    share = code.let(f"select {k.test} {open_}, {vector} {one}, {vector} {zero}")
    slope = code.let(f"fmul {vector} {slope}, {share}")
    position = code.let(f"and {integers} {position}, splat (i32 {~CUT})")
    for number, target in enumerate(targets):
        hit = code.let(f"icmp eq {integers} {position}, splat (i32 {number})")
        value = code.let(f"select {k.test} {hit}, {vector} {slope}, {vector} {zero}")
        k.tiles.write(code, value, target, mask)
    return code.let(f"fadd {vector} {total}, {slope}")


def _add(k: Sliding, pointer: str, value: str, mask: str) -> None:
    """Adds a vector to the elements at a pointer, in the lanes of a mask."""
    before = k.tiles.read(k.code, pointer, mask)
    total = k.code.let(f"fadd {k.vector} {before}, {value}")
    k.tiles.write(k.code, total, pointer, mask)


def _count(k: Sliding, down: Window, across: Window) -> str:
    """The number of elements of a window that are inside the image, in every lane."""
    code = k.code
    rows = code.integer("sub", down.last, down.first)
    columns = code.integer("sub", across.last, across.first)
    number = code.let(f"sitofp i64 {code.integer('mul', rows, columns)} to float")
    return code.splat(k.tiles.lanes, "float", number)


def _mean(k: Sliding) -> None:
    """The mean of every window's elements inside the image."""
    images, out = k.pointer("%ins", 0), k.pointer("%outs", 0)
    code = k.code
    with code.loop("%from", "%to") as number:
        image, result = k.image(images, number), k.image(out, number, "out_")
        with k.windows() as (y, x, down, across), k.channels() as (c, mask):

            def added(i: str, j: str, row: str, column: str, total: str) -> str:
                seen = k.tiles.read(code, k.pixel(image, row, column, c), mask)
                return code.let(f"fadd {k.vector} {total}, {seen}")

            total = k.over(down, across, k.vector, "zeroinitializer", added)
            mean = code.let(f"fdiv {k.vector} {total}, {_count(k, down, across)}")
            k.tiles.write(code, mean, k.pixel(result, y, x, c, "out_"), mask)


def _mean_gradient(k: Sliding) -> None:
    """Each window's gradient, divided equally among its elements."""
    gradients, out, code = k.pointer("%ins", 0), k.pointer("%outs", 0), k.code
    with code.loop("%from", "%to") as number:
        gradient, result = k.image(gradients, number, "out_"), k.image(out, number)
        k.clear(result)
        with k.windows() as (y, x, down, across), k.channels() as (c, mask):
            slope = k.tiles.read(code, k.pixel(gradient, y, x, c, "out_"), mask)
            share = code.let(f"fdiv {k.vector} {slope}, {_count(k, down, across)}")

            def window(i: str, j: str, row: str, column: str, none: str) -> str:
                _add(k, k.pixel(result, row, column, c), share, mask)
                return none

            k.over(down, across, "i64", "0", window)


LIBRARY = library(
    {
        "maximum": (_maximum, 1),
        "maximum_gradient": (_maximum_gradient, 3),
        "square_maximum": (_square_maximum, 1),
        "square_maximum_gradient": (_square_gradient, 3),
        "maximum_gradient_if_found": (functools.partial(_maximum_gradient, always=False), 3),
        "square_maximum_gradient_if_found": (functools.partial(_square_gradient, always=False), 3),
        "mean": (_mean, 1),
        "mean_gradient": (_mean_gradient, 1),
    }
)
# These return sums, or argmaxes, too.
RELU_GRADIENT = library({"relu_gradient": (_relu_pooling_gradient, 3)}, outputs=2)
GRADIENT_LIBRARY = library({"argmax_gradient": (_argmax_gradient, 2)}, outputs=2)
MAXIMUM_LIBRARY = library({"maximum_with_argmax": (_maximum_with_argmax, 1)}, outputs=3)


def pooling(name: str, w: Windows) -> Callable[..., Any] | None:
    """One of the kernels of `LIBRARY` for such windows: arrays to array; None where the result is
    empty."""
    if not entry.AVAILABLE or w.empty:
        return None
    shape = w.in_shape if "gradient" in name else w.out_shape
    if name.startswith("maximum") and w == _covering(w):
        name = f"square_{name}"
    return entry.filling(LIBRARY.entry(name).for_dims((w.images, *w)), shape)


def _covering(w: Windows) -> Windows:
    """The 2x2 windows with strides of 2 that cover the images of `w`."""
    down, across = 2 * w.out_height, 2 * w.out_width
    return Windows(w.images, down, across, *w[3:6], 2, 2, 2, 2, 0, 0)


def relu_pooling_gradient(w: Windows) -> Callable[..., list[Any]] | None:
    """(images, maxima, gradients) to the gradient with respect to the input of Relu, and its sums
    over every image; None for other windows than those of 2x2 that cover the images."""
    if not covers(w):
        return None
    kernel = RELU_GRADIENT.entry("relu_gradient").for_dims((w.images, *w))
    single = np.dtype(np.float32)
    return entry.filling_all(kernel, [(w.in_shape, single), ((w.images, w.channels), single)])


def maximum_with_argmax(w: Windows) -> Chain | None:
    """Images to maxima of Relu and their argmaxes, bytes as in
    `native/kernels/pooling_epilogue.py`; None for other windows than those of 2x2 that cover the
    images."""
    if not covers(w):
        return None
    kernel = MAXIMUM_LIBRARY.entry("maximum_with_argmax").for_dims((w.images, *w))
    pooling = Pooling(argmax=True)
    chain = Chain(1)
    outputs = chain.then(entry.filling_all(kernel, pooling.results(w.in_shape)), 0)
    return chain.returning([outputs[i] for i in pooling.requested])


def argmax_gradient(w: Windows) -> Callable[..., list[Any]] | None:
    """(argmaxes, gradients) to the gradient with respect to the input of `maximum_with_argmax`, and
    its sums over every image; None for the same windows as there."""
    if not covers(w):
        return None
    kernel = GRADIENT_LIBRARY.entry("argmax_gradient").for_dims((w.images, *w))
    single = np.dtype(np.float32)
    return entry.filling_all(kernel, [(w.in_shape, single), ((w.images, w.channels), single)])


def covers(w: Windows) -> bool:
    """True for 2x2 windows with strides of 2 that cover the images, if they have kernels."""
    return entry.AVAILABLE and not w.empty and w == _covering(w)
