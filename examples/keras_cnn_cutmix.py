"""CutMix with Keras, written twice: as a `train_step` for `fit`, and as a loop by hand.

CutMix (Yun et al., 2019) replaces a box of every image by the same box of another image, and
counts both labels by area. Here it mixes drawn digits, and a small convolutional network learns
them. In `CutMix.train_step` the mixing is part of the traced step, with random numbers of Keras'
own; in `train_by_hand` NumPy mixes, and the traced step is given the share of the first label as
a tensor: as a Python number it would be part of the trace, and every batch would make another.

    python examples/keras_cnn_cutmix.py          # with TensorFlow
    intaglio run examples/keras_cnn_cutmix.py    # with Intaglio
        [--epochs N] [--seed N]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

import keras
import numpy as np
import tensorflow as tf

SIZE = 16
CLASSES = 10
BATCH = 32
GOAL = 0.9
# The seven segments of a digit as boxes of a 9x5 picture: rows, columns.
BOXES = (
    (0, 1, 0, 5),
    (0, 5, 0, 1),
    (0, 5, 4, 5),
    (4, 5, 0, 5),
    (4, 9, 0, 1),
    (4, 9, 4, 5),
    (8, 9, 0, 5),
)
LIT = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)


def drawn(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Noisy 16x16 images of digits somewhere on them, and the digits."""
    shapes = np.zeros((CLASSES, 9, 5), "float32")
    for shape, lit in zip(shapes, LIT, strict=True):
        for (top, bottom, left, right), on in zip(BOXES, lit, strict=True):
            if on == "1":
                shape[top:bottom, left:right] = 1.0
    rng = np.random.default_rng(seed)
    labels = rng.integers(CLASSES, size=count).astype("int32")
    images = rng.normal(0.0, 0.2, size=(count, SIZE, SIZE, 1)).astype("float32")
    for image, label in zip(images, labels, strict=True):
        y, x = rng.integers(SIZE - 9), rng.integers(SIZE - 5)
        image[y : y + 9, x : x + 5, 0] += shapes[label]
    return images, labels


def layers() -> list[Any]:
    """The network's layers."""
    return [
        keras.Input((SIZE, SIZE, 1)),
        keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Conv2D(32, 3, padding="same", activation="relu"),
        keras.layers.MaxPooling2D(),
        keras.layers.Flatten(),
        keras.layers.Dense(CLASSES),
    ]


class CutMix(keras.Sequential):
    """A network whose training step mixes the batch it is given."""

    def __init__(self, *args: Any, seed: int = 0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.random = keras.random.SeedGenerator(seed)

    def mixed(self, images: Any, order: Any) -> tuple[Any, Any]:
        """The images with a box of others in them, and the share that is left of their own."""
        cut = tf.sqrt(keras.random.uniform((), seed=self.random))
        center = keras.random.uniform((2,), 0.0, SIZE, seed=self.random)
        low = tf.clip_by_value(tf.round(center - cut * SIZE / 2), 0.0, SIZE)
        high = tf.clip_by_value(tf.round(center + cut * SIZE / 2), 0.0, SIZE)
        place = tf.range(SIZE, dtype=tf.float32)
        inside = (place >= low[:, None]) & (place < high[:, None])
        box = (inside[0][:, None] & inside[1][None, :])[:, :, None]
        area = tf.reduce_prod(high - low) / SIZE**2
        return tf.where(box, tf.gather(images, order), images), 1.0 - area

    def train_step(self, data: Any) -> dict[str, Any]:
        """One step on a batch mixed anew."""
        images, labels = data
        order = keras.random.shuffle(tf.range(tf.shape(images)[0]), seed=self.random)
        mixed, lam = self.mixed(images, order)
        with tf.GradientTape() as tape:
            logits = self(mixed, training=True)
            loss = lam * self.compute_loss(y=labels, y_pred=logits) + (
                1.0 - lam
            ) * self.compute_loss(y=tf.gather(labels, order), y_pred=logits)
        variables = self.trainable_variables
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        for metric in self.metrics:
            if metric.name == "loss":
                metric.update_state(loss)
            else:
                metric.update_state(labels, logits)
        return {metric.name: metric.result() for metric in self.metrics}


def train(epochs: int, seed: int, callbacks: Any = (), verbose: int = 0) -> Any:
    """The network trained with `fit`, its own training step in it."""
    keras.utils.set_random_seed(seed)
    model = CutMix(layers(), seed=seed)
    model.compile(
        optimizer=keras.optimizers.Adam(5e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    images, labels = drawn(2000, seed)
    model.fit(
        images, labels, batch_size=BATCH, epochs=epochs, callbacks=list(callbacks), verbose=verbose
    )
    return model


def rand_bbox(lam: float, rng: np.random.Generator) -> tuple[int, int, int, int]:
    """A random box with a share of about 1 - lam of the image: (top, bottom, left, right)."""
    half = int(SIZE * np.sqrt(1.0 - lam)) // 2
    y, x = rng.integers(SIZE, size=2)
    top, bottom, left, right = np.clip([y - half, y + half, x - half, x + half], 0, SIZE)
    return int(top), int(bottom), int(left), int(right)


def batches(images: Any, labels: Any, rng: np.random.Generator) -> Iterator[Any]:
    """One epoch of mixed batches: images, both labels, the share of the first."""
    order = rng.permutation(len(images))
    for start in range(0, len(images) - BATCH + 1, BATCH):
        chosen = order[start : start + BATCH]
        other = rng.permutation(chosen)
        top, bottom, left, right = rand_bbox(rng.beta(1.0, 1.0), rng)
        mixed = images[chosen]
        mixed[:, top:bottom, left:right] = images[other, top:bottom, left:right]
        lam = 1.0 - (bottom - top) * (right - left) / SIZE**2
        yield mixed, labels[chosen], labels[other], np.float32(lam)


def train_by_hand(epochs: int, seed: int) -> tuple[Any, list[float], int]:
    """The network, the loss of every step, and how often the step was traced."""
    keras.utils.set_random_seed(seed)
    model = keras.Sequential(layers())
    criterion = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.SGD(0.05, momentum=0.9)
    optimizer.build(model.trainable_variables)  # else a first trace would make its slots

    @tf.function
    def step(images: Any, labels_a: Any, labels_b: Any, lam: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = criterion(labels_a, logits) * lam + criterion(labels_b, logits) * (1.0 - lam)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    images, labels = drawn(2000, seed)
    rng = np.random.default_rng(seed)
    losses = [
        float(step(*map(tf.convert_to_tensor, batch)))
        for _ in range(epochs)
        for batch in batches(images, labels, rng)
    ]
    return model, losses, step.experimental_get_tracing_count()


def accuracy(model: Any, seed: int) -> float:
    """The share of digits not seen in training that are read right."""
    images, labels = drawn(1000, seed + 1)
    read = np.argmax(model.predict(images, verbose=0), axis=1)
    return float(np.mean(read == labels))


def main() -> int:
    """Trains in both modes; 0 if both reach the goal."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    fitted = accuracy(train(options.epochs, options.seed, verbose=2), options.seed)
    print(f"fit with a train_step of its own: accuracy {fitted:.1%}")
    model, losses, traces = train_by_hand(options.epochs, options.seed)
    looped = accuracy(model, options.seed)
    print(f"loop by hand: {len(losses)} steps, {traces} traces, accuracy {looped:.1%}")
    return 0 if min(fitted, looped) >= GOAL else 1


if __name__ == "__main__":
    raise SystemExit(main())
