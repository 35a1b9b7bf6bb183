"""What a loop hands from turn to turn: in registers, in two pieces of memory that take turns, or in place."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Graph, Node
from intaglio.native.analysis.loops import changes_rows
from intaglio.native.llvm.builder import Phi
from intaglio.native.llvm.vectors import Lanes, Unsupported
from intaglio.native.lowering.function import Value, Writer
from intaglio.native.lowering.memory_plan import OUTSIDE, Block
from intaglio.native.lowering.operands import Held
from intaglio.native.lowering.tensor_lists import HeldList, TurningList, clear
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TURNS


class Turning:
    """A value that a loop hands from turn to turn."""

    def __init__(self, w: Writer, first: Held) -> None:
        self.w = w
        self.first = first
        self.blocks: list[Block] = []
        if first.small:
            self.start = w.lanes(first).names
            self.kinds = (f"<{first.count} x {first.kind.llvm}>",)
        else:
            here = [w.space(first.bytes) for _ in range(2)]
            self.blocks = [b for _, b in here]
            # Where it is, where the next one will be, and the one after that.
            self.start = (w.pointer(first), here[0][0], here[1][0])
            self.kinds = ("ptr", "ptr", "ptr")
        self.phis: list[Phi] = []

    @property
    def next(self) -> str:
        """Where the body is to write, if it writes to memory."""
        return "" if self.first.small else self.phis[1].name

    def head(self) -> Held:
        """The value at the beginning of a turn."""
        first, code = self.first, self.w.code
        self.phis = [code.phi(k) for k in self.kinds]
        name = self.phis[0].name
        if first.small:
            return self.w.in_registers(Lanes(first.kind, (name,)), first.shape)
        return Held(first.kind, first.shape, pointer=name)

    def turn(self, result: Value) -> tuple[str, ...]:
        """What the next turn begins with. Raises Unsupported if the shape changes."""
        first = self.first
        if not isinstance(result, Held) or result.shape != first.shape:
            raise Unsupported("a loop variable whose shape changes")
        if first.small:
            return self.w.lanes(result).names
        self.w.store(result, self.next)
        return (self.phis[1].name, self.phis[2].name, self.phis[1].name)

    def close(self, before: str, back: str, names: tuple[str, ...]) -> None:
        """Completes the phis."""
        for phi, start, name in zip(self.phis, self.start, names, strict=True):
            self.w.code.arrive(phi, (start, before), (name, back))

    def after(self, head: Held) -> Held:
        """The value when the loop is over."""
        head.blocks = (*self.blocks, *self.w.also(self.first).blocks)
        return head


class InPlace:
    """A large value of which each turn changes a row: it stays where it is."""

    def __init__(self, w: Writer, first: Held, used_later: bool) -> None:
        self.first = first
        mine = [b.holders for b in first.blocks if b.offset != OUTSIDE] == [1]
        if (mine and not used_later) or first.pointer in w.mine:
            # Nobody misses what was there.
            self.next, self.blocks = first.pointer, first.blocks
            w.also(first)
            return
        self.next, block = w.space(first.bytes)
        self.blocks = (block,)
        if first.known is not None and not first.known.any():
            clear(w, self.next, first.bytes)
        else:
            w.store(first, self.next)

    def head(self) -> Held:
        """The value at the beginning of a turn."""
        held = Held(self.first.kind, self.first.shape, pointer=self.next)
        held.apart = self.first.apart
        return held

    def turn(self, result: Value) -> tuple[str, ...]:
        """Nothing is handed on. Raises Unsupported for a value that is elsewhere."""
        if not isinstance(result, Held) or result.pointer != self.next:
            raise Unsupported("a value that was to be changed in place")
        return ()

    def close(self, before: str, back: str, names: tuple[str, ...]) -> None:
        """There is nothing to complete."""

    def after(self, head: Held) -> Held:
        """The value when the loop is over."""
        head.blocks = self.blocks
        return head


def handed_on(w: Writer, node: Node, first: Value, bodies: tuple[Graph, Graph], index: int) -> Any:
    """How a loop hands on one of its variables; `bodies` are its condition and its body."""
    cond, body = bodies
    later = used_later(w, node, index)
    if isinstance(first, Held):
        if not first.small and changes_rows(cond, body, index):
            return InPlace(w, first, later)
        return Turning(w, first)
    if isinstance(first, HeldList):
        turns = node.attrs.get(KNOWN_TURNS, 0)
        return TurningList(w, first, later, body, index, turns)
    raise Unsupported("a loop variable that is no tensor")


def used_later(w: Writer, node: Node, index: int) -> bool:
    """True if an input of the node that is being written is used after it, or twice by it."""
    value, scope = node.inputs[index], w.scopes[-1]
    twice = sum(1 for v in node.inputs if v is value) > 1
    return twice or scope.last[id(value)] != scope.at
