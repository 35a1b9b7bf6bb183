"""Mirrored values are tensors where tensors are wanted; values that a function makes are those of each replica."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OPERATORS = {
    "+": lambda x: x + 1,
    "reversed +": lambda x: 1 + x,
    "- itself": lambda x: x - x,
    "*": lambda x: x * [2.0, 3.0],
    "reversed /": lambda x: 1 / x,
    "**": lambda x: x**2,
    "negative": lambda x: -x,
    "abs": abs,
    "<": lambda x: x < 3,
    ">=": lambda x: x >= 3,
    "element": lambda x: x[0],
    "slice": lambda x: x[1:],
    "float": lambda x: float(x[0]),
    "shape": lambda x: x.shape,
    "dtype": lambda x: x.dtype,
    "numpy": lambda x: x.numpy(),
}  # fmt: skip


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        variable = tf.Variable([1.0, 2.0])
    mirrored = strategy.extended.update(variable, lambda copy: copy.read_value() * 2)
    for label, function in OPERATORS.items():
        say(label, lambda function=function: function(mirrored))
    say("as a tensor", lambda: tf.convert_to_tensor(mirrored))
    say("in a function of tensors", lambda: tf.reduce_sum(tf.multiply(mirrored, mirrored)))
    say("in replicas", lambda: strategy.run(lambda: mirrored + 1.0))
    make = strategy.experimental_distribute_values_from_function
    say("equal numbers", lambda: make(lambda context: 3.0))
    say(
        "a structure",
        lambda: make(lambda c: {"a": [1, c.replica_id_in_sync_group], "b": "text", "n": None}),
    )
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    say("of one device", lambda: one.experimental_distribute_values_from_function(lambda c: 3.0))
    alone = tf.distribute.MirroredStrategy(["/cpu:0"])
    say("of one replica", lambda: alone.experimental_distribute_values_from_function(lambda c: 3.0))
    options = tf.distribute.experimental.CommunicationOptions
    say("options", lambda: str(options(bytes_per_pack=5, timeout_seconds=3.0)))
    say("wrong options", lambda: options(bytes_per_pack=-5))
