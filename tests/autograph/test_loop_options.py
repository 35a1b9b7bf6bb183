"""`set_loop_options` with every option. TensorFlow was asked where no line says otherwise."""

from __future__ import annotations

import re
from typing import Any

import pytest

from intaglio import tf
from intaglio.autograph import loops

from .checklist import item

set_loop_options = tf.autograph.experimental.set_loop_options


def counted(n: Any) -> Any:
    turns = 0
    while turns < n:
        set_loop_options(maximum_iterations=2)
        turns += 1
    return turns


def counted_by_position(n: Any) -> Any:
    turns = 0
    for _ in tf.range(n):
        set_loop_options(4, True, 3)
        turns += 1
    return turns


def counted_by_a_tensor(n: Any) -> Any:
    turns = 0
    for _ in tf.range(n):
        set_loop_options(maximum_iterations=n - 3)
        turns += 1
    return turns


def counted_rows(n: Any) -> Any:
    turns = 0
    for row in tf.zeros([5, 2]):
        tf.autograph.experimental.set_loop_options(maximum_iterations=1)
        turns += tf.size(row)
    return turns


def counted_none(n: Any) -> Any:
    turns = 0
    while turns < n:
        set_loop_options(maximum_iterations=0)
        turns += 1
    return turns


def with_a_break(n: Any) -> Any:
    turns = 0
    while True and n > 0:
        set_loop_options(maximum_iterations=4)
        turns += 1
        if turns > n:
            break
    return turns


COUNTS = [
    (counted, 2),
    (counted_by_position, 3),
    (counted_by_a_tensor, 2),
    (counted_rows, 2),
    (counted_none, 0),
    (with_a_break, 4),
]


@pytest.mark.parametrize(("function", "turns"), COUNTS, ids=lambda f: getattr(f, "__name__", None))
def test_iterations_are_limited(function: Any, turns: int) -> None:
    assert int(tf.function(function)(tf.constant(5))) == turns


def test_iterations_over_datasets_are_limited_too() -> None:
    """TensorFlow does not look at the limit there, and takes all nine."""

    @tf.function
    def f() -> Any:
        turns = 0
        for _ in tf.data.Dataset.range(9):
            set_loop_options(maximum_iterations=3)
            turns += 1
        return turns

    assert int(f()) == 3


def test_options_in_a_dict() -> None:
    """TensorFlow does not convert such a function."""

    @tf.function
    def f(n: Any) -> Any:
        options = {"maximum_iterations": 2, "swap_memory": True}
        turns = 0
        while turns < n:
            set_loop_options(parallel_iterations=1, **options)
            turns += 1
        return turns

    assert int(f(tf.constant(5))) == 2


@pytest.mark.filterwarnings("ignore:.*while the staged:UserWarning")
def test_invariants_of_a_tensor() -> None:
    shapes = []

    @tf.function
    def f(n: Any) -> Any:
        x = tf.constant([0])
        for i in tf.range(n):
            set_loop_options(shape_invariants=[(x, tf.TensorShape([None]))])
            shapes.append(x.shape.as_list())
            x = tf.concat([x, [i]], 0)
        return x

    assert f(tf.constant(3)).numpy().tolist() == [0, 0, 1, 2]
    assert shapes[-1] == [None]


def test_invariants_of_structures() -> None:
    @tf.function
    def f(n: Any) -> Any:
        pair, table = (tf.constant([0]), tf.constant([1])), {"a": tf.zeros([1, 2])}
        for i in tf.range(n):
            pair = (tf.concat([pair[0], [i]], 0), tf.concat([pair[1], [i]], 0))
            table = {"a": tf.concat([table["a"], table["a"]], 0)}
        return pair, table

    @tf.function
    def declared(n: Any) -> Any:
        pair, table = (tf.constant([0]), tf.constant([1])), {"a": tf.zeros([1, 2])}
        for i in tf.range(n):
            set_loop_options(
                shape_invariants=[
                    (pair, (tf.TensorShape([None]), tf.TensorShape([None]))),
                    (table, {"a": tf.TensorShape([None, 2])}),
                ]
            )
            pair = (tf.concat([pair[0], [i]], 0), tf.concat([pair[1], [i]], 0))
            table = {"a": tf.concat([table["a"], table["a"]], 0)}
        return pair, table

    for function in (declared, f):  # what is not declared is found
        (a, b), table = function(tf.constant(2))
        assert a.numpy().tolist() == [0, 0, 1] and b.numpy().tolist() == [1, 0, 1]
        assert table["a"].shape == (4, 2)


def invariant_before(n: Any) -> Any:
    x = tf.constant([0])
    while n > 0:
        set_loop_options(shape_invariants=[(x, tf.TensorShape([2]))])
        n -= 1
        x = x + 1
    return x


def invariant_after(n: Any) -> Any:
    x = tf.constant([[0]])
    while n > 0:
        set_loop_options(shape_invariants=[(x, tf.TensorShape([None, 1]))])
        n -= 1
        x = tf.concat([x, x], 1)
    return x


def other_structure(n: Any) -> Any:
    pair = (tf.constant([0]), tf.constant([1]))
    while n > 0:
        set_loop_options(shape_invariants=[(pair, (tf.TensorShape([None]),))])
        n -= 1
        pair = (pair[1], pair[0])
    return pair


def unknown_option(n: Any) -> Any:
    while n > 0:
        set_loop_options(parallel=2)
        n -= 1
    return n


def no_number(n: Any) -> Any:
    while n > 0:
        set_loop_options(maximum_iterations="a")
        n -= 1
    return n


REFUSED = [
    (
        ValueError,
        "'x' has shape (1,) before the loop, which does not conform with the shape invariant (2,).",
        invariant_before,
    ),
    (
        ValueError,
        "'x' has shape (None, 2) after one iteration, which does not conform with the shape invariant (None, 1).",
        invariant_after,
    ),
    (ValueError, "The two structures don't have the same nested structure", other_structure),
    (TypeError, "got an unexpected keyword argument 'parallel'", unknown_option),
    (TypeError, "Expected int32, but got a of type 'str'.", no_number),
]


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[2].__name__)
def test_options_that_are_wrong(row: Any) -> None:
    kind, text, function = row
    with pytest.raises(kind, match=re.escape(text)):
        tf.function(function)(tf.constant(2))


def test_in_python_loops_they_mean_nothing() -> None:
    def f(n: Any) -> Any:
        turns = 0
        for _ in range(3):
            set_loop_options(maximum_iterations=1)
            turns += 1
        while turns < 5:
            set_loop_options(maximum_iterations=1)
            turns += 1
        return n + turns

    assert f(1) == 6
    assert int(tf.function(f)(tf.constant(1))) == 6
    assert set_loop_options(maximum_iterations=3) is None


def test_a_call_without_options_is_reported() -> None:
    """TensorFlow runs the function as it is."""

    @tf.function
    def f(n: Any) -> Any:
        turns = 0
        while turns < n:
            turns += 1
            set_loop_options(maximum_iterations=1)
        return turns

    with pytest.warns(UserWarning, match="as the first statement of a loop"):
        assert int(f(tf.constant(3))) == 3


# -- loops that Python runs --------------------------------------------------------------


@pytest.mark.parametrize("kind", ["for", "while"])
@item("raises: endless and large Python loops")
def test_python_loops_without_end_are_ended(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loops.MAX_PYTHON_ITERATIONS == 100_000_000
    monkeypatch.setattr(loops, "MAX_PYTHON_ITERATIONS", 200)

    def f(x: Any) -> Any:
        k = 0
        if kind == "for":
            for _ in range(1000):
                k += 1
        else:
            while k < 1000:
                k += 1
        return x + k

    with pytest.raises(ValueError, match="iteration limit exceeded"):
        tf.function(f)(tf.constant(1))


@pytest.mark.parametrize("kind", ["for", "while"])
@item("raises: endless and large Python loops")
def test_large_unrolled_loops_are_mentioned(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert loops.ITERATIONS_BEFORE_WARNING == 50_000
    monkeypatch.setattr(loops, "ITERATIONS_BEFORE_WARNING", 20)

    def f(x: Any) -> Any:
        k = 0
        if kind == "for":
            for _ in range(30):
                x = x + 1
        else:
            while k < 30:
                k, x = k + 1, x + 1
        return x

    text = "Large unrolled loop detected. Did you mean to use a TF loop?"
    with pytest.warns(UserWarning, match=re.escape(text)) as caught:
        assert int(tf.function(f)(tf.constant(0))) == 30
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_long_python_loops_without_ops_are_not_reported(
    monkeypatch: pytest.MonkeyPatch, recwarn: pytest.WarningsRecorder
) -> None:
    monkeypatch.setattr(loops, "ITERATIONS_BEFORE_WARNING", 20)

    @tf.function
    def f(x: Any) -> Any:
        total = 0
        for k in range(100):
            total += k
        return x + total

    assert int(f(tf.constant(0))) == 4950
    assert not recwarn.list


def test_a_sparse_tensor_changes_its_rank():
    """Recorded from TensorFlow 2.21."""

    @tf.function
    def deeper(value):
        i = tf.constant(0)
        while i < 2:
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(value, tf.TensorShape(None))]
            )
            value = tf.sparse.expand_dims(value, 0)
            i += 1
        assert value.shape.rank is None
        return value

    found = deeper(tf.sparse.from_dense([1, 0, 2]))
    assert found.dense_shape.numpy().tolist() == [1, 1, 3]
    assert tf.sparse.to_dense(found).numpy().tolist() == [[[1, 0, 2]]]
