"""Models of Keras 3 for checkpoints: their objects and keys, and a checkpoint that TensorFlow wrote.

    path/to/python-with-tensorflow tests/saved_model/keras_models.py

records the object graphs in `keras_checkpoints.json`, and writes `models/keras_checkpoint`.
This file does not import Intaglio.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

FOLDER = pathlib.Path(__file__).parent
ANSWERS = FOLDER / "keras_checkpoints.json"
PREFIX = FOLDER / "models" / "keras_checkpoint" / "sequential"
NAMES = ("subclassed", "sequential", "functional", "layer", "optimizer")


def _subclassed(tf: Any, keras: Any) -> Any:
    layers = keras.layers

    class Model(keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.blocks = [layers.Dense(2), layers.Dense(3)]
            self.named = {"a": layers.Dense(1)}
            self.pair = (layers.Dense(2), layers.Dense(2))
            self.w = self.add_weight(shape=(2,), name="w")
            self.variable = tf.Variable(1.0)
            self.module = tf.Module()
            self.module.v = tf.Variable(2.0)
            self.plain = [1, 2, {"u": 3}]
            self.variables_of_its_own = [tf.Variable(3.0)]

        def call(self, x: Any) -> Any:
            for block in (*self.blocks, *self.pair):
                x = block(x)
            return self.named["a"](x)

    model = Model()
    model(tf.ones((1, 2)))
    return model


def _sequential(tf: Any, keras: Any, built: bool = True) -> Any:
    layers = keras.layers
    parts = [layers.Dense(2), layers.BatchNormalization(), layers.Dropout(0.5), layers.Dense(1)]
    return keras.Sequential([keras.Input((3,)), *parts] if built else parts)


def _functional(tf: Any, keras: Any) -> Any:
    x = keras.Input((4, 3))
    y = keras.layers.LSTM(2)(x)
    return keras.Model(x, keras.layers.Dense(1, name="o")(y))


def _layer(tf: Any, keras: Any) -> Any:
    layer = keras.layers.MultiHeadAttention(2, 2)
    layer.build((1, 3, 4), (1, 3, 4))
    return layer


def _optimizer(tf: Any, keras: Any) -> Any:
    optimizer = keras.optimizers.Adam()
    optimizer.build([keras.Variable([1.0]), keras.Variable([2.0, 3.0])])
    return optimizer


def made(tf: Any, keras: Any, name: str) -> Any:
    """The object of a name."""
    return globals()[f"_{name}"](tf, keras)


def described(tf: Any, prefix: str) -> dict[str, Any]:
    """The objects of a checkpoint by number, and the names of its values."""
    view = tf.train.CheckpointView(prefix)
    children = {str(n): view.children(n) for n in view.descendants()}
    return {"children": children, "keys": [k for k, _ in tf.train.list_variables(prefix)]}


def graphs(tf: Any, keras: Any, name: str, folder: str) -> list[dict[str, Any]]:
    """What the checkpoint of an object has, for models once more when they are compiled."""
    value = made(tf, keras, name)
    found = [described(tf, tf.train.Checkpoint(part=value).write(f"{folder}/{name}"))]
    if hasattr(value, "compile"):
        value.compile("adam", "mse")
        value.optimizer.build(value.trainable_variables)
        whole = tf.train.Checkpoint(part=value, optimizer=value.optimizer)
        found.append(described(tf, whole.write(f"{folder}/{name}2")))
    return found


def written(tf: Any, keras: Any, prefix: str) -> Any:
    """The checkpoint of a trained model; returns what `weights` does."""
    model = _sequential(tf, keras)
    model.compile(keras.optimizers.Adam(0.01), "mse")
    x = tf.reshape(tf.range(12, dtype=tf.float32), (4, 3))
    model.fit(x, tf.ones((4, 1)), epochs=2, verbose=0)
    tf.train.Checkpoint(model=model, optimizer=model.optimizer).save(prefix)
    return weights(model)


def weights(model: Any) -> list[Any]:
    """The values of a model's weights and of its optimizer's."""
    return [v.numpy().tolist() for v in (*model.weights, *model.optimizer.variables)]


def _record() -> None:
    import tempfile

    import keras
    import tensorflow as tf

    PREFIX.parent.mkdir(parents=True, exist_ok=True)
    folder = tempfile.mkdtemp()
    found: dict[str, Any] = {n: graphs(tf, keras, n, folder) for n in NAMES}
    found["weights"] = written(tf, keras, str(PREFIX))
    ANSWERS.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    _record()
