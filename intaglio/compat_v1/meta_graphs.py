"""Graphs with their collections as files: `export_meta_graph` and `import_meta_graph`.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/train/import_meta_graph. Variables are written
by the names of their operations, and are variables of the graph again when they are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from intaglio.base import files
from intaglio.compat_v1.default_graphs import get_default_graph
from intaglio.graphdef import declarations, tensors
from intaglio.graphdef.dataflow import functionalized
from intaglio.graphdef.declarations import MalformedError
from intaglio.graphdef.load import import_graph_def
from intaglio.graphdef.ref_variables import with_handles
from intaglio.graphdef.saved_messages import MetaGraphDef, VariableDef
from intaglio.graphdef.transitive_users import transitive_users
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.saved_model.graph_writer import GraphWriter
from intaglio.state.variable import ResourceVariable, Variable
from intaglio.trace.graph import Graph

VERSION = "2.21.0"  # of the TensorFlow whose format this is


def export_meta_graph(
    filename: Any = None,
    meta_info_def: Any = None,
    graph_def: Any = None,
    saver_def: Any = None,
    collection_list: Iterable[str] | None = None,
    as_text: bool = False,
    graph: Any = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    save_debug_info: bool = False,
    **kwargs: Any,
) -> Any:
    """A graph, the current one if None, with its collections, also written to a file if there is a name.

    Collections of numbers, texts, operations, tensors and variables are written, others left out.
    """
    graph = get_default_graph() if graph is None else graph
    proto = MetaGraphDef()
    if meta_info_def is not None:
        proto.meta_info_def.ParseFromString(meta_info_def.SerializeToString())
    proto.meta_info_def.tensorflow_version = VERSION
    own = graph.as_graph_def(add_shapes=True) if graph_def is None else graph_def
    proto.graph_def.ParseFromString(own.SerializeToString())
    if clear_devices:
        for node in proto.graph_def.node:
            node.device = ""
    if saver_def is not None:
        proto.saver_def.ParseFromString(saver_def.SerializeToString())
    wanted = graph.collections if collection_list is None else list(collection_list)
    for name in wanted:
        if isinstance(name, str):
            _fill(proto, name, graph.get_collection(name))
    if filename:
        write(filename, proto, as_text)
    return proto


def write(filename: Any, meta_graph: Any, as_text: bool = False) -> None:
    """Writes a MetaGraphDef to a file. Raises OpError if it cannot be written."""
    data = declarations.as_text(meta_graph).encode() if as_text else meta_graph.SerializeToString()
    files.write(os.fsdecode(filename), data)


def _fill(proto: Any, name: str, values: list[Any]) -> None:
    """Writes a collection, if all of it has a written form."""
    if not values:
        return
    if all(isinstance(v, Variable) and v._resource is None for v in values):
        defs = [variable_def(v).SerializeToString() for v in values]
        proto.collection_def[name].bytes_list.value.extend(defs)
    elif all(isinstance(v, (Node, SymbolicTensor)) for v in values):
        proto.collection_def[name].node_list.value.extend([v.name for v in values])
    elif all(isinstance(v, (str, bytes)) for v in values):
        texts = [v.encode() if isinstance(v, str) else v for v in values]
        proto.collection_def[name].bytes_list.value.extend(texts)
    elif all(type(v) is int for v in values):
        proto.collection_def[name].int64_list.value.extend(values)
    elif all(type(v) is float for v in values):
        proto.collection_def[name].float_list.value.extend(values)


def variable_def(variable: Any) -> Any:
    """A variable of a graph as a VariableDef message."""
    return VariableDef(
        variable_name=variable.handle.name,
        initial_value_name=variable.initial_value.name,
        initializer_name=variable.initializer.name,
        snapshot_name=variable._snapshot.name,
        trainable=variable.trainable,
        is_resource=True,
        synchronization=variable.synchronization.value,
        aggregation=variable.aggregation.value,
    )


def variable_def_in(variable: Any, scope: str | None) -> Any:
    """As `variable_def`, with names relative to a scope; None for a variable outside of it."""
    proto = variable_def(variable)
    if scope is None:
        return proto
    if not variable.name.startswith(scope):
        return None
    for field in ("variable_name", "initial_value_name", "initializer_name", "snapshot_name"):
        setattr(proto, field, getattr(proto, field).removeprefix(f"{scope.rstrip('/')}/"))
    return proto


def variable_of_def(proto: Any, scope: str | None) -> Variable:
    """The variable of the current graph that a message names, below a scope."""
    return _variable(get_default_graph(), proto, f"{scope}/" if scope else "")


def read(meta_graph_or_file: Any) -> Any:
    """The MetaGraphDef of a file or another library's message. Raises OSError, ValueError."""
    if hasattr(meta_graph_or_file, "SerializeToString"):
        data = meta_graph_or_file.SerializeToString()
        return declarations.parsed(MetaGraphDef, data, "the MetaGraphDef")
    path = os.fsdecode(meta_graph_or_file)
    if not os.path.isfile(path):
        raise OSError(f"File {path} does not exist.")
    with open(path, "rb") as file:
        data = file.read()
    try:
        return declarations.parsed(MetaGraphDef, data, path)
    except MalformedError:
        return declarations.parsed_text(MetaGraphDef, data.decode("utf-8", "replace"), path)


def imported(
    meta_graph: Any, import_scope: str | None = None, input_map: Any = None
) -> dict[str, Any]:
    """Adds a MetaGraphDef to the current graph; returns the variables that it brought, by name.

    Raises ValueError (MalformedError) for a message that contradicts itself.
    """
    graph = get_default_graph()
    graph_def, _ = with_handles(_without_savers(meta_graph))
    graph_def = functionalized(graph_def, with_gradients=False)
    import_graph_def(graph_def, input_map=input_map, name=import_scope or "")
    left_out = {n.name for n in meta_graph.graph_def.node} - {n.name for n in graph_def.node}
    prefix = f"{import_scope}/" if import_scope else ""
    variables: dict[str, Any] = {}
    for name in meta_graph.collection_def:
        collection = meta_graph.collection_def[name]
        for value in _values(graph, collection, prefix, variables, name, left_out):
            graph.add_to_collection(name, value)
    return variables


def _values(
    graph: Graph,
    collection: Any,
    prefix: str,
    variables: dict[str, Any],
    name: str,
    left_out: set[str],
) -> list[Any]:
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        texts = [t for t in collection.node_list.value if t.partition(":")[0] not in left_out]
        return [graph.as_graph_element(prefix + text) for text in texts]
    if kind == "bytes_list" and name not in _OTHER_MESSAGES:
        found: list[Any] = []
        for data in collection.bytes_list.value:
            proto = declarations.parsed(VariableDef, data, f"collection {name}")
            if not proto.variable_name:
                return []
            if proto.variable_name not in variables:
                variables[proto.variable_name] = _variable(graph, proto, prefix)
            found.append(variables[proto.variable_name])
        return found
    return [] if kind in (None, "any_list", "bytes_list") else list(getattr(collection, kind).value)


# Collections whose messages are no VariableDefs, and which no program here reads.
_OTHER_MESSAGES = ("cond_context", "while_context", "queue_runners", "savers")


def _variable(graph: Graph, proto: Any, prefix: str) -> Variable:
    def element(name: str) -> Any:
        try:
            return graph.as_graph_element(prefix + name)
        except (KeyError, ValueError, TypeError):
            raise MalformedError(
                f"the variable {proto.variable_name!r} names {name!r}, which the graph does not have"
            ) from None

    return ResourceVariable.of_graph(
        element(proto.variable_name),
        element(proto.initial_value_name) if proto.initial_value_name else None,
        element(proto.initializer_name),
        element(proto.snapshot_name),
        proto.trainable,
    )


# What reads and writes checkpoints: a Saver takes the place of these ops.
_SAVING = frozenset(
    ["SaveV2", "RestoreV2", "MergeV2Checkpoints", "ShardedFilename", "Save", "Restore"]
)


def _without_savers(meta_graph: Any) -> Any:
    """The graph without the ops of savers, and without what needs these."""
    scope = _own_scope(meta_graph)
    nodes = meta_graph.graph_def.node
    savers = [
        n.name for n in nodes if n.op in _SAVING or (scope is not None and n.name.startswith(scope))
    ]
    if not savers:
        return meta_graph.graph_def
    dropped = transitive_users(nodes, savers)
    graph_def = type(meta_graph.graph_def)()
    graph_def.CopyFrom(meta_graph.graph_def)
    del graph_def.node[:]
    graph_def.node.extend([n for n in nodes if n.name not in dropped])
    return graph_def


def _own_scope(meta_graph: Any) -> str | None:
    """The scope of the ops by which the file's own saver saves and restores, or None if it has none."""
    scope, slash, _ = meta_graph.saver_def.restore_op_name.rpartition("/")
    return scope + slash if slash else None


def by_saved_name(meta_graph: Any, variables: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The variables that the graph's own saver saves, all of them if it has none, by the names of the file."""
    named = {v._shared_name.removeprefix(prefix): v for v in variables.values()}
    saved = saved_names(meta_graph)
    return named if saved is None else {name: named[name] for name in saved if name in named}


def saved_names(meta_graph: Any) -> list[str] | None:
    """The names of the variables that the graph's own saver saves, or None if it has none."""
    scope = _own_scope(meta_graph)
    for node in meta_graph.graph_def.node if scope else ():
        name = node.name
        if name.startswith(scope) and name.endswith("tensor_names") and node.op == raw.Const.name:
            array = tensors.array_of(node.attr["value"].tensor)
            return [bytes(name).decode() for name in np.ravel(array)]
    return None


def add_saver(meta_graph: Any, variables: Mapping[str, Any]) -> None:
    """Adds ops that save and restore these variables, by name, for loaders that run graphs."""
    pairs = [(name, v.handle.node.name, v) for name, v in variables.items()]
    GraphWriter(meta_graph).saver(pairs, ())
