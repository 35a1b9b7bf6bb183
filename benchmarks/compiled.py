"""Cases of compiled functions: what Intaglio compiles with `jit_compile=True`, TensorFlow runs as graphs.

Loaded like `cases.py`, in every peer's environment.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Timed = Callable[[], Any]

# As in `cases.py`; the goal is a ratio to the peer named first.
CASES: dict[str, tuple[str, tuple[str, ...], float | None]] = {
    "tanh_chain": (
        "compiled: ten times `tanh(x) * 1.1 + 0.1`, 10^6 float32",
        ("jax", "tensorflow", "torch"),
        0.5,
    ),
    "mlp_step": ("compiled: Adam step of a 784-128-10 network, batch 32", ("tensorflow",), 0.7),
    "cnn_step": (
        "compiled: Adam step of three convolutions, batch 64, 32x32x3, 100 classes",
        ("tensorflow",),
        0.5,
    ),
    "cnn_traced": (
        "the same step of plain `tf.function`, beside our eager one",
        ("eager", "tensorflow"),
        0.4,
    ),
}


def numbers(*shape: int) -> np.ndarray:
    """The same random numbers for everybody."""
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def tensorflow_like(tf: Any, case: str) -> Timed:
    """The case in TensorFlow's words."""
    plain = case == "cnn_traced" or not tf.__name__.startswith("intaglio")

    def traced(function: Any) -> Any:
        return tf.function(function, jit_compile=None if plain else True)

    if case == "tanh_chain":

        def chain(x: Any) -> Any:
            for _ in range(10):
                x = tf.tanh(x) * 1.1 + 0.1
            return x

        x, run = tf.constant(numbers(1_000_000)), traced(chain)
        return lambda: run(x)
    return _training(tf, traced, case != "mlp_step")


def eager(tf: Any, case: str) -> Timed | None:
    """The case without `tf.function`."""
    return _training(tf, lambda step: step, True) if case == "cnn_traced" else None


def _training(tf: Any, traced: Any, convolutional: bool) -> Timed:
    """A step of training with Adam, written out."""
    shapes = [(784, 128), (128, 10)]
    if convolutional:
        shapes = [(3, 3, 3, 16), (3, 3, 16, 64), (3, 3, 64, 128), (2048, 100)]
    weights = [tf.Variable(numbers(*s) * float(np.prod(s[:-1])) ** -0.5) for s in shapes]
    biases = [tf.Variable(np.zeros(s[-1], "float32")) for s in shapes]
    variables = [*weights, *biases]
    zeros = [np.zeros(v.shape, "float32") for v in variables]
    means, squares = ([tf.Variable(z) for z in zeros] for _ in range(2))

    def network(x: Any) -> Any:
        for w, b in zip(weights[:-1], biases[:-1]):  # noqa: B905 - as it is written
            if convolutional:
                x = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") + b)
                x = tf.nn.max_pool2d(x, 2, 2, "VALID")
            else:
                x = tf.nn.relu(tf.matmul(x, w) + b)
        x = tf.reshape(x, [x.shape[0], -1])
        return tf.matmul(x, weights[-1]) + biases[-1]

    def step(x: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels, network(x))
            )
        gradients = tape.gradient(loss, variables)
        for v, m, s, g in zip(variables, means, squares, gradients):  # noqa: B905
            m.assign(0.9 * m + 0.1 * g)
            s.assign(0.999 * s + 0.001 * g * g)
            v.assign_sub(1e-3 * m / (tf.sqrt(s) + 1e-7))
        return loss

    x = tf.constant(numbers(64, 32, 32, 3) if convolutional else numbers(32, 784))
    labels = tf.constant(np.arange(x.shape[0]) % 10)
    run = traced(step)
    return lambda: run(x, labels)


def torch(case: str) -> Timed | None:
    """The case in torch's words."""
    torch: Any = importlib.import_module("torch")
    if case == "tanh_chain":
        x = torch.from_numpy(numbers(1_000_000))

        def chain() -> Any:
            y = x
            for _ in range(10):
                y = torch.tanh(y) * 1.1 + 0.1
            return y

        return chain
    return None


def jax(case: str) -> Timed | None:
    """The case in JAX's words."""
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    case_of_jax: tuple[Any, Sequence[Any]] | None = None
    if case == "tanh_chain":

        def chain(x: Any) -> Any:
            for _ in range(10):
                x = jnp.tanh(x) * 1.1 + 0.1
            return x

        case_of_jax = chain, [numbers(1_000_000)]
    if case_of_jax is None:
        return None
    run, arrays = jax.jit(case_of_jax[0]), [jnp.asarray(a) for a in case_of_jax[1]]
    return lambda: run(*arrays).block_until_ready()
