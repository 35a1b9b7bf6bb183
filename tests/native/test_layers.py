"""Layers with what comes after them as one kernel: the same numbers as one after the other."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

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
    assert "one kernel: Conv2D, BiasAdd, Relu" in report
    assert "one kernel: MaxPoolGrad, ReluGrad, BiasAddGrad" in report


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


def test_nan_and_infinity_go_the_same_ways():
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
        np.testing.assert_array_equal(got, wanted)


def test_one_tensor_in_two_places():
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
    assert "one kernel: MaxPoolGrad, ReluGrad" in compiled.compile_report()
