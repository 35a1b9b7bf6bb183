"""Norms of complex tensors; TensorFlow 2.21 was asked for dtypes and values."""

import numpy as np
import pytest

from intaglio import tf

X = [[3 + 4j, 1], [2, 1j]]


@pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128])
@pytest.mark.parametrize(
    ("order", "axis", "real", "expected"),
    [
        ("euclidean", None, False, 5.5677643),
        (2, None, False, 5.5677643),
        ("fro", [0, 1], False, 5.5677643),
        ("euclidean", -1, False, [5.0990195, 2.236068]),
        (2, 1, False, [5.0990195, 2.236068]),
        (2, [0, 1], True, 5.4289),
        (1, None, True, 9.0),
        (np.inf, None, True, 5.0),
        (1, [0, 1], True, 7.0),
    ],
)
def test_norms_of_complex_tensors(dtype, order, axis, real, expected):
    x = tf.constant(X, dtype)
    for function in (tf.norm, tf.function(tf.norm)):
        found = function(x, order, axis)
        assert found.dtype == (dtype.real_dtype if real else dtype)
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_a_complex_tensor_is_divided_by_its_norm():
    x = tf.constant(X, tf.complex64)
    np.testing.assert_allclose(tf.norm(x / tf.norm(x)), 1.0, rtol=1e-6)
    scaled, size = tf.linalg.normalize(x)
    assert size.dtype == tf.complex64
    np.testing.assert_allclose(scaled, np.asarray(X) / 5.5677643, rtol=1e-6)


def test_the_gradient_of_the_norm_of_a_complex_tensor():
    x = tf.constant(X, tf.complex128)
    with tf.GradientTape() as tape:
        tape.watch(x)
        size = tf.norm(x)
    np.testing.assert_allclose(tape.gradient(size, x), np.asarray(X) / 5.56776436, rtol=1e-7)
