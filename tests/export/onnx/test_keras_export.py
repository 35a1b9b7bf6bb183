"""`model.export(path, format="onnx")` of Keras, and tf2onnx' functions, without tf2onnx."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.onnx.running import session

# Keras asks NumPy for a name that it once had.
pytestmark = pytest.mark.filterwarnings("ignore:.*np.object:FutureWarning")

keras = tf.keras
layers = keras.layers


def _sequential() -> Any:
    return keras.Sequential([keras.Input((4,)), layers.Dense(5, "relu"), layers.Dense(2)])


def _functional() -> Any:
    image = keras.Input((8, 8, 1), name="image")
    x = layers.BatchNormalization()(layers.Conv2D(4, 3, strides=2)(image))
    return keras.Model(image, layers.Dense(3, "softmax")(layers.GlobalAveragePooling2D()(x)))


def _two_inputs() -> Any:
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b")
    joined = layers.Concatenate()([a, b])
    return keras.Model([a, b], [layers.Dense(2)(joined), layers.Dense(1)(a)])


def _named_inputs() -> Any:
    a, b = keras.Input((4,), name="a"), keras.Input((3,), name="b", dtype="int32")
    embedded = layers.Flatten()(layers.Embedding(7, 2)(b))
    joined = layers.Concatenate()([a, embedded])
    return keras.Model({"a": a, "b": b}, {"score": layers.Dense(2)(joined)})


def _recurrent() -> Any:
    return keras.Sequential([keras.Input((None, 3)), layers.LSTM(4), layers.Dense(2)])


@pytest.fixture(autouse=True)
def _seed() -> None:
    keras.utils.set_random_seed(3)


def _drawn(spec: Any, sizes: tuple[int, ...]) -> np.ndarray:
    rng = np.random.default_rng(5)
    if spec.dtype == "int32":
        return rng.integers(0, 7, sizes, np.int32)
    return rng.standard_normal(sizes).astype(np.float32)


@pytest.mark.parametrize(
    "build", [_sequential, _functional, _two_inputs, _named_inputs, _recurrent]
)
def test_what_keras_exports_predicts_alike(tmp_path, capsys, build) -> None:
    model = build()
    batches: list[tuple[list[np.ndarray], Any]] = []
    for batch in (1, 5):  # the first dimension is open, and that of time
        fed = [_drawn(v, (batch, *[d or 6 for d in v.shape[1:]])) for v in model.inputs]
        given: Any = dict(zip("ab", fed, strict=True)) if build is _named_inputs else fed
        batches.append((fed, model.predict(fed[0] if len(fed) == 1 else given, verbose=0)))
    path = tmp_path / "model.onnx"
    model.export(path, format="onnx")
    assert "Saved artifact" in capsys.readouterr().out
    run = session(path)
    names = [v.name for v in run.get_inputs()]
    assert names == [v.name for v in model.inputs]
    for fed, wanted in batches:
        found = run.run(None, dict(zip(names, fed, strict=True)))
        for mine, theirs in zip(found, tf.nest.flatten(wanted), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-6)


def test_options_of_keras(tmp_path, capsys) -> None:
    model = _sequential()
    signature = [tf.TensorSpec([2, 4], tf.float32, name="features")]
    path = tmp_path / "model.onnx"
    model.export(path, format="onnx", verbose=False, input_signature=signature, opset_version=19)
    assert capsys.readouterr().out == ""
    run = session(path)
    assert [(v.name, v.shape) for v in run.get_inputs()] == [("features", [2, 4])]
    converted, storage = sys.modules["tf2onnx"].convert.from_keras(model, signature, opset=19)
    assert storage is None and converted.opset_import[0].version == 19
    with pytest.raises(intaglio.ExportError, match="opset=13: models are written for opset 18 to"):
        model.export(path, format="onnx", opset_version=13)
    assert session(path).get_inputs()[0].name == "features"


def test_functions_of_tf2onnx(tmp_path) -> None:
    keras.Model  # noqa: B018  # loads Keras, under the name tensorflow
    import tf2onnx

    f = tf.function(lambda x: 2.0 * x)
    spec = tf.TensorSpec([None], name="x")
    model, storage = tf2onnx.convert.from_function(f, [spec])
    assert storage is None
    assert session(model).run(None, {"x": np.ones(3, np.float32)})[0].tolist() == [2.0] * 3
    weights = tf.Variable(np.ones((40, 40), np.float32))
    product = tf.function(lambda x: x @ weights)
    path = tmp_path / "product.onnx"
    wide = tf.TensorSpec([1, 40], name="x")
    tf2onnx.convert.from_function(product, [wide], large_model=True, output_path=path)
    assert (tmp_path / "product.onnx.data").stat().st_size >= weights.numpy().nbytes
    found = session(path).run(None, {"x": np.ones((1, 40), np.float32)})[0]
    np.testing.assert_array_equal(found, np.full((1, 40), 40, np.float32))
    with pytest.raises(ValueError, match="input_signature"):
        tf2onnx.convert.from_function(f)
    with pytest.raises(ValueError, match="inputs_as_nchw is an option of tf2onnx"):
        tf2onnx.convert.from_function(f, [spec], inputs_as_nchw=["x"])
    with pytest.raises(ModuleNotFoundError, match="tf2onnx is not installed"):
        import tf2onnx.tfjs
