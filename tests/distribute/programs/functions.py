"""A `tf.function` that replicas call is the function of each replica: its copies of variables, its number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategies = {
        "mirrored": tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"]),
        "central": tf.distribute.experimental.CentralStorageStrategy(
            ["/cpu:0", "/cpu:1"], "/cpu:0"
        ),
    }
    for label, strategy in strategies.items():
        for jit in (False, True):
            _called(tf, say, strategy, f"{label}{', compiled' if jit else ''}", jit)
    _created(tf, say, strategies["mirrored"])


def _index(tf: Any) -> Any:
    return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32)


def _called(tf: Any, say: Callable[..., None], strategy: Any, label: str, jit: bool) -> None:
    on_read = tf.VariableSynchronization.ON_READ
    kind = tf.VariableAggregation
    with strategy.scope():
        count = tf.Variable(0.0, synchronization=on_read, aggregation=kind.MEAN)
        weight = tf.Variable(1.0)
        own = tf.Variable(2.0)

    @tf.function(jit_compile=jit)
    def inner(x: Any) -> Any:
        count.assign_add(x)
        own.assign(own * (x + 1.0))
        return count * weight + own

    @tf.function(jit_compile=jit)
    def number() -> Any:
        return _index(tf) + 1.0

    @tf.function(jit_compile=jit)
    def outer(x: Any) -> Any:
        return inner(x) * 2.0 + number()

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = inner(x) * x
        return tape.gradient(y, [weight, own])

    steps = {
        "inner": lambda: inner(_index(tf)),
        "number": number,
        "outer": lambda: outer(_index(tf) + 1.0),
        "gradient": lambda: gradient(_index(tf)),
    }
    for name, step in steps.items():
        if label.startswith("central") and name != "number":
            continue  # replicas would write the one copy
        say(f"{label}: {name}", lambda step=step: strategy.run(step))
        say(
            f"{label}: {name}, in a traced function",
            tf.function(lambda step=step: strategy.run(step)),
        )
        say(f"{label}: {name} again", lambda step=step: strategy.run(step))
        results = strategy.experimental_local_results
        copies = [v.numpy().item() for variable in (count, own) for v in results(variable)]
        say(f"{label}: {name}, copies", lambda copies=copies: copies)
    if label == "mirrored":  # a compiled function of TensorFlow reads variables of one device
        say(f"{label}: of all", lambda: inner(1.0))
        say(f"{label}: of all, copies", lambda: [v.numpy().item() for v in count.values])


def _created(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    variables: list[Any] = []

    @tf.function
    def inner(x: Any) -> Any:
        if not variables:
            variables.append(tf.Variable(3.0))
        return variables[0] * x

    say("a variable of a function", lambda: strategy.run(lambda: inner(_index(tf) + 1.0)))
    say("once more", lambda: strategy.run(lambda: inner(_index(tf) + 1.0)))
