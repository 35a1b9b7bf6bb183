"""Results that are mostly zeros: elements are put into them one by one, in every form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

DTYPES = [tf.float32, tf.float64, tf.int32, tf.uint8, tf.bool, tf.bfloat16, tf.complex128]


def check(function, *args):
    """The compiled function returns the same bits, by copies."""
    compiled = tf.function(function, jit_compile=True)
    found, wanted = compiled(*args), function(*args)
    assert found.numpy().tobytes() == wanted.numpy().tobytes()
    assert "copy" in compiled.compile_report() or found.shape.num_elements() <= 64


@settings(deadline=None, max_examples=40)
@given(
    dtype=st.sampled_from(DTYPES),
    lead=st.lists(st.sampled_from([1, 3]), max_size=1),
    length=st.sampled_from([3, 9, 40]),
    low=st.integers(-3, 2),
    count=st.integers(1, 3),
    extra=st.integers(0, 5),
    align=st.sampled_from(["RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT"]),
)
def test_diagonals(dtype, lead, length, low, count, extra, align):
    high = low + count - 1
    size = length + max(abs(low), abs(high)) + extra
    shape = (*lead, *([count] if count > 1 else []), length)
    longest = size - (0 if low <= 0 <= high else min(abs(low), abs(high)))
    shape = (*shape[:-1], longest)
    x = tf.cast(np.random.RandomState(0).randint(0, 9, shape), dtype)
    check(lambda x: tf.linalg.diag(x, k=(low, high), num_rows=size, num_cols=size, align=align), x)


@pytest.mark.parametrize("padding", [0.0, -0.0, 2.5])
def test_what_is_around_a_diagonal(padding):
    x = tf.constant(np.arange(1.0, 31.0, dtype=np.float32))
    check(lambda x: tf.linalg.diag(x, padding_value=padding), x)
    check(lambda x: tf.linalg.diag(x, padding_value=padding, num_cols=90), x)
