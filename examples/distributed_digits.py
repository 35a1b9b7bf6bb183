"""CutMix on handwritten digits, data-parallel: on eight logical devices, or in several processes.

Every replica has a copy of the network and a part of each batch; gradients are summed over all of them, so that
the losses are those of one device, whatever the number of replicas. The script is written for
TensorFlow, and runs with it too. Intaglio replaces it here:

    intaglio run examples/distributed_digits.py [--devices N] [--steps N]
    intaglio launch -n 2 examples/distributed_digits.py [--steps N]

The first divides the host into logical devices (`tf.distribute.MirroredStrategy`); the second starts two
workers on this machine (`tf.distribute.MultiWorkerMirroredStrategy`), which need jax:
`pip install "intaglio[xla]"`.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from sklearn.datasets import load_digits

CLASSES = 10
BATCH = 64
RATE, MOMENTUM = 0.1, 0.9


class DigitsNet(tf.Module):
    """A convolution with pooling and a dense layer; weights are He-initialised."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)

        def weights(*shape: int) -> tf.Variable:
            scale = np.sqrt(2.0 / np.prod(shape[:-1]))
            return tf.Variable((rng.normal(size=shape) * scale).astype("float32"))

        self.kernel, self.bias = weights(3, 3, 1, 16), tf.Variable(tf.zeros([16]))
        self.dense, self.offset = weights(4 * 4 * 16, CLASSES), tf.Variable(tf.zeros([CLASSES]))

    def __call__(self, images: Any) -> Any:
        x = tf.nn.relu(tf.nn.conv2d(images, self.kernel, strides=1, padding="SAME") + self.bias)
        x = tf.nn.max_pool2d(x, 2, 2, "SAME")
        return tf.matmul(tf.reshape(x, [-1, 4 * 4 * 16]), self.dense) + self.offset


def batches(images: Any, labels: Any, seed: int) -> Iterator[tuple[Any, Any]]:
    """Batches without end, in which a box of every image is that of another one."""
    rng = np.random.default_rng(seed)
    while True:
        order = rng.permutation(len(images))
        for start in range(0, len(images) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            mixed, share = images[chosen].copy(), rng.beta(1.0, 1.0)
            side = round(8 * float(np.sqrt(1.0 - share)))
            top, left = rng.integers(0, 9 - side, 2)
            box = (slice(None), slice(top, top + side), slice(left, left + side))
            mixed[box] = np.roll(mixed, 1, axis=0)[box]
            share = 1.0 - side * side / 64.0
            targets = share * labels[chosen] + (1.0 - share) * np.roll(labels[chosen], 1, axis=0)
            yield mixed, targets.astype("float32")


def strategy_for(devices: int) -> tf.distribute.Strategy:
    """Workers if the environment names them, else the host in so many logical devices."""
    if "TF_CONFIG" in os.environ:
        return tf.distribute.MultiWorkerMirroredStrategy()
    parts = [tf.config.LogicalDeviceConfiguration() for _ in range(devices)]
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], parts)
    return tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(devices)])


def train(strategy: tf.distribute.Strategy, steps: int, seed: int) -> tuple[list[float], float]:
    """The losses of the steps, and the share of the digits that is recognised then."""
    digits = load_digits()
    images = (digits.images / 16.0).astype("float32")[..., None]
    labels = np.eye(CLASSES, dtype="float32")[digits.target]
    with strategy.scope():
        net = DigitsNet(seed)
        velocities = [tf.Variable(tf.zeros_like(v)) for v in net.trainable_variables]

    def replica_step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            each = tf.nn.softmax_cross_entropy_with_logits(y, net(x))
            loss = tf.reduce_sum(each) / BATCH
        gradients = tape.gradient(loss, net.trainable_variables)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for variable, velocity, gradient in zip(
            net.trainable_variables, velocities, gradients, strict=True
        ):
            velocity.assign(MOMENTUM * velocity - RATE * gradient)
            variable.assign_add(velocity)
        return loss

    @tf.function
    def step(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(replica_step, args=(x, y)), axis=None)

    source = batches(images, labels, seed)
    first = [next(source) for _ in range(steps)]
    data = tf.data.Dataset.from_tensor_slices(
        (np.stack([x for x, _ in first]), np.stack([y for _, y in first]))
    )
    losses = [float(step(x, y)) for x, y in strategy.experimental_distribute_dataset(data)]
    found = tf.argmax(net(images), axis=1).numpy()
    return losses, float(np.mean(found == digits.target))


def main() -> None:
    """Trains, and prints the losses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=8, help="logical devices of one process")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    strategy = strategy_for(options.devices)
    losses, accuracy = train(strategy, options.steps, options.seed)
    print(f"{strategy.num_replicas_in_sync} replicas")
    print("losses:", *[f"{loss:.7f}" for loss in losses[-5:]])
    print(f"recognised: {accuracy:.4f}")


if __name__ == "__main__":
    main()
