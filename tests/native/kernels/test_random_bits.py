"""Random numbers from machine code are NumPy's own."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.base.hooks import HOOKS
from intaglio.native.kernels import random_bits
from intaglio.opdef import machine_code
from intaglio.ops.random import philox

# The second counter's lower half runs over within the first blocks.
STREAMS = [philox.Stream(5, 0, 0), philox.Stream(2**64 - 3, 2**64 - 300, 2**64 - 1)]
F32, F64 = np.dtype(np.float32), np.dtype(np.float64)
DRAWS = {
    "bits": philox.bits32,
    "wide bits": philox.bits64,
    "blocks": lambda stream, n: philox.blocks(stream, n // 4, 64),
    "uniform": lambda stream, n: philox.uniform(stream, n, F32),
    "uniform of float64": lambda stream, n: philox.uniform(stream, n, F64),
    "integers": lambda stream, n: philox.uniform_int(stream, n, -5, 17, np.dtype(np.int32)),
}


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("count", [65_536, 65_537, 100_003])
def test_the_same_bits(name, stream, count, monkeypatch):
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    got = DRAWS[name](stream, count)
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    wanted = DRAWS[name](stream, count)
    assert got.dtype == wanted.dtype
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("draw", [philox.normal, philox.truncated_normal])
def test_normal_numbers_hardly_differ(draw, monkeypatch):
    """They are functions of float64 rounded to float32: one in many millions may round elsewhere."""
    got = draw(STREAMS[1], 300_001, F32)
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    wanted = draw(STREAMS[1], 300_001, F32)
    np.testing.assert_allclose(got, wanted, rtol=2e-7)
    assert (got != wanted).sum() <= 2


@pytest.mark.parametrize("name", random_bits.FINISHES)
@pytest.mark.parametrize("count", [1, 2, 3, 63, 64, 65])
def test_any_number_of_them(name, count):
    state = np.array([7, 1, 2, 1], np.uint64)
    whole = random_bits.generator(name, 500)(state)
    np.testing.assert_array_equal(random_bits.generator(name, count)(state), whole[:count])


def test_a_large_draw_is_what_small_ones_are():
    large = tf.random.stateless_uniform([80_000], [1, 2])
    small = tf.random.stateless_uniform([1_000], [1, 2])
    np.testing.assert_array_equal(large[:1_000], small)


@pytest.mark.parametrize("count", [8_192, 8_193, 50_001])
def test_the_same_permutation(count, monkeypatch):
    monkeypatch.setattr(machine_code, "IN_BACKGROUND", False)
    monkeypatch.setattr(machine_code, "MIN_TOTAL_WORK", 0)
    got = philox.permutation(STREAMS[1], count)
    monkeypatch.setattr(HOOKS, "select_kernel", lambda *_: None)
    np.testing.assert_array_equal(got, philox.permutation(STREAMS[1], count))
    np.testing.assert_array_equal(np.sort(got), np.arange(count))
