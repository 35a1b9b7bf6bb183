"""Batched matrix products, and Einsums that are such products."""

from __future__ import annotations

import math
from typing import Any

from intaglio.ir.graph import Node
from intaglio.native.kernels import matmul, narrow_matmul
from intaglio.native.llvm.vectors import DOUBLE, FLOAT, Unsupported
from intaglio.native.lowering import integer_matmul
from intaglio.native.lowering.data_movement import copied
from intaglio.native.lowering.function import FunctionLowering, Rule, Value
from intaglio.native.lowering.half import as_single
from intaglio.native.lowering.kernel_calls import call_steps, stepped
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw
from intaglio.ops.linalg.einsum import DOTS, terms


def product(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """MatMul."""
    a, b = inputs
    transposed = node.attrs["transpose_a"], node.attrs["transpose_b"]
    if a.kind in (FLOAT, DOUBLE) or _form(node):
        return stepped(w, node, products(node, a.shape, b.shape, *transposed), inputs)
    a, b = (_swap_last_axes(w, h) if t else h for h, t in zip(inputs, transposed, strict=True))
    return integer_matmul.product(w, node, [a, b])


def _form(node: Node) -> narrow_matmul.Form | None:
    """The form of the processor's matrix instruction for the node's dtypes, if it has one."""
    dtypes = [v.dtype.numpy for v in (*node.inputs, *node.outputs)]
    return narrow_matmul.form_of(*dtypes) if len(dtypes) == 3 else None


def by_registers(rule: Rule) -> Rule:
    """The rule for 16-bit floats: unchanged where the processor multiplies their matrices, else as
    float32."""
    single = as_single(rule)

    def choose(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
        return (rule if _form(node) else single)(w, node, inputs)

    return choose


def _swap_last_axes(w: FunctionLowering, operand: ArrayOperand) -> ArrayOperand:
    """The transposed matrix."""
    rows, columns = operand.shape
    transposed = ArrayOperand(operand.kind, (columns, rows), pointer=w.scratch(operand.bytes))
    copied(
        w,
        operand.kind,
        w.pointer(operand),
        transposed.pointer,
        transposed.shape,
        (1, columns),
        None,
    )
    return transposed


def batched(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """BatchMatMul and its versions."""
    a, b = inputs
    transposed = node.attrs["adj_x"], node.attrs["adj_y"]
    alike = a.kind in (FLOAT, DOUBLE) and a.kind == b.kind == w.kind(node.outputs[0])
    if not (alike or _form(node)):
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    if min(len(a.shape), len(b.shape)) < 2:
        raise Unsupported(f"{node.op.name} of vectors")
    run = products(node, a.shape, b.shape, *transposed)
    (product,) = stepped(w, node, run, inputs)
    return [product.reshaped(_shape(a.shape, b.shape, *transposed))]


def products(
    node: Node, a: tuple[int, ...], b: tuple[int, ...], transposed_a: bool, transposed_b: bool
) -> Any:
    """The kernel of a node's batched products; a single product is a batch of one."""
    form, dtype = _form(node), node.outputs[0].dtype.numpy
    kernels: Any = matmul if form is None else narrow_matmul
    rest: Any = (dtype,) if form is None else (form, dtype)
    if math.prod(a[:-2]) == math.prod(b[:-2]) == 1:
        return kernels.product(a[-2:], b[-2:], transposed_a, transposed_b, *rest)
    return kernels.products(a, b, transposed_a, transposed_b, *rest)


def _shape(
    a: tuple[int, ...], b: tuple[int, ...], transposed_a: bool, transposed_b: bool
) -> tuple[int, ...]:
    rows = a[-1] if transposed_a else a[-2]
    columns = b[-2] if transposed_b else b[-1]
    lead = max(a[:-2], b[:-2], key=lambda s: (math.prod(s), len(s)))
    rank = max(len(a), len(b)) - 2
    return (*(1,) * (rank - len(lead)), *lead, rows, columns)


def einsum(w: FunctionLowering, node: Node, inputs: list[Any]) -> list[ArrayOperand]:
    """Einsum of two operands that is a matrix product, batched or not."""
    labels, output = terms(node.attrs["equation"])
    if len(inputs) == 1:
        return [_transposed(w, node, inputs[0], labels[0], output)]
    kind = inputs[0].kind
    if kind not in (FLOAT, DOUBLE) and not _form(node):
        raise Unsupported(f"Einsum of {node.outputs[0].dtype.name}")
    (left, right), (a, b) = labels, inputs
    sizes: dict[Any, int] = {}
    for names, operand in ((left, a), (right, b)):
        if DOTS in names or len({*names}) != len(names) != 0 or len(names) != len(operand.shape):
            raise Unsupported("Einsum of dots, or of diagonals")
        sizes |= dict(zip(names, operand.shape, strict=True))
    batch = [n for n in left if n in right and n in output]
    summed = [n for n in left if n in right and n not in output]
    rows = [n for n in left if n not in right]
    columns = [n for n in right if n not in left]
    if {*rows, *columns} - {*output} or not all(h.count for h in inputs):
        raise Unsupported("Einsum that sums over one operand")
    a, transposed_a = _arranged(w, a, left, [batch, rows, summed])
    b, transposed_b = _arranged(w, b, right, [batch, summed, columns])
    run = products(node, a.shape, b.shape, transposed_a, transposed_b)
    natural = [*batch, *rows, *columns]
    shape = tuple([sizes[n] for n in natural])
    if natural == [*output]:
        (product,) = stepped(w, node, run, [a, b])
        return [product.reshaped(shape)]
    product = ArrayOperand(kind, shape, pointer=w.scratch(kind.bytes * math.prod(shape)))
    steps = getattr(run, "steps", None)
    if not steps:
        raise Unsupported("Einsum of large operands")
    last = 1 + sum([len(step.results) for step in steps])
    call_steps(w, run, [w.pointer(a), w.pointer(b)], {last: product.pointer})
    return [_transposed(w, node, product, natural, output)]


def _arranged(
    w: FunctionLowering, operand: ArrayOperand, labels: Any, groups: list[list[Any]]
) -> tuple[ArrayOperand, bool]:
    """The operand as a batch of matrices, and whether these are transposed."""
    batch, first, second = groups
    sizes = dict(zip(labels, operand.shape, strict=True))

    def matrices(*order: list[Any]) -> tuple[int, ...]:
        return tuple([math.prod([sizes[n] for n in group]) for group in order])

    if [*labels] == [*batch, *first, *second]:
        return operand.reshaped(matrices(*groups)), False
    if [*labels] == [*batch, *second, *first]:
        return operand.reshaped(matrices(batch, second, first)), True
    # Adjacent elements stay adjacent if the last label stays the last.
    is_transposed = bool(labels) and labels[-1] in first
    inner = [second, first] if is_transposed else [first, second]
    arranged = ArrayOperand(operand.kind, matrices(batch, *inner), pointer=w.scratch(operand.bytes))
    _copied_in_order(w, operand, arranged, labels, [*batch, *inner[0], *inner[1]])
    return arranged, is_transposed


def _copied_in_order(
    w: FunctionLowering, operand: ArrayOperand, target: ArrayOperand, labels: Any, order: Any
) -> None:
    steps = [math.prod(operand.shape[i + 1 :]) for i in range(len(operand.shape))]
    axes = [labels.index(n) for n in order]
    copied(
        w,
        operand.kind,
        w.pointer(operand),
        target.pointer,
        [operand.shape[i] for i in axes],
        [steps[i] for i in axes],
        None,
    )


def _transposed(
    w: FunctionLowering, node: Node, operand: ArrayOperand, labels: Any, output: Any
) -> ArrayOperand:
    """A value transposed to the order of the output's labels."""
    if DOTS in labels or sorted(labels) != sorted(output) or len({*labels}) != len(labels):
        raise Unsupported("Einsum of one operand that is no transposition")
    shape = tuple([operand.shape[labels.index(n)] for n in output])
    pointer = w.pointer(operand)
    result = w.allocate(node.outputs[0], operand.kind, shape)
    there = ArrayOperand(operand.kind, operand.shape, pointer=pointer)
    _copied_in_order(w, there, result, list(labels), output)
    return result


lowering(raw.MatMul)(by_registers(product))
lowering(raw.BatchMatMul, raw.BatchMatMulV2, raw.BatchMatMulV3)(by_registers(batched))
lowering(raw.Einsum)(by_registers(einsum))
