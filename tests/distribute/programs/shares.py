"""What a replica's share is: of a mean loss, of a regularisation, and of datasets that a function makes for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    _losses(tf, say, strategy)
    _datasets(tf, say, strategy)


def _losses(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    losses = tf.constant([1.0, 2.0])
    mean, scaled = tf.nn.compute_average_loss, tf.nn.scale_regularization_loss
    one = tf.distribute.OneDeviceStrategy("/cpu:0")
    calls = {
        "mean": lambda: mean(losses),
        "mean of a size": lambda: mean(losses, global_batch_size=8),
        "weighted mean": lambda: mean(losses, sample_weight=tf.constant([1.0, 0.0])),
        "half": lambda: mean(tf.cast(losses, tf.float16)),
        "regularisation": lambda: scaled([1.0, 3.0]),
    }
    for label, call in calls.items():
        say(label, call)
        say(f"{label} in replicas", lambda call=call: strategy.run(call))
        say(f"{label}, traced", lambda call=call: tf.function(lambda: strategy.run(call))())
        say(f"{label} on one device", lambda call=call: one.run(call))
        with strategy.scope():
            say(f"{label} in the scope", call)


def _datasets(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    count = tf.data.Dataset.range
    options = tf.distribute.InputOptions(
        experimental_fetch_to_device=False,
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA,
    )

    def listed(function: Callable[[Any], Any], chosen: Any = options) -> Any:
        found = strategy.distribute_datasets_from_function(function, chosen)
        return [[v.numpy().tolist() for v in strategy.experimental_local_results(x)] for x in found]

    say("ends", lambda: listed(lambda c: count(2 + c.input_pipeline_id)))
    say("batches", lambda: listed(lambda c: count(3 - c.input_pipeline_id).batch(1)))
    say("later", lambda: listed(lambda c: count(5 * c.input_pipeline_id + 1).batch(2)))
    say(
        "static batches",
        lambda: listed(lambda c: count(3 - c.input_pipeline_id).batch(1, drop_remainder=True)),
    )
    say(
        "contexts",
        lambda: listed(
            lambda c: tf.data.Dataset.from_tensors(
                [c.num_input_pipelines, c.input_pipeline_id, c.num_replicas_in_sync]
            )
        ),
    )
    make = strategy.distribute_datasets_from_function
    say("types", lambda: make(lambda c: count(2).batch(2), options).element_spec)
    say(
        "a placement",
        lambda: listed(
            lambda c: count(2),
            tf.distribute.InputOptions(experimental_place_dataset_on_device=True),
        ),
    )
    say("of all", lambda: strategy.experimental_distribute_dataset(count(4).batch(2), options))
