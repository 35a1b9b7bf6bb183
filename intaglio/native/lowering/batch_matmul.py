"""Batches of matrix products, and sums of products that are such."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.ir.graph import Node
from intaglio.native.kernels import matmul
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Unsupported
from intaglio.native.lowering import integer_matmul
from intaglio.native.lowering.data_movement import copied
from intaglio.native.lowering.function import Writer
from intaglio.native.lowering.half import as_single
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import Held
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw
from intaglio.ops.linalg.einsum import DOTS, terms


def product(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """MatMul."""
    a, b = inputs
    turned = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if a.kind in (FLOAT, DOUBLE):
        run = matmul.product(a.shape, b.shape, *turned, _dtype(a))
        return stepped(w, node, run, inputs)
    a, b = (_turned(w, h) if t else h for h, t in zip(inputs, turned, strict=True))
    return integer_matmul.product(w, node, [a, b])


def _dtype(held: Held) -> Any:
    """The type of floating-point elements."""
    return np.dtype(f"f{held.kind.bytes}")


def _turned(w: Writer, held: Held) -> Held:
    """The transposed matrix."""
    rows, columns = held.shape
    made = Held(held.kind, (columns, rows), pointer=w.scratch(held.bytes))
    copied(w, held.kind, w.pointer(held), made.pointer, made.shape, (1, columns), None)
    return made


def batched(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """BatchMatMul and its versions."""
    a, b = inputs
    turned = node.attrs["adj_x"], node.attrs["adj_y"]
    if a.kind not in (FLOAT, DOUBLE) or not a.kind == b.kind == w.kind(node.outputs[0]):
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    if min(len(a.shape), len(b.shape)) < 2:
        raise Unsupported(f"{node.op.name} of vectors")
    run = products(a.shape, b.shape, *turned, _dtype(a))
    (made,) = stepped(w, node, run, inputs)
    return [made.reshaped(_shape(a.shape, b.shape, *turned))]


def products(
    a: tuple[int, ...], b: tuple[int, ...], turned_a: bool, turned_b: bool, dtype: Any = np.float32
) -> Any:
    """The kernel of products in batches, which may be batches of one."""
    if math.prod(a[:-2]) == math.prod(b[:-2]) == 1:
        return matmul.product(a[-2:], b[-2:], turned_a, turned_b, dtype)
    return matmul.products(a, b, turned_a, turned_b, dtype)


def _shape(
    a: tuple[int, ...], b: tuple[int, ...], turned_a: bool, turned_b: bool
) -> tuple[int, ...]:
    rows = a[-1] if turned_a else a[-2]
    columns = b[-2] if turned_b else b[-1]
    lead = max(a[:-2], b[:-2], key=lambda s: (math.prod(s), len(s)))
    rank = max(len(a), len(b)) - 2
    return (*(1,) * (rank - len(lead)), *lead, rows, columns)


def einsum(w: Writer, node: Node, inputs: list[Any]) -> list[Held]:
    """Einsum of two operands that is a product of matrices, in batches or not."""
    labels, output = terms(node.attrs["equation"])
    if len(inputs) == 1:
        return [_transposed(w, node, inputs[0], labels[0], output)]
    kind, dtype = inputs[0].kind, _dtype(inputs[0])
    if kind not in (FLOAT, DOUBLE):
        raise Unsupported(f"Einsum of {node.outputs[0].dtype.name}")
    (left, right), (a, b) = labels, inputs
    sizes: dict[Any, int] = {}
    for names, held in ((left, a), (right, b)):
        if DOTS in names or len({*names}) != len(names) != 0 or len(names) != len(held.shape):
            raise Unsupported("Einsum of dots, or of diagonals")
        sizes |= dict(zip(names, held.shape, strict=True))
    batch = [n for n in left if n in right and n in output]
    summed = [n for n in left if n in right and n not in output]
    rows = [n for n in left if n not in right]
    columns = [n for n in right if n not in left]
    if {*rows, *columns} - {*output} or not all(h.count for h in inputs):
        raise Unsupported("Einsum that sums over one operand")
    a, turned_a = _arranged(w, a, left, [batch, rows, summed])
    b, turned_b = _arranged(w, b, right, [batch, summed, columns])
    run = products(a.shape, b.shape, turned_a, turned_b, dtype)
    natural = [*batch, *rows, *columns]
    shape = tuple([sizes[n] for n in natural])
    if natural == [*output]:
        (made,) = stepped(w, node, run, [a, b])
        return [made.reshaped(shape)]
    made = Held(kind, shape, pointer=w.scratch(kind.bytes * math.prod(shape)))
    steps = getattr(run, "steps", [])
    if len(steps) != 1:
        raise Unsupported("Einsum of large operands")
    w.long = True
    w.call_step(steps[0], [w.pointer(a), w.pointer(b)], [made.pointer])
    result = _transposed(w, node, made, natural, output)
    w.how = "kernel"
    return [result]


def _arranged(w: Writer, held: Held, labels: Any, groups: list[list[Any]]) -> tuple[Held, bool]:
    """The operand as a batch of matrices, and whether these lie transposed."""
    batch, first, second = groups
    sizes = dict(zip(labels, held.shape, strict=True))

    def matrices(*order: list[Any]) -> tuple[int, ...]:
        return tuple([math.prod([sizes[n] for n in group]) for group in order])

    if [*labels] == [*batch, *first, *second]:
        return held.reshaped(matrices(*groups)), False
    if [*labels] == [*batch, *second, *first]:
        return held.reshaped(matrices(batch, second, first)), True
    order = [*batch, *first, *second]
    made = Held(held.kind, matrices(*groups), pointer=w.scratch(held.bytes))
    _copied_in_order(w, held, made, labels, order)
    return made, False


def _copied_in_order(w: Writer, held: Held, made: Held, labels: Any, order: Any) -> None:
    steps = [math.prod(held.shape[i + 1 :]) for i in range(len(held.shape))]
    places = [labels.index(n) for n in order]
    copied(
        w,
        held.kind,
        w.pointer(held),
        made.pointer,
        [held.shape[i] for i in places],
        [steps[i] for i in places],
        None,
    )


def _transposed(w: Writer, node: Node, held: Held, labels: Any, output: Any) -> Held:
    """A value with its dimensions in the order of the output."""
    if DOTS in labels or sorted(labels) != sorted(output) or len({*labels}) != len(labels):
        raise Unsupported("Einsum of one operand that is no transposition")
    shape = tuple([held.shape[labels.index(n)] for n in output])
    place = w.pointer(held)
    made = w.room(node.outputs[0], held.kind, shape)
    there = Held(held.kind, held.shape, pointer=place)
    _copied_in_order(w, there, made, list(labels), output)
    return made


lowering(raw.MatMul)(as_single(product))
lowering(raw.BatchMatMul, raw.BatchMatMulV2, raw.BatchMatMulV3)(as_single(batched))
lowering(raw.Einsum)(as_single(einsum))
