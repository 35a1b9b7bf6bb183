"""Graphs of which any part is a function, as those of TensorFlow 1: a part is made when it is asked for.

Follows https://www.tensorflow.org/api_docs/python/tf/saved_model/load. A part is named by the tensors
that are fed and those that are fetched; it is a graph of its own, made when it is asked for.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.function.concrete import ConcreteFunction
from intaglio.function.signature import Bound, FunctionType, Signature, typed
from intaglio.function.trace_types import from_value
from intaglio.graphdef import load
from intaglio.graphdef.transitive_users import transitive_users
from intaglio.ir.graph import SymbolicTensor
from intaglio.opdef import raw
from intaglio.sparse.tensor import SparseTensor
from intaglio.state.variable import Variable
from intaglio.trace.graph import FuncGraph
from intaglio.type_specs.trace_type import Tracing
from intaglio.type_specs.type_spec import TensorSpec, type_spec_of


class GraphParts:
    """A graph as messages, and what of outside stands for some of its tensors: variables and captures."""

    def __init__(
        self, graph_def: Any, outside: Mapping[str, Any], graph: FuncGraph | None = None
    ) -> None:
        self.nodes = {node.name: node for node in graph_def.node}
        self.functions = load.Functions(graph_def.library)
        self.outside = {name.removesuffix(":0"): value for name, value in outside.items()}
        self._graph = graph

    @property
    def graph(self) -> FuncGraph:
        """The whole graph, but for nodes whose ops do not exist here and what needs them."""
        if self._graph is None:
            self._graph = self.part("wrapped", (), sorted(self.nodes.keys() - self._unknown()))
        return self._graph

    def _unknown(self) -> set[str]:
        unknown = [name for name, node in self.nodes.items() if raw.find(node.op) is None]
        return transitive_users(self.nodes.values(), unknown)

    def part(self, name: str, feeds: Sequence[SymbolicTensor], fetches: Sequence[str]) -> FuncGraph:
        """The part between some tensors of `graph` and elements by name, as a graph of its own.

        Raises KeyError for a fetch that does not exist, ValueError for nodes that cannot be read.
        """
        graph: Any = FuncGraph(name)
        graph.kept = []  # variables live as long as the functions that use them
        with graph.as_default():
            values: dict[str, Any] = {}
            for tensor in feeds:
                label = tensor.name.partition(":")[0]
                value = graph.placeholder(tensor.dtype, tensor.dims, label)
                graph.inputs.append(value)
                values[tensor.name.removesuffix(":0")] = value
            needed = load.part_of(self.nodes, fetches, values)
            used = [n for n in self.outside if n.partition(":")[0] in needed and n not in values]
            for own in used:
                outer = self.outside[own]
                variable = isinstance(outer, Variable)
                values[own] = graph.capture(outer.handle if variable else outer)
                if variable:
                    graph.kept.append(outer)
                    graph.watch_variable(outer)
            found = load.add_part(self.functions, self.nodes, fetches, values)
        graph.outputs += [e for e in found if isinstance(e, SymbolicTensor)]
        return graph

    # -- functions ---------------------------------------------------------------------------

    def prune(
        self, feeds: Any, fetches: Any, name: str = "pruned", keywords: Sequence[str] | None = None
    ) -> WrappedFunction:
        """The function from some tensors to others; both are elements of `graph` or their names.

        Its arguments are the flat feeds, or named by `keywords`, each in its turn.
        """
        arguments = nest.flatten(self._elements(feeds, tensors_only=True))
        wanted = self._elements(fetches)
        flat = nest.flatten(wanted, expand_composites=True)
        graph = self.part(
            name, nest.flatten(arguments, expand_composites=True), [e.name for e in flat]
        )
        outputs = iter(graph.outputs)
        graph.structured_outputs = nest.pack_sequence_as(
            wanted,
            [next(outputs) if isinstance(e, SymbolicTensor) else None for e in flat],
            expand_composites=True,
        )
        specs = [_spec(element) for element in arguments]
        return WrappedFunction.of(self, graph, specs, keywords)

    def _elements(self, structure: Any, tensors_only: bool = False) -> Any:
        return nest.map_structure(lambda leaf: self._element(leaf, tensors_only), structure)

    def _element(self, leaf: Any, tensor_only: bool) -> Any:
        if hasattr(leaf, "WhichOneof"):  # a TensorInfo
            if leaf.WhichOneof("encoding") == "coo_sparse":
                return _sparse(self, leaf.coo_sparse)
            leaf = leaf.name
        if isinstance(leaf, Variable):
            leaf = leaf.handle
        if isinstance(leaf, CompositeTensor):
            return leaf
        return self.graph.as_graph_element(
            leaf if isinstance(leaf, str) else leaf.name,
            allow_tensor=True,
            allow_operation=not tensor_only,
        )


class WrappedFunction(ConcreteFunction):
    """A function of which other parts can be had: `prune`."""

    def __init__(
        self,
        graph: FuncGraph,
        function_type: FunctionType,
        bound: Bound,
        python_name: str,
        parts: GraphParts,
    ) -> None:
        super().__init__(graph, function_type, bound, python_name)
        self._parts = parts

    @classmethod
    def of(
        cls,
        parts: GraphParts,
        graph: FuncGraph,
        specs: Sequence[Any],
        keywords: Sequence[str] | None = None,
    ) -> WrappedFunction:
        """The function of a part, whose arguments have these specs, by position or by keyword."""
        names = keywords or [f"arg_{i}" for i in range(len(specs))]
        return cls(graph, *_typed(graph, specs, names, keywords is not None), parts)

    def prune(
        self, feeds: Any, fetches: Any, name: str | None = None, input_signature: Any = None
    ) -> WrappedFunction:
        """The part of the graph from some tensors to others, as a function of its own.

        Args:
          feeds: tensors of `graph` or their names, in any structure: the arguments, flat.
          fetches: tensors and operations of `graph` or their names: the result has their structure.

        Raises KeyError for a name that the graph does not have.
        """
        if input_signature is not None:
            raise NotImplementedError(
                "prune(input_signature=...) is not supported: pass flat feeds"
            )
        return self._parts.prune(feeds, fetches, name or "pruned")


def _sparse(parts: GraphParts, info: Any) -> Any:
    """The sparse tensor of the graph that a TensorInfo names."""
    names = (info.indices_tensor_name, info.values_tensor_name, info.dense_shape_tensor_name)
    return SparseTensor(*[parts.graph.as_graph_element(name) for name in names])


def _spec(element: Any) -> Any:
    if isinstance(element, SymbolicTensor):
        return TensorSpec(element.dims, element.dtype)
    return type_spec_of(element)


def _typed(
    graph: FuncGraph, specs: Sequence[Any], names: Sequence[str], by_keyword: bool
) -> tuple[FunctionType, Bound, str]:
    """The types of a graph's arguments and results."""
    kind = inspect.Parameter.KEYWORD_ONLY if by_keyword else inspect.Parameter.POSITIONAL_ONLY
    signature = Signature([inspect.Parameter(n, kind) for n in names], graph.name)
    if by_keyword:
        bound = signature.bind((), dict(zip(names, specs, strict=True)))
    else:
        bound = signature.bind(tuple(specs), {})
    context = Tracing(for_signature=True)
    parameters = typed(signature, bound, [from_value(v, context) for v in bound.values])
    output = nest.map_structure(lambda v: None if v is None else _spec(v), graph.structured_outputs)
    whole = FunctionType(list(parameters.parameters.values()), from_value(output, context))
    return whole, bound, graph.name
