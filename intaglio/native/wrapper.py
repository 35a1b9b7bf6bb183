"""The generated Python function around a native function: it allocates, calls, and returns the results.

It takes the arrays of written variables out of their resources, and puts them back. A call that the
native function refuses (an index out of range, arrays of other shapes) is repeated by the interpreter,
which raises the errors.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from intaglio.base.dtypes import from_numpy, resource, variant
from intaglio.base.generated_code import GeneratedCode
from intaglio.base.memory import aligned, empty
from intaglio.base.options import OPTIONS
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import dtype_of
from intaglio.native.lowering import list_arguments
from intaglio.native.lowering.tensor_lists import ListOperand, Rows
from intaglio.native.runtime import entry
from intaglio.native.runtime.buffers import allocator
from intaglio.native.runtime.native_calls import CompiledProgram
from intaglio.native.runtime.variable_access import Access
from intaglio.runtime import interpreter
from intaglio.runtime.derived import DERIVED
from intaglio.runtime.resources import Resource

Run = Callable[..., tuple[Any, ...]]


class Program(CompiledProgram, Protocol):
    """The interface of a program (`native/program.py`) that its wrapper needs."""

    run: Run
    operands: Sequence[Any]
    in_place: bool

    def under_other_rounding(self) -> Program:
        """The graph compiled under the other rounding option."""
        ...


class Wrapper:
    """Writes the function around a program's native function.

    In the source `i0, i1, ...` are the arguments, `a0, ...` the arrays of those that are no arrays,
    `o0, ...` the arrays of results, `t0, ...` the new arrays of variables, and `work` is the memory of
    the function's memory plan, whose first word is the status.
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        self._graph = program.graph
        self._arguments = [f"i{i}" for i in range(len(program.graph.inputs))]
        # The globals of the function.
        self._globals: dict[str, Any] = {
            "kernel": program.kernel,
            "free_memory": [],
            "repeat": self._repeat,
            "rows": _rows,
            "allocate_memory": _memory_allocator(program.memory),
            "Access": Access,
            "random_streams": program.random_streams,
            "reset_streams": _reset_streams,
            "elements_of": list_arguments.elements_of,
            "list_of_rows": list_arguments.list_of_rows,
        }

    def function(self) -> Run:
        """The function of the arrays of the graph's inputs."""
        program, arguments = self._program, self._arguments
        kernel_arguments, preparation = self._inputs()
        buffers, results, allocations = self._results()
        call = f"kernel({', '.join([*kernel_arguments, *buffers, 'work'])}) is NotImplemented"
        if program.has_guards:
            call = f"{call} or work[0] != 0"
        has_streams = bool(program.random_streams)
        lines = [
            f"def run({', '.join(arguments)}):",
            *self._rounding_check(),
            " try: work = free_memory.pop()",
            " except IndexError: work = allocate_memory()",
            *preparation,
            *allocations,
            *([" marks = [s.mark() for s in random_streams]"] if has_streams else []),
            *(self._with_variables(call) if program.writes else [f" refused = {call}"]),
            *([" if refused: reset_streams(random_streams, marks)"] if has_streams else []),
            " if refused:",
            "  work[0] = 0",  # the status, which only a refusal sets
            "  free_memory.append(work)",
            f"  return repeat({_tuple_of(arguments)})",
            f" results = {_tuple_of(results)}",
            " free_memory.append(work)",
            " return results",
        ]
        code = GeneratedCode(f"program {self._graph.name}", "\n".join(lines), self._globals)
        run: Any = code.function("run")
        run.program = program
        return run

    def _rounding_check(self) -> list[str]:
        """The line that checks that the rounding options are those of the compilation."""
        program = self._program
        if not program.rounds:
            return []

        def otherwise(*arrays: Any) -> tuple[Any, ...]:
            return program.under_other_rounding().run(*arrays)

        self._globals |= {"options": OPTIONS, "otherwise": otherwise}
        fast = bool(OPTIONS.tensor_float_32)
        arguments = ", ".join(self._arguments)
        return [f" if bool(options.tensor_float_32) is not {fast}: return otherwise({arguments})"]

    def _inputs(self) -> tuple[list[str], list[str]]:
        """The kernel's argument for each input, and the lines that compute it."""
        program = self._program
        kernel_arguments, lines = list(self._arguments), list[str]()
        self._globals |= {"ndarray": np.ndarray, "in_order": entry.in_order}
        for i, value in enumerate(self._graph.inputs):
            if value.dims == () and numeric(value.dtype):
                # Kernels of NumPy give scalars, which are no arrays.
                lines.append(f" if i{i}.__class__ is not ndarray: i{i} = in_order(i{i})")
            if value.dtype is resource:
                kernel_arguments[i] = f"a{i}"
                if i not in program.writes:
                    lines.append(f" a{i} = i{i}._value")
            elif value.dtype is variant:
                kernel_arguments[i], operand = f"a{i}", program.operands[i]
                self._globals[f"dtype{i}"] = dtype_of(operand.kind)
                lines += [
                    f" l{i}, a{i} = elements_of(i{i}, dtype{i}, {operand.element})",
                    f" if l{i} is None: return repeat({_tuple_of(self._arguments)})",
                ]
        for k, (index, step) in enumerate(program.derived):
            self._globals |= {f"step{k}": step, "derived": DERIVED.of}
            lines.append(f" k{k} = derived(a{index}, step{k}.kernel, step{k}.run)")
            kernel_arguments.append(f"k{k}")
        return kernel_arguments, lines

    def _results(self) -> tuple[list[str], list[str], list[str]]:
        """The kernel's output arguments, the expressions of the results, and the lines that allocate."""
        buffers: list[str] = []
        results: list[str] = []
        lines: list[str] = []
        for k, result in enumerate(self._program.results):
            if isinstance(result, Rows):
                buffers.append("work")
                results.append(self._rows(k, result.list, result.counted))
                continue
            if isinstance(result, ListOperand):
                buffers.append("work")
                rows = self._rows(k, result, result.counted)
                source = result.declared.source
                self._globals[f"declared{k}"] = result.declared
                declared = f"declared{k}" if source < 0 else f"i{source}"
                results.append(f"list_of_rows({rows}, element_dtype{k}, {declared})")
                continue
            dtype = self._graph.outputs[k].dtype.numpy
            self._globals[f"allocate{k}"] = allocator(result.shape, dtype)
            lines.append(f" o{k} = allocate{k}()")
            buffers.append(f"o{k}")
            results.append(f"o{k}")
        return [*buffers, *[f"t{i}" for i in self._program.writes]], results, lines

    def _rows(self, k: int, operand: ListOperand, counted: int) -> str:
        """The expression that copies the elements of a tensor list out of the function's memory."""
        dtype = dtype_of(operand.kind)
        self._globals |= {f"row_dtype{k}": dtype, f"element_dtype{k}": from_numpy(dtype)}
        offset = operand.blocks[0].offset
        return f"rows(work, {counted}, {offset}, {operand.element}, row_dtype{k})"

    def _with_variables(self, call: str) -> list[str]:
        """The lines around the call that take the arrays of written variables, and put them back."""
        program = self._program
        variables = [program.operands[i] for i in program.writes]
        # A pooled buffer has a second reference, so that later calls could not write it in place.
        in_place = program.in_place
        allocate: Any = functools.partial(functools.partial, empty) if in_place else allocator
        self._globals["allocators"] = [allocate(v.shape, v.spec.dtype.numpy) for v in variables]
        every = [i for i, v in enumerate(self._graph.inputs) if v.dtype is resource]
        written = _tuple_of([f"i{i}" for i in program.writes])
        others = _tuple_of([f"i{i}" for i in every if i not in program.writes])
        before = _tuple_of([f"a{i}" for i in program.writes])
        after = _tuple_of([f"t{i}" for i in program.writes])
        return [
            f" access = Access({written})",
            " changed = False",
            " try:",
            f"  refused = not access.acquire({others}, allocators, {in_place})",
            "  if not refused:",
            f"   {before}, {after} = access.before, access.after",
            f"   refused = {call}",
            "   changed = not refused",
            " finally:",
            "  try: access.release(changed)",
            "  except BaseException:",
            "   access.release(changed)",
            "   raise",
        ]

    def _repeat(self, arrays: Sequence[Any]) -> tuple[Any, ...]:
        """Repeats the call after a failed guard: with contiguous copies of arrays, or by the interpreter.

        Variables whose values an XLA program left on its device are fetched first.
        """
        run = self._program.run
        ordered = [_in_order(a) for a in arrays]
        if any(map(operator.is_not, arrays, ordered)):
            return run(*ordered)
        if any([isinstance(a, Resource) and a.fetch() for a in arrays]):
            return run(*arrays)
        return interpreter.compiled(self._graph)(*arrays)


def _tuple_of(expressions: Sequence[str]) -> str:
    """The source of a tuple, of one element or none as well."""
    return f"({''.join([f'{e}, ' for e in expressions])})"


def _reset_streams(random_streams: Sequence[Any], marks: Sequence[Any]) -> None:
    """Resets random streams to their marks."""
    for stream, mark in zip(random_streams, marks, strict=True):
        stream.reset(mark)


def _memory_allocator(size: int) -> Callable[[], Any]:
    """A function that allocates the memory of the memory plan, aligned to cache lines as its blocks assume."""
    words = -(-size // 8)

    def allocate() -> Any:
        return aligned(8 * words).view(np.int64)

    return allocate


def _rows(work: Any, counted: int, offset: int, element: tuple[int, ...], dtype: Any) -> Any:
    """A copy of a tensor list's rows, whose number the function has computed, out of its memory."""
    count = int(work[counted // 8])
    row_elements = int(np.prod(element))
    start = work.view(np.uint8)[offset:]
    size = count * row_elements * dtype.itemsize
    return start[:size].view(dtype).reshape(count, *element).copy()


def _in_order(array: Any) -> Any:
    """The array aligned and in C order; variables and other objects unchanged."""
    return entry.in_order(array) if isinstance(array, (np.generic, np.ndarray)) else array
