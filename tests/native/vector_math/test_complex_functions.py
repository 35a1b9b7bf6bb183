"""Functions of complex numbers in machine code: against NumPy's in double the digits, in all quarters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from intaglio import tf

NAMES = ["exp", "log", "log1p", "expm1", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
         "asin", "acos", "atan", "asinh", "acosh", "atanh"]  # fmt: skip
OURS = {"log": tf.math.log, "log1p": tf.math.log1p, "expm1": tf.math.expm1}
THEIRS = {f"a{n}": f"arc{n}" for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")}


def numbers():
    """Points of all sizes, near the axes and near 1 and i too."""
    rng = np.random.default_rng(4)
    size = np.exp(rng.uniform(-12, 2.5, 4000))
    points = size * np.exp(1j * rng.uniform(-np.pi, np.pi, 4000))
    near = (np.array([1, -1, 1j, -1j])[:, None] + 0.01 * points[:500]).reshape(-1)
    return np.concatenate([points, near, points.real[:200] + 1e-9j, 1j * points.imag[:200] + 1e-9])


def of(name, x):
    """What compiled code gives, and NumPy in complex128."""
    function = OURS.get(name) or getattr(tf, name, None) or getattr(tf.math, name)
    call = tf.function(function, jit_compile=True)
    made = call(tf.constant(x)).numpy()
    assert "NumPy" not in call.compile_report()
    if name == "log1p":  # NumPy's has no more digits than log(1 + z)
        a, b = (np.asarray(part, np.longdouble) for part in (x.real, x.imag))
        square, size = a * (2 + a) + b * b, np.hypot(1 + a, b)
        real = np.where(size < 0.5, np.log(size), np.log1p(np.maximum(square, -0.9)) / 2)
        return made, (real + 1j * np.arctan2(b, 1 + a)).astype(np.complex128)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return made, getattr(np, THEIRS.get(name, name))(x.astype(np.complex128))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_numbers_are_as_near_as_their_dtype_allows(name, dtype):
    x = numbers().astype(dtype)
    made, wanted = of(name, x)
    eps = np.finfo(dtype).eps
    off = np.abs(made - wanted) / np.maximum(np.abs(wanted), np.finfo(dtype).tiny)
    good = np.isfinite(wanted)
    assert off[good].max() < (2 if dtype == "complex64" else 64) * eps


ENDS = [0.0, -0.0, 1.0, -1.0, 0.5, -4.0, 30.0, -800.0, 1e-30, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("log1p", "expm1")])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_ends_of_the_numbers(name, dtype):
    """Infinities, NaN and zeros of both signs in each part, as annex G of C and TensorFlow have them.

    NumPy's own log1p and expm1 are products of infinities with zeros there.
    """
    x = np.array([complex(a, b) for a in ENDS for b in ENDS], dtype)
    made, wanted = of(name, x)
    with np.errstate(all="ignore"):
        wanted = wanted.astype(dtype)
    aimless = ~(np.isfinite(x.real) | np.isfinite(x.imag))
    for mine, theirs in ((made.real, wanted.real), (made.imag, wanted.imag)):
        # The sign of an infinity in no direction is left open.
        mine, theirs = (np.where(aimless, np.abs(part), part) for part in (mine, theirs))
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-37)
        if name in ("sqrt", "log"):
            there = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine)[there], np.signbit(theirs)[there])


def test_powers_of_complex_numbers():
    x, y = numbers()[:2000].astype("complex64"), numbers()[500:2500].astype("complex64")
    y /= 4
    call = tf.function(tf.pow, jit_compile=True)
    made = call(tf.constant(x), tf.constant(y)).numpy()
    wanted = x.astype(np.complex128) ** y.astype(np.complex128)
    good = (np.abs(wanted) < 1e30) & (np.abs(wanted) > 1e-30)
    np.testing.assert_allclose(made[good], wanted[good], rtol=1e-6)
    zero = tf.zeros([20], tf.complex64)
    assert np.all(call(zero, zero).numpy() == 1)
    assert np.all(call(zero, zero + 2).numpy() == 0)


@pytest.mark.parametrize("source", ["complex64", "complex128"])
@pytest.mark.parametrize("to", ["bool", "int32", "uint8", "float32", "float16"])
def test_casts_drop_the_imaginary_part(source: str, to: str) -> None:
    """Truth too: i is false, as TensorFlow 2.21 has it."""
    x = tf.constant(np.array([1j, 0, 2 + 1j, -0.0 - 1j, 3.7] * 20, source))
    want = tf.cast(tf.math.real(x), to)
    for run in (tf.cast, tf.function(tf.cast), tf.function(tf.cast, jit_compile=True)):
        np.testing.assert_array_equal(run(x, to), want)
