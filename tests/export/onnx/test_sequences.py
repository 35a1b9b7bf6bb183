"""Sequences whose length is computed when a model runs: what onnxruntime gives, and gradients through them."""

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import intaglio
from intaglio import tf
from intaglio.export.onnx.loading.values import ModelError

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def _value(name, kind=FLOAT, dims=None):
    return helper.make_tensor_value_info(name, kind, dims)


def _sequence(name):
    kind = helper.make_tensor_type_proto(FLOAT, None)
    return helper.make_value_info(name, helper.make_sequence_type_proto(kind))


def _saved(path, nodes, inputs, rank, constants=()):
    tensors = [numpy_helper.from_array(np.array(v), n) for n, v in dict(constants).items()]
    graph = helper.make_graph(nodes, "model", inputs, [_value("y", dims=[None] * rank)], tensors)
    operators = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=10)
    path.write_bytes(model.SerializeToString())
    return path


def _compared(path, *runs):
    session = onnxruntime.InferenceSession(path)
    names = [i.name for i in session.get_inputs()]
    f = intaglio.load_onnx(path)
    for values in runs:
        fed = {n: np.asarray(v) for n, v in zip(names, values, strict=True)}
        (expected,) = session.run(None, fed)
        np.testing.assert_allclose(f(*values), expected, rtol=1e-6)


X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("new_axis", [0, 1])
@pytest.mark.parametrize("split_axis", [0, 1])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_splitting_an_open_dimension(tmp_path, axis, new_axis, split_axis, keepdims):
    if not keepdims and not new_axis and axis:
        pytest.skip("a vector has no such axis")
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], axis=split_axis, keepdims=keepdims),
        helper.make_node("ConcatFromSequence", ["s"], ["y"], axis=axis, new_axis=new_axis),
    ]
    path = _saved(
        tmp_path / "m.onnx", nodes, [_value("x", dims=["n", "m"])], 1 + keepdims + new_axis
    )
    _compared(path, [X], [X[:1]], [X[:, :2]])


@pytest.mark.parametrize("position", [0, 2, -1])
def test_elements_at_positions_that_are_data(tmp_path, position):
    """An element is set, one inserted, one erased, one read."""
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["s"], axis=0, keepdims=0),
        helper.make_node("SequenceAt", ["s", "at"], ["row"]),
        helper.make_node("Neg", ["row"], ["negative"]),
        helper.make_node("SequenceErase", ["s", "at"], ["less"]),
        helper.make_node("SequenceInsert", ["less", "negative", "zero"], ["more"]),
        helper.make_node("SequenceInsert", ["more", "row"], ["last"]),
        helper.make_node("ConcatFromSequence", ["last"], ["y"], axis=0),
    ]
    inputs = [_value("x", dims=["n", 3]), _value("at", INT64, [])]
    path = _saved(tmp_path / "m.onnx", nodes, inputs, 1, {"zero": np.int64(0)})
    _compared(path, [X, np.int64(position)])


def _loop(first):
    """A loop that adds a row to a sequence as long as the sum of its rows is small."""
    body = [
        helper.make_node("SequenceInsert", ["s", "x"], ["longer"]),
        helper.make_node("SequenceLength", ["longer"], ["length"]),
        helper.make_node("Less", ["length", "most"], ["again"]),
    ]
    inputs = [_value("i", INT64, []), _value("go", TensorProto.BOOL, []), _sequence("s")]
    outputs = [_value("again", TensorProto.BOOL, []), _sequence("longer")]
    graph = helper.make_graph(body, "body", inputs, outputs)
    return [
        *first,
        helper.make_node("Loop", ["", "yes", "start"], ["end"], body=graph),
        helper.make_node("ConcatFromSequence", ["end"], ["y"], axis=0, new_axis=1),
    ]


@pytest.mark.parametrize("starts_empty", [False, True])
def test_a_loop_whose_count_is_data(tmp_path, starts_empty):
    start = helper.make_node("SequenceConstruct", ["x", "x"], ["start"])
    if starts_empty:
        start = helper.make_node("SequenceEmpty", [], ["start"], dtype=FLOAT)
    inputs = [_value("x", dims=["n"]), _value("most", INT64, [])]
    path = _saved(tmp_path / "m.onnx", _loop([start]), inputs, 2, {"yes": np.bool_(True)})
    _compared(path, [X[0], np.int64(5)], [X[1], np.int64(1)])


def test_a_branch_that_is_data(tmp_path):
    def branch(*rows):
        nodes = [helper.make_node("SequenceConstruct", [*rows], ["s"])]
        return helper.make_graph(nodes, "branch", [], [_sequence("s")])

    branches = {"then_branch": branch("x", "x"), "else_branch": branch("x")}
    nodes = [
        helper.make_node("If", ["c"], ["chosen"], **branches),
        helper.make_node("ConcatFromSequence", ["chosen"], ["y"], axis=0),
    ]
    inputs = [_value("x", dims=["n"]), _value("c", TensorProto.BOOL, [])]
    path = _saved(tmp_path / "m.onnx", nodes, inputs, 1)
    _compared(path, [X[0], np.bool_(True)], [X[0], np.bool_(False)])


def test_a_sequence_of_computed_length_is_no_result(tmp_path):
    nodes = [helper.make_node("SplitToSequence", ["x"], ["y"], axis=0)]
    graph = helper.make_graph(nodes, "model", [_value("x", dims=["n"])], [_sequence("y")])
    operators = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=10)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match="a sequence whose length is computed"):
        intaglio.load_onnx(path)


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "ConvLSTM1D"])
def test_recurrent_layers_load_again(tmp_path, kind):
    """Their loops fill sequences that the export reserves; the length of the steps is open."""
    layers = tf.keras.layers
    layer = layers.ConvLSTM1D(3, 3) if kind == "ConvLSTM1D" else getattr(layers, kind)(5)
    shape = (None, 6, 2) if kind == "ConvLSTM1D" else (None, 4)
    source = tf.keras.Input(shape)
    model = tf.keras.Model(source, layer(source))
    f = intaglio.load_onnx(intaglio.export_onnx(model, tmp_path / "m.onnx"))
    for steps in (1, 5):
        x = tf.random.stateless_normal([2, steps, *shape[1:]], [1, steps])
        gradients = []
        for function in (model, f):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = function(x)
            gradients.append(tape.gradient(y, x))
        np.testing.assert_allclose(y, model(x), rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-4, atol=1e-6)
