"""Indices out of range: clamped by gathers and left out by scatters in programs, errors where they are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import intaglio
from intaglio import tf


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_gathers_clamp_indices_that_are_arguments_and_check_constants(data: Any) -> None:
    rank = data.draw(st.integers(1, 4))
    dims = data.draw(st.lists(st.integers(1, 4), min_size=rank, max_size=rank))
    axis = data.draw(st.integers(0, rank - 1))
    batch = data.draw(st.integers(0, axis))
    taken = (*dims[:batch], *data.draw(st.lists(st.integers(1, 3), min_size=1, max_size=2)))
    numbers = st.integers(-6, 6)
    flat = data.draw(st.lists(numbers, min_size=math.prod(taken), max_size=math.prod(taken)))
    dtype = data.draw(st.sampled_from(["int32", "int64"]))
    indices = np.array(flat, dtype).reshape(taken)
    params = np.arange(float(math.prod(dims)), dtype=np.float32).reshape(dims)
    nearest = np.clip(indices, 0, dims[axis] - 1)
    wanted = tf.gather(params, nearest, axis=axis, batch_dims=batch).numpy()
    variable = tf.Variable(params)

    def gathered(x: Any, i: Any) -> Any:
        return tf.gather(x, i, axis=axis, batch_dims=batch)

    with intaglio.backend("xla"):
        run = tf.function(gathered, jit_compile=True)
        np.testing.assert_array_equal(run(params, indices), wanted)
        read = tf.function(lambda i: gathered(variable, i), jit_compile=True)
        np.testing.assert_array_equal(read(tf.constant(indices)), wanted)
        known = tf.function(lambda x: gathered(x, tf.constant(indices)), jit_compile=True)
        if (nearest == indices).all():
            np.testing.assert_array_equal(known(params), wanted)
        else:
            with pytest.raises(tf.errors.InvalidArgumentError):
                known(params)


@pytest.mark.parametrize("index", [-1, 4])
def test_scatters_leave_out_rows_that_are_arguments_and_check_constants(index: int) -> None:
    def updated(x: Any, i: Any) -> Any:
        return tf.tensor_scatter_nd_add(x, i, tf.ones([2]))

    x, indices = tf.zeros([4]), np.array([[index], [1]])
    with intaglio.backend("xla"):
        run = tf.function(updated, jit_compile=True)
        np.testing.assert_array_equal(run(x, indices), [0.0, 1.0, 0.0, 0.0])
        known = tf.function(lambda x: updated(x, tf.constant(indices)), jit_compile=True)
        with pytest.raises(tf.errors.InvalidArgumentError):
            known(x)
