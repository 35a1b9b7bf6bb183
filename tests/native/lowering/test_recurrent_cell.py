"""Products in loops with what becomes of them: what belongs to a cell, and that its bits are those of its ops."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import recurrent_cell
from intaglio.native.program import Program
from intaglio.optimize.pipeline import optimize
from tests.native.lowering.test_recurrences import FUNCTIONS, given, gradient, same


def program(function, args):
    """The function's graph as one program."""
    concrete = tf.function(function, jit_compile=False).get_concrete_function(*args)
    return Program(optimize(concrete.frozen))


def cells_of(made):
    """The ops of each cell, in their order."""
    return [
        [
            n.op.name
            for n in note.node.attrs["body"].nodes
            if n.op.name not in ("Placeholder", "Const")
        ]
        for note in made.writer.notes
        if note.node.op.name == "_FusedCell"
    ]


def compare(monkeypatch, function, args, count=None):
    """The cells of a function, whose results are those without cells, bit for bit."""
    monkeypatch.setattr(recurrent_cell, "WORTH", 1 << 60)
    plain = program(function, args)
    assert not cells_of(plain)
    monkeypatch.setattr(recurrent_cell, "WORTH", 0)
    made = program(function, args)
    found = cells_of(made)
    assert found if count is None else len(found) == count
    arrays = [a.numpy() for a in args]
    wanted = plain.run(*arrays)
    same(wanted, function(*args))
    for _ in range(2):  # the second time in memory that has been used
        for x, y in zip(made.run(*arrays), wanted, strict=True):
            np.testing.assert_array_equal(x, y)
    return found


SIZES = [(1, 1), (3, 6), (4, 16), (6, 24), (7, 40), (12, 64), (13, 33), (32, 100)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["lstm", "gru", "simple", "scan", "until"])
def test_recurrences_of_all_sizes(monkeypatch, name, sizes):
    batch, units = sizes
    function, gates = FUNCTIONS[name]
    args = [a * units**-0.5 for a in given(gates, batch=batch, units=units)]
    ops = compare(monkeypatch, function, args)[-1]
    assert ops[0] == "MatMul" and "Tanh" in ops
    if name == "lstm" and batch > 1:
        assert "Split" in ops and ops.count("Sigmoid") == 3 and ops.count("Tanh") == 2


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("name", ["lstm", "gru", "simple"])
def test_their_gradients(monkeypatch, name, sizes):
    batch, units = sizes
    function, gates = FUNCTIONS[name]
    args = [a * units**-0.5 for a in given(gates, batch=batch, units=units)]
    found = compare(monkeypatch, gradient(function), args)
    assert len(found) > 1  # those of the gradients too


def looped(iteration, units, gates):
    """Seven iterations of a state, its product by weights, and others of the same sizes."""
    rng = np.random.default_rng(3)

    def run(x, w, rows, row):
        for _ in tf.range(7):
            x = iteration(x, tf.matmul(x, w), rows, row)
        return x

    shapes = (6, units), (units, gates * units), (6, gates * units), (gates * units,)
    return run, [tf.constant((rng.normal(size=s) * 0.3).astype("f")) for s in shapes]


def slices(x, p, rows, row):
    p = p + rows * row
    return tf.tanh(p[:, 20:] - x) * tf.sigmoid(p[:, :20]) + rows[:, :20]


def many(x, p, rows, row):
    parts = tf.split(tf.nn.relu(p + row), 5, 1)
    return tf.add_n(parts) * 0.1


def unequal(x, p, rows, row):
    a, b = tf.split(p, [8, 32], 1)
    return tf.tanh(tf.concat([a, b[:, :12]], 1))


def wholes(x, p, rows, row):
    p = tf.tanh(p * 0.5 + row) + rows
    a, b = tf.split(p, 2, 1)
    return a * b + tf.reduce_mean(p, 1, keepdims=True)


def numbers(x, p, rows, row):
    a, b = tf.split(p * row[0] + rows[0], 2, 1)
    return tf.where(a > 0.25, b, 0.5 * a)


def beside(x, p, rows, row):
    a, b = tf.split(p, 2, 1)
    c = tf.cumsum(a, 1)  # what is no part of the cell, and goes back into the iteration
    return tf.tanh(b + c) - tf.sigmoid(a)


@pytest.mark.parametrize(
    ("iteration", "gates", "ops"),
    [
        (slices, 2, {"AddV2", "StridedSlice", "Tanh", "Sigmoid", "Sub", "Mul"}),
        (many, 5, {"AddV2", "Relu"}),
        (unequal, 2, set()),
        (wholes, 2, {"Mul", "AddV2", "Tanh", "Split"}),
        (numbers, 2, {"Mul", "AddV2", "Split"}),
        (beside, 2, {"Split", "Sigmoid"}),
    ],
)
def test_what_belongs_to_a_cell(monkeypatch, iteration, gates, ops):
    run, args = looped(iteration, 20, gates)
    (found,) = compare(monkeypatch, run, args, 1)
    assert {*found} >= {"MatMul", *ops}
    assert not {*found} & {"Cumsum", "Mean", "Sum", "ConcatV2"}


def test_cells_that_need_each_other(monkeypatch):
    def run(x, y, w):
        for _ in tf.range(6):
            a, b = tf.split(tf.matmul(x, w), 2, 1)
            c, d = tf.split(tf.matmul(y, w), 2, 1)
            x = tf.tanh(a + c)
            y = tf.tanh(tf.cumsum(b, 1) + d) * tf.sigmoid(tf.reverse(x, [1]))
        return x + y

    rng = np.random.default_rng(4)
    shapes = (6, 20), (6, 20), (20, 40)
    args = [tf.constant((rng.normal(size=s) * 0.3).astype("f")) for s in shapes]
    compare(monkeypatch, run, args, 2)


def test_weights_that_change_are_not_packed(monkeypatch):
    def run(x, w):
        for _ in tf.range(6):
            x = tf.tanh(tf.matmul(x, w))
            w = w * 0.9
        return x

    compare(monkeypatch, run, [tf.ones([6, 16]), tf.eye(16)], 0)


def test_few_iterations_pack_nothing(monkeypatch):
    def run(x, w):
        for _ in tf.range(3):
            x = tf.tanh(tf.matmul(x, w))
        return x

    compare(monkeypatch, run, [tf.ones([6, 16]), tf.eye(16)], 0)
