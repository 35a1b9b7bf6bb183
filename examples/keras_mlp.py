"""A dense network with Keras learns to read a seven-segment display through noise.

Keras 3 as PyPI has it, unchanged, on TensorFlow or on Intaglio:

    python examples/keras_mlp.py                 # with TensorFlow
    intaglio run examples/keras_mlp.py           # with Intaglio
        [--epochs N] [--seed N]
"""

from __future__ import annotations

import argparse
from typing import Any

import keras
import numpy as np

# Which of the seven segments a digit lights: top, upper left, upper right, middle, lower
# left, lower right, bottom.
SEGMENTS = np.array(
    [
        [1, 1, 1, 0, 1, 1, 1],
        [0, 0, 1, 0, 0, 1, 0],
        [1, 0, 1, 1, 1, 0, 1],
        [1, 0, 1, 1, 0, 1, 1],
        [0, 1, 1, 1, 0, 1, 0],
        [1, 1, 0, 1, 0, 1, 1],
        [1, 1, 0, 1, 1, 1, 1],
        [1, 0, 1, 0, 0, 1, 0],
        [1, 1, 1, 1, 1, 1, 1],
        [1, 1, 1, 1, 0, 1, 1],
    ],
    dtype="float32",
)
# Of the dots of the display, each sees two segments in a proportion of its own.
DOTS = 64
BATCH = 32
GOAL = 0.95


def displays(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """What the dots show, (count, 64), and the digits."""
    wiring = np.random.default_rng(0).normal(size=(7, DOTS)).astype("float32")
    rng = np.random.default_rng(seed)
    digits = rng.integers(10, size=count)
    noise = 1.4 * rng.normal(size=(count, DOTS)).astype("float32")
    return SEGMENTS[digits] @ wiring + noise, digits.astype("int32")


def build() -> keras.Model:
    """The network, compiled."""
    model = keras.Sequential(
        [
            keras.Input((DOTS,)),
            keras.layers.Dense(64, activation="relu"),
            keras.layers.BatchNormalization(),
            keras.layers.Dropout(0.3),
            keras.layers.Dense(32, activation="gelu"),
            keras.layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def train(epochs: int, seed: int, callbacks: Any = (), verbose: int = 0) -> Any:
    """The network after training with `fit`; weights, order and dropout follow the seed."""
    keras.utils.set_random_seed(seed)
    model = build()
    shown, digits = displays(2000, seed)
    model.fit(
        shown,
        digits,
        batch_size=BATCH,
        epochs=epochs,
        validation_split=0.2,
        callbacks=list(callbacks),
        verbose=verbose,
    )
    return model


def main() -> int:
    """Trains and evaluates on unseen displays; 0 if the goal is reached."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = train(options.epochs, options.seed, verbose=2)
    shown, digits = displays(1000, options.seed + 1)
    loss, accuracy = model.evaluate(shown, digits, verbose=0)
    print(f"new displays: loss {loss:.4f}, accuracy {accuracy:.1%}")
    print("first ten:", *digits[:10])
    print("read as:  ", *np.argmax(model.predict(shown[:10], verbose=0), axis=1))
    return 0 if accuracy >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
