"""Quotients and remainders of integers: part of loops where the divisor is known, guarded elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from intaglio import tf

DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
OPS = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "truncatediv": tf.truncatediv,
    "truncatemod": tf.truncatemod,
}


@st.composite
def divisions(draw):
    """A dtype, ops that it has, numbers of any size, and a divisor that is one number or several."""
    dtype = draw(st.sampled_from(DTYPES))
    info = np.iinfo(dtype)
    op = draw(st.sampled_from(["//", "%"] if dtype not in ("int32", "int64") else [*OPS]))
    numbers = st.one_of(
        st.sampled_from([info.min, info.max, 0, 1]), st.integers(info.min, info.max)
    )
    x = draw(st.lists(numbers, min_size=40, max_size=40))
    divisors = st.one_of(st.integers(1, 9), numbers).filter(bool)
    if info.min < 0:
        divisors = st.one_of(st.just(-1), divisors)
    y = draw(st.one_of(divisors, st.lists(divisors, min_size=40, max_size=40)))
    return OPS[op], np.array(x, dtype), np.array(y, dtype)


@given(divisions())
def test_known_divisors_are_part_of_the_loop(drawn):
    op, x, y = drawn
    x = tf.constant(x)
    right = op(x, tf.constant(y)) + tf.constant(1, x.dtype)
    traced = tf.function(lambda x: op(x, tf.constant(y)) + tf.constant(1, x.dtype))
    compiled = tf.function(traced.python_function, jit_compile=True)
    np.testing.assert_array_equal(traced(x), right)
    np.testing.assert_array_equal(compiled(x), right)
    assert "one loop" in compiled.compile_report()
    assert compiled.compile_report().count("\n") <= 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_unknown_divisors_are_guarded(dtype):
    f = tf.function(lambda x, y: x // y + x % y, jit_compile=True)
    x = np.arange(100).astype(dtype)
    y = (np.arange(100) % 7 + 1).astype(dtype)
    np.testing.assert_array_equal(f(x, y), x // y + x % y)
    assert "NumPy" not in f.compile_report()
    y[50] = 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
        f(x, y)


@pytest.mark.parametrize("divisor", [0, [1, 2, 0, 3] * 25])
def test_a_known_zero_raises(divisor):
    f = tf.function(lambda x: x // tf.constant(divisor), jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="ivision by zero"):
        f(tf.range(100))


def test_a_loop_until_all_are_one():
    """Collatz's steps, with the condition a reduction of what the body computes."""

    def steps(x):
        count = tf.zeros_like(x)
        while tf.reduce_any(x > 1):
            odd = x % 2 == 1
            count += tf.cast(x > 1, x.dtype)
            x = tf.where(x > 1, tf.where(odd, 3 * x + 1, x // 2), x)
        return count

    x = tf.range(1, 300, dtype=tf.int64)
    f = tf.function(steps, jit_compile=True)
    np.testing.assert_array_equal(f(x), tf.function(steps)(x))
    assert f(x)[26] == 111
    assert "NumPy" not in f.compile_report()
