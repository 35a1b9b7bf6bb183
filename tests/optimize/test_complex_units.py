"""Complex numbers with units: what an infinite part, NaN or -0 gives is the same at every call."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from intaglio import tf

PARTS = (np.inf, -np.inf, np.nan, 0.0, -0.0, 1.5, -3e38)
NEGATIVE_ZERO = complex(-0.0, 0.0)
CALLS: dict[str, Callable[[Any], Any]] = {
    "x * 1": lambda x: x * 1,
    "1 * x": lambda x: 1 * x,
    "x / 1": lambda x: x / 1,
    "x + 0": lambda x: x + 0,
    "0 + x": lambda x: 0 + x,
    "x - 0": lambda x: x - 0,
    "x - (-0)": lambda x: x - tf.constant(NEGATIVE_ZERO, x.dtype),
    "x - (-0)*": lambda x: x - tf.constant(complex(0.0, -0.0), x.dtype),
    "x * ones": lambda x: x * tf.ones_like(x),
    "conj(conj(x))": lambda x: tf.math.conj(tf.math.conj(x)),
    "-(-x)": lambda x: tf.negative(tf.negative(x)),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("repeated", [1, 40])
def test_units_change_nothing_between_calls(name: str, dtype: str, repeated: int) -> None:
    pairs = [complex(a, b) for a, b in itertools.product(PARTS, PARTS)]
    x = tf.constant(np.array(pairs * repeated, dtype))
    function = CALLS[name]
    graph, compiled = tf.function(function), tf.function(function, jit_compile=True)
    want = function(x).numpy()
    for got in (graph(x), graph(x), graph(x), compiled(x), compiled(x)):
        for mine, theirs in ((got.numpy().real, want.real), (got.numpy().imag, want.imag)):
            np.testing.assert_array_equal(mine, theirs)
            known = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine[known]), np.signbit(theirs[known]))
