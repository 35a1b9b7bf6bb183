"""Gradients: a tape outside, a tape inside and `tf.gradients` give the eager tape's bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, note
from hypothesis import strategies as st

from intaglio import tf

from .expressions import TEMPLATES, Program, expressions
from .programs import Outcome, examples, is_documented, load, same
from .statements import arguments, programs

SMOOTH = tuple(t for t in TEMPLATES if "unique" not in t and "where(<b>)" not in t)
DOUBLES = st.just(tf.float64)


def total(values: Any) -> Any:
    """One number from all floating results."""
    parts = [
        tf.reduce_sum(tf.cast(tf.math.real(v), tf.float64)) * (0.5 + n)
        for n, v in enumerate(map(tf.convert_to_tensor, tf.nest.flatten(values)))
        if v.dtype.is_floating or v.dtype.is_complex
    ]
    return tf.add_n(parts) if parts else tf.constant(0.0, tf.float64)


def first(function: Any, inputs: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        result = total(function(*inputs))
    return [result, *tape.gradient(result, inputs)]


def second(function: Any, inputs: list[Any]) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(inputs)
        slopes = first(function, inputs)[1:]
        result = total([0.0 if g is None else tf.convert_to_tensor(g) for g in slopes])
    return [result, *tape.gradient(result, inputs)]


def symbolic(function: Any, inputs: list[Any]) -> Any:
    result = total(function(*inputs))
    return [result, *tf.gradients(result, inputs)]


@examples(0.8)
@given(expressions(dtypes=DOUBLES, templates=SMOOTH, most=6))
def test_gradients_of_expressions(program: Program) -> None:
    function = load(program.source)
    inputs = [tf.constant(a) for a in program.inputs]
    traced = tf.function(function)
    open_shapes = [tf.TensorSpec([None] * a.ndim, a.dtype) for a in program.inputs]
    for order in (first, second):
        want = Outcome(lambda o=order: o(function, inputs))
        ways = {
            "outside": lambda o=order: o(traced, inputs),
            "outside again": lambda o=order: o(traced, inputs),
            "inside": lambda o=order: tf.function(lambda *a: o(function, list(a)))(*inputs),
            "open": lambda o=order: o(tf.function(function, input_signature=open_shapes), inputs),
        }
        for name, way in ways.items():
            got = Outcome(way)
            if name == "open" and got.error is not None and is_documented(got.error):
                continue
            assert close(want, got), (order.__name__, name, want, got)
    want = Outcome(lambda: first(function, inputs))
    got = Outcome(lambda: tf.function(lambda *a: symbolic(function, list(a)))(*inputs))
    assert close(want, got), ("tf.gradients", want, got)


def close(a: Outcome, b: Outcome) -> bool:
    """The same but for the order in which gradients are added, and zeros for no gradient."""
    if same(a, b):
        return True
    if a.error is not None or b.error is not None or len(a.values) != len(b.values):
        return False
    # What is small may be the difference of what is large.
    largest = max([np.max(np.abs(v), initial=0) for v in a.values if v is not None])
    slack = 1e-6 * largest if np.isfinite(largest) else 0.0
    return all([_close(x, y, slack) for x, y in zip(a.values, b.values, strict=True)])


def _close(x: Any, y: Any, slack: float) -> bool:
    if x is None or y is None:
        return x is y or not np.any(y if x is None else x)
    return x.shape == y.shape and np.allclose(x, y, 1e-6, 1e-8 + slack, equal_nan=True)


@examples(0.4)
@given(programs(returns=True, variables=False), arguments)
def test_gradients_of_statements(source: str, values: Any) -> None:
    note(source)
    function = load(source)
    inputs = [tf.constant(v) for v in values]
    floats = inputs[:3]

    def body(a: Any, b: Any, v: Any) -> Any:
        return function(a, b, v, *inputs[3:])

    traced = tf.function(body)
    for order in (first, second):
        want = Outcome(lambda o=order: o(body, floats))
        for name, way in {
            "outside": lambda o=order: o(traced, floats),
            "inside": lambda o=order: tf.function(lambda *a: o(body, list(a)))(*floats),
        }.items():
            got = Outcome(way)
            assert close(want, got), (order.__name__, name, want, got)
