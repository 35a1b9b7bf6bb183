"""Functions as ONNX models, run by onnxruntime: names, open dimensions, control flow, files, refusals."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

import intaglio
from intaglio import tf
from tests.export.onnx.running import session


def _exported(function, tmp_path, **options):
    path = intaglio.export_onnx(function, tmp_path / "model.onnx", **options)
    onnx.checker.check_model(str(path), full_check=True)
    return session(path)


def _spec(shape, dtype=tf.float32, name="x"):
    return tf.TensorSpec(shape, dtype, name=name)


class Network(tf.Module):
    def __init__(self):
        super().__init__(name="network")
        random = np.random.default_rng(1)
        self.w = tf.Variable(random.standard_normal((4, 3)).astype(np.float32), name="w")
        self.b = tf.Variable(np.ones(3, np.float32), name="b")

    @tf.function(input_signature=[_spec([None, 4], name="features")])
    def predict(self, features):
        return {
            "scores": tf.nn.softmax(tf.nn.relu(features @ self.w + self.b)),
            "rows": features[:1],
        }


def test_names_and_open_dimensions_are_those_of_the_signature(tmp_path):
    network = Network()
    run = _exported(network.predict, tmp_path)
    assert [(v.name, v.shape) for v in run.get_inputs()] == [("features", ["features_dim_0", 4])]
    assert {v.name for v in run.get_outputs()} == {"scores", "rows"}
    for rows in (1, 5):
        x = np.random.default_rng(2).standard_normal((rows, 4)).astype(np.float32)
        (scores,) = run.run(["scores"], {"features": x})
        np.testing.assert_allclose(scores, network.predict(x)["scores"], rtol=1e-6, atol=1e-7)


def test_variables_are_initializers_of_their_names(tmp_path):
    path = intaglio.export_onnx(Network().predict, tmp_path / "model.onnx")
    assert {"w", "b"} <= {t.name for t in onnx.load(path).graph.initializer}


def test_nodes_name_the_line_that_they_come_from(tmp_path):
    path = intaglio.export_onnx(Network().predict, tmp_path / "model.onnx")
    notes = {n.op_type: n.doc_string for n in onnx.load(path).graph.node}
    assert "test_exporting.py" in notes["MatMul"]


@pytest.mark.parametrize("strides", [1, 2, 3])
@pytest.mark.parametrize("size", [7, 8, 9])
def test_padding_of_filters_with_gaps(tmp_path, strides, size):
    """Runtimes refuse the name SAME for them."""
    filters = np.random.default_rng(0).normal(size=(3, 2, 3, 4)).astype(np.float32)
    x = np.random.default_rng(1).normal(size=(1, size, 8, 3)).astype(np.float32)

    @tf.function(input_signature=[_spec([None, size, 8, 3])])
    def f(x):
        return tf.raw_ops.Conv2D(
            input=x,
            filter=filters,
            strides=[1, strides, strides, 1],
            padding="SAME",
            dilations=[1, 2, 3, 1],
        )

    run = _exported(f, tmp_path)
    np.testing.assert_allclose(run.run(None, {"x": x})[0], f(x), rtol=1e-5, atol=1e-5)


def test_branches_and_loops_with_a_tensor_array(tmp_path):
    @tf.function(input_signature=[_spec([None]), _spec([], tf.int32, "n")])
    def f(x, n):
        total = tf.zeros([])
        steps = tf.TensorArray(tf.float32, size=n, element_shape=[None])
        for i in tf.range(n):
            if total > 2.0:
                total -= x[0]
            else:
                total += 1.0
            steps = steps.write(i, total * x)
        return steps.stack(), total

    run = _exported(f, tmp_path)
    x = np.array([0.25, -1.0, 2.0], np.float32)
    for n in (1, 6):
        feeds = {"x": x, "n": np.array(n, np.int32)}
        for mine, theirs in zip(run.run(None, feeds), f(x, n), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_loop_whose_condition_never_holds(tmp_path):
    @tf.function(input_signature=[_spec([])])
    def f(x):
        while x > 10.0:
            x = x / 2.0
        return x

    run = _exported(f, tmp_path)
    for start in (3.0, 70.0):
        x = np.array(start, np.float32)
        np.testing.assert_allclose(run.run(None, {"x": x})[0], f(x))


def test_weights_beside_the_model(tmp_path):
    weight = tf.Variable(np.arange(4096, dtype=np.float32).reshape(64, 64), name="weight")
    f = tf.function(lambda x: x @ weight)
    run = _exported(f, tmp_path, args=[_spec([1, 64])], weights="beside")
    assert (tmp_path / "model.onnx.data").stat().st_size == 4096 * 4
    assert (tmp_path / "model.onnx").stat().st_size < 4096
    x = np.ones((1, 64), np.float32)
    np.testing.assert_allclose(run.run(None, {"x": x})[0], f(x))


def test_an_op_that_onnx_has_not_is_named_with_its_line(tmp_path):
    f = tf.function(lambda x: tf.linalg.svd(x), input_signature=[_spec([2, 2])])
    with pytest.raises(intaglio.ExportError, match=r"Svd .*test_exporting.py:\d+.*argument"):
        intaglio.export_onnx(f, tmp_path / "model.onnx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_logarithm_of_the_gamma_function(dtype, tmp_path):
    """Zeros, poles, both sides of 1/2, infinities."""
    numbers = [1, 2, 1.5, 0.3, 0.5, 3, 10, 100, 1e4, 1e-3, -0.5, -1.5, -2.3, -10.7, 0, -1, 1.0001]
    x = np.array([*numbers, np.inf, -np.inf, np.nan], dtype)
    spec = tf.TensorSpec([None], dtype, name="x")
    f = tf.function(lambda x: {"y": tf.math.lgamma(x)}, input_signature=[spec])
    (found,) = session(intaglio.export_onnx(f, tmp_path / "model.onnx")).run(None, {"x": x})
    tolerance = {"float16": 1e-3, "float32": 1e-6, "float64": 1e-11}[dtype]
    expected = tf.math.lgamma(x).numpy()
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance / 100)


def test_a_function_that_writes_a_variable_is_refused(tmp_path):
    count = tf.Variable(0.0, name="count")

    @tf.function(input_signature=[_spec([])])
    def f(x):
        count.assign_add(x)
        return count.read_value()

    with pytest.raises(intaglio.ExportError, match=r"'count'.*between calls"):
        intaglio.export_onnx(f, tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("options", "text"),
    [({"opset": 12}, "opset 18 to"), ({"weights": "nowhere"}, "neither"), ({}, "no signature")],
)
def test_options_that_do_not_fit(tmp_path, options, text):
    f = tf.function(lambda x: x)
    with pytest.raises(intaglio.ExportError, match=text):
        intaglio.export_onnx(f, tmp_path / "model.onnx", **options)


def test_one_of_several_signatures(tmp_path):
    class Two(tf.Module):
        @tf.function(input_signature=[_spec([2])])
        def double(self, x):
            return x * 2.0

        @tf.function(input_signature=[_spec([2])])
        def half(self, x):
            return x / 2.0

    two = Two()
    tf.saved_model.save(two, str(tmp_path / "saved"), signatures={"a": two.double, "b": two.half})
    with pytest.raises(intaglio.ExportError, match="signature='a'"):
        intaglio.export_onnx(tmp_path / "saved", tmp_path / "model.onnx")
    run = _exported(tmp_path / "saved", tmp_path, signature="b")
    np.testing.assert_allclose(run.run(None, {"x": np.ones(2, np.float32)})[0], [0.5, 0.5])


def test_without_the_package_there_is_a_message(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "intaglio\[onnx\]"'):
        intaglio.export_onnx(tf.function(lambda x: x), "model.onnx")
