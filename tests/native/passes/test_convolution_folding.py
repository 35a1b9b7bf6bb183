"""Normalisations with given statistics become part of the convolution before them."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf

RNG = np.random.default_rng(0)
CHANNELS, FILTERS = 20, 24


def tensor(*shape, low=None):
    made = RNG.normal(size=shape) if low is None else RNG.uniform(low, 2.0, shape)
    return tf.constant(made, tf.float32)


X = tensor(8, 32, 32, CHANNELS)
W = tensor(3, 3, CHANNELS, FILTERS) * 0.1
BIAS, SCALE, OFFSET, MEAN = (tensor(FILTERS) for _ in range(4))
VARIANCE = tensor(FILTERS, low=0.5)


def fused(y, op="FusedBatchNormV3"):
    return getattr(tf.raw_ops, op)(
        x=y,
        scale=SCALE,
        offset=OFFSET,
        mean=MEAN,
        variance=VARIANCE,
        epsilon=1e-3,
        is_training=False,
    )


def written_out(y):
    shaped = [tf.reshape(v, [1, 1, 1, FILTERS]) for v in (MEAN, VARIANCE)]
    return (y - shaped[0]) * tf.math.rsqrt(shaped[1] + 1e-3) * SCALE + OFFSET


def in_nn(y):
    return tf.nn.batch_normalization(y, MEAN, VARIANCE, OFFSET, SCALE, 1e-3)


FORMS = {
    "V1": lambda y: fused(y, "FusedBatchNorm")[0],
    "V3": lambda y: fused(y)[0],
    "written out": written_out,
    "in nn": in_nn,
    "twice": lambda y: in_nn(fused(y + BIAS)[0] * 0.5 - MEAN),
    "only scaled": lambda y: y * SCALE,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("relu", [False, True])
def test_it_is_part_of_the_convolution(form, biased, relu):
    def run(x, w):
        y = tf.nn.conv2d(x, w, 1, "SAME")
        y = FORMS[form](tf.nn.bias_add(y, BIAS) if biased else y)
        return tf.nn.max_pool2d(tf.nn.relu(y), 2, 2, "VALID") if relu else y

    compiled = tf.function(run, jit_compile=True)
    np.testing.assert_allclose(compiled(X, W), run(X, W), rtol=0, atol=2e-5)
    report = compiled.compile_report()
    assert "one kernel: FusedBatchNorm" not in report
    if biased or form != "only scaled":
        end = ", Relu, MaxPool" if relu else ""
        assert f"one kernel: Conv2D, AddV2{end}  " in report


def test_statistics_are_still_returned():
    def run(x):
        made = fused(tf.nn.conv2d(x, W, 1, "SAME"))
        return [made[0], *made[1:5]]

    compiled = tf.function(run, jit_compile=True)
    for got, wanted in zip(compiled(X), run(X), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-5)
    assert "one kernel: Conv2D, AddV2  " in compiled.compile_report()


@pytest.mark.parametrize("which", ["used", "training", "by rows", "transposed"])
def test_what_is_not_folded(which):
    def run(x):
        y = tf.nn.conv2d(x, W, 1, "SAME")
        if which == "used":
            return [y * SCALE, y]
        if which == "training":
            return [
                tf.raw_ops.FusedBatchNormV3(x=y, scale=SCALE, offset=OFFSET, mean=[], variance=[])[
                    0
                ]
            ]
        if which == "by rows":
            return [y * tf.reshape(tf.range(32.0), [32, 1, 1])]
        return [MEAN - y]

    compiled = tf.function(run, jit_compile=True)
    for got, wanted in zip(compiled(X), run(X), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=2e-5)
    assert "one kernel: Conv2D" not in compiled.compile_report()


def test_variables_change():
    """What is folded is what the variables are then."""
    scale = tf.Variable(SCALE)

    def run(x):
        y = tf.nn.conv2d(x, W, 1, "SAME")
        return tf.nn.batch_normalization(y, MEAN, VARIANCE, OFFSET, scale, 1e-3)

    compiled = tf.function(run, jit_compile=True)
    for factor in (1.0, -2.0):
        scale.assign(SCALE * factor)
        np.testing.assert_allclose(compiled(X), run(X), rtol=0, atol=4e-5)
