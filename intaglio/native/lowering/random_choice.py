"""Random permutations and categories in native functions, from the bits and numbers of `random`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels import random_bits
from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import DOUBLE, Kind, Lanes, Unsupported
from intaglio.native.lowering import random
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.gather_scatter import taken_rows
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.ops.random.philox import RESERVED

WORD = Kind("i64", 64, "i")


# -- orders ---------------------------------------------------------------------------------


def _shuffled(
    w: FunctionLowering, node: Node, source: ArrayOperand, state: str
) -> list[ArrayOperand]:
    """The rows of a value, permuted by a stream."""
    count = source.shape[0]
    distances = w.scratch(4 * (count - 1))
    random.fill(w, "bits", count - 1, state, distances)
    w.call_function(w.kernel("distances", _shuffle_offsets), [], [distances], [count - 1])
    swaps: Any = random_bits.permutation(count)
    order = w.scratch(8 * count)
    w.call_step(swaps.steps[0], [distances], [order])
    return [taken_rows(w, node, source, ArrayOperand(WORD, (count,), pointer=order))]


def _shuffle_offsets(name: str) -> Code:
    """The offsets of a Fisher-Yates shuffle: word i modulo the number of elements from i on."""
    code = Code(name, entry.KERNEL, "internal void")
    words = code.load("ptr", "%outs", 8)
    most = code.integer("add", "%to", 1)
    with code.loop("%from", "%to") as i:
        pointer = code.at("i32", words, i)
        left = code.let(f"trunc i64 {code.integer('sub', most, i)} to i32")
        rest = code.let(f"urem i32 {code.load('i32', pointer, 4)}, {left}")
        code.do(f"store i32 {rest}, ptr {pointer}, align 4")
    code.do("ret void")
    return code


@lowering(raw.RandomShuffle)
def shuffle(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """RandomShuffle."""
    (source,) = inputs
    if not source.shape or source.shape[0] < 2:
        return [w.retain(source)]
    blocks = -(-(source.shape[0] - 1) // 4)
    return _shuffled(w, node, source, random.state_of_stream(w, node, blocks))


@lowering(raw.StatelessShuffle)
def keyed_shuffle(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StatelessShuffle."""
    source, *stream = inputs
    if not source.shape or source.shape[0] < 2:
        return [w.retain(source)]
    return _shuffled(w, node, source, random.state_of_key(w, *stream))


# -- categories -----------------------------------------------------------------------------


@lowering(raw.Multinomial)
def categories(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Multinomial: its stream is advanced by whole blocks."""
    rows, count = _sizes(node, inputs)
    blocks = rows * (-(-count // 4) * 4) * 2 * RESERVED
    return _sampled(w, node, inputs[0], count, random.state_of_stream(w, node, blocks))


@lowering(raw.StatelessMultinomial)
def seeded_categories(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StatelessMultinomial."""
    _, count = _sizes(node, inputs)
    return _sampled(w, node, inputs[0], count, random.state_of_seed(w, inputs[2]))


def _sizes(node: Node, inputs: list[Any]) -> tuple[int, int]:
    logits, count = inputs[:2]
    if count.known is None or count.shape or len(logits.shape) != 2:
        raise Unsupported(f"{node.op.name} of a number that is data")
    if int(count.known) <= 0 or not logits.count:
        raise Unsupported(f"{node.op.name} of no elements")
    return logits.shape[0], int(count.known)


def _sampled(
    w: FunctionLowering, node: Node, logits: ArrayOperand, count: int, state: str
) -> list[ArrayOperand]:
    rows, classes = logits.shape
    numbers = w.scratch(8 * rows * count)
    random.fill(w, "uniform_double", rows * count, state, numbers)
    kind, result = logits.kind, w.kind(node.outputs[0])
    name = w.kernel("categories", _choosing, kind, result)
    pointer = w.pointer(logits)
    indices = w.allocate(node.outputs[0], result, (rows, count))
    sums = w.scratch(8 * classes)
    halvings = math.ceil(math.log2(classes)) + 1
    w.call_function(
        name, [pointer, numbers], [indices.pointer, sums], [rows, classes, count, halvings]
    )
    w.how = "kernel"
    return [indices]


def _choosing(name: str, kind: Kind, result: Kind) -> Code:
    """A kernel that searches random numbers in the cumulative sums of each row's exponentials."""
    code = Code(name, entry.KERNEL, "internal void")
    logits, uniforms = (code.load("ptr", code.at("ptr", "%ins", str(i)), 8) for i in (0, 1))
    out, sums = (code.load("ptr", code.at("ptr", "%outs", str(i)), 8) for i in (0, 1))
    dims = entry.load_dims(code, ("rows", "classes", "count", "halvings"))
    classes, count = dims["classes"], dims["count"]
    with code.loop("%from", "%to") as number:
        row = code.at(kind.memory, logits, code.integer("mul", number, classes))
        _exponentials(code, kind, row, sums, classes)
        with code.carrying("0", classes, 1, ("double", "0.0")) as state:
            pointer = code.at("double", sums, state.index)
            total = code.let(f"fadd double {state.values[0]}, {code.load('double', pointer, 8)}")
            code.do(f"store double {total}, ptr {pointer}, align 8")
            state.following.append(total)
        first = code.integer("mul", number, count)
        with code.loop("0", count) as i:
            at = code.integer("add", first, i)
            number_of = code.load("double", code.at("double", uniforms, at), 8)
            wanted = code.let(f"fmul double {number_of}, {state.values[0]}")
            found = _first_greater(code, sums, classes, dims["halvings"], wanted)
            if result.bits < 64:
                found = code.let(f"trunc i64 {found} to {result.llvm}")
            code.do(
                f"store {result.llvm} {found}, ptr {code.at(result.llvm, out, at)}, align {result.bytes}"
            )
    code.do("ret void")
    return code


def _exponentials(code: Code, kind: Kind, row: str, sums: str, classes: str) -> None:
    """Stores the exponentials of a row less its maximum; 0 for infinities and NaN."""
    lanes = jit.WIDTH // 8
    whole = code.integer("mul", code.integer("sdiv", classes, lanes), lanes)
    parts = (("0", whole, lanes), (whole, classes, 1))

    def read(s: Functions, at: str) -> tuple[Lanes, Lanes]:
        """Elements, and which of them are finite."""
        vector = f"<{s.lanes} x {kind.llvm}>"
        x = Lanes(kind, (code.load(vector, code.at(kind.llvm, row, at), kind.bytes),))
        x = s.converted(x, DOUBLE)
        return x, s.isfinite(x)

    least = float(-np.inf)
    most = ""
    for start, stop, width in parts:
        s = Functions(code, width, 1)
        begin = s.constant(least, DOUBLE).names[0]
        with code.carrying(start, stop, width, (s.vector(DOUBLE), begin)) as state:
            x, finite = read(s, state.index)
            x = s.select(finite, x, s.constant(least, DOUBLE))
            state.following.append(s.maximum(Lanes(DOUBLE, (state.values[0],)), x).names[0])
        one = code.call(
            "double", f"llvm.vector.reduce.fmax.v{width}f64", (s.vector(DOUBLE), state.values[0])
        )
        most = (
            one
            if not most
            else code.call("double", "llvm.maxnum.f64", ("double", most), ("double", one))
        )
    infinite = code.let(f"fcmp oeq double {most}, 0xFFF0000000000000")
    most = code.let(f"select i1 {infinite}, double 0.0, double {most}")
    for start, stop, width in parts:
        s = Functions(code, width, 1)
        top = Lanes(DOUBLE, (code.splat(width, "double", most),))
        with code.loop(start, stop, width) as i:
            x, finite = read(s, i)
            # Elements that are not finite must not overflow.
            grown = s.exp(s.sub(s.select(finite, x, top), top))
            grown = s.select(finite, grown, s.const(0, grown))
            code.do(
                f"store {s.vector(DOUBLE)} {grown.names[0]}, ptr {code.at('double', sums, i)}, align 8"
            )


def _first_greater(code: Code, sums: str, count: str, halvings: str, wanted: str) -> str:
    """The index of the first greater sum, by binary search."""
    ends = [("i64", "0"), ("i64", count)]
    with code.carrying("0", halvings, 1, *ends) as state:
        low, high = state.values
        middle = code.integer("sdiv", code.integer("add", low, high), 2)
        some = code.integer("icmp slt", low, high)
        # In the last step the middle may be past the end.
        at = code.least(middle, code.integer("sub", count, 1))
        seen = code.load("double", code.at("double", sums, at), 8)
        below = code.let(f"and i1 {some}, {code.let(f'fcmp ole double {seen}, {wanted}')}")
        above = code.let(f"xor i1 {below}, true")
        above = code.let(f"and i1 {some}, {above}")
        after = code.integer("add", middle, 1)
        state.following += [
            code.let(f"select i1 {below}, i64 {after}, i64 {low}"),
            code.let(f"select i1 {above}, i64 {middle}, i64 {high}"),
        ]
    return state.values[0]
