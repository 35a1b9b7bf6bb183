"""Cases of Keras: the package as PyPI has it, on Intaglio and on TensorFlow.

Loaded like `cases.py`, in both environments.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np

Timed = Callable[[], Any]

# As in `cases.py`; an epoch has 40 batches of 32.
CASES: dict[str, tuple[str, tuple[str, ...], float | None]] = {
    "keras_first": (
        "Keras: a new 784-128-10 network, compiled, to the end of its first traced step",
        ("tensorflow",),
        0.2,
    ),
    "keras_mlp": ("Keras: epoch of `fit`, that network", ("tensorflow",), 1.0),
    "keras_cnn": ("Keras: epoch of `fit`, two convolutions on 28x28", ("tensorflow",), 1.0),
    "keras_lstm": ("Keras: epoch of `fit`, LSTM of 32 on 28 steps", ("tensorflow",), 1.0),
    "keras_predict": ("Keras: `predict` of one sample", ("tensorflow",), 0.2),
    "keras_eager": ("Keras: a step with `run_eagerly=True`", ("tensorflow",), 0.3),
}
BATCH, BATCHES = 32, 40
_LEFT_OUT = "import sys; sys.modules['sklearn'] = None; "  # Keras imports it if it can
IMPORTS = {
    "intaglio": _LEFT_OUT + "import intaglio; intaglio.install_as_tensorflow(); import keras",
    "tensorflow": _LEFT_OUT + "import keras",
}


def tensorflow_like(tf: Any, case: str) -> Timed:
    """The case, on Intaglio or TensorFlow."""
    os.environ["KERAS_BACKEND"] = "tensorflow"
    if tf.__name__ == "intaglio.tf":
        importlib.import_module("intaglio").install_as_tensorflow()
    keras: Any = importlib.import_module("keras")
    return _MAKERS[case](keras)


def _data(count: int, *shape: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (
        rng.normal(size=(count, *shape)).astype("float32"),
        rng.integers(10, size=count).astype("int32"),
    )


def _compiled(keras: Any, shape: tuple[int, ...], *layers: Any, **options: Any) -> Any:
    model = keras.Sequential([keras.Input(shape), *layers, keras.layers.Dense(10)])
    model.compile(
        keras.optimizers.Adam(),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
        **options,
    )
    return model


def _mlp(keras: Any, **options: Any) -> Any:
    hidden = keras.layers.Dense(128, activation="relu")
    return _compiled(keras, (784,), hidden, **options)


def _first(keras: Any) -> Timed:
    x, y = _data(BATCH, 784)
    return lambda: _mlp(keras).train_on_batch(x, y)


def _epoch(model: Any, *shape: int) -> Timed:
    x, y = _data(BATCH * BATCHES, *shape)

    def epoch() -> Any:
        return model.fit(x, y, batch_size=BATCH, verbose=0)

    epoch()  # the traces
    return epoch


def _cnn(keras: Any) -> Timed:
    layers = keras.layers
    return _epoch(
        _compiled(
            keras,
            (28, 28, 1),
            layers.Conv2D(16, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
        ),
        *(28, 28, 1),
    )


def _predict(keras: Any) -> Timed:
    model, (x, _) = _mlp(keras), _data(1, 784)
    return lambda: model.predict(x, verbose=0)


def _eager(keras: Any) -> Timed:
    model, (x, y) = _mlp(keras, run_eagerly=True), _data(BATCH, 784)
    return lambda: model.train_on_batch(x, y)


_MAKERS: dict[str, Callable[[Any], Timed]] = {
    "keras_first": _first,
    "keras_mlp": lambda keras: _epoch(_mlp(keras), 784),
    "keras_cnn": _cnn,
    "keras_lstm": lambda keras: _epoch(_compiled(keras, (28, 28), keras.layers.LSTM(32)), 28, 28),
    "keras_predict": _predict,
    "keras_eager": _eager,
}
