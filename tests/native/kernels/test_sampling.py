"""Rejection sampling in machine code draws the numbers of the NumPy code."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.opdef import machine_code
from intaglio.ops.random import rejection_sampling
from intaglio.ops.random.philox import Stream

RNG = np.random.default_rng(0)
STREAMS = [Stream(5, 0, 7), Stream((1 << 64) - 9, (1 << 64) - 300, (1 << 63) + 5)]
RATES = np.concatenate(
    [RNG.uniform(0, 30, 600), [0.0, -0.0, -1.0, np.nan, np.inf, -np.inf, 9.999, 10.0, 1e5, 1e12]]
)
SHAPES = np.concatenate([RNG.uniform(0, 3, 600), [1.0, 1.0, 0.0, -1.0, np.nan, 1e-3, 1e4]])


@pytest.fixture
def both(monkeypatch):
    """The result of a call with machine code, and without it."""

    def run(call):
        monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
        monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
        with_it = call()
        monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
        return with_it, call()

    return run


@pytest.mark.parametrize("stream", STREAMS, ids=["small", "carries"])
@pytest.mark.parametrize("most", [1e30, 35.0], ids=["any", "few"])
def test_poisson(stream, most, both):
    rates = RATES[(most > RATES) | ~np.isfinite(RATES)]
    streams = np.arange(rates.size) * 3
    got, wanted = both(lambda: rejection_sampling.poisson(stream, rates, streams, most))
    np.testing.assert_array_equal(got, wanted)
    assert 10 < got.max() <= most


@pytest.mark.parametrize("stream", STREAMS, ids=["small", "carries"])
def test_gamma(stream, both):
    streams = np.arange(SHAPES.size)
    got, wanted = both(lambda: rejection_sampling.gamma(stream, SHAPES, streams, double=False))
    np.testing.assert_allclose(got, wanted, rtol=1e-11)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_ops(dtype, both):
    rates = RNG.uniform(0, 20, (3, 4)).astype(dtype)
    for call in (
        lambda: tf.random.stateless_poisson([5, 3, 4], [1, 2], rates, "float32").numpy(),
        lambda: tf.random.stateless_gamma([5, 3, 4], [1, 2], rates, dtype=dtype).numpy(),
        lambda: tf.random.stateless_gamma([0, 3, 4], [1, 2], rates, dtype=dtype).numpy(),
    ):
        got, wanted = both(call)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got, wanted, rtol=1e-6)
