"""Chains of integer products: shorter when traced, and equal to the last bit with overflow."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies

from intaglio import tf
from intaglio.ir.prune import prune
from intaglio.optimize.powers import shorten_powers

INTEGERS = ("int32", "int64", "uint8", "uint16", "uint32", "uint64")
PRODUCTS = {
    "x @ a": lambda x, a: tf.matmul(x, a),
    "x' @ a": lambda x, a: tf.matmul(x, a, transpose_a=True),
    "a @ x": lambda x, a: tf.matmul(a, x),
    "a @ x'": lambda x, a: tf.matmul(a, x, transpose_b=True),
    "x * a": lambda x, a: x * a,
    "a * x": lambda x, a: a * x,
}


@given(
    strategies.lists(
        strategies.tuples(strategies.sampled_from(sorted(PRODUCTS)), strategies.integers(1, 20)),
        min_size=1,
        max_size=4,
    ),
    strategies.sampled_from(INTEGERS),
    strategies.sampled_from(((2, 2), (2, 3, 3))),
    strategies.integers(0, 2**32 - 1),
)
def test_traced_products_are_the_eager_ones(runs, dtype, dims, seed) -> None:
    bounds = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    x, a = (
        tf.constant(random.integers(bounds.min, bounds.max, dims, dtype, endpoint=True))
        for _ in range(2)
    )

    def program(x, a):
        for product, count in runs:
            for _ in range(count):
                a = PRODUCTS[product](x, a)
        return a

    with np.errstate(over="ignore"):
        expected = program(x, a)
        graph = tf.function(program, autograph=False)
        for _ in range(3):
            np.testing.assert_array_equal(graph(x, a), expected)


def test_a_hundred_products_become_nine() -> None:
    @tf.function(autograph=False)
    def power(x, a):
        for _ in range(100):
            a = tf.matmul(x, a)
        return a

    spec = tf.TensorSpec([10, 10], tf.int32)
    graph = power.get_concrete_function(spec, spec).frozen
    short = prune(shorten_powers(graph))
    assert [n.op.name for n in graph.nodes].count("MatMul") == 100
    assert [n.op.name for n in short.nodes].count("MatMul") == 9


def test_what_is_used_or_cannot_be_counted_stays() -> None:
    def products(x, a, count=8):
        for _ in range(count):
            a = tf.matmul(x, a)
        return a

    def middle(x, a):
        half = products(x, a, 2)
        return products(x, half, 2), half

    known, open_ = (tf.TensorSpec([n, 2], tf.int64) for n in (2, None))
    floats = tf.TensorSpec([2, 2], tf.float64)
    vector = tf.TensorSpec([2, 1], tf.int64)
    for function, specs in (
        (products, (floats, floats)),
        (products, (open_, known)),
        (lambda x, a: products(x, a, 3), (known, vector)),
        (middle, (known, known)),
    ):
        graph = tf.function(function, autograph=False).get_concrete_function(*specs)
        assert shorten_powers(graph.frozen) is graph.frozen
