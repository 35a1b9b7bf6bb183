"""Products of complex numbers have no factor of 1: one number is its own product, as in TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

PARTS = [
    (-0.0, np.inf),
    (np.inf, 1.0),
    (np.inf, np.inf),
    (np.nan, np.inf),
    (1.0, -0.0),
    (-0.0, -0.0),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_one_number_is_its_product(dtype: str) -> None:
    z: Any = np.zeros((6, 1), dtype)
    z.real, z.imag = np.array(PARTS).T[..., None]
    runs: dict[str, tuple[Any, Any]] = {
        "rows": (z, lambda x: tf.reduce_prod(x, 1)),
        "columns": (z.T, lambda x: tf.reduce_prod(x, 0)),
        "kept": (z, lambda x: tf.reduce_prod(x, 1, keepdims=True)[:, 0]),
        "both": (z[:, None], lambda x: tf.reduce_prod(x, [1, 2])),
    }
    for name, (x, run) in runs.items():
        modes: list[Any] = [run, tf.function(run), tf.function(run, jit_compile=True)]
        for mode in modes:
            got = mode(tf.constant(x)).numpy()
            for a, b in ((got.real, z.real[:, 0]), (got.imag, z.imag[:, 0])):
                np.testing.assert_array_equal(a, b, err_msg=name)
                known = ~np.isnan(b)
                np.testing.assert_array_equal(np.signbit(a[known]), np.signbit(b[known]))


@pytest.mark.parametrize("size", [1, 5, 64, 65, 200, 256])
def test_long_products(size: int) -> None:
    rng = np.random.default_rng(0)
    z = np.exp(1j * rng.normal(size=(3, size)))
    np.testing.assert_allclose(tf.reduce_prod(z, 1).numpy(), np.prod(z, axis=1), rtol=1e-12)
    assert tf.reduce_prod(z[:, :0], 1).numpy().tolist() == [1, 1, 1]
