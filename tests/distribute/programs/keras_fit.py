"""Keras' `fit`, `evaluate` and `predict` on two logical CPUs, with batch normalisation over all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    train(tf, say, tf.distribute.MirroredStrategy())


def train(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    """Three models, trained under a strategy with two replicas."""
    numbers = np.random.default_rng(0)
    x = numbers.standard_normal((20, 4)).astype(np.float32)
    y = (x.sum(1, keepdims=True) > 0).astype(np.float32)
    for name, options in {
        "sgd": {"optimizer": tf.keras.optimizers.SGD(0.25)},
        "adam": {"optimizer": "adam", "jit_compile": False},
        "momentum": {"optimizer": tf.keras.optimizers.SGD(0.125, momentum=0.5, weight_decay=0.01)},
    }.items():
        if name != "adam":
            with strategy.scope():  # optimizers belong to the strategy they are made in
                options["optimizer"] = type(options["optimizer"]).from_config(
                    options["optimizer"].get_config()
                )
        model = _model(tf, strategy, options)
        found = model.fit(x, y, batch_size=8, epochs=2, shuffle=False, verbose=0)
        say(
            f"{name}: history",
            lambda found=found: {k: _rounded(v) for k, v in found.history.items()},
        )
        say(
            f"{name}: weights",
            lambda model=model: [_rounded(w.ravel()) for w in model.get_weights()],
        )
        say(
            f"{name}: evaluate",
            lambda model=model: _rounded(model.evaluate(x, y, batch_size=8, verbose=0)),
        )
        say(
            f"{name}: predict",
            lambda model=model: _rounded(model.predict(x, batch_size=8, verbose=0).ravel()),
        )
        say(f"{name}: steps", lambda model=model: int(model.optimizer.iterations.numpy()))


def _model(tf: Any, strategy: Any, options: dict[str, Any]) -> Any:
    layers = tf.keras.layers
    with strategy.scope():
        tf.keras.utils.set_random_seed(1)
        model = tf.keras.Sequential(
            [
                layers.Input((4,)),
                layers.Dense(3, kernel_initializer=tf.keras.initializers.Constant(0.25)),
                layers.BatchNormalization(synchronized=True, momentum=0.5),
                layers.Dense(1, activation="sigmoid", kernel_initializer="ones"),
            ]
        )
        model.compile(loss="binary_crossentropy", metrics=["accuracy"], **options)
    return model


def _rounded(values: Any) -> list[float]:
    return [round(float(v), 3) + 0.0 for v in np.ravel(values)]
