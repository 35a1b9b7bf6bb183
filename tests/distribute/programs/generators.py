"""Random generators under strategies: each replica draws its own numbers, and the copies of a state stay equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def main(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    parts = [config.LogicalDeviceConfiguration() for _ in range(2)]
    config.set_logical_device_configuration(config.list_physical_devices("CPU")[0], parts)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    _mirrored(tf, say, strategy)
    _elsewhere(tf, say, strategy)


def _mirrored(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    with strategy.scope():
        generator = tf.random.Generator.from_seed(3)

    def drawn(label: str, draw: Callable[[], Any]) -> None:
        say(label, lambda: strategy.run(draw))
        say(f"{label} in a function", lambda: tf.function(lambda: strategy.run(draw))())
        say(f"the state after {label}", lambda: generator.state)

    drawn("uniform", lambda: generator.uniform([2]))
    drawn("integers", lambda: generator.uniform([2], 0, 100, tf.int32))
    drawn("full integers", lambda: generator.uniform_full_int([2]))
    drawn("normal", lambda: tf.round(generator.normal([2]) * 1000.0))
    drawn("seeds", lambda: generator.make_seeds(1))
    drawn("key", lambda: generator.key)
    drawn("skip", lambda: generator.skip(3))
    drawn("reset", lambda: generator.reset_from_seed(7))
    split = strategy.run(lambda: generator.split(2)[1].state.read_value())
    say("the state of a part", lambda: split)
    say("for all replicas", lambda: generator.uniform([2]))
    say("for all replicas in a function", lambda: tf.function(lambda: generator.uniform([2]))())
    with strategy.scope():
        say("in the scope", lambda: generator.uniform([2]))
    say("the state then", lambda: generator.state)
    say("a skip of all", lambda: generator.skip(2))
    say("a reset of all", lambda: generator.reset([1, 2, 3]))
    say("the state at last", lambda: generator.state)


def _elsewhere(tf: Any, say: Callable[..., None], strategy: Any) -> None:
    plain = tf.random.Generator.from_seed(3)
    say("made without a strategy", lambda: strategy.run(lambda: plain.uniform([2])))
    say("its state", lambda: plain.state)

    def fresh() -> Any:
        return tf.random.Generator.from_seed(4).uniform([2])

    say("made in replicas", lambda: strategy.run(fresh))
    one = tf.distribute.OneDeviceStrategy("/cpu:1")
    with one.scope():
        single = tf.random.Generator.from_seed(3)
    say("on one device", lambda: one.run(lambda: single.uniform([2])))
    say("outside of its strategy", lambda: single.uniform([2]))
    try:
        strategy.run(lambda: single.uniform([2]))
    except RuntimeError as e:
        text = str(e).partition(":")[0]
        say("in another strategy", lambda: text)
