"""Keras models with random weights: exported, run by onnxruntime, and loaded again."""

from __future__ import annotations

import numpy as np
import pytest

import intaglio
from intaglio import tf
from tests.export.onnx.running import session


def _network(keras, layers):
    image = keras.Input((8, 8, 1))
    x = layers.Conv2D(8, 3, activation="relu", padding="same")(image)
    x = layers.MaxPool2D()(layers.BatchNormalization()(x))
    return keras.Model(image, layers.Dense(10, activation="softmax")(layers.Flatten()(x)))


def _lstm(keras, layers):
    steps = keras.Input((7, 5))
    return keras.Model(steps, layers.Dense(2)(layers.LSTM(6)(steps)))


def _gru(keras, layers):
    steps = keras.Input((None, 5))
    return keras.Model(steps, layers.GRU(6, return_sequences=True)(steps))


def _transformer(keras, layers):
    tokens = keras.Input((7, 16))
    x = layers.LayerNormalization()(tokens + layers.MultiHeadAttention(2, 8)(tokens, tokens))
    inner = layers.Dense(16)(layers.Dense(32, activation="gelu")(x))
    return keras.Model(tokens, layers.LayerNormalization()(x + inner))


def _mobile_net(keras, layers):
    return keras.applications.MobileNetV2(input_shape=(32, 32, 3), weights=None, alpha=0.35)


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (_network, (3, 8, 8, 1)),
        (_lstm, (3, 7, 5)),
        (_gru, (3, 9, 5)),
        (_transformer, (3, 7, 16)),
        (_mobile_net, (2, 32, 32, 3)),
    ],
)
def test_keras_models(tmp_path, build, shape):
    keras = tf.keras
    keras.utils.set_random_seed(1)
    model = build(keras, keras.layers)
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    path = intaglio.export_onnx(model, tmp_path / "model.onnx")
    run = session(path)
    wanted = np.asarray(model(x, training=False))
    found = run.run(None, {run.get_inputs()[0].name: x})[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    loaded = np.asarray(intaglio.load_onnx(path)(x))
    np.testing.assert_allclose(loaded, wanted, rtol=1e-4, atol=1e-5)
