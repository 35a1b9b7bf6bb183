"""MirroredStrategy on three logical CPUs: values, variables, reductions, datasets, training."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

DEVICES = ("/cpu:0", "/cpu:1", "/cpu:2")
WRITES = ("assign", "assign_add", "assign_sub")


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(4)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    _devices(tf, say)
    strategy = tf.distribute.MirroredStrategy(list(DEVICES))
    _values(tf, say, strategy)
    _variables(tf, say, strategy)
    _contexts(tf, say, strategy)
    _extended(tf, say, strategy)
    _datasets(tf, say, strategy)
    _training(tf, say, strategy)


def _index(tf: Any) -> Any:
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def _number(tf: Any) -> Any:
    return tf.cast(_index(tf), tf.float32) + 1


def _devices(tf: Any, say: Callable[..., None]) -> None:
    def devices(names: Any = None) -> Any:
        return tf.distribute.MirroredStrategy(names).extended.worker_devices

    say("all devices", devices)
    say("no devices", lambda: devices([]))
    say("two devices", lambda: devices(["/cpu:0", "/cpu:1"]))
    say("absent devices", lambda: devices(["/cpu:0", "/gpu:0", "/cpu:9"]))
    say("twice", lambda: devices(["/cpu:0", "/cpu:0"]))
    one = tf.distribute.OneDeviceStrategy
    say("one device", lambda: one("/cpu:2").extended.worker_devices)
    say("one absent device", lambda: one("/gpu:0").extended.worker_devices)
    say("on one device", lambda: one("/cpu:2").run(lambda: tf.constant(1.0)).device)


def _values(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    scalars = strategy.run(lambda: _number(tf))
    vectors = strategy.run(lambda: tf.ones([2]) * _number(tf))
    integers = strategy.run(lambda: _index(tf))
    say("scalars", lambda: scalars)
    say("scalars as text", lambda: str(scalars))
    say("their devices", lambda: [v.device for v in scalars.values])
    for op in ("SUM", "MEAN"):
        say(f"{op} of scalars", lambda op=op: strategy.reduce(op, scalars, axis=None))
        say(f"{op} of vectors", lambda op=op: strategy.reduce(op, vectors, axis=None))
        say(f"{op} of vectors along 0", lambda op=op: strategy.reduce(op, vectors, axis=0))
        say(f"{op} of one", lambda op=op: strategy.reduce(op, 5.0, axis=None))
        say(
            f"{op} of a tensor along 0",
            lambda op=op: strategy.reduce(op, tf.constant([1.0, 2.0]), axis=0),
        )
    say("structures", lambda: strategy.reduce("SUM", {"a": scalars, "b": [vectors]}, axis=None))
    say("SUM of integers", lambda: strategy.reduce("SUM", integers, axis=None))
    say("gathered", lambda: strategy.gather(vectors, axis=0))
    say("gathered tensor", lambda: strategy.gather(tf.constant([1.0]), axis=0))
    say("local results", lambda: strategy.experimental_local_results(scalars))
    say("local result", lambda: strategy.experimental_local_results(5))
    say("nothing", lambda: strategy.run(lambda: None))
    say("a number", lambda: strategy.run(lambda: 3))
    say("mixed", lambda: strategy.run(lambda: (1, {"a": _index(tf)}, [None])))
    say("argument", lambda: strategy.run(lambda x: x, args=(7,)))
    say("tensor argument", lambda: strategy.run(lambda x: x, args=(tf.constant(7),)))
    say(
        "per replica argument",
        lambda: strategy.run(lambda x, y: x + y, args=(scalars,), kwargs={"y": vectors}),
    )
    say(
        "values of a function",
        lambda: strategy.experimental_distribute_values_from_function(
            lambda context: context.replica_id_in_sync_group
        ),
    )
    say(
        "tensors of a function",
        lambda: strategy.experimental_distribute_values_from_function(
            lambda context: tf.constant(context.replica_id_in_sync_group)
        ),
    )


def _variables(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    on_read = tf.VariableSynchronization.ON_READ
    kinds = tf.VariableAggregation
    with strategy.scope():
        variables = {
            "plain": tf.Variable(0.0, name="named"),
            "mirrored sum": tf.Variable(0.0, aggregation=kinds.SUM),
            "mirrored mean": tf.Variable(0.0, aggregation=kinds.MEAN),
            "mirrored first": tf.Variable(0.0, aggregation=kinds.ONLY_FIRST_REPLICA),
            "read sum": tf.Variable(0.0, synchronization=on_read, aggregation=kinds.SUM),
            "read mean": tf.Variable(0.0, synchronization=on_read, aggregation=kinds.MEAN),
            "read first": tf.Variable(
                0.0, synchronization=on_read, aggregation=kinds.ONLY_FIRST_REPLICA
            ),
            "read none": tf.Variable(0.0, synchronization=on_read, aggregation=kinds.NONE),
        }
    say("created", lambda: variables["plain"])
    say("created, on read", lambda: variables["read sum"])
    say("trainable", lambda: [v.trainable for v in variables.values()])
    say("places", lambda: [(v.name, v.device) for v in variables["plain"].values])
    say("variables as results", lambda: strategy.experimental_local_results(variables["plain"]))
    for name, variable in variables.items():
        _writes(tf, say, strategy, name, variable)
    say("created in replicas", lambda: strategy.run(lambda: tf.Variable(3.0)))


def _writes(tf: Any, say: Callable[..., None], strategy: Any, name: str, variable: Any) -> None:
    for method in WRITES:
        for inside in (False, True):

            def write(method: str = method) -> Any:
                return getattr(variable, method)(_number(tf))

            step = tf.function(write) if inside else write
            label = f"{name}: {method}{' traced' if inside else ''}"
            if not inside:
                say(label, lambda step=step: strategy.run(step))
            else:
                say(label, lambda step=step: strategy.run(step) is None)
            say(f"{label}, copies", lambda: [copy.numpy().item() for copy in variable.values])
            say(
                f"{label}, read",
                lambda: (variable.numpy().item(), variable.read_value(), variable + 0),
            )
    for method in ("assign", "assign_add"):
        label = f"{name}: {method} of all"
        say(label, lambda method=method: getattr(variable, method)(6.0))
        say(f"{label}, copies", lambda: [copy.numpy().item() for copy in variable.values])
    say(f"{name} in replicas", lambda: strategy.run(lambda: variable + 1))
    if "read" not in name:
        say(f"{name}: assigned in the scope", lambda: _assigned(strategy, variable))


def _assigned(strategy: Any, variable: Any) -> Any:
    with strategy.scope():
        variable.assign(9.0)
    return [copy.numpy().item() for copy in variable.values]


def _contexts(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    def together() -> Any:
        replica = tf.distribute.get_replica_context()
        x = _number(tf) + tf.constant([1.0, 2.0])
        merged = replica.merge_call(lambda s, y: s.reduce("SUM", y, axis=None), args=(x,))
        sums = replica.all_reduce("sum", x)
        means = replica.all_reduce("MEAN", {"q": x, "z": [x, 2 * x]})
        return sums, means, replica.all_gather(x, axis=0), merged

    def slices() -> Any:
        replica = tf.distribute.get_replica_context()
        rows = tf.IndexedSlices(tf.ones([1, 2]) * _number(tf), [_index(tf)], dense_shape=[3, 2])
        return tf.convert_to_tensor(replica.all_reduce("SUM", rows))

    def gradient() -> Any:
        x = _number(tf)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.distribute.get_replica_context().all_reduce("SUM", x * x)
        return tape.gradient(y, x)

    def failing() -> Any:
        if int(_index(tf)) == 1:
            raise ValueError("boom")
        return 1

    def uneven() -> Any:
        if int(_index(tf)) == 1:
            return tf.constant(1.0)
        return tf.distribute.get_replica_context().all_reduce("SUM", tf.constant(1.0))

    outside = tf.constant([1.0, 2.0])

    def shared() -> Any:
        replica = tf.distribute.get_replica_context()
        return replica.all_reduce("SUM", outside), replica.all_reduce("MEAN", [outside])

    say("a tensor of outside", lambda: strategy.run(shared))
    say("a tensor of outside, traced", lambda: strategy.run(tf.function(shared)))
    traced = tf.function(lambda: strategy.run(together))
    say("together", lambda: strategy.run(together))
    say("together, traced", lambda: strategy.run(tf.function(together)))
    say("together, in a traced function", traced)
    say("slices", lambda: strategy.run(slices))
    say("gradient", lambda: strategy.run(gradient))
    say("gradient, traced", lambda: strategy.run(tf.function(gradient)))
    say("failing", lambda: strategy.run(failing))
    say("uneven", lambda: strategy.run(uneven))
    say(
        "merged values",
        lambda: strategy.run(
            lambda: tf.distribute.get_replica_context().merge_call(
                lambda s, y: y, args=(_index(tf),)
            )
        ),
    )
    say("devices", lambda: strategy.run(lambda: tf.distribute.get_replica_context().devices[0]))


def _extended(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    extended = strategy.extended
    scalars = strategy.run(lambda: _number(tf))
    with strategy.scope():
        variable = tf.Variable(1.0)
        say("update", lambda: extended.update(variable, lambda v, x: v.assign_add(x), args=(2.0,)))
        say(
            "update, each its own",
            lambda: extended.update(
                variable, lambda v, x: v.assign(x), args=(scalars,), group=False
            ),
        )
        say("reduce_to", lambda: extended.reduce_to("SUM", scalars, variable))
        say("reduce_to a device", lambda: extended.reduce_to("MEAN", scalars, "/cpu:1"))
        say("batch_reduce_to", lambda: extended.batch_reduce_to("SUM", [(scalars, variable)] * 2))
        say("container", lambda: extended.value_container(variable.values[1]) is variable)
        say("created in scope", lambda: extended.variable_created_in_scope(variable))
        say("places of others", lambda: extended.non_slot_devices(None))


def _datasets(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    def shared(dataset: Any) -> Any:
        return list(strategy.experimental_distribute_dataset(dataset))

    numbers = tf.data.Dataset.range
    for count, size in ((10, 4), (5, 3), (6, 3), (7, 3), (9, 9)):
        say(f"{count} by {size}", lambda c=count, s=size: shared(numbers(c).batch(s)))
    say("without the rest", lambda: shared(numbers(10).batch(6, drop_remainder=True)))
    say(
        "structures shared",
        lambda: shared(numbers(3).map(lambda x: {"a": x, "b": (x, 2 * x)}).batch(3)),
    )
    distributed = strategy.experimental_distribute_dataset(numbers(10).batch(4))
    say("cardinality", lambda: distributed.cardinality)
    say("next", lambda: next(iter(distributed)))
    say(
        "made",
        lambda: list(
            strategy.distribute_datasets_from_function(
                lambda context: numbers(7).batch(context.get_per_replica_batch_size(6))
            )
        ),
    )

    @tf.function
    def total(dataset: Any) -> Any:
        result = tf.constant(0, tf.int64)
        for batch in dataset:
            sums = strategy.run(lambda x: tf.reduce_sum(x), args=(batch,))
            result += strategy.reduce("SUM", sums, axis=None)
        return result

    @tf.function
    def first(iterator: Any) -> Any:
        return strategy.run(lambda x: x + 1, args=(next(iterator),))

    say("in a loop of a graph", lambda: total(distributed))
    say("by an iterator in a graph", lambda: first(iter(distributed)))


def _training(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    with strategy.scope():
        weight = tf.Variable([[0.5], [-0.25]])
        steps = tf.Variable(0, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA)

    def step(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((x @ weight - y) ** 2) / 6.0
        gradient = tape.gradient(loss, weight)
        total = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
        weight.assign_sub(0.125 * total)
        steps.assign_add(1)
        return loss

    @tf.function
    def train(x: Any, y: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    x = tf.reshape(tf.range(12.0), [6, 2]) / 8.0
    data = tf.data.Dataset.from_tensors((x, tf.reduce_sum(x, 1, keepdims=True))).repeat(3)
    losses = [train(*batch) for batch in strategy.experimental_distribute_dataset(data)]
    say("losses", lambda: [round(float(loss), 5) for loss in losses])
    say(
        "weights", lambda: [[round(float(w[0]), 5) for w in copy.numpy()] for copy in weight.values]
    )
    say("steps", lambda: [int(copy) for copy in steps.values])
