"""Control flow that TensorFlow refuses, or gets wrong: here a trace does what Python does."""

# ruff: noqa: RET503

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

from .checklist import item
from .test_must_convert import agree


def return_from_a_loop(n: Any) -> Any:
    for i in tf.range(n):
        if i > 2:
            return i
    return n * 10


def return_from_nested_loops(x: Any) -> Any:
    for row in x:
        for v in row:
            if v > 5:
                return v, {"row": row}
        if row[0] < 0:
            return row[0] * 100, {"row": row * 2}
    return tf.constant(-1), {"row": x[0]}


def return_from_a_while(n: Any) -> Any:
    while n > 0:
        n -= 3
        if n == 1:
            return n + 100
    return n


def return_from_a_dataset(n: Any) -> Any:
    for x in tf.data.Dataset.range(10):
        if x > n:
            return x * 2
    return n


def nothing_returned(n: Any) -> None:
    while n > 0:
        n -= 3
        if n == 1:
            return
    return


def return_in_some_branches(n: Any) -> Any:
    if n > 3:
        if n > 6:
            return n * 2
        n = n + 1
    elif n < -3:
        return n
    for i in range(3):
        if n > 4:
            return n + 100
        n = n + i
    return n


def endless(n: Any) -> Any:
    while True:
        n += 1
        if n > 5:
            break
    return n


def return_from_an_endless_loop(n: Any) -> Any:
    while True:
        n += 1
        if n > 5:
            return n * 2
        if n % 2 == 0:
            continue
        n += 1


def becomes_a_tensor(n: Any) -> Any:
    k = 0
    while k < 30:
        k = k + n
    return k


def break_from_a_python_loop(n: Any) -> Any:
    weights = [1, 2, 3, 4, 5]
    for i in range(5):
        n = n * 2 + i
        if n > 20:
            break
        n = n + weights[i]
    else:
        n = n + 1000
    return n, i


def return_from_a_python_loop(n: Any) -> Any:
    steps = (tf.negative, tf.square, tf.identity)
    for i, (name, step) in enumerate(zip("abc", steps, strict=True)):
        if step(n) > 10:
            return n, i, len(name)
        n = n + 1
    return n, -1, 0


def a_long_python_loop(n: Any) -> Any:
    for i in range(100_000):
        n = n + i
        if n > 1000:
            break
    return n, i


def python_loops_in_tensor_loops(n: Any) -> Any:
    total = n
    for i in tf.range(n):
        for k in (1, 2, 3):
            if total % 5 == k:
                total += k
                continue
            if total > 20:
                return total, i
            total += 1
        if total > 15:
            break
    return total, -1


def grows(n: Any) -> Any:
    x = tf.constant([0])
    for i in tf.range(n):
        x = tf.concat([x, [i]], 0)
    return x


PROGRAMS: list[tuple[Callable[..., Any], list[Any]]] = [
    (return_from_a_loop, [0, 2, 7]),
    (return_from_a_while, [7, 6, -1]),
    (nothing_returned, [7, 6]),
    (return_in_some_branches, [7, 5, 4, 3, 1, -2, -9]),
    (endless, [1, 9]),
    (return_from_an_endless_loop, [1, 2, 9]),
    (becomes_a_tensor, [7, 40]),
    (break_from_a_python_loop, [1, 3, 100, -100]),
    (return_from_a_python_loop, [1, 3, -11, -2]),
    (a_long_python_loop, [1, 5000]),
    (python_loops_in_tensor_loops, [1, 4, 13, 30]),
    (grows, [0, 3]),
]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS, ids=[p[0].__name__ for p in PROGRAMS])
def test_jumps(function: Callable[..., Any], calls: list[Any]) -> None:
    agree(function, *calls)


def test_jumps_out_of_rows_and_datasets() -> None:
    rows = [[[1, 2], [3, 9]], [[1, 2], [-3, 4]], [[1, 2], [3, 4]]]
    agree(return_from_nested_loops, *[(r,) for r in rows])
    agree(return_from_a_dataset, np.int64(4), np.int64(40))


def test_the_graph_of_a_python_loop_stays_small() -> None:
    traced = tf.function(a_long_python_loop).get_concrete_function(tf.TensorSpec([], tf.int32))
    assert len(traced.graph.get_operations()) < 50


def test_a_python_loop_without_end() -> None:
    @tf.function
    def f(n: Any) -> Any:
        for i in itertools.count():
            n = n + i
            if n > 50:
                break
        return n

    text = "break and return statements which depend on a TF condition are not supported in Python for loops."
    with pytest.raises(NotImplementedError, match=re.escape(text)) as caught:
        f(tf.constant(1))
    assert "Write `for i in tf.range(n):`" in str(caught.value)


def test_a_function_that_may_not_return() -> None:
    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            if i > 2:
                return i

    assert f(tf.constant(7)).numpy() == 3
    # TensorFlow says so where the loop always returns; asked.
    text = "loop must iterate at least once to initialize the function return value"
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        f(tf.constant(1))


def test_returns_of_different_structures() -> None:
    @tf.function
    def f(n: Any) -> Any:
        for i in tf.range(n):
            if i > 2:
                return i, i
        return n

    with pytest.raises(TypeError, match="all of them return the same structure"):
        f(tf.constant(1))


def best_of(x: Any) -> Any:
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best


def first_then_return(x: Any) -> Any:
    seen = None
    for v in x:
        if seen is None:
            seen = v
        elif v > seen:
            return v * 10
        else:
            if v < -5:
                break
            seen = seen + v
    return tf.constant(-1)


def returns_by_a_number(n: Any) -> Any:
    k = 0
    while n > 0:
        n -= 1
        k += 1
        if k > 3:
            return n + 100
    return n


def none_before_an_if(x: Any) -> Any:
    y = None
    if x > 0:
        y = x * 2
    if y is not None:
        return y
    return x - 1


@item("converts: names first set in a loop, or None before it")
def test_names_that_are_none_at_first() -> None:
    # TensorFlow 2.21 gives 0 for the first: the zero that it puts in the place of None; asked.
    agree(best_of, ([-3, -1, -2],))
    agree(none_before_an_if, 2, -2)
    agree(first_then_return, ([1, 5, 2],), ([1, -9, 2],), ([1, 0, 0],))
    agree(returns_by_a_number, 2, 9)
    # Where there is no value TensorFlow says the same; asked.
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="loop must iterate at least once to initialize best"
    ):
        tf.function(best_of)(tf.zeros([0], tf.int32))


def test_reading_what_is_none() -> None:
    @tf.function
    def f(x: Any) -> Any:
        y = None
        if x > 0:
            y = x
        return y + 1

    assert f(tf.constant(1)).numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="y is None here"):
        f(tf.constant(-1))


@item("silently wrong: numbers")
def test_numbers_take_the_dtype_of_the_other_branch() -> None:
    @tf.function
    def f(x: Any) -> Any:
        if x > 0:
            y, z = 1, 1
        else:
            y, z = x * 2.5, tf.constant(3, tf.int64)
        return y, z, 1 if x > 0 else 2.5

    y, z, w = f(tf.constant(1.0))
    assert (y.dtype, z.dtype, w.dtype) == (tf.float32, tf.int64, tf.float32)
    assert (y.numpy(), z.numpy(), w.numpy()) == (1.0, 1, 1.0)


def test_dtype_errors_name_both_lines_and_a_cast() -> None:
    def f(x: Any) -> Any:
        if x > 0:
            y = tf.constant(1)
        else:
            y = tf.constant(1.0)
        return y

    first = f.__code__.co_firstlineno
    text = f"'y' is set at line {first + 2} and at line {first + 4}; cast it in the main branch: tf.cast(y, tf.float32)"
    with pytest.raises(TypeError, match=re.escape(text)):
        tf.function(f)(tf.constant(1))


@item("silently wrong: numbers")
def test_numbers_that_become_tensors_in_a_loop() -> None:
    @tf.function
    def f(n: Any) -> Any:
        x = 0
        for _ in tf.range(n):
            x = x + 0.5
        return x

    with pytest.raises(TypeError, match="int32") as caught:
        f(tf.constant(2))
    text = "`x` is the Python number 0 before the loop, and an int32 tensor in it."
    assert any(text in note and "`x = 0.0`" in note for note in caught.value.__notes__)
