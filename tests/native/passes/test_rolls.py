"""Rolls that loops read from one copy with a border, against the ops one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setenv("INTAGLIO_VERIFY", "1")


def assert_same_in_every_mode(step, *inputs):
    expected = step(*inputs)
    plain, native = tf.function(step), tf.function(step, jit_compile=True)
    for call in (plain, plain, native):
        for mine, theirs in zip(call(*inputs), expected, strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(theirs))
    return native


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 24), min_size=1, max_size=3), st.data())
def test_sums_of_rolls(shape, data):
    dtype = data.draw(st.sampled_from(["float32", "float64", "int32", "int64", "uint8", "bool"]))
    axes = st.integers(-len(shape), len(shape) - 1)
    moves = st.lists(st.tuples(st.integers(-5, 5), axes), min_size=1, max_size=3)
    rolls = [data.draw(moves) for _ in range(data.draw(st.integers(2, 4)))]
    x = tf.cast(np.random.default_rng(1).integers(0, 2 if dtype == "bool" else 9, shape), dtype)

    def step(x):
        parts = [tf.roll(x, [s for s, _ in m], [a for _, a in m]) for m in rolls]
        if dtype == "bool":
            return parts[0] & parts[1] ^ parts[-1], x | parts[0]
        return parts[0] * parts[1] + parts[-1], x - parts[0]

    assert_same_in_every_mode(step, x)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("count", [1, 3])
def test_parts_in_the_other_order_are_rolls(axis, count):
    """As fluxes between the cells of a ring are written."""

    def ends(x):
        if axis:
            return x[:, -count:], x[:, :-count], x[:, count:], x[:, :count]
        return x[-count:], x[:-count], x[count:], x[:count]

    def step(x):
        for _ in tf.range(3):
            last, most, rest, first = ends(x)
            left, right = tf.concat([last, most], axis), tf.concat([rest, first], axis)
            x = x + 2 * (left - x) - (right - x) * left
        return (x,)

    x = tf.constant(np.random.default_rng(0).integers(0, 9, (40, 37)), tf.int64)
    assert_same_in_every_mode(step, x)


def test_a_torus_in_a_loop_copies_once():
    def step(u, v):
        for _ in tf.range(4):
            near = tf.roll(u, 1, 0) + tf.roll(u, -1, 0) + tf.roll(u, 1, 1) + tf.roll(u, -1, 1)
            u, v = v + near - 4.0 * u, u
        return u, v

    rng = np.random.default_rng(0)
    u, v = (tf.constant(rng.integers(0, 9, (30, 50)), tf.float32) for _ in range(2))
    report = assert_same_in_every_mode(step, u, v).compile_report()
    assert report.count("_Wrap:") == 1 and "Roll:" not in report


def test_rolls_that_are_results_or_far_stay():
    def step(x):
        far, result = tf.roll(x, 15, 0), tf.roll(x, 1, 1)
        return far + x, result, result * x

    x = tf.constant(np.random.default_rng(0).integers(0, 9, (30, 50)), tf.float32)
    report = assert_same_in_every_mode(step, x).compile_report()
    assert "_Wrap" not in report
