"""Forward declarations of graphs: called by their signature before they are traced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.ir.graph import Graph
from intaglio.ir.recursive_graph import RecursiveGraph
from intaglio.opdef import door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.trace.graph import record

# The default limit on the depth of a graph's recursion, in calls.
MAX_RECURSION_CALLS = 1000


def stand_in(
    name: str, inputs: Sequence[Any], outputs: Sequence[Any], limit: int
) -> RecursiveGraph:
    """A graph of that name, known by its inputs (dtype, shape, contents) and outputs only."""

    def body(*values: Any) -> list[Any]:
        for value, (dtype, dims, content) in zip(values, inputs, strict=True):
            value.spec = type(value.spec)(dtype, dims, content)
        return [raw.FakeParam(dtype=dtype, shape=dims) for dtype, dims in outputs]

    specs = [(dtype, dims, f"x_{i}") for i, (dtype, dims, _) in enumerate(inputs)]
    graph, graph.outputs = record(body, name, specs)
    return RecursiveGraph(graph.freeze_function(), limit)


def call(graph: RecursiveGraph, inputs: Sequence[Tensor]) -> Sequence[Any]:
    """The outputs of a recorded call of the graph that calls itself."""
    attrs = {
        "Tin": tuple([t.dtype for t in inputs]),
        "f": graph,
        "Tout": tuple([t.dtype for t in graph.outputs]),
        "config": "",
        "config_proto": "",
        "executor_type": "",
    }
    return door.carry_out(raw.StatefulPartitionedCall, list(inputs), attrs, None)


def calling(graph: RecursiveGraph) -> Graph:
    """A graph that consists of a call of the graph: a branch or body, which has gradients."""

    def body(*values: Any) -> list[Any]:
        for value, original in zip(values, graph.inputs, strict=True):
            value.spec = original.spec
        return list(call(graph, values))

    specs = [(v.dtype, v.dims, f"x_{i}") for i, v in enumerate(graph.inputs)]
    recorder, recorder.outputs = record(body, f"{graph.name}_again", specs)
    return recorder.freeze_function()
