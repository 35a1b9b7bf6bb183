"""Sums, means and variables of several workers; one of them may stop on the way.

Arguments: the number of the worker that stops, if any. Each prints a line of JSON.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import tensorflow as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()
number = strategy.cluster_resolver.task_id
found: dict[str, Any] = {"worker": number}
with strategy.scope():
    mirrored = tf.Variable(number + 5.0)
    counted = tf.Variable(
        0.0,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
found["first value"] = float(mirrored)


def step(x: Any) -> Any:
    replica = tf.distribute.get_replica_context()
    counted.assign_add(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        total = replica.all_reduce("SUM", x * x)
    rows = replica.all_gather(tf.fill([number + 1], number), axis=0)
    mirrored.assign_add(total)
    kinds = [tf.cast(x, d) for d in (tf.bfloat16, tf.float64, tf.int64)]
    means = replica.all_reduce("MEAN", kinds)
    return total, tape.gradient(total, x), rows, [tf.cast(m, tf.float32) for m in means]


x = tf.constant(number + 1.0)
for name, function in {"eager": step, "traced": tf.function(step)}.items():
    found[name] = tf.nest.map_structure(lambda t: t.numpy().tolist(), strategy.run(function, (x,)))
slices = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([number]), tf.constant([3, 2]))
reduced = strategy.run(lambda: tf.distribute.get_replica_context().all_reduce("SUM", slices))
found["slices"] = tf.convert_to_tensor(reduced).numpy().tolist()
found["variables"] = [float(mirrored), float(counted)]
found["mean"] = float(strategy.reduce("MEAN", x, axis=None))
batches = strategy.experimental_distribute_dataset(tf.data.Dataset.range(10).batch(4))
found["batches"] = [b.numpy().tolist() for b in batches]
if sys.argv[1:] == [str(number)]:
    os._exit(9)
if sys.argv[1:]:
    strategy.reduce("SUM", x, axis=None)
print(json.dumps(found))
