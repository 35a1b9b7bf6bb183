"""Shapes that follow from sizes which a program computes. The shapes were asked of TensorFlow 2.21."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

SIZES = [3, 28, 28, 1]


def static_shape(function, *specs):
    shapes = []

    def traced(*args):
        shapes.append(function(*args).shape)
        return args[0]

    tf.function(traced).get_concrete_function(*specs)
    return shapes[0]


CASES = {
    "pad": (lambda x: tf.zeros(tf.pad([10], [[3, 1]], constant_values=1)), (1, 1, 1, 10, 1)),
    "pad of sizes": (
        lambda x: tf.zeros(tf.pad(tf.shape(x)[:2], [[1, 1]], constant_values=2)),
        (2, 3, 28, 2),
    ),
    "pad by rank": (
        lambda x: tf.tile(x[..., None, :], tf.pad([10], [[tf.rank(x) - 1, 1]], constant_values=1)),
        (3, 28, 28, 10, 1),
    ),
    "reverse": (lambda x: tf.zeros(tf.reverse(tf.shape(x), [0])), (1, 28, 28, 3)),
    "gather": (lambda x: tf.zeros(tf.gather(tf.shape(x), [2, 0])), (28, 3)),
    "where": (lambda x: tf.zeros(tf.where(tf.shape(x) > 5, tf.shape(x), 2)), (2, 28, 28, 2)),
    "scatter": (
        lambda x: tf.zeros(tf.tensor_scatter_nd_update(tf.shape(x), [[0]], [9])),
        (9, 28, 28, 1),
    ),
    "cumsum": (lambda x: tf.zeros(tf.cumsum(tf.shape(x))), (3, 31, 59, 60)),
    "tile": (lambda x: tf.zeros(tf.tile(tf.shape(x)[:1], [3])), (3, 3, 3)),
    "floats": (
        lambda x: tf.zeros(tf.cast(tf.cast(tf.shape(x), tf.float32) * 2.0, tf.int32)),
        (6, 56, 56, 2),
    ),
    "broadcast": (lambda x: tf.zeros(tf.broadcast_to(tf.shape(x)[0], [2])), (3, 3)),
    "one hot": (
        lambda x: tf.zeros(tf.one_hot(1, 3, on_value=tf.shape(x)[0], off_value=2)),
        (2, 3, 2),
    ),
    "argsort": (lambda x: tf.transpose(x, tf.argsort([2, 0, 1, 3])), (28, 28, 3, 1)),
    "product": (lambda x: tf.zeros(tf.linalg.matvec([[1, 1], [0, 1]], tf.shape(x)[:2])), (31, 28)),
    "int64": (
        lambda x: tf.zeros(tf.pad(tf.shape(x, tf.int64)[1:3], [[0, 1]], constant_values=4)),
        (28, 28, 4),
    ),
    "in a branch": (
        lambda x: tf.cond(
            tf.reduce_sum(x) > 0.0,
            lambda: tf.zeros(tf.cumsum(tf.shape(x)[1:3])),
            lambda: tf.ones(tf.cumsum(tf.shape(x)[1:3])),
        ),
        (28, 56),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_computed_sizes_are_static(name: str) -> None:
    function, expected = CASES[name]
    assert static_shape(function, tf.TensorSpec(SIZES)) == expected
    assert function(tf.zeros(SIZES)).shape == expected


def test_what_depends_on_arguments_variables_or_random_numbers_is_open() -> None:
    v = tf.Variable([2, 3])
    n = tf.TensorSpec([2], tf.int32)
    assert static_shape(lambda n: tf.zeros(tf.cumsum(n)), n) == [None, None]
    assert static_shape(lambda n: tf.zeros(tf.cumsum(v)), n) == [None, None]
    drawn = lambda n: tf.zeros(tf.random.uniform([2], 1, 4, tf.int32))  # noqa: E731
    assert static_shape(drawn, n) == [None, None]
    loop = lambda n: tf.while_loop(  # noqa: E731
        lambda i, x: i < 3,
        lambda i, x: (i + 1, tf.zeros(tf.cumsum([i, 1]))),
        [tf.constant(0), tf.zeros([0, 0])],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])],
    )[1]
    assert static_shape(loop, n) == [None, None]


def test_sizes_that_do_not_fit_are_errors_of_the_trace() -> None:
    f = tf.function(lambda x: tf.reshape(x, tf.cumsum([2, 3])))
    with pytest.raises(ValueError, match="reshape"):
        f.get_concrete_function(tf.TensorSpec([4]))


def test_an_op_that_fails_on_constants_fails_when_the_graph_runs() -> None:
    f = tf.function(lambda x: tf.zeros(tf.gather(tf.pad([2], [[0, 1]]), [5])) + x)
    concrete = f.get_concrete_function(tf.TensorSpec([]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="not in"):
        concrete(tf.constant(1.0))


STEPS = st.lists(
    st.sampled_from(
        [
            lambda s: tf.pad(s, [[1, 0]], constant_values=2),
            lambda s: tf.cumsum(s) % 5,
            lambda s: tf.tile(s, [2])[:4],
            lambda s: tf.where(s > 2, s, 1),
            lambda s: tf.sort(s),
            lambda s: tf.reverse(s, [0]),
            lambda s: tf.cast(tf.cast(s, tf.float32) * 0.5, tf.int32),
            lambda s: tf.tensor_scatter_nd_add(s, [[0]], [1]),
            lambda s: tf.concat([s, s[:1]], 0)[-4:],
            lambda s: tf.stack([tf.reduce_max(s), tf.reduce_min(s)]),
        ]
    ),
    max_size=5,
)


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=3), STEPS)
@settings(max_examples=60, deadline=None)
def test_static_shapes_are_those_of_the_run(dims, steps) -> None:
    def function(x):
        sizes = tf.shape(x)
        for step in steps:
            sizes = step(sizes)
        return tf.zeros(sizes)

    shape = [size for size, _ in dims]
    spec = tf.TensorSpec([size if known else None for size, known in dims])
    expected = function(tf.zeros(shape)).shape
    static = static_shape(function, spec)
    assert static.is_compatible_with(expected)
    if all(known for _, known in dims):
        assert static == expected
    np.testing.assert_array_equal(
        tf.function(function, input_signature=[spec])(tf.zeros(shape)).shape, expected
    )
