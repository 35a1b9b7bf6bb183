"""One-hot vectors along any axis, of any dtype."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

VALUES = {
    "float32": (1.0, 0.0),
    "float64": (2.0, -0.0),
    "bfloat16": (1.0, 0.5),
    "bool": (True, False),
    "int8": (3, 1),
    "complex64": (1j, 0),
    "string": (b"on", b"off"),
}


@pytest.mark.parametrize("dtype", VALUES)
@settings(deadline=None, max_examples=40)
@given(
    shape=st.lists(st.integers(0, 5), max_size=3),
    kind=st.sampled_from(["int64", "int32", "int8", "uint8"]),
    depth=st.integers(0, 4),
    data=st.data(),
)
def test_the_value_is_at_the_index(dtype, shape, kind, depth, data):
    axis = data.draw(st.integers(-1, len(shape)))
    indices = np.random.default_rng(depth).integers(-3, 6, shape).astype(kind)
    on, off = (tf.constant(v, dtype) for v in VALUES[dtype])
    found = tf.one_hot(indices, depth, on, off, axis)
    at = len(shape) if axis == -1 else axis
    classes = np.arange(depth).reshape((depth,) + (1,) * (len(shape) - at))
    hot = np.expand_dims(indices, at) == classes
    wanted = np.where(hot, on.numpy(), off.numpy())
    assert found.shape == wanted.shape
    np.testing.assert_array_equal(found.numpy(), wanted)
    if dtype == "float64":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_wild_indices_leave_no_mark():
    indices = np.array([2**62, -(2**63), 2**63 - 1, 1, 2**32])
    np.testing.assert_array_equal(tf.one_hot(indices, 3, axis=0).numpy().sum(0), [0, 0, 0, 1, 0])
