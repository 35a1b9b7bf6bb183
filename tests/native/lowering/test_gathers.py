"""Gathers of machine code take the elements that NumPy's kernels take, and refuse the same indices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

DTYPES = [tf.float32, tf.float64, tf.int32, tf.int64, tf.uint8, tf.bool, tf.float16, tf.complex64]
COUNTS = [1, 3, 7, 8, 9, 31, 64, 100]


def check(function, *args):
    """The compiled function returns the same bits."""
    found, wanted = tf.function(function, jit_compile=True)(*args), function(*args)
    assert found.dtype is wanted.dtype
    assert found.shape == wanted.shape
    assert found.numpy().tobytes() == wanted.numpy().tobytes()


@settings(deadline=None, max_examples=60)
@given(
    dtype=st.sampled_from(DTYPES),
    index=st.sampled_from([tf.int32, tf.int64]),
    lead=st.lists(st.sampled_from([1, 2, 3]), max_size=2),
    middle=st.lists(st.sampled_from([1, 2, 5]), max_size=1),
    rest=st.lists(st.sampled_from([1, 2, 4]), max_size=1),
    length=st.sampled_from([1, 2, 40]),
    count=st.sampled_from(COUNTS),
    seed=st.integers(0, 99),
)
def test_elements_and_rows_of_any_axis(dtype, index, lead, middle, rest, length, count, seed):
    random = np.random.RandomState(seed)
    x = tf.cast(random.randint(0, 100, (*lead, *middle, length, *rest)), dtype)
    at = tf.constant(random.randint(0, length, (*lead, count)), index)
    axis = len(lead) + len(middle)
    check(lambda x, at: tf.gather(x, at, axis=axis, batch_dims=len(lead)), x, at)


@settings(deadline=None, max_examples=40)
@given(
    dtype=st.sampled_from(DTYPES),
    index=st.sampled_from([tf.int32, tf.int64]),
    lengths=st.lists(st.sampled_from([1, 2, 3, 11]), min_size=1, max_size=5),
    rest=st.lists(st.sampled_from([1, 3]), max_size=1),
    count=st.sampled_from(COUNTS),
    seed=st.integers(0, 99),
)
def test_elements_and_rows_at_coordinates(dtype, index, lengths, rest, count, seed):
    random = np.random.RandomState(seed)
    x = tf.cast(random.randint(0, 100, (*lengths, *rest)), dtype)
    at = tf.constant(np.stack([random.randint(0, n, count) for n in lengths], -1), index)
    check(tf.gather_nd, x, at)


@pytest.mark.parametrize("index", [tf.int32, tf.int64])
@pytest.mark.parametrize("wrong", [-1, 50, 2**31 - 1])
@pytest.mark.parametrize("position", [0, 7, 8, 16])
def test_an_index_outside_is_refused_wherever_it_is(index, wrong, position):
    x = tf.range(50.0)
    at = np.arange(17)
    at[position] = wrong
    pairs = np.stack([np.zeros(17, int), at], -1)
    compiled = tf.function(tf.gather, jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(x, tf.constant(at, index))
    compiled = tf.function(tf.gather_nd, jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(x[None], tf.constant(pairs, index))
