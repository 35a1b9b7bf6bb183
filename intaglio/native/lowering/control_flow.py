"""Control flow of a native function: branches and loops as basic blocks, values at joins as phis.

Loop-carried values are in registers, or in two buffers that alternate: the body reads from one and
writes to the other. Loop invariants, which a body returns unchanged, have no phi. Bodies are
emitted once.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from intaglio.ir.graph import Graph, Node
from intaglio.native.llvm.vectors import BOOL, Lanes, Unsupported
from intaglio.native.lowering import parallel_loops, recurrent_cell, tensor_lists, variables
from intaglio.native.lowering.function import FunctionLowering, Value
from intaglio.native.lowering.loop_carried import handed_on, used_later
from intaglio.native.lowering.operands import ArrayOperand, Variable, takes
from intaglio.native.lowering.rules import lowering
from intaglio.native.lowering.tensor_lists import ListOperand
from intaglio.opdef import raw

# Graphs that use the rows of a list, whose number is dynamic, have no code.
takes_handles = takes(ListOperand, Variable)


@lowering(raw.PartitionedCall, raw.StatefulPartitionedCall)
@takes_handles
def called(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """A call, inlined."""
    return w.graph(node.attrs["f"], borrowed(w, node, inputs, 0))


# -- branches ------------------------------------------------------------------------------


def truth(w: FunctionLowering, operand: ArrayOperand) -> str:
    """The truth value of an operand as a condition, as i1."""
    if operand.shape:
        return "true" if operand.count else "false"
    lanes = w.builder(1).converted(w.lanes(operand), BOOL)
    return w.code.let(f"extractelement <1 x i1> {lanes.names[0]}, i64 0")


@lowering(raw.If, raw.StatelessIf)
@takes_handles
def choice(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """If: one of two graphs."""
    condition, operands = inputs[0], borrowed(w, node, inputs, 1)
    branches = [node.attrs[k] for k in ("then_branch", "else_branch")]
    if condition.known is not None:
        taken = branches[0 if condition.known.any() else 1]
        return w.graph(taken, operands)
    yes, no = w.code.new_label("then"), w.code.new_label("else")
    w.code.branch(truth(w, condition), yes, no)
    return _joined(w, node, list(zip((yes, no), branches, strict=True)), operands)


@lowering(raw.Case, raw.StatelessCase)
@takes_handles
def case(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """Case: the graph of an index; the last one for an index out of bounds."""
    branches = node.attrs["branches"]
    labels = [w.code.new_label("case") for _ in branches]
    index = w.scalar(inputs[0])
    cases = " ".join([f"i32 {i}, label %{label}" for i, label in enumerate(labels)])
    w.code.do(f"switch i32 {index}, label %{labels[-1]} [ {cases} ]")
    return _joined(w, node, list(zip(labels, branches, strict=True)), borrowed(w, node, inputs, 1))


def _joined(
    w: FunctionLowering, node: Node, branches: Sequence[tuple[str, Graph]], arguments: list[Value]
) -> list[Value]:
    """The results of the branch that is taken, as phis."""
    code, after = w.code, w.code.new_label("join")
    targets_and_blocks = [variables.target(w, v) for v in node.outputs]
    targets = [pointer for pointer, _ in targets_and_blocks]
    ends: list[tuple[str, list[Value]]] = []
    for label, graph in branches:
        code.label(label)
        results = [materialized(w, v) for v in w.graph(graph, arguments, targets)]
        ends.append((code.block, results))
        code.jump(after)
    code.label(after)
    w.how = "branch"
    columns = list(zip(*[results for _, results in ends], strict=True))
    operands = [_phi_of(w, [b for b, _ in ends], list(column)) for column in columns]
    for value, (_, blocks) in zip(operands, targets_and_blocks, strict=True):
        if blocks and isinstance(value, ArrayOperand) and not value.small:
            value.blocks += blocks
            for block in blocks:
                w.arena.hold(block)
    return operands


def materialized(w: FunctionLowering, operand: Value) -> Value:
    """The operand in the form that phis expect, materialised in the current block."""
    if not isinstance(operand, ArrayOperand):
        return operand
    copied = operand.reshaped(operand.shape)
    if not copied.small:
        copied.pointer = w.pointer(operand)
    elif copied.known is None:
        copied.lanes = w.lanes(operand)
    return copied


def _phi_of(w: FunctionLowering, blocks: Sequence[str], values: list[Value]) -> Value:
    first = values[0]
    if not all(isinstance(v, type(first)) for v in values):
        raise Unsupported("branches that give unlike values")
    if not isinstance(first, ArrayOperand):
        return first.join(w, blocks, values)
    if any(v.shape != first.shape or v.kind != first.kind for v in values):
        raise Unsupported("branches that give values of unlike dtypes or shapes")
    if first.small:
        names = [w.lanes(v).names[0] for v in values]
        kind = f"<{first.count} x {first.kind.llvm}>"
        phi = w.code.phi(kind)
        w.code.arrive(phi, *zip(names, blocks, strict=True))
        for v in values:
            w.release(v)
        return w.in_registers(Lanes(first.kind, (phi.name,)), first.shape)
    pointers = [v.pointer for v in values]
    operand = [b for v in values for b in v.blocks]
    if len({*pointers}) == 1:
        return ArrayOperand(first.kind, first.shape, pointer=pointers[0], blocks=operand)
    phi = w.code.phi("ptr")
    w.code.arrive(phi, *zip(pointers, blocks, strict=True))
    return ArrayOperand(first.kind, first.shape, pointer=phi.name, blocks=operand)


# -- loops ---------------------------------------------------------------------------------


@lowering(raw.While, raw.StatelessWhile)
@takes_handles
def loop(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """While: a body that runs while a condition holds."""
    divided = parallel_loops.divided(w, node, inputs)
    if divided is not None:
        return divided
    cond, body, code = node.attrs["cond"], node.attrs["body"], w.code
    w.long = True
    recurrent_cell.pack(w, body, inputs)
    changing = [
        i for i, (a, b) in enumerate(zip(body.inputs, body.outputs, strict=True)) if a is not b
    ]
    carried = {i: handed_on(w, node, inputs[i], (cond, body), i) for i in changing}
    before, head = code.block, code.new_label("loop")
    inside, after = code.new_label("iteration"), code.new_label("done")
    code.jump(head)
    code.label(head)
    state = borrowed(w, node, inputs, 0, carried)
    for i, t in carried.items():
        state[i] = t.head()
    (condition,) = w.graph(cond, state)
    if not isinstance(condition, ArrayOperand) or condition.shape:
        raise Unsupported("a loop whose condition is no scalar")
    code.branch(truth(w, condition), inside, after)
    w.release(condition)
    code.label(inside)
    w.poll()
    targets = [carried[i].next if i in carried else "" for i in range(len(state))]
    results = w.graph(body, state, targets, tensor_lists.dests_in_state(w, body, state))
    names = {i: t.iteration(results[i]) for i, t in carried.items()}
    back = code.block
    code.jump(head)
    for operand in results:
        w.release(operand)
    for i, t in carried.items():
        t.close(before, back, names[i])
    code.label(after)
    w.how = "jump"
    return [carried[i].after(s) if i in carried else w.retain(s) for i, s in enumerate(state)]


def borrowed(
    w: FunctionLowering, node: Node, inputs: list[Value], first: int, but: Container[int] = ()
) -> list[Value]:
    """Inputs of a graph; lists that are used afterwards are passed as borrowed: it must not update
    them."""
    operands: list[Value] = []
    for i, value in enumerate(inputs[first:], first):
        if isinstance(value, ListOperand) and i not in but:
            tensor_lists.allocated(w, value)
            operands.append(value.borrowed() if used_later(w, node, i) else value)
        else:
            operands.append(value)
    return operands
