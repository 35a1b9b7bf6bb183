"""Systems and eigenvalues of matrices with NaN or infinities are NaN in XLA programs, those of others the host's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import intaglio
from intaglio import tf

FUNCTIONS = {
    "inv": tf.linalg.inv,
    "adjoint inv": lambda x: tf.linalg.inv(x, adjoint=True),
    "solve": lambda x: tf.linalg.solve(x, tf.ones_like(x)),
    "eigvalsh": tf.linalg.eigvalsh,
    "eigh": lambda x: tf.linalg.eigh(x)[0],
    "eigenvectors": lambda x: tf.abs(tf.linalg.eigh(x)[1]),
}


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_what_is_not_finite_is_lost(
    function: Callable[[Any], Any], dtype: str, value: float
) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 4, 4)) + (1j * rng.normal(size=(3, 4, 4)) if dtype[0] == "c" else 0)
    x = (x + x.conj().swapaxes(-1, -2) + 6 * np.eye(4)).astype(dtype)
    with intaglio.backend("xla"):
        run = tf.function(lambda x: function(x), jit_compile=True)
        np.testing.assert_allclose(run(x).numpy(), function(x).numpy(), rtol=1e-3, atol=1e-5)
        x[1, 2, 0] = value
        lost = np.isnan(run(x).numpy()).reshape(3, -1)
    np.testing.assert_array_equal(lost.all(axis=1), [False, True, False])
    np.testing.assert_array_equal(lost.any(axis=1), [False, True, False])
