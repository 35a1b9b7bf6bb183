"""Loops whose rows are independent: every thread runs all iterations of some rows.

Otherwise a loop with a product in every iteration loses time because threads synchronise in each
iteration, and because each reads data that is in another core's cache. A block of rows has a loop
of its own, in a function of its own (`FunctionLowering.part`), with its own memory; its inputs and
results are slices of those of the whole loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import derived
from intaglio.native.analysis.loops import (
    ROW_ATTRIBUTES,
    ROW_AXES,
    ROW_BLOCKS,
    ROW_BODY,
    ROW_ELEMENTS,
    SHARED,
)
from intaglio.native.llvm.builder import Code
from intaglio.native.llvm.vectors import Unsupported, kind_of
from intaglio.native.lowering.elementwise import named
from intaglio.native.lowering.function import FunctionLowering, Value
from intaglio.native.lowering.loop_carried import InPlace, handed_on
from intaglio.native.lowering.memory_plan import ALIGNMENT_BYTES, Block
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.lowering.tensor_lists import ListOperand, allocated
from intaglio.native.runtime import entry

# The types of lists' lengths, and of untyped memory.
SIZE, BYTE = kind_of("i8"), kind_of("u1")


def divided(w: FunctionLowering, node: Node, inputs: list[Value]) -> list[Value] | None:
    """The results of a loop that threads divide; None if that is impossible, or not worth it."""
    if w.alone or ROW_BLOCKS not in node.attrs:
        return None
    found = _blocks_of(node)
    if not all(_is_as_expected(node, found, i, operand) for i, operand in enumerate(inputs)):
        return None
    try:
        written = _Part(w, node, inputs, found)
    except Unsupported:
        return None
    return _Call(w, node, inputs, found, written).results()


class Blocks(NamedTuple):
    """How a loop is divided: the axis of the rows, the number of blocks, and their rows."""

    axes: tuple[int, ...]
    cond: Graph
    body: Graph
    # The body for one block.
    block: Graph
    blocks: int
    size: int

    def axis(self, index: int) -> int:
        """The axis of the rows of a loop variable."""
        return self.axes[index]

    def changes(self, index: int) -> bool:
        """True for a loop variable that iterations change."""
        return self.body.inputs[index] is not self.body.outputs[index]


def _blocks_of(node: Node) -> Blocks:
    attrs = node.attrs
    return Blocks(
        attrs[ROW_AXES], attrs["cond"], attrs["body"], attrs[ROW_BODY], *attrs[ROW_BLOCKS]
    )


def _is_as_expected(node: Node, found: Blocks, index: int, operand: Value) -> bool:
    """True for an operand of the shape that the blocks are for."""
    if isinstance(operand, ListOperand):
        element = node.attrs[ROW_ELEMENTS][index]
        return operand.element == element or (element is None and not found.changes(index))
    axis = found.axis(index)
    rows = found.blocks * found.size
    return not isinstance(operand, ArrayOperand) or axis == SHARED or operand.shape[axis] == rows


def _padded(size: int) -> int:
    """The size rounded up to whole cache lines."""
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


class _Part:
    """The function of one block: its lowering, and the strides of its inputs and outputs."""

    def __init__(self, w: FunctionLowering, node: Node, inputs: list[Value], found: Blocks) -> None:
        """Raises Unsupported if there is no such function."""
        self.found = found
        self.writer = p = w.part()
        # By the loop's variables: the number of their input, and for lists that of their length.
        self.ins: dict[int, int] = {}
        self.sizes: dict[int, int] = {}
        self._count = 0
        operands = [self._operand_of(i, h) for i, h in enumerate(inputs)]
        self.watch = self._count
        p.watch = self._argument()
        graph = self._graph(node)
        kept = [i for i, h in enumerate(inputs) if found.changes(i) and not self._in_place(i, h)]
        self.outs = {i: n for n, i in enumerate(kept)}
        pointers = {i: p.argument("%outs", n) for i, n in self.outs.items()}
        p.memory = p.argument("%outs", len(kept))
        p.arena.block(8)
        p.code.do(f"store i64 0, ptr {p.memory}, align 8")
        results = p.graph(graph, operands)
        # The resulting lists that have no rows.
        self.lists: dict[int, ListOperand] = {}
        for i, pointer in pointers.items():
            result = results[i]
            if isinstance(result, ListOperand):
                self.lists[i] = result
                p.code.do(f"store i64 {result.size}, ptr {pointer}, align 8")
            else:
                p.store(result, pointer)
        p.code.do("ret void")
        self.memory = _padded(p.arena.size)

    def _in_place(self, index: int, operand: Value) -> bool:
        """True for a value that all blocks update in place."""
        return isinstance(operand, ArrayOperand) and self.found.axis(index) == 1

    def _argument(self) -> str:
        self._count += 1
        return self.writer.argument("%ins", self._count - 1)

    def _operand_of(self, index: int, operand: Value) -> Value:
        """The operand of a block for an input of the loop."""
        found, axis = self.found, self.found.axis(index)
        if isinstance(operand, ListOperand):
            return self._list(index, operand, axis)
        if not isinstance(operand, ArrayOperand):
            return operand
        if operand.known is not None and axis == SHARED:
            return ArrayOperand(operand.kind, operand.shape, known=operand.known)
        self.ins[index] = self._count
        pointer = self._argument()
        shape = list(operand.shape)
        if axis != SHARED:
            shape[axis] = found.size
        part = ArrayOperand(operand.kind, tuple(shape), pointer=pointer)
        if axis == 1:
            part.apart = operand.bytes // operand.shape[0]
        if found.changes(index) and self._in_place(index, operand):
            self.writer.writable_pointers.add(pointer)
        return part

    def _list(self, index: int, operand: ListOperand, axis: int) -> ListOperand:
        self.ins[index] = self._count
        pointer, size = self._argument(), operand.size
        changes = self.found.changes(index)
        if changes and operand.declared.source >= 0:
            raise Unsupported("a list from elsewhere that has a limit")
        if not size.isdigit() or (axis == 0 and changes):
            # Not the empty pointer, which would mean that no memory is allocated yet.
            self.sizes[index] = self._count
            size = self.writer.code.load("i64", self._argument(), 8)
        element = (self.found.size, *operand.element[1:]) if axis == 0 else operand.element
        part = ListOperand(
            operand.kind,
            element,
            pointer,
            size,
            operand.capacity,
            (),
            operand.declared,
            owned=axis == 0 and changes,
        )
        if axis == 0:
            part.apart = operand.bytes
        return part

    def _graph(self, node: Node) -> Graph:
        """The loop for the rows of a block."""
        found = self.found
        body = found.block
        attrs = {k: v for k, v in node.attrs.items() if k not in ROW_ATTRIBUTES} | {"body": body}
        specs = [v.spec for v in body.outputs]
        inner = derived(node, body.inputs, attrs=attrs, specs=specs)
        nodes = [*[v.node for v in body.inputs], inner]
        return Graph(body.name, body.inputs, nodes, inner.outputs)


class _Call:
    """The call of a part's function for all blocks."""

    def __init__(
        self, w: FunctionLowering, node: Node, inputs: list[Value], found: Blocks, part: _Part
    ) -> None:
        self.w = w
        self.node = node
        self.inputs = inputs
        self.found = found
        self.part = part

    def results(self) -> list[Value]:
        """Emits the call; returns the results of the loop."""
        w, found, part = self.w, self.found, self.part
        bodies = found.cond, found.body
        # Lists and values updated in place start at their memory in the whole loop.
        began: dict[int, Any] = {}
        ins: dict[int, tuple[str, int]] = {}
        for i, operand in enumerate(self.inputs):
            if found.changes(i) and (
                (isinstance(operand, ListOperand) and found.axis(i) == 0)
                or (isinstance(operand, ArrayOperand) and found.axis(i) == 1)
            ):
                began[i] = handed_on(w, self.node, operand, bodies, i)
            if i in part.ins:
                ins[part.ins[i]] = self._pointer(i, operand, began.get(i))
            if i in part.sizes and isinstance(operand, ListOperand):
                ins[part.sizes[i]] = (self._number(operand.size), 0)
        ins[part.watch] = w.begin_watch(), 0
        outs: list[tuple[str, int]] = []
        buffers: dict[int, ArrayOperand] = {}
        for i in part.outs:
            buffers[i] = self._fits(i)
            outs.append((buffers[i].pointer, buffers[i].bytes // found.blocks))
        memory, block = w.allocate_bytes(found.blocks * part.memory)
        outs.append((memory, part.memory))
        self._write([ins[n] for n in range(len(ins))], outs, memory)
        results = [
            self._result(i, operand, began.get(i), buffers.get(i), memory, block)
            for i, operand in enumerate(self.inputs)
        ]
        for i, operand in buffers.items():
            if isinstance(self.inputs[i], ListOperand):
                w.release(operand)
        w.arena.release(block)
        w.how = f"jump, {found.blocks} times {found.size} rows side by side"
        return results

    def _pointer(self, index: int, operand: Value, began: Any) -> tuple[str, int]:
        """The pointer of an input of the loop, and the bytes from block to block."""
        w, found, axis = self.w, self.found, self.found.axis(index)
        if isinstance(operand, ListOperand):
            array = began.list if began is not None else allocated(w, operand)
            return array.pointer, operand.bytes // found.blocks if axis == 0 else 0
        if axis == 1:
            pointer = began.next if began is not None else w.pointer(operand)
            return pointer, operand.bytes // operand.shape[0] // found.blocks
        return w.pointer(operand), operand.bytes // found.blocks if axis == 0 else 0

    def _number(self, size: str) -> str:
        """The pointer to a number that a block reads."""
        pointer = self.w.scratch(8)
        self.w.code.do(f"store i64 {size}, ptr {pointer}, align 8")
        return pointer

    def _fits(self, index: int) -> ArrayOperand:
        """Memory for a result of all blocks; each block has its own copy of a value without rows."""
        w, operand, count = self.w, self.inputs[index], self.found.blocks
        if isinstance(operand, ListOperand):
            operand = ArrayOperand(SIZE, ())
        elif self.found.axis(index) == 0:
            return w.allocate(self.node.outputs[index], operand.kind, operand.shape)
        apart = _padded(operand.bytes)
        pointer, block = w.allocate_bytes(apart * count)
        return ArrayOperand(BYTE, (apart * count,), pointer=pointer, blocks=(block,))

    def _result(
        self,
        index: int,
        operand: Value,
        began: Any,
        buffer: ArrayOperand | None,
        memory: str,
        block: Block,
    ) -> Value:
        """A result of the loop."""
        w, found = self.w, self.found
        if not found.changes(index):
            return w.retain(operand)
        if isinstance(began, InPlace):
            return began.after(began.head())
        assert buffer is not None
        if isinstance(operand, ListOperand):
            size = w.code.load("i64", buffer.pointer, 8)
            if began is not None:
                whole = began.list.like(size, owned=began.changed)
                whole.tight = began.tight or whole.tight
                return whole
            inner = self.part.lists[index]
            if not inner.blocks:  # updated in place
                return w.retain(allocated(w, operand)).like(size, owned=False)
            w.arena.hold(block)
            there = w.within(memory, inner.blocks[0].offset)
            return ListOperand(
                operand.kind,
                operand.element,
                there,
                size,
                inner.capacity,
                (block,),
                operand.declared,
                owned=False,
            )
        if found.axis(index) == 0:
            return buffer
        result = ArrayOperand(
            operand.kind, operand.shape, pointer=buffer.pointer, blocks=buffer.blocks
        )
        if not result.small:
            return result
        lanes = w.in_registers(w.lanes(result), operand.shape)
        w.release(buffer)
        return lanes

    def _write(
        self, ins: Sequence[tuple[str, int]], outs: Sequence[tuple[str, int]], memory: str
    ) -> None:
        """Emits the call. If a guard fails in a block, the function returns with its status."""
        w, part, count = self.w, self.part.writer, self.found.blocks
        there = w.adopt(part, "rows")
        name = w.on_all_threads(named(w, "blocks", _blocks()), 1)
        steps = [step for _, step in (*ins, *outs)]
        here = len(w.words) + len(entry.HEADER)
        dims = (count, 8 * (there - here), len(ins), len(ins) + len(outs), *steps)
        w.call_function(name, [p for p, _ in ins], [p for p, _ in outs], dims)
        w.long = True
        w.notes += [
            note._replace(depth=note.depth - 1 + len(w.scopes)) for note in part.notes if note.depth
        ]
        w.has_guards |= part.has_guards
        w.raises |= part.raises
        w.undoes |= w.written
        if part.has_guards or part.raises:
            flags = "0"
            for i in range(count):
                pointer = w.within(memory, i * self.part.memory)
                flag = w.code.load("i64", pointer, 8)
                flags = w.code.integer("or", flags, flag)
            w.leave(w.code.integer("icmp eq", flags, 0), flags)


def _blocks() -> Code:
    """A kernel that calls another for blocks, with strided pointers.

    Its dims are the number of blocks, the offset of the dims of the other kernel in bytes, the
    numbers of inputs and of pointers, and their strides.
    """
    code = Code("blocks", entry.KERNEL)
    there, inputs, total = (code.load("i64", code.at("i64", "%dims", str(i)), 8) for i in (1, 2, 3))
    steps, dims = code.at("i64", "%dims", "4"), code.at("i8", "%dims", there)
    table = code.let(f"alloca ptr, i64 {total}")
    kernel, rest = entry.load_header(code, "kernel", dims), code.at("ptr", table, inputs)
    with code.loop("%from", "%to") as block:
        for array, first, last in (("%ins", "0", inputs), ("%outs", inputs, total)):
            with code.loop(first, last) as i:
                offset = code.integer("sub", i, first)
                start = code.load("ptr", code.at("ptr", array, offset), 8)
                step = code.load("i64", code.at("i64", steps, i), 8)
                pointer = code.at("i8", start, code.integer("mul", block, step))
                code.do(f"store ptr {pointer}, ptr {code.at('ptr', table, i)}, align 8")
        code.do(f"call void {kernel}(ptr {table}, ptr {rest}, ptr {dims}, i64 0, i64 1)")
    code.do("ret void")
    return code
