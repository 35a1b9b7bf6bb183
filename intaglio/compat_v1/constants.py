"""Graphs whose variables are constants, and parts of graphs, as messages: `tf.compat.v1.graph_util`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/graph_util.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import resource
from intaglio.compat_v1.wrapped_functions import wrap_function
from intaglio.function.concrete import ConcreteFunction
from intaglio.graphdef import load, messages
from intaglio.graphdef.export import graph_def as written
from intaglio.ir.graph import Graph as FrozenGraph
from intaglio.opdef import raw
from intaglio.optimize.freezing import frozen
from intaglio.optimize.inline import inline_calls
from intaglio.runtime.resources import Resource
from intaglio.trace.graph import Graph


def convert_variables_to_constants_v2_as_graph(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> tuple[Any, Any]:
    """What `convert_variables_to_constants_v2` returns, and its graph as a GraphDef."""
    found = convert_variables_to_constants_v2(func, lower_control_flow, aggressive_inlining)
    return found, found.graph.as_graph_def()


def convert_variables_to_constants_v2(
    func: ConcreteFunction, lower_control_flow: bool = True, aggressive_inlining: bool = False
) -> Any:
    """The function with its variables, and what else it captures, as constants of their present values.

    The result takes and returns tensors alone, flat. Branches and loops stay ops with graphs of their own,
    and short functions are inlined, whatever `lower_control_flow` and `aggressive_inlining` are.

    Raises ValueError for a function that writes its variables.
    """
    del lower_control_flow, aggressive_inlining
    graph = inline_calls(func.frozen)
    captured = graph.inputs[len(graph.inputs) - len(func.captured_inputs) :]
    values: list[Any] = []
    resources: list[Any] = []
    for inner, array in zip(captured, func.capture_arrays, strict=True):
        if isinstance(array, Resource):
            array = array.read()
        if inner.dtype is resource and not isinstance(array, (np.ndarray, np.generic)):
            resources.append(inner)  # a table, say: the function goes on to take it
        else:
            values.append((inner, np.asarray(array)))
    constant = frozen(graph, values)
    inputs = [v.name for v in constant.inputs]
    return function_from_graph_def(
        written(constant.nodes), inputs, [v.name for v in constant.outputs]
    )


def function_from_graph_def(graph_def: Any, inputs: Any, outputs: Any) -> Any:
    """The function from tensors of a GraphDef, by their names, to others."""
    whole = wrap_function(lambda: load.import_graph_def(graph_def, name=""), [])
    return whole.prune(inputs, outputs)


def convert_variables_to_constants(
    sess: Any,
    input_graph_def: Any,
    output_node_names: Sequence[str],
    variable_names_whitelist: Sequence[str] | None = None,
    variable_names_blacklist: Sequence[str] | None = None,
) -> Any:
    """The part of a GraphDef behind some nodes, with constants for the variables of a session.

    `variable_names_whitelist` names the variables that become constants, if not all do, and
    `variable_names_blacklist` those that do not.
    """
    part = extract_sub_graph(input_graph_def, output_node_names)
    with Graph().as_default() as graph:
        load.import_graph_def(part, name="")
    handles = [
        n.outputs[0]
        for n in graph.nodes
        if n.op is raw.VarHandleOp
        and (variable_names_whitelist is None or n.name in variable_names_whitelist)
        and n.name not in (variable_names_blacklist or ())
    ]
    with sess.graph.as_default():
        reads = [
            raw.ReadVariableOp(sess.graph.get_tensor_by_name(h.name), dtype=h.node.attrs["dtype"])
            for h in handles
        ]
    arrays = [np.asarray(a) for a in sess.run(reads)]
    whole = FrozenGraph("session", [], graph.nodes, [])
    return written(frozen(whole, list(zip(handles, arrays, strict=True))).nodes)


def extract_sub_graph(graph_def: Any, dest_nodes: Sequence[str]) -> Any:
    """The nodes of a GraphDef that some nodes need, in their order, with all functions.

    Raises TypeError for a single name or no GraphDef, AssertionError for a node that is not there.
    """
    if isinstance(dest_nodes, str):
        raise TypeError("dest_nodes must be an iterable of strings.")
    nodes = {n.name: n for n in graph_def.node}
    needed: set[str] = set()
    work = list(dest_nodes)
    while work:
        name = work.pop()
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
        if name not in needed:
            needed.add(name)
            work += [_node_of(text) for text in nodes[name].input]
    found = messages.GraphDef()
    found.versions.CopyFrom(graph_def.versions)
    found.library.CopyFrom(graph_def.library)
    found.node.extend([n for n in graph_def.node if n.name in needed])
    return found


def remove_training_nodes(input_graph: Any, protected_nodes: Sequence[str] | None = None) -> Any:
    """A GraphDef without checks of numbers and without identities that nothing waits for.

    `protected_nodes` stay.
    """
    protected = set(protected_nodes or ())
    protected |= {text[1:] for n in input_graph.node for text in n.input if text.startswith("^")}
    dropped = {
        n.name: n.input[0]
        for n in input_graph.node
        if n.op in (raw.CheckNumerics.name, raw.Identity.name)
        and n.name not in protected
        and n.input
        and not any(text.startswith("^") for text in n.input)
    }

    def source(text: str) -> str:
        while text in dropped:
            text = dropped[text]
        return text

    found = messages.GraphDef()
    found.CopyFrom(input_graph)
    del found.node[:]
    for node in input_graph.node:
        if node.name not in dropped:
            copy = found.node.add()
            copy.CopyFrom(node)
            copy.input[:] = [source(text) for text in node.input]
    return found


def tensor_shape_from_node_def_name(graph: Any, input_name: str) -> Any:
    """The shape of a tensor of a graph, by the name that inputs of its GraphDef have."""
    name = input_name if ":" in input_name else f"{input_name}:0"
    return graph.get_tensor_by_name(name).shape


def _node_of(text: str) -> str:
    """The name of the node that an input of another one is from."""
    return text.removeprefix("^").partition(":")[0]
