"""Gradients of slices are paddings in XLA programs: for every form of an index, as NumPy has it."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf

ENTRIES = st.one_of(
    st.integers(-2, 1),
    st.sampled_from([None, Ellipsis, slice(None), slice(None, None, -1), slice(1, 1)]),
    st.builds(
        slice,
        st.one_of(st.none(), st.integers(-4, 4)),
        st.one_of(st.none(), st.integers(-4, 4)),
        st.sampled_from([None, 1, 2, -1, -3]),
    ),
)


@settings(max_examples=40, deadline=None)
@given(
    st.tuples(*[st.integers(2, 5)] * 3),
    st.lists(ENTRIES, max_size=4).filter(
        lambda e: (
            e.count(Ellipsis) < 2 and sum([v is not None and v is not Ellipsis for v in e]) < 4
        )
    ),
)
def test_gradients_of_slices(dims, entries):
    x = np.arange(np.prod(dims), dtype=np.float32).reshape(dims)
    index = tuple(entries)
    expected = np.zeros(dims, np.float32)
    np.add.at(expected, index, x[index] * 2.0)

    @tf.function(jit_compile=True)
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[index] ** 2)
        return tape.gradient(y, x)

    with intaglio.backend("xla"):
        np.testing.assert_array_equal(gradient(tf.constant(x)).numpy(), expected)


def test_no_index_of_elements_is_in_the_program():
    @tf.function(jit_compile=True)
    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[:, 1::2] ** 2) + tf.reduce_sum(x[3] ** 2)
        return tape.gradient(y, x)

    with intaglio.backend("xla"):
        x = tf.ones((8, 9))
        text = gradient.experimental_get_compiler_ir(x)("stablehlo")
    assert "scatter" not in text and "stablehlo.pad" in text
    assert jax.default_backend()


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool", "complex64", "bfloat16"])
@pytest.mark.parametrize("indices", [[0, 3, 1], [[2], [1]], 2, [], [-1, -5, 7]])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_a_gather_takes_the_nearest_of_indices_out_of_range(dtype, indices, axis):
    numbers = np.arange(24).reshape(4, 2, 3)
    x = tf.cast(numbers, dtype)
    v = tf.Variable(x)
    for kind in ("int32", "int64"):
        index = tf.constant(indices, kind)

        @tf.function(jit_compile=True)
        def gather(i):
            return tf.gather(x, i, axis=axis), tf.gather(v, i)

        with intaglio.backend("xla"):
            results = gather(index)
        for found, along in zip(results, (axis, 0), strict=True):
            inside = np.clip(index.numpy(), 0, numbers.shape[along] - 1)
            wanted = np.take(x.numpy(), inside, along)
            assert found.dtype == x.dtype
            np.testing.assert_array_equal(found, wanted)
