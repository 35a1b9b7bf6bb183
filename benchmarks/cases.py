"""What is measured: each case as the same work in every library's own words.

This file is loaded in every peer's environment, so it imports nothing but the standard library
and NumPy at the top. `make(peer, case)` gives a function to be timed, or None.
"""

from __future__ import annotations

import importlib
import itertools
import linecache
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import compiled, heavy, keras, whole

Timed = Callable[[], Any]

# case -> (what it is, peers, the largest ratio to the peer named first that is the goal)
CASES: dict[str, tuple[str, tuple[str, ...], float | None]] = {
    "eager_add": ("eager `a + b`, 2x2 float32", ("torch", "jax", "tensorflow"), 0.5),
    "named_add": ("eager `tf.add(a, b)`, 2x2 float32", ("tensorflow",), None),
    "named_add_ragged": ("the same in a program with ragged tensors", ("tensorflow",), None),
    "trace_300": ("tracing a function of 300 ops", ("tensorflow", "jax"), 0.2),
    "call_add": ("call of a traced `add`, 2x2 float32", ("tensorflow", "jax"), 0.05),
    "power": (
        "`power`: 100 matmuls of 10x10 int32, traced (9 run: repeated squaring)",
        ("tensorflow", "jax"),
        0.5,
    ),
    "power_eager": ("`power` eagerly", ("tensorflow", "torch"), None),
    "gradient": ("GradientTape through a traced 2-layer MLP, batch 32", ("tensorflow",), None),
    "dataset": ("`Dataset.range(20_000).map(lambda x: x * 2).batch(128)`", ("tensorflow",), 1.0),
    "autograph_200": (
        "conversion and trace of 200 lines with 30 control statements",
        ("tensorflow",),
        0.2,
    ),
    "while_1000": ("a traced `while` of 1000 steps on a 5-vector", ("tensorflow",), 1.5),
    "while_first": ("the same with its trace: the first call", ("tensorflow",), 0.5),
    **compiled.CASES,
    **whole.CASES,
    **heavy.CASES,
    **keras.CASES,
}


def make(peer: str, case: str) -> Timed | None:
    """The case in a peer's words, warmed up; None if the peer has no such thing."""
    build = {
        "intaglio": _tensorflow_like("intaglio.tf"),
        "eager": lambda case: compiled.eager(importlib.import_module("intaglio.tf"), case),
        "tensorflow": _tensorflow_like("tensorflow"),
        "xla": _tensorflow_like("tensorflow", xla=True),
        "torch": _torch,
        "jax": _jax,
    }[peer]
    timed = build(case)
    if timed is not None:
        timed()
    return timed


def _tensorflow_like(module: str, xla: bool = False) -> Callable[[str], Timed | None]:
    def build(case: str) -> Timed | None:
        tf: Any = importlib.import_module(module)
        if case in heavy.CASES:
            return heavy.tensorflow_like(tf, case, xla or None)
        if xla:
            return None
        if case in compiled.CASES:
            return compiled.tensorflow_like(tf, case)
        if case in whole.CASES:
            return whole.tensorflow_like(tf, case)
        if case in keras.CASES:
            return keras.tensorflow_like(tf, case)
        return _TENSORFLOW[case](tf)

    return build


def _eager_add(tf: Any) -> Timed:
    a, b = tf.ones([2, 2]), tf.ones([2, 2])
    return lambda: a + b


def _named_add(tf: Any, ragged: bool = False) -> Timed:
    if ragged:
        tf.ragged.constant([[1], []])
    a, b = tf.ones([2, 2]), tf.ones([2, 2])
    return lambda: tf.add(a, b)


def _trace_300(tf: Any) -> Timed:
    spec = tf.TensorSpec([2, 2], tf.float32)

    def trace() -> Any:
        def long(x: Any) -> Any:
            for _ in range(100):
                x = tf.tanh(x * 1.1 + x)
            return x

        return tf.function(long, autograph=False).get_concrete_function(spec)

    return trace


def _call_add(tf: Any) -> Timed:
    a, b = tf.ones([2, 2]), tf.ones([2, 2])
    add = tf.function(lambda x, y: x + y)
    return lambda: add(a, b)


def _power(tf: Any, traced: bool = True) -> Timed:
    x = tf.random.uniform(shape=[10, 10], minval=-1, maxval=2, dtype=tf.dtypes.int32)

    def power(x: Any, y: int) -> Any:
        result = tf.eye(10, dtype=tf.dtypes.int32)
        for _ in range(y):
            result = tf.matmul(x, result)
        return result

    run = tf.function(power) if traced else power
    return lambda: run(x, 100)


def _gradient(tf: Any) -> Timed:
    rng = np.random.default_rng(0)
    x = tf.constant(rng.normal(size=(32, 784)).astype("float32"))
    w1 = tf.Variable(rng.normal(size=(784, 128)).astype("float32") * 0.05)
    w2 = tf.Variable(rng.normal(size=(128, 10)).astype("float32") * 0.05)

    @tf.function
    def step(x: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.nn.relu(tf.matmul(x, w1)), w2)))
        return tape.gradient(loss, [w1, w2])

    return lambda: step(x)


def _dataset(tf: Any) -> Timed:
    batches = tf.data.Dataset.range(20_000).map(lambda x: x * 2).batch(128)
    return lambda: sum(1 for _ in batches)


# Ten of these are 200 lines with 30 control statements.
_PART = """
    a{k} = x * {k}.5
    b{k} = tf.abs(a{k}) + x
    i{k} = 0
    while i{k} < n:
        a{k} = a{k} * {scale} + b{k}
        b{k} = tf.sin(b{k})
        i{k} = i{k} + 1
    c{k} = tf.constant({scale})
    for j{k} in tf.range(n):
        d{k} = tf.cast(j{k}, tf.float32)
        c{k} = c{k} + d{k}
        if c{k} > 5.0:
            c{k} = c{k} - d{k}
            b{k} = b{k} + a{k}
        else:
            b{k} = tf.tanh(b{k})
    e{k} = a{k} * c{k} - b{k}
    total = total + tf.reduce_sum(e{k})
    total = total * tf.reduce_max(b{k})"""


def _autograph_200(tf: Any) -> Timed:
    specs = tf.TensorSpec([5], tf.float32), tf.TensorSpec([], tf.int32)
    number = itertools.count()

    def convert() -> Any:
        # A new function every time: nothing that was converted before is of use.
        n = next(number)
        name = f"<long function {n}>"
        parts = [_PART.format(k=k, scale=1.0 / (n + 2)) for k in range(10)]
        text = f"def long(x, n):\n    total = tf.constant(1.0){''.join(parts)}\n    return total\n"
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
        names = {"tf": tf}
        exec(compile(text, name, "exec"), names)
        long: Any = names["long"]
        return tf.function(long).get_concrete_function(*specs)

    return convert


def _while_1000(tf: Any, first: bool = False) -> Timed:
    def decay(x: Any, n: Any) -> Any:
        i = 0
        while i < n:
            x = x * 0.999 + 0.001
            i += 1
        return x

    x, n = tf.ones([5]), tf.constant(1000)
    if first:
        return lambda: tf.function(decay)(x, n)
    traced = tf.function(decay)
    return lambda: traced(x, n)


_TENSORFLOW: dict[str, Callable[[Any], Timed]] = {
    "eager_add": _eager_add,
    "named_add": _named_add,
    "named_add_ragged": lambda tf: _named_add(tf, ragged=True),
    "trace_300": _trace_300,
    "call_add": _call_add,
    "power": _power,
    "power_eager": lambda tf: _power(tf, traced=False),
    "gradient": _gradient,
    "dataset": _dataset,
    "autograph_200": _autograph_200,
    "while_1000": _while_1000,
    "while_first": lambda tf: _while_1000(tf, first=True),
}


def _torch(case: str) -> Timed | None:
    if case in heavy.CASES:
        return heavy.torch(case)
    if case in compiled.CASES:
        return compiled.torch(case)
    torch: Any = importlib.import_module("torch")
    if case == "eager_add":
        a, b = torch.ones(2, 2), torch.ones(2, 2)
        return lambda: a + b
    if case == "power_eager":
        x = torch.randint(-1, 2, (10, 10), dtype=torch.int32)

        def power() -> Any:
            result = torch.eye(10, dtype=torch.int32)
            for _ in range(100):
                result = torch.matmul(x, result)
            return result

        return power
    return None


def _jax(case: str) -> Timed | None:
    if case in heavy.CASES:
        return heavy.jax(case)
    if case in compiled.CASES:
        return compiled.jax(case)
    if case in whole.CASES:
        return whole.jax(case)
    jax: Any = importlib.import_module("jax")
    jnp: Any = importlib.import_module("jax.numpy")
    a, b = jnp.ones((2, 2)), jnp.ones((2, 2))
    if case == "eager_add":
        return lambda: a + b
    if case == "call_add":
        add = jax.jit(lambda x, y: x + y)
        return lambda: add(a, b).block_until_ready()
    if case == "trace_300":

        def trace() -> Any:
            def long(x: Any) -> Any:
                for _ in range(100):
                    x = jnp.tanh(x * 1.1 + x)
                return x

            return jax.make_jaxpr(long)(a)

        return trace
    if case == "power":
        x = jnp.asarray(np.random.default_rng(0).integers(-1, 2, (10, 10)), jnp.int32)

        def chain(x: Any) -> Any:
            result = jnp.eye(10, dtype=jnp.int32)
            for _ in range(100):
                result = x @ result
            return result

        power = jax.jit(chain)
        return lambda: power(x).block_until_ready()
    return None
