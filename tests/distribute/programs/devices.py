"""Logical devices: configuring and listing them, and placing ops, variables and functions on them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NAMES = (
    "/GPU:0", "gpu:0", "cpu:2", "/CPU:7", "/job:localhost/replica:0/task:0/device:CPU:2",
    "/device:TPU:0", "", "foo", "/device:FOO:0", "CPU", "/job:localhost", None, "/cpu:*",
    "/task:0/cpu:1", 5,
)  # fmt: skip
COUNTED = ("CPU:0", "CPU:2", "/device:CPU:1", "CPU:7", "GPU:0", "CPU", "CPU:*", "foo")


def main(tf: Any, say: Callable[..., None]) -> None:
    _configuration(tf, say)
    _memory(tf, say)
    for name in NAMES:
        say(f"placed on {name!r}", lambda name=name: _places(tf, name))
    _scopes(tf, say)
    tf.config.set_soft_device_placement(False)
    for name in ("/GPU:0", "CPU:1", "/CPU:7"):
        say(f"hard {name}", lambda name=name: _places(tf, name))


def _places(tf: Any, name: Any) -> Any:
    with tf.device(name):
        one = tf.constant(1.0)
        return [t.device for t in (one, one + 1, tf.Variable(1.0), tf.random.uniform([]))]


def _configuration(tf: Any, say: Callable[..., None]) -> None:
    config = tf.config
    part = config.LogicalDeviceConfiguration
    cpus = config.list_physical_devices("CPU")
    gpu = config.PhysicalDevice("/physical_device:GPU:0", "GPU")

    def divide(*parts: Any) -> Any:
        return config.set_logical_device_configuration(cpus[0], list(parts))

    say("undivided", lambda: config.get_logical_device_configuration(cpus[0]))
    say("two", lambda: divide(part(), part()))
    say("two are", lambda: config.get_logical_device_configuration(cpus[0]))
    say("limit", lambda: divide(part(memory_limit=10), part()))
    say("priority", lambda: divide(part(experimental_priority=1)))
    say("ordinal", lambda: divide(part(experimental_device_ordinal=1)))
    say("of a gpu", lambda: config.set_logical_device_configuration(gpu, [part()]))
    say("of a gpu, read", lambda: config.get_logical_device_configuration(gpu))
    say("visible", config.get_visible_devices)
    say("visible gpu", lambda: config.set_visible_devices([gpu]))
    say("visible gpu as cpu", lambda: config.set_visible_devices([gpu], "CPU"))
    say("visible cpu", lambda: config.set_visible_devices(cpus))
    say("three", lambda: divide(part(), part(), part()))
    say("logical", config.list_logical_devices)
    say("logical gpus", lambda: config.list_logical_devices("GPU"))
    say("the same again", lambda: divide(part(), part(), part()))
    say("others, too late", lambda: divide(part(), part()))
    say("hidden, too late", lambda: config.set_visible_devices([]))
    say("growth", lambda: config.experimental.get_memory_growth(gpu))
    say("growth, set", lambda: config.experimental.set_memory_growth(gpu, True))
    say("growth of the host", lambda: config.experimental.set_memory_growth(cpus[0], True))
    say("details", lambda: config.experimental.get_device_details(gpu))


def _memory(tf: Any, say: Callable[..., None]) -> None:
    experimental = tf.config.experimental
    for name in COUNTED:
        say(f"memory of {name}", lambda name=name: experimental.get_memory_info(name))
        say(f"reset of {name}", lambda name=name: experimental.reset_memory_stats(name))


def _scopes(tf: Any, say: Callable[..., None]) -> None:
    with tf.device("/CPU:1"):
        x = tf.constant([1.0, 2.0])
        variable = tf.Variable(1.0)
    say(
        "results outside are on the first",
        lambda: (x.device, (x + x).device, (variable + 1).device),
    )
    say("variable", lambda: variable.device)
    say("copies", lambda: (x.cpu().device, x._copy(device_name="CPU:2").device))
    say("a copy for a gpu", x.gpu)

    @tf.function
    def f(value: Any) -> Any:
        with tf.device("/CPU:2"):
            inner = value + 1
        return inner, inner * 2

    def nested() -> Any:
        with tf.device("/job:localhost"), tf.device("cpu:2"):
            inner = tf.constant(1).device
            with tf.device(None):
                return inner, tf.constant(1).device

    def gradient() -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.device("cpu:2"):
                y = x * x
        return y.device, tape.gradient(y, x)

    def called() -> Any:
        with tf.device("cpu:1"):
            return [t.device for t in f(x)]

    say("nested", nested)
    say("gradient", gradient)
    say("of a function", lambda: [t.device for t in f(x)])
    say("of a function on a device", called)
    say("values", lambda: [t.numpy().tolist() for t in f(x)])
