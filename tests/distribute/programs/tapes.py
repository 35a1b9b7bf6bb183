"""Gradients through values that replicas bring together: tapes in a replica, and tapes around `strategy.run`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

ROUTES = ("run", "all_reduce", "mean", "structure", "all_gather", "merge_call", "twice")


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    for name in ROUTES:
        _inside(tf, say, strategy, name)
        _around(tf, say, strategy, name)
    _reductions(tf, say, strategy)
    _variables(tf, say, strategy)
    _orders(tf, say, strategy)
    _slices(tf, say, strategy)
    _strategies(tf, say)


def _replica(tf: Any) -> Any:
    return tf.distribute.get_replica_context()


def _number(tf: Any) -> Any:
    """1 in the first replica, 2 in the second."""
    return tf.cast(_replica(tf).replica_id_in_sync_group, tf.float32) + 1


def _weighted(tf: Any, x: Any) -> Any:
    """What a replica makes of a vector: it is not the same in the two, and neither are its elements."""
    return tf.reduce_sum(x * x * tf.range(1.0, 1.0 + tf.cast(tf.size(x), tf.float32))) * _number(tf)


def _through(tf: Any, name: str, x: Any) -> Any:
    """A vector brought together as `name` says."""
    replica = _replica(tf)
    if name == "run":
        return x
    if name == "all_reduce":
        return replica.all_reduce("SUM", x)
    if name == "mean":
        return replica.all_reduce("MEAN", x)
    if name == "structure":
        found = replica.all_reduce("SUM", {"a": x, "b": [x * x]})
        return found["a"] + 3 * found["b"][0]
    if name == "all_gather":
        return replica.all_gather(x, axis=0)
    if name == "twice":
        return replica.all_reduce("SUM", replica.all_reduce("SUM", x) * x)
    return replica.merge_call(lambda s, y: s.reduce("SUM", y, axis=None), args=(x,))


def _or_error(function: Callable[[], Any]) -> Any:
    """The result, or the class of the error that replicas raise which do not wait for each other."""
    try:
        return function()
    except RuntimeError:
        return RuntimeError


def _inside(tf: Any, say: Callable[..., None], strategy: Any, name: str) -> None:
    def step(x: Any) -> Any:
        own = x * _number(tf)
        with tf.GradientTape() as tape:
            tape.watch(own)
            y = _weighted(tf, _through(tf, name, own))
        return y, tape.gradient(y, own)

    def second(x: Any) -> Any:
        own = x * _number(tf)
        with tf.GradientTape() as outer:
            outer.watch(own)
            with tf.GradientTape() as tape:
                tape.watch(own)
                y = _weighted(tf, _through(tf, name, own))
            first = tf.reduce_sum(tape.gradient(y, own) ** 2)
        return outer.gradient(first, own)

    x = tf.constant([1.0, 2.0])
    _three(tf, say, strategy, f"{name}, a tape inside", step, x)
    say(f"{name}, two tapes inside", lambda: strategy.run(second, args=(x,)))


def _three(tf: Any, say: Callable[..., None], strategy: Any, label: str, step: Any, x: Any) -> None:
    say(label, lambda: strategy.run(step, args=(x,)))
    say(f"{label}, traced", lambda: strategy.run(tf.function(step), args=(x,)))
    say(f"{label}, in a traced function", tf.function(lambda: strategy.run(step, args=(x,))))


def _around(tf: Any, say: Callable[..., None], strategy: Any, name: str) -> None:
    def step(x: Any) -> Any:
        return _weighted(tf, _through(tf, name, x * _number(tf)))

    def whole(x: Any, function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            each = strategy.run(function, args=(x,))
            y = strategy.reduce("SUM", each, axis=None)
        return y, tape.gradient(y, x)

    def first_replica(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = strategy.experimental_local_results(strategy.run(step, args=(x,)))[0]
        return tape.gradient(y, x)

    def each_replica() -> Any:
        parts = strategy.experimental_distribute_values_from_function(
            lambda c: tf.constant([1.0, 2.0]) * (1.0 + c.replica_id_in_sync_group)
        )
        values = strategy.experimental_local_results(parts)
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = strategy.reduce("MEAN", strategy.run(step, args=(parts,)), axis=None)
        return tape.gradient(y, values)

    x = tf.constant([1.0, 2.0])
    say(f"{name}, a tape around", lambda: whole(x, step))
    say(f"{name}, a tape around, traced", lambda: _or_error(lambda: whole(x, tf.function(step))))
    say(f"{name}, a tape around, in a traced function", tf.function(lambda: whole(x, step)))
    say(f"{name}, of one replica", lambda: first_replica(x))
    say(f"{name}, of one replica, in a traced function", tf.function(lambda: first_replica(x)))
    say(f"{name}, of each replica's value", each_replica)


def _reductions(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    def step(x: Any) -> Any:
        return x * x * _number(tf)

    def of(combine: Any) -> Any:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = combine(strategy.run(step, args=(x,)))
        return tape.gradient(y, x)

    for op in ("SUM", "MEAN"):
        for axis in (None, 0):
            say(
                f"reduce {op} along {axis}",
                lambda op=op, axis=axis: of(lambda v: strategy.reduce(op, v, axis=axis)),
            )
    say("gather", lambda: of(lambda v: strategy.gather(v, axis=0) * [1.0, 2.0, 3.0, 4.0]))
    say("reduce, traced", tf.function(lambda: of(lambda v: strategy.reduce("SUM", v, axis=None))))


def _variables(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    with strategy.scope():
        weight = tf.Variable([1.0, 2.0])
        on_read = tf.Variable(
            3.0,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
            trainable=True,
        )

    def step() -> Any:
        x = weight * _number(tf) * on_read
        return tf.reduce_sum(_replica(tf).all_reduce("SUM", x) * x)

    def around(sources: Any) -> Any:
        with tf.GradientTape() as tape:
            y = strategy.reduce("SUM", strategy.run(step), axis=None)
        return tape.gradient(y, sources)

    def inside() -> Any:
        with tf.GradientTape() as tape:
            y = step()
        return tape.gradient(y, [weight, on_read])

    def updated() -> Any:
        with tf.GradientTape() as tape:
            y = step()
        gradient = tape.gradient(y, weight)
        weight.assign_sub(0.001 * _replica(tf).all_reduce("MEAN", gradient))
        return y

    say("variables, a tape around", lambda: around(list(weight.values)))
    say("variables, a tape around, whole", lambda: around(weight))
    say(
        "variables, a tape around, in a traced function",
        tf.function(lambda: around(list(weight.values))),
    )
    say("variables on read, a tape around", lambda: around(list(on_read.values)))
    say("variables, a tape inside", lambda: strategy.run(inside))
    say("variables, a tape inside, traced", lambda: strategy.run(tf.function(inside)))
    for count in range(2):
        say(f"updated {count}", lambda: strategy.run(updated))
        say(f"updated {count}, traced", lambda: strategy.run(tf.function(updated)))
        say(f"updated {count}, copies", lambda: [v.numpy() for v in weight.values])


def _orders(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    """What is asked for in another order than it was computed, or in one replica alone."""

    def two(x: Any) -> Any:
        replica = _replica(tf)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            a = replica.all_reduce("SUM", x * _number(tf))
            b = replica.all_reduce("SUM", x * x)
            y, z = tf.reduce_sum(a * b), tf.reduce_sum(a + 2 * b)
        return (
            tape.gradient(y, x),
            tape.gradient(z, x),
            tape.gradient(z, x, output_gradients=_number(tf)),
        )

    def unconnected(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(_replica(tf).all_reduce("SUM", tf.constant([1.0, 2.0])) * x)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0])
    for label, step in (("two", two), ("unconnected", unconnected)):
        _three(tf, say, strategy, label, step, x)


def _slices(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    table = tf.reshape(tf.range(6.0), [3, 2])

    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.gather(x, [_replica(tf).replica_id_in_sync_group]) ** 2)
        gradient = tape.gradient(y, x)
        return tf.convert_to_tensor(_replica(tf).all_reduce("SUM", gradient))

    _three(tf, say, strategy, "slices", step, table)


def _strategies(tf: Any, say: Callable[..., None]) -> None:
    """Tapes around `run` where there is one replica, or none of its own."""
    distribute = tf.distribute
    central = distribute.experimental.CentralStorageStrategy
    kinds = {
        "default": distribute.get_strategy,
        "one device": lambda: distribute.OneDeviceStrategy("/cpu:0"),
        "one mirrored": lambda: distribute.MirroredStrategy(["/cpu:0"]),
        "central": lambda: central(["/cpu:0", "/cpu:1"], "/cpu:0"),
        "one central": lambda: central(["/cpu:0"], "/cpu:0"),
        "workers": distribute.MultiWorkerMirroredStrategy,
    }
    for label, make in kinds.items():
        strategy = make()
        # Collectives in the tape of one device, or of none, are errors there.
        alone = label in ("default", "one device")
        for name in ("run", "merge_call", *(() if alone else ("all_reduce", "all_gather"))):
            _one(tf, say, strategy, label, name)


def _one(tf: Any, say: Callable[..., None], strategy: Any, label: str, name: str) -> None:
    def step(x: Any) -> Any:
        return _weighted(tf, _through(tf, name, x * _number(tf)))

    def around(x: Any, function: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = strategy.reduce("SUM", strategy.run(function, args=(x,)), axis=None)
        return tape.gradient(y, x)

    def variable() -> Any:
        with strategy.scope():
            weight = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = strategy.reduce("SUM", strategy.run(lambda: step(weight)), axis=None)
        return tape.gradient(y, weight)

    def forward(x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = strategy.reduce("SUM", strategy.run(step, args=(x,)), axis=None)
        return accumulator.jvp(y)

    x = tf.constant([1.0, 2.0])
    say(f"{label}, {name}, a tape around", lambda: around(x, step))
    if label == "central" or not name.startswith("all_"):  # there is nothing to wait for elsewhere
        traced = tf.function(step)
        say(f"{label}, {name}, a tape around, traced", lambda: _or_error(lambda: around(x, traced)))
    say(f"{label}, {name}, in a traced function", tf.function(lambda: around(x, step)))
    say(f"{label}, {name}, a variable", variable)
    say(f"{label}, {name}, forward", lambda: forward(x))
