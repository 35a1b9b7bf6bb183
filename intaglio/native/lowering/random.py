"""Random numbers in native functions: TensorFlow's, generated where they are used.

A kernel of `random_bits` reads a stream's state in memory: the key, the counter's halves, the step
between blocks. A stateless op's state is computed from its seed; that of an op with a stream of its
own is taken from that stream, a Python object, by a callback.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.base.memory import arrays_at
from intaglio.ir.graph import Node
from intaglio.native.kernels import random_bits
from intaglio.native.llvm import target
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import BFLOAT, DOUBLE, FLOAT, HALF, Kind, Lanes, Unsupported
from intaglio.native.lowering.elementwise import shared
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.half import converted
from intaglio.native.lowering.operands import ArrayOperand, constant
from intaglio.native.lowering.rules import lowering
from intaglio.native.runtime import entry
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.ops.random.philox import RESERVED
from intaglio.ops.random.stateless import AUTO_SELECT, PHILOX
from intaglio.runtime import interpreter
from intaglio.runtime.hooks import SERVICES

# The key of the cipher that scrambles seeds, as in `philox.scrambled`.
SCRAMBLING = 0x02461E293EC8F720
STATE_BYTES = 32
WORD, HALF_WORD = Kind("i64", 64, "u"), Kind("i32", 32, "u")


# -- where numbers come from ----------------------------------------------------------------


def stored(w: FunctionLowering, words: Sequence[str | int]) -> str:
    """Stores a state in memory; returns its pointer."""
    pointer = w.scratch(STATE_BYTES)
    for i, word in enumerate(words):
        w.code.do(f"store i64 {word}, ptr {w.code.at('i64', pointer, str(i))}, align 8")
    return pointer


def state_of_seed(w: FunctionLowering, seed: ArrayOperand) -> str:
    """The state for a seed of two integers."""
    if seed.shape != (2,):
        raise Unsupported("a seed that is not two numbers")
    mixed = w.scratch(16)
    start = stored(w, [SCRAMBLING, *words(w, seed), 1])
    fill(w, "bits", 4, start, mixed)
    key, high = (w.code.load("i64", w.code.at("i64", mixed, str(i)), 8) for i in (0, 1))
    return stored(w, [key, 0, high, 1])


def state_of_key(
    w: FunctionLowering, key: ArrayOperand, counter: ArrayOperand, algorithm: ArrayOperand
) -> str:
    """The state for a key and a counter."""
    number = algorithm.known
    if number is None or number.shape or int(number) not in (PHILOX, AUTO_SELECT):
        raise Unsupported("an algorithm that is data, or not Philox")
    if key.shape != (1,) or len(counter.shape) != 1 or counter.shape[0] < 2 or not counter.small:
        raise Unsupported("a key or counter of another shape")
    return stored(w, [*words(w, key), *words(w, counter)[:2], 1])


def words(w: FunctionLowering, operand: ArrayOperand) -> list[str]:
    """The elements of a small value of integers, as i64."""
    (name,) = w.lanes(operand).names
    kind, words = operand.kind, list[str]()
    for i in range(operand.count):
        one = w.code.let(f"extractelement <{operand.count} x {kind.llvm}> {name}, i64 {i}")
        if kind.bits < 64:
            word = "sext" if kind.letter == "i" else "zext"
            one = w.code.let(f"{word} {kind.llvm} {one} to i64")
        words.append(one)
    return words


def state_of_stream(w: FunctionLowering, node: Node, blocks: int) -> str:
    """The state of the node's own stream, which is advanced by so many blocks."""
    counters = interpreter.kept(node, SERVICES.stream)
    if target.FREESTANDING:
        return _taken(w, w.state_of_stream(node, counters), blocks)
    words = arrays_at((4,), np.dtype(np.uint64))

    def take(address: int) -> int:
        words(address)[:] = (*counters.take(blocks), 1)
        return 0

    w.random_streams.append(counters)
    pointer = w.scratch(STATE_BYTES)
    w.call_python(take, pointer)
    return pointer


def _taken(w: FunctionLowering, kept: str, blocks: int) -> str:
    """The state of a stream whose words the caller keeps; the words are advanced by `blocks`
    counters."""
    code = w.code
    key, low, high = (code.load("i64", code.at("i64", kept, str(i)), 8) for i in range(3))
    taken = stored(w, [key, low, high, 1])
    after = code.integer("add", low, blocks)
    carry = code.let(f"zext i1 {code.integer('icmp ult', after, low)} to i64")
    for i, word in ((1, after), (2, code.integer("add", high, carry))):
        code.do(f"store i64 {word}, ptr {code.at('i64', kept, str(i))}, align 8")
    return taken


# -- numbers --------------------------------------------------------------------------------


def fill(w: FunctionLowering, kind: str, count: int, state: str, pointer: str) -> None:
    """Fills memory with so many numbers of a kind."""
    run: Any = random_bits.generator(kind, count)
    if run is None:
        raise Unsupported("random numbers without kernels")
    w.long |= count >= entry.MIN_PARALLEL_ELEMENTS
    (step,) = run.steps
    w.call_step(step, [state], [pointer])


def _dims(shape: ArrayOperand) -> tuple[int, ...]:
    if shape.known is None or len(shape.shape) != 1 or np.any(shape.known <= 0):
        raise Unsupported("random numbers of a shape that is data, or of none")
    return tuple(shape.known.tolist())


UNIFORM = {
    FLOAT: "uniform",
    DOUBLE: "uniform_double",
    HALF: "uniform_half",
    BFLOAT: "uniform_brief",
}
# 16-bit numbers are generated as float32.
NORMAL = {FLOAT: "normal", DOUBLE: "normal_double"}
TRUNCATED = {FLOAT: "truncated", DOUBLE: "truncated_double"}
Kinds = dict[Kind, str]


def _floats(
    kinds: Kinds, w: FunctionLowering, node: Node, dims: Any, state: str
) -> list[ArrayOperand]:
    (value,), kind = node.outputs, w.kind(node.outputs[0])
    if kind in kinds:
        result = w.allocate(value, kind, dims)
        fill(w, kinds[kind], result.count, state, result.pointer)
    else:
        count = math.prod(dims)
        singles = ArrayOperand(FLOAT, dims, pointer=w.scratch(4 * count))
        fill(w, kinds[FLOAT], count, state, singles.pointer)
        if singles.small:
            singles = w.in_registers(w.lanes(singles), dims)
        result = converted(w, singles, float32, value.dtype, value)
    w.how = "kernel"
    return [result]


def _check(kinds: Kinds, w: FunctionLowering, node: Node) -> None:
    kind = w.kind(node.outputs[0])
    if kind not in kinds and not kind.short:
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")


def stateful(kinds: Kinds) -> Any:
    """RandomUniform, RandomStandardNormal and TruncatedNormal."""

    def rule(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
        dims = _dims(inputs[0])
        _check(kinds, w, node)
        state = state_of_stream(w, node, math.prod(dims) * RESERVED)
        return _floats(kinds, w, node, dims, state)

    return rule


def keyed(kinds: Kinds) -> Any:
    """StatelessRandomUniformV2 and its siblings."""

    def rule(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
        dims = _dims(inputs[0])
        _check(kinds, w, node)
        return _floats(kinds, w, node, dims, state_of_key(w, *inputs[1:4]))

    return rule


def seeded(kinds: Kinds) -> Any:
    """StatelessRandomUniform and its siblings."""

    def rule(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
        dims = _dims(inputs[0])
        _check(kinds, w, node)
        return _floats(kinds, w, node, dims, state_of_seed(w, inputs[1]))

    return rule


@lowering(raw.StatelessRandomGetKeyCounter, raw.StatelessRandomGetKeyCounterAlg)
def key_counter(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StatelessRandomGetKeyCounter, with the algorithm or without."""
    state = state_of_seed(w, inputs[0])
    shapes = ((1,), (2,))
    kind = w.kind(node.outputs[0])
    results = [
        w.in_registers(w.lanes(ArrayOperand(kind, s, pointer=w.code.at("i64", state, str(at)))), s)
        for at, s in enumerate(shapes)
    ]
    if len(node.outputs) > 2:
        results.append(constant(np.asarray(PHILOX, np.int32)))
    return results


# -- integers -------------------------------------------------------------------------------


def _whole(w: FunctionLowering, node: Node, dims: Any, state: str) -> ArrayOperand:
    """Integers over the whole range of the dtype."""
    kind = w.kind(node.outputs[0])
    if kind.bits < 32:
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    result = w.allocate(node.outputs[0], kind, dims)
    words = result.count * kind.bits // 32
    fill(w, "bits", words, state, result.pointer)
    w.how = "kernel"
    return result


def _between(
    w: FunctionLowering, node: Node, dims: Any, state: str, bounds: Sequence[ArrayOperand]
) -> list[ArrayOperand]:
    """Integers in a range: random bits modulo its width."""
    result = _whole(w, node, dims, state)
    low, high = (words(w, h)[0] for h in bounds)
    span = stored(w, [w.code.integer("sub", high, low), low, 0, 0])
    kind = Kind(result.kind.llvm, result.kind.bits, "u")
    name = w.kernel("bounded", _bounded, kind)
    if result.count >= entry.MIN_PARALLEL_ELEMENTS:
        name = shared(w, name, 1)
        w.long = True
    w.call_function(name, [span], [result.pointer], [result.count])
    w.how = "kernel"
    return [result]


def _range(w: FunctionLowering, bounds: Sequence[ArrayOperand]) -> None:
    """A guard for a range that is not empty."""
    if any(h.shape for h in bounds):
        raise Unsupported("a range whose ends are no scalars")
    low, high = (words(w, h)[0] for h in bounds)
    below = "icmp slt" if bounds[0].kind.letter == "i" else "icmp ult"
    w.guard(w.code.integer(below, low, high))


def _bounded(name: str, kind: Kind) -> Code:
    code = Code(name, entry.KERNEL, "internal void")
    pointer, target = (code.load("ptr", p, 8) for p in ("%ins", "%outs"))
    words = [code.load("i64", code.at("i64", pointer, str(i)), 8) for i in (0, 1)]
    if kind.bits < 64:
        words = [code.let(f"trunc i64 {word} to {kind.llvm}") for word in words]
    s = Functions(code, 1, 1)
    span, low = (Lanes(kind, (code.splat(1, kind.llvm, word),)) for word in words)
    vector = s.vector(kind)
    with code.loop("%from", "%to") as i:
        address = code.at(kind.llvm, target, i)
        vector_of_words = Lanes(kind, (code.load(vector, address, kind.bytes),))
        rest = s.each(kind, lambda a, b: f"urem {vector} {a}, {b}", vector_of_words, span)
        code.do(f"store {vector} {s.add(rest, low).names[0]}, ptr {address}, align {kind.bytes}")
    code.do("ret void")
    return code


@lowering(raw.RandomUniformInt)
def stateful_integers(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """RandomUniformInt."""
    dims, bounds = _dims(inputs[0]), inputs[1:3]
    _range(w, bounds)
    state = state_of_stream(w, node, math.prod(dims) * RESERVED)
    return _between(w, node, dims, state, bounds)


@lowering(raw.StatelessRandomUniformIntV2, raw.StatelessRandomUniformFullIntV2)
def keyed_integers(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StatelessRandomUniformIntV2, and StatelessRandomUniformFullIntV2."""
    dims, state = _dims(inputs[0]), state_of_key(w, *inputs[1:4])
    return _integers(w, node, dims, state, inputs[4:])


@lowering(raw.StatelessRandomUniformInt, raw.StatelessRandomUniformFullInt)
def seeded_integers(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StatelessRandomUniformInt, and StatelessRandomUniformFullInt."""
    dims, state = _dims(inputs[0]), state_of_seed(w, inputs[1])
    return _integers(w, node, dims, state, inputs[2:])


def _integers(
    w: FunctionLowering, node: Node, dims: Any, state: str, bounds: list[ArrayOperand]
) -> list[ArrayOperand]:
    if not bounds:
        return [_whole(w, node, dims, state)]
    _range(w, bounds)
    return _between(w, node, dims, state, bounds)


lowering(raw.RandomUniform)(stateful(UNIFORM))
lowering(raw.RandomStandardNormal)(stateful(NORMAL))
lowering(raw.TruncatedNormal)(stateful(TRUNCATED))
lowering(raw.StatelessRandomUniformV2)(keyed(UNIFORM))
lowering(raw.StatelessRandomNormalV2)(keyed(NORMAL))
lowering(raw.StatelessTruncatedNormalV2)(keyed(TRUNCATED))
lowering(raw.StatelessRandomUniform)(seeded(UNIFORM))
lowering(raw.StatelessRandomNormal)(seeded(NORMAL))
lowering(raw.StatelessTruncatedNormal)(seeded(TRUNCATED))
