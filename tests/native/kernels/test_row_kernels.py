"""Normalisations and the like as one pass over rows: what becomes one, and that it is right."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import reductions, softmax
from intaglio.native.kernels.row_kernels import form_of
from intaglio.native.passes.row_fusion import MIN_ROW
from intaglio.native.runtime import entry

LENGTHS = [2, 5, 16, 37, 64, 65, 130, 200, 1024]


def normal(x, scale, offset):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-3) * scale + offset


def with_gradients(function):
    def step(*given):
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = function(*given)
            loss = tf.reduce_sum(y * tf.sin(given[0]))
        return [y, *tape.gradient(loss, given)]

    return step


def given(length, rows=(64, 9)):
    shape = (max(rows[0], entry.MIN_PARALLEL_ELEMENTS // length // rows[1] + 1), rows[1], length)
    rng = np.random.default_rng(length)
    return [rng.normal(size=s) for s in (shape, (length,), (length,))]


def compare(function, arrays, bound):
    wanted = function(*[tf.constant(a) for a in arrays])
    compiled = tf.function(function, jit_compile=True)
    singles = [tf.constant(a, tf.float32) for a in arrays]
    got = compiled(*singles)
    for x, w in zip(got, wanted, strict=True):
        assert x.shape == w.shape
        largest = max(abs(w.numpy()).max(), 1.0)
        np.testing.assert_allclose(x, w, rtol=0, atol=bound * largest)
    for x, again in zip(got, compiled(*singles), strict=True):
        np.testing.assert_array_equal(x, again)
    return compiled


@pytest.mark.parametrize("length", LENGTHS)
def test_layer_normalisation(length):
    compiled = compare(with_gradients(normal), given(length), 3e-6)
    assert ("one pass over rows:" in compiled.compile_report()) == (length >= MIN_ROW)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("op", [tf.nn.softmax, tf.nn.log_softmax])
def test_softmax(op, length):
    x, scale, offset = given(length)
    compare(with_gradients(lambda x, s, o: op(x * s) + o), [3 * x, scale, offset], 3e-6)


def extremes(x, scale, offset):
    least = tf.reduce_min(x, -1, keepdims=True)
    most = tf.reduce_max(x, -1, keepdims=True)
    return [(x - least) / (most - least), most + least, tf.reduce_sum(x, [0, 1])]


@pytest.mark.parametrize("length", LENGTHS)
def test_extremes_and_results_of_every_form(length):
    compare(extremes, given(length), 3e-6)


def test_softmax_gives_the_bits_of_its_own_kernel():
    x = given(100)[0].astype(np.float32)
    doubled = tf.function(lambda x: tf.nn.softmax(x + x), jit_compile=True)
    wanted = softmax.row_softmax("softmax", x.shape)(x + x)
    np.testing.assert_array_equal(doubled(tf.constant(x)), wanted)


def test_sums_along_rows_give_the_bits_of_their_own_kernel():
    x = given(1000)[0].astype(np.float32)
    mean = tf.function(lambda x: tf.reduce_mean(x * x, -1, keepdims=True), jit_compile=True)
    wanted = reductions.reduction("mean", x.shape, (2,), True)(x * x)
    np.testing.assert_array_equal(mean(tf.constant(x)), wanted)


def test_what_is_not_finite_stays_in_its_row():
    x, scale, offset = (a.astype(np.float32) for a in given(40))
    x[0, 3, 7], x[5, 2, 1] = np.nan, np.inf
    got = tf.function(normal, jit_compile=True)(*map(tf.constant, (x, scale, offset)))
    wrong = np.isnan(got.numpy()).any(-1)
    assert wrong[0, 3]
    assert wrong[5, 2]
    assert wrong.sum() == 2


def test_rows_behind_a_product_are_a_cluster_of_their_own():
    def block(x, scale, offset):
        first = normal(x, scale, offset)
        second = normal(tf.matmul(first, tf.ones([40, 40], x.dtype)) * 0.1, scale, offset)
        return [first, second]

    compiled = compare(block, given(40), 1e-5)
    assert compiled.compile_report().count("rows:") == 2


def test_small_arrays_and_other_axes_are_left():
    def other(x):
        return x / tf.reduce_sum(x, 1, keepdims=True)

    compiled = tf.function(other, jit_compile=True)
    compiled(tf.ones([40, 40, 40]))
    assert "rows:" not in compiled.compile_report()
    small = tf.function(lambda x: normal(x, 1.0, 0.0), jit_compile=True)
    small(tf.ones([4, 40]))
    assert "rows:" not in small.compile_report()


@pytest.mark.parametrize(
    ("dims", "form"),
    [
        ((3, 4, 5), "wide"),
        ((3, 4, 1), "narrow"),
        ((5,), "columns"),
        ((1, 5), "columns"),
        ((), "number"),
        ((1, 1, 1), "number"),
        ((4, 5), ""),
        ((3, 4), ""),
        ((2, 3, 4, 5), ""),
        (None, ""),
        ((None, 4, 5), ""),
    ],
)
def test_forms(dims, form):
    assert form_of(dims, (3, 4, 5)) == form
