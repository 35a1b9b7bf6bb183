"""Ops that compiled functions see as simpler ones: what they are, and when they stay themselves."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf


def compiled(function, *arrays):
    """The results of compiled and of eager code, and the report."""
    given = [tf.constant(a) for a in arrays]
    call = tf.function(function, jit_compile=True)
    return call(*given), function(*given), call.compile_report()


def normal(*shape, dtype="f4"):
    return np.random.default_rng(0).normal(size=shape).astype(dtype)


def test_clipping_joins_the_loop_around_it():
    def clipped(x):
        limits = tf.constant(-0.5), tf.constant(0.5)
        made = tf.raw_ops.ClipByValue(t=x * 2.0, clip_value_min=limits[0], clip_value_max=limits[1])
        return made + 1.0

    x = normal(5, 7)
    x[0, 0] = np.nan
    made, wanted, report = compiled(clipped, x)
    np.testing.assert_array_equal(made, wanted)
    assert "Maximum, Minimum, AddV2" in report.split("one loop: ")[1]


def test_a_limit_of_another_shape_stays_an_error():
    def clipped(x, low):
        return tf.raw_ops.ClipByValue(t=x, clip_value_min=low, clip_value_max=low)

    with pytest.raises(tf.errors.InvalidArgumentError):
        compiled(clipped, normal(3), normal(2, 3))


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC"])
def test_gradients_of_mirrored_padding_have_the_kernels_bits(mode):
    def gradient(x):
        return tf.raw_ops.MirrorPadGrad(input=x, paddings=[[0, 0], [2, 3], [4, 0]], mode=mode)

    made, wanted, report = compiled(gradient, normal(3, 11, 12))
    assert made.numpy().tobytes() == wanted.numpy().tobytes()
    assert "NumPy" not in report


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_products_of_complex_matrices_are_four_of_real_ones(dtype):
    a = (normal(20, 30) + 1j * normal(20, 30)[::-1]).astype(dtype)
    made, wanted, report = compiled(lambda x: tf.matmul(x, x, adjoint_b=True), a)
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)
    assert "NumPy" not in report


def test_batches_are_broadcast_before_they_are_multiplied():
    made, wanted, report = compiled(tf.matmul, normal(3, 1, 2, 3), normal(5, 3, 4))
    assert made.shape == (3, 5, 2, 4)
    np.testing.assert_allclose(made, wanted, rtol=1e-5, atol=1e-6)
    assert "NumPy" not in report


@pytest.mark.parametrize("equation", ["ijk->kj", "...j,kj->...k", "ij,kl->jl", "bij,bik->"])
def test_sums_over_one_operand_and_dots(equation):
    shapes = {
        "ijk->kj": [(2, 3, 4)],
        "...j,kj->...k": [(2, 3, 4), (5, 4)],
        "ij,kl->jl": [(2, 3), (4, 5)],
        "bij,bik->": [(2, 3, 4), (2, 3, 5)],
    }
    given = [normal(*s) for s in shapes[equation]]
    made, wanted, report = compiled(lambda *a: tf.einsum(equation, *a), *given)
    np.testing.assert_allclose(made, wanted, rtol=1e-4, atol=1e-4)
    assert "NumPy" not in report


def test_counts_drop_what_is_too_large_and_refuse_what_is_negative():
    def counted(x):
        return tf.raw_ops.Bincount(arr=x, size=4, weights=tf.constant([], tf.float32))

    made, _, report = compiled(counted, np.array([0, 1, 1, 9, 3, 4], "i4"))
    assert made.numpy().tolist() == [1, 2, 0, 1]
    assert "NumPy" not in report
    with pytest.raises(tf.errors.InvalidArgumentError, match="non-negative"):
        compiled(counted, np.array([0, -1, 1, 9, 3, 4], "i4"))


def test_an_assertion_in_a_loop_is_a_jump_out_of_it():
    @tf.function(jit_compile=True)
    def total(x, limit):
        sums = tf.zeros([4])
        for i in tf.range(100):
            tf.debugging.assert_less(i, limit, message="too far")
            sums += x
        return sums

    x = tf.constant(normal(4))
    np.testing.assert_allclose(total(x, 100), 100 * x.numpy(), rtol=1e-4)
    assert "NumPy" not in total.compile_report()
    with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
        total(x, 50)


def test_an_assertion_that_fails_leaves_variables_as_they_were():
    v = tf.Variable(normal(30))
    before = v.numpy()

    @tf.function(jit_compile=True)
    def step(x):
        v.assign_add(x)
        tf.debugging.assert_positive(tf.reduce_sum(x), message="not positive")
        v.assign_add(x)

    step(tf.ones([30]))
    np.testing.assert_allclose(v.numpy(), before + 2, rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="not positive"):
        step(-tf.ones([30]))
    # The interpreter has come as far as the first assignment.
    np.testing.assert_allclose(v.numpy(), before + 1, rtol=1e-6)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_are_checked_in_machine_code(bad):
    @tf.function(jit_compile=True)
    def checked(x):
        return tf.exp(tf.debugging.check_numerics(x, "here"))

    x = normal(100)
    np.testing.assert_allclose(checked(tf.constant(x)), np.exp(x), rtol=1e-6)
    assert "NumPy" not in checked.compile_report()
    x[77] = bad
    with pytest.raises(tf.errors.InvalidArgumentError, match="here"):
        checked(tf.constant(x))
