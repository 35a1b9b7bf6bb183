"""Ops that only move elements: what they do is asked of their NumPy kernels.

A small value's op is carried out once on the numbers of its elements, which gives the order that
registers are shuffled into. For a value in memory the kernel is given an array of its shape: if
it answers with a view, strides and offset say what is to be copied, or that nothing is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native import entry
from intaglio.native.code import Code
from intaglio.native.held import Held, is_small
from intaglio.native.lanes import Kind, Lanes, Unsupported
from intaglio.native.writer import Writer
from intaglio.runtime import interpreter

# Ops and their inputs that are data; the others say how, and must be known.
DATA: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ["Reshape", "Transpose", "ExpandDims", "Squeeze", "StridedSlice", "Slice",
         "BroadcastTo", "ReverseV2", "Tile", "Unpack", "Identity", "StopGradient",
         "Fill", "GatherV2", "ReverseSequence", "MatrixTranspose", "PreventGradient", "Snapshot"],
        (0,),
    ),
    "Split": (1,), "SplitV": (0,), "Fill": (1,),
}  # fmt: skip
JOINS = ("Pack", "ConcatV2")


def moved(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """One value, in other shapes or orders, or parts of it."""
    (at,) = DATA[node.op.name]
    source = inputs[at]
    for i, held in enumerate(inputs):
        if i != at and held.known is None:
            raise Unsupported(f"{node.op.name} whose {node.op.input_names[i]} is data")
    if source.small or source.known is not None:
        return [_from_registers(w, node, source, o) for o in _orders(node, inputs, at)]
    return _from_memory(w, node, inputs, at)


def _orders(node: Node, inputs: Sequence[Held], at: int) -> list[Any]:
    """For each result the numbers of the elements that it is made of."""
    arrays = [h.known for h in inputs]
    arrays[at] = np.arange(inputs[at].count).reshape(inputs[at].shape)
    return _asked(node, arrays)


def _asked(node: Node, arrays: Sequence[Any]) -> list[Any]:
    try:
        made = interpreter.call_kernel(node.op, arrays, node.attrs)
    except Exception:
        raise Unsupported(f"{node.op.name} that fails") from None
    return [np.asarray(a) for a in interpreter.flat_result(node.op, made)]


def _from_registers(w: Writer, node: Node, source: Held, order: Any) -> Held:
    if not order.size:
        raise Unsupported("no elements")
    if is_small(order.shape):
        flat = order.reshape(-1).tolist()
        lanes = w.shuffled(w.lanes(source), source.count, flat)
        return w.in_registers(lanes, order.shape)
    # More than registers hold: only what is repeated regularly.
    if source.count > 1:
        raise Unsupported(f"{node.op.name} of few elements to many")
    value = w.room(None, source.kind, order.shape)
    _copied(w, source.kind, w.pointer(source), value.pointer, order.shape, (0,) * order.ndim, None)  # fmt: skip
    return value


def _from_memory(w: Writer, node: Node, inputs: Sequence[Held], at: int) -> list[Held]:
    source = inputs[at]
    whole = np.empty(source.shape, f"u{source.kind.bytes}")
    arrays = [h.known for h in inputs]
    arrays[at] = whole
    base = w.pointer(source)
    made: list[Held] = []
    for value, view in zip(node.outputs, _asked(node, arrays), strict=True):
        if not view.size:
            raise Unsupported("no elements")
        if not np.may_share_memory(view, whole):
            raise Unsupported(f"{node.op.name} of {source.count} elements")
        offset = view.ctypes.data - whole.ctypes.data
        if view.flags.c_contiguous:
            pointer = w.code.at("i8", base, str(offset)) if offset else base
            part = Held(source.kind, view.shape, pointer=pointer, blocks=source.blocks)
            made.append(w.also(part))
            continue
        result = w.room(value, source.kind, view.shape)
        steps = [s // source.kind.bytes for s in view.strides]
        start = w.code.at("i8", base, str(offset))
        _copied(w, source.kind, start, result.pointer, view.shape, steps, None)
        made.append(result)
    return made


def joined(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """Several values as one."""
    data = inputs if node.op.name == "Pack" else inputs[:-1]
    if node.op.name != "Pack" and inputs[-1].known is None:
        raise Unsupported("ConcatV2 along an axis that is data")
    starts = np.cumsum([0, *[h.count for h in data]])
    arrays = [
        np.arange(start, start + h.count).reshape(h.shape)
        for start, h in zip(starts.tolist(), data, strict=False)
    ]
    (order,) = _asked(node, [*arrays, *[h.known for h in inputs[len(data) :]]])
    if not order.size:
        raise Unsupported("no elements")
    if is_small(order.shape):
        return [w.in_registers(_gathered(w, data, order), order.shape)]
    result = w.room(node.outputs[0], data[0].kind, order.shape)
    for start, held in zip(starts.tolist(), data, strict=False):
        if not held.count:
            continue
        place = np.argwhere(order == start)[0]
        widths = _lengths(order, start, held.count)
        steps = np.asarray(order.strides) // order.itemsize
        first = int((place * steps).sum())
        inner = np.ones(len(widths), int)
        for d in range(len(widths) - 2, -1, -1):
            inner[d] = inner[d + 1] * widths[d + 1]
        target = w.code.at(held.kind.memory, result.pointer, str(first))
        _copied(w, held.kind, w.pointer(held), target, widths, inner.tolist(), steps.tolist())  # fmt: skip
    return [result]


def _lengths(order: Any, start: int, count: int) -> tuple[int, ...]:
    """The shape of the box that an input fills in the result."""
    where = np.argwhere((order >= start) & (order < start + count))
    return tuple((where.max(0) - where.min(0) + 1).tolist())


def _gathered(w: Writer, data: Sequence[Held], order: Any) -> Lanes:
    """Elements of several small values as one vector."""
    kind, count = data[0].kind, order.size
    numbers = order.reshape(-1).tolist()
    starts = np.cumsum([0, *[h.count for h in data]]).tolist()
    vectors = [w.lanes(h) for h in data]
    vector = f"<{count} x {kind.llvm}>"
    made = "poison"
    for at, number in enumerate(numbers):
        which = max(i for i, s in enumerate(starts[:-1]) if s <= number and data[i].count)  # fmt: skip
        held = data[which]
        one = w.code.let(
            f"extractelement <{held.count} x {kind.llvm}> {vectors[which].names[0]}, i64 {number - starts[which]}"
        )
        made = w.code.let(f"insertelement {vector} {made}, {kind.llvm} {one}, i64 {at}")
    return Lanes(kind, (made,))


# -- copying between strides -----------------------------------------------------------------


def _copied(
    w: Writer, kind: Kind, source: str, target: str, shape: Sequence[int],
    steps: Sequence[int], target_steps: Sequence[int] | None,
) -> None:  # fmt: skip
    """Copies elements; `steps` are those in the source, in the target they lie in order by default."""
    if target_steps is None:
        target_steps = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    axes = _merged(list(zip(shape, steps, target_steps, strict=True)))
    rank = len(axes)
    name = f"copy_{rank}_{kind.bytes}_{int(axes[-1][1] == axes[-1][2] == 1)}"
    if name not in w.functions:
        w.functions[name] = _copier(name, rank, kind.bytes)
    lengths, froms, tos = zip(*axes, strict=True)
    w.call_function(name, [source], [target], [*lengths, *froms, *tos])
    w.how = "copy"


def _merged(axes: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Neighbouring axes that are one: length and steps."""
    found: list[tuple[int, int, int]] = []
    for length, step, to in axes:
        if length == 1:
            continue
        if found and found[-1][1] == step * length and found[-1][2] == to * length:
            found[-1] = (found[-1][0] * length, step, to)
        else:
            found.append((length, step, to))
    return found or [(1, 1, 1)]


def _copier(name: str, rank: int, size: int) -> Code:
    """A kernel that copies elements of a size; its last axis may lie in order on both sides."""
    code = Code(name, entry.KERNEL, "internal void")
    dims = [
        code.load("i64", code.at("i64", "%dims", str(i)), 8) for i in range(3 * rank)
    ]
    source, target = (code.load("ptr", table, 8) for table in ("%ins", "%outs"))
    in_order = name.endswith("_1")
    kind = f"i{8 * size}"

    def level(d: int, source: str, target: str) -> None:
        if d == rank - 1 and in_order:
            count = code.integer("mul", dims[d], size)
            code.call(
                "void", "llvm.memcpy.p0.p0.i64",
                ("ptr", target), ("ptr", source), ("i64", count), ("i1", "false"),
            )  # fmt: skip
            return
        start, stop = ("%from", "%to") if d == 0 else ("0", dims[d])
        with code.loop(start, stop) as i:
            here = code.at(kind, source, code.integer("mul", i, dims[rank + d]))
            there = code.at(kind, target, code.integer("mul", i, dims[2 * rank + d]))
            if d == rank - 1:
                value = code.load(kind, here, size)
                code.do(f"store {kind} {value}, ptr {there}, align {size}")
            else:
                level(d + 1, here, there)

    level(0, source, target)
    code.do("ret void")
    return code
