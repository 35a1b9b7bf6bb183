"""Lowerings that reuse those of other ops, with adapted inputs or shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.ir.rewrite import derived
from intaglio.native.analysis.sizes import is_small
from intaglio.native.kernels import reductions
from intaglio.native.kernels.sequence import Taking
from intaglio.native.llvm.vectors import BOOL, Lanes, Unsupported
from intaglio.native.lowering import elementwise
from intaglio.native.lowering.data_movement import copied, moved
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.nn import windows


def _as(node: Node, op: Op, inputs: Sequence[SymbolicTensor]) -> Node:
    """A node of another op with the name and outputs of this one, without attributes."""
    return derived(node, inputs, op=op)


@lowering(raw.Select)
def select(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Select: as SelectV2, except that a vector of conditions selects rows."""
    condition, x, y = inputs
    if x.shape != y.shape:
        raise Unsupported("values of unlike shapes to choose from")
    if condition.shape not in ((), x.shape):
        if len(x.shape) < 2 or condition.shape != x.shape[:1]:
            raise Unsupported("conditions that are neither those of elements nor of rows")
        ones = (1,) * (len(x.shape) - 1)
        condition = condition.reshaped((*condition.shape, *ones))
    operands = [condition, x, y]
    shape = elementwise.broadcast(operands)
    alike = _as(node, raw.SelectV2, node.inputs)
    if not is_small(shape):
        return elementwise.loop(w, node.outputs, elementwise.alone(alike), operands, shape)
    return elementwise.elementwise(w, alike, operands)


@lowering(raw.ConjugateTranspose)
def conjugate_transpose(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """ConjugateTranspose: a transposition, then the conjugate."""
    kind = inputs[0].kind
    if kind.letter != "c":
        return moved(w, node, inputs)
    (transposed,) = moved(w, node, inputs)
    alike = _as(node, raw.Conj, node.outputs)
    if is_small(transposed.shape):
        return elementwise.elementwise(w, alike, [transposed])
    results = elementwise.loop(
        w, node.outputs, elementwise.alone(alike), [transposed], transposed.shape
    )
    w.release(transposed)
    return results


@lowering(raw.Bitcast)
def bitcast(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Bitcast: the same bytes as another dtype."""
    (source,) = inputs
    kind = w.kind(node.outputs[0])
    if BOOL in (kind, source.kind) or not source.count:
        raise Unsupported("Bitcast of bools, or of no elements")
    shape = source.shape
    if kind.bytes < source.kind.bytes:
        shape = (*shape, source.kind.bytes // kind.bytes)
    elif kind.bytes > source.kind.bytes:
        shape = shape[:-1]
    result = ArrayOperand(kind, shape, pointer=source.pointer, blocks=source.blocks)
    if source.pointer:
        return [w.retain(result)]
    if result.small and source.small:
        old, new = (f"<{h.count} x {h.kind.llvm}>" for h in (source, result))
        (name,) = w.lanes(source).names
        cast = w.code.let(f"bitcast {old} {name} to {new}")
        return [w.in_registers(Lanes(kind, (cast,)), shape)]
    pointer = w.pointer(source)
    result = w.allocate(node.outputs[0], kind, shape)
    w.copy(pointer, result.pointer, result.bytes)
    return [result]


@lowering(raw.BiasAddGrad)
def bias_gradient(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """BiasAddGrad: a sum over all but the channels."""
    (source,) = inputs
    first = windows.channels_first(node.attrs["data_format"])
    rank = len(source.shape)
    if rank < 2 or not source.count:
        raise Unsupported("BiasAddGrad of no elements, or of a vector")
    at = 1 if first else rank - 1
    axes = tuple([d for d in range(rank) if d != at])
    if all(source.shape[d] == 1 for d in axes):
        return [w.retain(source.reshaped((source.shape[at],)))]
    dtype = node.inputs[0].dtype.numpy
    run = reductions.reduction("sum", source.shape, axes, False, dtype)
    return stepped(w, node, run and Taking(run, 0), inputs)


def window(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Slice of a static size at a dynamic index, guarded to be within bounds."""
    source, begin, size = inputs
    rank = len(source.shape)
    if size.known is None or begin.shape != (rank,) or not rank or rank > 16:
        raise Unsupported("a slice whose size is data")
    sizes = size.known.tolist()
    if any(not 0 < n <= d for n, d in zip(sizes, source.shape, strict=True)):
        raise Unsupported("a slice of no elements, or of all that are left")
    code, offset = w.code, "0"
    steps = [math.prod(source.shape[d + 1 :]) for d in range(rank)]
    inside = "true"
    for d, (n, step) in enumerate(zip(sizes, steps, strict=True)):
        start = _element(w, begin, d)
        fits = code.integer("icmp ule", start, source.shape[d] - n)
        inside = code.let(f"and i1 {inside}, {fits}")
        offset = code.integer("add", offset, code.integer("mul", start, step))
    w.guard(inside)
    base = code.at(source.kind.memory, w.pointer(source), offset)
    if sizes[1:] == [*source.shape[1:]] and source.pointer:
        part = ArrayOperand(source.kind, tuple(sizes), pointer=base, blocks=source.blocks)
        return [w.retain(part)]
    result = w.allocate(node.outputs[0], source.kind, tuple(sizes))
    copied(w, source.kind, base, result.pointer, sizes, steps, None)
    return [result]


def _element(w: FunctionLowering, operand: ArrayOperand, lane: int) -> str:
    """An element of a vector of integers, as i64."""
    lanes = w.shuffled(w.lanes(operand), operand.count, [lane])
    return w.index(w.in_registers(lanes, ()))
