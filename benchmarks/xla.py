"""Functions as XLA programs against the same written by hand in JAX, side by side in one process.

    python -m benchmarks.xla [--seconds S] [--write]
    python -m benchmarks.xla --devices 8       a step of replicas against a `shard_map` of the same

Each row is the median of many calls, ours and JAX' alternating, and their ratio, in processor time of all
threads. Steps of training hold their parameters as each library does: variables here, arrays that go in and
come back in JAX. First calls are of tracing, of XLA's compiler, and of one step. XLA is started before.
`--write` writes the rows of one device to `benchmarks/xla.md`.
"""

from __future__ import annotations

import argparse
import datetime
import os
import pathlib
import platform
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import intaglio
from intaglio import tf

PAGE = pathlib.Path(__file__).with_suffix(".md")
HEADING = """# Through XLA, on the host

`python -m benchmarks.xla --write` on {date}: {machine}. The same steps are written by hand
in JAX, and both run in one process, alternating. Times are processor times of all threads, those of calls the
medians of many.

"""
WIDTH, HEADS, LENGTH, BATCH = 128, 4, 64, 8
Calls = tuple[Callable[[], Any], Callable[[], Any]]


def parameters(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Small random numbers of these shapes."""
    random = np.random.default_rng(0)
    return {n: (random.normal(size=s) * 0.05).astype(np.float32) for n, s in shapes.items()}


def overhead() -> Calls:
    """A call that computes next to nothing, from arrays of the host to such; neither side copies the result."""
    x = np.ones((4, 4), np.float32)
    ours = tf.function(lambda a: a + 1.0, jit_compile=True)
    tensor = tf.constant(x)
    plain = jax.jit(lambda a: a + 1.0)
    return lambda: ours(tensor)._numpy(), lambda: np.asarray(plain(x))


TRANSFORMER = {
    "query": (WIDTH, WIDTH),
    "key": (WIDTH, WIDTH),
    "value": (WIDTH, WIDTH),
    "out": (WIDTH, WIDTH),
    "up": (WIDTH, 4 * WIDTH),
    "down": (4 * WIDTH, WIDTH),
}


def _attention(np_: Any, softmax: Any, einsum: Any, p: Any, x: Any) -> Any:
    """A layer of a transformer, in the functions of either library."""
    heads = (BATCH, LENGTH, HEADS, WIDTH // HEADS)
    q, k, v = [np_.reshape(np_.matmul(x, p[n]), heads) for n in ("query", "key", "value")]
    weights = softmax(einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5)
    mixed = np_.reshape(einsum("bhqk,bkhd->bqhd", weights, v), (BATCH, LENGTH, WIDTH))
    x = x + np_.matmul(mixed, p["out"])
    return x + np_.matmul(np_.tanh(np_.matmul(x, p["up"])), p["down"])


def transformer() -> Calls:
    """A step of gradient descent on a layer of a transformer."""
    x = np.random.default_rng(1).normal(size=(BATCH, LENGTH, WIDTH)).astype(np.float32)

    def ours(p: Any, x: Any) -> Any:
        y = _attention(tf, tf.nn.softmax, tf.einsum, p, x)
        return tf.reduce_mean(y * y)

    def theirs(p: Any, x: Any) -> Any:
        y = _attention(jnp, jax.nn.softmax, jnp.einsum, p, x)
        return jnp.mean(y * y)

    return _steps(ours, theirs, TRANSFORMER, x)


def _descent(loss_of: Any, start: Any, x: Any) -> Callable[[], Any]:
    def step(p: Any, x: Any) -> Any:
        loss, gradients = jax.value_and_grad(loss_of)(p, x)
        return {n: p[n] - 0.01 * gradients[n] for n in p}, loss

    run = jax.jit(step, donate_argnums=0)
    kept = {n: jnp.asarray(v) for n, v in start.items()}

    def call() -> Any:
        nonlocal kept
        kept, loss = run(kept, x)
        return np.asarray(loss)

    return call


CONVOLUTIONS = {"first": (3, 3, 3, 16), "second": (3, 3, 16, 32), "dense": (32, 10)}


def convolutions() -> Calls:
    """A step of gradient descent on two convolutions."""
    x = np.random.default_rng(1).normal(size=(16, 32, 32, 3)).astype(np.float32)
    start = parameters(CONVOLUTIONS)
    variables = {n: tf.Variable(v) for n, v in start.items()}
    tensor = tf.constant(x)

    def network(convolve: Any, relu: Any, mean: Any, matmul: Any, p: Any, x: Any) -> Any:
        y = relu(convolve(relu(convolve(x, p["first"])), p["second"]))
        return matmul(mean(y, (1, 2)), p["dense"])

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        def convolve(x: Any, w: Any) -> Any:
            return tf.nn.conv2d(x, w, 2, "SAME")

        with tf.GradientTape() as tape:
            y = network(convolve, tf.nn.relu, tf.reduce_mean, tf.matmul, variables, x)
            loss = tf.reduce_mean(y * y)
        gradients = tape.gradient(loss, list(variables.values()))
        for variable, gradient in zip(variables.values(), gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    def loss_of(p: Any, x: Any) -> Any:
        def convolve(x: Any, w: Any) -> Any:
            form = ("NHWC", "HWIO", "NHWC")
            return jax.lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=form)

        y = network(convolve, jax.nn.relu, jnp.mean, jnp.matmul, p, x)
        return jnp.mean(y * y)

    return lambda: step(tensor).numpy(), _descent(loss_of, start, x)


RESIDUAL = {
    "stem": (3, 3, 3, 16),
    **{f"block{i}_{j}": (3, 3, 16, 16) for i in range(3) for j in range(2)},
    **{f"scale{i}": (16,) for i in range(3)},
    "dense": (16, 10),
}


def residual() -> Calls:
    """A step of gradient descent on a network of residual blocks with normalisation over the batch."""
    x = np.random.default_rng(1).normal(size=(16, 16, 16, 3)).astype(np.float32)

    def network(np_: Any, convolve: Any, relu: Any, mean: Any, rsqrt: Any, p: Any, x: Any) -> Any:
        y = relu(convolve(x, p["stem"]))
        for i in range(3):
            z = relu(convolve(y, p[f"block{i}_0"]))
            z = convolve(z, p[f"block{i}_1"])
            z = z - mean(z, (0, 1, 2))
            y = relu(y + z * rsqrt(mean(z * z, (0, 1, 2)) + 1e-3) * p[f"scale{i}"])
        return np_.matmul(mean(y, (1, 2)), p["dense"])

    def ours(p: Any, x: Any) -> Any:
        def convolve(x: Any, w: Any) -> Any:
            return tf.nn.conv2d(x, w, 1, "SAME")

        y = network(tf, convolve, tf.nn.relu, tf.reduce_mean, tf.math.rsqrt, p, x)
        return tf.reduce_mean(y * y)

    def theirs(p: Any, x: Any) -> Any:
        def convolve(x: Any, w: Any) -> Any:
            form = ("NHWC", "HWIO", "NHWC")
            return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=form)

        y = network(jnp, convolve, jax.nn.relu, jnp.mean, jax.lax.rsqrt, p, x)
        return jnp.mean(y * y)

    return _steps(ours, theirs, RESIDUAL, x)


def _steps(ours: Any, theirs: Any, shapes: dict[str, tuple[int, ...]], x: Any) -> Calls:
    """Steps of gradient descent on a loss, which each library has its own function for."""
    start = parameters(shapes)
    variables = {n: tf.Variable(v) for n, v in start.items()}
    tensor = tf.constant(x)

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = ours(variables, x)
        gradients = tape.gradient(loss, list(variables.values()))
        for variable, gradient in zip(variables.values(), gradients, strict=True):
            variable.assign_sub(0.01 * tf.convert_to_tensor(gradient))
        return loss

    return lambda: step(tensor).numpy(), _descent(theirs, start, x)


UNITS = 64
RECURRENT = {"kernel": (32, 4 * UNITS), "recurrent": (UNITS, 4 * UNITS), "dense": (UNITS, 1)}


def recurrent() -> Calls:
    """A step of gradient descent on an LSTM over 32 positions."""
    x = np.random.default_rng(1).normal(size=(32, 16, 32)).astype(np.float32)

    def cell(sigmoid: Any, tanh: Any, split: Any, gates: Any, c: Any) -> tuple[Any, Any]:
        i, f, g, o = split(gates, 4, 1)
        c = sigmoid(f) * c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c

    def ours(p: Any, x: Any) -> Any:
        def split(x: Any, n: int, axis: int) -> Any:
            return tf.split(x, n, axis)

        h = c = tf.zeros((16, UNITS))
        for t in tf.range(32):
            gates = tf.matmul(x[t], p["kernel"]) + tf.matmul(h, p["recurrent"])
            h, c = cell(tf.sigmoid, tf.tanh, split, gates, c)
        return tf.reduce_mean(tf.matmul(h, p["dense"]) ** 2)

    def theirs(p: Any, x: Any) -> Any:
        def one(state: Any, row: Any) -> Any:
            gates = row @ p["kernel"] + state[0] @ p["recurrent"]
            return cell(jax.nn.sigmoid, jnp.tanh, jnp.split, gates, state[1]), None

        zeros = jnp.zeros((16, UNITS))
        (h, _), _ = jax.lax.scan(one, (zeros, zeros), x)
        return jnp.mean((h @ p["dense"]) ** 2)

    return _steps(ours, theirs, RECURRENT, x)


EMBEDDED = {"table": (2000, 32), "dense": (32, 16), "out": (16, 1)}


def embedding() -> Calls:
    """A step of gradient descent on embeddings of 8 words each for 256 examples."""
    words = np.random.default_rng(1).integers(0, 2000, (256, 8)).astype(np.int32)

    def ours(p: Any, x: Any) -> Any:
        pooled = tf.reduce_mean(tf.gather(p["table"], x), 1)
        return tf.reduce_mean(tf.matmul(tf.nn.relu(tf.matmul(pooled, p["dense"])), p["out"]) ** 2)

    def theirs(p: Any, x: Any) -> Any:
        pooled = jnp.mean(jnp.take(p["table"], x, 0), 1)
        return jnp.mean((jax.nn.relu(pooled @ p["dense"]) @ p["out"]) ** 2)

    return _steps(ours, theirs, EMBEDDED, words)


LAYERS = {"first": (256, 512), "second": (512, 512), "third": (512, 10)}


def partitioned(devices: int) -> Calls:
    """A step of gradient descent of replicas, each with 64 rows, on logical devices of the host."""
    (cpu,) = tf.config.list_physical_devices("CPU")
    parts = [tf.config.LogicalDeviceConfiguration()] * devices
    tf.config.set_logical_device_configuration(cpu, parts)
    strategy = tf.distribute.MirroredStrategy([f"/cpu:{i}" for i in range(devices)])
    start = parameters(LAYERS)
    x = np.random.default_rng(1).normal(size=(devices, 64, 256)).astype(np.float32)
    with strategy.scope():
        variables = [tf.Variable(value) for value in start.values()]
    batch = strategy.experimental_distribute_values_from_function(
        lambda context: tf.constant(x[context.replica_id_in_sync_group])
    )

    def replica(x: Any) -> Any:
        with tf.GradientTape() as tape:
            a, b, c = variables
            loss = tf.reduce_mean((tf.nn.relu(tf.nn.relu(x @ a) @ b) @ c - 1.0) ** 2)
        context: Any = tf.distribute.get_replica_context()
        gradients = context.all_reduce("MEAN", tape.gradient(loss, variables))
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        return strategy.reduce("MEAN", strategy.run(replica, args=(x,)), axis=None)

    step(batch)  # XLA divides the host when it is first used
    return lambda: step(batch).numpy(), _by_shard_map(devices, list(start.values()), x)


def _by_shard_map(devices: int, start: list[np.ndarray], x: np.ndarray) -> Callable[[], Any]:
    mesh = Mesh(np.array(jax.devices()[:devices]), ("replica",))
    each, same = PartitionSpec("replica"), PartitionSpec()

    def replica(p: Any, x: Any) -> Any:
        def loss_of(p: Any) -> Any:
            a, b, c = p
            return jnp.mean((jax.nn.relu(jax.nn.relu(x[0] @ a) @ b) @ c - 1.0) ** 2)

        loss, gradients = jax.value_and_grad(loss_of)(p)
        gradients = jax.lax.pmean(gradients, "replica")
        new = [a - 0.01 * b for a, b in zip(p, gradients, strict=True)]
        return new, jax.lax.pmean(loss, "replica")

    mapped = jax.shard_map(
        replica, mesh=mesh, in_specs=(same, each), out_specs=(same, same), check_vma=False
    )
    step = jax.jit(mapped, donate_argnums=(0,))
    state = [jax.device_put(v, NamedSharding(mesh, same)) for v in start]

    def call() -> Any:
        nonlocal state
        state, loss = step(state, jax.device_put(x, NamedSharding(mesh, each)))
        return np.asarray(loss)

    return call


ROWS = {
    "call": overhead,
    "transformer step": transformer,
    "convolutions step": convolutions,
    "residual step": residual,
    "LSTM step": recurrent,
    "embeddings step": embedding,
}


def measured(calls: Calls, seconds: float) -> tuple[float, float, float, float]:
    """The processor times of a call, the median of many, and of the first one, in seconds: ours, JAX'."""
    first = [_timed(call) for call in calls]
    times: list[list[float]] = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for call, found in zip(calls, times, strict=True):
            found.append(_timed(call))
    ours, jaxs = map(statistics.median, times)
    return ours, jaxs, first[0], first[1]


def _timed(call: Callable[[], Any]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description="Functions as XLA programs against JAX' own.")
    parser.add_argument("--seconds", type=float, default=5.0, help="for each row")
    parser.add_argument("--devices", type=int, help="the step of so many replicas only")
    parser.add_argument("--write", action="store_true", help="write benchmarks/xla.md")
    options = parser.parse_args()
    intaglio.backend("xla")
    if options.devices:
        name = f"step on {options.devices} devices"
        print(table({name: lambda: partitioned(options.devices)}, options.seconds))
        return
    for call in overhead():  # starts XLA
        call()
    text = table(ROWS, options.seconds)
    print(text)
    if options.write:
        date = datetime.date.today().isoformat()
        machine = f"{platform.machine()}, {os.cpu_count()} cores, jax {jax.__version__}"
        PAGE.write_text(HEADING.format(date=date, machine=machine) + text + "\n")


def table(rows: Mapping[str, Callable[[], Calls]], seconds: float) -> str:
    """The rows as Markdown."""
    lines = [
        "| | here, ms | JAX, ms | ratio | first call here, s | JAX, s | ratio |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name, make in rows.items():
        ours, jaxs, first, jax_first = measured(make(), seconds)
        numbers = f"{ours * 1e3:.3f} | {jaxs * 1e3:.3f} | {ours / jaxs:.2f}"
        lines.append(
            f"| {name} | {numbers} | {first:.2f} | {jax_first:.2f} | {first / jax_first:.2f} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
