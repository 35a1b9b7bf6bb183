"""Loop-carried values: in registers, in two buffers that alternate, or in place."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Graph, Node
from intaglio.native.analysis.loops import changes_rows
from intaglio.native.llvm.builder import Phi
from intaglio.native.llvm.vectors import Lanes, Unsupported
from intaglio.native.lowering.function import FunctionLowering, Value
from intaglio.native.lowering.memory_plan import OUTSIDE, Block
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.tensor_lists import CarriedList, ListOperand, clear
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT


class CarriedBuffer:
    """A loop-carried value."""

    def __init__(self, w: FunctionLowering, first: ArrayOperand) -> None:
        self.w = w
        self.first = first
        self.blocks: list[Block] = []
        if first.small:
            self.start = w.lanes(first).names
            self.kinds = (f"<{first.count} x {first.kind.llvm}>",)
        else:
            here = [w.allocate_bytes(first.bytes) for _ in range(2)]
            self.blocks = [b for _, b in here]
            # The pointers of the current value, of the next, and of the one after that.
            self.start = (w.pointer(first), here[0][0], here[1][0])
            self.kinds = ("ptr", "ptr", "ptr")
        self.phis: list[Phi] = []

    @property
    def next(self) -> str:
        """The pointer that the body should write to, if it writes to memory."""
        return "" if self.first.small else self.phis[1].name

    def head(self) -> ArrayOperand:
        """The value at the start of an iteration."""
        first, code = self.first, self.w.code
        self.phis = [code.phi(k) for k in self.kinds]
        name = self.phis[0].name
        if first.small:
            return self.w.in_registers(Lanes(first.kind, (name,)), first.shape)
        return ArrayOperand(first.kind, first.shape, pointer=name)

    def iteration(self, result: Value) -> tuple[str, ...]:
        """The incoming values of the phis for the next iteration. Raises Unsupported if the shape
        changes."""
        first = self.first
        if (
            not isinstance(result, ArrayOperand)
            or result.shape != first.shape
            or result.kind != first.kind
        ):
            raise Unsupported("a loop variable whose dtype or shape changes")
        if first.small:
            return self.w.lanes(result).names
        self.w.store(result, self.next)
        return (self.phis[1].name, self.phis[2].name, self.phis[1].name)

    def close(self, before: str, back: str, names: tuple[str, ...]) -> None:
        """Completes the phis."""
        for phi, start, name in zip(self.phis, self.start, names, strict=True):
            self.w.code.arrive(phi, (start, before), (name, back))

    def after(self, head: ArrayOperand) -> ArrayOperand:
        """The value after the loop."""
        head.blocks = (*self.blocks, *self.w.retain(self.first).blocks)
        return head


class InPlace:
    """A large value of which each iteration updates a row in place."""

    def __init__(self, w: FunctionLowering, first: ArrayOperand, used_later: bool) -> None:
        self.first = first
        is_sole_use = [b.holders for b in first.blocks if b.offset != OUTSIDE] == [1]
        if (is_sole_use and not used_later) or first.pointer in w.writable_pointers:
            # The old value is dead.
            self.next, self.blocks = first.pointer, first.blocks
            w.retain(first)
            return
        self.next, block = w.allocate_bytes(first.bytes)
        self.blocks = (block,)
        if first.known is not None and not first.known.any():
            clear(w, self.next, first.bytes)
        else:
            w.store(first, self.next)

    def head(self) -> ArrayOperand:
        """The value at the start of an iteration."""
        operand = ArrayOperand(self.first.kind, self.first.shape, pointer=self.next)
        operand.apart = self.first.apart
        return operand

    def iteration(self, result: Value) -> tuple[str, ...]:
        """Nothing: there are no phis. Raises Unsupported for a value in other memory."""
        if not isinstance(result, ArrayOperand) or result.pointer != self.next:
            raise Unsupported("a value that was to be changed in place")
        return ()

    def close(self, before: str, back: str, names: tuple[str, ...]) -> None:
        """Does nothing: there are no phis."""

    def after(self, head: ArrayOperand) -> ArrayOperand:
        """The value after the loop."""
        head.blocks = self.blocks
        return head


def handed_on(
    w: FunctionLowering, node: Node, first: Value, bodies: tuple[Graph, Graph], index: int
) -> Any:
    """The form in which a loop carries one of its variables; `bodies` are its condition and its
    body."""
    cond, body = bodies
    later = used_later(w, node, index)
    if isinstance(first, ArrayOperand):
        if not first.small and changes_rows(cond, body, index):
            return InPlace(w, first, later)
        return CarriedBuffer(w, first)
    if isinstance(first, ListOperand):
        iterations = node.attrs.get(KNOWN_TRIP_COUNT, 0)
        return CarriedList(w, first, later, body, index, iterations)
    raise Unsupported("a loop variable that is no tensor")


def used_later(w: FunctionLowering, node: Node, index: int) -> bool:
    """True if an input of the current node is used after it, or twice by it."""
    value, scope = node.inputs[index], w.scopes[-1]
    twice = sum(1 for v in node.inputs if v is value) > 1
    return twice or scope.last[id(value)] != scope.at
