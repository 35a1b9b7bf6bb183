"""The rewriting of a whole GraphDef."""

from __future__ import annotations

from typing import Any

from intaglio.graphdef.dataflow.conditionals import with_branches
from intaglio.graphdef.dataflow.edges import DATAFLOW
from intaglio.graphdef.dataflow.functions import Library, Part
from intaglio.graphdef.dataflow.gradients import without_gradients
from intaglio.graphdef.dataflow.loops import with_loops
from intaglio.graphdef.dataflow.tensor_arrays import TENSOR_ARRAYS, with_lists


def functionalized(graph_def: Any, with_gradients: bool = True) -> Any:
    """A GraphDef without Switch, Merge, Enter, Exit, NextIteration and TensorArrays.

    A Merge and an Exit are still nodes of these names. A graph that has nothing of it is returned itself.
    Raises MalformedError for what is neither a conditional nor a loop. Gradients of loops have ops that
    do not exist here; they are left out where the graph is wanted without them, `with_gradients=False`.
    """
    if not any(n.op in DATAFLOW or n.op in TENSOR_ARRAYS for n in graph_def.node):
        return graph_def
    rewritten = type(graph_def)()
    rewritten.CopyFrom(graph_def)
    nodes = {n.name: n for n in graph_def.node}
    if len(nodes) < len(graph_def.node):
        return graph_def  # the reader says which name is there twice
    if not with_gradients:
        nodes = without_gradients(nodes)
    library = Library(rewritten.library)
    nodes = with_loops(with_lists(nodes), library)
    del rewritten.node[:]
    rewritten.node.extend(with_branches(Part(nodes, []), [], library).nodes.values())
    return rewritten
