"""Passes that change the order of sums: each call of a trace gives the same bits all the same."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.optimize.pipeline import optimize, reassociates

STEPS, ROWS, INPUTS, UNITS = 20, 16, 32, 48


def _weights(dtype):
    rng = np.random.default_rng(0)
    inputs = tf.constant(rng.normal(size=(STEPS, ROWS, INPUTS)).astype(dtype))
    kernel = tf.constant(rng.normal(size=(INPUTS, UNITS)).astype(dtype) / 6)
    recurrent = tf.constant(rng.normal(size=(UNITS, UNITS)).astype(dtype) / 7)
    return inputs, kernel, recurrent


def recurrence(inputs, kernel, recurrent):
    state = tf.zeros([ROWS, UNITS], inputs.dtype)
    for i in tf.range(STEPS):
        state = tf.tanh(inputs[i] @ kernel + state @ recurrent)
    return tf.reduce_sum(state * state)


def with_gradients(inputs, kernel, recurrent):
    with tf.GradientTape() as tape:
        tape.watch([inputs, kernel, recurrent])
        loss = recurrence(inputs, kernel, recurrent)
    return loss, *tape.gradient(loss, [inputs, kernel, recurrent])


def mapped(inputs, kernel, recurrent):
    return tf.map_fn(lambda rows: rows @ kernel @ recurrent, inputs)


@pytest.mark.parametrize("function", [recurrence, with_gradients, mapped])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("jit_compile", [None, False])
def test_every_call_gives_the_same_bits(function, dtype, jit_compile):
    traced = tf.function(function, jit_compile=jit_compile)
    calls = [tf.nest.flatten(traced(*_weights(dtype))) for _ in range(4)]
    for later in calls[1:]:
        for first, again in zip(calls[0], later, strict=True):
            np.testing.assert_array_equal(first, again)


def test_gradients_on_an_outer_tape_give_the_same_bits():
    traced = tf.function(recurrence)

    def gradients():
        inputs = _weights("float32")
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            loss = traced(*inputs)
        return tape.gradient(loss, inputs)

    first = gradients()
    for _ in range(3):
        for one, again in zip(first, gradients(), strict=True):
            np.testing.assert_array_equal(one, again)


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 2e-6), ("float64", 4e-15)])
def test_the_sums_are_those_of_eager_loops_but_for_rounding(dtype, bound):
    """`bound` is relative to the largest element of each result."""
    traced = tf.function(with_gradients)(*_weights(dtype))
    for got, want in zip(traced, with_gradients(*_weights(dtype)), strict=True):
        scale = np.abs(want).max()
        np.testing.assert_allclose(got, want, rtol=0, atol=bound * scale)


def test_only_loops_with_products_of_floats_are_optimised_before_their_first_run():
    inputs, kernel, recurrent = _weights("float32")
    assert reassociates(tf.function(recurrence).get_concrete_function(*_weights("float32")).frozen)
    product = tf.function(lambda: inputs[0] @ kernel @ recurrent)
    assert not reassociates(product.get_concrete_function().frozen)

    @tf.function
    def integers(n):
        total = tf.eye(3, dtype=tf.int32)
        for _ in tf.range(n):
            total = total @ total
        return total

    assert not reassociates(integers.get_concrete_function(tf.constant(2)).frozen)


def sums_of_products(x, d, rows, offset):
    """The sum of products of slices of both, of so many rows in each iteration."""
    total = tf.zeros([x.shape[1], d.shape[1]])
    bias = tf.zeros([d.shape[1]])
    for i in tf.range(5):
        left, right = x[offset(i) : rows(i)] * 2.0, d[offset(i) : rows(i)]
        right = right + 1.0
        total += tf.matmul(left, right, transpose_a=True)
        bias += tf.reduce_sum(right, 0)
    return total, bias


SLICES = {
    "growing": (lambda i: i, lambda i: 0),
    "shrinking": (lambda i: 6, lambda i: i),
    "moved": (lambda i: i + 2, lambda i: i),
    "whole": (lambda i: 6, lambda i: 0),
}


@pytest.mark.parametrize("name", sorted(SLICES))
@pytest.mark.parametrize("columns", [(3, 2), (0, 2), (3, 0)])
@pytest.mark.parametrize("options", [{}, {"jit_compile": True}])
@pytest.mark.parametrize("known", [True, False])
def test_iterations_may_multiply_as_many_rows_as_they_like(name, columns, options, known):
    def f(x, d):
        return sums_of_products(x, d, *SLICES[name])

    rng = np.random.default_rng(1)
    x, d = [tf.constant(rng.normal(size=(6, n)).astype(np.float32)) for n in columns]
    if not known:
        options = {**options, "input_signature": [tf.TensorSpec([None, n]) for n in columns]}
    traced = tf.function(f, **options)
    for _ in range(2):
        for got, want in zip(traced(x, d), f(x, d), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    for got, want in zip(traced(x[:0], d[:0]), f(x[:0], d[:0]), strict=True):
        np.testing.assert_array_equal(got, want)


def repeated(state, recurrent):
    for _ in tf.range(STEPS):
        state = tf.tanh(state @ recurrent)
    return tf.reduce_sum(state * state)


@pytest.mark.parametrize("function", [recurrence, repeated])
def test_batches_of_any_size_are_one_product_after_the_loop(function):
    def gradients(*weights):
        with tf.GradientTape() as tape:
            tape.watch(weights)
            loss = function(*weights)
        return tape.gradient(loss, weights)

    sizes = [[STEPS, None, INPUTS], [INPUTS, UNITS], [UNITS, UNITS]]
    if function is repeated:
        sizes = [[None, UNITS], [UNITS, UNITS]]
    if function is recurrence:
        sizes[0][1] = ROWS
    traced = tf.function(gradients, input_signature=[tf.TensorSpec(s) for s in sizes])
    loops = [n for n in optimize(traced.get_concrete_function().frozen).nodes if "body" in n.attrs]
    adding = [n for n in loops[-1].attrs["body"].nodes if n.attrs.get("transpose_a")]
    assert len(loops) == 2
    assert not adding
