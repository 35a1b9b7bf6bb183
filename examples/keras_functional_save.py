"""A functional Keras model with two inputs and two outputs: trained, saved, loaded, trained on.

    python examples/keras_functional_save.py         # with TensorFlow
    intaglio run examples/keras_functional_save.py   # with Intaglio
        [--epochs N] [--seed N]

The file is Keras' own format: what one of the two saves, the other loads.
"""

from __future__ import annotations

import argparse
import pathlib
import tempfile
from typing import Any

import keras
import numpy as np

ROOMS = 6
BATCH = 32
GOAL = 0.3


def houses(count: int, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Sizes of rooms and a quarter of the town; prices, and whether the house is dear."""
    quarters = np.random.default_rng(0).uniform(0.5, 2.0, size=5)
    rng = np.random.default_rng(seed)
    rooms = rng.uniform(0.0, 1.0, size=(count, ROOMS)) * (rng.random((count, ROOMS)) < 0.7)
    quarter = rng.integers(5, size=count)
    price = rooms.sum(1) * quarters[quarter] + rng.normal(0.0, 0.1, size=count)
    return (
        {"rooms": rooms.astype("float32"), "quarter": quarter.astype("int32")},
        {"price": price.astype("float32"), "dear": (price > 2.5).astype("float32")},
    )


def build() -> keras.Model:
    """The model, compiled: a residual block on both inputs, and two heads."""
    rooms = keras.Input((ROOMS,), name="rooms")
    quarter = keras.Input((), dtype="int32", name="quarter")
    place = keras.layers.Embedding(5, 4)(quarter)
    x = keras.layers.Concatenate()([keras.layers.Dense(28)(rooms), place])
    inner = keras.layers.LayerNormalization()(x)
    inner = keras.layers.Dense(32, activation="silu", kernel_regularizer="l2")(inner)
    x = keras.layers.Add()([x, inner])
    price = keras.layers.Dense(1, name="price")(x)
    dear = keras.layers.Dense(1, activation="sigmoid", name="dear")(x)
    model = keras.Model([rooms, quarter], {"price": price, "dear": dear})
    rate = keras.optimizers.schedules.CosineDecay(1e-2, 400)
    model.compile(
        optimizer=keras.optimizers.AdamW(rate, weight_decay=1e-3),
        loss={"price": "mse", "dear": "binary_crossentropy"},
        loss_weights={"price": 1.0, "dear": 0.5},
        metrics={"price": ["mae"], "dear": ["auc"]},
    )
    return model


def train(epochs: int, seed: int, callbacks: Any = (), verbose: int = 0) -> Any:
    """The model after training."""
    keras.utils.set_random_seed(seed)
    model = build()
    inputs, targets = houses(1600, seed)
    model.fit(
        inputs, targets, batch_size=BATCH, epochs=epochs, callbacks=list(callbacks), verbose=verbose
    )
    return model


def main() -> int:
    """Trains, saves, loads, compares, trains on; 0 if all went well."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    model = train(options.epochs, options.seed, verbose=2)
    inputs, targets = houses(500, options.seed + 1)
    predicted = model.predict(inputs, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "houses.keras")
        model.save(path)
        weights = pathlib.Path(folder, "houses.weights.h5")
        model.save_weights(weights)
        print(f"saved {path.stat().st_size // 1024} KiB")
        loaded = keras.models.load_model(path)
        fresh = build()
        fresh.optimizer.build(fresh.trainable_variables)
        fresh.load_weights(weights)
    same = all(
        np.array_equal(predicted[name], other.predict(inputs, verbose=0)[name])
        for other in (loaded, fresh)
        for name in predicted
    )
    print("the loaded models predict the same:", same)
    steps = int(loaded.optimizer.iterations)
    loaded.fit(*houses(1600, options.seed), batch_size=BATCH, verbose=0)
    print(f"trained on from step {steps} to {int(loaded.optimizer.iterations)}")
    results = loaded.evaluate(inputs, targets, verbose=0, return_dict=True)
    print(f"price off by {results['price_mae']:.3f}, dear: auc {results['dear_auc']:.3f}")
    return 0 if same and results["price_mae"] < GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
