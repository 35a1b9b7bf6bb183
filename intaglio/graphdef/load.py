"""A GraphDef as nodes of the graph being recorded. Bytes are never trusted.

Follows https://www.tensorflow.org/api_docs/python/tf/graph_util/import_graph_def.
"""

from __future__ import annotations

import contextlib
import heapq
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from google.protobuf.message import DecodeError

from intaglio.base.dtypes import as_dtype, resource
from intaglio.base.files import LOCAL_PATHS
from intaglio.graphdef import messages, tensors
from intaglio.graphdef.dataflow import functionalized
from intaglio.graphdef.export import GRADIENT
from intaglio.graphdef.node_checks import (
    OUTPUT_SHAPES,
    check_attributes,
    check_inputs,
    check_outputs,
)
from intaglio.graphdef.tensors import MalformedError
from intaglio.ir import implementations
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.recursive_graph import RecursiveGraph
from intaglio.opdef import convert, door, raw
from intaglio.opdef.op import Op
from intaglio.opdef.signature import REQUIRED
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.trace.graph import FuncGraph
from intaglio.trace.stand_ins import MAX_RECURSION_CALLS, calling, stand_in

_NODE_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


def parse_graph_def(data: bytes) -> Any:
    """Bytes as a GraphDef message. Raises MalformedError if they are none."""
    proto = messages.GraphDef()
    try:
        proto.ParseFromString(data)
    except DecodeError as e:
        raise MalformedError(f"the bytes are not a GraphDef: {e}") from None
    return proto


def as_own_message(graph_def: Any) -> Any:
    """A GraphDef of any origin (bytes, TensorFlow's class, ours) as ours."""
    if isinstance(graph_def, (bytes, bytearray, memoryview)):
        return parse_graph_def(bytes(graph_def))
    if isinstance(graph_def, messages.GraphDef):
        return graph_def
    if hasattr(graph_def, "SerializeToString"):
        return parse_graph_def(graph_def.SerializeToString())
    raise TypeError(
        f"Argument `graph_def` must be a GraphDef proto, not {type(graph_def).__name__}."
    )


# Functions may be nested this deeply; Python's stack is the limit.
MAX_FUNCTION_DEPTH = 64


class UnknownOpError(ValueError):
    """A graph has an op that does not exist here."""


class Functions:
    """The functions of a library, each read on first use."""

    def __init__(self, library: Any) -> None:
        self.protos = {f.signature.name: f for f in library.function}
        self.graphs: dict[str, Graph] = {}
        self.reading: list[str] = []
        # For functions being read that call themselves: their forward declarations.
        self.stand_ins: dict[str, RecursiveGraph] = {}
        # What a node keeps for the name of its own gradient function.
        self.gradient_of: Callable[[str], str] = str

    def graph(self, name: str) -> Graph:
        """The function as a graph; its forward declaration while it is being read.

        Raises MalformedError if it is missing.
        """
        if name in self.graphs:
            return self.graphs[name]
        if name not in self.protos:
            raise MalformedError(f"function '{name}' is not in the library")
        if name in self.reading:
            return self._stand_in(name)
        if len(self.reading) >= MAX_FUNCTION_DEPTH:
            raise MalformedError(
                f"functions call each other more than {MAX_FUNCTION_DEPTH} levels deep"
            )
        self.reading.append(name)
        try:
            graph = self.graphs[name] = _read_function(self.protos[name], self)
        finally:
            self.reading.pop()
        if name in self.stand_ins:
            self.stand_ins.pop(name).resolve(lambda: graph, interpreter.repeated)
        attributes = _function_attributes(self.protos[name])
        if attributes:
            implementations.declare(graph, attributes)
            self._read_siblings(attributes.get(implementations.INTERFACE_NAME))
        return graph

    def _read_siblings(self, interface: Any) -> None:
        """Reads the other functions that implement an interface: one of them may run for a call."""
        for name, proto in self.protos.items():
            found = _function_attributes(proto).get(implementations.INTERFACE_NAME)
            if interface is not None and found == interface and name not in self.reading:
                implementations.keep(self.graph(name))

    def _stand_in(self, name: str) -> RecursiveGraph:
        if name not in self.stand_ins:
            proto = self.protos[name]
            inputs = [_argument_spec(proto, i) for i in range(len(proto.signature.input_arg))]
            outputs = [(tensors.dtype_of(arg.type), None) for arg in proto.signature.output_arg]
            specs = [(spec.dtype, spec.shape, spec.value) for spec in inputs]
            self.stand_ins[name] = stand_in(name, specs, outputs, MAX_RECURSION_CALLS)
        return self.stand_ins[name]


def _function_attributes(proto: Any) -> dict[str, str]:
    """The texts among the attributes of a function: the interface that it implements, its device."""
    found = {k: a.s.decode("utf-8", "surrogateescape") for k, a in proto.attr.items() if a.s}
    return {k: v for k, v in found.items() if k != "_construction_context"}


def _read_function(proto: Any, functions: Functions) -> Graph:
    return function_graph(proto, functions).freeze_function()


def function_graph(
    proto: Any, functions: Functions, known: Mapping[int, Spec] | None = None
) -> FuncGraph:
    """A FunctionDef as a graph that is not frozen yet.

    `known` has the specs of arguments that are more precise than the message, by their position.
    """
    graph = FuncGraph(proto.signature.name)
    with graph.as_default():
        reader = _Reader(functions, proto.node_def)
        for i, arg in enumerate(proto.signature.input_arg):
            spec = _argument_spec(proto, i)
            if known and i in known:
                spec = known[i]
            value = graph.placeholder(spec.dtype, spec.shape, arg.name, spec.value)
            graph.inputs.append(value)
            reader.values[arg.name], reader.nodes[arg.name] = value, value.node
        reader.read_all()
        for arg in proto.signature.output_arg:
            if arg.name not in proto.ret:
                raise MalformedError(f"function '{graph.name}' has no value for '{arg.name}'")
            value = reader.value(proto.ret[arg.name], graph.name)
            if value.dtype is not tensors.dtype_of(arg.type):
                raise MalformedError(
                    f"function '{graph.name}' returns '{arg.name}' as {value.dtype.name}, "
                    f"and declares {tensors.dtype_of(arg.type).name}"
                )
            graph.outputs.append(value)
    return graph


def _argument_spec(proto: Any, index: int) -> Spec:
    """The spec of an argument in a FunctionDef; of a resource, also of its contents."""
    arg = proto.signature.input_arg[index]
    dtype = tensors.dtype_of(arg.type)
    if dtype is resource:
        found = arg.handle_data
        content = (
            Spec(tensors.dtype_of(found[0].dtype), tensors.shape_of(found[0].shape))
            if found
            else None
        )
        return Spec(dtype, (), content)
    shape = None
    if index in proto.arg_attr and OUTPUT_SHAPES in proto.arg_attr[index].attr:
        shapes = proto.arg_attr[index].attr[OUTPUT_SHAPES].list.shape
        shape = tensors.shape_of(shapes[0]) if shapes else None
    return Spec(dtype, shape)


class _Reader:
    """Adds nodes in an order in which every input comes first."""

    def __init__(
        self,
        functions: Functions,
        nodes: Sequence[Any],
        prefix: str = "",
        replaced: Mapping[str, Any] | None = None,
    ) -> None:
        self.functions = functions
        self.prefix = prefix
        # What stands for outputs ("op", "op:1") and, behind "^", for operations that others wait for.
        self.replaced = dict(replaced or {})
        self.protos: dict[str, Any] = {}
        for proto in nodes:
            if not _NODE_NAME.match(proto.name):
                raise MalformedError(f"'{proto.name[:80]}' is not a valid node name")
            if proto.name in self.protos:
                raise MalformedError(f"there are two nodes named '{proto.name}'")
            self.protos[proto.name] = proto
        self.values: dict[str, SymbolicTensor] = {}
        self.nodes: dict[str, Node] = {}

    def read_all(self) -> None:
        """All nodes, in topological order. Raises MalformedError for cycles and strangers."""
        pending = {
            name: {d for d in map(_node_of, proto.input) if d in self.protos}
            for name, proto in self.protos.items()
        }
        users: dict[str, list[str]] = {}
        for name, needs in pending.items():
            for need in needs:
                users.setdefault(need, []).append(name)
        # In the order of the message wherever that is possible.
        order = {name: i for i, name in enumerate(self.protos)}
        names = list(self.protos)
        ready = [order[name] for name, needs in pending.items() if not needs]
        heapq.heapify(ready)
        done = 0
        while ready:
            name = names[heapq.heappop(ready)]
            self._read(self.protos[name])
            done += 1
            for user in users.get(name, ()):
                pending[user].discard(name)
                if not pending[user]:
                    heapq.heappush(ready, order[user])
        if done != len(names):
            stuck = [n for n in names if pending[n]][:5]
            raise MalformedError(f"the nodes {stuck} take their inputs from each other in a circle")

    def _read(self, proto: Any) -> None:
        op = raw.find(proto.op)
        if op is None or op.internal:
            raise UnknownOpError(
                f"Op type not registered '{proto.op}' (node '{proto.name}'). "
                "docs/coverage.md lists the ops that exist."
            )
        data = [i for i in proto.input if not i.startswith("^")]
        inputs = [self.value(i, proto.name) for i in data]
        attrs = self._attributes(op, proto, inputs)
        check_attributes(op, proto, attrs)
        check_inputs(op, proto, inputs, attrs)
        recorder: Any = door.level()
        control = [self._control(i, proto.name) for i in proto.input if i[:1] == "^"]
        try:
            with recorder.after(None), recorder.after(control):
                label = f"{self.prefix}{proto.name}/"
                outputs = door.carry_out(op, inputs, attrs, label)
        except (ArithmeticError, AttributeError, LookupError, TypeError) as e:
            # Attributes that no well-formed node has: inference did not reckon with them.
            raise MalformedError(
                f"node '{proto.name}' ({op.name}) contradicts itself: {type(e).__name__}: {e}"
            ) from e
        check_outputs(op, proto, inputs, outputs, attrs)
        self.nodes[proto.name] = recorder.graph.nodes[-1]
        self._name_outputs(op, proto.name, outputs, attrs)

    def _name_outputs(
        self, op: Op, name: str, outputs: Sequence[Any], attrs: dict[str, Any]
    ) -> None:
        for i, value in enumerate(outputs):
            self.values[name if i == 0 else f"{name}:{i}"] = value
        self.values.update({f"{name}:0": outputs[0]} if outputs else {})
        grouped = op.sig.group_outputs(outputs, attrs) if outputs else []
        for arg, item in zip(op.sig.outputs, grouped, strict=False):
            for i, value in enumerate(item if isinstance(item, list) else [item]):
                self.values[f"{name}:{arg.name}:{i}"] = value
        for i in range(len(outputs) if self.replaced else 0):
            own = name if i == 0 else f"{name}:{i}"
            if own in self.replaced:
                self.values[own] = self.values[f"{name}:{i}"] = self.replaced[own]

    def _control(self, text: str, user: str) -> Node:
        found = self.replaced[text] if text in self.replaced else self.nodes.get(text[1:])
        if found is None:
            raise MalformedError(f"node '{user}' waits for '{text[1:]}', which does not exist")
        return found

    def value(self, text: str, user: str) -> SymbolicTensor:
        """The value that an input names. Raises MalformedError if there is none."""
        found = self.values.get(text)
        if found is None:
            raise MalformedError(f"'{user}' takes '{text[:80]}', which does not exist")
        return found

    def _attributes(self, op: Op, proto: Any, inputs: list[SymbolicTensor]) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        for attr in op.sig.attrs:
            written = op.graphdef_names.get(attr.name, attr.name)
            if written in proto.attr:
                attrs[attr.name] = self._attribute(proto, written, attr.kind)
            elif attr.default is REQUIRED:
                raise MalformedError(f"node '{proto.name}' ({op.name}) lacks '{attr.name}'")
            else:
                attrs[attr.name] = attr.default
        if op.path_inputs:
            attrs[LOCAL_PATHS] = True
        if GRADIENT in proto.attr:  # without it the gradient would be another one
            own = self._attribute(proto, GRADIENT, "str")
            attrs[GRADIENT] = self.functions.gradient_of(own)
        for arg in op.sig.inputs:
            for name, kind in ((arg.number, "int"), (arg.types, "list(type)")):
                if name and name not in attrs:
                    if name not in proto.attr:
                        raise MalformedError(f"node '{proto.name}' ({op.name}) lacks '{name}'")
                    attrs[name] = self._attribute(proto, name, kind)
        return attrs

    def _attribute(self, proto: Any, name: str, kind: str) -> Any:
        try:
            read = tensors.attribute_of(proto.attr[name], kind, self.functions.graph)
        except MalformedError as e:
            raise MalformedError(f"node '{proto.name}', attribute '{name}': {e}") from None
        # Branches and bodies that are being read already.
        return calling(read) if isinstance(read, RecursiveGraph) and name != "f" else read


def _node_of(text: str) -> str:
    return text.removeprefix("^").split(":", 1)[0]


def import_graph_def(
    graph_def: Any,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
) -> list[Any] | None:
    """Adds the nodes of a GraphDef to the graph being recorded, under the scope `name`.

    Args:
      graph_def: a GraphDef message (ours or TensorFlow's) or its bytes.
      input_map: what others take instead of a tensor, by its name: `{"x:0": tensor}`; behind `^` what
        they wait for instead of an operation.
      return_elements: names of operations ("op") and tensors ("op:0") to return.
      name: the scope; "import" if None, no scope if "".

    Raises:
      MalformedError: (a ValueError) the message contradicts itself.
      ValueError: an op is unknown, a requested name does not exist, or no graph is open.
    """
    proto = functionalized(as_own_message(graph_def))
    recorder: Any = door.level()
    if recorder.eager:
        raise ValueError(
            "import_graph_def adds to a graph: call it inside `with tf.Graph().as_default():`"
        )
    scope = "import" if name is None else name
    with recorder.scoped(scope) if scope else contextlib.nullcontext(""):
        prefix = recorder.scope if scope else ""
        replaced = {k.removesuffix(":0"): _replacement(k, v) for k, v in (input_map or {}).items()}
        reader = _Reader(Functions(proto.library), proto.node, prefix, replaced)
        reader.read_all()
    strangers = [k for k in input_map or () if not _has(reader, k)]
    if strangers:
        raise ValueError(
            f"Attempted to map inputs that were not found in graph_def: [{', '.join(strangers)}]"
        )
    if return_elements is None:
        return None
    return [_element(reader, text) for text in return_elements]


def _replacement(key: str, value: Any) -> Any:
    """The tensor that stands for an output, or the operation for which others wait instead."""
    tensor = value if isinstance(value, (SymbolicTensor, Node)) else convert.to_tensor(value)
    if key[:1] != "^":
        return tensor
    return tensor.node if isinstance(tensor, SymbolicTensor) else tensor


def _has(reader: _Reader, key: str) -> bool:
    return key[1:] in reader.nodes if key[:1] == "^" else key in reader.values


def _element(reader: _Reader, text: str) -> Any:
    found = reader.values.get(text) if ":" in text else reader.nodes.get(text)
    if found is None:
        raise ValueError(f"Requested return_element '{text}' not found in graph_def.")
    return found


# -- one node ------------------------------------------------------------------------------


def created(
    graph: Any,
    op_type: str,
    inputs: Sequence[Any],
    input_types: Sequence[Any] | None,
    name: str | None,
    attrs: Mapping[str, Any] | None,
) -> Node:
    """A node of the graph in the form of a NodeDef: attributes are AttrValue messages.

    Raises RuntimeError if there is no such op, TypeError for inputs that are no tensors or
    not of `input_types` and for attributes that are no messages, ValueError if an attribute
    is missing or does not fit.
    """
    label = name or op_type
    op = raw.find(op_type)
    if op is None:
        raise RuntimeError(
            f"Op type not registered '{op_type}'. docs/coverage.md lists the ops that exist."
        )
    _check_tensors(label, inputs, input_types)
    proto = messages.NodeDef(name=label.rstrip("/"), op=op_type)
    for key, value in (attrs or {}).items():
        if key not in _declared(op):
            raise ValueError(f"Op '{op_type}' has no attribute '{key}'.")
        proto.attr[key].ParseFromString(_attribute_bytes(key, value))
    remaining = list(inputs)
    known = _called_functions(graph, proto)
    values = _Reader(known, ())._attributes(op, proto, remaining)
    check_attributes(op, proto, values)
    check_inputs(op, proto, remaining, values)
    with graph.as_default():
        door.carry_out(op, remaining, values, label)
    return graph.nodes[-1]


def _declared(op: Op) -> set[str]:
    """The attributes that a node of the op may have."""
    names = {op.graphdef_names.get(attr.name, attr.name) for attr in op.sig.attrs}
    for arg in op.sig.inputs:
        names |= {name for name in (arg.number, arg.types, arg.var) if name}
    return {GRADIENT, *names}


def _check_tensors(label: str, inputs: Sequence[Any], input_types: Sequence[Any] | None) -> None:
    for i, value in enumerate(inputs):
        if not isinstance(value, Tensor):
            raise TypeError(f"Input #{i} is not a tensor: {value!r}")
    if input_types is None:
        return
    types, wanted = [v.dtype for v in inputs], [as_dtype(t) for t in input_types]
    if types != wanted:
        raise TypeError(
            f"In op '{label}', input types ({types}) are not compatible with expected types "
            f"({wanted})"
        )


def _attribute_bytes(name: str, value: Any) -> bytes:
    """The message's bytes, whosever class it is of."""
    if not hasattr(value, "WhichOneof") or not hasattr(value, "SerializeToString"):
        raise TypeError(
            f"attrs['{name}'] must be an AttrValue message, as `Operation.node_def.attr` has "
            f"them, not {type(value).__name__}."
        )
    return value.SerializeToString()


def _called_functions(graph: Any, proto: Any) -> Functions:
    """The functions that the attributes may name: those that the graph calls already."""
    if any(v.WhichOneof("value") == "func" for v in proto.attr.values()):
        return Functions(graph.as_graph_def().library)
    return Functions(messages.FunctionDefLibrary())


# -- a part of a graph -----------------------------------------------------------------------


def add_part(
    functions: Functions,
    nodes: Mapping[str, Any],
    fetches: Sequence[str],
    values: Mapping[str, SymbolicTensor],
) -> list[Any]:
    """Adds the nodes that fetches need to the graph being recorded; returns the fetches' elements.

    `nodes` are NodeDefs by name; `values` has tensors of the graph that stand for some of their outputs,
    by name ("op:0"): what only those need is left out. Raises as `import_graph_def`, KeyError for a fetch that
    does not exist.
    """
    replaced = {k.removesuffix(":0"): v for k, v in values.items()}
    needed = part_of(nodes, fetches, replaced)
    reader = _Reader(functions, [n for name, n in nodes.items() if name in needed], "", replaced)
    for name, value in replaced.items():
        reader.values[name] = value
        reader.values.setdefault(f"{name}:0" if ":" not in name else name, value)
        reader.nodes.setdefault(_node_of(name), value.node)
    reader.read_all()
    return [_element(reader, text) for text in fetches]


def part_of(
    nodes: Mapping[str, Any], fetches: Sequence[str], replaced: Mapping[str, Any]
) -> set[str]:
    """The names of the nodes that fetches need, where some outputs are known. Raises KeyError."""
    needed: set[str] = set()
    work = [text.removesuffix(":0") for text in fetches]
    waited = {_node_of(name) for name in replaced}
    while work:
        text = work.pop()
        name = _node_of(text)
        if text in replaced or name in needed or (text[:1] == "^" and name in waited):
            continue
        if name not in nodes:
            kind = "Tensor" if ":" in text else "Operation"
            raise KeyError(
                f"The name {text!r} refers to a{'n' if kind[0] == 'O' else ''} {kind} which does not exist. "
                f"The operation, {name!r}, does not exist in the graph."
            )
        needed.add(name)
        work += [i.removesuffix(":0") for i in nodes[name].input]
    return needed
