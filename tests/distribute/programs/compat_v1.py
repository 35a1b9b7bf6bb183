"""Optimizers of TensorFlow 1 and summaries in replicas: gradients are summed, the first replica writes."""

from __future__ import annotations

import glob
import tempfile
from collections.abc import Callable
from typing import Any


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    _optimizers(tf, say, strategy)
    _summaries(tf, say, strategy)


def _number(tf: Any) -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1.0


def _optimizers(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    train = tf.compat.v1.train
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
        table = tf.Variable([[1.0], [2.0], [3.0]])

    def steps(optimizer: Any, loss: Callable[[], Any], changed: Any, value: Any) -> Any:
        changed.assign(value)

        def replica_step() -> None:
            with tf.GradientTape() as tape:
                found = loss() * _number(tf)
            gradient = tape.gradient(found, changed)
            optimizer.apply_gradients([(gradient, changed)])

        step = tf.function(lambda: strategy.run(replica_step))
        step(), step()
        return [(copy.numpy() * 1000.0).round().tolist() for copy in changed.values]

    def squares() -> Any:
        return tf.reduce_sum(variable * variable)

    def rows() -> Any:
        return tf.reduce_sum(tf.gather(table, [0, 2]))

    kinds = {
        "descent": lambda: train.GradientDescentOptimizer(0.1),
        "momentum": lambda: train.MomentumOptimizer(0.1, 0.9),
        "Adam": lambda: train.AdamOptimizer(0.1),
        "Adagrad": lambda: train.AdagradOptimizer(0.1),
    }
    for label, make in kinds.items():
        with strategy.scope():
            dense, sparse = make(), make()
        say(label, lambda dense=dense: steps(dense, squares, variable, [1.0, 2.0]))
        say(
            f"{label} of rows",
            lambda sparse=sparse: steps(sparse, rows, table, [[1.0], [2.0], [3.0]]),
        )


def _summaries(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    folder = tempfile.mkdtemp()
    writer = tf.summary.create_file_writer(folder)

    def write() -> Any:
        with writer.as_default():
            return tf.summary.write("name", 1.0, step=1)

    def count() -> int:
        writer.flush()
        events = [
            e for f in glob.glob(f"{folder}/*") for e in tf.compat.v1.train.summary_iterator(f)
        ]
        return sum(len(e.summary.value) for e in events)

    say("written in replicas", lambda: strategy.run(write))
    say("summaries of them", count)
    say("written in a function", lambda: tf.function(lambda: strategy.run(write))())
    say("summaries then", count)
    with strategy.scope():
        say("written in the scope", write)
    say("summaries at last", count)
