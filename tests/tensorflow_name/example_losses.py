"""The losses of the first steps of each Keras example, with whatever the name tensorflow means.

    python -m tests.tensorflow_name.example_losses [example ...]

prints them as JSON. With the Python of an environment that has TensorFlow and Keras,

    path/to/python-with-tensorflow -m tests.tensorflow_name.example_losses --record

writes them to `example_losses.json`, which `test_examples.py` compares with.
"""

from __future__ import annotations

import importlib
import itertools
import json
import os
import pathlib
import sys
from collections.abc import Callable
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")  # plain kernels: stable sums

import keras
import tensorflow as tf

RECORD = pathlib.Path(__file__).with_suffix(".json")
STEPS = 20
SEED = 7


def _of_fit(example: str) -> list[float]:
    """What `fit` reports after each step is the mean so far: the losses follow from it."""
    means: list[float] = []

    class Means(keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            means.append(logs["loss"])

    importlib.import_module(f"examples.{example}").train(1, SEED, [Means()])
    sums = [0.0, *((k + 1) * mean for k, mean in enumerate(means))]
    return [after - before for before, after in itertools.pairwise(sums)]


def _of_loop() -> list[float]:
    example = importlib.import_module("examples.keras_cnn_cutmix")
    return example.train_by_hand(1, SEED)[1]


RUNS: dict[str, Callable[[], list[float]]] = {
    "keras_mlp": lambda: _of_fit("keras_mlp"),
    "keras_cnn_cutmix: fit": lambda: _of_fit("keras_cnn_cutmix"),
    "keras_cnn_cutmix: loop": _of_loop,
    "keras_lstm": lambda: _of_fit("keras_lstm"),
    "keras_functional_save": lambda: _of_fit("keras_functional_save"),
}


def losses(name: str) -> list[float]:
    """The losses of the first steps of an example."""
    return [round(loss, 6) for loss in RUNS[name]()[:STEPS]]


def main() -> None:
    """The command."""
    if "--record" in sys.argv:
        versions = f"TensorFlow {tf.__version__}, Keras {keras.__version__}"
        found = {"by": versions, **{name: losses(name) for name in RUNS}}
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in found.items())
        RECORD.write_text("{\n" + text + "\n}\n", encoding="utf-8")
        return
    print(json.dumps({name: losses(name) for name in sys.argv[1:] or RUNS}))


if __name__ == "__main__":
    main()
