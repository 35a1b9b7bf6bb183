"""The gradients of the fused batch normalisation against those of its parts."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.opdef import raw

RNG = np.random.RandomState(3)
X, D, E = (RNG.randn(3, 2, 2, 3) for _ in range(3))
SCALE, OFFSET = RNG.rand(3) + 0.5, RNG.randn(3)


def fused(x, scale, offset, layout):
    """y of the op itself, in training."""
    nothing = np.zeros(0)
    return raw.FusedBatchNormV3(
        x, scale, offset, nothing, nothing, epsilon=0.01, data_format=layout
    ).y


def composed(x, scale, offset, layout):
    """The same from a mean and a variance."""
    over = [0, 1, 2] if layout == "NHWC" else [0, 2, 3]
    column = [1, 1, 1, 3] if layout == "NHWC" else [1, 3, 1, 1]
    mean = raw.Mean(x, over, keep_dims=True)
    centred = raw.Sub(x, mean)
    variance = raw.Mean(raw.Square(centred), over, keep_dims=True)
    rate = raw.Rsqrt(raw.AddV2(variance, np.float64(np.float32(0.01))))
    y = raw.Mul(raw.Mul(centred, rate), raw.Reshape(scale, column))
    return raw.AddV2(y, raw.Reshape(offset, column))


def derivatives(function, layout):
    """First derivatives, and derivatives of a weighted sum of them."""
    x, d, e = (
        raw.Transpose(a, [0, 3, 1, 2]) if layout == "NCHW" else raw.Identity(a) for a in (X, D, E)
    )
    scale, offset = raw.Identity(SCALE), raw.Identity(OFFSET)
    sources = [x, scale, offset, d]
    with tf.GradientTape() as outer:
        outer.watch(sources)
        with tf.GradientTape() as tape:
            tape.watch(sources[:3])
            y = function(x, scale, offset, layout)
        first = tape.gradient(y, sources[:3], output_gradients=d)
        mixed = raw.AddV2(
            raw.Sum(raw.Mul(first[0], e), [0, 1, 2, 3]),
            raw.Sum(raw.AddV2(raw.Mul(first[1], OFFSET), first[2]), [0]),
        )
    second = outer.gradient(mixed, [x, scale, d])
    return [t.numpy() for t in (*first, *second)]


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
def test_derivatives_are_those_of_the_parts(layout):
    mine, theirs = derivatives(fused, layout), derivatives(composed, layout)
    for got, wanted in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-7, atol=1e-9)
