"""Means of integers, reductions of what is no tensor of each replica, and what replicas write to one copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Say = Callable[..., None]
DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32")


def main(tf: Any, say: Say) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    devices = ["/cpu:0", "/cpu:1"]
    central = tf.distribute.experimental.CentralStorageStrategy
    _reductions(tf, say, "mirrored: ", tf.distribute.MirroredStrategy(devices))
    _reductions(tf, say, "central: ", central(devices))
    for kind in ("NONE", "SUM", "MEAN", "ONLY_FIRST_REPLICA"):
        _writes(tf, say, central(devices), kind)
    _reductions(tf, say, "one device: ", tf.distribute.OneDeviceStrategy(devices[1]))


def _reductions(tf: Any, say: Say, label: str, strategy: Any) -> None:
    def numbers(dtype: str, rows: Any = ()) -> Any:
        """1 in the first replica and 2 in the second."""
        return strategy.experimental_distribute_values_from_function(
            lambda c: tf.fill(rows, tf.cast(c.replica_id_in_sync_group + 1, dtype))
        )

    def answer(value: Any) -> Any:
        return value.dtype.name, value.numpy().tolist()

    for dtype in DTYPES:
        say(
            f"{label}mean of {dtype}",
            lambda dtype=dtype: answer(strategy.reduce("MEAN", numbers(dtype), axis=None)),
        )
        if dtype not in ("int8", "uint8"):  # which mirrored variables of TensorFlow do not sum
            say(
                f"{label}all_reduce of {dtype}",
                lambda dtype=dtype: [answer(v) for v in _all_reduced(tf, strategy, numbers(dtype))],
            )
    for value in ([1, 2], [[1.0, 2.0], [3.0, 4.0]]):
        say(
            f"{label}sum of {value} along 0",
            lambda value=value: answer(strategy.reduce("SUM", value, axis=0)),
        )
    for name, arguments in {
        "without an axis": ("SUM", numbers("float32")),
        "without an op": (None, numbers("float32", [2]), 0),
        "along an axis that there is not": ("MEAN", 2.5, 0),
    }.items():
        say(f"{label}{name}", lambda a=arguments: _error_of(lambda: strategy.reduce(*a)))


def _error_of(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as e:
        return type(e).__name__


def _writes(tf: Any, say: Say, strategy: Any, kind: str) -> None:
    """What each replica adds to rows of a variable with one copy; and integers with any aggregation."""

    def variable(dtype: str) -> Any:
        with strategy.scope():
            return tf.Variable(
                tf.cast([1, 2], dtype), aggregation=getattr(tf.VariableAggregation, kind)
            )

    def rows(function: Any) -> Any:
        v = variable("float32")

        def step() -> None:
            number = tf.distribute.get_replica_context().replica_id_in_sync_group
            row = tf.cast([number + 1], "float32")
            v.scatter_add(tf.IndexedSlices(row, [0]))

        strategy.run(function(step))
        return v.numpy().tolist()

    def assigned() -> Any:
        v = variable("int32")
        with strategy.scope():
            v.assign_add([3, 4])
        return v.numpy().tolist()

    say(f"rows, {kind}", lambda: rows(lambda step: step))
    say(f"rows in a function, {kind}", lambda: rows(tf.function))
    say(f"integers, {kind}", assigned)


def _all_reduced(tf: Any, strategy: Any, values: Any) -> tuple[Any, ...]:
    def step(x: Any) -> Any:
        return tf.distribute.get_replica_context().all_reduce("MEAN", x)

    return strategy.experimental_local_results(strategy.run(step, (values,)))
