"""Native functions of graphs, compiled for the shapes of a graph's inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir import resources
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.native.analysis.sizes import numeric
from intaglio.native.llvm.vectors import Unsupported, dtype_of
from intaglio.native.lowering import list_arguments
from intaglio.native.lowering.function import FunctionLowering
from intaglio.native.lowering.operands import ArrayOperand, Variable, agrees, known
from intaglio.native.lowering.registry import elementwise, lowering_of
from intaglio.native.lowering.tensor_lists import ListOperand
from intaglio.native.lowering.variables import copy_to_target, overwritten
from intaglio.native.pipeline import ready
from intaglio.native.runtime import entry
from intaglio.native.wrapper import Run, Wrapper
from intaglio.ops.state.resource_variable import contents_of


class Program:
    """A graph as one native function."""

    def __init__(self, graph: Graph) -> None:
        """Raises Unsupported, with the `node` that has no code, if there is one."""
        self.graph = graph
        self.writes: Sequence[int] = sorted(resources.written(graph))
        self.writer = w = FunctionLowering(lowering_of, elementwise)
        body = ready(graph)
        # The operands of the body, by input number, and the results.
        self.operands: Sequence[Any]
        self.results: Sequence[Any]
        self.operands, self.results = _lowered(w, body, self.writes)
        # Cached values derived from variables: the index of the input, and the step that computes it.
        self.derived: Sequence[tuple[int, entry.Step]] = list(w.kept.values())
        _check_results(graph, self.results)
        module = w.compiled()
        forms = [*_input_forms(self.operands), *[s.results[0] for _, s in self.derived]]
        whole = entry.Entry(
            module,
            w.code.name,
            len(forms),
            len(body.outputs) + len(self.writes) + 1,
            shapes=[shape for shape, _ in forms],
            dtypes=[np.dtype(dtype) for _, dtype in forms],
            unlocked=w.long,
            raises=w.raises,
        )
        self.address, self.body = whole.kernel, module.address(w.code.name)
        self.kernel: Any = whole.for_dims(w.words)
        self.memory, self.has_guards, self.raises = w.arena.size, w.has_guards, w.raises
        self._keep = w.keep
        # Whether the code depends on the rounding option, and whether it may write variables in place.
        self.rounds, self.in_place = w.rounds, w.in_place
        self._other: Program | None = None
        # If a guard fails, the streams are reset before the interpreter repeats the call.
        self.random_streams: Sequence[Any] = (
            list(dict.fromkeys(w.random_streams)) if w.has_guards else []
        )
        self.run: Run = Wrapper(self).function()

    def forget(self) -> Run:
        """Frees the LLVM text, which running does not need; returns the program's function."""
        vars(self).pop("writer", None)
        return self.run

    @property
    def plain_results(self) -> bool:
        """True if results are arrays of known shapes."""
        return all(isinstance(r, ArrayOperand) for r in self.results)

    def under_other_rounding(self) -> Program:
        """The graph compiled under the other rounding option, which is done on first use."""
        if self._other is None:
            self._other = Program(self.graph)
            self._other._other = self
        return self._other


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


def without_code(graph: Graph) -> list[tuple[Node, str]]:
    """The nodes that lowering has no code for, also of branches and bodies, with the reasons.

    All others are lowered as if these had code; nothing is compiled.
    """
    w = FunctionLowering(lowering_of, elementwise)
    w.lacking = found = list[tuple[Node, str]]()
    try:
        _lowered(w, ready(graph), sorted(resources.written(graph)))
    except Unsupported as e:  # the graph as a whole has none
        found += [(n, str(e)) for n in graph.nodes if e.node is None or n is e.node]
    return found


def _lowered(
    w: FunctionLowering, body: Graph, writes: Sequence[int]
) -> tuple[list[Any], list[Any]]:
    """Lowers a graph that is ready; `writes` are its inputs that are written. Gives the operands of
    inputs, and the results.
    """
    w.writes = bool(writes)
    inputs = [_input(w, body, i) for i in range(len(body.inputs))]
    extra = {p: len(body.outputs) + i for i, p in enumerate(writes)}
    known_variables = {i for i, v in enumerate(inputs) if isinstance(v, Variable)}
    for index, number in extra.items():
        if index in known_variables:
            inputs[index].write_to(w.argument("%outs", number))
    for index in sorted(overwritten(body) & known_variables):
        copy_to_target(w, inputs[index])
    w.inputs = len(inputs)
    w.variables = {
        v.pointer: i for i, v in enumerate(inputs) if i in known_variables and i not in extra
    }
    return inputs, w.write(body, inputs, len(body.outputs), len(extra))


def _input(w: FunctionLowering, body: Graph, number: int) -> Any:
    """The operand of an input. Raises Unsupported, with a node that takes it, if it has none."""
    value = body.inputs[number]
    try:
        return _operand_of_input(w, body, value, w.argument("%ins", number), number)
    except Unsupported as e:
        if w.lacking is not None:
            return w.placeholder(value, reported=False)
        takers = [n for n in body.nodes if any(v is value for v in n.inputs)]
        e.node = takers[0] if takers else None
        raise


def _operand_of_input(
    w: FunctionLowering, body: Graph, value: SymbolicTensor, pointer: str, number: int
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
    return w.loaded(ArrayOperand(w.kind(value), known(dims), pointer=pointer))


def _check_results(graph: Graph, results: Sequence[Any]) -> None:
    """Raises Unsupported for a result of another dtype or shape than the graph declares.

    The caller allocates what the graph declares.
    """
    for value, result in zip(graph.outputs, results, strict=True):
        if not agrees(result, value):
            raise Unsupported.at(value.node, "a result of another dtype than its own")
