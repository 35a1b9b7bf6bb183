"""TensorArrays as loop variables, and loops over rows: values and gradients, all orders."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from intaglio import tf
from intaglio.autograph.strictness import strict

from .checklist import item
from .differences import check, gradient

F = tf.float64
X = np.random.RandomState(0).rand(4, 3)


def written(x: Any) -> Any:
    ta = tf.TensorArray(F, 4)
    state = tf.zeros([3], F)
    for i in tf.range(4):
        state = state * x[i] + x[i] * x[i]
        ta = ta.write(i, state)
    return tf.reduce_sum(ta.stack() ** 3)


def grown(x: Any) -> Any:
    ta = tf.TensorArray(F, 0, dynamic_size=True)
    for i in tf.range(4):
        ta = ta.write(i, x[i] ** 2)
    return tf.reduce_sum(ta.concat() ** 3)


def read_twice(x: Any) -> Any:
    ta = tf.TensorArray(F, 4, clear_after_read=False).unstack(x)
    state = tf.zeros([3], F)
    for i in tf.range(4):
        state = state + ta.read(i) ** 3 * ta.read((i + 1) % 4)
    return tf.reduce_sum(state)


def gathered_twice(x: Any) -> Any:
    ta = tf.TensorArray(F, 4, clear_after_read=False).unstack(x * x)
    return tf.reduce_sum(ta.gather([1, 3, 1]) ** 3)


def scattered_over(x: Any) -> Any:
    ta = tf.TensorArray(F, 6, element_shape=[3]).scatter([1, 3, 0, 5], x * x)
    ta = ta.scatter([3, 2], x[:2] * 3.0)
    return tf.reduce_sum(ta.stack() ** 3)


def split(x: Any) -> Any:
    ta = tf.TensorArray(F, 3, infer_shape=False, clear_after_read=False)
    ta = ta.split(x * x, [1, 2, 1])
    return tf.reduce_sum(ta.read(1) ** 3) + tf.reduce_sum(ta.concat() ** 2)


def overwritten(x: Any) -> Any:
    ta = tf.TensorArray(F, 4, element_shape=[3])
    for i in tf.range(4):
        ta = ta.write(i // 2, x[i] ** 3)
    return tf.reduce_sum(ta.stack() ** 2)


def over_rows(x: Any) -> Any:
    state = tf.zeros([3], F)
    for row in x:
        state = state * row + row**3
    return tf.reduce_sum(state)


def over_some_rows(x: Any) -> Any:
    state = tf.zeros([3], F)
    for row in x:
        if row[0] > 0.95:
            continue
        state = state * row + row**3
        if tf.reduce_sum(state) > 2.0:
            break
    return tf.reduce_sum(state)


def in_a_branch(x: Any) -> Any:
    ta = tf.TensorArray(F, 2, element_shape=[3])
    if tf.reduce_sum(x) > 0.0:
        ta = ta.write(0, x[0] ** 2)
    else:
        ta = ta.write(1, x[1])
    return tf.reduce_sum(ta.stack() ** 3)


def nested(x: Any) -> Any:
    outer = tf.TensorArray(F, 4)
    for i in tf.range(4):
        inner = tf.TensorArray(F, 3)
        for j in tf.range(3):
            inner = inner.write(j, x[i, j] ** 2)
        outer = outer.write(i, tf.reduce_sum(inner.stack() ** 2))
    return tf.reduce_sum(outer.stack())


PROGRAMS = [
    written,
    grown,
    read_twice,
    gathered_twice,
    scattered_over,
    split,
    overwritten,
    over_rows,
    over_some_rows,
    in_a_branch,
    nested,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
@pytest.mark.parametrize("staged", [False, True], ids=["eager", "graph"])
def test_gradients_are_differences(program: Any, staged: bool) -> None:
    check(tf.function(program) if staged else program, program, X)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_gradients_inside_functions(program: Any) -> None:
    inside = tf.function(lambda x: gradient(program, x))
    outside = gradient(program, tf.constant(X))
    np.testing.assert_allclose(inside(tf.constant(X)), outside)


# -- as loop variables -------------------------------------------------------------------


def test_shapes_are_known_after_the_loop() -> None:
    shapes: list[Any] = []

    @tf.function
    def f(n: Any) -> Any:
        fixed, open_ended = tf.TensorArray(F, 3), tf.TensorArray(F, n)
        for i in tf.range(3):
            fixed = fixed.write(i, [1.0, 2.0])
            open_ended = open_ended.write(i, [1.0, 2.0])
        shapes.extend([fixed.stack().shape, open_ended.stack().shape])
        return fixed.stack()

    assert f(tf.constant(3)).shape == (3, 2)
    assert [s.as_list() for s in shapes] == [[3, 2], [None, 2]]


def test_arrays_inside_structures_are_loop_variables() -> None:
    @tf.function
    def f(n: Any) -> Any:
        arrays = [tf.TensorArray(F, 2), {"a": tf.TensorArray(F, 0, dynamic_size=True)}]
        for i in tf.range(n):
            arrays[0] = arrays[0].write(i, 1.0)
            arrays[1]["a"] = arrays[1]["a"].write(i, 2.0)
        return arrays[0].stack(), arrays[1]["a"].stack()

    one, two = f(tf.constant(2))
    assert one.numpy().tolist() == [1, 1] and two.numpy().tolist() == [2, 2]


def test_an_array_first_made_in_the_body() -> None:
    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            ta = tf.TensorArray(F, 2)
            ta = ta.write(0, tf.cast(i, F))
        return ta.stack()

    assert f(tf.constant(3)).numpy().tolist() == [2, 0]


def test_another_array_has_a_size_of_its_own() -> None:
    @tf.function
    def f(n: Any) -> Any:
        ta = tf.TensorArray(F, 2)
        for _ in tf.range(n):
            ta = tf.TensorArray(F, 5)
        return ta.size()

    assert int(f(tf.constant(1))) == 5
    assert int(f(tf.constant(0))) == 2


def test_what_changes_its_type_is_refused() -> None:
    def other_dtype(n: Any) -> Any:
        ta = tf.TensorArray(F, 2)
        for _ in tf.range(n):
            ta = tf.TensorArray(tf.int32, 2)
        return ta.stack()

    def other_branch(n: Any) -> Any:
        ta = tf.TensorArray(F, 2)
        ta = ta.write(0, 1.0) if n > 0 else tf.TensorArray(tf.int32, 2)
        return ta.stack()

    def no_array(n: Any) -> Any:
        ta = tf.TensorArray(F, 2)
        for i in tf.range(n):
            ta = i
        return ta

    for function in (other_dtype, other_branch, no_array):
        with pytest.raises(TypeError):
            tf.function(function)(tf.constant(2))


@item("silently wrong: unassigned write")
def test_an_assignment_that_is_forgotten_is_an_error() -> None:
    def f(n: Any) -> Any:
        ta = tf.TensorArray(F, 2, element_shape=[])
        for i in tf.range(n):
            ta.write(i, 1.0)
        return ta.stack()

    text = "the result of `ta.write(i, 1.0)` is not used"
    with pytest.raises(ValueError, match=re.escape(text)) as caught:
        tf.function(f)(tf.constant(2))
    assert "Write `ta = ta.write(i, 1.0)`." in str(caught.value)
    with strict():  # as TensorFlow answered when it was asked
        assert tf.function(f)(tf.constant(2)).numpy().tolist() == [0, 0]


@pytest.mark.parametrize(
    "invariants", [None, (tf.TensorShape([]), tf.TensorShape(None)), ((), tf.TensorArraySpec(None))]
)
def test_while_loops_written_out(invariants: Any) -> None:
    def loop() -> Any:
        return tf.while_loop(
            lambda i, ta: i < 3,
            lambda i, ta: (i + 1, ta.write(i, 2.0)),
            (0, tf.TensorArray(F, 3)),
            shape_invariants=invariants,
        )[1].stack()

    assert tf.function(loop)().numpy().tolist() == [2, 2, 2]
    if invariants is None:
        assert loop().numpy().tolist() == [2, 2, 2]


def test_branches_return_arrays() -> None:
    @tf.function
    def f(which: Any) -> Any:
        return tf.cond(
            which,
            lambda: tf.TensorArray(F, 2).write(0, 1.0),
            lambda: tf.TensorArray(F, 2).write(1, 2.0),
        ).stack()

    assert f(tf.constant(True)).numpy().tolist() == [1, 0]
    assert f(tf.constant(False)).numpy().tolist() == [0, 2]


@pytest.mark.parametrize("rows", [np.zeros((0, 2)), np.ones((3, 2)), np.arange(3)])
def test_loops_over_rows_of_unknown_number(rows: Any) -> None:
    @tf.function(input_signature=[tf.TensorSpec(None, F)])
    def unknown_rank(x: Any) -> Any:
        total, count = tf.constant(0.0, F), 0
        for row in x:
            total += tf.reduce_sum(row)
            count += 1
        return total, count

    total, count = unknown_rank(tf.constant(rows, F))
    assert float(total) == rows.sum() and int(count) == len(rows)


def test_loops_over_strings_and_integers() -> None:
    @tf.function
    def joined(words: Any) -> Any:
        text = tf.constant("")
        for word in words:
            text = text + word
        return text

    assert joined(tf.constant(["a", "b", "c"])).numpy() == b"abc"


def test_the_gradient_of_rows_is_computed_row_by_row() -> None:
    """No op of the backward loop touches the whole tensor in every iteration."""
    backward = tf.function(lambda x: gradient(over_rows, x))
    graph = backward.get_concrete_function(tf.TensorSpec([None, 3], F)).graph
    loops = [o for o in graph.get_operations() if o.type.endswith("While")]
    assert len(loops) == 2
    kinds = {n.op.name for loop in loops for n in loop.attrs["body"].nodes}
    assert "TensorListPopBack" in kinds and "TensorListPushBack" in kinds
    assert not any("Scatter" in k or "Segment" in k or "Gather" in k for k in kinds)
