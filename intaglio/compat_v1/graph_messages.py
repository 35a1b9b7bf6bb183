"""Graphs as messages, as tools around TensorFlow handle them: optimized, and functions read on their own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.base.shapes import as_dims
from intaglio.graphdef import load, messages, tensors
from intaglio.graphdef.export import graph_def as written
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.ir.graph import Node
from intaglio.ir.walk import live_nodes
from intaglio.opdef import door, raw
from intaglio.opdef.spec import Spec
from intaglio.optimize.fold import fold_constants
from intaglio.optimize.inline import inline_calls
from intaglio.trace.graph import FuncGraph, Graph


def optimized(
    config_proto: Any,
    metagraph: Any,
    verbose: bool = True,
    graph_id: bytes = b"graph_to_optimize",
    cluster: Any = None,
    strip_default_attributes: bool = False,
) -> Any:
    """The graph of a MetaGraphDef with calls inlined and constants folded, as a GraphDef.

    The nodes that the collection `train_op` names keep their names, and what they do not need is left out.
    """
    del config_proto, verbose, graph_id, cluster, strip_default_attributes
    with Graph().as_default() as graph:
        load.import_graph_def(metagraph.graph_def, name="")
    names = metagraph.collection_def["train_op"].node_list.value
    kept = {text.partition(":")[0] for text in names}
    ends = [n for n in graph.nodes if n.name in kept]
    outputs = [v for n in ends for v in n.outputs]
    nodes = live_nodes(graph.nodes, outputs) if ends else list(graph.nodes)
    whole = fold_constants(inline_calls(FrozenGraph("graph", [], nodes, outputs)))
    return written(_renamed(whole, outputs))


def _renamed(graph: FrozenGraph, outputs: Sequence[Any]) -> list[Node]:
    """The nodes of a graph, with identities under the names of outputs that are gone."""
    names = {n.name for n in graph.nodes}
    nodes = list(graph.nodes)
    for old, new in zip(outputs, graph.outputs, strict=True):
        if old.node.name not in names:
            names.add(old.node.name)
            nodes.append(Node(raw.Identity, [new], {}, old.node.name, [new.spec]))
    return nodes


def function_def_to_graph(
    fdef: Any, structured_input_signature: Any = None, input_shapes: Sequence[Any] | None = None
) -> FuncGraph:
    """The graph of a FunctionDef message.

    Functions that it calls are those of the graph being recorded. `input_shapes` are the shapes of its
    arguments, where they are known better than in the message.
    """
    del structured_input_signature
    library = messages.FunctionDefLibrary()
    around = getattr(door.level(), "graph", None)
    if around is not None:
        library.CopyFrom(around.as_graph_def().library)
    known: dict[int, Spec] = {}
    for i, shape in enumerate(input_shapes or ()):
        dtype = tensors.dtype_of(fdef.signature.input_arg[i].type)
        if shape is not None and dtype.is_numpy_compatible:
            known[i] = Spec(dtype, as_dims(shape))
    return load.function_graph(fdef, load.Functions(library), known)
