"""Rows and elements at places that are data: an index is checked, and the address computed."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.elementwise import add_to
from intaglio.native.held import Held
from intaglio.native.lanes import Unsupported
from intaglio.native.writer import Writer


def gathered(w: Writer, node: Node, source: Held, at: Held) -> list[Held]:
    """The row of one index of the first axis."""
    if at.shape or not source.shape:
        raise Unsupported("a gather of several rows")
    return [row(w, node, source, w.index(at), source.shape[1:])]


def sliced(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """StridedSlice of the form `x[i]`."""
    source, begin = inputs[:2]
    attrs = node.attrs
    single = (
        begin.shape == (1,)
        and attrs["shrink_axis_mask"] == 1
        and not (attrs["begin_mask"] or attrs["ellipsis_mask"] or attrs["new_axis_mask"])
    )  # fmt: skip
    if not single or not source.shape:
        raise Unsupported("a slice whose bounds are data")
    return [row(w, node, source, w.index(begin), source.shape[1:], wraps=True)]


def row(
    w: Writer, node: Node, source: Held, index: str, shape: tuple[int, ...],
    wraps: bool = False,
) -> Held:  # fmt: skip
    """The part of a value at an index of its first axis; refused if there is none."""
    code, length = w.code, source.shape[0]
    part = Held(source.kind, shape)
    if not part.count:
        raise Unsupported("no elements")
    if wraps:
        from_end = code.integer("add", index, length)
        negative = code.integer("icmp slt", index, 0)
        index = code.let(f"select i1 {negative}, i64 {from_end}, i64 {index}")
    w.demand(code.integer("icmp ult", index, length))
    base = w.pointer(source)
    part.pointer = code.at("i8", base, code.integer("mul", index, part.bytes))
    if part.small:
        return w.in_registers(w.lanes(part), shape)
    if source.pointer:
        part.blocks = source.blocks
        return w.also(part)
    result = w.room(node.outputs[0], source.kind, shape)
    w.copy(part.pointer, result.pointer, part.bytes)
    return result


def add_at(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """_AddAt; where the result takes the place of the value, nothing but the row is touched."""
    source, at, item = inputs
    if item.shape != source.shape[1:] or item.kind != source.kind:
        raise Unsupported("a row of another shape")
    code, length = w.code, source.shape[0]
    index = w.index(at)
    from_end = code.integer("add", index, length)
    negative = code.integer("icmp slt", index, 0)
    index = code.let(f"select i1 {negative}, i64 {from_end}, i64 {index}")
    w.demand(code.integer("icmp ult", index, length))
    base, added = w.pointer(source), w.pointer(item)
    result = w.room(node.outputs[0], source.kind, source.shape)
    if result.pointer != base:
        w.copy(base, result.pointer, result.bytes)
    offset = code.integer("mul", index, item.bytes)
    place = code.at("i8", result.pointer, offset)
    add_to(w, node.outputs[0].dtype, place, added, item.count)
    return [result]


def all_below(w: Writer, place: str, count: int, length: int) -> str:
    """Whether integers of 64 bits are all places of a row of that length, as i1."""
    code = w.code
    with code.carrying("0", str(count), 1, ("i1", "true")) as state:
        one = code.load("i64", code.at("i64", place, state.index), 8)
        inside = code.integer("icmp ult", one, length)
        state.following.append(code.let(f"and i1 {state.values[0]}, {inside}"))
    return state.values[0]
