"""The process that writes code for a target: graphs in, an object file out.

It is started with `INTAGLIO_TARGET` set (`native/llvm/target.py`), reads requests from its input and
writes the answers to its output. It runs none of the code that it writes.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import sys
import traceback
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import int64
from intaglio.base.options import OPTIONS
from intaglio.base.shapes import Dims
from intaglio.export import levels, sizes, transport
from intaglio.export.calls import (
    ARGUMENT_FAULTS,
    FIRST_ARGUMENT_ERROR,
    FIXED_ERRORS,
    RUN_TASKS,
    Call,
    Calls,
    Choice,
    DerivedArray,
    Source,
    VariableSlots,
    Variant,
    WordTable,
)
from intaglio.export.context import ALIGNMENT, Data, Layout, text_of
from intaglio.export.interface import Error, Function, Interface, Port, c_name, described
from intaglio.export.portable_code import with_portable_code
from intaglio.export.row_sources import SOURCES
from intaglio.export.rules import NodeName, Refusals, name_of
from intaglio.export.selected_rows import with_row_results
from intaglio.export.signatures import ExportedFunction
from intaglio.export.texts import with_bytes
from intaglio.export.transport import Answer, Levels, Request
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.native import pipeline
from intaglio.native.llvm import jit, target
from intaglio.native.llvm.builder import module
from intaglio.native.llvm.objects import Linker
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering.freestanding import FIRST_NODE_STATUS
from intaglio.native.lowering.operands import ArrayOperand
from intaglio.native.pipeline import Graphs
from intaglio.native.program import Program, without_code
from intaglio.native.regions import obstacle
from intaglio.native.runtime import entry
from intaglio.opdef import raw
from intaglio.optimize.branch_sinking import evaluated_with_branches
from intaglio.optimize.inline import inline_calls
from intaglio.optimize.open_results import with_padded_results
from intaglio.optimize.pipeline import optimize
from intaglio.optimize.specialize import specialized

# Of the ops without code a message names so many.
MAX_NAMED_NODES = 5
# An expression may have nodes without code in its turn, of the same op with other attributes: so many times.
MAX_EXPRESSIONS = 2
# The words of a header that say how tasks are run.
_THREAD_WORDS = ("parallel_for", "task", "save", "restore")
# How many words come before the words of a step's own.
_HEADER = len(entry.HEADER)


class Failed(Exception):
    """Why a function cannot be exported."""


def main(threads: int) -> None:
    """Answers requests on standard input until there are no more.

    Code is written for so many threads, and its tasks are called by a function of its caller.
    """
    OPTIONS.threads_intra = threads
    source, out, sys.stdout = sys.stdin.buffer, sys.stdout.buffer, sys.stderr
    while True:
        data = transport.received(source)
        if data is None:
            return
        transport.send(out, transport.written(_answer(data)))


def _answer(data: bytes) -> Answer:
    """The answer to a request; an error of the compiler is one with a traceback."""
    try:
        request = transport.read(data)
        if isinstance(request, Levels):
            return levels.joined(request.name, request.answers)
        return Writer(request).answer()
    except Failed as e:
        return Answer(failure=str(e))
    except Exception:
        return Answer(
            failure="the compiler failed, which is an error of Intaglio; please report it:\n"
            + traceback.format_exc()
        )


class Writer:
    """Writes the object file of a library."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.linker = Linker()
        self.layout = Layout()
        self.constants, self.weights = Data(), Data()
        self.globals: list[str] = []
        self.errors: list[Error] = list(FIXED_ERRORS)
        self.streams: list[tuple[int, bytes]] = []
        self.derived: list[DerivedArray] = []
        self._guards: dict[tuple[str, ...], int] = {}
        self._derivations: dict[Any, DerivedArray] = {}
        self._declared: set[str] = set()
        self.threads = request.threads
        self._pointer_bytes = 4 if jit.MACHINE.startswith("wasm32") else 8
        if request.weights_beside:
            self.weights.add(np.zeros(ALIGNMENT, np.uint8))  # the fingerprint's place

    def answer(self) -> Answer:
        """Everything. Raises Failed for what has no code."""
        request = self.request
        programs = [_programs(f) for f in request.functions]
        functions = [_with_results(f, p) for f, p in zip(request.functions, programs, strict=True)]
        every = [p for chosen in programs for c in chosen for p in c.programs]
        written = self._written([chosen[0].programs[0] for chosen in programs])
        slots = {n: self._slots(n, every) for n in written}
        weights = {
            n: self.weights.add(c.array) for n, c in enumerate(request.captured) if n not in slots
        }
        memory = self.layout.block(max(p.memory for p in every))
        order = {n: i for i, n in enumerate(slots)}
        calls = [
            self._call(f, e, p, weights, order, memory)
            for f, e, p in zip(functions, request.functions, programs, strict=True)
        ]
        return self._answer(functions, calls, slots)

    def _written(self, programs: Sequence[Program]) -> list[int]:
        """The captured variables that some function writes."""
        found: set[int] = set()
        for function, program in zip(self.request.functions, programs, strict=True):
            first = len(function.graph.inputs) - len(function.captured)
            found |= {function.captured[i - first] for i in program.writes}
        return sorted(found)

    def _slots(self, number: int, programs: Sequence[Program]) -> VariableSlots:
        """Where a variable is in contexts."""
        size = self.request.captured[number].array.nbytes
        first = self.layout.block(size)
        moves = not all(p.writer.in_place for p in programs)
        second = self.layout.block(size) if moves else first
        initial = self.weights.add(self.request.captured[number].array)
        return VariableSlots(size, initial, self.layout.block(8), first, second)

    # -- functions -------------------------------------------------------------------------

    def _call(
        self,
        function: Function,
        exported: ExportedFunction,
        chosen: Sequence[Programs],
        weights: dict[int, int],
        order: dict[int, int],
        memory: int,
    ) -> Call:
        first_error = self._argument_errors(function)
        first = len(exported.graph.inputs) - len(exported.captured)
        sources = [Source("argument", i) for i in range(first)]
        for number in exported.captured:
            is_state = number in order
            sources.append(
                Source("variable", order[number]) if is_state else Source("weight", weights[number])
            )
        choices: list[Choice] = []
        for number, programs in enumerate(chosen):
            variants = [
                self._variant(f"{function.name}.{number}", size, program, sources)
                for size, program in zip(exported.blocks or (0,), programs.programs, strict=True)
            ]
            choices.append(Choice(variants, programs.inputs, programs.outputs))
        first_program = chosen[0].programs[0]
        streams: list[int] = []
        for _, stream in first_program.writer.freestanding.streams:
            offset = self.layout.block(32)
            state = np.array([*stream.take(0), 1], np.uint64)
            self.streams.append((offset, state.tobytes()))
            streams.append(offset)
        written = [order[exported.captured[i - first]] for i in first_program.writes]
        return Call(function, first_error, choices, written, streams, memory)

    def _variant(
        self, label: str, rows: int, program: Program, sources: Sequence[Source]
    ) -> Variant:
        w = program.writer
        first_guard = self._guard_errors(program)
        body = self._reference(program.body)
        special = self._addresses(w)
        name = f"words_{label}.{rows}"
        words = self._words(name, w.words, special, w.keep)
        table = None
        if self.threads > 1:
            pools = [8 * i for i, kind in special.items() if kind == "pool"]
            table = WordTable(words, 8 * len(w.words), self.layout.block(8 * len(w.words)), pools)
        derived = [self._derived(step, sources[index]) for index, step in program.derived]
        stale = [d for d in derived if d.variable >= 0]
        if stale:  # tables of pointers have one order
            derived, stale = [], derived
        self.derived += [d for d in derived if d not in self.derived]
        status = first_guard - FIRST_NODE_STATUS
        in_place = w.in_place
        return Variant(rows, body, words, sources, derived, stale, status, table, in_place)

    def _argument_errors(self, function: Function) -> int:
        first = max(FIRST_ARGUMENT_ERROR, self.errors[-1].code + 1)
        prefix = f"{function.name}: " if len(self.request.functions) > 1 else ""
        for size in function.sizes:
            text = (
                f"{prefix}size '{size.label}' is none of those that code is for: {size.described}"
            )
            self._add_error(f"{function.name}_size_{size.name}", text, first)
        for side, ports in (("input", function.inputs), ("output", function.outputs)):
            for port in ports:
                texts = (
                    "data is null",
                    f"count is not {port.count_in_c}, the number of elements of {port.described}",
                    f"the address of data is no multiple of {port.alignment}",
                )
                for fault, text in zip(ARGUMENT_FAULTS, texts, strict=True):
                    name = f"{function.name}_{side}_{port.name}_{fault}"
                    self._add_error(name, f"{prefix}{side} '{port.label}': {text}", first)
        return first

    def _add_error(self, name: str, text: str, first: int) -> None:
        """Adds an error with the next code, which is no less than `first`."""
        code = max(first, self.errors[-1].code + 1)
        taken = [e.name for e in self.errors]
        self.errors.append(Error(code, c_name(f"ERROR_{name}".upper(), taken), text))

    def _guard_errors(self, program: Program) -> int:
        first = self.errors[-1].code + 1
        texts = [
            f"{_traced(node).op.name} '{node.traced_name}'{_where(node)}: {_what_failed(node)}"
            for node in program.writer.freestanding.guarded
        ]
        key = tuple(texts)
        if key not in self._guards:  # programs for other numbers of rows have the same
            self._guards[key] = first
            for number, text in enumerate(texts, first):
                self._add_error(f"op_{number}", text, number)
        return self._guards[key]

    def _derived(self, step: entry.Step, source: Source) -> DerivedArray:
        """The array that a step makes of a weight; one for programs of several numbers of rows."""
        frame = step.frame
        key = (frame[entry.HEADER.index("body")], tuple(frame[_HEADER:]), source)
        if key not in self._derivations:
            self._derivations[key] = self._new_derived(step, source)
        return self._derivations[key]

    def _new_derived(self, step: entry.Step, source: Source) -> DerivedArray:
        ((shape, dtype),) = step.results
        frame = step.frame
        words = frame[_HEADER:]
        body = self._reference(frame[entry.HEADER.index("body")])
        name = f"step{len(self.globals)}"
        target_ = self.layout.block(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        variable = source.number if source.kind == "variable" else -1
        weight = source.number if source.kind == "weight" else 0
        table = self._words(name, frame, self._header_addresses(_HEADER), [], skip=_HEADER)
        return DerivedArray(body, table, words[0], weight, variable, target_)

    # -- words -----------------------------------------------------------------------------

    def _reference(self, address: int) -> str:
        """The name of a function, declared in the module."""
        name = self.linker.reference(address)
        if name not in self._declared:
            self._declared.add(name)
            self.globals.append(f"declare void @{name}(ptr, ptr, ptr, i64, i64)")
        return name

    def _header_addresses(self, begin: int) -> dict[int, str]:
        """What the words before the dims that begin at an index are."""
        return {begin - _HEADER + i: name for i, name in enumerate(entry.HEADER)}

    def _addresses(self, w: Any) -> dict[int, str]:
        """Which words of a function are addresses, or parts of a header, by their indices."""
        found = dict.fromkeys(w.addresses, "address")
        for begin in (*w._blocks.values(), *[begin for begin, _, _ in w._bodies]):
            found |= self._header_addresses(begin)
        return found

    def _words(
        self,
        name: str,
        words: Sequence[int],
        special: dict[int, str],
        keep: Sequence[Any],
        skip: int = 0,
    ) -> str:
        """The constant of a function's words; a reference to its first one behind `skip`."""
        arrays = [a for a in keep if isinstance(a, np.ndarray)]
        fields: list[str] = []
        for index, word in enumerate(words):
            kind = special.get(index, "")
            if kind in ("kernel", "body"):
                if kind == "kernel" and not self._divides(word):
                    word = words[index + 1]
                fields.append(self._pointer(f"@{self._reference(word)}" if word else "null"))
            elif kind in _THREAD_WORDS and self.threads > 1:
                fields.append(self._pointer(self._thread_word(kind)))
            elif kind == "address":
                fields.append(self._pointer(self._target(word, arrays)))
            elif kind in ("", "unit", "max_tasks"):
                fields.append(f"i64 {word}")
            else:
                fields.append("i64 0")
        kinds = ", ".join(
            [f.rsplit(" ", 1)[0] if f.startswith("i64") else self._kind for f in fields]
        )
        self.globals.append(
            f"@{name} = internal constant <{{ {kinds} }}> <{{ {', '.join(fields)} }}>, align 8"
        )
        return f"getelementptr (i8, ptr @{name}, i64 {8 * skip})" if skip else f"@{name}"

    def _divides(self, kernel: int) -> bool:
        """Whether a kernel divides its work among the caller's threads; others are called themselves."""
        functions = entry.trampolines()
        dividing = (functions.parallel, functions.parallel_if_flagged)
        return self.threads > 1 and kernel in dividing

    def _thread_word(self, kind: str) -> str:
        """What a header has for the tasks of a kernel; the pool is known to contexts."""
        if kind == "parallel_for":
            return f"@{RUN_TASKS}"
        functions = entry.trampolines()
        found = {
            "task": functions.task,
            "save": functions.save_nothing,
            "restore": functions.restore_nothing,
        }[kind]
        name = self.linker.reference(found)
        if name not in self._declared:
            self._declared.add(name)
            self.globals.append(f"declare void @{name}()")
        return f"@{name}"

    @property
    def _kind(self) -> str:
        return "ptr" if self._pointer_bytes == 8 else "<{ ptr, i32 }>"

    def _pointer(self, value: str) -> str:
        if self._pointer_bytes == 8:
            return f"ptr {value}"
        return f"<{{ ptr, i32 }}> <{{ ptr {value}, i32 0 }}>"

    def _target(self, address: int, arrays: Sequence[np.ndarray]) -> str:
        if not address:
            return "null"
        if jit.symbol_at(address) is not None:
            return f"@{self._reference(address)}"
        for array in arrays:
            offset = address - array.ctypes.data
            if 0 <= offset < max(array.nbytes, 1):  # also where one without elements is
                place = self.constants.add(array) + offset
                return f"getelementptr (i8, ptr @constants, i64 {place})"
        raise ValueError("a word of a function refers to this process")

    # -- the whole -------------------------------------------------------------------------

    def _answer(
        self, functions: list[Function], calls: Sequence[Call], slots: dict[int, VariableSlots]
    ) -> Answer:
        request = self.request
        weights = self.weights.bytes
        fingerprint = int.from_bytes(hashlib.sha256(weights).digest()[:7], "little")
        if request.weights_beside:
            weights = fingerprint.to_bytes(8, "little") + weights[8:]
        variables = [request.captured[n].variable for n in slots]
        interface = Interface(
            request.name,
            target.NAME,
            functions,
            [v for v in variables if v is not None],
            self.errors,
            self.layout.size,
            len(weights) if request.weights_beside else 0,
            self.threads,
        )
        magic = int.from_bytes(hashlib.sha256(repr(interface).encode()).digest()[:7], "little")
        writer = Calls(
            request.name,
            self._pointer_bytes,
            magic,
            self.layout,
            list(slots.values()),
            self.streams,
            None if request.weights_beside else weights,
            fingerprint,
            len(weights),
            not jit.MACHINE.startswith("wasm"),
        )
        variants = [v for call in calls for choice in call.choices for v in choice.variants]
        tables = [v.table for v in variants if v.table is not None]
        writer.write_contexts(self.derived, tables)
        for call in calls:
            writer.write_call(call)
        if slots:
            writer.write_variables()
        if self.threads > 1:
            writer.write_threads(tables)
        writer.write_texts(self.errors, described(interface))
        constants = self.constants.bytes or b"\0"
        data = (
            f"@constants = internal unnamed_addr constant [{len(constants)} x i8] {text_of(constants)}, "
            f"align {ALIGNMENT}"
        )
        text = "\n".join([data, *self.globals, *writer.globals, module(writer.codes)])
        write = self.linker.bitcode if request.joined else self.linker.object
        beside = weights if request.weights_beside else b""
        return Answer(write(text, writer.exported), beside, interface, exported=writer.exported)


# -- graphs ------------------------------------------------------------------------------------


class Programs(NamedTuple):
    """The native functions for a choice of sizes, one for each number of rows that code is written for, or one.

    Shapes are those for one row; `open_results` are the results whose shapes depend on data.
    """

    programs: list[Program]
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]]
    open_results: list[int]


def _programs(exported: ExportedFunction) -> list[Programs]:
    """The native functions for each choice of sizes. Raises Failed for what has no code."""
    found = [_named_choice(exported, chosen) for chosen in sizes.choices(exported.interface.sizes)]
    padded = sorted({number for c in found for number in c.open_results})
    for number, chosen in enumerate(sizes.choices(exported.interface.sizes)):
        if found[number].open_results != padded:  # these sizes say of which shape a result is
            found[number] = _named_choice(exported, chosen, padded)
        kinds = [
            (c.open_results, [p.writes for p in c.programs], _streams(c), [*map(len, c.outputs)])
            for c in (found[0], found[number])
        ]
        if kinds[0] != kinds[1]:
            raise Failed(
                f"{exported.interface.name} is another function for {_choice_text(exported, chosen)} than for "
                "the first sizes: it writes other variables, draws other random numbers, or results have "
                "other ranks. Export it under two names, for these sizes and for the others."
            )
    return found


def _choice_text(exported: ExportedFunction, chosen: Sequence[int]) -> str:
    named = zip(exported.interface.sizes, chosen, strict=True)
    return ", ".join([f"{size.label} = {n}" for size, n in named])


def _named_choice(
    exported: ExportedFunction, chosen: Sequence[int], padded: Sequence[int] = ()
) -> Programs:
    """The native functions for one choice of sizes, which errors name."""
    try:
        return _chosen(exported, chosen, padded)
    except Failed as e:
        where = _choice_text(exported, chosen)
        raise Failed(f"for {where}: {e}" if where else str(e)) from e


def _streams(chosen: Programs) -> list[str]:
    """The nodes that draw random numbers, by the names that they have in the trace."""
    return [node.traced_name for node, _ in chosen.programs[0].writer.freestanding.streams]


def _chosen(
    exported: ExportedFunction, chosen: Sequence[int], padded: Sequence[int] = ()
) -> Programs:
    """The native functions for one choice of sizes; results in `padded` are as if data said their shapes."""
    rows = exported.blocks
    results = [_program(exported, exported.fixed(chosen, n), padded) for n in rows or (None,)]
    programs, open_results = [p for p, _ in results], results[0][1]
    arguments = len(exported.interface.inputs)
    inputs = [d if shapes.known(d) else () for d in exported.fixed(chosen, 1)[:arguments]]
    outputs = [tuple(r.shape) for r in programs[0].results]
    for number, port in enumerate(exported.interface.outputs if rows else ()):
        shapes_ = [tuple(p.results[number].shape) for p in programs]
        each = {(s[0] / n, s[1:]) for s, n in zip(shapes_, rows, strict=True)}
        if len(each) != 1:
            raise ValueError(f"the shape of {port.label!r} does not follow from the number of rows")
    return Programs(programs, inputs, outputs, open_results)


def _program(
    exported: ExportedFunction, dims: Sequence[Dims], padded: Sequence[int]
) -> tuple[Program, list[int]]:
    """The graph for these shapes as one native function, and which results have shapes that depend on data.

    Raises Failed, with the ops that have no code.
    """
    open_results: list[int] = []
    # What the shapes of arguments determine is known in called graphs once these are inlined.
    flat = specialized(inline_calls(exported.graph), dims)
    program = None if padded else _whole(pipeline.run(optimize(flat), Graphs.CALLED))
    if program is None:
        # Rows that data selects are in arrays for all there may be; else there is a branch for each number.
        refusals: Refusals = {}
        attempts: list[WithoutCode] = []
        for kept in (SOURCES, ()):
            whole = with_bytes(evaluated_with_branches(exported.graph, dims, kept), refusals)
            if not exported.blocks:
                whole, open_results = _with_open_results(whole, padded, refusals)
            elif kept:
                continue
            found = _with_portable_code(whole, refusals)
            if isinstance(found, Program):
                program = found
                break
            attempts.append(found)
        else:  # what is nearest to code says best what has none, and rules say it better
            nearest = min(
                attempts, key=lambda found: (not found.refused(refusals), len(found.nodes))
            )
            raise Failed(_without_code(exported.interface.name, nearest, refusals))
    for value, result, port in zip(
        program.graph.outputs, program.results, exported.interface.outputs, strict=False
    ):
        if not isinstance(result, ArrayOperand):
            raise Failed(
                f"the result {port.label!r} of {exported.interface.name} is "
                f"{value.node.op.name}{_where(value.node)}, whose length depends on data. Return it padded "
                "to a fixed shape, with its length beside it."
            )
    return program, open_results


# A library's function is one function of LLVM, whose time grows faster than the number of nodes: 4260 ones, those
# of NASNetMobile, take some ten seconds, and what would take hours is refused.
MAX_LIBRARY_NODES = 20000


class WithoutCode(NamedTuple):
    """A graph, and its nodes without code, those of branches and bodies as well, with the reasons."""

    graph: Graph
    nodes: dict[NodeName, tuple[Node, str]]

    def refused(self, refusals: Refusals) -> dict[NodeName, tuple[Node, str]]:
        """The nodes that a rule has refused."""
        names = {
            name_of(n): n
            for g in (self.graph, *walk.nested(self.graph))
            for n in g.nodes
            if name_of(n) in refusals
        }
        return {name: (node, refusals[name]) for name, node in names.items()}


def _with_portable_code(graph: Graph, refusals: Refusals) -> Program | WithoutCode:
    """A graph as a native function, with expressions in other ops for nodes without code."""
    tried: collections.Counter[NodeName] = collections.Counter()
    while True:
        portable = with_portable_code(graph, refusals, tried)
        graph = pipeline.run(optimize(portable), Graphs.CALLED)
        program = _whole(graph)
        if program is not None:
            return program
        lacking = _nodes_without_code(graph)
        if all([tried[name] >= MAX_EXPRESSIONS for name in lacking]):
            return WithoutCode(graph, lacking)
        tried.update(lacking.keys())


def _whole(graph: Graph) -> Program | None:
    """A graph as one native function, if it has code."""
    if len(graph.nodes) > MAX_LIBRARY_NODES or any(map(_obstacle, graph.nodes)):
        return None
    try:
        return Program(graph)
    except Unsupported:
        return None


def _obstacle(node: Node) -> str:
    """Why a node certainly has no code; "" if it may."""
    return obstacle(node) if node.inputs or node.op.stateful else ""


def _nodes_without_code(graph: Graph) -> dict[NodeName, tuple[Node, str]]:
    """The nodes without code by their names."""
    found = [(n, why) for n in graph.nodes if (why := _obstacle(n))]
    if len(graph.nodes) <= MAX_LIBRARY_NODES:
        found += without_code(graph)
    return {name_of(n): (n, why) for n, why in reversed(found)}


def _with_open_results(
    graph: Graph, also: Sequence[int], refusals: Refusals
) -> tuple[Graph, list[int]]:
    """The graph with results as vectors whose shapes depend on data, and those in `also`; and which these are.

    Their shapes are further results, in their order.
    """
    graph, selected = with_row_results(graph, refusals)
    graph = evaluated_with_branches(graph, [None] * len(graph.inputs))
    graph, padded = with_padded_results(graph, [n for n in also if n not in selected])
    numbers = [*selected, *padded]
    first = len(graph.outputs) - len(numbers)
    extents = dict(zip(numbers, graph.outputs[first:], strict=True))
    numbers.sort()
    outputs = [*graph.outputs[:first], *[extents[n] for n in numbers]]
    return Graph(graph.name, graph.inputs, graph.nodes, outputs), numbers


def _without_code(name: str, found: WithoutCode, refusals: Refusals) -> str:
    """The message about a function of which parts have no native code."""
    # What a rule refuses comes first: others may be without code because of it.
    lines: list[str] = []
    refused = found.refused(refusals)
    for node, reason in {**refused, **found.nodes, **refused}.values():
        why = "" if reason == node.op.name else f": {reason}"
        lines.append(f"  {node.op.name} '{node.traced_name}'{_where(node)}{why}")
    more = len(lines) - MAX_NAMED_NODES
    shown = [*lines[:MAX_NAMED_NODES], *([f"  and {more} more"] if more > 0 else [])]
    if not lines:
        shown = [f"  the function has {len(found.graph.nodes)} nodes: export it in parts"]
    return "\n".join(
        [
            f"{name} needs ops that machine code does not have, and a library has no Python to run them:",
            *shown,
            "Compute these outside of the function and pass what they give as an argument, write them in "
            "other ops, or give the dimensions that are open. compile_report() of the function with "
            "jit_compile=True lists every step.",
        ]
    )


def _where(node: Node) -> str:
    line = transport.line_of(node)
    return f" ({line})" if line else ""


def _traced(node: Node) -> Node:
    """The node of the trace that passes have made a node of."""
    while node.source is not None:
        node = node.source
    return node


def _what_failed(node: Node) -> str:
    if node.op is raw._ElementLoops:
        return node.attrs["refusal"]
    if node.op is raw._Refusal:
        return node.attrs["text"]
    if node.op is raw.Assert:
        traced = _traced(node)  # passes drop the texts, which code does not take
        texts = [v.node.attrs["value"] for v in traced.inputs[1:] if v.node.op is raw.Const]
        words = [
            item.decode(errors="replace")
            for t in texts
            for item in np.asarray(t).reshape(-1).tolist()
            if isinstance(item, bytes)
        ]
        return "the assertion does not hold" + (f": {' '.join(words)}" if words else "")
    return "a value is out of range (an index, a divisor, a length or a matrix without inverse)"


def _with_results(exported: ExportedFunction, chosen: Sequence[Programs]) -> Function:
    """The function with the shapes of its results, for one row if there are rows.

    Of results whose shape depends on data there is the shape, too, behind all results.
    """
    function = exported.interface
    shapes_ = [c.outputs for c in chosen]
    outputs: list[Port] = []
    for number, port in enumerate(function.outputs):
        each = [s[number] for s in shapes_]
        forms: tuple[str, ...] = ()
        if len({*each}) > 1:
            forms = tuple(
                [
                    sizes.formula(function.sizes, [s[axis] for s in each])
                    or f"shapes.{port.name}[{axis}]"
                    for axis in range(len(each[0]))
                ]
            )
        outputs.append(Port(port.name, port.label, port.dtype, each[-1], port.rows, forms=forms))
    taken = [p.name for p in outputs]
    open_results = chosen[0].open_results
    for number, shape in zip(open_results, shapes_[-1][len(outputs) :], strict=True):
        label = f"{outputs[number].label}_shape"
        name = c_name(label, taken)
        taken.append(name)
        outputs[number] = dataclasses.replace(outputs[number], extent=name)
        outputs.append(Port(name, label, int64, shape))
    return function._replace(outputs=outputs)
