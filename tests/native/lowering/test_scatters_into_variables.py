"""Rows of variables changed in place by native code, against the interpreter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize

ROWS = ["add", "sub", "mul", "div", "min", "max", "update"]
DTYPES = ["float32", "float64", "int32", "int64", "float16", "bfloat16"]


@pytest.fixture(autouse=True)
def no_fallback(monkeypatch):
    monkeypatch.setenv("INTAGLIO_VERIFY", "1")


def both(program, *initial, arguments=()):
    """Results and variables after two calls, eagerly and as machine code."""
    found = []
    for jit in (False, True):
        variables = [tf.Variable(x) for x in initial]

        def call(*args, variables=variables):
            return program(*variables, *args)

        run = tf.function(call, jit_compile=True) if jit else call
        results = [run(*arguments) for _ in range(2)]
        found.append([np.asarray(a) for a in tf.nest.flatten((results, variables))])
    for theirs, mine in zip(*found, strict=True):
        assert theirs.dtype == mine.dtype and theirs.shape == mine.shape
        np.testing.assert_allclose(
            theirs.astype(np.float64), mine.astype(np.float64), rtol=1e-6, atol=1e-6
        )


@settings(deadline=None, max_examples=60)
@given(
    st.tuples(st.sampled_from(ROWS), st.sampled_from(DTYPES)).filter(
        lambda pair: pair[0] != "div" or not pair[1].startswith("int")
    ),
    st.integers(1, 30),
    st.lists(st.integers(1, 20), max_size=2),
    st.integers(1, 12),
    st.sampled_from(["int32", "int64"]),
    st.integers(0, 1000),
)
def test_rows_of_indices(update, length, rest, count, index, seed):
    how, dtype = update
    random = np.random.default_rng(seed)
    table = tf.cast(random.integers(1, 9, (length, *rest)), dtype)
    at = tf.constant(random.integers(0, length, count), index)
    updates = tf.cast(random.integers(1, 5, (count, *rest)), dtype)

    def program(v, at, updates):
        before = v[0] + 0
        getattr(v, f"scatter_{how}")(tf.IndexedSlices(updates, at))
        return before, tf.gather(v, at)

    both(program, table, arguments=(at, updates))


@settings(deadline=None, max_examples=40)
@given(
    st.sampled_from(["add", "sub", "min", "max", "update"]),
    st.lists(st.integers(1, 6), min_size=1, max_size=3),
    st.data(),
)
def test_slices_of_coordinates(how, shape, data):
    depth = data.draw(st.integers(1, len(shape)))
    lead = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=2))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    at = np.stack([random.integers(0, n, lead) for n in shape[:depth]], -1)
    updates = random.integers(-3, 4, (*lead, *shape[depth:])).astype(np.float32)

    def program(v, at, updates):
        if how in ("min", "max"):
            op = (
                tf.raw_ops.ResourceScatterNdMin if how == "min" else tf.raw_ops.ResourceScatterNdMax
            )
            op(ref=v.handle, indices=at, updates=updates)
        else:
            getattr(v, f"scatter_nd_{how}")(at, updates)
        return v.read_value() * 2.0

    table = random.integers(-3, 4, shape).astype(np.float32)
    both(program, table, arguments=(tf.constant(at), tf.constant(updates)))


def adagrad(table, sums, at, factor):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, at) ** 2)
    slope = tape.gradient(loss, table)
    sums.scatter_add(tf.IndexedSlices(slope.values**2, slope.indices))
    scale = factor * tf.math.rsqrt(tf.gather(sums, slope.indices))
    table.scatter_sub(tf.IndexedSlices(scale * slope.values, slope.indices))
    return loss


@pytest.mark.parametrize("shape", [(7,), (3, 4)])
def test_a_step_of_sparse_adagrad(shape):
    random = np.random.default_rng(3)
    table = random.standard_normal((40, 20)).astype(np.float32)
    at = tf.constant(random.integers(0, 40, shape))
    both(adagrad, table, np.ones_like(table), arguments=(at, tf.constant(0.1)))


def negatives(into, out, centre, context, others):
    """Indices that are joined before the second table is written."""
    with tf.GradientTape() as tape:
        c, o = tf.gather(into, centre), tf.gather(out, context)
        loss = tf.reduce_sum(c * o) + tf.reduce_sum(c[:, None] * tf.gather(out, others))
    for v, slope in zip((into, out), tape.gradient(loss, (into, out)), strict=True):
        v.scatter_sub(tf.IndexedSlices(0.5 * slope.values, slope.indices))
    return loss


@pytest.mark.parametrize(
    ("program", "shapes"), [(adagrad, [(5,), ()]), (negatives, [(5,), (5,), (5, 3)])]
)
def test_tables_are_written_in_place(program, shapes):
    """No index is refused after a table has been written."""
    random = np.random.default_rng(4)
    variables = [tf.Variable(np.ones((40, 20), np.float32)) for _ in range(2)]
    arguments = [tf.constant(random.integers(0, 40, s)) if s else tf.constant(0.1) for s in shapes]
    traced = tf.function(lambda *args: program(*variables, *args)).get_concrete_function(*arguments)
    assert Program(optimize(traced.frozen)).writer.in_place


@pytest.mark.parametrize("wrong", [0, 1])
def test_an_index_outside_changes_nothing(wrong):
    first, second = (tf.Variable(tf.ones([30, 4])) for _ in range(2))

    @tf.function(jit_compile=True)
    def step(one, other, updates):
        first.scatter_add(tf.IndexedSlices(updates, one))
        total = tf.reduce_sum(first)
        second.scatter_sub(tf.IndexedSlices(updates * total, other))
        return total

    at, updates = tf.constant([1, 2, 2]), tf.ones([3, 4])
    assert float(step(at, at, updates)) == 132.0
    bad = tf.constant([1, 30, 2])
    before = second.numpy()
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"30 is not in \[0, 30\)"):
        step(*((bad, at) if wrong == 0 else (at, bad)), updates)
    # The interpreter, which raises the error, has done what comes before it.
    assert float(tf.reduce_sum(first)) == (132.0 if wrong == 0 else 144.0)
    np.testing.assert_array_equal(second, before)


def test_scatters_in_loops_and_branches():
    def program(v, at, updates):
        for i in tf.range(4):
            if i % 2 == 0:
                v.scatter_add(tf.IndexedSlices(updates, (at + i) % 30))
            else:
                v.scatter_nd_sub(at[:, None], updates * v[3])
        return v.read_value()

    at, updates = tf.constant([1, 2, 2]), tf.ones([3, 4])
    both(tf.autograph.to_graph(program), np.ones((30, 4), np.float32), arguments=(at, updates))


def test_what_was_read_before_a_scatter_stays():
    def program(v, at):
        old, rows = tf.reshape(v, [10, 12]), v[2:20]
        v.scatter_update(tf.IndexedSlices(v[5:8] * 2.0, at))
        v.scatter_nd_add(at[:, None], tf.reshape(v, [30, 4])[3:6])
        return old, rows, v[0]

    both(
        program,
        np.arange(120, dtype=np.float32).reshape(30, 4),
        arguments=(tf.constant([6, 7, 8]),),
    )


@pytest.mark.parametrize("rows", [40, 4000])
def test_memory_of_a_variable_that_others_have_is_not_written(rows):
    v = tf.Variable(tf.ones([rows, 50]))

    @tf.function(jit_compile=True)
    def step(at, updates):
        v.scatter_add(tf.IndexedSlices(updates, at))

    at, updates = tf.constant([1, 2]), tf.ones([2, 50])
    step(at, updates)
    tensor, part = v.read_value(), v.read_value().numpy()[1:3]
    step(at, updates)
    whole = v.numpy()
    step(at, updates)
    step(at, updates)
    np.testing.assert_array_equal(tensor[1], np.full(50, 2.0))
    np.testing.assert_array_equal(part, np.full((2, 50), 2.0))
    np.testing.assert_array_equal(whole[2], np.full(50, 3.0))
    np.testing.assert_array_equal(v[1], np.full(50, 5.0))


def test_a_large_variable_stays_where_it_is():
    v = tf.Variable(tf.ones([4000, 50]))

    @tf.function(jit_compile=True)
    def step(at, updates):
        v.scatter_add(tf.IndexedSlices(updates, at))
        v.assign(v * 1.0)

    def address():
        return v.handle._array._value.ctypes.data

    step(tf.constant([1, 2]), tf.ones([2, 50]))
    before = address()
    for _ in range(3):
        step(tf.constant([1, 2]), tf.ones([2, 50]))
    assert address() == before
