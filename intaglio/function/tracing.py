"""Tracing: a Python function called once with placeholders, its ops recorded into a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autograph import declared_state, unconverted_reads
from intaglio.base import nest, origins, progress
from intaglio.base.composite import CompositeTensor
from intaglio.function.signature import Bound
from intaglio.function.trace_types import from_value
from intaglio.function.user_errors import in_user_code
from intaglio.ir.builder import is_node_name
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import FuncGraph
from intaglio.type_specs.trace_type import PlaceholderContext, TraceType, Tracing

# Called with every graph that has been traced, while there are listeners.
LISTENERS: list[Callable[[FuncGraph], None]] = []


def trace(
    function: Callable[..., Any],
    shown: Callable[..., Any],
    graph: FuncGraph,
    bound: Bound,
    types: Sequence[TraceType],
    *,
    converted: bool,
    has_values: bool,
) -> TraceType:
    """Records `function` into `graph`; returns the type of its output.

    `bound` has the values of the call that traces (specs, if `has_values` is false), and
    `shown` is the function that messages name.
    """
    with origins.enclosing(), graph.as_default():
        arguments = _placeholders(graph, bound, types, has_values)
        args, kwargs = bound.call_with(arguments)
        state = declared_state.Begun()
        graph.observe_code = unconverted_reads.observer()
        if not converted:  # its frame would not say what the cells of its closure are
            unconverted_reads.called(function, tuple(args), kwargs)
        try:
            with progress.shown(
                f"tracing {graph.name}", lambda: f"{len(graph.nodes)} nodes so far"
            ):
                result = function(*args, **kwargs)
            graph.declared = state.assign()
        except Exception as e:
            reported = in_user_code(e) if converted else e
            if reported is e:
                raise
            raise reported from None
        finally:
            state.restore()
            graph.observe_code = None
        graph.example.clear()
        structure = nest.map_structure(lambda v: _as_output(v, shown), result)
        output_type = from_value(structure, Tracing())
        outputs = [raw.Identity(t, name="Identity") for t in output_type.to_tensors(structure)]
        graph.outputs = outputs
        graph.structured_outputs = (
            None if structure is None else output_type.from_tensors(iter(outputs))
        )
    for listen in LISTENERS:
        listen(graph)
    return output_type


def _placeholders(
    graph: FuncGraph, bound: Bound, types: Sequence[TraceType], has_values: bool
) -> list[Any]:
    """The symbolic arguments of the traced call; creates the graph's inputs."""

    def make(spec: Any, name: str) -> Any:
        node_name = name if is_node_name(name) else "Placeholder"
        return graph.placeholder(spec.dtype, spec.dims, node_name, spec.content, user_name=name)

    context = PlaceholderContext(make)
    arguments: list[Any] = []
    for name, kind, value in zip(bound.names, types, bound.values, strict=True):
        context.name = name
        placeholder = kind.placeholder_value(context)
        if placeholder is NotImplemented:
            placeholder = value
        tensors = kind.to_tensors(placeholder)
        graph.inputs.extend(tensors)
        # A variable is a value where specs of the others are given, too.
        if tensors and (has_values or hasattr(value, "handle")):
            for inner, outer in zip(tensors, kind.to_tensors(kind.cast(value)), strict=True):
                graph.example[id(inner)] = outer
        arguments.append(placeholder)
    return arguments


def _as_output(value: Any, shown: Callable[..., Any]) -> Any:
    """An output as a tensor of the graph; None stays, and composite values but for their variables."""
    if value is None or isinstance(value, Tensor):
        return value
    value = convert.outcome(value)
    if isinstance(value, CompositeTensor):
        return value._convert_variables_to_tensors()
    try:
        tensor = convert.to_tensor(value)
    except (TypeError, ValueError):
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes "
            f"or None values; in compilation of {shown!r}, found return value of type {_kind_name(value)}, "
            "which is not a Tensor or ExtensionType."
        ) from None
    if isinstance(tensor, SymbolicTensor) and not tensor.node.name:
        tensor.graph.name_by_op(tensor.node)  # not after the Identity
    return tensor


def _kind_name(value: Any) -> str:
    return "Operation" if isinstance(value, Node) else type(value).__name__
