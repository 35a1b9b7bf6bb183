"""Fourier transforms by generated kernels: NumPy's in double precision, for all kinds of lengths and axes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from intaglio import tf
from intaglio.native.kernels import fourier
from intaglio.native.runtime import entry
from intaglio.ops.signal import fourier as ops

pytestmark = pytest.mark.skipif(not entry.AVAILABLE, reason="kernels need machine code")

RNG = np.random.RandomState(11)
ROWS = [16, 24, 48, 64, 96, 130, 208, 256, 400, 440, 512, 1000, 2048]
SEVERAL = [(32, 32), (2, 64, 48), (5, 33, 64), (2, 1, 64), (12, 40, 128), (13, 4, 16)]
LONG = [(1, (3, 1 << 15)), (2, (2, 16, 40000)), (2, (2000, 16))]
VOLUMES = [(16, 32, 24), (2, 8, 3, 64)]
SHAPES = [
    *[(1, (3, n)) for n in ROWS],
    *[(2, s) for s in SEVERAL],
    *[(3, s) for s in VOLUMES],
    *LONG,
]
# How far results are from those in float64, as a part of the largest.
ERROR = {False: 2e-6, True: 2e-14}


def expected(kind, x, axes, length):
    """NumPy's transform, in double precision."""
    along = range(-axes, 0)
    sizes = (*x.shape[x.ndim - axes : -1], length)
    function = getattr(np.fft, f"{kind}n")
    return function(x.astype(np.complex128 if x.dtype.kind == "c" else float), s=sizes, axes=along)


def drawn(kind, shape, length, double):
    if kind == "irfft":
        shape = (*shape[:-1], length // 2 + 1)
    x = RNG.standard_normal(shape)
    if kind == "rfft":
        return x.astype("f8" if double else "f4")
    return (x + 1j * RNG.standard_normal(shape)).astype("c16" if double else "c8")


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
def test_kernels_transform(kind, double):
    seen = 0
    for axes, shape in SHAPES:
        length = shape[-1]
        x = drawn(kind, shape, length, double)
        run = fourier.transform(kind, double, x.shape, axes, length)
        if run is None:
            continue
        seen += 1
        result, right = run(x), expected(kind, x, axes, length)
        assert result.shape == right.shape
        assert result.dtype.itemsize == right.dtype.itemsize // (1 if double else 2)
        assert np.abs(result - right).max() <= ERROR[double] * np.abs(right).max()
    assert seen >= len(SHAPES) // 2


@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_narrower_vectors(monkeypatch, lanes):
    """Processors without 512 bits; the width is part of the kernels' names."""
    monkeypatch.setattr(fourier.jit, "WIDTH", lanes * 4)
    for kind, (axes, shape) in itertools.product(
        ("fft", "rfft", "irfft"), SHAPES[3:9] + SHAPES[-3:]
    ):
        x = drawn(kind, shape, shape[-1], False)
        run = fourier.transform(kind, False, x.shape, axes, shape[-1])
        if run is not None:
            right = expected(kind, x, axes, shape[-1])
            assert np.abs(run(x) - right).max() <= ERROR[False] * np.abs(right).max()


@pytest.mark.parametrize("length", [2, 15, 17, 34, 1 << 22])
def test_lengths_without_a_kernel(length):
    assert fourier.transform("fft", False, (1, length), 1, length) is None


FUNCTIONS = {
    "fft": lambda x: tf.signal.fft(tf.complex(x, x + 1)),
    "ifft": lambda x: tf.signal.ifft(tf.complex(x, x * x)),
    "fft2d": lambda x: tf.signal.ifft2d(tf.signal.fft2d(tf.complex(x, x))),
    "rfft": lambda x: tf.signal.rfft(x),
    "irfft": lambda x: tf.signal.irfft(tf.signal.rfft(x) ** 2),
    "rfft2d": lambda x: tf.signal.irfft2d(tf.signal.rfft2d(x) * 2j),
    "padded": lambda x: tf.signal.rfft(x, [128]),
    "cut": lambda x: tf.signal.rfft(x, [32]),
    "stft": lambda x: tf.signal.stft(x, 32, 8),
    "dct": lambda x: tf.signal.dct(x, norm="ortho"),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiled_functions_and_their_gradients(name, dtype):
    x = tf.constant(RNG.standard_normal([24, 64]).astype(dtype))

    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = FUNCTIONS[name](x)
            size = tf.reduce_sum(tf.math.abs(y) ** 2)
        return y, tape.gradient(size, x)

    compiled = tf.function(run, jit_compile=True)
    for mine, right in zip(compiled(x), run(x), strict=True):
        close = 2e-5 if dtype == "float32" else 1e-12
        np.testing.assert_allclose(mine, right, atol=close * np.abs(right).max())


def test_large_arrays_have_the_kernel_in_eager_calls_too(monkeypatch):
    x = tf.constant(drawn("fft", (4, 256), 256, False))
    usual = tf.signal.fft(x).numpy()
    monkeypatch.setattr(ops, "MIN_COMPILED_STEPS", 0)
    np.testing.assert_allclose(tf.signal.fft(x), usual, atol=1e-4)
    for transform in (tf.signal.ifft, tf.signal.fft2d):
        transform(x)
    np.testing.assert_allclose(tf.signal.irfft(tf.signal.rfft(usual.real)), usual.real, atol=1e-4)


ANY_LENGTHS = [
    ((40,), 142),
    ((3, 30), 61),
    ((17,), 241),
    ((60,), 75),
    ((5,), 1009),
    ((2, 3), 882),
    ((1,), 10007),
]


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize(("lead", "length"), ANY_LENGTHS)
def test_rows_of_any_length(kind, double, lead, length):
    """By a matrix, or as a convolution with a chirp."""
    x = drawn(kind, (*lead, length), length, double)
    run = fourier.transform(kind, double, x.shape, 1, length)
    assert run is not None
    right = expected(kind, x, 1, length)
    for rows in (x, np.repeat(x, 2, -1)[..., ::2]):
        result = run(rows)
        assert result.shape == right.shape and result.flags.c_contiguous
        assert result.dtype.itemsize == right.dtype.itemsize // (1 if double else 2)
        assert np.abs(result - right).max() <= ERROR[double] * np.abs(right).max()


def test_few_elements_are_numpys():
    assert fourier.transform("fft", False, (2, 61), 1, 61) is None


@pytest.mark.parametrize("jit", [False, True])
def test_ops_of_any_length(jit):
    x = RNG.standard_normal((40, 142)).astype("f4")

    def back_and_forth(x):
        spectrum = tf.signal.rfft(x)
        return spectrum, tf.signal.irfft(spectrum, [142])

    spectrum, back = tf.function(back_and_forth, jit_compile=jit)(x)
    assert np.abs(spectrum - np.fft.rfft(x)).max() < 1e-4
    np.testing.assert_allclose(back, x, atol=1e-5)


@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize(
    "shape",
    [(70, 75), (5, 9, 150), (1000, 66), (17, 330), (33, 490), (4, 1025), (19, 231), (2, 2050)],
)
def test_rows_of_small_primes_are_columns(kind, double, shape):
    length = shape[-1]
    x = drawn(kind, shape, length, double)
    run = fourier.transform(kind, double, x.shape, 1, length)
    assert run is not None
    right = expected(kind, x, 1, length)
    result = run(x)
    assert result.shape == right.shape
    assert result.dtype == {"irfft": "f8" if double else "f4"}.get(kind, "c16" if double else "c8")
    assert result.flags.c_contiguous
    np.testing.assert_allclose(result, right, rtol=0, atol=ERROR[double] * np.abs(right).max())
    np.testing.assert_array_equal(run(np.asfortranarray(x)), result)


@pytest.mark.parametrize("kind", ["fft", "ifft", "rfft"])
def test_compiled_functions_transform_columns(kind):
    x = drawn(kind, (40, 150), 150, False)
    own = getattr(tf.signal, kind)
    compiled = tf.function(own, jit_compile=True)
    np.testing.assert_array_equal(compiled(tf.constant(x)), own(tf.constant(x)))
