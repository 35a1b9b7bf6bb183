"""What replicas may not call, values of replicas where a tensor is wanted, and checkpoints that functions write."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

Say = Callable[..., None]


def main(tf: Any, say: Say) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        variable = tf.Variable(1.0)
    _calls_of_replicas(tf, say, strategy, variable)
    _as_tensors(tf, say, strategy)
    _mirrored(tf, say, strategy, variable)
    _slices(tf, say, strategy)
    _checkpoints(tf, say, strategy)
    _averages(tf, say, strategy)
    say("input options", lambda: tf.distribute.InputOptions())
    say("no synchronization", lambda: _created(tf, strategy, tf.VariableSynchronization.NONE))


def _averages(tf: Any, say: Say, strategy: Any) -> None:
    """Sizes of batches that are none, whose errors have classes alone."""
    average = tf.nn.compute_average_loss
    losses = tf.constant([1.0, 2.0])
    for size in (0, -1, 2.5, 4, tf.constant(4, tf.int64), None):
        say(
            f"average of a batch of {getattr(size, 'dtype', size)}",
            lambda size=size: _class_of_error(lambda: average(losses, global_batch_size=size)),
        )
    say("average of a scalar", lambda: average(1.0, global_batch_size=2))
    say("average in a replica", lambda: strategy.run(lambda: average(losses)))


def _created(tf: Any, strategy: Any, synchronization: Any) -> Any:
    with strategy.scope():
        return tf.Variable(1.0, synchronization=synchronization, name="v")


def _calls_of_replicas(tf: Any, say: Say, strategy: Any, variable: Any) -> None:
    extended = strategy.extended

    def scope() -> None:
        with strategy.scope():
            pass

    calls: dict[str, Callable[[], Any]] = {
        "scope": scope,
        "run": lambda: strategy.run(lambda: 1),
        "reduce": lambda: strategy.reduce("SUM", tf.ones([2]), 0),
        "gather": lambda: strategy.gather(tf.ones([2]), 0),
        "reduce_to": lambda: extended.reduce_to("SUM", 1.0, variable),
        "batch_reduce_to": lambda: extended.batch_reduce_to("SUM", [(1.0, variable)]),
        "update_non_slot": lambda: extended.update_non_slot([variable], lambda: 1),
        "broadcast_to": lambda: extended.broadcast_to(1.0, variable),
        "call_for_each_replica": lambda: extended.call_for_each_replica(lambda: 1),
        "distribute": lambda: strategy.experimental_distribute_values_from_function(lambda c: 1),
    }
    for name, call in calls.items():
        say(f"{name} in a replica", lambda call=call: strategy.run(call))


def _of_replicas(tf: Any, strategy: Any) -> Any:
    make = strategy.experimental_distribute_values_from_function
    return make(lambda c: tf.constant([1.0 + c.replica_id_in_sync_group]))


def _as_tensors(tf: Any, say: Say, strategy: Any) -> None:
    values = _of_replicas(tf, strategy)
    calls: dict[str, Callable[[], Any]] = {
        "convert": lambda: tf.convert_to_tensor(values),
        "add": lambda: tf.add(values, 1.0),
        "stack": lambda: tf.stack([values, values]),
        "sum": lambda: tf.reduce_sum(values),
        "cast": lambda: tf.cast(values, tf.int32),
        "shape": lambda: tf.shape(values),
        "identity": lambda: tf.identity(values),
        "is_tensor": lambda: tf.is_tensor(values),
        "operator": lambda: values + 1.0,
        "returned": lambda: tf.function(lambda x: x)(values),
        "of run": lambda: strategy.run(lambda x: x + 1.0, (values,)),
        "structure": lambda: tf.nest.flatten([values, 1], expand_composites=True),
    }
    for name, call in calls.items():
        say(f"{name} of values of replicas", call)


def _mirrored(tf: Any, say: Say, strategy: Any, variable: Any) -> None:
    """A mirrored variable is its own mean, and has no sum."""
    on_read = {
        "trainable": False,
        "synchronization": tf.VariableSynchronization.ON_READ,
        "aggregation": tf.VariableAggregation.SUM,
    }
    with strategy.scope():
        counter = tf.Variable(1.0, **on_read)
        unlike = tf.Variable(1.0)
    strategy.run(lambda: unlike.assign(_index(tf)))
    for name, value in {"mirrored": variable, "unlike": unlike, "read": counter}.items():
        for op in ("MEAN", "SUM"):
            say(
                f"{op} of a {name} variable",
                lambda v=value, op=op: _class_of_error(lambda: strategy.reduce(op, v, None)),
            )


def _class_of_error(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as e:
        return type(e).__name__


def _index(tf: Any) -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def _slices(tf: Any, say: Say, strategy: Any) -> None:
    def summed(op: str) -> Any:
        rows = tf.fill([1, 2], _index(tf) + 1.0)
        slices = tf.IndexedSlices(rows, tf.cast([_index(tf)], tf.int64), [3, 2])
        return tf.distribute.get_replica_context().all_reduce(op, slices)

    for op in ("SUM", "MEAN"):
        say(f"{op} of slices", lambda op=op: strategy.run(lambda: tf.convert_to_tensor(summed(op))))
        say(f"{op} of slices, as they are", lambda op=op: _kinds(strategy, summed, op))


def _kinds(strategy: Any, summed: Callable[[str], Any], op: str) -> Any:
    found = strategy.run(lambda: summed(op))
    values = strategy.experimental_local_results(found)
    return type(found).__name__, [
        (type(v).__name__, v.values.numpy().tolist(), v.indices.numpy().tolist()) for v in values
    ]


def _checkpoints(tf: Any, say: Say, strategy: Any) -> None:
    """A function writes at every call, what the variables have then; it cannot `save`."""
    with strategy.scope():
        mirrored = tf.Variable([1.0, 2.0])
    for name, variable in {"plain": tf.Variable([1.0, 2.0]), "mirrored": mirrored}.items():
        say(f"{name} written by a function", lambda v=variable: _written(tf, v))
        say(f"{name} saved by a function", lambda v=variable: _saved(tf, v))


def _written(tf: Any, variable: Any) -> Any:
    checkpoint = tf.train.Checkpoint(v=variable)

    @tf.function
    def step(path: Any) -> Any:
        variable.assign_add([1.0, 1.0])
        written = checkpoint.write(path)
        variable.assign_add([1.0, 1.0])
        return written

    read = tf.train.Checkpoint(v=tf.Variable([0.0, 0.0]))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(3):
            path = step(tf.constant(os.path.join(folder, str(number))))
            read.read(path.numpy().decode()).assert_consumed()
            found.append((os.path.basename(path.numpy()), read.v.numpy().tolist()))
        found.append(sorted(n for n in os.listdir(folder) if n.endswith(".index")))
    return found


def _saved(tf: Any, variable: Any) -> Any:
    checkpoint = tf.train.Checkpoint(v=variable)
    with tempfile.TemporaryDirectory() as folder:
        return _class_of_error(lambda: tf.function(checkpoint.save)(os.path.join(folder, "c")))
