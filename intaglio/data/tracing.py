"""The functions that users give to datasets, traced once into graphs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph import unconverted_reads
from intaglio.autograph.access_paths import Read
from intaglio.autograph.reads import absorb, recording
from intaglio.base.log import logger
from intaglio.data import element
from intaglio.data.options import DEBUGGED
from intaglio.function import captures, control
from intaglio.function.captures import POLICY, TraceReads
from intaglio.function.conversion import converted_for_graphs
from intaglio.function.polymorphic import Function
from intaglio.function.polymorphic import traced as traced_function
from intaglio.function.user_errors import in_user_code
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.opdef import door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.python_call import Token
from intaglio.runtime.random_state import global_seed
from intaglio.trace.graph import FuncGraph

_numbers = itertools.count()


def enable_debug_mode() -> None:
    """From now on functions run as Python. Raises ValueError inside traced functions."""
    if not door.level().eager:
        raise ValueError("Debug mode is only supported in eager mode.")
    DEBUGGED.set()


# What the graph of a dataset's function has read of Python's state, among what is derived of it.
READS = "reads of Python's state"


class DatasetReads(TraceReads):
    """What a dataset's function has read, which is looked at whenever an iterator begins."""

    def __init__(self, name: str, reads: tuple[Read, ...]) -> None:
        super().__init__(reads)
        self._name = name

    def check(self) -> None:
        """Warns once of each value that has changed, or raises StaleCaptureError: see `intaglio.captures`."""
        if POLICY.mode == "freeze" or self.is_fresh():
            return
        found = self.changed()
        if not found:
            return
        advice = "Make the dataset again, or a tf.Variable of what changes."
        text = captures.message(self._name, found, advice)
        if POLICY.mode == "error":
            raise captures.StaleCaptureError(text)
        self.release(found)
        logger().warning(text)


class Traced:
    """A user's function as a graph.

    `structure` is the type of what it returns, `captures` the outer tensors that the graph
    takes behind its arguments.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: Sequence[Any],
        transformation: str,
        *,
        expected: Any = None,
    ) -> None:
        """Traces `function` with placeholders for the structures of specs in `arguments`.

        With `expected`, the result's tensors are converted to these specs' dtypes.
        """
        if not callable(function):
            raise ValueError(
                f"Argument `func` must be a callable. Received func={function} (of type "
                f"{type(function)})"
            )
        name = transformation.replace(".", "_").removesuffix("()")
        label = getattr(function, "__name__", "function").replace("<lambda>", "lambda")
        graph = FuncGraph(f"__inference_{name}_{label}_{next(_numbers)}")
        graph.seed = global_seed()
        with recording(POLICY.check_arrays) as recorder:
            with graph.as_default():
                values = _placeholders(graph, arguments)
                graph.observe_code = unconverted_reads.observer()
                result = _called(function, values)
                self.value = _as_output(result, transformation)
                self.structure = element.spec_of(self.value)
                graph.outputs = [
                    raw.Identity(t, name="Identity")
                    for t in element.flat_tensors(self.structure, self.value)
                ]
            reads = recorder.finished()
        absorb(reads)
        shown = getattr(function, "__qualname__", type(function).__qualname__)
        self._reads = DatasetReads(f"{shown} in {transformation}", reads)
        self.recorded = graph
        per_element = _called_for_each_element(function)
        if per_element is not None and not hasattr(self.structure, "element_spec"):
            self._run_as_python(per_element, arguments, transformation)
            self._reads = DatasetReads("", ())  # it reads what there is

    def _run_as_python(
        self, function: Callable[..., Any], arguments: Sequence[Any], transformation: str
    ) -> None:
        """Replaces the graph by one that calls the function on eager tensors."""

        def call(*tensors: Any) -> Any:
            remaining = list(tensors)
            values: list[Any] = []
            for structure in arguments:
                count = len(element.flat_specs(structure))
                values.append(element.packed(structure, remaining[:count]))
                del remaining[:count]
            result = _as_output(function(*values), transformation)
            return element.flat_tensors(self.structure, result)

        graph = FuncGraph(f"{self.recorded.name}_debugged")
        with graph.as_default():
            _placeholders(graph, arguments)
            types = element.output_attrs(self.structure)["output_types"]
            graph.outputs = list(
                raw.EagerPyFunc(list(graph.inputs), token=Token.of(call), Tout=types)
            )
        self.recorded = graph

    @property
    def graph(self) -> FrozenGraph:
        """The graph that runs."""
        frozen = self.recorded.freeze_function()
        if self._reads.all:
            frozen.derived[READS] = self._reads
        return frozen

    @property
    def captures(self) -> list[Tensor]:
        """The outer tensors that the graph takes behind its arguments."""
        return self.recorded.external_captures


def _called_for_each_element(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """What Python calls for each element where the graph does not run: in debug mode and under some stances."""
    if DEBUGGED.is_set():
        return function
    mode = control.of_dataset_function(function)
    if mode not in ("eager", "verify"):
        return None
    is_traced = mode == "eager" or isinstance(function, Function)
    called = function if is_traced else traced_function(function)

    def call(*values: Any) -> Any:
        with control.stance(mode):  # elements are computed in other threads
            return called(*values)

    return call


def _placeholders(graph: FuncGraph, arguments: Sequence[Any]) -> list[Any]:
    numbers = itertools.count()
    values: list[Any] = []
    for structure in arguments:
        flat: list[Any] = []
        for spec in element.flat_specs(structure):
            label = f"args_{next(numbers)}"
            flat.append(graph.placeholder(spec.dtype, spec.dims, label, spec.content))
        graph.inputs.extend(flat)
        values.append(element.packed(structure, flat))
    return values


def _called(function: Callable[..., Any], values: Sequence[Any]) -> Any:
    try:
        return converted_for_graphs(function, None, requested=False)(*values)
    except Exception as e:
        reported = in_user_code(e)
        if reported is e:
            raise
        raise reported from None


def _as_output(result: Any, transformation: str) -> Any:
    if isinstance(result, list):
        # More often what an op returned than what should be stacked, as in TensorFlow.
        result = tuple(result)
    try:
        return element.normalized(result)
    except (TypeError, ValueError) as e:
        raise TypeError(
            f"Unsupported return value from function passed to {transformation}: {result}."
        ) from e


def arguments_of(structure: Any) -> tuple[Any, ...]:
    """The types of the arguments that a function of elements has: a tuple is unpacked."""
    return structure if type(structure) is tuple else (structure,)
