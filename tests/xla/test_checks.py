"""Assertions in XLA programs: the host's error, and the variables as they were where it would have stopped."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf, xla
from intaglio.xla import compilation

HOW = ("xla", "accelerator")


def in_sequence(x, w):
    w.assign_add(1.0)
    tf.debugging.assert_positive(x, message="positive")
    w.assign_add(10.0)
    tf.debugging.assert_less(x, 5.0)
    w.assign_add(100.0)
    return x * 2.0


def in_a_loop(x, w):
    for i in tf.range(5):
        w.assign_add(1.0)
        tf.debugging.assert_less(i, tf.math.count_nonzero(x > 0.5, dtype=tf.int32), message="small")
        x = x + 0.0
    return x


def in_a_loop_that_would_not_end(x, w):
    while tf.reduce_sum(x) > 0.0:
        w.assign_add(1.0)
        tf.debugging.assert_less(w, 6.0)
    return x


def in_a_branch(x, w):
    if tf.reduce_sum(x) > 3.0:
        w.assign(4.0)
        tf.debugging.Assert(x[0] < 2.0, [x, "a text", x[0]], summarize=1)
        w.assign(5.0)
    else:
        w.assign(-x[0])
    w.assign_add(x[0])
    return x


def of_numbers(x, w):
    y = tf.debugging.check_numerics(x / w, "a quotient")
    w.assign_add(1.0)
    return y


def of_numbers_by_sign(x, w):
    return tf.raw_ops.CheckNumericsV2(tensor=tf.cast(x, tf.float16) / 0.0, message="halves")


def in_a_called_function(x, w):
    inner = tf.function(lambda z: in_sequence(z, w))
    return inner(x) + inner(x - 1.0)


def of_the_program(x, w):
    w.assign(2.0)
    if x[0] > 2.0:
        raise ValueError("of the program")
    w.assign(3.0)
    return x


def of_a_known_condition(x, w):
    w.assign(2.0)
    if x[0] > 2.0:
        tf.debugging.Assert(False, ["never", x])
    return x


def of_a_matrix(x, w):
    m = tf.reshape(tf.tile(x, [12]), [4, -1])
    tf.debugging.assert_equal(m, tf.cast(m[0], tf.float32) * 2.0, summarize=4)
    return m


FUNCTIONS = (
    in_sequence, in_a_loop, in_a_loop_that_would_not_end, in_a_branch, of_numbers, of_numbers_by_sign,
    in_a_called_function, of_the_program, of_a_known_condition, of_a_matrix,
)  # fmt: skip
ARGUMENTS = ([1.0, 2.0], [1.0, -2.0], [3.0, 2.0], [9.0, 1.0], [np.nan, -np.inf], [0.0, 0.0])


@pytest.fixture(autouse=True)
def _no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compilation, "VERIFY", True)


def _called(function: Callable[..., Any], arg: list[float], how: str) -> list[Any]:
    """What two calls give or say, and what each leaves in the variable."""
    seen: list[Any] = []
    device = "/GPU:0" if how == "accelerator" else "/CPU:0"
    stand_in = xla.host_as("GPU") if how == "accelerator" else contextlib.nullcontext()
    with stand_in, intaglio.backend("native" if how == "host" else "xla"), tf.device(device):
        w = tf.Variable(1.0)
        traced = tf.function(lambda x: function(x, w), jit_compile=how == "xla" or None)
        for _ in range(2):
            try:
                seen.append(traced(tf.constant(arg)).numpy().tolist())
            except (tf.errors.OpError, ValueError) as e:
                text = str(e).split("\n\n")[-1]
                seen.append((type(e), text.split("\t [[")[0]))
            seen.append(float(w.numpy()))
    return seen


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_errors_and_variables_are_the_hosts(function, how):
    for arg in ARGUMENTS:
        wanted = _called(function, arg, "host")
        np.testing.assert_equal(_called(function, arg, how), wanted)


def test_a_function_whose_effects_are_done_is_not_computed_again():
    with xla.host_as("GPU"), tf.device("/GPU:0"):
        w = tf.Variable(0.0)

        def fail() -> Any:
            raise RuntimeError("of Python")

        @tf.function
        def f():
            w.assign_add(1.0)
            tf.py_function(fail, [], [])

        for count in (1.0, 2.0):
            with pytest.raises(tf.errors.UnknownError, match="of Python"):
                f()
            assert float(w.numpy()) == count
