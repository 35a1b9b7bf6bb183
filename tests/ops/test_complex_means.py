"""Means of complex numbers, of which some are not finite, and of zeros.

TensorFlow 2.21 was asked: a sum is divided by the count as a complex number in C is. Beside an infinite part or
NaN a finite part becomes NaN; infinite parts stay. (Its vectors of complex128 make NaN of those, too.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

INF, NAN = np.inf, np.nan
ZERO = complex(-0.0, -0.0)
ANSWERS = [
    ([INF, 1], (INF, NAN)),
    ([complex(INF, 1), 2], (INF, NAN)),
    ([complex(1, INF), 2], (NAN, INF)),
    ([complex(INF, NAN), 1], (INF, NAN)),
    ([complex(INF, INF), 1], (INF, INF)),
    ([complex(-INF, INF), complex(INF, 1)], (NAN, INF)),
    ([complex(NAN, 1), 1], (NAN, NAN)),
    ([ZERO], (-0.0, -0.0)),
    ([ZERO, ZERO], (0.0, 0.0)),
    ([3 + 1j, 1 - 2j], (2.0, -0.5)),
]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(("numbers", "parts"), ANSWERS, ids=str)
def test_parts(dtype: str, numbers: list[complex], parts: tuple[float, float]) -> None:
    def flat(x: Any) -> Any:
        return tf.reduce_mean(x)

    def columns(x: Any) -> Any:
        return tf.reduce_mean(tf.tile(x[:, None], [1, 40]), 0, keepdims=True)

    def rows(x: Any) -> Any:
        return tf.reduce_mean(tf.tile(x[None], [40, 1]), 1)

    x = tf.constant(np.array(numbers, dtype))
    for f in (flat, columns, rows):
        for run in (f, tf.function(f), tf.function(f, jit_compile=True)):
            found: Any = run(x).numpy()
            for part, want in zip((found.real, found.imag), parts, strict=True):
                np.testing.assert_array_equal(part, np.full(np.shape(part), want))
                assert np.isnan(want) or (np.signbit(part) == np.signbit(want)).all()
