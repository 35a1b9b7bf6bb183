"""Whole functions: `vectorized_map` = a stack of the function's rows, with its gradients."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from intaglio import tf

X = np.linspace(-1.5, 2.0, 12, dtype=np.float64).reshape(4, 3)


def branches(row):
    return tf.cond(row[0] > 0.0, lambda: tf.sqrt(row), lambda: tf.exp(row) * row[1])


def nested_branches(row):
    return tf.switch_case(
        tf.cast(tf.abs(row[0]) * 2.0, tf.int32),
        [lambda: row, lambda: row * 2.0, lambda: tf.reduce_sum(row) * row],
    )


def loop_of_own_length(row):
    return tf.while_loop(
        lambda i, v: i < tf.abs(row[0]) * 3.0,
        lambda i, v: (i + 1.0, v * 1.1 + row),
        (tf.constant(0.0, tf.float64), row),
    )[1]


def loop_for_all(row):
    return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, tf.sin(v) + row), (0, row))[1]


def scanned(row):
    return tf.scan(lambda a, b: a * b + 1.0, row)


def mapped(row):
    return tf.map_fn(lambda v: v * row, row)


def listed(row):
    array = tf.TensorArray(tf.float64, size=3)
    for i in range(3):
        array = array.write(i, row * float(i))
    return array.stack()


def called(row):
    return tf.function(lambda r: tf.nn.softmax(r) * r)(row)


def gradient_inside(row):
    with tf.GradientTape() as tape:
        tape.watch(row)
        y = tf.reduce_sum(tf.tanh(row) ** 3)
    return tape.gradient(y, row)


def mapped_twice(row):
    return tf.vectorized_map(lambda v: v * row, row)


def matrices(row):
    m = tf.tensordot(row, row, 0) + tf.eye(3, dtype=tf.float64) * 3.0
    return tf.linalg.solve(m, row[:, None])[:, 0] + tf.linalg.cholesky(m)[0]


def places(row):
    order = tf.argsort(row, direction="DESCENDING")
    return tf.gather(row, order) + row[order[0]] + tf.reverse(row, [0])


def shapes(row):
    wide = tf.reshape(tf.tile(row, [2]), [2, -1])
    return tf.concat([tf.transpose(wide), tf.ones([3, 1], tf.float64)], -1)


PROGRAMS = [
    branches,
    nested_branches,
    loop_of_own_length,
    loop_for_all,
    scanned,
    mapped,
    listed,
    called,
    gradient_inside,
    mapped_twice,
    matrices,
    places,
    shapes,
]


def one_by_one(program: Any, x: Any) -> Any:
    return tf.stack([program(row) for row in tf.unstack(x)])


def value_and_gradient(run: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = run(x)
        loss = tf.reduce_sum(y * tf.cos(y))
    return y.numpy(), tf.convert_to_tensor(tape.gradient(loss, x)).numpy()


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("how", ["eager", "traced", "open"])
def test_all_rows_equal_each_row(program, how, caplog):
    x = tf.constant(X)

    def together(x: Any) -> Any:
        return tf.vectorized_map(program, x)

    signature = [tf.TensorSpec([None, 3], tf.float64)] if how == "open" else None
    run = together if how == "eager" else tf.function(together, signature)
    with caplog.at_level(logging.WARNING, "tensorflow"):
        got, gradient = value_and_gradient(run, x)
    assert "while_loop" not in caplog.text
    wanted, wanted_gradient = value_and_gradient(lambda x: one_by_one(program, x), x)
    np.testing.assert_allclose(got, wanted, rtol=1e-12)
    np.testing.assert_allclose(gradient, wanted_gradient, rtol=1e-10, atol=1e-12)


def test_rows_meet_no_gradient_of_the_branch_they_do_not_take():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda v: tf.cond(v > 0.0, lambda: tf.sqrt(v), lambda: v), x)
    assert tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() == [1.0, 0.25]


def test_an_op_without_a_rule_goes_row_by_row_with_a_warning(caplog):
    x = tf.constant([[1, 1], [2, 2]])
    with caplog.at_level(logging.WARNING, "tensorflow"):
        y = tf.vectorized_map(lambda r: tf.unique(r)[0] + 1, x)
    assert y.numpy().tolist() == [[2], [3]]
    assert (
        "Using a while_loop for converting Unique cause there is no registered converter"
        in caplog.text
    )
    caplog.clear()
    tf.vectorized_map(lambda r: tf.unique(r)[0], x, warn=False)
    assert not caplog.text
    with pytest.raises(ValueError, match="No pfor vectorization defined for Unique"):
        tf.vectorized_map(lambda r: tf.unique(r)[0], x, fallback_to_while_loop=False)


def test_random_numbers_differ_from_row_to_row():
    x = tf.zeros([50, 2])
    drawn = tf.vectorized_map(lambda r: tf.random.normal([3]) + r[0], x).numpy()
    assert len(np.unique(drawn)) == 150
    alike = tf.vectorized_map(lambda r: tf.random.stateless_normal([3], [1, 2]) + r[0], x).numpy()
    assert (alike == alike[0]).all()


def test_structures_and_single_rows():
    found = tf.vectorized_map(
        lambda e: {"a": e[0] * e[1], "b": None, "c": 1.0},
        (tf.ones([3, 2]), tf.constant([[5.0, 6.0]])),
    )
    assert found["a"].numpy().tolist() == [[5.0, 6.0]] * 3
    assert found["b"] is None
    assert found["c"].numpy().tolist() == [1.0] * 3
    assert tf.vectorized_map(lambda r: r, tf.ones([0, 3])).shape == (0, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="number of rows"):
        tf.vectorized_map(lambda e: e[0] + e[1], (tf.ones([3, 2]), tf.ones([2, 2])))


def test_per_example_gradients_of_a_variable():
    v = tf.Variable([[1.0], [2.0]])

    def one(row):
        with tf.GradientTape() as tape:
            loss = tf.nn.l2_loss(row[None] @ v - 1.0)
        return tape.gradient(loss, v)

    x = tf.constant([[1.0, 2.0], [3.0, -1.0]])
    found = tf.vectorized_map(one, x, fallback_to_while_loop=False)
    wanted = np.stack([one(r).numpy() for r in x])
    np.testing.assert_allclose(found.numpy(), wanted)
    with tf.GradientTape() as tape:
        y = tf.vectorized_map(lambda r: r * v[0], x)
    assert tape.gradient(y, v).numpy().tolist() == [[7.0 - 2.0 + 0.0], [0.0]]


@pytest.mark.parametrize("pfor", [True, False])
def test_jacobians_together_or_row_by_row(pfor):
    x = tf.constant(X)

    @tf.function
    def both(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.tanh(x @ tf.constant(X[:3])) * x
        return (
            tape.jacobian(y, x, experimental_use_pfor=pfor),
            tape.batch_jacobian(y, x, experimental_use_pfor=pfor),
        )

    whole, batch = both(x)
    assert whole.shape == (4, 3, 4, 3)
    for i in range(4):
        np.testing.assert_allclose(whole[i, :, i].numpy(), batch[i].numpy(), rtol=1e-12)


def test_no_rows_at_all():
    filters = tf.ones([2, 2, 3, 5])

    def one(image):
        wide = tf.nn.relu(tf.nn.conv2d(image[None], filters, 1, "VALID"))[0]
        return wide[0] @ tf.ones([5, 7])

    assert tf.vectorized_map(one, tf.ones([0, 4, 4, 3])).shape == (0, 3, 7)
    assert tf.vectorized_map(one, tf.ones([2, 4, 4, 3])).shape == (2, 3, 7)
