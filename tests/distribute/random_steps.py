"""Random steps of replicas, natively and as XLA programs: `python -m tests.distribute.random_steps FIRST COUNT`.

A step is a list of statements on vectors of three elements, variables and what replicas bring together, in
float64: a gradient of a saturated tanh makes of one unit in the last place of float32 one in a thousand.
It prints a line of JSON: the steps whose numbers differ, how many were SPMD programs, and how many there were.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import intaglio
from intaglio import tf

SIZE = 3
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: tf.tanh(a) * b,
    "max": tf.maximum,
    "where": lambda a, b: tf.where(a > b, a, b * 0.5),
    "matmul": lambda a, b: tf.linalg.matvec(tf.tensordot(a, b, 0), tf.tanh(b)) / 3,
    "concat": lambda a, b: tf.concat([a, b], 0)[1 : SIZE + 1],
}
TOGETHER = ("SUM", "MEAN", "gather", "merge", "first row", "slices", "number")
WRITES = ("mirrored", "sum", "mean", "first", "on read")


class Variables:
    """A variable of each kind of a strategy."""

    def __init__(self, strategy: Any) -> None:
        kind = tf.VariableAggregation
        with strategy.scope():
            self.mirrored = tf.Variable([0.5, -0.25, 1.0], dtype=tf.float64)
            self.sum = tf.Variable([0.1, 0.2, 0.3], dtype=tf.float64, aggregation=kind.SUM)
            self.mean = tf.Variable([1.0, 0.0, -1.0], dtype=tf.float64, aggregation=kind.MEAN)
            self.first = tf.Variable(
                [0.3, 0.3, 0.3], dtype=tf.float64, aggregation=kind.ONLY_FIRST_REPLICA
            )
            self.on_read = tf.Variable(
                [0.0, 1.0, 0.0],
                dtype=tf.float64,
                synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=kind.MEAN,
            )

    def of(self, name: str) -> Any:
        """The variable of a kind."""
        return getattr(self, name.replace(" ", "_"))

    def copies(self) -> list[np.ndarray]:
        """All copies of all variables."""
        return [copy.numpy() for name in WRITES for copy in self.of(name).values]


def together(how: str, x: Any) -> Any:
    """What the replicas have, brought together: a vector of three elements."""
    replica: Any = tf.distribute.get_replica_context()
    if how in ("SUM", "MEAN"):
        return replica.all_reduce(how, x)
    if how == "gather":
        return replica.all_gather(x, axis=0)[1 : SIZE + 1]
    if how == "first row":
        return replica.all_gather(x[None], axis=-1)[0, -SIZE:]
    if how == "slices":
        rows = tf.IndexedSlices(x[None], [replica.replica_id_in_sync_group], [2, SIZE])
        return tf.convert_to_tensor(replica.all_reduce("SUM", rows))[1]
    if how == "number":
        return x * (tf.cast(replica.replica_id_in_sync_group, tf.float64) + 1)
    return replica.merge_call(lambda strategy, v: strategy.reduce("MEAN", v, axis=None), args=(x,))


def statements(rng: random.Random) -> list[tuple[Any, ...]]:
    """A random step."""
    found: list[tuple[Any, ...]] = []
    for _ in range(rng.randint(4, 9)):
        kind = rng.choice(("binary", "binary", "together", "together", "write", "read", "gradient"))
        operands = rng.randrange(100), rng.randrange(100)
        names = {
            "binary": list(BINARY),
            "together": list(TOGETHER),
            "write": list(WRITES),
            "read": list(WRITES),
            "gradient": ["SUM", "MEAN", "gather", "number"],
        }[kind]
        found.append((kind, rng.choice(names), *operands))
    return found


def replica_step(step: list[tuple[Any, ...]], variables: Variables, x: Any) -> Any:
    """Carries the statements out in a replica; returns the last values."""
    values = [x, together("number", x)]
    for kind, name, i, j in step:
        a, b = values[i % len(values)], values[j % len(values)]
        if kind == "binary":
            values.append(BINARY[name](a, b))
        elif kind == "together":
            values.append(together(name, a))
        elif kind == "write":
            change = variables.of(name).assign if i % 3 else variables.of(name).assign_add
            change(tf.tanh(a))
        elif kind == "read":
            values.append(variables.of(name) * a)
        else:
            with tf.GradientTape() as tape:
                tape.watch(a)
                loss = tf.reduce_sum(together(name, tf.tanh(a * variables.mirrored)) * b)
            gradients = tape.gradient(loss, [a, variables.mirrored])
            values += [a if g is None else tf.tanh(g) for g in gradients]
    return [tf.tanh(v) for v in values[-4:]]


def outcome(seed: int, backend: str) -> tuple[list[np.ndarray], bool]:
    """The results and all copies of the variables after two calls; whether it was one SPMD program."""
    step = statements(random.Random(seed))
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    variables = Variables(strategy)
    found: list[np.ndarray] = []

    @tf.function(jit_compile=True)
    def run(x: Any) -> Any:
        each = strategy.run(replica_step, args=(step, variables, x))
        return each, [strategy.reduce("SUM", v, axis=None) for v in each]

    parts = strategy.experimental_distribute_values_from_function(
        lambda context: (
            tf.constant([0.5, -1.0, 2.0], tf.float64) * (1.0 + context.replica_id_in_sync_group)
        )
    )
    with intaglio.backend(backend):
        for _ in range(2):
            each, sums = run(parts)
            results = [strategy.experimental_local_results(v) for v in each]
            found += [np.asarray(v) for v in tf.nest.flatten([results, sums])]
            found += variables.copies()
        return found, "SPMD program of" in str(run.compile_report())


def main(first: int, count: int) -> None:
    """Prints what differs."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * 2
    tf.config.set_logical_device_configuration(cpu, parts)
    differing: list[int] = []
    programs = 0
    for seed in range(first, first + count):
        expected, _ = outcome(seed, "native")
        found, is_program = outcome(seed, "xla")
        programs += is_program
        alike = len(found) == len(expected) and all(
            np.allclose(a, b, 1e-5, 1e-5) for a, b in zip(found, expected, strict=True)
        )
        if not alike:
            differing.append(seed)
    print(json.dumps({"differing": differing, "programs": programs, "steps": count}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
