"""A graph as a GraphDef: nodes with all their attributes, functions in the library.

Follows https://www.tensorflow.org/api_docs/python/tf/Graph#as_graph_def.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from intaglio.graphdef import messages, tensors
from intaglio.ir import implementations
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.recursive_graph import RecursiveGraph
from intaglio.ir.replicas import as_call
from intaglio.opdef.op import Op
from intaglio.opdef.signature import REQUIRED, Arg
from intaglio.opdef.spec import Spec

PRODUCER = 2474  # the GraphDef version of TensorFlow 2.21
MIN_CONSUMER = 0
GRADIENT = "_gradient_op_type"  # a node's own gradient function, by name


class Library:
    """The functions that nodes refer to, each written once under a name of its own."""

    def __init__(self, proto: Any) -> None:
        self.proto = proto
        self.names: dict[int, str] = {}
        # Nodes that are written besides those of a graph, after them, by its id.
        self.left_out: dict[int, list[Node]] = {}
        self.kept: list[Graph] = []

    def name_of(self, graph: Graph) -> str:
        """The name of the function, which is written at the first question."""
        if isinstance(graph, RecursiveGraph):
            graph = graph.target
        if id(graph) in self.names:
            return self.names[id(graph)]
        taken = set(self.names.values())
        base = re.sub(r"[^A-Za-z0-9_.]", "_", graph.name) or "function"
        name, n = base, 0
        while name in taken:
            n += 1
            name = f"{base}_{n}"
        self.names[id(graph)] = name
        self.kept.append(graph)
        self.proto.function.add().CopyFrom(function_def(graph, name, self))
        return name


def graph_def(nodes: Iterable[Node], add_shapes: bool = False) -> Any:
    """The nodes as a GraphDef message. Raises ValueError for what has no written form."""
    proto = messages.GraphDef()
    proto.versions.producer = PRODUCER
    if MIN_CONSUMER:
        proto.versions.min_consumer = MIN_CONSUMER
    library = Library(proto.library)
    for node in nodes:
        node_def = proto.node.add()
        fill_node(node_def, node, library, [tensor_name(v) for v in node.inputs])
        if add_shapes:
            shapes = [v.dims for v in node.outputs]
            tensors.set_attribute(node_def.attr["_output_shapes"], shapes, "list(shape)", None)
    if not proto.library.function:
        proto.ClearField("library")
    return proto


def tensor_name(value: SymbolicTensor) -> str:
    """How a GraphDef names a value: `node`, or `node:2` for a later output."""
    return value.node.name if value.index == 0 else f"{value.node.name}:{value.index}"


def node_def(node: Node) -> Any:
    """One node as a NodeDef message."""
    proto = messages.NodeDef()
    library = Library(messages.FunctionDefLibrary())
    fill_node(proto, node, library, [tensor_name(v) for v in node.inputs])
    return proto


def fill_node(proto: Any, node: Node, library: Library, inputs: list[str]) -> None:
    """Writes name, op, inputs, device and every attribute."""
    if node.op.control_flow == "replicas":  # of which a file has what they do together
        node = as_call(node, node.inputs, node.control)
    proto.name, proto.op, proto.device = node.name, node.op.name, node.device
    proto.input.extend(inputs)
    proto.input.extend(f"^{c.name}" for c in node.control)
    for attr in node.op.sig.attrs:
        value = node.attrs.get(attr.name, attr.default)
        if value is REQUIRED:
            continue
        if attr.kind == "object":
            raise ValueError(
                f"Node '{node.name}' ({node.op.name}) holds the Python object {value!r} in "
                f"its attribute '{attr.name}' and cannot be written to a GraphDef."
            )
        if value is not None or attr.kind == "shape":
            written = node.op.graphdef_names.get(attr.name, attr.name)
            tensors.set_attribute(proto.attr[written], value, attr.kind, library.name_of)
    gradient = node.attrs.get(GRADIENT)
    if gradient is not None:
        tensors.set_attribute(proto.attr[GRADIENT], str(gradient), "str", None)
    argument = node.attrs.get("_user_specified_name")
    if argument is not None:  # the name of the placeholder's argument
        tensors.set_attribute(proto.attr["_user_specified_name"], argument, "str", None)
    for name, value in type_attributes(node).items():
        kind = "list(type)" if isinstance(value, tuple) else "int" if type(value) is int else "type"
        tensors.set_attribute(proto.attr[name], value, kind, None)


def type_attributes(node: Node) -> dict[str, Any]:
    """The attributes that the inputs imply: T, N, Tin."""
    declared = set(node.op.attr_names)
    implied = node.op.types_of(node.inputs, node.attrs)
    for arg in node.op.sig.inputs:
        if arg.number:
            implied[arg.number] = node.attrs[arg.number]
    return {k: v for k, v in implied.items() if k not in declared}


# -- functions -----------------------------------------------------------------------


def function_def(graph: Graph, name: str, library: Library) -> Any:
    """A graph as a FunctionDef: inputs become arguments, outputs named results."""
    proto = messages.FunctionDef()
    proto.signature.name = name
    names: dict[int, str] = {}
    for i, (value, label) in enumerate(zip(graph.inputs, labels(graph.inputs), strict=True)):
        names[id(value)] = label
        _fill_argument(proto, i, value, label)
    arguments = {id(v.node) for v in graph.inputs}
    for node in (*graph.nodes, *library.left_out.get(id(graph), ())):
        if id(node) in arguments:
            continue
        for value, text in zip(node.outputs, output_names(node), strict=True):
            names[id(value)] = text
        fill_node(proto.node_def.add(), node, library, [names[id(v)] for v in node.inputs])
        if node.op.stateful:
            proto.signature.is_stateful = True
            proto.control_ret[node.name] = node.name
            proto.signature.control_output.append(node.name)
    for value, label in zip(graph.outputs, labels(graph.outputs), strict=True):
        proto.signature.output_arg.add(name=label, type=value.dtype.as_datatype_enum)
        proto.ret[label] = names[id(value)]
    for key, value in implementations.attributes_of(graph).items():
        tensors.set_attribute(proto.attr[key], value, _kind(value), None)
    # A call of one may run another one.
    for other in implementations.siblings(graph):
        library.name_of(other)
    return proto


_KINDS = {bool: "bool", int: "int", float: "float", list: "list(str)", tuple: "list(str)"}


def _kind(value: Any) -> str:
    """The kind of a function's attribute, which no signature declares."""
    return _KINDS.get(type(value), "str")


def _fill_argument(proto: Any, index: int, value: SymbolicTensor, label: str) -> None:
    """An argument with its shape, or with what is known of the resource that it is."""
    argument = proto.signature.input_arg.add(name=label, type=value.dtype.as_datatype_enum)
    attrs = proto.arg_attr[index].attr
    if isinstance(value.spec.value, Spec):
        content = value.spec.value
        data = argument.handle_data.add(dtype=content.dtype.as_datatype_enum)
        data.shape.CopyFrom(tensors.shape_proto(content.shape))
    tensors.set_attribute(attrs["_output_shapes"], [value.dims], "list(shape)", None)
    user_name = value.node.attrs.get("_user_specified_name")
    if user_name is not None:
        tensors.set_attribute(attrs["_user_specified_name"], user_name, "str", None)


def labels(values: Iterable[SymbolicTensor]) -> list[str]:
    """Argument names: lower case, letters, digits and underscores, each once."""
    found: list[str] = []
    for value in values:
        base = re.sub(r"[^a-z0-9_]", "_", value.node.name.lower())
        base = base if base[:1].isalpha() else f"arg_{base}"
        label, n = base, 0
        while label in found:
            n += 1
            label = f"{base}_{n}"
        found.append(label)
    return found


def output_names(node: Node) -> list[str]:
    """How a FunctionDef names a node's outputs: `node:output_arg:index`."""
    texts: list[str] = []
    for arg in node.op.sig.outputs:
        texts += [f"{node.name}:{arg.name}:{i}" for i in range(_length(arg, node))]
    return texts


def _length(arg: Arg, node: Node) -> int:
    if arg.number:
        return node.attrs[arg.number]
    return len(node.attrs[arg.types]) if arg.types else 1


def op_def(op: Op) -> Any:
    """An op's declaration as an OpDef message."""
    proto = messages.OpDef(name=op.name, is_stateful=op.stateful)
    for target, args in ((proto.input_arg, op.sig.inputs), (proto.output_arg, op.sig.outputs)):
        for arg in args:
            arg_def = target.add(name=arg.name)
            arg_def.number_attr, arg_def.type_list_attr = arg.number or "", arg.types or ""
            if arg.dtype is not None:
                arg_def.type = arg.dtype.as_datatype_enum
            elif arg.var:
                arg_def.type_attr = arg.var
    for attr in op.sig.attrs:
        proto.attr.add(name=attr.name, type=attr.kind.replace("str", "string"))
    return proto
