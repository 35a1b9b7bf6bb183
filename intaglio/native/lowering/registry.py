"""What native functions have code for: a rule for each op, besides those with a `scalar` rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.errors import OpError
from intaglio.ir.graph import Node
from intaglio.native.kernels import softmax
from intaglio.native.kernels.node_selection import CHOICES, has_choice, kernel_of
from intaglio.native.kernels.sequence import has_steps
from intaglio.native.llvm.vectors import BOOL, Lanes, Unsupported
from intaglio.native.lowering import (
    adapters,
    batch_matmul,
    batch_normalization,
    control_flow,
    data_movement,
    division,
    dynamic_rows,
    gather_scatter,
    random,
    random_choice,
    recurrent_cell,
    reductions,
    resize,
    scans,
    tensor_lists,
    top_k,
    variables,
)
from intaglio.native.lowering.elementwise import elementwise, fused
from intaglio.native.lowering.function import Rule, Value, Writer
from intaglio.native.lowering.half import as_single
from intaglio.native.lowering.kernel_calls import stepped
from intaglio.native.lowering.operands import Held, Variable, takes


def kernel(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """An op that a compiled kernel does: a call of it, with the caller's memory."""
    if any(not isinstance(h, Held) for h in inputs) or not has_choice(node):
        raise Unsupported(f"{node.op.name} of {node.outputs[0].dtype.name}")
    arrays = [
        np.empty(h.shape, v.dtype.numpy) if h.known is None else h.known
        for v, h in zip(node.inputs, inputs, strict=True)
    ]
    if any(h.known is None and h.kind.letter in "iu" for h in inputs):
        raise Unsupported(f"{node.op.name} whose sizes are data")
    return stepped(w, node, _chosen(node, arrays), inputs)


def _chosen(node: Node, arrays: list[Any]) -> Any:
    """The kernel for arrays of these shapes, None if there is none."""
    try:
        return CHOICES[node.op.name](node.attrs, *arrays)
    except (OpError, ValueError, IndexError):
        raise Unsupported(f"{node.op.name} that fails") from None


single_kernel = as_single(kernel)


def _is_single(node: Node) -> bool:
    """True for an op that is computed as float32."""
    dtype = node.outputs[0].dtype
    return dtype.is_floating and dtype.size <= 4


def lacking(node: Node) -> str:
    """Why a node of known shapes has no kernel, where only a kernel can do it; else nothing.

    `kernel` would say so as well, but of one node at a time, when much is written already.
    """
    if RULES.get(node.op.name) is not single_kernel:
        return ""
    if not has_choice(node) and not _is_single(node):
        return ""
    arrays: list[Any] = []
    for value in node.inputs:
        if value.node.op.name == "Const":
            arrays.append(value.node.attrs["value"])
        elif value.dtype.is_integer:
            return ""  # it may be known once more is
        elif shapes.known(value.dims):
            arrays.append(np.empty(value.dims, value.dtype.numpy))
        else:
            return ""
    try:
        run = _chosen(node, arrays)
    except Unsupported as e:
        return str(e)
    sizes = ", ".join([str(a.shape) for a in arrays])
    return "" if has_steps(run) else f"{node.op.name} of {sizes}"


def compiled_part(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """What is one kernel of several ops: a layer, or what goes along rows."""
    return stepped(w, node, kernel_of(node), inputs)


def sparse_cross_entropy(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """Cross entropies of labels that are places; one that is outside of its row is refused."""
    logits, labels = inputs
    run: Any = softmax.sparse_cross_entropy(logits.shape, node.inputs[0].dtype.numpy)
    if run is None or len(logits.shape) != 2 or labels.shape != logits.shape[:1]:
        raise Unsupported(f"{node.op.name} of {logits.shape}")
    numbers = gather_scatter.numbered(w, labels, logits.shape[1:])
    (step,) = run.steps
    made = [
        w.room(value, logits.kind, shape)
        for value, (shape, _) in zip(node.outputs, step.results, strict=True)
    ]
    given = [w.pointer(logits), w.pointer(numbers)]
    w.call_step(step, given, [h.pointer for h in made])
    w.how = "kernel"
    return made


def reduction(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """A reduction: of small values in registers, of others by a kernel."""
    rule = reductions.reduction if inputs[0].small else as_single(reductions.of_memory)
    return rule(w, node, inputs)


@takes(tensor_lists.HeldList, Variable)
def identity(w: Writer, node: Node, inputs: list[Value]) -> list[Value]:
    """The values themselves."""
    return [w.also(v) for v in control_flow.lent(w, node, inputs, 0)]


def slice_(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """A slice; where it begins may be data, if it is one row."""
    if all(h.known is not None for h in inputs[1:]):
        return data_movement.moved(w, node, inputs)
    return dynamic_rows.sliced(w, node, inputs)


def window(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """A slice of a size; where it begins may be data."""
    if all(h.known is not None for h in inputs[1:]):
        return data_movement.moved(w, node, inputs)
    return adapters.window(w, node, inputs)


def gather(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """Elements or rows of an index."""
    source, at = inputs[:2]
    known = at.known is not None and inputs[-1].known is not None
    if known and (source.small or at.shape):
        return data_movement.moved(w, node, inputs)
    along = inputs[2].known if len(inputs) > 2 else 0
    if not at.shape and along is not None and int(along) in (0, -len(source.shape)):
        return dynamic_rows.gathered(w, node, source, at)
    return gather_scatter.gathered(w, node, inputs)


@takes(Variable)
def gather_from_variable(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """ResourceGather: rows of a variable, where it lies."""
    table = variables.there(w, inputs[0])
    batch = node.attrs["batch_dims"] % (len(inputs[1].shape) + 1)
    return [gather_scatter.taken(w, node, table, inputs[1], batch, batch)]


def slices(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """GatherNd, ScatterNd and TensorScatterUpdate: where the places are known, an order."""
    known = [
        h.known is not None
        for i, h in enumerate(inputs)
        if i not in data_movement.DATA[node.op.name]
    ]
    if all(known):
        try:
            return data_movement.moved(w, node, inputs)
        except Unsupported:  # places repeat
            pass
    return gather_scatter.RULES[node.op.name](w, node, inputs)


def nothing(w: Writer, node: Node, inputs: list[Value]) -> list[Value]:
    """NoOp."""
    return []


def like(number: int) -> Rule:
    """ZerosLike and OnesLike."""

    @takes(tensor_lists.HeldList)
    def rule(w: Writer, node: Node, inputs: list[Value]) -> list[Value]:
        (held,) = inputs
        if isinstance(held, tensor_lists.HeldList) and not number:
            return [tensor_lists.zeros(w, held)]
        if not isinstance(held, Held):
            raise Unsupported(f"{node.op.name} of a list")
        dtype = node.outputs[0].dtype.numpy
        return [Held(held.kind, held.shape, known=np.full(held.shape, number, dtype))]

    return rule


def asserted(w: Writer, node: Node, inputs: list[Value]) -> list[Value]:
    """Assert: the interpreter says what is wrong."""
    (held, *_) = inputs
    if held.known is None or not held.known.all():
        w.demand(control_flow.truth(w, held))
    return []


def condition(w: Writer, node: Node, inputs: list[Value]) -> list[Held]:
    """ToBool: what a value means as a condition."""
    test = control_flow.truth(w, inputs[0])
    vector = w.code.let(f"insertelement <1 x i1> poison, i1 {test}, i64 0")
    return [w.in_registers(Lanes(BOOL, (vector,)), ())]


RULES: dict[str, Any] = {
    **dict.fromkeys(CHOICES, single_kernel),
    **dict.fromkeys(data_movement.DATA, data_movement.moved),
    **dict.fromkeys(data_movement.JOINS, data_movement.joined),
    **dict.fromkeys(reductions.OPS, reduction),
    **scans.RULES,
    **random.RULES,
    **random_choice.RULES,
    **resize.RULES,
    **adapters.RULES,
    **gather_scatter.RULES,
    **dict.fromkeys(("GatherNd", "ScatterNd", "TensorScatterUpdate"), slices),
    **control_flow.RULES,
    **tensor_lists.RULES,
    **{name: takes(Variable)(rule) for name, rule in variables.RULES.items()},
    "_FusedElementwise": fused,
    "_FusedCell": recurrent_cell.written,
    **dict.fromkeys(("_FusedLayers", "_FusedRows"), compiled_part),
    **dict.fromkeys(division.DIVISIONS, division.division),
    **{name: as_single(rule) for name, rule in batch_matmul.RULES.items()},
    "SparseSoftmaxCrossEntropyWithLogits": as_single(sparse_cross_entropy),
    **batch_normalization.RULES,
    **dict.fromkeys(("Identity", "StopGradient", "IdentityN", "PreventGradient"), identity),
    "StridedSlice": slice_,
    "Slice": window,
    "GatherV2": gather,
    "Gather": gather,
    "ResourceGather": gather_from_variable,
    "TopKV2": top_k.top_k,
    "Assert": asserted,
    "NoOp": nothing,
    "_AddAt": dynamic_rows.add_at,
    "ToBool": condition,
    "ZerosLike": like(0),
    "OnesLike": like(1),
}


def has_code(name: str) -> bool:
    """True if an op of this name may have code."""
    return name in RULES


__all__ = ["RULES", "elementwise", "has_code", "lacking"]
