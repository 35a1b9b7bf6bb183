"""SavedModels whose attributes contradict each other: each is refused, interpreted or compiled.

Machine code relies on dtypes, shapes and counts. What a file claims of them is checked when it is
loaded, so that no claim reaches machine code that the data does not keep.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.errors import OpError
from intaglio.saved_model import names, reader

FLOAT, DOUBLE, INT32, INT8, INT64 = 1, 2, 3, 6, 9
REFUSED = (ValueError, TypeError, OpError)
X = np.arange(1, 65, dtype=np.float32)


class Model(tf.Module):
    """Functions that have between them every kind of claim that a file can make."""

    def __init__(self) -> None:
        super().__init__()
        self.kept = tf.constant(np.arange(64, dtype=np.float32) + 5)
        self.state = tf.Variable(np.linspace(0, 1, 64).astype(np.float32))

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def constant(self, x: Any) -> Any:
        return x * np.arange(64, dtype=np.float32) + tf.reverse(x, [0])

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def captured(self, x: Any) -> Any:
        return tf.tanh(x) * self.kept

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def variable(self, x: Any) -> Any:
        return self.state * x + tf.reduce_sum(self.state)

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def updated(self, x: Any) -> Any:
        self.state.assign_add(x)
        return tf.identity(self.state)

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def branch(self, x: Any) -> Any:
        return tf.cond(x[0] > 0, lambda: x * 2.0, lambda: tf.cumsum(x))

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def loop(self, x: Any) -> Any:
        def body(i: Any, y: Any) -> Any:
            return i + 1, tf.tanh(y) + x

        return tf.while_loop(lambda i, y: i < 3, body, (tf.constant(0), x))[1]

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def rows(self, x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 4, element_shape=[64])
        for i in range(4):
            array = array.write(i, x * float(i))
        return array.stack()

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def joined(self, x: Any) -> Any:
        return tf.concat([x, x + 1.0, tf.cast(tf.cast(x, tf.int32), tf.float32)], 0)

    @tf.function(input_signature=[tf.TensorSpec([64], tf.float32)])
    def called(self, x: Any) -> Any:
        return self.constant(x) + self.variable(x)


FUNCTIONS = [n for n, f in vars(Model).items() if hasattr(f, "get_concrete_function")]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("hostile") / "m"
    tf.saved_model.save(Model(), str(path))
    return path


def nodes(graph: Any, *ops: str) -> Iterator[Any]:
    """The nodes of the model's functions that are of these ops."""
    for function in graph.graph_def.library.function:
        for node in function.node_def:
            if node.op in ops:
                yield node


def functions(graph: Any) -> Iterator[Any]:
    """The model's functions."""
    yield from graph.graph_def.library.function


def tensors(graph: Any) -> Iterator[Any]:
    """The constants with their data as bytes."""
    for node in nodes(graph, "Const"):
        if len(node.attr["value"].tensor.tensor_content) > 64:
            yield node


# -- claims --------------------------------------------------------------------------------
# Each changes every place of its kind.


def const_type_smaller(graph: Any) -> Iterator[None]:
    for node in tensors(graph):
        tensor = node.attr["value"].tensor
        tensor.dtype, tensor.tensor_content = INT8, tensor.tensor_content[:64]
        yield


def const_type_other(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "Const"):
        node.attr["dtype"].type = DOUBLE
        yield


def const_shape_larger(graph: Any) -> Iterator[None]:
    for node in tensors(graph):
        node.attr["value"].tensor.tensor_shape.dim[0].size = 10**6
        yield


def const_shape_negative(graph: Any) -> Iterator[None]:
    for node in tensors(graph):
        node.attr["value"].tensor.tensor_shape.dim[0].size = -5
        yield


def const_of_huge_shape(graph: Any) -> Iterator[None]:
    for node in tensors(graph):
        tensor = node.attr["value"].tensor
        tensor.tensor_content = b""
        tensor.float_val.append(1.0)
        tensor.tensor_shape.dim[0].size = 1 << 40
        yield


def type_attribute(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "Mul", "AddV2", "Tanh", "Sum", "Identity", "ConcatV2"):
        node.attr["T"].type = DOUBLE
        yield


def cast_types(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "Cast"):
        node.attr["SrcT"].type = INT64
        yield


def cast_result(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "Cast"):
        node.attr["DstT"].type = DOUBLE
        yield


def fewer_inputs_counted(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "ConcatV2", "Pack"):
        node.attr["N"].i -= 1
        yield


def more_inputs_counted(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "ConcatV2", "Pack"):
        node.attr["N"].i = 1 << 40
        yield


def read_type(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "ReadVariableOp"):
        node.attr["dtype"].type = DOUBLE
        yield


def stored_type(graph: Any) -> Iterator[None]:
    for node in graph.object_graph_def.nodes:
        if node.WhichOneof("kind") == "variable":
            node.variable.dtype = DOUBLE
            yield


def stored_shape(graph: Any) -> Iterator[None]:
    for node in graph.object_graph_def.nodes:
        if node.WhichOneof("kind") == "variable":
            node.variable.shape.dim[0].size = 1000
            yield


def argument_type(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for arg in function.signature.input_arg:
            if arg.type == FLOAT:
                arg.type = DOUBLE
                yield


def result_type(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for arg in function.signature.output_arg:
            if arg.type == FLOAT:
                arg.type = DOUBLE
                yield


def argument_shapes(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for attrs in function.arg_attr.values():
            for shape in attrs.attr["_output_shapes"].list.shape:
                if len(shape.dim) == 1:
                    shape.dim[0].size = 1000
                    yield


def output_shapes(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "Mul", "AddV2", "Tanh", "Sum", "ConcatV2"):
        shape = node.attr["_output_shapes"].list.shape.add()
        for size in (7, 8, 9):
            shape.dim.add(size=size)
        yield


def handle_type(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for arg in function.signature.input_arg:
            for content in arg.handle_data:
                content.dtype = DOUBLE
                yield


def handle_shape(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for arg in function.signature.input_arg:
            for content in arg.handle_data:
                content.shape.dim[0].size = 1000
                yield


def branch_types(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "If", "StatelessIf"):
        node.attr["Tout"].list.type[0] = DOUBLE
        yield


def branch_shapes(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "If", "StatelessIf"):
        node.attr["output_shapes"].list.shape.add().dim.add(size=1000)
        yield


def loop_types(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "While", "StatelessWhile"):
        node.attr["T"].list.type[1] = DOUBLE
        yield


def loop_shapes(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "While", "StatelessWhile"):
        for _ in node.input:
            node.attr["output_shapes"].list.shape.add().dim.add(size=1000)
        yield


def body_for_condition(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "While", "StatelessWhile"):
        node.attr["cond"].func.name = node.attr["body"].func.name
        yield


def call_types(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "PartitionedCall", "StatefulPartitionedCall"):
        node.attr["Tout"].list.type[0] = DOUBLE
        yield


def call_of_another(graph: Any) -> Iterator[None]:
    other = next(f.signature.name for f in functions(graph) if len(f.signature.input_arg) > 1)
    for node in nodes(graph, "PartitionedCall", "StatefulPartitionedCall", "If", "StatelessIf"):
        for key in ("f", "then_branch"):
            if key in node.attr and node.attr[key].func.name != other:
                node.attr[key].func.name = other
                yield


def call_of_itself(graph: Any) -> Iterator[None]:
    for function in functions(graph):
        for node in function.node_def:
            if node.op in ("If", "StatelessIf"):
                node.attr["then_branch"].func.name = function.signature.name
                yield


def list_type(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "TensorListReserve", "TensorListStack", "TensorListSetItem"):
        if node.op == "TensorListReserve":
            node.attr["element_dtype"].type = DOUBLE
            yield


def stack_type(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "TensorListStack"):
        node.attr["element_dtype"].type = DOUBLE
        yield


def signature_type(graph: Any) -> Iterator[None]:
    for function in graph.object_graph_def.concrete_functions.values():
        for value in _specs(function.canonicalized_input_signature):
            value.dtype = DOUBLE
            yield


def signature_shape(graph: Any) -> Iterator[None]:
    for function in graph.object_graph_def.concrete_functions.values():
        for value in _specs(function.canonicalized_input_signature):
            value.shape.dim[0].size = 1000
            yield


def result_shape(graph: Any) -> Iterator[None]:
    for function in graph.object_graph_def.concrete_functions.values():
        for value in _specs(function.output_signature):
            value.shape.dim[0].size = 1000
            yield


def _specs(value: Any) -> Iterator[Any]:
    kind = value.WhichOneof("kind")
    if kind == "tensor_spec_value":
        yield value.tensor_spec_value
    elif kind in ("tuple_value", "list_value"):
        for item in getattr(value, kind).values:
            yield from _specs(item)


def captures_swapped(graph: Any) -> Iterator[None]:
    kinds = {n.WhichOneof("kind"): i for i, n in enumerate(graph.object_graph_def.nodes)}
    for function in graph.object_graph_def.concrete_functions.values():
        for i, number in enumerate(function.bound_inputs):
            swap = kinds["constant"] if number == kinds["variable"] else kinds["variable"]
            function.bound_inputs[i] = swap
            yield


def captures_missing(graph: Any) -> Iterator[None]:
    for function in graph.object_graph_def.concrete_functions.values():
        if function.bound_inputs:
            del function.bound_inputs[:]
            yield


def ops_of_the_compiler(graph: Any) -> Iterator[None]:
    for node in nodes(graph, "PartitionedCall", "StatefulPartitionedCall"):
        node.op = "_FusedElementwise"
        node.attr["body"].CopyFrom(node.attr["f"])
        yield


CLAIMS: list[Callable[[Any], Iterator[None]]] = [
    const_type_smaller,
    const_type_other,
    const_shape_larger,
    const_shape_negative,
    const_of_huge_shape,
    type_attribute,
    cast_types,
    cast_result,
    fewer_inputs_counted,
    more_inputs_counted,
    read_type,
    stored_type,
    stored_shape,
    argument_type,
    result_type,
    argument_shapes,
    output_shapes,
    handle_type,
    handle_shape,
    branch_types,
    branch_shapes,
    loop_types,
    loop_shapes,
    body_for_condition,
    call_types,
    call_of_another,
    call_of_itself,
    list_type,
    stack_type,
    signature_type,
    signature_shape,
    result_shape,
    captures_swapped,
    captures_missing,
    ops_of_the_compiler,
]


def changed(
    saved: pathlib.Path, to: pathlib.Path, claim: Callable[[Any], Iterator[None]], compiled: bool
) -> str:
    """A copy of the model in which every place of a kind claims something else."""
    model = reader.read_message(str(saved))
    graph = model.meta_graphs[0]
    for node in graph.object_graph_def.nodes:
        if compiled and node.WhichOneof("kind") == "function":
            node.function.function_spec.jit_compile = 1
    assert sum(1 for _ in claim(graph)) > 0
    (to / "variables").mkdir(parents=True)
    for path in (saved / "variables").iterdir():
        (to / "variables" / path.name).write_bytes(path.read_bytes())
    (to / names.MODEL).write_bytes(model.SerializeToString())
    return str(to)


def outcome(loaded: Any, name: str) -> Any:
    """What a function gives, or "refused"."""
    try:
        return getattr(loaded, name)(tf.constant(X)).numpy()
    except REFUSED:
        return "refused"


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.__name__)
def test_contradictions_are_refused(
    claim: Callable[[Any], Iterator[None]], compiled: bool, saved: Any, tmp_path: Any
) -> None:
    path = changed(saved, tmp_path / "m", claim, compiled)
    try:
        loaded = tf.saved_model.load(path)
    except REFUSED:
        return
    right = tf.saved_model.load(str(saved))
    outcomes = {name: outcome(loaded, name) for name in FUNCTIONS}
    assert any(isinstance(found, str) for found in outcomes.values())
    for name, found in outcomes.items():
        if not isinstance(found, str):
            np.testing.assert_allclose(found, outcome(right, name), rtol=1e-6)


@pytest.mark.parametrize("compiled", [False, True], ids=["interpreted", "compiled"])
def test_the_model_itself_works(compiled: bool, saved: Any, tmp_path: Any) -> None:
    path = changed(saved, tmp_path / "m", lambda graph: iter([None]), compiled)
    loaded, plain = tf.saved_model.load(path), Model()
    for name in FUNCTIONS:
        expected = getattr(plain, name)(tf.constant(X)).numpy()
        np.testing.assert_allclose(outcome(loaded, name), expected, rtol=1e-5)
