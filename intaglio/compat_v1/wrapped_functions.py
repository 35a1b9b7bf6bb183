"""`tf.compat.v1.wrap_function`: functions written for TensorFlow 1, with variables of their own.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/wrap_function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.function.trace_types import from_value
from intaglio.ir.builder import is_node_name
from intaglio.ir.graph import Node
from intaglio.opdef import convert, raw
from intaglio.saved_model.graph_parts import GraphParts, WrappedFunction
from intaglio.trace.graph import FuncGraph
from intaglio.type_specs.trace_type import PlaceholderContext, Tracing


def wrap_function(fn: Callable[..., Any], signature: Sequence[Any], name: str | None = None) -> Any:
    """The graph of a function written for TensorFlow 1, as a function of tensors.

    Args:
      fn: called once, with placeholders; variables that it makes belong to the result.
      signature: TensorSpecs of its arguments.

    Returns:
      A function with `graph`, `variables` and `prune`.

    >>> double = tf.compat.v1.wrap_function(lambda x: x * 2.0, [tf.TensorSpec([], tf.float32)])
    >>> double(tf.constant(4.0)).numpy()
    np.float32(8.0)
    """
    label = name or getattr(fn, "__name__", "wrapped").strip("<>")
    specs = list(signature)
    graph: Any = FuncGraph(label)
    graph.kept = []
    graph.admit_variable = graph.kept.append
    with graph.as_default():
        arguments = [_argument(graph, spec) for spec in specs]
        graph.inputs += nest.flatten(arguments, expand_composites=True)
        graph.structured_outputs = nest.map_structure(_result, fn(*arguments))
    flat = nest.flatten(graph.structured_outputs, expand_composites=True)
    graph.outputs += [value for value in flat if value is not None]
    own = {id(v.handle): v for v in (*graph.kept, *graph.variables)}
    outside = {inner.name: own.get(id(outer), outer) for outer, inner in graph.captures}
    parts = GraphParts(graph.as_graph_def(), outside, graph)
    return WrappedFunction.of(parts, graph, specs)


def _argument(graph: Any, spec: Any) -> Any:
    def make(part: Any, name: str) -> Any:
        own = part.name if part.name and is_node_name(part.name) else raw.Placeholder.name
        return graph.placeholder(part.dtype, part.dims, own, part.content)

    return from_value(spec, Tracing(for_signature=True)).placeholder_value(PlaceholderContext(make))


def _result(value: Any) -> Any:
    """A result as a tensor; operations run, and give None."""
    if value is None or isinstance(value, Node):
        return None
    if isinstance(value, CompositeTensor):
        return value
    return convert.to_tensor(value)
