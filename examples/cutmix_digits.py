"""CutMix on handwritten digits: the training step traced, explained, compiled, and timed.

A small convolutional network of `tf.nn` ops and `tf.Variable`s learns scikit-learn's 8x8 digits
with CutMix (Yun et al., 2019): a box of every image is replaced by the same box of another
image, and the loss counts both labels by area. The share `lam` of the first label differs from
batch to batch, so it matters whether it reaches the traced step as a Python number, which is part
of the trace, or as a tensor, which is not.

The script is written for TensorFlow, and runs with it too. Intaglio replaces it here:

    intaglio run examples/cutmix_digits.py [--epochs N] [--seed N]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits
from tqdm import tqdm

CLASSES = 10
BATCH = 64
GOAL = 0.95
# Steps before times are taken: a traced step that runs often is compiled by itself.
WARM = 400


class DigitsNet(tf.Module):
    """Two convolutions with pooling and a dense layer; weights are He-initialised."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)

        def weights(*shape: int) -> tf.Variable:
            scale = np.sqrt(2.0 / np.prod(shape[:-1]))
            return tf.Variable((rng.normal(size=shape) * scale).astype("float32"))

        self.kernel1 = weights(3, 3, 1, 16)
        self.bias1 = tf.Variable(tf.zeros([16]))
        self.kernel2 = weights(3, 3, 16, 32)
        self.bias2 = tf.Variable(tf.zeros([32]))
        self.dense = weights(2 * 2 * 32, CLASSES)
        self.bias3 = tf.Variable(tf.zeros([CLASSES]))

    def __call__(self, images: Any) -> Any:
        x = tf.nn.relu(tf.nn.conv2d(images, self.kernel1, strides=1, padding="SAME") + self.bias1)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        x = tf.nn.relu(tf.nn.conv2d(x, self.kernel2, strides=1, padding="SAME") + self.bias2)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        return tf.matmul(tf.reshape(x, [-1, 2 * 2 * 32]), self.dense) + self.bias3


class Adam:
    """Adam (Kingma and Ba, 2015) on variables."""

    def __init__(self, variables: Any, rate: float = 3e-3) -> None:
        self.rate, self.beta1, self.beta2 = rate, 0.9, 0.999
        self.step = tf.Variable(0.0)
        self.means = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.squares = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, gradients: Any, variables: Any) -> None:
        step = self.step.assign_add(1.0)
        rate = self.rate * tf.sqrt(1.0 - self.beta2**step) / (1.0 - self.beta1**step)
        for g, v, m, s in zip(gradients, variables, self.means, self.squares, strict=True):
            m.assign(self.beta1 * m + (1.0 - self.beta1) * g)
            s.assign(self.beta2 * s + (1.0 - self.beta2) * tf.square(g))
            v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))


def rand_bbox(
    height: int, width: int, lam: float, rng: np.random.Generator
) -> tuple[int, int, int, int]:
    """A random box with a share of about 1 - lam of the image: (top, bottom, left, right)."""
    cut = np.sqrt(1.0 - lam)
    high, wide = int(height * cut), int(width * cut)
    y, x = rng.integers(height), rng.integers(width)
    top, bottom = np.clip([y - high // 2, y + (high + 1) // 2], 0, height)
    left, right = np.clip([x - wide // 2, x + (wide + 1) // 2], 0, width)
    return int(top), int(bottom), int(left), int(right)


def cutmix(
    images: np.ndarray, labels: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """A mixed batch: images, both label sets, and the share of the first."""
    mixed, order = images.copy(), rng.permutation(len(images))
    top, bottom, left, right = rand_bbox(*images.shape[1:3], rng.beta(1.0, 1.0), rng)
    mixed[:, top:bottom, left:right] = images[order, top:bottom, left:right]
    lam = 1.0 - (bottom - top) * (right - left) / (images.shape[1] * images.shape[2])
    return mixed, labels, labels[order], lam


def make_step(seed: int) -> tuple[DigitsNet, Callable[..., Any]]:
    """A fresh network and its training step, not traced yet."""
    net = DigitsNet(seed)
    variables = net.trainable_variables
    optimizer = Adam(variables)

    def criterion(labels: Any, logits: Any) -> Any:
        return tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        )

    def train_step(images: Any, labels_a: Any, labels_b: Any, lam: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = net(images)
            loss = criterion(labels_a, logits) * lam + criterion(labels_b, logits) * (1.0 - lam)
        optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    return net, train_step


def digits(seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training images and labels, then the fifth that is held out."""
    data = load_digits()
    images = (data.images[..., None] / 16.0).astype("float32")
    labels = data.target.astype("int32")
    order = np.random.default_rng(seed).permutation(len(images))
    cut = len(order) // 5
    held, kept = order[:cut], order[cut:]
    return images[kept], labels[kept], images[held], labels[held]


def batches(images: np.ndarray, labels: np.ndarray, rng: np.random.Generator) -> Iterator[Any]:
    """One epoch of mixed batches; every second one is left as it is."""
    order = rng.permutation(len(images))
    for number, start in enumerate(range(0, len(order) - BATCH + 1, BATCH)):
        chosen = order[start : start + BATCH]
        if number % 2:
            yield cutmix(images[chosen], labels[chosen], rng)
        else:
            yield images[chosen], labels[chosen], labels[chosen], 1.0


def traced_epoch(
    images: np.ndarray, labels: np.ndarray, seed: int, as_tensor: bool
) -> tuple[Any, int]:
    """The step and the number of batches, after an epoch with `lam` as a Python float or a tensor."""
    _, plain = make_step(seed)
    step = tf.function(plain)
    done = 0
    for x, a, b, lam in batches(images, labels, np.random.default_rng(seed)):
        share = tf.constant(lam, tf.float32) if as_tensor else lam
        step(tf.constant(x), tf.constant(a), tf.constant(b), share)
        done += 1
    return step, done


def train(images: np.ndarray, labels: np.ndarray, epochs: int, seed: int) -> DigitsNet:
    """A trained network."""
    net, plain = make_step(seed)
    step = tf.function(plain)
    rng = np.random.default_rng(seed)
    per_epoch = len(images) // BATCH
    with tqdm(total=epochs * per_epoch, desc="training", unit="step") as bar:
        for _ in range(epochs):
            for x, a, b, lam in batches(images, labels, rng):
                loss = step(
                    tf.constant(x), tf.constant(a), tf.constant(b), tf.constant(lam, tf.float32)
                )
                bar.set_postfix(loss=f"{float(loss):.3f}", refresh=False)
                bar.update()
    return net


def accuracy(net: DigitsNet, images: np.ndarray, labels: np.ndarray) -> float:
    """The share of images whose most likely class is right."""
    predicted = tf.argmax(tf.function(net.__call__)(tf.constant(images)), axis=1)
    return float(np.mean(predicted.numpy() == labels))


def step_times(
    images: np.ndarray, labels: np.ndarray, seed: int, repeats: int = 30
) -> dict[str, float]:
    """Median seconds of one step in each mode, alternating on the same batch."""
    x, a, b, lam = cutmix(images[:BATCH], labels[:BATCH], np.random.default_rng(seed))
    arguments = (tf.constant(x), tf.constant(a), tf.constant(b), tf.constant(lam, tf.float32))
    steps = {
        "eager": make_step(seed)[1],
        "traced": tf.function(make_step(seed)[1]),
        "compiled": tf.function(make_step(seed)[1], jit_compile=True),
    }
    times: dict[str, list[float]] = {name: [] for name in steps}
    for step in steps.values():
        for _ in range(WARM):
            step(*arguments)
    for _ in range(repeats):
        for name, step in steps.items():
            start = time.perf_counter()
            float(step(*arguments))
            times[name].append(time.perf_counter() - start)
    return {name: statistics.median(kept) for name, kept in times.items()}


def report_traces(images: np.ndarray, labels: np.ndarray, seed: int) -> None:
    """Says how often the step is traced, and why."""
    for kind, as_tensor in (("a Python float", False), ("a tensor", True)):
        step, done = traced_epoch(images, labels, seed, as_tensor)
        traces = step.experimental_get_tracing_count()
        print(f"lam as {kind}: the step was traced {traces} times for {done} batches")
        if traces > 1 and hasattr(step, "explain"):  # what TensorFlow does not have
            print(f"why: {step.explain()[1].changes[0]}")


def report_times(images: np.ndarray, labels: np.ndarray, seed: int) -> None:
    """Says how long a step takes."""
    times = step_times(images, labels, seed)
    shown = ", ".join([f"{name} {t * 1e3:.2f} ms" for name, t in times.items()])
    faster = times["eager"] / times["traced"], times["eager"] / times["compiled"]
    print(f"a step of {BATCH} images: {shown}")
    print(f"traced {faster[0]:.2f} times, compiled {faster[1]:.2f} times as fast")


def main() -> int:
    """Trains, counts, times; the exit status is 0 if the goal is reached."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    images, labels, held_images, held_labels = digits(options.seed)
    print(f"{len(images)} digits to learn from, {len(held_images)} held out")

    tf.get_logger().setLevel("ERROR")  # the retracing below is the point
    report_traces(images, labels, options.seed)

    net = train(images, labels, options.epochs, options.seed)
    reached = accuracy(net, held_images, held_labels)
    print(f"accuracy on the digits held out: {reached:.1%}")

    report_times(images, labels, options.seed)
    if reached < GOAL:
        print(f"the goal of {GOAL:.0%} was missed")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
