"""Bessel functions in machine code against the ops' kernels, which compute each element by NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from intaglio import tf
from intaglio.ops.math import bessel_functions

NAMES = ("bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1")
EDGES = [0.0, -0.0, 8.0, -8.0, np.inf, -np.inf, np.nan, 1e-30, 100.0, -600.0, 5e-324]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", NAMES)
def test_everywhere(name, dtype):
    x = tf.cast(np.concatenate([np.linspace(-40, 40, 20_001), EDGES]), dtype)
    function = getattr(tf.math.special, name)
    with np.errstate(all="ignore"):
        exact = getattr(bessel_functions, name.removeprefix("bessel_"))(
            tf.cast(x, tf.float64).numpy()
        )
        right = tf.cast(exact, dtype).numpy().astype("float64")
    tolerance = {"float64": 1e-12, "float32": 2e-7}.get(dtype, 8e-3)
    traced = tf.function(lambda x: function(x), jit_compile=True)
    for found in (function(x), traced(x)):
        found = tf.cast(found, tf.float64).numpy()
        np.testing.assert_allclose(found, right, rtol=tolerance, atol=tolerance * 1e-3)
        assert np.signbit(found[-10:-8]).tolist() == np.signbit(right[-10:-8]).tolist()
    assert "NumPy" not in traced.compile_report()
