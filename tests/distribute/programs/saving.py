"""Checkpoints of variables with copies on logical CPUs, restored on as many, on more and without a strategy."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

COUNT = 4
AGGREGATIONS = ("SUM", "MEAN", "ONLY_FIRST_REPLICA", "NONE")
DTYPES = ("float32", "int32", "float16", "complex64")


def main(tf: Any, say: Callable[..., None]) -> None:
    divide(tf)
    with tempfile.TemporaryDirectory() as folder:
        for part in (_checkpoints, _deferred, _shares):
            part(tf, say, folder)


def divide(tf: Any) -> None:
    """Makes the host as many logical CPUs as the programs need."""
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(COUNT)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)


def strategy_of(tf: Any, count: int) -> Any:
    """A strategy with so many replicas; None for 0."""
    names = [f"/cpu:{i}" for i in range(count)]
    return tf.distribute.MirroredStrategy(names) if count else None


def scope_of(strategy: Any) -> AbstractContextManager[Any]:
    """Where variables are created."""
    return nullcontext() if strategy is None else strategy.scope()


def variables_of(tf: Any, strategy: Any, aggregations: Any = AGGREGATIONS[:3]) -> dict[str, Any]:
    """Variables of each kind by name; those that are written on replicas differ between these."""
    found: dict[str, Any] = {}
    with scope_of(strategy):
        for dtype in DTYPES:
            for way in ("ON_READ", "ON_WRITE"):
                for name in aggregations:
                    if name == "MEAN" and not dtype.startswith("float"):
                        continue
                    found[f"{way}_{name}_{dtype}"] = tf.Variable(
                        np.zeros(2, dtype),
                        name=f"{way}_{name}_{dtype}",
                        trainable=False,
                        synchronization=getattr(tf.VariableSynchronization, way),
                        aggregation=getattr(tf.VariableAggregation, name),
                    )
    return found


def fill(tf: Any, strategy: Any, variables: dict[str, Any]) -> None:
    """Writes another value on each replica."""

    def step() -> None:
        replica = tf.distribute.get_replica_context()
        number = tf.cast(replica.replica_id_in_sync_group, tf.float32)
        for v in variables.values():
            v.assign(tf.cast(tf.stack([number * 3 - 8, number + 1]), v.dtype))

    strategy.run(step)


def shown(variables: dict[str, Any]) -> dict[str, Any]:
    """The values of all copies, by name."""
    return {
        n: [c.numpy().tolist() for c in getattr(v, "values", [v])] for n, v in variables.items()
    }


def _checkpoints(tf: Any, say: Callable[..., None], folder: str) -> None:
    paths: dict[int, str] = {}
    for count in (1, 2, 3):
        strategy = strategy_of(tf, count)
        variables = variables_of(tf, strategy)
        fill(tf, strategy, variables)
        path = paths[count] = tf.train.Checkpoint(**variables).write(f"{folder}/of_{count}")
        say(f"{count}: copies", lambda v=variables: shown(v))
        reader = tf.train.load_checkpoint(path)
        for name in variables:
            key = f"{name}/.ATTRIBUTES/VARIABLE_VALUE"
            say(f"{count}: {name}", lambda r=reader, k=key: r.get_tensor(k).tolist())
        say(f"{count}: keys", lambda p=path: tf.train.list_variables(p))
    for of, path in paths.items():
        for count in range(COUNT + 1):
            variables = variables_of(tf, strategy_of(tf, count))
            status = tf.train.Checkpoint(**variables).read(path)
            status.assert_consumed()
            say(f"{of} on {count}", lambda v=variables: shown(v))
    strategy = strategy_of(tf, 2)
    with strategy.scope():
        for dtype in ("int32", "complex64", "bool"):
            mean = tf.VariableAggregation.MEAN
            zero = np.zeros(2, dtype)
            say(f"mean of {dtype}", lambda z=zero, m=mean: tf.Variable(z, aggregation=m))
    variables = variables_of(tf, strategy, ["NONE"])
    say(
        "without aggregation", lambda: len(tf.train.Checkpoint(**variables).write(f"{folder}/none"))
    )
    variables = variables_of(tf, strategy)
    with strategy.scope():
        saved = tf.train.Checkpoint(**variables)
        saved.restore(saved.save(f"{folder}/in_scope"))
        say("in the scope", lambda: shown(variables))
        say("counter", lambda: saved.save_counter)


def _deferred(tf: Any, say: Callable[..., None], folder: str) -> None:
    strategy = strategy_of(tf, 2)
    variables = variables_of(tf, strategy)
    fill(tf, strategy, variables)
    names = list(variables)
    path = tf.train.Checkpoint(
        module=tf.train.Checkpoint(**variables), rows=[variables[n] for n in names]
    ).write(f"{folder}/deferred")
    for count in (0, 1, 2, 3):
        module, rows = tf.Module(), []
        status = tf.train.Checkpoint(module=module).read(path)
        made = variables_of(tf, strategy_of(tf, count))
        for name, variable in made.items():
            setattr(module, name, variable)
        say(f"attributes later on {count}", lambda m=made: shown(m))
        status.expect_partial()
        owner = tf.Module()
        owner.rows = rows
        status = tf.train.Checkpoint(root=owner).read(path)
        made = variables_of(tf, strategy_of(tf, count))
        for variable in made.values():
            owner.rows.append(variable)
        say(f"elements later on {count}", lambda m=made: shown(m))
        status.expect_partial()


def _shares(tf: Any, say: Callable[..., None], folder: str) -> None:
    """What a copy gets of a sum that is assigned to all."""
    variables = variables_of(tf, strategy_of(tf, 2), ["SUM"])
    for name, variable in variables.items():
        for value in (-3, 5):
            variable.assign(np.array([value, 2], variable.dtype.as_numpy_dtype))
            say(f"assigned {value} to {name}", lambda v=variable, n=name: shown({n: v}))
