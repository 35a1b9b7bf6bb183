"""Window functions of `tf.signal`.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/hann_window and its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, float32
from intaglio.composite_ops.array import lengths
from intaglio.opdef import door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _kind(dtype: Any) -> DType:
    kind = as_dtype(dtype)
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Found {kind!r}")
    return kind


def _steps(count: Any, kind: DType) -> Tensor:
    """0, 1, 2, ... as floats."""
    return raw.Cast(raw.Range(np.int32(0), count, np.int32(1)), DstT=kind)


def _number(value: Any, kind: DType) -> Any:
    """A scalar of the dtype, from a number or an integer tensor."""
    if isinstance(value, (int, float)):
        return np.asarray(value, kind.numpy)
    return raw.Cast(value, DstT=kind)


def _one_if_single(count: Any, window: Any, kind: DType) -> Tensor:
    """The window, but 1 for a single element: the formulas divide by 0 there."""
    if isinstance(count, int):
        return window()
    return raw.SelectV2(raw.Equal(count, 1), np.asarray(1, kind.numpy), window())


def _raised_cosine(
    name: str, count: Any, periodic: Any, kind: DType, mean: float, swing: float
) -> Tensor:
    with door.level().scoped(name) as scope:
        count = lengths.length(count, "window_length")
        if count == 1:
            return raw.Fill([1], np.asarray(1, kind.numpy), name=scope)
        if isinstance(count, int) and isinstance(periodic, (bool, np.bool_)):
            span: Any = count - 1 + (bool(periodic) and count % 2 == 0)
        else:
            even = raw.FloorMod(count, np.int32(2)) * -1 + 1
            span = raw.Cast(periodic, DstT=even.dtype) * even + count - 1

        def window() -> Tensor:
            angle = _number(2 * np.pi, kind) * _steps(count, kind) / _number(span, kind)
            swung = _number(swing, kind) * raw.Cos(angle)
            return raw.Sub(_number(mean, kind), swung, name=scope)

        return _one_if_single(count, window, kind)


@dispatchable
def hann_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """A Hann window, one period of a raised cosine.

    `periodic` windows of even length end one step before they return to 0. Raises ValueError
    unless `dtype` is a float type.

    >>> tf.signal.hann_window(4).numpy().round(3)
    array([0. , 0.5, 1. , 0.5], dtype=float32)
    """
    kind = _kind(dtype)
    return _raised_cosine(name or "hann_window", window_length, periodic, kind, 0.5, 0.5)


@dispatchable
def hamming_window(
    window_length: Any, periodic: Any = True, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """A Hamming window, a raised cosine that does not go down to 0; see `hann_window`.

    >>> tf.signal.hamming_window(4).numpy().round(3)
    array([0.08, 0.54, 1.  , 0.54], dtype=float32)
    """
    kind = _kind(dtype)
    label = name or "hamming_window"
    return _raised_cosine(label, window_length, periodic, kind, 0.54, 0.46)


@dispatchable
def kaiser_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """A Kaiser window; the larger `beta`, the narrower.

    >>> tf.signal.kaiser_window(3, beta=2.0).numpy().round(3)
    array([0.439, 1.   , 0.439], dtype=float32)
    """
    kind = _kind(dtype)
    with door.level().scoped(name or "kaiser_window"):
        return _kaiser(lengths.length(window_length, "window_length"), beta, kind)


def _kaiser(count: Any, beta: Any, kind: DType) -> Tensor:
    if count == 1:
        return raw.Fill([1], np.asarray(1, kind.numpy))
    half = (_number(count, kind) - 1) / 2

    def window() -> Tensor:
        off = (_steps(count, kind) - half) / half
        inner = raw.Maximum(1 - off * off, np.asarray(0, kind.numpy))
        slope = _number(beta, kind)
        return raw.BesselI0(slope * raw.Sqrt(inner)) / raw.BesselI0(slope)

    return _one_if_single(count, window, kind)


@dispatchable
def kaiser_bessel_derived_window(
    window_length: Any, beta: Any = 12.0, dtype: Any = float32, name: str | None = None
) -> Tensor:
    """A window of even length whose overlapping squares add up to 1, from a Kaiser window.

    `beta` is the parameter of the Kaiser window.

    >>> tf.signal.kaiser_bessel_derived_window(4).numpy().round(3)
    array([0.007, 1.   , 1.   , 0.007], dtype=float32)
    """
    kind = _kind(dtype)
    with door.level().scoped(name or "kaiser_bessel_derived_window"):
        count = lengths.length(window_length, "window_length")
        total = raw.Cumsum(_kaiser(count // 2 + 1, beta, kind), np.int32(0))
        front = raw.StridedSlice(total, [0], [-1], [1], begin_mask=1)
        last = raw.StridedSlice(total, [-1], [0], [1], end_mask=1)
        half = raw.Sqrt(front / last)
        return raw.ConcatV2([half, raw.ReverseV2(half, [0])], 0)


@dispatchable
def vorbis_window(window_length: Any, dtype: Any = float32, name: str | None = None) -> Tensor:
    """The window of the Vorbis codec: overlapping squares add up to 1.

    >>> tf.signal.vorbis_window(4).numpy().round(3)
    array([0.228, 0.974, 0.974, 0.228], dtype=float32)
    """
    kind = _kind(dtype)
    with door.level().scoped(name or "vorbis_window") as scope:
        count = lengths.length(window_length, "window_length")
        at = _steps(count, kind) + np.asarray(0.5, kind.numpy)
        sine = raw.Sin(_number(np.pi, kind) / _number(count, kind) * at)
        return raw.Sin(_number(np.pi / 2, kind) * raw.Square(sine), name=scope)


__all__ = [
    "hamming_window",
    "hann_window",
    "kaiser_bessel_derived_window",
    "kaiser_window",
    "vorbis_window",
]
