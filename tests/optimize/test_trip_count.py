"""Trip counts of loops are those of counters that wrap around at the ends of their dtype."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from intaglio import tf

TESTS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
# A counter of 8 bits has been everywhere after so many iterations.
MOST = 1 << 8


def counted(test: Any, dtype: Any, start: int, step: int, end: int) -> tuple[int, int] | None:
    """Iterations and the counter after them; None if the loop does not end."""
    counter = np.asarray(start, dtype)
    for iterations in range(MOST):
        if not test(counter, np.asarray(end, dtype)):
            return iterations, int(counter)
        with np.errstate(over="ignore"):
            counter = np.add(counter, np.asarray(step).astype(dtype), dtype=dtype)
    return None


def looped(test: Any, dtype: Any, start: int, step: int, end: int) -> Callable[[], Any]:
    """A loop that counts so, and its iterations with it."""

    def f() -> Any:
        number = tf.as_dtype(dtype)
        by, limit = tf.constant(abs(step), number), tf.constant(end, number)

        def body(i: Any, n: Any) -> Any:
            return (i + by if step > 0 else i - by), n + 1

        return tf.while_loop(lambda i, n: test(i, limit), body, [tf.constant(start, number), 0])

    return f


@given(st.sampled_from(sorted(TESTS)), st.sampled_from([np.int8, np.uint8]), st.data())
def test_counters_end_where_they_end_eagerly(name: str, dtype: Any, data: Any) -> None:
    bounds = np.iinfo(dtype)
    number = st.integers(int(bounds.min), int(bounds.max))
    start, end = data.draw(number), data.draw(number)
    step = data.draw(st.integers(-12, 12).filter(bool))
    want = counted(TESTS[name], dtype, start, step, end)
    assume(want is not None)
    f = tf.function(looped(TESTS[name], dtype, start, step, end))
    for _ in range(2):  # the second call runs the optimised graph
        counter, iterations = f()
        assert (int(iterations), int(counter)) == want


@pytest.mark.parametrize("jit_compile", [None, True])
def test_a_counter_passes_the_smallest_number_and_goes_on(jit_compile: bool | None) -> None:
    f = tf.function(looped(operator.gt, np.uint8, 11, -3, 1), jit_compile=jit_compile)
    for _ in range(2):
        counter, iterations = f()
        assert (int(iterations), int(counter)) == (89, 0)
