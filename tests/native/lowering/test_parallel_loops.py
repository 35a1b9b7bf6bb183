"""Loops whose rows are independent: which they are, and that nothing depends on how they are divided."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.passes import row_blocks
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize
from tests.native.lowering.test_recurrences import FUNCTIONS, given, gradient, same


def program(monkeypatch, function, args, threads=2, worth=0):
    """The function's graph as one program, for so many threads."""
    monkeypatch.setattr(row_blocks, "thread_count", lambda: threads)
    monkeypatch.setattr(row_blocks, "MIN_PARALLEL_MULTIPLICATIONS", worth)
    concrete = tf.function(function, jit_compile=False).get_concrete_function(*args)
    return Program(optimize(concrete.frozen))


def divided(made):
    """How often loops run side by side."""
    return [n.how for n in made.writer.notes if "side by side" in n.how]


def arrays(args):
    return [a.numpy() for a in args]


@pytest.mark.parametrize("order", [0, 1])
@pytest.mark.parametrize("name", ["lstm", "gru", "simple", "scan", "fold"])
def test_recurrences_have_the_same_bits_on_any_number_of_threads(monkeypatch, name, order):
    function, gates = FUNCTIONS[name]
    args = given(gates, batch=12, units=16)
    if order:
        function = gradient(function)
    alone = program(monkeypatch, function, args, threads=1)
    assert not divided(alone)
    wanted = alone.run(*arrays(args))
    same(wanted, function(*args))
    for threads in (2, 3):
        made = program(monkeypatch, function, args, threads)
        assert len(divided(made)) == 1 + order
        for _ in range(2):  # the second time in memory that has been used
            for x, y in zip(made.run(*arrays(args)), wanted, strict=True):
                np.testing.assert_array_equal(x, y)


def test_a_batch_of_prime_size_stays_whole(monkeypatch):
    function, gates = FUNCTIONS["lstm"]
    args = given(gates, batch=11, units=16)
    assert not divided(program(monkeypatch, function, args))


def test_more_threads_than_rows_are_for(monkeypatch):
    function, gates = FUNCTIONS["lstm"]
    args = given(gates, batch=12, units=16)
    alone = program(monkeypatch, function, args, threads=1)
    made = program(monkeypatch, function, args, threads=16)
    assert divided(made) == ["jump, 3 times 4 rows side by side"]
    for x, y in zip(made.run(*arrays(args)), alone.run(*arrays(args)), strict=True):
        np.testing.assert_array_equal(x, y)


def test_small_products_are_not_worth_it(monkeypatch):
    function, gates = FUNCTIONS["lstm"]
    args = given(gates, batch=12)
    assert not divided(program(monkeypatch, function, args, worth=1 << 20))


def looped(iteration):
    """A loop of seven iterations on a state."""

    def run(x, w):
        for _ in tf.range(7):
            x = iteration(x, tf.tanh(tf.matmul(x, w)))
        return x

    return run


DEPENDENT = {
    "the mean of a column": lambda x, h: h - tf.reduce_mean(h, 0),
    "the sum of everything": lambda x, h: h / tf.reduce_sum(h * h),
    "rows in another order": lambda x, h: h[::-1],
    "another row": lambda x, h: tf.concat([h[1:], h[:1]], 0),
    "one row for all": lambda x, h: h - h[0],
    "a product of rows": lambda x, h: tf.matmul(tf.matmul(h, x, transpose_b=True), x),
    "the transposed": lambda x, h: 0.05 * tf.matmul(tf.transpose(h), h),
    "running sums": lambda x, h: tf.cumsum(0.1 * h, 0),
    "another number of rows": lambda x, h: tf.reshape(
        tf.nn.softmax(tf.reshape(h, [12, 48])), [24, 24]
    ),
}

INDEPENDENT = {
    "normalised": lambda x, h: h - tf.reduce_mean(h, -1, keepdims=True),
    "parts of rows": lambda x, h: tf.concat([h[:, 8:], x[:, :8]], 1),
    "parts by dots": lambda x, h: tf.concat([h[..., 8:], x[..., :8]], -1),
    "softmax": lambda x, h: tf.nn.softmax(h) * x,
    "a row that all share": lambda x, h: h * tf.range(24.0) * 0.1,
    "masked": lambda x, h: tf.where(x > 0.0, h, x),
    "in another shape": lambda x, h: tf.reshape(
        tf.reduce_sum(tf.reshape(h, [24, 2, 12]), 1, keepdims=True) * tf.reshape(x, [24, 2, 12]),
        [24, 24],
    ),
}


@pytest.mark.parametrize("name", [*DEPENDENT, *INDEPENDENT])
def test_rows_that_depend_on_each_other_stay_together(monkeypatch, name):
    run = looped({**DEPENDENT, **INDEPENDENT}[name])
    rng = np.random.default_rng(1)
    args = [tf.constant((rng.normal(size=(24, 24)) * 0.3).astype("f")) for _ in "xw"]
    alone = program(monkeypatch, run, args, threads=1)
    made = program(monkeypatch, run, args)
    assert bool(divided(made)) == (name in INDEPENDENT)
    (got,), (wanted,) = made.run(*arrays(args)), alone.run(*arrays(args))
    np.testing.assert_array_equal(got, wanted)
    same(got, run(*args))


def test_a_condition_of_all_rows_keeps_them_together(monkeypatch):
    def run(x, w):
        while tf.reduce_sum(x) < 100.0:
            x = tf.abs(tf.matmul(x, w)) + 1.0
        return x

    args = [tf.ones([12, 16]), tf.eye(16)]
    assert not divided(program(monkeypatch, run, args))


def test_a_condition_that_all_rows_share(monkeypatch):
    def run(x, w, n):
        i, last = 0, n
        while i * i < n:
            x = tf.matmul(x, w) + x
            last, i = i, i + 1
        return x, i, last

    args = [tf.ones([12, 16]), tf.eye(16), tf.constant(10)]
    made = program(monkeypatch, run, args)
    assert divided(made) == ["jump, 2 times 6 rows side by side"]
    for n in (10, 0, 1, 100):
        x, i, last = made.run(*arrays(args[:2]), np.asarray(n, np.int32))
        wanted = run(args[0], args[1], tf.constant(n))
        np.testing.assert_array_equal(x, wanted[0])
        assert (i, last) == (wanted[1], wanted[2])


def test_what_one_block_refuses_the_function_refuses(monkeypatch):
    def run(x, w, rows, start):
        for i in tf.range(5):
            x = tf.matmul(x, w) + rows[start + i]
        return x

    args = [tf.ones([12, 16]), tf.eye(16), tf.ones([6, 12, 16]), tf.constant(1)]
    made = program(monkeypatch, run, args)
    assert divided(made)
    np.testing.assert_array_equal(made.run(*arrays(args))[0], run(*args))
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        made.run(*arrays(args[:3]), np.asarray(2, np.int32))


def test_lists_of_rows_that_iterations_read_and_change(monkeypatch):
    def run(x, w):
        rows = tf.TensorArray(tf.float32, 4, clear_after_read=False).unstack(x)
        for i in tf.range(8):
            h = tf.matmul(rows.read((i + 1) % 4), w)
            rows = rows.write(i % 4, h + rows.read(i % 4))
        return rows.stack()

    rng = np.random.default_rng(2)
    args = [tf.constant(rng.normal(size=s).astype("f")) for s in ((4, 12, 16), (16, 16))]
    alone = program(monkeypatch, run, args, threads=1)
    made = program(monkeypatch, run, args)
    assert divided(made)
    wanted = alone.run(*arrays(args))[0]
    np.testing.assert_array_equal(made.run(*arrays(args))[0], wanted)
    same(wanted, run(*args))
