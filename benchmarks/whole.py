"""Cases of whole compiled functions: calls, loops, first results, large graphs, steps of training.

Intaglio compiles with `jit_compile=True`. First results are those of functions that were never seen: a
number in them is another one every time. Loaded like `cases.py`, in every peer's environment.
"""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Timed = Callable[[], Any]
# As in `cases.py`; the goal is a ratio to the peer named first.
CASES: dict[str, tuple[str, tuple[str, ...], float | None]] = {
    "whole_add": ("compiled: call of `a + b`, 2x2 float32", ("jax",), 0.08),
    "whole_ten": ("compiled: call with ten tensors", ("jax",), 0.1),
    "whole_dict": ("compiled: call with a dict of twenty tensors", ("jax",), 0.2),
    "whole_while": ("compiled: `while` of 1000 steps on 5 floats", ("jax", "tensorflow"), 1.0),
    "whole_nested": ("compiled: 100 x 10 steps with a condition in the inner loop", ("jax",), 1.0),
    "whole_power": (
        "compiled: 100 matmuls of 10x10 int32 (9 run: repeated squaring)",
        ("jax",),
        0.1,
    ),
    "whole_tiny": ("a tiny function: trace and first result", ("tensorflow", "jax"), 0.15),
    "whole_adam": (
        "compiled: Adam step of a 784-128-10 network, batch 32",
        ("jax", "tensorflow"),
        0.7,
    ),
    "whole_adam_first": ("the same with its trace and compilation", ("jax", "tensorflow"), 0.1),
    "whole_2000_trace": ("2000 ops: trace", ("tensorflow", "jax"), 0.2),
    "whole_2000_first": (
        "2000 ops: trace, compilation and first result",
        ("jax", "tensorflow"),
        None,
    ),
}
_numbers = itertools.count(1)
WIDTHS = (784, 128, 10)


def arrays() -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray, np.ndarray]:
    """Weights, biases, images and labels."""
    rng = np.random.default_rng(0)
    pairs = list(itertools.pairwise(WIDTHS))
    weights = [(rng.normal(size=p) * p[0] ** -0.5).astype("float32") for p in pairs]
    biases = [np.zeros(p[1], "float32") for p in pairs]
    x = rng.normal(size=(32, WIDTHS[0])).astype("float32")
    return weights, biases, x, np.arange(32) % 10


# -- TensorFlow's words ----------------------------------------------------------------------


def tensorflow_like(tf: Any, case: str) -> Timed:
    """The case in TensorFlow's words."""
    compiled = True if tf.__name__.startswith("intaglio") else None

    def traced(function: Any) -> Any:
        return tf.function(function, jit_compile=compiled)

    one = tf.ones([2, 2])
    if case == "whole_add":
        return _call(traced(lambda a, b: a + b), one, one)
    if case == "whole_ten":
        return _call(traced(lambda *xs: sum(xs[1:], xs[0])), *[one] * 10)
    if case == "whole_dict":
        tensors = {f"key_{i}": tf.ones([2, 2]) for i in range(20)}
        return _call(traced(lambda d: sum(d.values(), 0.0)), tensors)
    if case in ("whole_while", "whole_nested"):
        steps = _while if case == "whole_while" else _nested
        return _call(traced(steps(tf)), tf.ones([5]))
    if case == "whole_power":
        x = tf.constant(np.random.default_rng(0).integers(-1, 2, (10, 10)), tf.int32)
        return _call(traced(lambda x: _power(tf.matmul, x, tf.eye(10, dtype=tf.int32))), x)
    if case == "whole_tiny":
        return lambda: tf.function(lambda x: x * float(next(_numbers)) + 1.0)(one)
    if case.startswith("whole_2000"):
        return _large_tensorflow(tf, traced, case.endswith("first"))
    step = _adam_tensorflow(tf, traced)
    return step if case.endswith("first") else step(once=False)


def _call(function: Any, *args: Any) -> Timed:
    return lambda: function(*args)


def _power(product: Callable[..., Any], x: Any, result: Any) -> Any:
    for _ in range(100):
        result = product(x, result)
    return result


def _while(tf: Any) -> Callable[..., Any]:
    def run(x: Any) -> Any:
        i = tf.constant(0)
        while i < 1000:
            x = x * 0.99 + 0.1
            i += 1
        return x

    return run


def _nested(tf: Any) -> Callable[..., Any]:
    def run(x: Any) -> Any:
        for _ in tf.range(100):
            for _ in tf.range(10):
                x = x * 0.5 if tf.reduce_sum(x) > 3.0 else x + 1.0
        return x

    return run


def _large(tanh: Callable[..., Any]) -> Callable[..., Any]:
    def run(x: Any) -> Any:
        for _ in range(500):
            x = tanh(x * float(next(_numbers)) + x) - 0.5
        return x

    return run


def _large_tensorflow(tf: Any, traced: Any, first: bool) -> Timed:
    spec, x = tf.TensorSpec([100, 100], tf.float32), tf.ones([100, 100])

    def trace() -> Any:
        function = traced(tf.autograph.experimental.do_not_convert(_large(tf.tanh)))
        return function(x) if first else function.get_concrete_function(spec)

    return trace


def _adam_tensorflow(tf: Any, traced: Any) -> Callable[..., Any]:
    weights, biases, x, labels = arrays()
    x, labels = tf.constant(x), tf.constant(labels)

    def make(once: bool = True) -> Any:
        variables = [tf.Variable(a) for a in (*weights, *biases)]
        means, squares = (
            [tf.Variable(np.zeros_like(a)) for a in (*weights, *biases)] for _ in range(2)
        )
        rate = 1e-3 + 1e-9 * next(_numbers)

        def step(x: Any, labels: Any) -> Any:
            with tf.GradientTape() as tape:
                hidden = tf.nn.relu(tf.matmul(x, variables[0]) + variables[2])
                logits = tf.matmul(hidden, variables[1]) + variables[3]
                loss = tf.reduce_mean(
                    tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                )
            gradients = tape.gradient(loss, variables)
            for v, m, s, g in zip(variables, means, squares, gradients):  # noqa: B905
                m.assign(0.9 * m + 0.1 * g)
                s.assign(0.999 * s + 0.001 * g * g)
                v.assign_sub(rate * m / (tf.sqrt(s) + 1e-7))
            return loss

        run = traced(step)
        return run(x, labels) if once else (lambda: run(x, labels))

    return make


# -- JAX's words -----------------------------------------------------------------------------


def jax(case: str) -> Timed | None:
    """The case in JAX's words."""
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    one = jnp.ones((2, 2))
    functions: dict[str, tuple[Any, Sequence[Any]]] = {
        "whole_add": (lambda a, b: a + b, [one, one]),
        "whole_ten": (lambda *xs: sum(xs[1:], xs[0]), [one] * 10),
        "whole_dict": (
            lambda d: sum(d.values(), 0.0),
            [{f"key_{i}": jnp.ones((2, 2)) for i in range(20)}],
        ),
        "whole_while": (
            lambda x: jax.lax.fori_loop(0, 1000, lambda i, x: x * 0.99 + 0.1, x),
            [jnp.ones(5)],
        ),
        "whole_nested": (_nested_jax(jax), [jnp.ones(5)]),
        "whole_power": (
            lambda x: _power(jnp.matmul, x, jnp.eye(10, dtype=jnp.int32)),
            [jnp.asarray(np.random.default_rng(0).integers(-1, 2, (10, 10)), jnp.int32)],
        ),
    }
    if case in functions:
        function, args = functions[case]
        run = jax.jit(function)
        return lambda: run(*args).block_until_ready()
    if case == "whole_tiny":
        return lambda: jax.jit(lambda x: x * float(next(_numbers)) + 1.0)(one)
    if case.startswith("whole_2000"):
        x = jnp.ones((100, 100))
        if case.endswith("first"):
            return lambda: jax.jit(_large(jnp.tanh))(x).block_until_ready()
        return lambda: jax.make_jaxpr(_large(jnp.tanh))(x)
    return _adam_jax(jax, jnp, case.endswith("first"))


def _nested_jax(jax: Any) -> Callable[..., Any]:
    def inner(i: Any, x: Any) -> Any:
        return jax.lax.cond(x.sum() > 3.0, lambda x: x * 0.5, lambda x: x + 1.0, x)

    return lambda x: jax.lax.fori_loop(0, 100, lambda i, x: jax.lax.fori_loop(0, 10, inner, x), x)


def _adam_jax(jax: Any, jnp: Any, first: bool) -> Timed:
    weights, biases, x, labels = arrays()
    x, labels = jnp.asarray(x), jnp.asarray(labels)
    parameters = [jnp.asarray(a) for a in (*weights, *biases)]
    state = (
        parameters,
        [jnp.zeros_like(a) for a in parameters],
        [jnp.zeros_like(a) for a in parameters],
    )

    def loss(v: Any, x: Any, labels: Any) -> Any:
        logits = jax.nn.relu(x @ v[0] + v[2]) @ v[1] + v[3]
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
        return -chosen.mean()

    def make() -> Any:
        rate = 1e-3 + 1e-9 * next(_numbers)

        def step(state: Any, x: Any, labels: Any) -> Any:
            v, m, s = state
            value, g = jax.value_and_grad(loss)(v, x, labels)
            m = [0.9 * a + 0.1 * b for a, b in zip(m, g)]  # noqa: B905
            s = [0.999 * a + 0.001 * b * b for a, b in zip(s, g)]  # noqa: B905
            v = [a - rate * b / (jnp.sqrt(c) + 1e-7) for a, b, c in zip(v, m, s)]  # noqa: B905
            return (v, m, s), value

        return jax.jit(step)

    if first:
        return lambda: make()(state, x, labels)[1].block_until_ready()
    run, present = make(), [state]

    def once() -> Any:
        present[0], value = run(present[0], x, labels)
        return value.block_until_ready()

    return once
