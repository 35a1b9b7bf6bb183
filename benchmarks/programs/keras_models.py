"""Keras' own loops and metrics: a step is a call of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program

PLAIN = ("eager",)


def _fit(tf: Any, layers: list[Any], x: Any, labels: Any, batch: int, **options: Any) -> Any:
    tf.keras.utils.set_random_seed(3)
    model = tf.keras.Sequential([tf.keras.Input(x.shape[1:], dtype=x.dtype.name), *layers])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(1e-3), loss, metrics=["accuracy"], **options)

    def step() -> Any:
        run = model.fit(x, labels, batch_size=batch, epochs=1, shuffle=False, verbose=0)
        return run.history["loss"][0]

    return step, ()


@program(modes=PLAIN, tolerance=0.3)
def fit_dense(tf: Any, inputs: Inputs) -> Any:
    """An epoch of a network with dropout and batch normalisation."""
    n, d = inputs.size(600, 2000, 16), inputs.size(20, 200)
    layers = tf.keras.layers
    h = inputs.size(32, 160)
    stack = [
        layers.Dense(h, activation="relu"), layers.BatchNormalization(), layers.Dropout(0.2),
        layers.Dense(10),
    ]  # fmt: skip
    return _fit(tf, stack, inputs.normal(n, d), inputs.integers(10, n), inputs.size(16, 64, 8))


@program(modes=PLAIN, tolerance=0.3)
def fit_convolutional(tf: Any, inputs: Inputs) -> Any:
    """An epoch of two convolutions with pooling."""
    n, size = inputs.size(150, 500, 8), inputs.size(20, 32, 12)
    layers = tf.keras.layers
    stack = [
        layers.Conv2D(inputs.size(8, 24, 3), 3, activation="relu"), layers.MaxPooling2D(),
        layers.Conv2D(inputs.size(16, 40, 3), 3, activation="relu"),
        layers.GlobalAveragePooling2D(), layers.Dense(10),
    ]  # fmt: skip
    x = inputs.normal(n, size, size, 1)
    return _fit(tf, stack, x, inputs.integers(10, n), inputs.size(16, 40, 4))


@program(modes=PLAIN, tolerance=0.3)
def fit_recurrent(tf: Any, inputs: Inputs) -> Any:
    """An epoch of an embedding and an LSTM."""
    n, length = inputs.size(200, 600, 8), inputs.size(10, 30, 4)
    layers = tf.keras.layers
    stack = [
        layers.Embedding(400, 24, mask_zero=True), layers.LSTM(inputs.size(16, 48, 4)),
        layers.Dense(10),
    ]  # fmt: skip
    words = inputs.integers(400, n, length)
    words[:, 0] = 1
    return _fit(tf, stack, words, inputs.integers(10, n), inputs.size(16, 40, 4))


@program(modes=PLAIN, tolerance=0.3)
def fit_eagerly(tf: Any, inputs: Inputs) -> Any:
    """Training with `run_eagerly=True`, as one debugs."""
    n, d = inputs.size(200, 500, 16), inputs.size(10, 60)
    layers = tf.keras.layers
    stack = [layers.Dense(32, activation="gelu"), layers.LayerNormalization(), layers.Dense(10)]
    x, labels = inputs.normal(n, d), inputs.integers(10, n)
    return _fit(tf, stack, x, labels, inputs.size(16, 40, 8), run_eagerly=True)


@program(modes=PLAIN)
def metrics(tf: Any, inputs: Inputs) -> Any:
    """Area under curves, precision, recall and a confusion matrix by batches."""
    n, batches = inputs.size(500, 3000, 20), inputs.size(3, 8, 2)
    found = tf.keras.metrics
    measured = [found.AUC(), found.AUC(curve="PR"), found.Precision(), found.Recall()]

    def step(labels: Any, scores: Any) -> Any:
        for metric in measured:
            metric.reset_state()
            for n in range(batches):
                metric.update_state(labels[n], scores[n])
        matrix = tf.math.confusion_matrix(labels[0], tf.cast(scores[0] > 0.5, tf.int32), 2)
        return [m.result() for m in measured], matrix

    scores = inputs.uniform(batches, n)
    labels = (scores + inputs.uniform(batches, n) > 1).astype("int32")
    return step, (tf.constant(labels), tf.constant(scores))


@program(modes=PLAIN)
def predict(tf: Any, inputs: Inputs) -> Any:
    """`predict` of a functional model with two inputs, in batches."""
    n, d, e = inputs.size(300, 1500, 12), inputs.size(10, 60), inputs.size(5, 30)
    keras = tf.keras
    a, b = keras.Input((d,)), keras.Input((e,))
    hidden = keras.layers.Dense(48, activation="relu")(a)
    other = keras.layers.Dense(48, activation="tanh")(b)
    joined = keras.layers.Concatenate()([hidden, other, hidden * other])
    model = keras.Model([a, b], keras.layers.Dense(3, activation="softmax")(joined))
    model.set_weights([inputs.normal(*w.shape, scale=0.1) for w in model.get_weights()])
    data = [inputs.normal(n, d), inputs.normal(n, e)]

    def step() -> Any:
        return np.asarray(model.predict(data, batch_size=64, verbose=0))

    return step, ()


@program(modes=("eager", "graph"))
def text_vectorization(tf: Any, inputs: Inputs) -> Any:
    """Keras' TextVectorization before an embedding and a mean."""
    lines = inputs.sentences(inputs.size(100, 500, 6), 500)
    layer = tf.keras.layers.TextVectorization(300, output_sequence_length=16)
    layer.set_vocabulary(inputs.words(500)[:290])
    table = tf.constant(inputs.normal(300, 16))

    def step(lines: Any) -> Any:
        ids = layer(lines)
        mask = tf.cast(ids != 0, tf.float32)[..., None]
        return ids, tf.reduce_sum(tf.gather(table, ids) * mask, 1)

    return step, (tf.constant(lines),)
