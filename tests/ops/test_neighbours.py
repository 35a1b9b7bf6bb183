"""Dilation and normalisation over neighbouring channels: the quick ways give what the definitions do."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.nn import morphology

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("rate", [1, 2, 5])
def test_dilation(dtype, padding, stride, rate):
    for shape, taps in (
        ((1, 6, 7, 1), (2, 3)),
        ((2, 11, 12, 3), (3, 1)),
        ((1, 200, 33, 2), (2, 2)),
    ):
        x = RNG.standard_normal(shape).astype(dtype)
        filters = RNG.standard_normal((*taps, shape[3])).astype(dtype)
        attrs = [1, stride, stride, 1], [1, rate, rate, 1], padding
        reach = [rate * (n - 1) + 1 for n in taps]
        if padding == "VALID" and (reach[0] > shape[1] or reach[1] > shape[2]):
            continue
        plan = morphology._plan(x, filters, *attrs)
        found = tf.nn.dilation2d(x, filters, attrs[0], padding, "NHWC", attrs[1]).numpy()
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, morphology._best(x, filters, plan)[0])


def test_dilation_of_what_is_no_number():
    x = RNG.standard_normal((1, 5, 6, 2)).astype(np.float32)
    x[0, 2, 3, 1], x[0, 0, 0, 0], x[0, 4, 4, 0] = np.nan, -np.inf, np.inf
    filters = np.zeros((2, 2, 2), np.float32)
    plan = morphology._plan(x, filters, [1] * 4, [1] * 4, "SAME")
    found = tf.nn.dilation2d(x, filters, [1] * 4, "SAME", "NHWC", [1] * 4).numpy()
    np.testing.assert_array_equal(found, morphology._best(x, filters, plan)[0])


@pytest.mark.parametrize("beta", [0.5, 0.75, 1.0, 0.3, -0.5])
@pytest.mark.parametrize("radius", [0, 1, 5, 40])
@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 4, 7), (0, 2, 2, 3), (1, 90, 60, 13)])
def test_normalisation_over_channels(beta, radius, shape):
    x = RNG.standard_normal(shape)
    channels = np.arange(shape[-1])
    near = np.abs(channels[:, None] - channels) <= radius
    norm = (0.7 + 0.3 * np.square(x) @ near) ** beta
    found = tf.raw_ops.LRN(
        input=x.astype(np.float32), depth_radius=radius, bias=0.7, alpha=0.3, beta=beta
    )
    np.testing.assert_allclose(found, x / norm, rtol=1e-5, atol=1e-6)
