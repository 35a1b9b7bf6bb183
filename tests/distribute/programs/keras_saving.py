"""Keras' models and the slots of their optimizers, saved under two replicas and loaded under 0, 2 and 3."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.distribute.programs import saving


def main(tf: Any, say: Callable[..., None]) -> None:
    saving.divide(tf)
    x = np.arange(24, dtype=np.float32).reshape(6, 4) / 8
    y = 2 * x.sum(1, keepdims=True) + 1
    model = _model(tf, 2)
    model.fit(x, y, batch_size=6, epochs=2, shuffle=False, verbose=0)
    say("state", lambda: _state(model))
    with tempfile.TemporaryDirectory() as folder:
        whole, values = os.path.join(folder, "whole.keras"), os.path.join(folder, "values")
        model.save(whole)
        path = tf.train.Checkpoint(model=model, optimizer=model.optimizer).write(values)
        for count in (0, 2, 3):
            with saving.scope_of(saving.strategy_of(tf, count)):
                loaded = tf.keras.models.load_model(whole)
            say(f"loaded on {count}", lambda m=loaded: _state(m))
            restored = _model(tf, count)
            checkpoint = tf.train.Checkpoint(model=restored, optimizer=restored.optimizer)
            checkpoint.read(path).expect_partial()
            say(f"restored on {count}", lambda m=restored: _state(m))
            if count == 3:  # TensorFlow reduces in groups of one size in a process
                continue
            for name, found in (("loaded", loaded), ("restored", restored)):
                found.fit(x, y, batch_size=6, epochs=1, shuffle=False, verbose=0)
                say(f"{name} on {count}, trained", lambda m=found: _state(m))


def _model(tf: Any, replicas: int) -> Any:
    layers = tf.keras.layers
    with saving.scope_of(saving.strategy_of(tf, replicas)):
        model = tf.keras.Sequential(
            [layers.Input((4,)), layers.Dense(1, kernel_initializer="ones")]
        )
        model.compile(
            loss="mse",
            optimizer=tf.keras.optimizers.Adam(0.125),
            metrics=["mae"],
            jit_compile=False,
        )
        model.optimizer.build(model.trainable_variables)
    return model


def _state(model: Any) -> list[list[float]]:
    """The weights and what the optimizer keeps."""
    found = [*model.weights, *model.optimizer.variables]
    return [[round(float(v), 3) + 0.0 for v in np.ravel(w.numpy())] for w in found]
