"""Layers with what comes after them as one kernel: the same numbers as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import pooling
from intaglio.native.kernels.windows import Windows
from intaglio.opdef import raw

BATCH = 8


def network(x, filters, bias, padding="SAME"):
    y = tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, filters, 1, padding), bias))
    return y, tf.nn.max_pool2d(y, 2, 2, "VALID")


def step(x, filters, bias):
    with tf.GradientTape() as tape:
        tape.watch([x, filters, bias])
        y, z = network(x, filters, bias)
        loss = tf.reduce_sum(z * z)
    return [y, z, *tape.gradient(loss, [x, filters, bias])]


def given(size, channels, filters):
    rng = np.random.default_rng(channels)
    arrays = (
        rng.normal(size=(BATCH, size, size, channels)),
        rng.normal(size=(3, 3, channels, filters)) * (9 * channels) ** -0.5,
        rng.normal(size=filters),
    )
    return [tf.constant(a, tf.float32) for a in arrays]


@pytest.mark.parametrize("channels", [3, 20, 64])
@pytest.mark.parametrize("filters", [16, 37])
def test_a_convolution_with_pooling(channels, filters):
    arrays = given(32, channels, filters)
    compiled = tf.function(step, jit_compile=True)
    eager = step(*arrays)
    for _ in range(2):
        got = compiled(*arrays)
        for one, wanted in zip(got[:4], eager[:4], strict=True):
            np.testing.assert_array_equal(one, wanted)
        largest = np.abs(eager[4]).max()
        np.testing.assert_allclose(got[4], eager[4], rtol=0, atol=2e-6 * largest)
    report = compiled.compile_report()
    # What Relu made is a result: the pooling's gradient reads it.
    assert "one kernel: Conv2D, BiasAdd, Relu, MaxPool  " in report
    assert "one kernel: MaxPoolGrad, ReluGrad, BiasAddGrad" in report


@pytest.mark.parametrize("channels", [3, 20])
@pytest.mark.parametrize("size", [32, 30])
def test_a_gradient_by_the_argmax(channels, size):
    """Nobody but gradients wants to know what Relu made: it is never written."""
    arrays = given(size, channels, 16)

    def without(*arrays):
        return step(*arrays)[1:]

    compiled = tf.function(without, jit_compile=True)
    eager = without(*arrays)
    got = compiled(*arrays)
    for one, wanted in zip(got[:3], eager[:3], strict=True):
        np.testing.assert_array_equal(one, wanted)
    largest = np.abs(eager[3]).max()
    np.testing.assert_allclose(got[3], eager[3], rtol=0, atol=2e-6 * largest)
    report = compiled.compile_report()
    assert "one kernel: Conv2D, BiasAdd, _ReluMaxPool  " in report
    assert "one kernel: _ReluMaxPoolGrad, BiasAddGrad  " in report
    assert "MaxPoolGrad, ReluGrad" not in report


def test_a_gradient_by_the_argmax_without_a_convolution():
    x = tf.random.stateless_normal([8, 32, 32, 20], [1, 2])

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = tf.nn.max_pool2d(tf.nn.relu(x), 2, 2, "VALID")
            loss = tf.reduce_sum(z * z)
        return [z, tape.gradient(loss, x)]

    compiled = tf.function(step, jit_compile=True)
    for got, wanted in zip(compiled(x), step(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    report = compiled.compile_report()
    assert "one kernel: _ReluMaxPool  " in report
    assert "one kernel: _ReluMaxPoolGrad  " in report


@pytest.mark.parametrize("case", ["maximum", "mean", "plain", "fast"])
@pytest.mark.parametrize("channels", [3, 20])
def test_a_convolution_and_a_pooling_without_gradients(case, channels):
    x, filters, bias = given(32, channels, 21)
    pool = tf.nn.avg_pool2d if case == "mean" else tf.nn.max_pool2d

    def run(x):
        y = tf.nn.conv2d(x, filters, 1, "SAME") + bias
        return pool(y if case == "plain" else tf.nn.relu(y), 2, 2, "VALID")

    compiled = tf.function(run, jit_compile=True)
    allow = tf.config.experimental.enable_tensor_float_32_execution
    allow(case == "fast")
    try:
        got, wanted = compiled(x), run(x)
    finally:
        allow(False)
    np.testing.assert_array_equal(got, wanted)
    relu = "" if case == "plain" else "Relu, "
    name = "AvgPool" if case == "mean" else "MaxPool"
    assert f"one kernel: Conv2D, AddV2, {relu}{name}  " in compiled.compile_report()


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("side", [15, 16])
def test_other_windows_are_pooled_apart(size, side):
    x, filters, bias = given(side, 20, 16)
    x = tf.concat([x] * 4, 0)

    def run(x):
        y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + bias)
        return tf.nn.max_pool2d(y, size, 2, "SAME")

    compiled = tf.function(run, jit_compile=True)
    np.testing.assert_array_equal(compiled(x), run(x))
    together = "Relu, MaxPool" in compiled.compile_report()
    assert together == (size == 2 and side == 16)


@pytest.mark.parametrize("op", ["_ReluMaxPool", "_ReluMaxPoolGrad"])
def test_the_kernels_of_fused_ops(op):
    """What is interpreted where there is no machine code."""
    rng = np.random.default_rng(0)
    x = rng.integers(-3, 4, (3, 8, 6, 5)).astype(np.float32)
    x[0, :2, :2], x[1, 0, 0, 0] = np.nan, np.nan
    w = Windows(3, 8, 6, 5, 4, 3, 2, 2, 2, 2, 0, 0)
    kernel = raw.find(op).kernel
    made, places = pooling.maximum_with_argmax(w)(x)
    if op == "_ReluMaxPool":
        for got, wanted in zip(kernel(x), (made, places), strict=True):
            np.testing.assert_array_equal(got, wanted)
        return
    d = rng.normal(size=made.shape).astype(np.float32)
    got, sums = pooling.argmax_gradient(w)(places, d)
    np.testing.assert_array_equal(got, kernel(places, d))
    np.testing.assert_allclose(sums, got.sum((1, 2)), rtol=1e-5, atol=1e-5)


def test_without_relu_and_with_other_additions():
    x, filters, bias = given(32, 20, 16)

    def plain(x):
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        return [bias + y, tf.nn.conv2d(x, filters, 1, "VALID") + bias]

    compiled = tf.function(plain, jit_compile=True)
    for got, wanted in zip(compiled(x), plain(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert compiled.compile_report().count("one kernel: Conv2D, AddV2") == 2


@pytest.mark.parametrize("which", ["used", "larger", "strange", "overlapping"])
def test_what_stays_apart(which):
    x, filters, bias = given(32, 20, 16)

    def apart(x):
        y = tf.nn.conv2d(x, filters, 1, "SAME")
        if which == "used":
            return [tf.nn.relu(y + bias), y]
        if which == "larger":
            return [y + tf.reshape(tf.range(512.0), [32, 1, 16])]
        if which == "strange":
            return [y + tf.reshape(bias, [1, 16])]
        with tf.GradientTape() as tape:
            tape.watch(y)
            z = tf.nn.max_pool2d(tf.nn.relu(y), 3, 2, "SAME")
        return [tape.gradient(z, y)]

    compiled = tf.function(apart, jit_compile=True)
    for got, wanted in zip(compiled(x), apart(x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)
    assert "one kernel:" not in compiled.compile_report()


def test_nan_and_infinity_are_treated_alike():
    x, filters, bias = (a.numpy() for a in given(16, 16, 16))
    x[0, 3, 3, 1], bias[5] = np.nan, np.inf
    arrays = [tf.constant(np.repeat(x, 4, 0)), tf.constant(filters), tf.constant(bias)]

    def sloped(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, z = network(x, *arrays[1:])
        return [y, z, tape.gradient(z, x)]

    compiled = tf.function(sloped, jit_compile=True)
    for got, wanted in zip(compiled(arrays[0]), sloped(arrays[0]), strict=True):
        # Eager calls go tap by tap where an image has NaN: sums have another order.
        np.testing.assert_allclose(got, wanted, rtol=0, atol=4e-6)


def test_one_tensor_as_two_operands():
    x, filters, bias = given(32, 16, 16)

    def twice(x):
        with tf.GradientTape() as tape:
            y = tf.nn.relu(tf.nn.conv2d(x, filters, 1, "SAME") + bias)
            tape.watch(y)
            made = tf.nn.relu(y)
            z = tf.nn.max_pool2d(made, 2, 2, "VALID")
            # The gradient by z is z.
            loss = tf.reduce_sum(z * tf.stop_gradient(z))
        return [z, tape.gradient(loss, y)]

    compiled = tf.function(twice, jit_compile=True)
    for got, wanted in zip(compiled(x), twice(x), strict=True):
        np.testing.assert_array_equal(got, wanted)
    assert "one kernel: _ReluMaxPoolGrad" in compiled.compile_report()
