"""Compiled functions that only one of two workers can compile, or that differ; each prints a line of JSON.

With the argument "late" the second worker does not come to a sum of both.
"""

from __future__ import annotations

import atexit
import json
import sys
import threading
import time
from typing import Any

import tensorflow as tf

import intaglio
from intaglio.xla import evaluator

intaglio.backend("xla")
if sys.argv[1:] == ["late"]:
    # Called last, when the workers have left each other.
    atexit.register(lambda: print("threads:", [t.name for t in threading.enumerate()]))
strategy = tf.distribute.MultiWorkerMirroredStrategy()
number = strategy.cluster_resolver.task_id
found: dict[str, Any] = {"worker": number}
if sys.argv[1:] == ["late"]:
    strategy.extended._processes._seconds = 2.0
    if number == 1:
        time.sleep(8.0)
        sys.exit(0)
    for name in ("late", "later"):
        try:
            strategy.reduce("SUM", tf.constant(1.0), axis=None)
        except tf.errors.DeadlineExceededError as e:
            found[name] = e.message
    print(json.dumps(found))
    sys.exit(0)
with strategy.scope():
    total = tf.Variable(0.0)
replica = tf.distribute.get_replica_context


@tf.function(jit_compile=True)
def summed(x: Any) -> Any:
    def step() -> Any:
        result = replica().all_reduce("SUM", tf.tanh(x))
        total.assign_add(result)
        return result

    return strategy.run(step)


@tf.function(jit_compile=True)
def rows(shape: Any) -> Any:
    return strategy.run(lambda: replica().all_gather(tf.ones(shape) * float(number + 1), axis=0))


@tf.function(jit_compile=True)
def doubled(x: Any, sizes: Any) -> Any:
    def step() -> Any:
        repeated = tf.reshape(x, tf.reduce_sum(sizes, keepdims=True))
        return replica().all_reduce("SUM", tf.reduce_sum(repeated))

    return strategy.run(step)


evaluate = evaluator.Evaluator.evaluate


def refusing(self: Any, node: Any, inputs: Any) -> Any:
    """The second worker refuses one op, as a version of jax might."""
    if node.op.name == "Tanh":
        raise evaluator.NodeUntraceable(node, "refused")
    return evaluate(self, node, inputs)


x = tf.constant(0.5 * (number + 1))
if number == 1:
    evaluator.Evaluator.evaluate = refusing
found["one cannot"] = [float(summed(x)) for _ in range(2)]
evaluator.Evaluator.evaluate = evaluate
found["both can"] = float(summed(x))
found["total"] = float(total)
found["known sizes"] = [rows(tf.constant([n + number, 1])).numpy().tolist() for n in (1, 2)]
# As many integers as may be part of a program in one worker, and more in the other.
sizes = tf.ones([16 + number], tf.int32)
found["unlike integers"] = float(doubled(tf.ones([16 + number]), sizes))


def wrong(*arrays: Any) -> Any:
    raise ValueError("of this process")


try:
    strategy.extended._processes.together(wrong, ())
except ValueError as e:
    found["own error"] = str(e)
print(json.dumps(found))
