"""The lowering of each op: its own rule, or one by its traits, kernels or `scalar` rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.errors import OpError
from intaglio.ir.graph import Node
from intaglio.native.kernels import softmax
from intaglio.native.kernels.node_selection import choice_of, has_choice, kernel_of
from intaglio.native.kernels.reductions import has_code as has_kernel
from intaglio.native.kernels.sequence import has_steps
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering import (
    adapters,
    batch_matmul,
    batch_normalization,
    control_flow,
    data_movement,
    division,
    dynamic_rows,
    element_loops,
    fourier,
    gather_scatter,
    random,
    random_choice,
    recurrent_cell,
    reductions,
    resize,
    scans,
    searching,
    small_matrices,
    tensor_lists,
    top_k,
    variables,
)
from intaglio.native.lowering.elementwise import elementwise, fused
from intaglio.native.lowering.function import FunctionLowering, Rule, Value
from intaglio.native.lowering.half import as_single
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import ArrayOperand, Variable, takes
from intaglio.native.lowering.rules import LOWERINGS, lowering
from intaglio.opdef import raw
from intaglio.opdef.op import Op

# Importing these fills the table of lowerings.
FAMILIES = (
    adapters,
    batch_matmul,
    batch_normalization,
    division,
    element_loops,
    fourier,
    random,
    random_choice,
    resize,
    scans,
    searching,
    small_matrices,
)


def kernel(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """An op with a kernel: a call of it, with the caller's memory."""
    if any(not isinstance(h, ArrayOperand) for h in inputs) or not has_choice(node):
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    arrays = [
        np.empty(h.shape, v.dtype.numpy) if h.known is None else h.known
        for v, h in zip(node.inputs, inputs, strict=True)
    ]
    if any(h.known is None and h.kind.letter in "iu" for h in inputs):
        raise Unsupported(f"{node.op.name} whose sizes are data")
    run = _chosen(node, arrays)
    if run is None and _is_short(node):
        return as_single(kernel)(w, node, inputs)
    return stepped(w, node, run, inputs)


def _chosen(node: Node, arrays: list[Any]) -> Any:
    """The kernel for arrays of these shapes, None if there is none."""
    choose = choice_of(node.op)
    assert choose is not None
    try:
        return choose(node.attrs, *arrays)
    except (OpError, ValueError, IndexError):
        raise Unsupported(f"{node.op.name} that fails") from None


def single_kernel(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """The same; of 16-bit floats, where there is no kernel for them, as float32."""
    rule = kernel if has_choice(node) else as_single(kernel)
    return rule(w, node, inputs)


def _is_short(node: Node) -> bool:
    """True for an op of 16-bit floats."""
    dtype = node.outputs[0].dtype
    return dtype.is_floating and dtype.size == 2


def _is_single(node: Node) -> bool:
    """True for an op that is computed as float32."""
    dtype = node.outputs[0].dtype
    return dtype.is_floating and dtype.size <= 4


def lacking(node: Node) -> str:
    """The reason why a node of known shapes has no kernel, if it needs one; else "".

    `kernel` would raise it as well, but for one node at a time, after much code is emitted.
    """
    if lowering_of(node.op) is not single_kernel:
        return ""
    if not has_choice(node) and not _is_single(node):
        return ""
    arrays: list[Any] = []
    for value in node.inputs:
        if value.node.op is raw.Const:
            arrays.append(value.node.attrs["value"])
        elif value.dtype.is_integer:
            return ""  # it may be constant
        elif shapes.known(value.dims):
            short = value.dtype.is_floating and value.dtype.size == 2
            arrays.append(np.empty(value.dims, "f4" if short else value.dtype.numpy))
        else:
            return ""
    try:
        run = _chosen(node, arrays)
    except Unsupported as e:
        return str(e)
    sizes = ", ".join([str(a.shape) for a in arrays])
    return "" if has_steps(run) else f"{node.op.name} of {sizes}"


@lowering(raw._FusedLayers, raw._FusedRows)
def compiled_part(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """A node that is one kernel: a fused layer, or ops along rows."""
    return stepped(w, node, kernel_of(node), inputs)


def sparse_cross_entropy(
    w: FunctionLowering, node: Node, inputs: list[Value]
) -> list[ArrayOperand]:
    """Cross entropies of labels that are indices, guarded to be within bounds."""
    logits, labels = inputs
    run: Any = softmax.sparse_cross_entropy(logits.shape, node.inputs[0].dtype.numpy)
    if run is None or len(logits.shape) != 2 or labels.shape != logits.shape[:1]:
        raise Unsupported(f"{node.op.name} of {logits.shape}")
    numbers = gather_scatter.numbered(w, labels, logits.shape[1:])
    (step,) = run.steps
    results = [
        w.allocate(value, logits.kind, shape)
        for value, (shape, _) in zip(node.outputs, step.results, strict=True)
    ]
    pointers = [w.pointer(logits), w.pointer(numbers)]
    w.call_step(step, pointers, [h.pointer for h in results])
    w.how = "kernel"
    return results


def reduction(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """A reduction: of small values in registers, of others by a kernel."""
    if inputs[0].small:
        return reductions.reduction(w, node, inputs)
    direct = has_kernel(node.op.reduces, node.inputs[0].dtype.numpy)
    rule = reductions.of_memory if direct else as_single(reductions.of_memory)
    return rule(w, node, inputs)


@lowering(raw.Identity, raw.StopGradient, raw.IdentityN, raw.PreventGradient)
@takes(tensor_lists.ListOperand, Variable)
def identity(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """The operands themselves."""
    return [w.retain(v) for v in control_flow.borrowed(w, node, inputs, 0)]


@lowering(raw.StridedSlice)
def slice_(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """A slice; of a single row, the index may be dynamic."""
    if all(h.known is not None for h in inputs[1:]):
        return data_movement.moved(w, node, inputs)
    return dynamic_rows.sliced(w, node, inputs)


@lowering(raw.Slice)
def window(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """A slice of a static size; its start may be dynamic."""
    if all(h.known is not None for h in inputs[1:]):
        return data_movement.moved(w, node, inputs)
    return adapters.window(w, node, inputs)


@lowering(raw.GatherV2, raw.Gather)
def gather(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """Elements or rows at indices."""
    source, at = inputs[:2]
    known = at.known is not None and inputs[-1].known is not None
    if known and (source.small or at.shape):
        return data_movement.moved(w, node, inputs)
    along = inputs[2].known if len(inputs) > 2 else 0
    if not at.shape and along is not None and int(along) in (0, -len(source.shape)):
        return dynamic_rows.gathered(w, node, source, at)
    return gather_scatter.gathered(w, node, inputs)


@lowering(raw.ResourceGather)
@takes(Variable)
def gather_from_variable(
    w: FunctionLowering, node: Node, inputs: list[Value]
) -> list[ArrayOperand]:
    """ResourceGather: rows of a variable, without a copy of it."""
    table = variables.there(w, inputs[0])
    batch = node.attrs["batch_dims"] % (len(inputs[1].shape) + 1)
    return [gather_scatter.taken(w, node, table, inputs[1], batch, batch)]


def ordered_or(rule: Rule) -> Rule:
    """The lowering of an op on indices: by an index map if they are constant, else `rule`."""

    def slices(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
        data = node.op.data_inputs
        names = node.op.input_names
        if all(h.known is not None for n, h in zip(names, inputs, strict=True) if n not in data):
            try:
                return data_movement.moved(w, node, inputs)
            except Unsupported:  # indices repeat
                pass
        return rule(w, node, inputs)

    return slices


@lowering(raw.NoOp)
def nothing(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """NoOp."""
    return []


def like(number: int) -> Rule:
    """ZerosLike and OnesLike."""

    @takes(tensor_lists.ListOperand)
    def rule(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
        (operand,) = inputs
        if isinstance(operand, tensor_lists.ListOperand) and not number:
            return [tensor_lists.zeros(w, operand)]
        if not isinstance(operand, ArrayOperand):
            raise Unsupported(f"{node.op.name} of a list")
        dtype = node.outputs[0].dtype.numpy
        return [
            ArrayOperand(operand.kind, operand.shape, known=np.full(operand.shape, number, dtype))
        ]

    return rule


@lowering(raw.Assert, raw._Refusal)
def asserted(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """Assert and _Refusal: a guard; the interpreter raises the error."""
    (operand, *_) = inputs
    if operand.known is None or not operand.known.all():
        w.guard(control_flow.truth(w, operand))
    return []


lowering(raw._FusedElementwise)(fused)
lowering(raw._FusedCell)(recurrent_cell.written)
lowering(raw.TopKV2)(top_k.top_k)
lowering(raw._AddAt)(dynamic_rows.add_at)
lowering(raw.ZerosLike)(like(0))
lowering(raw.OnesLike)(like(1))
lowering(raw.SparseSoftmaxCrossEntropyWithLogits)(as_single(sparse_cross_entropy))
lowering(raw.GatherNd)(ordered_or(gather_scatter.gathered_nd))


@lowering(raw.ScatterNd)
def scattered_nd(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """ScatterNd: integers at constant indices are copied; a float is added to 0, where -0 gives 0."""
    dtype = node.outputs[0].dtype
    if dtype.is_floating or dtype.is_complex:
        return gather_scatter.scattered_nd(w, node, inputs)
    return ordered_or(gather_scatter.scattered_nd)(w, node, inputs)


lowering(raw.TensorScatterUpdate)(ordered_or(gather_scatter.scattered))


def lowering_of(op: Op) -> Rule | None:
    """The lowering of an op: its own, or one by its traits and its kernels; None if it has none.

    Ops with a `scalar` rule and no lowering are `elementwise`.
    """
    own = LOWERINGS.get(op.name)
    if own is not None:
        return own
    if op.reduces:
        return reduction
    if op.data_inputs:
        return data_movement.moved
    return None if choice_of(op) is None else single_kernel


def has_code(op: Op) -> bool:
    """True if an op has code for some dtypes and shapes."""
    return lowering_of(op) is not None


__all__ = ["FAMILIES", "elementwise", "has_code", "lacking", "lowering_of"]
