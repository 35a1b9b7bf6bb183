"""Calls by generated functions: captures, variables and outputs in any number, while other code writes and reads."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf

COUNTS = st.tuples(*[st.integers(0, 3)] * 5)
STEPS = st.lists(st.sampled_from(["call", "assign", "read", "tensor"]), min_size=6, max_size=10)


@settings(max_examples=12, deadline=None)
@given(COUNTS, STEPS)
def test_calls_give_what_eager_calls_give(counts: tuple[int, ...], steps: list[str]) -> None:
    rng = np.random.default_rng(0)
    numbers = rng.integers(-4, 5, (sum(counts[:4]), 2)).astype(np.float32)
    arguments, captured, read, written = np.split(numbers, np.cumsum(counts[:3]))
    tensors = [tf.constant(a) + 0.0 for a in captured]
    only_read = [tf.Variable(a) for a in read]

    def make(variables: list[Any]) -> Any:
        def function(*args: Any) -> Any:
            total = tf.add_n([*args, *tensors, *[v.read_value() for v in only_read], tf.ones(2)])
            for i, v in enumerate(variables):
                v.assign(v * 0.5 + total * float(i + 1))
            values = [total + v for v in variables] or [total]
            return [values[i % len(values)] * float(i + 1) for i in range(counts[4])]

        return function

    compiled, eager = [[tf.Variable(a) for a in written] for _ in range(2)]
    pairs = [*zip(compiled, eager, strict=True)]
    kept: list[tuple[Any, Any]] = []
    with intaglio.backend("xla"):
        run, expected = tf.function(make(compiled), jit_compile=True), make(eager)
        for number, step in enumerate(["call", "call", *steps, "call"]):
            if step == "assign":
                for variable in [*compiled, *eager, *only_read]:
                    variable.assign_add([1.0, float(number)])
            elif step == "read":
                for found, wanted in pairs:
                    np.testing.assert_allclose(found, wanted, rtol=1e-5)
            elif step == "tensor":  # which no later call may overwrite
                kept += [(v.read_value(), w.numpy().copy()) for v, w in pairs]
            else:
                operands = [tf.constant(a) for a in arguments]
                for found, wanted in zip(run(*operands), expected(*operands), strict=True):
                    np.testing.assert_allclose(found, wanted, rtol=1e-5)
        for found, wanted in kept:
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
