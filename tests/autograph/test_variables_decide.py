"""Variables where Python asks for a value: conditions, iteration, built-in functions.

The answers are those of TensorFlow 2.21, which was asked for each of these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf


def conditional(flag: Any, vector: Any, number: Any) -> Any:
    if flag:
        return 1
    return 2


def loop_condition(flag: Any, vector: Any, number: Any) -> Any:
    count = 0
    while flag:
        flag.assign(False)
        count += 1
    return count


def negation(flag: Any, vector: Any, number: Any) -> Any:
    return not flag


def conjunction(flag: Any, vector: Any, number: Any) -> Any:
    return flag and tf.constant(False)


def disjunction(flag: Any, vector: Any, number: Any) -> Any:
    return tf.constant(False) or flag


def conditional_expression(flag: Any, vector: Any, number: Any) -> Any:
    return 1 if flag else 2


def iteration(flag: Any, vector: Any, number: Any) -> Any:
    total = 0.0
    for x in vector:
        total += x
    return total


def range_of(flag: Any, vector: Any, number: Any) -> Any:
    total = 0
    for i in range(number):
        total += i
    return total


def length(flag: Any, vector: Any, number: Any) -> Any:
    return len(vector)


def integer(flag: Any, vector: Any, number: Any) -> Any:
    return int(vector[0]) + int(number)


def order(flag: Any, vector: Any, number: Any) -> Any:
    return sorted(vector)


ANSWERS: list[tuple[Callable[..., Any], Any]] = [
    (conditional, 1),
    (loop_condition, 1),
    (negation, False),
    (conjunction, False),
    (disjunction, True),
    (conditional_expression, 1),
    (iteration, 6.0),
    (range_of, 3),
    (length, 3),
    (integer, 6),
    (order, [1.0, 2.0, 3.0]),
]


@pytest.mark.parametrize(("function", "answer"), ANSWERS, ids=lambda v: getattr(v, "__name__", ""))
@pytest.mark.parametrize("jit", [None, True])
def test_variables_are_read_where_python_tests_them(
    function: Callable[..., Any], answer: Any, jit: bool | None
) -> None:
    variables = tf.Variable(True), tf.Variable([3.0, 2.0, 1.0]), tf.Variable(3)
    result = tf.function(function, jit_compile=jit)(*variables)
    np.testing.assert_array_equal(result, answer)
