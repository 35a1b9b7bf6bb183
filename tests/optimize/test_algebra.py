"""Neutral elements: what is left out had given the number itself, for NaN, infinities and signed zeros too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf

PARTS = (1.5, 0.0, -0.0, np.inf, -np.inf, np.nan)
EXPRESSIONS = {
    "x * 1": lambda x: x * tf.ones([], x.dtype),
    "1 * x": lambda x: tf.ones([], x.dtype) * x,
    "x / 1": lambda x: x / tf.ones([], x.dtype),
    "x - 0": lambda x: x - tf.zeros([], x.dtype),
    "x - -0": lambda x: x - tf.constant(-0.0, x.dtype),
    "x - (-0 + 0i)": lambda x: x - _constant(-0.0, 0.0, x.dtype),
    "x - (0 - 0i)": lambda x: x - _constant(0.0, -0.0, x.dtype),
    "x - (-0 - 0i)": lambda x: x - _constant(-0.0, -0.0, x.dtype),
    "--x": lambda x: tf.negative(tf.negative(x)),
    "conj conj x": lambda x: tf.math.conj(tf.math.conj(x)),
}


def _constant(real: float, imaginary: float, dtype: Any) -> Any:
    number = complex(real, imaginary) if dtype.is_complex else real
    return tf.constant(np.asarray(number).astype(dtype.as_numpy_dtype))


@pytest.mark.parametrize("name", sorted(EXPRESSIONS))
@pytest.mark.parametrize(
    "dtype", [tf.float16, tf.bfloat16, tf.float64, tf.complex64, tf.complex128]
)
def test_every_call_gives_the_bits_of_the_eager_one(name: str, dtype: Any) -> None:
    if dtype.is_complex:
        numbers = np.array([complex(a, b) for a in PARTS for b in PARTS])
    else:
        numbers = np.array(PARTS)
    x = tf.constant(numbers.astype(dtype.as_numpy_dtype))
    f = EXPRESSIONS[name]
    want = signs(f(x))
    for jit_compile in (None, True):
        traced = tf.function(f, jit_compile=jit_compile, autograph=False)
        for _ in range(2):  # the second call runs the optimised graph
            assert signs(traced(x)) == want


def signs(x: Any) -> list[str]:
    """The numbers with the signs of zeros; a NaN has none."""
    parts = (x.numpy().real, x.numpy().imag) if x.dtype.is_complex else (x.numpy(),)
    return [str(float(n)).replace("-nan", "nan") for part in parts for n in part]
