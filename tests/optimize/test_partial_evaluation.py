"""Partial evaluation: what shapes determine is carried out, and results stay what they were."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.ir import walk
from intaglio.optimize.partial_evaluation import MAX_ITERATIONS, evaluated
from intaglio.runtime import interpreter


def graphs_of(f: Any, *arrays: Any) -> tuple[Any, Any]:
    """The traced graph for open dimensions, and what is left of it for these arrays."""
    specs = [tf.TensorSpec([None] * np.ndim(a), a.dtype) for a in arrays]
    graph = tf.function(f).get_concrete_function(*specs).frozen
    return graph, evaluated(graph, [np.shape(a) for a in arrays])


def ops_of(graph: Any) -> set[str]:
    """The names of all ops, those of nested graphs included."""
    return {n.op.name for g in (*walk.nested(graph), graph) for n in g.nodes}


def same(f: Any, *arrays: Any) -> Any:
    """Asserts that both graphs give the same; gives the new one."""
    arrays = tuple([np.asarray(a) for a in arrays])
    graph, new = graphs_of(f, *arrays)
    for found, expected in zip(
        interpreter.compiled(new)(*arrays), interpreter.compiled(graph)(*arrays), strict=True
    ):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    return new


X = np.arange(6, dtype=np.float32).reshape(2, 3) - 2


def growing(x: Any) -> Any:
    """Rows of unlike lengths, joined."""
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, infer_shape=False)
    for i in tf.range(4):
        rows = rows.write(i, tf.tile(x[0], [i + 1]))
    return rows.concat()


def unset(x: Any) -> Any:
    rows = tf.TensorArray(tf.float32, 4).write(2, x[0])
    return rows.stack(), rows.gather([1, 2]), rows.read(3)


def lengthened(x: Any) -> Any:
    """A loop variable that is longer in each iteration."""
    i = tf.constant(0)
    while i < 3:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
        x = tf.concat([x, x[:1]], 0)
        i += 1
    return x


def gradient(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.scan(lambda s, row: s * 0.5 + tf.sin(row), x)
        z = tf.reduce_sum(y * y)
    return tape.gradient(z, x)


def chosen(x: Any) -> Any:
    return tf.cond(tf.size(x) > 3, lambda: x[0], lambda: tf.zeros([7]))


@pytest.mark.parametrize("f", [growing, unset, gradient, chosen])
def test_what_shapes_determine(f: Any) -> None:
    left = ops_of(same(f, X))
    assert not [n for n in left if n.endswith(("While", "If")) or "TensorList" in n], left


def test_loop_variables_may_grow() -> None:
    assert "StatelessWhile" not in ops_of(same(lengthened, X[0]))


def unknown_times(x: Any, n: Any) -> Any:
    """What is left has a loop that carries an element of a list, and one that carries lists."""
    rows = tf.TensorArray(tf.float32, 2).write(0, x[0]).write(1, x[1])
    for _ in tf.range(n):
        rows = rows.write(1, rows.read(1) * 2.0 + rows.read(0))
    many = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for i in tf.range(n):
        many = many.write(i, x[0] * tf.cast(i, tf.float32))
    return rows.stack(), many.stack()


@pytest.mark.parametrize("n", [1, 5])
def test_loops_that_stay(n: int) -> None:
    assert "StatelessWhile" in ops_of(same(unknown_times, X, np.int32(n)))


def branches(x: Any, test: Any) -> Any:
    """Lists cross into branches and out of them as their elements."""
    rows = tf.TensorArray(tf.float32, 2, clear_after_read=False).write(0, x[0])
    if test:
        rows, empty = rows.write(1, -rows.read(0)), x[:0]
    else:
        rows, empty = rows.write(1, rows.read(0)[::-1]), x[2:]
    return rows.stack(), empty


@pytest.mark.parametrize("test", [False, True])
def test_branches_that_stay(test: bool) -> None:
    left = ops_of(same(branches, X, np.bool_(test)))
    assert "StatelessIf" in left
    assert not [n for n in left if "TensorList" in n], left


def test_long_loops_stay() -> None:
    def f(x: Any) -> Any:
        for _ in tf.range(MAX_ITERATIONS + 1):
            x = tf.sin(x) + x
        return x

    assert "StatelessWhile" in ops_of(same(f, X))


def test_tensors_without_elements_are_constants() -> None:
    def f(x: Any) -> Any:
        return tf.linalg.matvec(x, tf.zeros([3])), tf.reduce_max(tf.abs(x)), tf.concat([x, x], 0)

    left = ops_of(same(f, X[:0]))
    assert left <= {"Placeholder", "Const"}


def test_errors_are_left_to_the_run() -> None:
    def f(x: Any) -> Any:
        rows = tf.TensorArray(tf.float32, 2).write(0, x[0])
        return rows.read(2)

    graph, new = graphs_of(f, X)
    for run in (interpreter.compiled(graph), interpreter.compiled(new)):
        with pytest.raises(tf.errors.OpError, match="element 2 in a list with 2"):
            run(X)


def test_random_numbers_are_not_unrolled() -> None:
    """Each iteration draws from the stream of one node."""

    def f(x: Any) -> Any:
        for _ in tf.range(3):
            x += tf.random.uniform([3])
        return x

    _, new = graphs_of(f, X)
    assert "While" in ops_of(new)
