"""CentralStorageStrategy on three logical CPUs: one copy of every variable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(3)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    central = tf.distribute.experimental.CentralStorageStrategy
    say("default devices", lambda: list(central().extended.worker_devices))
    say("default place", lambda: central().extended.parameter_devices)
    strategy = central(["/cpu:0", "/cpu:1", "/cpu:2"], "/cpu:1")
    say("devices", lambda: list(strategy.extended.worker_devices))
    kinds = tf.VariableAggregation
    with strategy.scope():
        variables = {
            k.name: tf.Variable(1.0, aggregation=k)
            for k in (kinds.SUM, kinds.MEAN, kinds.ONLY_FIRST_REPLICA)
        }
        plain = tf.Variable(1.0)

    def number() -> Any:
        return tf.cast(tf.distribute.get_replica_context().replica_id_in_sync_group, tf.float32) + 1

    say("read", lambda: strategy.run(lambda: plain + number()))
    say("device", lambda: plain.device)
    for name, variable in variables.items():
        for method in ("assign", "assign_add"):

            def write(variable: Any = variable, method: str = method) -> Any:
                getattr(variable, method)(number())
                return variable + 0.0

            say(f"{name} {method}", lambda write=write: strategy.run(write))
            say(f"{name} {method} traced", lambda write=write: strategy.run(tf.function(write)))
            say(f"{name} {method}, value", lambda variable=variable: variable.numpy())
        say(f"{name} of all", lambda variable=variable: variable.assign(5.0).numpy())
    say("sum", lambda: strategy.reduce("SUM", strategy.run(number), axis=None))
