"""Slices whose bounds a loop counts have a known size where none of them leaves the tensor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.ir import walk
from intaglio.optimize.pipeline import optimize


def open_slices(function, *args):
    """How many slices of unknown size the optimised graph has."""
    graph = optimize(tf.function(function).get_concrete_function(*args).frozen)
    return sum(
        n.op.name == "StridedSlice" and None in (n.outputs[0].dims or (None,))
        for g in (graph, *walk.nested(graph))
        for n in g.nodes
    )


def check(function, *args):
    """The result is the same in all modes."""
    wanted = np.asarray(function(*args))
    for jit in (False, True):
        np.testing.assert_array_equal(tf.function(function, jit_compile=jit)(*args), wanted)


X = tf.constant(np.arange(60.0, dtype=np.float32).reshape(3, 20))


def windows(start, limit, step, offset, size, factor=1):
    """Sums of windows of the second axis: they may leave it, at either end."""

    def run(x):
        total = tf.zeros([3])
        for i in tf.range(start, limit, step):
            at = factor * i + offset
            total = 2.0 * total + tf.reduce_sum(x[:, at : at + size], 1)
        return total

    return run


@settings(deadline=None, max_examples=60)
@given(
    start=st.integers(-3, 12),
    count=st.integers(0, 6),
    step=st.sampled_from([-3, -1, 1, 2]),
    offset=st.integers(-6, 16),
    size=st.integers(-1, 6),
    factor=st.sampled_from([-1, 1, 2]),
)
def test_windows_have_the_elements_that_they_have_eagerly(start, count, step, offset, size, factor):
    limit = start + count * step
    function = windows(start, limit, step, offset, size, factor)
    check(function, X)
    begins = [factor * i + offset for i in range(start, limit, step)]
    if begins and size > 0:
        inside = min(begins) >= 0 and max(begins) + size <= 20
        assert open_slices(function, X) == (not inside)


def last_of_a_while(x):
    i, total = tf.constant(0), tf.zeros([3, 4])
    while i <= 16:
        total += x[:, i : i + 4]
        i += 3
    return total


def in_two_loops(x):
    total = tf.zeros([3])
    for i in tf.range(4):
        for j in tf.range(i, 10):
            total += tf.reduce_max(x[:, i + j : i + j + 3] * x[:, j - i + 3 : 6 + j - i], 1)
    return total


def limited(x):
    total = tf.zeros([3])
    for i in tf.range(30):
        at = tf.minimum(i, 15)
        low = tf.maximum(i - 12, 0) % 7
        total += tf.reduce_sum(x[:, at : at + 5] - x[:, low : low + 5], 1)
    return total


def with_other_entries(x):
    total = tf.zeros([2, 1, 3])
    for i in tf.range(10):
        total += x[::2, tf.newaxis, i + 4 : i + 7] - x[tf.newaxis, :2, i : i + 3][0][:, None]
        total += x[..., i : i + 3][tf.minimum(i, 2)] + x[i // 5, i : 3 + i]
    return total


def in_a_branch(x):
    total = tf.zeros([3, 2])
    for i in tf.range(19):
        if tf.reduce_sum(total) < 50.0:
            total += x[:, i : i + 2]
        else:
            total -= x[:, 18 - i : 20 - i]
    return total


def in_long_integers(x):
    total = tf.zeros([3, 2])
    for i in tf.range(tf.constant(3, tf.int64)):
        at = tf.cast(tf.cast(i, tf.int32) + 2, tf.int64)
        total += x[:, at : at + 2]
    return total


def with_shapes(x):
    total = tf.zeros([3, 4])
    for i in tf.range(5):
        part = x[:, i : i + 4]
        total += tf.ensure_shape(tf.reshape(part, tf.shape(part)), [3, 4])
    return total


@pytest.mark.parametrize(
    "function",
    [last_of_a_while, in_two_loops, limited, with_other_entries, in_a_branch, in_long_integers,
     with_shapes],
)  # fmt: skip
def test_forms_of_slices(function):
    check(function, X)
    if function is not with_other_entries:  # a quotient has no range
        assert open_slices(function, X) == 0


def test_a_batch_of_any_size():
    function = windows(0, 10, 1, 2, 3)
    spec = tf.TensorSpec([None, 20], tf.float32)
    graph = optimize(tf.function(last_of_a_while).get_concrete_function(spec).frozen)
    dims = [n.outputs[0].dims for g in walk.nested(graph) for n in g.nodes if n.op.name == "Slice"]
    assert dims == [(None, 4)]
    check(function, X)


def test_a_counter_that_wraps_around_is_anywhere():
    def run(x):
        i, total = tf.constant(0), tf.zeros([3])
        for _ in tf.range(3):
            total += tf.reduce_sum(x[:, i : i + 4], 1)
            i += 2**30 * 2 - 1
            i += 2**30 * 2 - 1
        return total

    def far(x):
        total = tf.zeros([3])
        i = tf.constant(5)
        while i < 2**31 - 1:
            total += tf.reduce_sum(x[:, i : i + 4], 1)
            i += 2**30
            if i < 0:
                break
        return total

    check(run, X)
    check(far, X)


def test_gradients_of_windows():
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = tf.reduce_sum(windows(0, 10, 2, 1, 4)(x) ** 2)
        return tape.gradient(loss, x)

    check(gradient, X)
