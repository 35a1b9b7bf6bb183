"""Training steps that XLA compiles as one program of both workers; the last batch is uneven, and then they are two.

Each worker prints a line of JSON: losses, variables, and how each function runs.
"""

from __future__ import annotations

import json
from typing import Any

import tensorflow as tf

import intaglio
from intaglio.xla import compilation

compilation.VERIFY = True
intaglio.backend("xla")
strategy = tf.distribute.MultiWorkerMirroredStrategy()
number = strategy.cluster_resolver.task_id
found: dict[str, Any] = {"worker": number}
with strategy.scope():
    w = tf.Variable([[1.0], [-1.0]])
    b = tf.Variable([0.5])
    steps = tf.Variable(0, dtype=tf.int64)


def replica_step(x: Any) -> Any:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((tf.matmul(x, w) + b - 1.0) ** 2)
    gradients = tape.gradient(loss, [w, b])
    replica = tf.distribute.get_replica_context()
    gradients = replica.all_reduce("SUM", gradients)
    for variable, gradient in zip([w, b], gradients, strict=True):
        variable.assign_sub(0.01 * gradient)
    steps.assign_add(1)
    return loss


@tf.function(jit_compile=True)
def step(x: Any) -> Any:
    return strategy.reduce("SUM", strategy.run(replica_step, args=(x,)), axis=None)


@tf.function(jit_compile=True)
def repeated(x: Any, count: Any) -> Any:
    total = 0.0
    for _ in tf.range(count):
        total += strategy.reduce("MEAN", strategy.run(replica_step, args=(x,)), axis=None)
    return total


@tf.function(jit_compile=True)
def gathered(x: Any) -> Any:
    def rows() -> Any:
        return tf.distribute.get_replica_context().all_gather(x, axis=0)

    return strategy.run(rows)


data = tf.reshape(tf.range(22.0), (11, 2)) / 20.0
batches = tf.data.Dataset.from_tensor_slices(data).batch(4)
losses = []
for batch in [*strategy.experimental_distribute_dataset(batches)] * 2:
    losses.append(float(step(batch)))
found["losses"] = losses
found["repeated"] = float(repeated(data[:2], tf.constant(3)))
found["gathered"] = gathered(data[number : number + 1]).numpy().tolist()
found["uneven"] = gathered(data[: number + 1]).numpy().tolist()
found["even again"] = gathered(data[number : number + 1]).numpy().tolist()
found["variables"] = [w.numpy().tolist(), b.numpy().tolist(), int(steps)]
found["whole"] = "divided" not in step.get_concrete_function(data[:2]).compile_report()
text = step.experimental_get_compiler_ir(data[:2])("optimized_hlo")
found["collectives"] = "all-reduce" in text
print(json.dumps(found))
