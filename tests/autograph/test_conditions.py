"""What may be a condition: one bool, whatever its rank. Real TensorFlow 2.21 was asked for each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from intaglio import tf


def statement(c: Any) -> Any:
    if c:
        return tf.constant(1)
    return tf.constant(2)


def negation(c: Any) -> Any:
    if not c:
        return tf.constant(2)
    return tf.constant(1)


def expression(c: Any) -> Any:
    return tf.constant(1) if c else tf.constant(2)


def conjunction(c: Any) -> Any:
    if c and c:
        return tf.constant(1)
    return tf.constant(2)


def assertion(c: Any) -> Any:
    assert c, "no"  # TensorFlow has no assert on tensors
    return tf.constant(1)


def loop(c: Any) -> Any:
    n = tf.constant(0)
    while c:
        n += 1
        c = tf.zeros_like(c)
    return n


def call_of_cond(c: Any) -> Any:
    return tf.cond(c, lambda: tf.constant(1), lambda: tf.constant(2))


def call_of_while_loop(c: Any) -> Any:
    def turn(c: Any, n: Any) -> Any:
        return tf.zeros_like(c), n + 1

    return tf.while_loop(lambda c, _: c, turn, (c, 0))[1]


FORMS = [
    statement,
    negation,
    expression,
    conjunction,
    assertion,
    loop,
    call_of_cond,
    call_of_while_loop,
]
ONE = [(True, []), ([True], [1]), ([[True]], [1, 1]), ([True], [None]), ([[True]], [None, None])]
MANY = [
    ([True, True], [2]),
    ([True, True], [None]),
    ([[True, True]], [None, 2]),
    ([True, True], None),
    ([], [0]),
    ([], [None]),
]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("value", "shape"), [*ONE, ([True], None), (True, None)])
def test_one_bool_of_any_rank_decides(form: Callable[[Any], Any], value: Any, shape: Any) -> None:
    traced = tf.function(form, input_signature=[tf.TensorSpec(shape, tf.bool)])
    assert int(traced(tf.constant(value, tf.bool))) == 1


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("value", "shape"), MANY)
def test_several_bools_and_none_decide_nothing(
    form: Callable[[Any], Any], value: Any, shape: Any
) -> None:
    traced = tf.function(form, input_signature=[tf.TensorSpec(shape, tf.bool)])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        traced(tf.constant(value, tf.bool))


@pytest.mark.parametrize("value", [[True, True], []])
def test_several_bools_decide_nothing_eagerly(value: list[bool]) -> None:
    with pytest.raises(ValueError, match=r"."):
        call_of_cond(tf.constant(value, tf.bool))
