"""Variables of a native function: read without a copy, and written in place.

The caller passes pointers to a variable's value and to the new one, which are the same memory
unless the old value has other references. An assignment may therefore overwrite the result of a
read, and views of it. All of these reference the variable's block, and those that are used after
the assignment are copied before it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import shapes
from intaglio.base.dtypes import resource
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.memory_plan import Block
from intaglio.native.lowering.operands import ArrayOperand, Variable, takes
from intaglio.native.lowering.rules import lowering
from intaglio.opdef import raw

if TYPE_CHECKING:
    from intaglio.native.lowering.function import FunctionLowering

Value = Any


def copy_to_target(w: FunctionLowering, variable: Variable) -> None:
    """Copies a variable's value to the target of the new one, elements of which are then written."""
    size = ArrayOperand(*_contents(variable)).bytes
    elsewhere = w.code.let(f"icmp ne ptr {variable.pointer}, {variable.target}")
    with w.code.when(elsewhere):
        w.copy(variable.pointer, variable.target, size)
    variable.pointer = variable.target


def _contents(variable: Value) -> tuple[Any, tuple[int, ...]]:
    if not isinstance(variable, Variable) or not shapes.known(variable.spec.shape):
        raise Unsupported("a variable whose shape is not known")
    return kind_of(variable.spec.dtype.numpy), tuple(variable.spec.shape)


@lowering(raw.ReadVariableOp, raw._ReadVariablesOp)
@takes(Variable)
def read(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[ArrayOperand]:
    """ReadVariableOp, and _ReadVariablesOp for several."""
    return [there(w, v) for v in inputs]


def there(w: FunctionLowering, variable: Value) -> ArrayOperand:
    """The variable's value in place; a small one is loaded at once."""
    kind, shape = _contents(variable)
    operand = ArrayOperand(kind, shape, pointer=variable.pointer, blocks=variable.blocks)
    return w.in_registers(w.lanes(operand), shape) if operand.small else w.retain(operand)


# -- writing -----------------------------------------------------------------------------------


def overwritten(graph: Graph) -> frozenset[int]:
    """The positions of the graph's inputs that are variables which its branches and loops write."""
    indices = {id(v): i for i, v in enumerate(graph.inputs)}
    return frozenset(
        indices.get(id(resources.origin(value)), -1)
        for node in graph.nodes
        if node.op.has_graphs
        for i, value in enumerate(node.inputs)
        if resources.writes(node, i)
    ) - {-1}


def preserve(w: FunctionLowering, node: Node) -> None:
    """Copies live values in the memory of the variables that a node is about to write.

    An assignment has read its operand before it writes. A graph reads and writes in its own order.
    """
    scope = w.scopes[-1]
    until = scope.at if node.op is raw.AssignVariableOp else scope.at - 1
    for index, handle in enumerate(node.inputs):
        variable = scope.values[id(handle)]
        if not isinstance(variable, Variable) or not resources.writes(node, index):
            continue
        if variable.block is None:
            raise Unsupported("a variable that is written under another handle")
        copies: dict[Any, Value] = {}
        for key, value in scope.values.items():
            if _lies_in(value, variable) and scope.last.get(key, -1) > until:
                one = (value.pointer, *value.copy_key)
                copies[one] = w.retain(copies[one]) if one in copies else value.elsewhere(w)
                w.release(value)
                scope.values[key] = copies[one]


def _lies_in(value: Value, variable: Variable) -> bool:
    return not isinstance(value, Variable) and variable.block in value.blocks


@lowering(raw.AssignVariableOp)
@takes(Variable)
def assign(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value]:
    """AssignVariableOp."""
    variable, value = inputs
    kind, shape = _contents(variable)
    if value.shape != shape or value.kind != kind:
        raise Unsupported("a variable that gets a value of another shape")
    w.store(value, variable.target)
    w.written = True
    w.undoes |= len(w.scopes) > 1  # a guard may fail in the next iteration of a loop
    variable.pointer = variable.target
    return []


def written(w: FunctionLowering, variable: Value) -> ArrayOperand:
    """The value of a variable of which a node writes elements, in the memory of the new value."""
    kind, shape = _contents(variable)
    if not variable.target:
        raise Unsupported("a variable that is written under another handle")
    return ArrayOperand(kind, shape, pointer=variable.target)


def write_in_place(w: FunctionLowering, variable: Variable) -> None:
    """Prepares a variable for writes of elements: its value is copied to the target unless it is
    there."""
    if variable.pointer != variable.target:
        copy_to_target(w, variable)
    w.written = True
    w.undoes |= len(w.scopes) > 1


def targets(w: FunctionLowering, graph: Graph) -> dict[int, Variable]:
    """Values that may be computed directly into the variable that they are assigned to, by their
    ids.

    No node between the one that computes the value and the assignment may read the variable.
    Whether other values are still in its memory is checked by `target` when the value is computed.
    """
    found: dict[int, Variable] = {}
    positions = {id(n): i for i, n in enumerate(graph.nodes)}
    takers: dict[int, list[int]] = {}
    for number, node in enumerate(graph.nodes):
        for taken in node.inputs:
            if taken.dtype is resource:
                takers.setdefault(id(resources.origin(taken)), []).append(number)
    for number, node in enumerate(graph.nodes):
        if node.op is not raw.AssignVariableOp:
            continue
        handle, value = node.inputs
        assignment, variable = positions.get(id(value.node)), w.scopes[-1].values.get(id(handle))
        if assignment is None or not isinstance(variable, Variable):
            continue
        if not any(assignment <= taker < number for taker in takers[id(resources.origin(handle))]):
            found.setdefault(id(value), variable)
    return found


def target(w: FunctionLowering, value: SymbolicTensor) -> tuple[str, tuple[Block, ...]]:
    """The preferred pointer of an output of the node, and the blocks it references; "" if any will
    do."""
    scope = w.scopes[-1]
    pointer = scope.targets.pop(id(value), "")
    variable = scope.assigned.get(id(value)) if pointer else None
    if variable is None:
        return pointer, ()
    if _in_use(w, variable, value):
        return "", ()
    w.written = True
    return pointer, variable.blocks


def _in_use(w: FunctionLowering, variable: Variable, result: SymbolicTensor) -> bool:
    """True if a live value in a variable's memory would be overwritten by the node that writes
    `result` there.

    A loop over elements may overwrite what it reads.
    """
    scope, loop = w.scopes[-1], result.node.op is raw._FusedElementwise
    return any(
        _lies_in(value, variable)
        and (
            scope.last.get(key, -1) > scope.at
            or (scope.last.get(key) == scope.at and not (loop and _same_elements(value, result)))
        )
        for key, value in scope.values.items()
    )


def _same_elements(value: Value, result: SymbolicTensor) -> bool:
    """True if the elements of both are in the same memory."""
    size = kind_of(result.dtype.numpy).bytes
    return (
        isinstance(value, ArrayOperand) and value.shape == result.dims and value.kind.bytes == size
    )
