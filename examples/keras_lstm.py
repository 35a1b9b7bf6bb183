"""An LSTM with Keras that classifies whether the brackets of a string are balanced.

Strings of two kinds of brackets have different lengths; they are padded, and a mask hides the
padding from the network.

    python examples/keras_lstm.py                # with TensorFlow
    intaglio run examples/keras_lstm.py          # with Intaglio
        [--epochs N] [--seed N]
"""

from __future__ import annotations

import argparse
from typing import Any

import keras
import numpy as np

SYMBOLS = "()[]"
LENGTH = 12
BATCH = 64
GOAL = 0.95


def balanced(rng: np.random.Generator) -> str:
    """A random string whose brackets match."""
    text, still_open = "", []
    size = 2 * int(rng.integers(2, LENGTH // 2 + 1))
    while len(text) < size:
        if still_open and (len(text) + len(still_open) == size or rng.random() < 0.5):
            text += still_open.pop()
        else:
            opening, closing = ("()", "[]")[rng.integers(2)]
            text += opening
            still_open.append(closing)
    return text


def broken(text: str, rng: np.random.Generator) -> str:
    """The string with one bracket exchanged for another: no longer balanced."""
    place = int(rng.integers(len(text)))
    others = SYMBOLS.replace(text[place], "")
    return text[:place] + others[rng.integers(3)] + text[place + 1 :]


def strings(count: int, seed: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Symbols as numbers from 1, padded with 0; whether they are balanced; the strings."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(2, size=count)
    texts = [balanced(rng) for _ in labels]
    texts = [t if good else broken(t, rng) for t, good in zip(texts, labels, strict=True)]
    numbers = np.zeros((count, LENGTH), "int32")
    for row, text in zip(numbers, texts, strict=True):
        row[: len(text)] = [SYMBOLS.index(c) + 1 for c in text]
    return numbers, labels.astype("float32"), texts


def build() -> keras.Model:
    """The network, compiled."""
    model = keras.Sequential(
        [
            keras.Input((LENGTH,), dtype="int32"),
            keras.layers.Embedding(len(SYMBOLS) + 1, 8, mask_zero=True),
            keras.layers.LSTM(32, return_sequences=True),
            keras.layers.LSTM(32),
            keras.layers.Dense(1, activation="sigmoid"),
        ]
    )
    model.compile(
        optimizer=keras.optimizers.Adam(1e-2, clipnorm=1.0),
        loss="binary_crossentropy",
        metrics=["accuracy"],
    )
    return model


def train(epochs: int, seed: int, callbacks: Any = (), verbose: int = 0) -> Any:
    """The network after training."""
    keras.utils.set_random_seed(seed)
    model = build()
    numbers, labels, _ = strings(4000, seed)
    model.fit(
        numbers, labels, batch_size=BATCH, epochs=epochs, callbacks=list(callbacks), verbose=verbose
    )
    return model


def main() -> int:
    """Trains and evaluates on unseen strings; 0 if the goal is reached."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = train(options.epochs, options.seed, verbose=2)
    numbers, labels, texts = strings(1000, options.seed + 1)
    loss, accuracy = model.evaluate(numbers, labels, verbose=0)
    print(f"new strings: loss {loss:.4f}, accuracy {accuracy:.1%}")
    said = model.predict(numbers[:6], verbose=0)[:, 0]
    for text, label, share in zip(texts, labels, said, strict=False):
        kind = "balanced" if label else "broken"
        print(f"{text:<{LENGTH}}  {kind:<8}  the network: {share:.0%} balanced")
    return 0 if accuracy >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
