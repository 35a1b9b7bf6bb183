"""Fourier transforms, and the weights of mel bands."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    dtype_of,
    ints,
    known,
    rank,
    tensor,
)
from intaglio.opdef import raw


def _complex(x: Any) -> Any:
    """Pairs of numbers, or single real ones, in the last dimension as complex numbers."""
    wide = dtypes.complex128 if x.dtype is dtypes.float64 else dtypes.complex64
    real = cast(x, dtypes.float64 if wide is dtypes.complex128 else dtypes.float32)
    if dims(x)[-1] == 1:
        part = raw.Squeeze(real, axis=[rank(x) - 1])
        return raw.Complex(part, raw.ZerosLike(part), Tout=wide)
    first, second = raw.Unpack(real, num=2, axis=rank(x) - 1)
    return raw.Complex(first, second, Tout=wide)


def _pairs(x: Any, dtype: Any) -> Any:
    part = dtypes.float64 if x.dtype is dtypes.complex128 else dtypes.float32
    parts = [raw.Real(x, Tout=part), raw.Imag(x, Tout=part)]
    return cast(raw.Pack(parts, axis=rank(x)), dtype)


@operator("DFT")
def _dft(c, x, length=None, axis=None) -> Any:
    x = tensor(x)
    inverse, onesided = c.attr("inverse", 0), c.attr("onesided", 0)
    along = (
        int(known(axis, "the axis"))
        if axis is not None
        else c.attr("axis", -2 if c.version >= 20 else 1)
    )
    along %= rank(x)
    numbers = _complex(x)
    size = ints(length, "the length of a transform")[0] if length is not None else dims(x)[along]
    if inverse and onesided and length is None and size is not None:
        size = 2 * (size - 1)
    if size is None:
        raise ModelError("the length of a transform must be known")
    if inverse and onesided:
        numbers = _whole(numbers, along, size)
    numbers = _resized(numbers, along, size)
    op = raw.IFFTND if inverse else raw.FFTND
    found = op(numbers, np.array([size], np.int32), np.array([along], np.int32))
    if onesided and not inverse:
        index = np.arange(size // 2 + 1)
        found = raw.GatherV2(found, index, along)
    pairs = _pairs(found, x.dtype)
    return pairs[..., :1] if onesided and inverse else pairs


def _resized(x: Any, axis: int, size: int) -> Any:
    """Cut or filled up with zeros."""
    own = dims(x)[axis]
    if own is None or own == size:
        return x
    if own > size:
        return raw.GatherV2(x, np.arange(size), axis)
    both = np.zeros((rank(x), 2), np.int64)
    both[axis, 1] = size - own
    return raw.Pad(x, both)


def _whole(x: Any, axis: int, size: int) -> Any:
    """The spectrum of real numbers from its first half."""
    half = size // 2 + 1
    x = _resized(x, axis, half)
    rest = raw.Conj(raw.GatherV2(x, np.arange(1, size - half + 1)[::-1].copy(), axis))
    return raw.ConcatV2([x, rest], axis)


@operator("STFT")
def _stft(c, x, step, window=None, length=None) -> Any:
    x = tensor(x)
    stride = ints(step, "the step of frames")[0]
    size = ints(length, "the length of frames")[0] if length is not None else dims(window)[0]
    samples = dims(x)[1]
    if size is None or samples is None:
        raise ModelError("the lengths of the signal and its frames must be known")
    count = (samples - size) // stride + 1
    index = np.arange(count)[:, None] * stride + np.arange(size)
    numbers = _complex(x if rank(x) == 3 else raw.ExpandDims(x, 2))
    frames = raw.GatherV2(numbers, index, 1)
    if window is not None:
        weight = cast(window, dtypes.float64 if x.dtype is dtypes.float64 else dtypes.float32)
        frames = raw.Mul(frames, raw.Complex(weight, raw.ZerosLike(weight), Tout=frames.dtype))
    found = raw.FFTND(frames, np.array([size], np.int32), np.array([2], np.int32))
    if c.attr("onesided", 1):
        found = raw.GatherV2(found, np.arange(size // 2 + 1), 2)
    return _pairs(found, x.dtype)


@operator("MelWeightMatrix")
def _mel_weights(c, bins, length, rate, lower, upper) -> Any:
    """The weight of each frequency in each band, triangles between places equal on the mel scale."""
    count, size, samples = (int(known(v, "a size")) for v in (bins, length, rate))
    ends = np.array([float(known(v, "a frequency")) for v in (lower, upper)])
    mels = 2595 * np.log10(1 + ends / 700)
    step = (mels[1] - mels[0]) / (count + 2)
    places = mels[0] + np.arange(count + 2) * step
    hertz = 700 * (np.power(10, places / 2595) - 1)
    centres = ((size + 1) * hertz // samples).astype(int)
    weights = np.zeros((size // 2 + 1, count))
    for band in range(count):
        low, middle, high = centres[band : band + 3]
        if middle == low:
            weights[middle, band] = 1
        for j in range(low, middle + 1):
            weights[j, band] = (j - low) / (middle - low) if middle > low else weights[j, band]
        for j in range(middle, high):
            weights[j, band] = (high - j) / (high - middle)
    return weights.astype(dtype_of(c.attr("output_datatype", 1)).numpy)
