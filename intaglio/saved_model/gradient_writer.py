"""Custom gradients as functions of a saved model, which `gradient_reader` finds by their names.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/SaveOptions
(`experimental_custom_gradients`). A gradient function takes the gradients of all outputs of its node, and
captures variables, constants, and values of the function in which the node is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from intaglio.autodiff.registered import ATTRIBUTE, GradientName
from intaglio.base.errors import OpError
from intaglio.graphdef import export, structured
from intaglio.graphdef.export import Library
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import convert
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import FuncGraph, record
from intaglio.type_specs.type_spec import TensorSpec

_numbers = itertools.count(1)


class CapturedValue(NamedTuple):
    """A value of the function that a custom gradient belongs to, as an object of the model."""

    name: str
    function: str


class GradientWriter:
    """Traces the gradient functions of the nodes of functions, and writes them.

    `captured` gives the number of an eager tensor among the objects (for the gradient of that name),
    `append` that of a new object.
    """

    def __init__(
        self, library: Library, captured: Callable[[Any, str], int], append: Callable[[Any], int]
    ) -> None:
        self._library = library
        self._captured = captured
        self._append = append
        self._written: set[str] = set()
        # What is written once the functions have all the nodes that gradients need.
        self._traced: list[tuple[str, Graph, FuncGraph, list[Any]]] = []

    def trace(self, graphs: Iterable[Graph]) -> None:
        """Traces the gradients of these graphs and of those that they call.

        Raises ValueError for a gradient function that fails.
        """
        for node, graph in _nodes_with_gradients(graphs):
            name = node.attrs[ATTRIBUTE]
            if name not in self._written:
                self._written.add(name)
                traced, form = _traced(node)
                self._traced.append((str(name), graph, traced, form))
                for outer, _ in traced.captures:
                    if (value := _within(node.graph, outer)) is not None:
                        self._keep(graph, value.node)

    def _keep(self, graph: Graph, node: Node) -> None:
        """Has a node written that the function itself has left out, and those that it needs."""
        members = {id(n) for n in graph.nodes}
        needed: dict[int, Node] = {}
        work = [node]
        while work:
            one = work.pop()
            if id(one) not in members and id(one) not in needed:
                needed[id(one)] = one
                work += [v.node for v in one.inputs]
        kept = {id(n): n for n in self._library.left_out.get(id(graph), ())} | needed
        self._library.left_out[id(graph)] = [n for n in node.graph.nodes if id(n) in kept]

    def write(self, concrete_functions: Any) -> None:
        """Writes what has been traced: functions, their names, and what they capture."""
        for name, graph, traced, form in self._traced:
            function = self._library.name_of(traced.freeze_function())
            self._library.proto.registered_gradients.add(
                gradient_func=function, registered_op_type=name
            )
            proto = concrete_functions[function]
            for outer, _ in traced.captures:
                proto.bound_inputs.append(self._number(name, graph, traced, outer))
            gradients = traced.inputs[: len(traced.inputs) - len(traced.captures)]
            specs = [TensorSpec(v.dims, v.dtype, v.node.name) for v in gradients]
            arguments = ((None, *specs), {})
            proto.canonicalized_input_signature.CopyFrom(structured.encode(arguments))
            proto.output_signature.CopyFrom(structured.encode(form))

    def _number(self, name: str, graph: Graph, traced: FuncGraph, outer: Tensor) -> int:
        value = _within(traced.enclosing, outer)
        if value is None:
            return self._captured(_outermost(traced.enclosing, outer), name)
        inputs = [id(v) for v in graph.inputs]
        if id(value) in inputs:
            label = f"{export.labels(graph.inputs)[inputs.index(id(value))]}:0"
        else:
            label = f"{value.node.name}:{value.index}"
        return self._append(CapturedValue(label, self._library.name_of(graph)))


def _nodes_with_gradients(graphs: Iterable[Graph]) -> Iterator[tuple[Node, Graph]]:
    """The nodes that carry a gradient function, each with the graph that is written for it."""
    seen: set[int] = set()
    for top in graphs:
        for graph in (*walk.nested(top), top):
            if id(graph) in seen:
                continue
            seen.add(id(graph))
            for node in graph.nodes:
                if isinstance(node.attrs.get(ATTRIBUTE), GradientName):
                    yield node, graph


def _traced(node: Node) -> tuple[FuncGraph, list[Any]]:
    """The gradient function of a node, and the specs of its results, None where there is none."""
    form: list[Any] = []

    def gradient(*grads: Any) -> list[Tensor]:
        found = node.attrs[ATTRIBUTE].function(node, *grads)
        found = found if isinstance(found, (list, tuple)) else [found]
        tensors = [None if g is None else convert.to_tensor(g) for g in found]
        form.extend(
            None if t is None else TensorSpec(t.dims, t.dtype, f"tensor_{i}")
            for i, t in enumerate(tensors)
        )
        return [t for t in tensors if t is not None]

    specs = [(v.dtype, v.dims, f"result_grads_{i}") for i, v in enumerate(node.outputs)]
    name = f"__inference_internal_grad_fn_{next(_numbers)}"
    with ExitStack() as entered:
        for graph in reversed(_enclosing(node.graph)):
            entered.enter_context(graph.as_default())
        try:
            traced, results = record(gradient, name, specs)
        except (OpError, TypeError, ValueError, LookupError, AttributeError) as e:
            raise ValueError(
                "Error when tracing gradients for SavedModel: the gradient of "
                f"'{node.name}' failed: {e}\nA gradient that is saved is traced as a tf.function is: "
                "write it in tf operations, or leave gradients out with "
                "tf.saved_model.SaveOptions(experimental_custom_gradients=False)."
            ) from e
        traced.outputs = list(results)
    return traced, form


def _enclosing(graph: Any) -> list[Any]:
    """The graph and those around it, innermost first."""
    found: list[Any] = []
    while graph is not None:
        found.append(graph)
        graph = getattr(graph, "enclosing", None)
    return found


def _within(source: Any, outer: Tensor) -> SymbolicTensor | None:
    """The value of the function that a captured tensor is; None for one from outside of functions."""
    found: Any = outer
    if type(found) is SymbolicTensor and found.node.graph is not source:
        pair = source.captured.get(id(found))
        found = found if pair is None else pair[1]
    return found if _outermost(source, found) is found and type(found) is SymbolicTensor else None


def _outermost(source: Any, value: Any) -> Any:
    """The eager tensor that the functions around have captured as this value, else the value."""
    found = value
    for graph in _enclosing(source):
        for outer, inner in getattr(graph, "captured", {}).values():
            if inner is found:
                found = outer
                break
    return value if type(found) is SymbolicTensor else found
