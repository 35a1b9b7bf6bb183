"""ONNX models as functions: ONNX' own tests, round trips, gradients, control flow, hostile files.

`make test` takes one part of ONNX' tests in PARTS, always the same; INTAGLIO_ONNX_SAMPLES=all takes all.
"""

from __future__ import annotations

import os
import zlib

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import intaglio
from docs import onnx as page
from intaglio import tf
from intaglio.export.onnx.loading.values import ModelError
from tests.export.onnx import node_tests
from tests.export.onnx.running import session

PARTS = 48
WANTED = range(PARTS) if os.environ.get("INTAGLIO_ONNX_SAMPLES") == "all" else range(1)
TEXT = page.PAGE.read_text(encoding="utf-8")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("part", WANTED)
def test_onnx_own_tests_give_what_the_page_says(part):
    wrong = []
    count = 0
    for test in node_tests.all_tests():
        if zlib.crc32(test.name.encode()) % PARTS == part:
            count += 1
            listed = f"`{test.name.removeprefix('test_')}`" in TEXT
            reason = node_tests.outcome(test)
            if bool(reason) != listed:
                wrong.append(f"{test.name}: {reason or 'passes'}")
    assert not wrong, "run `python -m docs.onnx`:\n" + "\n".join(wrong)
    assert count > 20


def _saved(tmp_path, nodes, inputs, outputs, initializers=(), **more):
    graph = helper.make_graph(nodes, "model", inputs, outputs, list(initializers))
    operators = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=10, **more)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    return path


def _floats(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def _weights():
    random = np.random.default_rng(3)
    return random.standard_normal((4, 3)).astype(np.float32)


def test_what_is_exported_loads_again_with_its_names_and_open_dimensions(tmp_path):
    w = tf.Variable(_weights())

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32, name="features")])
    def f(features):
        return {"scores": tf.nn.softmax(features @ w), "rows": tf.shape(features)[0]}

    g = intaglio.load_onnx(intaglio.export_onnx(f, tmp_path / "model.onnx"))
    for rows in (1, 6):
        x = np.ones((rows, 4), np.float32)
        found, wanted = g(features=x), f(x)
        assert set(found) == {"scores", "rows"} and int(found["rows"]) == rows
        np.testing.assert_allclose(found["scores"], wanted["scores"], rtol=1e-6)
    assert g.pretty_printed_concrete_signatures().count("TensorSpec(shape=(None, 4)") == 1


def test_a_loaded_function_is_differentiated_and_compiled(tmp_path):
    w = _weights()
    f = tf.function(lambda x: tf.reduce_sum(tf.tanh(x @ w)))
    path = intaglio.export_onnx(f, tmp_path / "m.onnx", args=[tf.TensorSpec([2, 4], tf.float32)])
    g = intaglio.load_onnx(path)
    x = tf.constant(np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))
    gradients = []
    for function in (f, g, tf.function(lambda x: g(x), jit_compile=True)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        gradients.append(tape.gradient(y, x))
    np.testing.assert_allclose(gradients[1], gradients[0], rtol=1e-5)
    np.testing.assert_allclose(gradients[2], gradients[0], rtol=1e-5)


def test_branches_and_loops_load(tmp_path):
    @tf.function(input_signature=[tf.TensorSpec([], tf.float32, name="x")])
    def f(x):
        steps = 0
        while x > 1.0:
            x = x / 2.0 if x > 8.0 else x - 1.0
            steps += 1
        return x, steps

    g = intaglio.load_onnx(intaglio.export_onnx(f, tmp_path / "model.onnx"))
    for start in (0.5, 37.0):
        found = [*g(np.float32(start)).values()]
        np.testing.assert_allclose(found, [*map(np.asarray, f(np.float32(start)))])


def test_weights_beside_the_model_are_read(tmp_path):
    w = tf.Variable(np.arange(4096, dtype=np.float32).reshape(64, 64))
    f = tf.function(lambda x: x @ w)
    spec = tf.TensorSpec([1, 64], tf.float32)
    path = intaglio.export_onnx(f, tmp_path / "m.onnx", args=[spec], weights="beside")
    x = np.ones((1, 64), np.float32)
    np.testing.assert_allclose(intaglio.load_onnx(path)(x), f(x))


@pytest.mark.parametrize("data", [b"", b"no model", b"\x08\x0a" * 400])
def test_what_is_no_model_is_refused(tmp_path, data):
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    with pytest.raises(ModelError, match=r"model\.onnx"):
        intaglio.load_onnx(path)


def test_every_cut_of_a_file_is_refused_or_loads(tmp_path):
    data = _saved(
        tmp_path, [helper.make_node("Relu", ["x"], ["y"])], [_floats("x", [2])], [_floats("y", [2])]
    ).read_bytes()
    path = tmp_path / "cut.onnx"
    for length in range(0, len(data), 7):
        path.write_bytes(data[:length])
        with pytest.raises(ModelError):
            intaglio.load_onnx(path)


@pytest.mark.parametrize("location", ["../secret", "/etc/hostname", "", "absent", "link"])
def test_weights_outside_of_the_folder_are_refused(tmp_path, location):
    (tmp_path / "secret").write_bytes(bytes(8))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "secret")
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2])
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    path = _saved(folder, nodes, [_floats("x", [2])], [_floats("y", [2])], [tensor])
    with pytest.raises(ModelError, match="no file in the folder"):
        intaglio.load_onnx(path)


def test_bytes_that_do_not_fit_the_shape_are_refused(tmp_path):
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2], raw_data=bytes(12))
    nodes = [helper.make_node("Add", ["x", "w"], ["y"])]
    path = _saved(tmp_path, nodes, [_floats("x", [2])], [_floats("y", [2])], [tensor])
    with pytest.raises(ModelError):
        intaglio.load_onnx(path)


def test_an_operator_that_there_is_none_for_is_named(tmp_path):
    nodes = [helper.make_node("Mystery", ["x"], ["y"], name="here", domain="com.example")]
    graph = helper.make_graph(nodes, "model", [_floats("x", [2])], [_floats("y", [2])])
    operators = [helper.make_opsetid("", 21), helper.make_opsetid("com.example", 1)]
    model = helper.make_model(graph, opset_imports=operators, ir_version=10)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelError, match=r"Mystery 'here'.*no such operator"):
        intaglio.load_onnx(path)


def test_functions_of_a_model(tmp_path):
    body = [helper.make_node("Mul", ["a", "a"], ["b"])]
    square = helper.make_function(
        "own", "Square", ["a"], ["b"], body, [helper.make_opsetid("", 21)]
    )
    graph = helper.make_graph(
        [helper.make_node("Square", ["x"], ["y"], domain="own")],
        "model",
        [_floats("x", ["n"])],
        [_floats("y", ["n"])],
    )
    operators = [helper.make_opsetid("", 21), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=operators, functions=[square], ir_version=10)
    path = tmp_path / "model.onnx"
    path.write_bytes(model.SerializeToString())
    np.testing.assert_allclose(intaglio.load_onnx(path)(np.float32([2, 3])), [4, 9])
    assert onnx.load(path).functions


@pytest.mark.parametrize("steps", [0, 1, 4])
def test_outputs_of_loops_and_scans_in_any_place(tmp_path, steps):
    """Of no iteration there are none; an axis that is not the first one, of a body whose shapes are declared or not."""
    body = helper.make_graph(
        [helper.make_node("Mul", ["s", "e"], ["s2"]), helper.make_node("Add", ["s2", "e"], ["o"])],
        "body",
        [_floats("s", [2]), _floats("e", [2])],
        [_floats("s2", [2]), _floats("o", [2])],
    )
    scan = helper.make_node(
        "Scan", ["s0", "x"], ["sf", "ys"], body=body, num_scan_inputs=1, scan_output_axes=[1]
    )
    inputs = [_floats("s0", [2]), _floats("x", ["t", 2])]
    path = _saved(tmp_path, [scan], inputs, [_floats("sf", [2]), _floats("ys", [2, "t"])])
    x = np.random.default_rng(0).standard_normal((steps, 2)).astype(np.float32)
    start = np.float32([0.5, -2.0])
    states = [start]
    for row in x:
        states.append(states[-1] * row)
    wanted = np.stack([s + e for s, e in zip(states[1:], x, strict=True)], 1) if steps else []
    g = intaglio.load_onnx(path)
    for f in (g, tf.function(lambda **k: g(**k), jit_compile=True)) if steps else (g,):
        found = f(s0=start, x=x)
        np.testing.assert_allclose(found["sf"], states[-1], rtol=1e-6)
        if steps:
            np.testing.assert_allclose(found["ys"], wanted, rtol=1e-6)
    loop = helper.make_graph(
        [
            helper.make_node("Identity", ["c"], ["c2"]),
            helper.make_node("Add", ["s", "s"], ["s2"]),
            helper.make_node("Identity", ["s2"], ["o"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            _floats("s", [2]),
        ],
        [
            helper.make_tensor_value_info("c2", TensorProto.BOOL, []),
            _floats("s2", [2]),
            _floats("o", [2]),
        ],
    )
    inputs = [helper.make_tensor_value_info("n", TensorProto.INT64, []), _floats("x", [2])]
    node = helper.make_node("Loop", ["n", "", "x"], ["y", "ys"], body=loop)
    path = _saved(tmp_path, [node], inputs, [_floats("y", [2]), _floats("ys", [None, 2])])
    found = intaglio.load_onnx(path)(n=np.array(steps), x=start)
    np.testing.assert_allclose(found["y"], start * 2.0**steps)
    assert found["ys"].shape == (steps, 2)


def test_an_open_dimension_that_stays_is_resized_around(tmp_path):
    resize = helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear")
    scales = helper.make_tensor("scales", TensorProto.FLOAT, [4], [1.0, 1.0, 2.0, 1.5])
    outputs = [_floats("y", ["n", 1, 6, 6])]
    path = _saved(tmp_path, [resize], [_floats("x", ["n", 1, 3, 4])], outputs, [scales])
    x = np.random.default_rng(0).standard_normal((2, 1, 3, 4)).astype(np.float32)
    wanted = session(path).run(None, {"x": x})[0]
    np.testing.assert_allclose(intaglio.load_onnx(path)(x), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_buckets_are_exported(tmp_path, dtype):
    edges = [-1.0, 0.0, 2.0]
    f = tf.function(lambda x: tf.raw_ops.Bucketize(input=x, boundaries=edges))
    spec = tf.TensorSpec([None], dtype, name="x")
    x = np.array([-3, -1, 0, 1, 2, 5], dtype)
    if x.dtype.kind == "f":
        x = np.append(x, np.array([np.nan, np.inf, -np.inf], dtype))
    path = intaglio.export_onnx(f, tmp_path / "m.onnx", args=[spec])
    found = session(path).run(None, {"x": x})[0]
    np.testing.assert_array_equal(found, f(x).numpy())
