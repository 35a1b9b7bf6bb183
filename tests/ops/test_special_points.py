"""The gamma family where it has poles, far out, and where digits cancel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

INF, NAN = np.inf, np.nan


def _float64(x: object) -> tf.Tensor:
    return tf.constant(x, tf.float64)


@pytest.mark.parametrize(
    ("x", "slope"),
    [
        (INF, 0.0),
        (-170.5, 9.863756464538747),
        (-1e7 - 0.5, np.pi**2 - 1e-7),
        (-3.0, INF),
        (0.0, INF),
        (0.5, np.pi**2 / 2),
        (NAN, NAN),
    ],
)
def test_the_gradient_of_digamma(x: float, slope: float) -> None:
    given = _float64([x, NAN, -1.5])  # a NaN beside it changes nothing
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = tf.math.digamma(given)
    assert tape.gradient(y, given).numpy()[0] == pytest.approx(slope, rel=1e-12, nan_ok=True)


def test_zeta_below_zero() -> None:
    q = _float64([-20.5, -0.3, -170.25])
    for s in (2.0, 3.0, 8.0):
        shifted = tf.math.zeta(_float64(s), q + 171.0).numpy()
        terms = [sum((float(v) + k) ** -s for k in range(171)) for v in q]
        np.testing.assert_allclose(tf.math.zeta(_float64(s), q), shifted + terms, 1e-11)


def test_poles_of_zeta() -> None:
    got = tf.math.zeta(_float64([2.0, 3.0, 1.0, 2.5, 2.0]), _float64([-1.0, -1.0, 3.0, -1.5, INF]))
    np.testing.assert_array_equal(got, [INF, NAN, INF, NAN, 0.0])


def test_slopes_of_igamma() -> None:
    # By a shape near 0 it is -E1(x).
    got = tf.raw_ops.IgammaGradA(a=_float64([1e-30, 1e-12, 1e-6]), x=_float64(1.0)).numpy()
    np.testing.assert_allclose(got, [-0.21938393439552] * 3, 3e-6)
    x = _float64([-1.0, -2.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.math.igamma(_float64(1.0), x)
    np.testing.assert_allclose(tape.gradient(y, x), [NAN, NAN, np.exp(-1)])


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("count", [1, 4096])  # large arrays are machine code eagerly, too
def test_polygamma_where_powers_are_subnormal(jit: bool, count: int) -> None:
    x = [55.0, 60.0, 61.0, 62.0, 63.0, 65.0, 76.0, 80.0]
    # TensorFlow 2.21: tf.math.polygamma of float64, each of these orders.
    wanted = {
        170: [-1902074638.0017693, -665.8967588080567, -39.40093662690932, -2.3003985788575716]
        + [-0.0] * 4,
        171: [INF] * 3 + [NAN] * 5,
        172: [-INF] * 2 + [NAN] * 6,
    }
    run = tf.function(tf.math.polygamma, jit_compile=True) if jit else tf.math.polygamma
    for order, values in wanted.items():
        given = _float64(np.tile(x, count))
        result = run(_float64(order), given).numpy()
        np.testing.assert_allclose(result, np.tile(values, count), rtol=1e-11)


@pytest.mark.parametrize("dtype", [tf.complex64, tf.complex128])
def test_complex_powers_at_the_ends_of_the_range(dtype: tf.DType) -> None:
    """As TensorFlow 2.21's, but 0 ** 0: NaN there eagerly, 1 under XLA."""
    big = 1e30 if dtype is tf.complex64 else 1e200
    x = np.array([big, big, big, 1 / big, big * 1j, 0, 0, 0], dtype.as_numpy_dtype)
    y = np.array([-2, 3, 2, -2, -3, 2, 0, 1j], dtype.as_numpy_dtype)
    want = [0, np.inf, np.inf, np.inf, 0, 0, 1]
    for jit in (None, False, True):
        run = tf.pow if jit is None else tf.function(tf.pow, jit_compile=jit)
        result = run(tf.constant(x), tf.constant(y)).numpy()
        np.testing.assert_array_equal(result[:-1], np.array(want, result.dtype))
        assert np.isnan(result[-1])


COMPILED_POWER = tf.function(tf.pow, jit_compile=True)


@settings(max_examples=60, deadline=None)
@given(
    st.complex_numbers(min_magnitude=1e-9, max_magnitude=1e9), st.integers(-40, 40), st.booleans()
)
def test_whole_complex_powers_are_the_same_compiled(z: complex, n: int, wide: bool) -> None:
    dtype = tf.complex128 if wide else tf.complex64
    x, y = tf.constant([z] * 2, dtype), tf.constant([complex(n)] * 2, dtype)
    eager, compiled = tf.pow(x, y).numpy(), COMPILED_POWER(x, y).numpy()
    digits = n * np.log10(abs(z))
    range_ = 37 if dtype is tf.complex64 else 307
    if abs(digits) < range_:
        bound = 1e-3 if dtype is tf.complex64 else 1e-11
        np.testing.assert_array_less(np.abs(eager - compiled), bound * 10.0**digits + 1e-37)
    elif digits < -range_ - 9:
        np.testing.assert_allclose(np.abs([eager, compiled]), 0, atol=1e-37)
