"""Lowers a graph to one native function: values in registers or in planned memory.

The function has the form of a kernel (`entry.KERNEL`): it reads its inputs, writes its outputs to
the caller's buffers, and gets its memory as one more output. Kernels that it calls are in the same
module or are called by their addresses, which the caller passes with the dims; no code contains an
address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.errors import OpError
from intaglio.cpython import layout
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.fallback import Failed
from intaglio.native.llvm import jit, object_cache
from intaglio.native.llvm.builder import Code, module
from intaglio.native.llvm.target import FREESTANDING
from intaglio.native.llvm.vectors import (
    BOOL,
    DOUBLE,
    FLOAT,
    Kind,
    Lanes,
    Unsupported,
    dtype_of,
    kind_of,
    literals,
)
from intaglio.native.lowering import callbacks, variables
from intaglio.native.lowering.freestanding import Freestanding
from intaglio.native.lowering.memory_plan import Arena, Block
from intaglio.native.lowering.operands import (
    ArrayOperand,
    Unknown,
    Variable,
    agrees,
    checked,
    constant,
    known,
)
from intaglio.native.lowering.scopes import Note, Scope
from intaglio.native.runtime import entry, interrupts, python_calls
from intaglio.native.vector_math.functions import Functions
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.runtime import interpreter

# The operands and results of a rule: arrays, variables, lists, or rows.
Value = Any
Rule = Callable[["FunctionLowering", Node, list[Value]], list[Value]]
# The largest constants that are folded during lowering, in elements.
MAX_FOLDED_ELEMENTS = 1 << 12


class FunctionLowering:
    """The lowering of one native function."""

    # With a list, nodes without code are added to it with the reason, and the others are lowered
    # all the same. The function is not for running then.
    lacking: list[tuple[Node, str]] | None = None

    def __init__(self, lowering_of: Callable[[Op], Rule | None], otherwise: Rule) -> None:
        self.code = Code("program", entry.KERNEL)
        self.arena = Arena()
        self.scopes: list[Scope] = []
        # Functions of the module, by their descriptions.
        self.functions: dict[Any, Code] = {}
        # The words after the caller's dims, the indices of those that are addresses, and the
        # objects that must live as long as the code.
        self.words: list[int] = [0]
        self.addresses: set[int] = set()
        self.keep: list[Any] = []
        # True if the function may fail a guard; if it may return with a Python exception set.
        self.has_guards = self.raises = False
        # Notes on the code of each node, and `how` the current node is computed.
        self.notes: list[Note] = []
        self.how = ""
        self.freestanding = Freestanding()
        # True if variables are written; if the first write is emitted; if writes may have to be
        # undone.
        self.writes = self.written = self.undoes = False
        # Values of indices that are checked already, with the lengths that they are below.
        self.checked_indices: set[tuple[int, tuple[int, ...]]] = set()
        # Variables that are only read, by their pointers; the number of inputs; and what the caller
        # keeps for variables.
        self.variables: dict[str, int] = {}
        self.inputs = 0
        self.kept: dict[Any, tuple[int, entry.Step]] = {}
        # The streams of random numbers that the function uses.
        self.random_streams: list[Any] = []
        # True if it may run so long that other threads should not wait for the GIL.
        self.long = False
        # True if the rounding of some kernels depends on the program's options.
        self.rounds = False
        # True for the body of a parallel loop: it calls no kernel on all threads, and no callback.
        # The pointers outside of its memory that it may write to.
        self.alone = False
        self.writable_pointers: set[str] = set()
        # The address of the watch for signals (`runtime/interrupts.py`); the body of a parallel
        # loop has its caller's.
        self.watch = ""
        # Pointers to packed weights, by the weights and the layout.
        self.packed: dict[Any, str] = {}
        self._lowering_of = lowering_of
        self._otherwise = otherwise
        self._temporary: list[Block] = []
        # Indices of words, by content: of the dims of calls, and of numbers.
        self._blocks: dict[Any, int] = {}
        self._constants: dict[int, int] = {}
        self._data: dict[Any, Any] = {}
        # Dims of calls of functions of this module: their index, the function, and if all threads
        # run it.
        self._bodies: list[tuple[int, str, bool]] = []
        # Functions that all threads run, and the granularity of their parts.
        self._units: dict[str, tuple[str, int]] = {}
        # Pending calls, and the encoding of pointers, both in the format of `entry`.
        self._records: list[list[int]] = []
        self._known: dict[str, tuple[int, int, int]] = {"null": (0, 0, 0)}
        self._tables = [0, 0]
        self._ins = self.code.first("alloca [INS x ptr]")
        self._outs = self.code.first("alloca [OUTS x ptr]")
        self.memory = ""

    # -- the whole ---------------------------------------------------------------------

    def write(
        self, graph: Graph, arguments: Sequence[Value], outputs: int, variables: int
    ) -> list[Value]:
        """Lowers a graph, whose inputs are `arguments`. Returns its results.

        After the outputs come the pointers of variables that are written, then the memory. Raises
        Unsupported, with the node that has no code as `node`.
        """
        code = self.code
        pointers = [self.argument("%outs", i) for i in range(outputs)]
        self.freestanding.first_output = outputs + variables + 1
        self.memory = self.argument("%outs", outputs + variables)
        self.arena.block(8)  # the status, which `guard` and `leave` store
        code.do(f"store i64 0, ptr {self.memory}, align 8")
        results = self.graph(graph, arguments, pointers)
        for value, operand, pointer in zip(graph.outputs, results, pointers, strict=True):
            if isinstance(operand, ArrayOperand):
                self.store(operand, pointer)
                continue
            try:
                operand.finish(self)
            except Unsupported as e:
                e.node = value.node
                if self.lacking is None:
                    raise
                self.lacking.append((value.node, str(e)))
        code.do("ret void")
        return results

    @property
    def in_place(self) -> bool:
        """True if variables may be written in place: no guard or exception can follow."""
        return not ((self.has_guards or self.raises) and self.undoes)

    def compiled(self) -> jit.Module:
        """The machine code of the function, and of those it calls that are in no other module."""
        ins, outs = [max(n, 1) for n in self._tables]
        pieces = self._pieces()
        homes = {name: jit.PIECES.home(text) for name, text in pieces.items()}
        needed = [f for f in self.functions.values() if homes.get(f.name) is None]
        text = module([*needed, self.code])
        compiled = jit.module(text.replace("[INS x", f"[{ins} x").replace("[OUTS x", f"[{outs} x"))
        for name, home in homes.items():
            if home is None:
                jit.PIECES.keep(pieces[name], compiled)
        self._link(compiled, {n: home for n, home in homes.items() if home is not None})
        return compiled

    def _pieces(self) -> dict[str, str]:
        """The texts of functions that are called by their addresses, and may be in other modules."""
        own, called = self.code.text(), {name for _, name, _ in self._bodies}
        return {
            f.name: f.text()
            for f in self.functions.values()
            if f.name in called and f"@{f.name}(" not in own
        }

    def _link(self, module: jit.Module, homes: dict[str, jit.Module]) -> None:
        """Stores the addresses of functions in the words, for their calls.

        Calls without the GIL have nothing to release.
        """
        self.keep += [*homes.values(), *self._data.values()]
        for word_index, name, shared in self._bodies:
            body = homes.get(name, module).address(name)
            self._set(word_index, "body", body)
            self._set(word_index, "kernel", entry.trampolines().parallel if shared else body)
        for word_index in self._blocks.values() if self.long else ():
            self._set(word_index, "save", entry.trampolines().save_nothing)
            self._set(word_index, "restore", entry.trampolines().restore_nothing)

    def _set(self, word_index: int, name: str, value: int) -> None:
        """Sets a field of the header before the dims at an index."""
        self.words[word_index + entry.HEADER.index(name) - len(entry.HEADER)] = value

    def argument(self, table: str, index: int) -> str:
        """The pointer to an input or output."""
        at = self.code.named(f"getelementptr inbounds ptr, ptr {table}, i64 {index}")
        found = self.code.named(f"load ptr, ptr {at}, align 8")
        self._known[found] = (1 if table == "%ins" else 2, index, 0)
        return found

    def derived(self, step: entry.Step, pointer: str) -> str:
        """The pointer to the result of a step on a variable, which the caller keeps."""
        key = (pointer, id(step.kernel))
        self.kept.setdefault(key, (self.variables[pointer], step))
        return self.argument("%ins", self.inputs + list(self.kept).index(key))

    # -- graphs ------------------------------------------------------------------------

    def graph(
        self,
        graph: Graph,
        arguments: Sequence[Value],
        targets: Sequence[str] = (),
        pointers: dict[int, str] | None = None,
    ) -> list[Value]:
        """Lowers a graph's nodes; the caller releases the results.

        `targets` are preferred pointers for the outputs, `pointers` those for other values, by
        their ids.
        """
        if graph.opaque:
            raise Unsupported("a function that calls itself")
        scope = Scope(graph)
        for value, operand in zip(graph.inputs, arguments, strict=True):
            if not agrees(operand, value, self.alone):
                raise Unsupported(f"{graph.name} with other inputs than it was traced for")
            scope.values[id(value)] = operand
        for value, target in zip(graph.outputs, targets, strict=False):
            scope.targets.setdefault(id(value), target)
        for key, pointer in (pointers or {}).items():
            scope.targets.setdefault(key, pointer)
        self.scopes.append(scope)
        if self.writes:
            for key, variable in variables.targets(self, graph).items():
                if key not in scope.targets:
                    scope.targets[key], scope.assigned[key] = variable.target, variable
        argument_ids = {id(v) for v in graph.inputs}
        for index, node in enumerate(graph.nodes):
            if node.outputs and id(node.outputs[0]) in argument_ids:
                continue
            scope.at = index
            self._node(scope, node)
            for key in scope.ends.get(index, ()):
                if key not in argument_ids and key in scope.values:
                    self.release(scope.values.pop(key))
        results = [self.retain(scope.values[id(v)]) for v in graph.outputs]
        for key, operand in scope.values.items():
            if key not in argument_ids:
                self.release(operand)
        self.scopes.pop()
        return results

    def _node(self, scope: Scope, node: Node) -> None:
        if self.writes:
            variables.preserve(self, node)
        inputs = [scope.values[id(v)] for v in node.inputs]
        outer, self._temporary = self._temporary, []
        self.freestanding.node = node
        self.how, note_index = "", len(self.notes)
        found = len(self.lacking or ())
        try:
            results = self._folded(node, inputs)
            if results is None:
                results = self._by_rule(node, inputs)
                self.notes.insert(note_index, Note(len(self.scopes) - 1, node, self.how))
        except Unsupported as e:
            if self.lacking is None:
                raise
            results = self._placeholders_of(node, inputs, str(e), found)
        for block in self._temporary:
            self.arena.release(block)
        self._temporary = outer
        scope.define(node, inputs, results)

    def _by_rule(self, node: Node, inputs: list[Value]) -> Sequence[Value]:
        """The node's results by the rule of its op. Raises Unsupported if it has no code."""
        rule = self._lowering_of(node.op) or self._otherwise
        depth = len(self.scopes)
        try:
            checked(rule, node.op.name, inputs)
            results = rule(self, node, inputs)
            self._check_results(node, results)
        except Unsupported as e:
            del self.scopes[depth:]
            e.node = node  # in the end the outermost
            # In the outermost graph a region of its own in Python costs less.
            is_nested = depth > 1 and not (self.alone or FREESTANDING)
            if not is_nested or not callbacks.possible(node, inputs):
                raise
            return self._called_back(node, inputs)
        except OpError as e:  # the kernel raises the error when the node runs
            raise Unsupported.at(node, f"{node.op.name} that fails") from e
        except Exception as e:  # an error of the rule
            raise Failed(node) from e
        return results

    def _placeholders_of(
        self, node: Node, inputs: Sequence[Value], reason: str, found: int
    ) -> list[Value]:
        """Operands for the results of a node without code, which is added to `lacking`.

        It is not if others are the reason: a node that an operand comes from, or one in a graph of it,
        of which `found` were known before.
        """
        others = any([isinstance(h, Unknown) and h.reported for h in inputs])
        is_reason = not others and node.op is not raw.Const
        if self.lacking is not None and len(self.lacking) == found and is_reason:
            self.lacking.append((node, reason))
        return [self.placeholder(v, node.op is not raw.Const) for v in node.outputs]

    def placeholder(self, value: SymbolicTensor, reported: bool) -> Value:
        """Memory for a value that nothing is written to; Unknown where a dtype or shape has none."""
        if not numeric(value.dtype):
            return Unknown(f"elements of type {value.dtype.name}", reported)
        if value.dims is None or None in value.dims:
            return Unknown("a value of unknown shape", reported)
        return self.loaded(self.allocate(None, self.kind(value), known(value.dims)))

    def _check_results(self, node: Node, results: Sequence[Value]) -> None:
        """Raises TypeError if a rule returns other operands than the node declares."""
        for value, operand in zip(node.outputs, results, strict=True):
            if not agrees(operand, value, self.alone):
                raise TypeError(
                    f"{node.op.name} gives {operand.kind}{operand.shape}, not {value.spec}"
                )

    def _called_back(self, node: Node, inputs: list[ArrayOperand]) -> list[ArrayOperand]:
        """The node's results by its NumPy kernel, called from native code."""
        shapes = callbacks.result_shapes(node, inputs)
        results = [
            self.allocate(v, self.kind(v), s) for v, s in zip(node.outputs, shapes, strict=True)
        ]
        back = callbacks.callback(node, inputs, shapes)
        self.random_streams += callbacks.streams(node)
        pointers = [self.pointer(h) if h.known is None else "null" for h in inputs]
        self._store_pointers(pointers, [h.pointer for h in results])
        self.has_guards = True
        self.undoes |= self.written
        self.call_python(back, self._ins, self._outs)
        self.how = "NumPy, called back"
        return results

    def _folded(self, node: Node, inputs: list[Value]) -> list[ArrayOperand] | None:
        """The node's results, if they are constant."""
        op = node.op
        if op is raw.Const:
            found = constant(node.attrs["value"])
            if not agrees(found, node.outputs[0]):
                raise Unsupported.at(node, "a constant of another dtype or shape than its node's")
            return [found]
        if op.stateful or op.has_graphs or op.kernel_fn is None or not node.outputs:
            return None
        if any(not isinstance(h, ArrayOperand) for h in inputs):
            return None
        if not all(numeric(v.dtype) for v in node.outputs):
            return None
        if op in (raw.Shape, raw.Rank, raw.Size):
            inputs = [constant(np.broadcast_to(np.zeros((), bool), inputs[0].shape))]
        elif any(h.known is None or h.count > MAX_FOLDED_ELEMENTS for h in inputs):
            return None
        if any(kind == "service" for kind, _ in op.kernel_order):
            return None
        try:
            arrays = [h.known for h in inputs]
            results = interpreter.call_kernel(op, arrays, node.attrs)
        except Exception:  # the kernel raises the error when the node runs
            raise Unsupported(f"{op.name} that fails") from None
        return [constant(np.asarray(a)) for a in interpreter.flat_result(op, results)]

    def kind(self, value: SymbolicTensor) -> Kind:
        """The type of a value's elements."""
        return kind_of(value.dtype.numpy)

    # -- holding and letting go ----------------------------------------------------------

    def retain(self, operand: Value) -> Value:
        """The operand, with one more reference to its blocks."""
        for block in getattr(operand, "blocks", ()):
            self.arena.hold(block)
        return operand

    def release(self, operand: Value) -> None:
        """Removes a reference to the operand's blocks."""
        for block in getattr(operand, "blocks", ()):
            self.arena.release(block)

    def allocate_bytes(self, size: int) -> tuple[str, Block]:
        """New memory and the pointer to it."""
        block = self.arena.block(size)
        return self.within(self.memory, block.offset), block

    def within(self, pointer: str, offset: int) -> str:
        """The pointer `offset` bytes further."""
        if pointer not in self._known:
            return self.code.at("i8", pointer, str(offset))
        there = self.code.named(f"getelementptr inbounds i8, ptr {pointer}, i64 {offset}")
        kind, index, before = self._known[pointer]
        self._known[there] = (kind, index, before + offset)
        return there

    def scratch(self, size: int) -> str:
        """Memory that is freed after the current node."""
        pointer, block = self.allocate_bytes(size)
        self._temporary.append(block)
        return pointer

    def allocate(
        self, value: SymbolicTensor | None, kind: Kind, shape: tuple[int, ...]
    ) -> ArrayOperand:
        """Memory for a node's output: the caller's buffer, if it is a result of the graph."""
        operand = ArrayOperand(kind, shape)
        if value is not None:
            operand.pointer, operand.blocks = variables.target(self, value)
        if operand.pointer:
            return self.retain(operand)
        operand.pointer, block = self.allocate_bytes(operand.bytes)
        operand.blocks = (block,)
        return operand

    # -- between registers and memory ------------------------------------------------------

    def loaded(self, operand: ArrayOperand) -> ArrayOperand:
        """An operand in memory: in registers if it is small, and known if it has no elements."""
        if not operand.count:
            operand.known = np.zeros(operand.shape, dtype_of(operand.kind))
        return self.in_registers(self.lanes(operand), operand.shape) if operand.small else operand

    def builder(self, count: int) -> Functions:
        """The builder for one vector of so many elements."""
        return Functions(self.code, count, 1)

    def lanes(self, operand: ArrayOperand) -> Lanes:
        """The operand as one vector."""
        if operand.lanes is not None:
            return operand.lanes
        kind, count = operand.kind, operand.count
        if operand.known is not None:
            return Lanes(kind, (self._numbers(operand.known, kind),))
        vector = self.code.load(f"<{count} x {kind.memory}>", operand.pointer, kind.bytes)
        if kind == BOOL:
            vector = self.code.let(f"icmp ne <{count} x i8> {vector}, zeroinitializer")
        return Lanes(kind, (vector,))

    def _numbers(self, array: Any, kind: Kind) -> str:
        """A vector of constants.

        Floats are data, as they are for loops, so that graphs that differ in them share code.
        """
        if kind not in (FLOAT, DOUBLE):
            return literals(array, kind)
        operand = np.ascontiguousarray(array)
        kept = self._data.setdefault((operand.dtype, operand.tobytes()), operand)
        pointer = self.word(kept.ctypes.data)
        return self.code.named(
            f"load <{operand.size} x {kind.llvm}>, ptr {pointer}, align {kind.bytes}"
        )

    def pointer(self, operand: ArrayOperand) -> str:
        """A pointer to the operand; one in registers is stored in memory for this node."""
        if operand.pointer:
            return operand.pointer
        if operand.known is not None and not operand.small:
            array = np.ascontiguousarray(operand.known)
            self.keep.append(array)
            return self.word(array.ctypes.data)
        pointer = self.scratch(operand.bytes)
        self.store(operand, pointer)
        return pointer

    def store(self, operand: ArrayOperand, pointer: str) -> None:
        """Stores the operand at a pointer."""
        if operand.pointer == pointer or not operand.count:
            return
        if operand.lanes is None and (operand.known is None or not operand.small):
            self.copy(self.pointer(operand), pointer, operand.bytes)
            return
        (name,), kind, count = self.lanes(operand).names, operand.kind, operand.count
        if kind == BOOL:
            name = self.code.let(f"zext <{count} x i1> {name} to <{count} x i8>")
        self.code.do(f"store <{count} x {kind.memory}> {name}, ptr {pointer}, align {kind.bytes}")

    def copy(self, source: str, pointer: str, size: int) -> None:
        """Copies bytes."""
        if size:
            self.code.call(
                "void",
                "llvm.memmove.p0.p0.i64",
                ("ptr", pointer),
                ("ptr", source),
                ("i64", str(size)),
                ("i1", "false"),
            )

    def in_registers(self, lanes: Lanes, shape: tuple[int, ...]) -> ArrayOperand:
        """An operand in registers."""
        return ArrayOperand(lanes.kind, shape, lanes=lanes)

    def shuffled(self, lanes: Lanes, count: int, order: Sequence[int]) -> Lanes:
        """Elements of a vector in another order, or repeated."""
        if list(order) == list(range(count)):
            return lanes
        kind = lanes.kind.llvm
        pointers = ", ".join([f"i32 {i}" for i in order])
        name = self.code.let(
            f"shufflevector <{count} x {kind}> {lanes.names[0]}, <{count} x {kind}> poison, "
            f"<{len(order)} x i32> <{pointers}>"
        )
        return Lanes(lanes.kind, (name,))

    def broadcast_lanes(self, operand: ArrayOperand, shape: tuple[int, ...]) -> Lanes:
        """A small operand broadcast to a small shape."""
        if operand.known is not None:
            return self.lanes(constant(np.broadcast_to(operand.known, shape)))
        order = np.arange(operand.count).reshape(operand.shape)
        wide = np.broadcast_to(order, shape).reshape(-1).tolist()
        return self.shuffled(self.lanes(operand), operand.count, wide)

    def scalar(self, operand: ArrayOperand) -> str:
        """The only element of an operand."""
        (name,) = self.lanes(operand).names
        return self.code.let(
            f"extractelement <{operand.count} x {operand.kind.llvm}> {name}, i64 0"
        )

    def index(self, operand: ArrayOperand) -> str:
        """An integer scalar as i64."""
        value = self.scalar(operand)
        if operand.kind.bits == 64:
            return value
        word = "sext" if operand.kind.letter == "i" else "zext"
        return self.code.let(f"{word} {operand.kind.llvm} {value} to i64")

    # -- what the caller passes ------------------------------------------------------

    def word(self, value: int) -> str:
        """A word after the dims, as an address."""
        index = self._constants.setdefault(value, len(self.words))
        if index == len(self.words):
            self.words.append(value)
            self.addresses.add(index)
        at = self.code.named(f"getelementptr inbounds i64, ptr %dims, i64 {index}")
        found = self.code.named(f"load ptr, ptr {at}, align 8")
        self._known[found] = (0, 0, value)
        return found

    def numbers(self, values: Sequence[Any]) -> list[str]:
        """Pointers to numbers, which live as long as the code."""
        operand = np.zeros(len(values), np.int64)
        for i, value in enumerate(values):
            operand[i : i + 1].view(value.dtype)[0] = value
        self.keep.append(operand)
        return [self.within(self.word(operand.ctypes.data), 8 * i) for i in range(len(values))]

    def _block(self, key: Any, words: Sequence[int]) -> int:
        """Words with dims, shared by all equal calls: the index of the dims."""
        if key not in self._blocks:
            self._blocks[key] = len(self.words) + len(entry.HEADER)
            self.words += words
        return self._blocks[key]

    # -- calls ---------------------------------------------------------------------------

    def call_step(self, step: entry.Step, ins: Sequence[str], outs: Sequence[str]) -> None:
        """A call of a kernel of another module."""
        words = step.frame
        if self.alone:
            words[entry.HEADER.index("kernel")] = words[entry.HEADER.index("body")]
        self.keep.append(step.kernel)
        self._call(self._block(tuple(words), words), ins, outs)

    def on_all_threads(self, name: str, unit: int) -> str:
        """The name by which `call_function` calls a function of this module on all threads."""
        if self.alone:
            return name
        shared = f"{name} on all threads"
        self._units[shared] = (name, unit)
        return shared

    def call_function(
        self, name: str, ins: Sequence[str], outs: Sequence[str], dims: Sequence[int]
    ) -> None:
        """A call of a function of this module, over the whole of its first dim."""
        self._call(self._function(name, dims), ins, outs)

    def call_over(
        self, name: str, ins: Sequence[str], outs: Sequence[str], count: int | str
    ) -> None:
        """A call of a function of this module over so many elements, its only dim."""
        self._emit_call(self._function(name, (0,)), ins, outs, count)

    def kernel(self, what: str, write: Callable[..., Code], *arguments: Any) -> str:
        """The name of the function that `write(name, *arguments)` emits, once in a module.

        The name has all arguments, so that no two functions share one.
        """
        words = [a.name if isinstance(a, Kind) else str(a) for a in arguments]
        name = "_".join([what, *words])
        return self.define(name, lambda: write(name, *arguments))

    def define(self, name: str, write: Callable[[], Code]) -> str:
        """The name of a function of this module, which is emitted on first use."""
        if name not in self.functions:
            self.functions[name] = write()
        return name

    def part(self) -> FunctionLowering:
        """The lowering of a function of its own for a part of this one; `adopt` then adds it to
        this module."""
        lowering = FunctionLowering(self._lowering_of, self._otherwise)
        lowering.alone = True
        return lowering

    def adopt(self, part: FunctionLowering, prefix: str) -> int:
        """Adds a function from another lowering to this module. Returns the index of its dims."""
        ins, outs = [max(n, 1) for n in part._tables]
        for old, size in (("[INS x", ins), ("[OUTS x", outs)):
            part.code.replace(old, f"[{size} x")
        name = part.code.name = f"{prefix}_{object_cache.name_of(part.code.text())[:16]}"
        self.functions |= {**part.functions, name: part.code}
        begin = len(self.words) + len(entry.HEADER)
        self.words += [*entry.header(), *part.words]
        self.addresses |= {begin + at for at in part.addresses}
        self._bodies.append((begin, name, False))
        self._bodies += [(begin + at, n, shared) for at, n, shared in part._bodies]
        for key, at in part._blocks.items():
            self._blocks[name, begin, key] = begin + at
        self.keep += [*part.keep, *part._data.values()]
        self.rounds |= part.rounds
        return begin

    def _function(self, name: str, dims: Sequence[int]) -> int:
        """The index of the dims of a call of a function of this module."""
        name, unit = self._units.get(name, (name, 0))
        key = (name, unit, *dims)
        if key not in self._blocks:
            begin = len(self.words) + len(entry.HEADER)
            self._bodies.append((begin, name, unit > 0))
        return self._block(key, [*entry.header(unit=unit or 1), *dims])

    def _call(self, word_index: int, ins: Sequence[str], outs: Sequence[str]) -> None:
        """A call of a kernel over the whole range of its dims, which are at an index.

        Consecutive calls are records of a table, where that can encode their pointers: no code is
        compiled for them.
        """
        pointers = [self._known.get(p) for p in (*ins, *outs)]
        to = self.words[word_index]
        if None in pointers:
            self._emit_call(word_index, ins, outs, to)
            return
        record = [word_index, to, len(ins), len(pointers)]
        self._records.append(record + [n for p in pointers if p for n in p])
        self.code.before = self._emit_calls

    def _emit_call(
        self, word_index: int, ins: Sequence[str], outs: Sequence[str], to: int | str
    ) -> None:
        """A call of a kernel by code of its own."""
        self._store_pointers(ins, outs)
        dims = self.code.at("i64", "%dims", str(word_index))
        kernel = entry.load_header(self.code, "kernel", dims)
        self.code.do(
            f"call void {kernel}(ptr {self._ins}, ptr {self._outs}, ptr {dims}, i64 0, i64 {to})"
        )

    def _emit_calls(self) -> None:
        """Emits the pending calls of the table."""
        self.code.before = None
        word_index, count = len(self.words), len(self._records)
        most = max([record[3] for record in self._records])
        for record in self._records:
            begin = len(self.words) + 4
            self.words += record
            self.addresses |= {
                begin + at + 2 for at in range(0, 3 * record[3], 3) if not self.words[begin + at]
            }
        self._records.clear()
        function = self.word(entry.trampolines().sequence)
        records = self.code.at("i64", "%dims", str(word_index))
        self.code.do(
            f"call void {function}(ptr %ins, ptr %outs, ptr %dims, ptr {records}, i64 {count}, i64 {most})"
        )

    def _store_pointers(self, ins: Sequence[str], outs: Sequence[str]) -> None:
        """Stores the pointers of a call in the tables."""
        code, tables = self.code, (self._ins, self._outs)
        for side, (table, pointers) in enumerate(zip(tables, (ins, outs), strict=True)):
            self._tables[side] = max(self._tables[side], len(pointers))
            for i, pointer in enumerate(pointers):
                code.do(f"store ptr {pointer}, ptr {code.at('ptr', table, str(i))}, align 8")

    # -- refusing --------------------------------------------------------------------------

    def guard(self, condition: str) -> None:
        """Returns with a status unless the condition holds: the caller repeats the call by the
        interpreter."""
        self.has_guards = True
        self.undoes |= self.written
        status = python_calls.REFUSED
        if FREESTANDING:
            status = self.freestanding.status(status)
        self.leave(condition, str(status))

    def leave(self, unless: str, status: str) -> None:
        """Returns with a status, an i64, unless a condition holds."""
        code = self.code
        right, wrong = code.new_label("right"), code.new_label("wrong")
        code.branch(unless, right, wrong)
        code.label(wrong)
        code.do(f"store i64 {status}, ptr {self.memory}, align 8")
        code.do("ret void")
        code.label(right)

    def call_python(self, function: Callable[..., int], *pointers: str) -> None:
        """Calls a Python function of one or two addresses, with the GIL.

        It returns 0, or the status with which this function returns; an exception makes it return
        as well. A null pointer is None for the Python function.
        """
        if FREESTANDING:
            raise Unsupported("a function of Python that machine code calls")
        self.keep.append(function)
        self.raises = True
        one, two = (*pointers, "null")[:2]
        thunk = python_calls.python_call()
        callee, table = self.word(layout.address_of(function)), self.word(thunk.table)
        status = self.code.let(
            f"call i64 {self.word(thunk.address)}(ptr {callee}, ptr {one}, ptr {two}, "
            f"ptr {table}, i64 {len(pointers)})"
        )
        self.leave(self.code.integer("icmp eq", status, 0), status)

    def state_of_stream(self, node: Node, stream: Any) -> str:
        """The pointer to the words of a stream of random numbers, which the caller keeps."""
        if self.alone:
            raise Unsupported("random numbers on several threads")
        return self.argument("%outs", self.freestanding.output_of(node, stream))

    def begin_watch(self) -> str:
        """The address of the watch for signals of the thread that called the function."""
        if FREESTANDING:
            return "null"
        if not self.watch:
            watch = interrupts.watch()
            begin, address = self.word(watch.begin), self.word(watch.address)
            self.watch = self.code.named(f"call ptr {begin}(ptr {address})")
        return self.watch

    def poll(self) -> None:
        """Ends the function, with an exception set, if a signal is pending whose handler raises.

        For each iteration of a loop. Variables keep the values that they had before the call.
        """
        if FREESTANDING:
            return
        self.raises = True
        self.undoes |= self.written
        code, watch = self.code, self.begin_watch()
        breaker = code.named(f"load ptr, ptr {watch}, align 8")
        pending = code.let(f"load atomic i8, ptr {breaker} monotonic, align 1")
        quiet = code.let(f"icmp eq i8 {pending}, 0")
        if self.alone:
            stop = code.at("i64", watch, str(interrupts.STOP))
            stopped = code.let(f"load atomic i64, ptr {stop} monotonic, align 8")
            quiet = code.let(f"and i1 {quiet}, {code.integer('icmp eq', stopped, 0)}")
        go, look = code.new_label("quiet"), code.new_label("pending")
        code.branch(quiet, go, look)
        code.label(look)
        ends = code.let(f"call i64 {self.word(interrupts.watch().poll)}(ptr {watch}) cold")
        self.leave(code.integer("icmp eq", ends, 0), str(python_calls.RAISED))
        code.jump(go)
        code.label(go)


__all__ = ["Rule", "Scope", "Unsupported", "Value", "Variable", "FunctionLowering", "is_small"]
