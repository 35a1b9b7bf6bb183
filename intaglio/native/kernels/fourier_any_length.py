"""Fourier transforms of rows whose length has a large prime factor, or is odd.

Short rows are multiplied by the matrix of the transform. Longer ones become a convolution with a
chirp, which is computed by transforms of a length that has a kernel (L. I. Bluestein, "A linear
filtering approach to the computation of discrete Fourier transform", IEEE Transactions on Audio and
Electroacoustics 18, 1970).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.native.kernels import matmul

Run = Callable[..., Any]
# Maps (shape, inverse) to the function that transforms the rows of a complex array of that shape.
Transform = Callable[[tuple[int, ...], bool], Run | None]

# Rows of at most so many elements are multiplied by a matrix, if there are enough of them.
MAX_MATRIX_LENGTH, MIN_MATRIX_ROWS = 512, 16
# NumPy is faster for fewer elements.
MIN_ELEMENTS = 1 << 12
# The length of the convolution is a power of two, or three or five times one.
ODD_FACTORS = (1, 3, 5)


def transform(
    kind: str, double: bool, shape: tuple[int, ...], length: int, of_rows: Transform
) -> Run | None:
    """The function of an array of this shape that transforms its rows; None if NumPy is faster.

    `kind` is "fft", "ifft", "rfft" or "irfft", and `length` that of the transform.
    """
    rows = math.prod(shape[:-1])
    if rows * length < MIN_ELEMENTS or length < 2:
        return None
    if length <= MAX_MATRIX_LENGTH and rows >= MIN_MATRIX_ROWS:
        return _by_matrix(kind, double, shape, length)
    return _by_chirps(kind, double, shape, length, of_rows)


# -- by a matrix ---------------------------------------------------------------------------


@functools.lru_cache(maxsize=32)
def _matrix(kind: str, double: bool, length: int) -> np.ndarray:
    """The real matrix that transforms rows of real numbers, real and imaginary parts interleaved."""
    half = length // 2 + 1
    sign = -1 if kind in ("fft", "rfft") else 1
    inputs = half if kind == "irfft" else length
    outputs = half if kind == "rfft" else length
    powers = np.outer(np.arange(inputs), np.arange(outputs)) % length
    roots: Any = np.exp(sign * 2j * np.pi * powers / length)
    if sign > 0:
        roots /= length
    if kind == "irfft":
        # Each element represents its conjugate too, except the first, and the last of an even
        # length.
        roots[1 : (length + 1) // 2] *= 2
    # (re, im) times x + iy: rows of the inputs' parts, columns of the outputs'.
    of_real = np.stack([roots.real, roots.imag], -1)
    of_imaginary = np.stack([-roots.imag, roots.real], -1)
    if kind == "rfft":
        found = of_real
    elif kind == "irfft":
        found = np.stack([of_real[..., 0], of_imaginary[..., 0]], 1)
    else:
        found = np.stack([of_real, of_imaginary], 1)
    columns = outputs if kind == "irfft" else 2 * outputs
    return np.ascontiguousarray(found.reshape(-1, columns).astype("f8" if double else "f4"))


def _by_matrix(kind: str, double: bool, shape: tuple[int, ...], length: int) -> Run | None:
    matrix = _matrix(kind, double, length)
    rows, lead = math.prod(shape[:-1]), shape[:-1]
    real, wide = matrix.dtype, np.dtype("c16" if double else "c8")
    product = matmul.product((rows, matrix.shape[0]), matrix.shape, dtype=real)
    if product is None:
        return None

    def run(x: Any) -> Any:
        parts = np.ascontiguousarray(x).view(real).reshape(rows, matrix.shape[0])
        result = product(parts, matrix)
        return result.view(real if kind == "irfft" else wide).reshape(*lead, -1)

    return run


# -- by chirps -----------------------------------------------------------------------------


@functools.lru_cache(maxsize=32)
def _chirps(double: bool, length: int, size: int, sign: int) -> tuple[np.ndarray, np.ndarray]:
    """exp(sign * i * pi * k**2 / length), and the transform of its conjugate, wrapped to `size`."""
    k = np.arange(length)
    chirp = np.exp(sign * 1j * np.pi * (k * k % (2 * length)) / length)
    wrapped = np.zeros(size, complex)
    wrapped[:length] = chirp.conj()
    wrapped[size - length + 1 :] = chirp.conj()[:0:-1]
    kind = "c16" if double else "c8"
    return chirp.astype(kind), np.fft.fft(wrapped).astype(kind)


def _sizes(least: int) -> list[int]:
    """Lengths of convolutions of at least `least`, the shortest first."""
    return sorted(f << max(0, math.ceil(math.log2(least / f))) for f in ODD_FACTORS)


def _by_chirps(
    kind: str, double: bool, shape: tuple[int, ...], length: int, of_rows: Transform
) -> Run | None:
    lead = shape[:-1]
    for size in _sizes(2 * length - 1):
        there, back = of_rows((*lead, size), False), of_rows((*lead, size), True)
        if there is not None and back is not None:
            break
    else:
        return None
    inverse = kind in ("ifft", "irfft")
    chirp, spectrum = _chirps(double, length, size, 1 if inverse else -1)
    count = length // 2 + 1 if kind == "rfft" else length
    scaled = chirp[:count] / chirp.dtype.type(length) if inverse else chirp[:count]

    def run(x: Any) -> Any:
        if kind == "irfft":
            x = full_spectrum(x, length)
        padded = np.zeros((*lead, size), chirp.dtype)
        np.multiply(x, chirp, out=padded[..., :length])
        product = there(padded)
        product *= spectrum
        result = back(product)[..., :count] * scaled
        return np.ascontiguousarray(result.real) if kind == "irfft" else result

    return run


def full_spectrum(x: Any, length: int) -> Any:
    """The Hermitian spectrum of a real row of a length from its non-negative frequencies."""
    half = length // 2 + 1
    full = np.empty((*x.shape[:-1], length), x.dtype)
    full[..., :half] = x
    # The imaginary parts that a real row cannot have are ignored.
    full[..., 0] = x[..., 0].real
    if length % 2 == 0:
        full[..., half - 1] = x[..., half - 1].real
    full[..., half:] = x[..., 1 : length - half + 1][..., ::-1].conj()
    return full
