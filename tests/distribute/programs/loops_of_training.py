"""Training loops by hand, their data in shards and uneven batches, and variables of every aggregation."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from typing import Any

Say = Callable[[str, Callable[[], Any]], None]


def main(tf: Any, say: Say) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(3)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    for count in (2,):
        strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(count)])
        _shards(tf, say, strategy, f"{count}: ")
        _loops(tf, say, strategy, f"{count}: ")
        _aggregations(tf, say, strategy, f"{count}: ")
        _reductions(tf, say, strategy, f"{count}: ")
        _structures(tf, say, strategy, f"{count}: ")
    one = tf.distribute.OneDeviceStrategy("/cpu:1")
    _shards(tf, say, one, "one: ")
    _loops(tf, say, one, "one: ")
    central = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"], "/cpu:0")
    for label, strategy in (("one: ", one), ("central: ", central)):
        _reductions(tf, say, strategy, label)
        _structures(tf, say, strategy, label)


def _local(strategy: Any, value: Any) -> Any:
    return [v.numpy().tolist() for v in strategy.experimental_local_results(value)]


def _shards(tf: Any, say: Say, strategy: Any, label: str) -> None:
    """Datasets of every sharding policy, whose last batches are uneven, empty for some, or left out."""
    policies = tf.data.experimental.AutoShardPolicy
    count = tf.data.Dataset.range

    def listed(dataset: Any) -> Any:
        return [_local(strategy, x) for x in strategy.experimental_distribute_dataset(dataset)]

    for policy in (policies.OFF, policies.AUTO, policies.DATA, policies.FILE, policies.HINT):
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = policy
        for name, dataset in {
            "even": count(12).batch(6),
            "uneven": count(11).batch(4),
            "one left": count(7).batch(6),
            "dropped": count(11).batch(4, drop_remainder=True),
            "batch of one": count(3).batch(1),
            "batched twice": count(8).batch(2).batch(2),
            "mapped": count(5).map(lambda x: x * 2).batch(5),
        }.items():
            say(
                f"{label}{policy.name} {name}",
                lambda dataset=dataset, options=options: listed(dataset.with_options(options)),
            )
    pairs = tf.data.Dataset.from_tensor_slices({"a": tf.range(5), "b": tf.ones([5, 2])}).batch(5)
    shared = strategy.experimental_distribute_dataset(pairs)
    say(f"{label}dictionary", lambda: [_local(strategy, x["a"]) for x in shared])
    say(
        f"{label}shapes",
        lambda: [
            [list(v.shape) for v in strategy.experimental_local_results(x["b"])] for x in shared
        ],
    )
    say(f"{label}cardinality", lambda: int(shared.cardinality))
    say(f"{label}length", lambda: len(shared))

    def next_ones() -> Any:
        iterator = iter(strategy.experimental_distribute_dataset(count(5).batch(4)))
        found = [iterator.get_next_as_optional() for _ in range(3)]
        return [_local(strategy, o.get_value()) if o.has_value() else None for o in found]

    say(f"{label}optionals", next_ones)

    def too_many() -> Any:
        iterator = iter(strategy.experimental_distribute_dataset(count(2).batch(2)))
        next(iterator)
        return iterator.get_next()

    say(f"{label}after the end", lambda: type(_error(too_many)).__name__)


def _error(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as e:
        return e


def _loops(tf: Any, say: Say, strategy: Any, label: str) -> None:
    """Steps by hand, with the loop in Python and in the graph."""
    for in_graph in (False, True):
        for momentum in (False, True):
            say(
                f"{label}loop {in_graph} {momentum}",
                lambda in_graph=in_graph, momentum=momentum: _trained(
                    tf, strategy, in_graph, momentum
                ),
            )
    say(f"{label}checkpoint", lambda: _checkpointed(tf, strategy))


def _trained(tf: Any, strategy: Any, loop_in_graph: bool, momentum: bool) -> Any:
    x = tf.reshape(tf.range(22.0), (11, 2)) / 10.0
    data = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1, keepdims=True))).batch(4)
    shared = strategy.experimental_distribute_dataset(data)
    with strategy.scope():
        w = tf.Variable([[0.5], [-0.5]])
        b = tf.Variable([0.0])
        speed = tf.Variable(tf.zeros_like(w), trainable=False)
        seen = tf.Variable(
            0.0,
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )

    def step(pair: Any) -> Any:
        inputs, labels = pair
        with tf.GradientTape() as tape:
            each = tf.reduce_sum((tf.matmul(inputs, w) + b - labels) ** 2, 1)
            loss = tf.nn.compute_average_loss(each, global_batch_size=4)
        gradients = tape.gradient(loss, [w, b])
        context = tf.distribute.get_replica_context()
        gradients = context.all_reduce("SUM", gradients)
        if momentum:
            speed.assign(0.9 * speed + gradients[0])
            w.assign_sub(0.05 * speed)
        else:
            w.assign_sub(0.05 * gradients[0])
        b.assign_sub(0.05 * gradients[1])
        seen.assign_add(tf.cast(tf.shape(inputs)[0], tf.float32))
        return loss

    @tf.function
    def one(pair: Any) -> Any:
        losses = strategy.run(step, args=(pair,))
        return strategy.reduce("SUM", losses, axis=None)

    @tf.function
    def epoch(pairs: Any) -> Any:
        total = 0.0
        for pair in pairs:
            total += strategy.reduce("SUM", strategy.run(step, args=(pair,)), axis=None)
        return total

    losses = []
    for _ in range(2):
        losses.append(epoch(shared) if loop_in_graph else sum([one(p) for p in shared]))
    numbers = [*losses, *w.numpy().ravel(), *b.numpy(), float(seen.read_value())]
    return [round(float(v), 4) for v in numbers]


def _checkpointed(tf: Any, strategy: Any) -> Any:
    """Variables written under a strategy, read without one, and the other way around."""
    with strategy.scope():
        inside = tf.train.Checkpoint(
            w=tf.Variable([1.0, 2.0], aggregation=tf.VariableAggregation.MEAN),
            n=tf.Variable(
                4.0,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM,
                trainable=False,
            ),
        )

    def write() -> None:
        index = tf.distribute.get_replica_context().replica_id_in_sync_group
        inside.w.assign_add([1.0, 1.0])
        inside.n.assign_add(3.0 + tf.cast(index, tf.float32))

    strategy.run(write)
    outside = tf.train.Checkpoint(w=tf.Variable([0.0, 0.0]), n=tf.Variable(0.0))
    with tempfile.TemporaryDirectory() as folder:
        outside.read(inside.write(f"{folder}/a")).assert_consumed()
        found = [outside.w.numpy().tolist(), float(outside.n)]
        outside.w.assign([7.0, 8.0])
        outside.n.assign(9.0)
        inside.read(outside.write(f"{folder}/b")).assert_consumed()
    return [*found, inside.w.numpy().tolist(), float(inside.n.read_value())]


def _aggregations(tf: Any, say: Say, strategy: Any, label: str) -> None:
    kinds = tf.VariableAggregation
    for sync in ("ON_WRITE", "ON_READ"):
        for kind in (kinds.NONE, kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA):
            for form in ("assign", "assign_add", "assign_sub"):
                for where in ("replica", "traced", "across"):
                    name = f"{label}{sync} {kind.name} {form} {where}"
                    arguments = (tf, strategy, sync, kind, form, where)
                    say(name, lambda arguments=arguments: _written(*arguments))

    for form in ("assign", "assign_add", "assign_sub"):
        for where in ("replica", "traced"):  # a list of tensors of replicas
            arguments = (tf, strategy, "ON_WRITE", kinds.MEAN, form, where, True)
            say(f"{label}list {form} {where}", lambda arguments=arguments: _written(*arguments))


def _written(
    tf: Any, strategy: Any, sync: str, kind: Any, form: str, where: str, is_list: bool = False
) -> Any:
    with strategy.scope():
        v = tf.Variable(
            [1.0, 6.0],
            trainable=False,
            synchronization=getattr(tf.VariableSynchronization, sync),
            aggregation=kind,
        )

    def write() -> Any:
        context = tf.distribute.get_replica_context()
        index = tf.cast(context.replica_id_in_sync_group, tf.float32)
        value = [2.0 * index + 1.0, 3.0]
        getattr(v, form)(value if is_list else tf.stack(value))
        return v.read_value()

    if where == "across":
        with strategy.scope():
            getattr(v, form)(tf.constant([12.0, 6.0]))
        return _local(strategy, v), v.numpy().tolist()
    run = (
        tf.function(lambda: strategy.run(write))
        if where == "traced"
        else lambda: strategy.run(write)
    )
    return _local(strategy, run()), _local(strategy, v), v.numpy().tolist()


def _reductions(tf: Any, say: Say, strategy: Any, label: str) -> None:
    count = strategy.num_replicas_in_sync

    def uneven() -> Any:
        values = [tf.reshape(tf.range(2.0 * (i + 1)), (i + 1, 2)) for i in range(count)]
        return strategy.experimental_distribute_values_from_function(
            lambda c: values[c.replica_id_in_sync_group]
        )

    for op in ("SUM", "MEAN"):
        for axis in (None, 0, 1, -1):
            say(
                f"{label}reduce {op} {axis}",
                lambda op=op, axis=axis: strategy.reduce(op, uneven(), axis).numpy().tolist(),
            )
    say(f"{label}gather", lambda: strategy.gather(uneven(), 0).numpy().tolist())
    if label != "central: ":  # TensorFlow refuses it there
        _reduced_structure(tf, say, strategy, label)
    for value in (3, True, "text", None):
        say(f"{label}sum of {value!r}", lambda value=value: strategy.reduce("SUM", value, None))
        say(f"{label}mean of {value!r}", lambda value=value: strategy.reduce("MEAN", value, None))


def _reduced_structure(tf: Any, say: Say, strategy: Any, label: str) -> None:
    def reduced() -> Any:
        values = {
            "a": strategy.run(lambda: tf.constant(1.0)),
            "b": strategy.run(lambda: tf.constant(2.0)),
        }
        found = strategy.reduce("SUM", values, None)
        return {k: float(v) for k, v in found.items()}

    say(f"{label}reduce of a structure", reduced)


def _structures(tf: Any, say: Say, strategy: Any, label: str) -> None:
    results: dict[str, Callable[[], Any]] = {
        "nothing": lambda: None,
        "a number": lambda: 3,
        "a string": lambda: "text",
        "a list": lambda: [tf.constant(1), 2, None],
        "a dictionary": lambda: {"a": tf.constant(1.0), "b": (tf.constant([2]), [])},
        "an empty tuple": lambda: (),
        "strings": lambda: tf.constant(["a", "b"]),
    }
    for name, function in results.items():
        for traced in (False, True):
            run = (
                tf.function(lambda f=function: strategy.run(f))
                if traced
                else lambda f=function: strategy.run(f)
            )
            say(f"{label}{name} {traced}", lambda run=run: _shown(tf, strategy, run()))
    say(
        f"{label}keywords",
        lambda: _shown(
            tf,
            strategy,
            strategy.run(
                lambda a, b=0, **more: {"a": a, "b": b, **more},
                args=(tf.constant(1),),
                kwargs={"b": [tf.constant(2), "x"], "c": None},
            ),
        ),
    )


def _shown(tf: Any, strategy: Any, value: Any) -> Any:
    found = strategy.experimental_local_results(value)
    return tf.nest.map_structure(lambda v: v.numpy().tolist() if hasattr(v, "numpy") else v, found)
