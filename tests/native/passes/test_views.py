"""Slices that loops read where they are, against the ops one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setenv("INTAGLIO_VERIFY", "1")


@st.composite
def slices(draw, shape, size):
    """Slices of some axes to `size`, with begins and steps, as Python writes them."""
    found = []
    for length, wanted in zip(shape, size, strict=True):
        most = (length - 1) // max(wanted - 1, 1)
        step = draw(st.integers(1, max(most, 1))) if draw(st.booleans()) else 1
        begin = draw(st.integers(0, length - 1 - step * (wanted - 1)))
        found.append(slice(begin, begin + step * (wanted - 1) + 1, step))
    return tuple(found)


@settings(deadline=None, max_examples=80)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.data())
def test_sums_of_slices(size, data):
    shape = [n + data.draw(st.integers(0, 9)) for n in size]
    dtype = data.draw(st.sampled_from(["float32", "float64", "int32", "bool"]))
    parts = [data.draw(slices(shape, size)) for _ in range(3)]
    row = data.draw(slices(shape[-1:], size[-1:]))
    random = np.random.default_rng(1)
    x = tf.cast(
        random.integers(0, 2, shape) if dtype == "bool" else random.integers(-9, 9, shape), dtype
    )
    y = tf.cast(random.integers(0, 2, shape[-1:]), dtype)

    def step(x, y):
        a, b, c = (x[part] for part in parts)
        if dtype == "bool":
            return tf.math.logical_xor(a, b) | c, a & y[row]
        return a * 2 + b - c, tf.maximum(a, c), c * y[row]

    for mine, theirs in zip(tf.function(step, jit_compile=True)(x, y), step(x, y), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))


def test_steps_of_a_stencil():
    def step(u, v):
        for _ in tf.range(5):
            inner = u[1:-1, 1:-1]
            around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4.0 * inner
            u = tf.pad(inner + 0.1 * around, [[1, 1], [1, 1]])
            v = v + u[::2, :10]
        return u, v, u[1:, 1:] * u[:-1, 1:]

    u, v = tf.random.stateless_normal([40, 30], [1, 2]), tf.zeros([20, 10])
    wanted = tf.autograph.to_graph(step)(u, v)
    for mine, theirs in zip(tf.function(step, jit_compile=True)(u, v), wanted, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def test_slices_of_a_variable_are_read_before_it_is_written():
    v = tf.Variable(tf.random.stateless_normal([30, 20], [1, 2]))
    before = v.numpy()

    @tf.function(jit_compile=True)
    def step():
        moved = v[1:, :] - v[:-1, :]
        v.assign(tf.pad(v[1:-1, 1:-1] * 2.0, [[1, 1], [1, 1]]))
        v.assign_add(v * 1.0)
        return moved, v[2:, 3:] + v[:-2, :-3]

    moved, sums = step()
    after = np.pad(before[1:-1, 1:-1] * 4, 1)
    np.testing.assert_allclose(moved, before[1:] - before[:-1], rtol=1e-6)
    np.testing.assert_allclose(v, after, rtol=1e-6)
    np.testing.assert_allclose(sums, after[2:, 3:] + after[:-2, :-3], rtol=1e-6)


def test_a_slice_that_is_overwritten_by_its_own_result():
    """The loop reads elements that it has not written: it never writes to what it reads apart."""
    v = tf.Variable(tf.range(400.0))

    @tf.function(jit_compile=True)
    def step():
        square = tf.reshape(v, [20, 20])
        shifted = square[1:, 1:] + square[:-1, :-1]
        v.assign(tf.reshape(tf.pad(shifted, [[0, 1], [1, 0]]), [400]))

    wanted = v.numpy().reshape(20, 20)
    wanted = np.pad(wanted[1:, 1:] + wanted[:-1, :-1], [[0, 1], [1, 0]]).reshape(400)
    step()
    np.testing.assert_array_equal(v, wanted)


def test_no_copy_is_left():
    @tf.function(jit_compile=True)
    def step(u):
        return u[:-2, 1:-1] + u[2:, 1:-1] - u[1:-1, :-2] * u[1:-1, 2:]

    step(tf.ones([40, 30]))
    assert "copy" not in step.compile_report()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=3), st.data())
def test_reductions_of_slices(size, data):
    shape = [n + data.draw(st.integers(0, 9)) for n in size]
    parts = [data.draw(slices(shape, size)) for _ in range(3)]
    row = data.draw(slices(shape[-1:], size[-1:]))
    axes = data.draw(st.sets(st.integers(0, len(size) - 1), min_size=1))
    reduce = data.draw(st.sampled_from([tf.reduce_sum, tf.reduce_max, tf.reduce_min]))
    random = np.random.default_rng(2)
    x, y = (tf.cast(random.integers(-9, 9, d), tf.float32) for d in (shape, shape[-1:]))

    def step(x, y):
        a, b, c = (x[part] for part in parts)
        far = a[..., tf.newaxis] - b[..., tf.newaxis, :]  # slices that are broadcast
        return (
            reduce((a - b) * 2 + c, sorted(axes)),
            reduce(tf.square(a) + b * y[row], 0),
            reduce(tf.abs(far), -1) + a,
        )

    for mine, theirs in zip(tf.function(step, jit_compile=True)(x, y), step(x, y), strict=True):
        np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))


def test_a_reduction_of_a_stencil_copies_no_slice():
    x = tf.random.stateless_normal([30, 40], [1, 2])

    def roughness(x):
        return tf.reduce_sum(tf.square(x[1:-1, 1:-1] * 2.0 - x[1:-1, :-2] - x[1:-1, 2:]))

    compiled = tf.function(roughness, jit_compile=True)
    np.testing.assert_allclose(compiled(x), roughness(x), rtol=1e-5)
    report = compiled.compile_report()
    assert "3 _View" in report and "StridedSlice: copy" not in report
