"""Rows and elements at dynamic indices: an index is guarded, and the address computed."""

from __future__ import annotations

import math
from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.analysis.sizes import is_small
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.data_movement import copied
from intaglio.native.lowering.elementwise import add_to
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.ops.array.slicing import is_index


def gathered(
    w: FunctionLowering, node: Node, source: ArrayOperand, at: ArrayOperand
) -> list[ArrayOperand]:
    """The row at an index of the first axis."""
    if at.shape or not source.shape:
        raise Unsupported("a gather of several rows")
    return [row(w, node, source, w.index(at), source.shape[1:])]


def sliced(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """StridedSlice of the form `x[i]` or `x[:, i]`."""
    source, begin, _, strides = inputs
    axis = begin.count - 1
    ones = strides.known is not None and (strides.known == 1).all()
    if not is_index(node.attrs, axis) or not ones or axis >= len(source.shape):
        raise Unsupported("a slice whose bounds are data")
    if not axis:
        return [row(w, node, source, w.index(begin), source.shape[1:], wraps=True)]
    return [_across(w, node, source, axis, _last(w, begin))]


def _last(w: FunctionLowering, operand: ArrayOperand) -> str:
    """The last number of a small vector, as i64."""
    lanes = w.shuffled(w.lanes(operand), operand.count, [operand.count - 1])
    return w.index(w.in_registers(lanes, ()))


def _across(
    w: FunctionLowering, node: Node, source: ArrayOperand, axis: int, index: str
) -> ArrayOperand:
    """The elements at an index of an inner axis, which are strided and therefore copied."""
    length, kind = source.shape[axis], source.kind
    shape = (*source.shape[:axis], *source.shape[axis + 1 :])
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis:])
    index = _within(w, index, length)
    offset = w.code.integer("mul", index, inner * kind.bytes)
    start = w.code.at("i8", w.pointer(source), offset)
    small = is_small(shape)
    result = ArrayOperand(kind, shape)
    if small:
        result.pointer = w.scratch(result.bytes)
    else:
        result = w.allocate(node.outputs[0], kind, shape)
    copied(w, kind, start, result.pointer, (outer, inner), (length * inner, 1), None)
    return w.in_registers(w.lanes(result), shape) if small else result


def _within(w: FunctionLowering, index: str, length: int) -> str:
    """An index that may count from the end, guarded to be within bounds."""
    code = w.code
    from_end = code.integer("add", index, length)
    negative = code.integer("icmp slt", index, 0)
    index = code.let(f"select i1 {negative}, i64 {from_end}, i64 {index}")
    w.guard(code.integer("icmp ult", index, length))
    return index


def row(
    w: FunctionLowering,
    node: Node,
    source: ArrayOperand,
    index: str,
    shape: tuple[int, ...],
    wraps: bool = False,
) -> ArrayOperand:
    """The part of a value at an index of its first axis; a guard fails for an index out of bounds."""
    code, length = w.code, source.shape[0]
    part = ArrayOperand(source.kind, shape)
    if not part.count:
        raise Unsupported("no elements")
    if wraps:
        index = _within(w, index, length)
    else:
        w.guard(code.integer("icmp ult", index, length))
    base = w.pointer(source)
    step = source.apart or part.bytes
    part.pointer = code.at("i8", base, code.integer("mul", index, step))
    if part.small:
        return w.in_registers(w.lanes(part), shape)
    if source.pointer:
        part.blocks = source.blocks
        return w.retain(part)
    result = w.allocate(node.outputs[0], source.kind, shape)
    w.copy(part.pointer, result.pointer, part.bytes)
    return result


def add_at(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """_AddAt; where the result overwrites the value, only the row is loaded and stored."""
    source, at, item = inputs
    axis, dtype, code = node.attrs["axis"], node.outputs[0].dtype, w.code
    length, before = source.shape[axis], source.shape[:axis]
    if item.shape != (*before, *source.shape[axis + 1 :]) or item.kind != source.kind:
        raise Unsupported("a row of another shape")
    index = _within(w, _last(w, at), length)
    base, added = w.pointer(source), w.pointer(item)
    result = w.allocate(node.outputs[0], source.kind, source.shape)
    if result.pointer != base:
        if source.apart:
            raise Unsupported("rows that lie apart, to be changed elsewhere")
        w.copy(base, result.pointer, result.bytes)
    outer = math.prod(before)
    inner = item.count // outer
    size = inner * item.kind.bytes
    step = source.apart or size
    start = code.at("i8", result.pointer, code.integer("mul", index, step))
    if not axis:
        add_to(w, dtype, start, added, inner)
        return [result]
    with code.loop("0", str(outer)) as i:
        pointer = code.at("i8", start, code.integer("mul", i, length * size))
        part = code.at("i8", added, code.integer("mul", i, size))
        add_to(w, dtype, pointer, part, inner)
    return [result]
