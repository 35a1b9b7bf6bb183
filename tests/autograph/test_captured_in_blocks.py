"""Names that a block assigns and a function inside it captures; TensorFlow 2.21 gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf


def branch_in_while_lambda(x: Any) -> Any:
    s, i = x, tf.constant(0)
    while i < 2:
        if tf.reduce_sum(s) > 0.5:
            y = s * 2
        else:
            y = s + 1
        s = (lambda: y + 1)()
        i += 1
    return s


def branch_in_for_function(x: Any) -> Any:
    s = x
    for _ in tf.range(3):
        if tf.reduce_sum(s) > 4.0:
            y = s * 0.5
        else:
            y = s + 1

        def add(z: Any) -> Any:
            return y + z  # noqa: B023 - called in the same iteration

        s = add(x)
    return s


def loop_in_loop(x: Any) -> Any:
    s = x
    for _ in tf.range(2):
        y = x
        for k in tf.range(2):
            z = y + tf.cast(k, tf.float32)
            y = (lambda: z * 2)()
        s = s + (lambda: y - x)()
    return s


def branch_in_branch(x: Any) -> Any:
    if tf.reduce_sum(x) > 0.5:
        if tf.reduce_sum(x) > 5.0:
            y = x * 2
        else:
            y = x - 1
        z = (lambda: y * y)()
    else:
        z = x
    return z


def condition_of_a_functional_loop(x: Any) -> Any:
    i, total = tf.constant(0), tf.constant(0)
    while i < 2:
        if tf.reduce_sum(x) > 0.5:
            y = tf.constant(3)
        else:
            y = tf.constant(5)
        (count,) = tf.while_loop(lambda k: k < y, lambda k: [k + 1], [i])  # noqa: B023
        total, i = total + count, i + 1
    return total


def read_after_the_loop(x: Any) -> Any:
    y = x
    for _ in tf.range(2):
        if tf.reduce_sum(y) > 4.0:
            y = y - 1
        else:
            y = y * 3
        x = x + (lambda: tf.reduce_max(y))()
    return x, y


def own_values_in_each_branch(x: Any) -> Any:
    s = x
    for i in tf.range(4):
        if i % 2 == 0:
            y = x + 1
            s = s + (lambda: y)()
        else:
            y = x - 1
            s = s * (lambda: y)()
    return s


FUNCTIONS = [
    branch_in_while_lambda, branch_in_for_function, loop_in_loop, branch_in_branch,
    condition_of_a_functional_loop, read_after_the_loop, own_values_in_each_branch,
]  # fmt: skip


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_captured_name_has_the_value_of_the_block(
    function: Callable[[Any], Any], jit: bool | None
) -> None:
    traced = tf.function(function, jit_compile=jit)
    for data in ([1.0, 2.0], [-3.0, 0.5], [4.0, 4.0]):
        want = tf.nest.flatten(function(tf.constant(data)))
        got = tf.nest.flatten(traced(tf.constant(data)))
        for a, b in zip(want, got, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)
