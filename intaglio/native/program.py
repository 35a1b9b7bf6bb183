"""Native functions as Python callables, compiled for the shapes of a graph's inputs.

The generated Python code around the native function allocates the results, takes the variables' arrays out
of their resources and puts them back. A call that the native function refuses (an index out of range, arrays
of other shapes) is repeated by the interpreter, which raises the errors.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import from_numpy, resource, variant
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.memory import aligned, empty
from intaglio.base.options import OPTIONS
from intaglio.ir import resources
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import Unsupported
from intaglio.native.lowering import list_arguments
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, Variable, agrees, known
from intaglio.native.lowering.registry import elementwise, lowering_of
from intaglio.native.lowering.tensor_lists import ListOperand, Rows, dtype_of
from intaglio.native.lowering.variables import copy_to_target, overwritten
from intaglio.native.pipeline import ready
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator
from intaglio.native.runtime.variable_access import Access
from intaglio.ops.state.resource_variable import contents_of
from intaglio.runtime import interpreter
from intaglio.runtime.derived import DERIVED
from intaglio.runtime.resources import Resource

Run = Callable[..., tuple[Any, ...]]


class Program:
    """A graph as one native function."""

    def __init__(self, graph: Graph) -> None:
        """Raises Unsupported, with the `node` that has no code, if there is one."""
        self.graph = graph
        self.writes = sorted(resources.written(graph))
        self.writer = w = FunctionLowering(lowering_of, elementwise)
        w.writes = bool(self.writes)
        body = ready(graph)
        inputs = [self._input(w, body, i) for i in range(len(body.inputs))]
        self.operands = inputs  # of the body, by input number
        extra = {p: len(body.outputs) + i for i, p in enumerate(self.writes)}
        for index, number in extra.items():
            inputs[index].write_to(w.argument("%outs", number))
        for index in sorted(overwritten(body)):
            copy_to_target(w, inputs[index])
        w.inputs = len(inputs)
        w.variables = {
            v.pointer: i for i, v in enumerate(inputs) if isinstance(v, Variable) and i not in extra
        }
        self.results = w.write(body, inputs, len(body.outputs), len(extra))
        # Cached values derived from variables: the index of the input, and the step that computes it.
        self.derived: list[tuple[int, entry.Step]] = list(w.kept.values())
        _check_results(graph, self.results)
        module = w.compiled()
        forms = [*_input_forms(inputs), *[s.results[0] for _, s in self.derived]]
        whole = entry.Entry(
            module,
            w.code.name,
            len(forms),
            len(body.outputs) + len(extra) + 1,
            shapes=[shape for shape, _ in forms],
            dtypes=[np.dtype(dtype) for _, dtype in forms],
            unlocked=w.long,
            raises=w.raises,
        )
        self.address, self.body = whole.kernel, module.address(w.code.name)
        self.kernel: Any = whole.for_dims(w.words)
        self.memory, self.has_guards, self.raises = w.arena.size, w.has_guards, w.raises
        self._keep = w.keep
        self.rounds, self._other = w.rounds, None
        # If a guard fails, the streams are reset before the interpreter repeats the call.
        self.random_streams = list(dict.fromkeys(w.random_streams)) if w.has_guards else []
        self.run = self._written()

    def _input(self, w: FunctionLowering, body: Graph, number: int) -> Any:
        value = body.inputs[number]
        try:
            return self._operand_of_input(w, body, value, w.argument("%ins", number), number)
        except Unsupported as e:
            takers = [n for n in body.nodes if any(v is value for v in n.inputs)]
            e.node = takers[0] if takers else None
            raise

    def _operand_of_input(
        self, w: FunctionLowering, body: Graph, value: SymbolicTensor, pointer: str, number: int
    ) -> Any:
        if value.dtype is resource:
            contents = contents_of(value.spec)
            if not shapes.known(contents.shape):
                raise Unsupported("a variable whose shape is not known")
            return Variable(contents, pointer)
        dims = value.dims
        if value.dtype is not variant and not numeric(value.dtype):
            raise Unsupported(f"elements of type {value.dtype.name}")
        if value.dtype is variant:
            return list_arguments.list_argument(w, body, value, pointer, number)
        if dims is None or None in dims:
            raise Unsupported("a value of unknown shape")
        operand = ArrayOperand(w.kind(value), known(dims), pointer=pointer)
        if not operand.count:
            operand.known = np.zeros(operand.shape, dtype_of(operand.kind))
        return w.in_registers(w.lanes(operand), operand.shape) if operand.small else operand

    def forget(self) -> Run:
        """Frees the LLVM text, which running does not need; returns the program's function."""
        vars(self).pop("writer", None)
        return self.run

    @property
    def plain_results(self) -> bool:
        """True if results are arrays of known shapes."""
        return all(isinstance(r, ArrayOperand) for r in self.results)

    # -- the generated Python function -----------------------------------------------------

    def _written(self) -> Run:
        """A generated Python function of the arrays that allocates, calls and returns."""
        graph = self.graph
        inputs = [f"i{i}" for i in range(len(graph.inputs))]
        allocate_bytes: dict[str, Any] = {
            "kernel": self.kernel,
            "spare": [],
            "again": self._again,
            "rows": _rows,
            "memory": _allocator(self.memory),
            "Access": Access,
            "random_streams": self.random_streams,
            "back": _reset_streams,
            "taken": list_arguments.elements_of,
            "listed": list_arguments.list_of_rows,
        }
        arrays, lines = self._arrays(allocate_bytes, inputs)
        outs, results, makers = self._results(allocate_bytes)
        call = f"kernel({', '.join([*arrays, *outs, 'work'])}) is NotImplemented"
        if self.has_guards:
            call = f"{call} or work[0] != 0"
        text = [
            f"def run({', '.join(inputs)}):",
            *self._rounding(allocate_bytes, inputs),
            " try: work = spare.pop()",
            " except IndexError: work = memory()",
            *lines,
            *makers,
            *([" marks = [d.mark() for d in random_streams]"] if self.random_streams else []),
            *(self._borrowing(allocate_bytes, call) if self.writes else [f" refused = {call}"]),
            *([" if refused: back(random_streams, marks)"] if self.random_streams else []),
            " if refused:",
            "  work[0] = 0",  # the status, which only a refusal sets
            "  spare.append(work)",
            f"  return again(({', '.join([*inputs, ''])}))",
            f" made = ({', '.join([*results, ''])})" if results else " made = ()",
            " spare.append(work)",
            " return made",
        ]
        code = GeneratedCode(f"program {graph.name}", "\n".join(text), allocate_bytes)
        run: Any = code.function("run")
        run.program = self
        return run

    def _rounding(self, allocate_bytes: dict[str, Any], inputs: Sequence[str]) -> list[str]:
        """The line that checks that the rounding options are those of the compilation."""
        if not self.rounds:
            return []
        allocate_bytes["options"], allocate_bytes["otherwise"] = OPTIONS, self._otherwise
        fast = bool(OPTIONS.tensor_float_32)
        arguments = ", ".join(inputs)
        return [f" if bool(options.tensor_float_32) is not {fast}: return otherwise({arguments})"]

    def _otherwise(self, *arrays: Any) -> tuple[Any, ...]:
        """Runs the graph compiled under the other rounding option, which is done on first use."""
        if self._other is None:
            self._other = Program(self.graph)
            self._other._other = self
        return self._other.run(*arrays)

    def _arrays(
        self, allocate_bytes: dict[str, Any], inputs: Sequence[str]
    ) -> tuple[list[str], list[str]]:
        """The kernel's argument for each input, and the lines that compute it."""
        arrays, lines = list(inputs), list[str]()
        allocate_bytes |= {"ndarray": np.ndarray, "in_order": entry.in_order}
        for i, value in enumerate(self.graph.inputs):
            if value.dims == () and numeric(value.dtype):
                # Kernels of NumPy give scalars, which are no arrays.
                lines.append(f" if i{i}.__class__ is not ndarray: i{i} = in_order(i{i})")
            if value.dtype is resource:
                arrays[i] = f"a{i}"
                if i not in self.writes:
                    lines.append(f" a{i} = i{i}._value")
            elif value.dtype is variant:
                arrays[i], operand = f"a{i}", self.operands[i]
                allocate_bytes[f"t{i}"] = dtype_of(operand.kind)
                everything = "".join([f"{name}, " for name in inputs])
                lines += [
                    f" l{i}, a{i} = taken(i{i}, t{i}, {operand.element})",
                    f" if l{i} is None: return again(({everything}))",
                ]
        for k, (index, step) in enumerate(self.derived):
            allocate_bytes[f"s{k}"], allocate_bytes["derived"] = step, DERIVED.of
            lines.append(f" k{k} = derived(a{index}, s{k}.kernel, s{k}.run)")
            arrays.append(f"k{k}")
        return arrays, lines

    def _results(self, allocate_bytes: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
        """The kernel's output arguments, the expressions of the call's results, and the lines that allocate."""
        outs: list[str] = []
        built: list[str] = []
        lines: list[str] = []
        for k, result in enumerate(self.results):
            if isinstance(result, Rows):
                outs.append("work")
                built.append(self._rows(allocate_bytes, k, result.list, result.counted))
                continue
            if isinstance(result, ListOperand):
                outs.append("work")
                rows = self._rows(allocate_bytes, k, result, result.counted)
                source = result.declared.source
                allocate_bytes[f"f{k}"] = result.declared
                said = f"f{k}" if source < 0 else f"i{source}"
                built.append(f"listed({rows}, e{k}, {said})")
                continue
            dtype = self.graph.outputs[k].dtype.numpy
            allocate_bytes[f"make{k}"] = allocator(result.shape, dtype)
            lines.append(f" o{k} = make{k}()")
            outs.append(f"o{k}")
            built.append(f"o{k}")
        return [*outs, *[f"t{i}" for i in self.writes]], built, lines

    def _rows(
        self, allocate_bytes: dict[str, Any], k: int, operand: ListOperand, counted: int
    ) -> str:
        """The expression that copies the elements of a tensor list out of the function's memory."""
        dtype = dtype_of(operand.kind)
        allocate_bytes[f"d{k}"], allocate_bytes[f"e{k}"] = dtype, from_numpy(dtype)
        return f"rows(work, {counted}, {operand.blocks[0].offset}, {operand.element}, d{k})"

    def _borrowing(self, allocate_bytes: dict[str, Any], call: str) -> list[str]:
        """The lines around the call that take the arrays of written variables, and put them back."""
        w, variables = self.writer, [self.operands[i] for i in self.writes]
        # A pooled buffer has a second reference, so that later calls could not write it in place.
        allocate: Any = functools.partial(functools.partial, empty) if w.in_place else allocator
        allocate_bytes["makers"] = [allocate(v.shape, v.spec.dtype.numpy) for v in variables]
        every = [i for i, v in enumerate(self.graph.inputs) if v.dtype is resource]
        written, others, before, after = (
            "".join([f"{letter}{i}, " for i in numbers])
            for letter, numbers in (
                ("i", self.writes),
                ("i", [i for i in every if i not in self.writes]),
                ("a", self.writes),
                ("t", self.writes),
            )
        )
        return [
            f" access = Access(({written}))",
            " changed = False",
            " try:",
            f"  refused = not access.acquire(({others}), makers, {w.in_place})",
            "  if not refused:",
            f"   ({before}), ({after}) = access.before, access.after",
            f"   refused = {call}",
            "   changed = not refused",
            " finally:",
            "  try: access.release(changed)",
            "  except BaseException:",
            "   access.release(changed)",
            "   raise",
        ]

    def _again(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Repeats the call after a failed guard: with contiguous copies of arrays, or by the interpreter.

        Variables whose values an XLA program left on its device are fetched first.
        """
        ordered = [_in_order(a) for a in arrays]
        if any(map(operator.is_not, arrays, ordered)):
            return self.run(*ordered)
        if any([isinstance(a, Resource) and a.fetch() for a in arrays]):
            return self.run(*arrays)
        return interpreter.compiled(self.graph)(*arrays)


def _input_forms(inputs: Sequence[Any]) -> list[tuple[tuple[int, ...], Any]]:
    """The shapes and dtypes that the program was compiled for."""
    return [
        (tuple(v.spec.shape), v.spec.dtype.numpy)
        if isinstance(v, Variable)
        else (list_arguments.FORM, np.int64)
        if isinstance(v, ListOperand)
        else (v.shape, dtype_of(v.kind))
        for v in inputs
    ]


def _check_results(graph: Graph, results: Sequence[Any]) -> None:
    """Raises Unsupported for a result of another dtype or shape than the graph declares.

    The caller allocates what the graph declares.
    """
    for value, result in zip(graph.outputs, results, strict=True):
        if not agrees(result, value):
            raise Unsupported.at(value.node, "a result of another dtype than its own")


def _reset_streams(random_streams: Sequence[Any], marks: Sequence[Any]) -> None:
    """Resets random streams to their marks."""
    for stream, mark in zip(random_streams, marks, strict=True):
        stream.back(mark)


def _allocator(size: int) -> Callable[[], Any]:
    """A function that allocates the memory of the memory plan, aligned to cache lines as its blocks assume."""
    words = -(-size // 8)

    def make() -> Any:
        return aligned(8 * words).view(np.int64)

    return make


def _rows(work: Any, counted: int, offset: int, element: tuple[int, ...], dtype: Any) -> Any:
    """A copy of a tensor list's rows, whose number the function has computed, out of its memory."""
    count = int(work[counted // 8])
    each = int(np.prod(element))
    start = work.view(np.uint8)[offset:]
    size = count * each * dtype.itemsize
    return start[:size].view(dtype).reshape(count, *element).copy()


def _in_order(array: Any) -> Any:
    """The array aligned and in C order; variables and other objects unchanged."""
    return entry.in_order(array) if isinstance(array, (np.generic, np.ndarray)) else array
