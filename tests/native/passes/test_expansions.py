"""Ops that are several simpler ones in native code."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from tests.native.vector_math.test_functions import units_off

SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 3e38, -1e-30, 1e-45]


def raised(x, exponent):
    """x to a constant power in native code, and the report."""

    @tf.function(jit_compile=True)
    def power(x):
        return tf.pow(x, exponent)

    return power(x).numpy(), power.compile_report()


def numbers(dtype):
    x = np.random.default_rng(3).normal(size=5000) * 100
    if np.dtype(dtype).kind == "f":
        with np.errstate(over="ignore"):
            return np.concatenate([x, SPECIAL]).astype(dtype)
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_squares_are_products(dtype):
    x = numbers(dtype)
    got, report = raised(tf.constant(x), 2)
    assert "Square" in report
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got, x * x)


def test_cubes_too():
    x = numbers("float32")
    got, report = raised(tf.constant(x), 3)
    assert "Square, Mul" in report
    with np.errstate(over="ignore"):
        right = x.astype(np.float64) ** 3
    assert units_off(got, right).max() <= 2
    whole = numbers("int32")
    np.testing.assert_array_equal(raised(tf.constant(whole), 3)[0], whole**3)


@pytest.mark.parametrize("exponent", [0.5, -2.0, 2.5, 4.0])
def test_other_powers_stay(exponent):
    x = np.abs(numbers("float32"))
    got, report = raised(tf.constant(x), exponent)
    assert "Square" not in report
    with np.errstate(all="ignore"):
        right = x.astype(np.float64) ** exponent
    assert units_off(got, right).max() <= 2


def test_an_exponent_that_is_no_number_or_no_constant():
    @tf.function(jit_compile=True)
    def powers(x, exponent):
        return tf.pow(x, exponent), tf.pow(x, [2.0, 3.0])

    one, two = powers(tf.constant([2.0, 3.0]), tf.constant(3.0))
    assert one.numpy().tolist() == [8, 27]
    assert two.numpy().tolist() == [4, 27]


def test_the_tanh_form_of_gelu_is_products_and_one_function():
    @tf.function(jit_compile=True)
    def gelu(x):
        return tf.nn.gelu(x, approximate=True)

    x = np.linspace(-5, 5, 1001).astype(np.float32)
    np.testing.assert_allclose(gelu(tf.constant(x)), tf.nn.gelu(tf.constant(x), True), atol=1e-6)
    assert "one loop: Square, 5 Mul, 2 AddV2, Tanh" in gelu.compile_report()
