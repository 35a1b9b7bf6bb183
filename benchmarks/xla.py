"""Functions as XLA programs against the same written by hand in JAX, side by side in one process.

    python -m benchmarks.xla [--seconds S]

Each row is the best of many calls, ours and JAX' alternating, and their ratio. Steps of training hold
their parameters as each library does: variables here, arrays that go in and come back in JAX.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import intaglio
from intaglio import tf

WIDTH, HEADS, LENGTH, BATCH = 128, 4, 64, 8
Calls = tuple[Callable[[], Any], Callable[[], Any]]


def parameters(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """Small random numbers of these shapes."""
    random = np.random.default_rng(0)
    return {n: (random.normal(size=s) * 0.05).astype(np.float32) for n, s in shapes.items()}


def overhead() -> Calls:
    """A call that computes next to nothing, of NumPy's arrays."""
    x = np.ones((4, 4), np.float32)
    ours = tf.function(lambda a: a + 1.0, jit_compile=True)
    tensor = tf.constant(x)
    plain = jax.jit(lambda a: a + 1.0)
    return lambda: ours(tensor).numpy(), lambda: np.asarray(plain(x))


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
    start = parameters(TRANSFORMER)
    variables = {n: tf.Variable(v) for n, v in start.items()}
    tensor = tf.constant(x)

    @tf.function(jit_compile=True)
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            y = _attention(tf, tf.nn.softmax, tf.einsum, variables, x)
            loss = tf.reduce_mean(y * y)
        gradients = tape.gradient(loss, list(variables.values()))
        for variable, gradient in zip(variables.values(), gradients, strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    def loss_of(p: Any, x: Any) -> Any:
        y = _attention(jnp, jax.nn.softmax, jnp.einsum, p, x)
        return jnp.mean(y * y)

    return lambda: step(tensor).numpy(), _descent(loss_of, start, x)


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


ROWS = {"call": overhead, "transformer step": transformer, "convolutions step": convolutions}


def measured(calls: Calls, seconds: float) -> tuple[float, float, float, float]:
    """The best time of a call and the time of the first one, in seconds: ours, JAX'."""
    first: list[float] = []
    for call in calls:
        start = time.perf_counter()
        call()
        first.append(time.perf_counter() - start)
    best = [float("inf")] * 2
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            best[i] = min(best[i], time.perf_counter() - start)
    return best[0], best[1], first[0], first[1]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=5.0, help="for each row")
    seconds = parser.parse_args().seconds
    intaglio.backend("xla")
    print("| | here, ms | JAX, ms | ratio | first call here, s | JAX, s |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, make in ROWS.items():
        ours, jaxs, first, jax_first = measured(make(), seconds)
        numbers = f"{ours * 1e3:.3f} | {jaxs * 1e3:.3f} | {ours / jaxs:.2f}"
        print(f"| {name} | {numbers} | {first:.2f} | {jax_first:.2f} |")


if __name__ == "__main__":
    main()
