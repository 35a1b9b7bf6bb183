"""Slices at indices that are data, and their gradients, against the ops one by one."""

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
def indices(draw, shape):
    """An entry for each axis: an index that is data or known, a range, all; `...` and new axes between."""
    entries = []
    for n in shape:
        kind = draw(st.sampled_from(["data", "data", "known", "range", "all"]))
        if kind in ("data", "known"):
            entries.append((kind, draw(st.integers(-n, n - 1))))
        elif kind == "range":
            begin = draw(st.integers(0, n - 1))
            stop = draw(st.one_of(st.none(), st.integers(begin + 1, n)))
            entries.append((kind, slice(begin, stop, draw(st.integers(1, 3)))))
        else:
            entries.append((kind, slice(None)))
    while entries and entries[-1][0] == "all" and draw(st.booleans()):
        entries.pop()
    if draw(st.booleans()):
        entries.insert(draw(st.integers(0, len(entries))), ("new", None))
    elif len(entries) == len(shape) and draw(st.booleans()):
        at = draw(st.integers(0, len(shape)))
        stop = at
        while stop < len(shape) and entries[stop][0] == "all":
            stop += 1
        entries[at:stop] = [("dots", Ellipsis)]
    return entries


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.data())
def test_any_index_and_its_gradient(shape, data):
    entries = data.draw(indices(shape))
    x = tf.constant(np.random.default_rng(0).normal(size=shape).astype("float32"))
    given_indices = tf.constant([i for kind, i in entries if kind == "data"] or [0], tf.int32)

    def step(x, at):
        count, index = 0, []
        for kind, entry in entries:
            index.append(at[count] if kind == "data" else entry)
            count += kind == "data"
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x[tuple(index)]
            loss = tf.reduce_sum(y * y) + tf.reduce_sum(x)
        return y, tape.gradient(loss, x)

    expected = step(x, given_indices)
    for how in (None, True):
        found = tf.function(step, jit_compile=how)(x, given_indices)
        for mine, right in zip(found, expected, strict=True):
            assert mine.shape == right.shape
            np.testing.assert_array_equal(np.asarray(mine), np.asarray(right))


@pytest.mark.parametrize(
    "take",
    [
        lambda x, i: x[i, :],
        lambda x, i: x[..., i],
        lambda x, i: x[:, i],
        lambda x, i: x[i, 1:-1],
        lambda x, i: x[i, i, :] if x.shape.rank > 2 else x[i, i],
        lambda x, i: x[2:-2, i, ::2] if x.shape.rank > 2 else x[2:-2, i],
    ],
)
@pytest.mark.parametrize("shape", [(20, 20), (20, 24, 20)])
def test_in_a_loop_they_are_machine_code(take, shape):
    def step(x):
        total = tf.zeros_like(take(x, 0))
        for i in tf.range(20):
            total += take(x, i)
        return total

    x = tf.constant(np.random.default_rng(0).normal(size=shape).astype("float32"))
    f = tf.function(step, jit_compile=True)
    np.testing.assert_array_equal(f(x), step(x))
    assert "NumPy" not in f.compile_report()


@pytest.mark.parametrize("index", [20, -21])
def test_out_of_bounds_raises(index):
    f = tf.function(lambda x, i: x[1:, i, :], jit_compile=True)
    x = tf.zeros([20, 20, 20])
    assert f(x, tf.constant(19)).shape == (19, 20)
    with pytest.raises(tf.errors.InvalidArgumentError, match="of dimension 1 out of bounds"):
        f(x, tf.constant(index))


def test_shortest_paths():
    """Floyd and Warshall's: rows and columns of what the loop carries."""

    def paths(d):
        for k in tf.range(30):
            d = tf.minimum(d, d[:, k][:, None] + d[k, :][None, :])
        return d

    d = tf.constant(np.random.default_rng(0).uniform(1, 50, (30, 30)).astype("float32"))
    f = tf.function(paths, jit_compile=True)
    np.testing.assert_array_equal(f(d), paths(d))
    assert "NumPy" not in f.compile_report()
