"""Spectra over time, and back: short-time Fourier and modified cosine transforms.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/stft and its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.signal import cosine, fourier
from intaglio.composite_ops.signal.frames import frame, overlap_and_add
from intaglio.composite_ops.signal.windows import hann_window, vorbis_window
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


def _power_of_two(size: Any) -> Any:
    """The smallest power of two that is no smaller."""
    if isinstance(size, int):
        return 1 << max(size - 1, 0).bit_length()
    wide = raw.Cast(size, DstT=float32)
    power = raw.Ceil(raw.Log(wide) / np.float32(np.log(2)))
    return raw.Cast(raw.Pow(np.float32(2), power), DstT=size.dtype)


@dispatchable
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The short-time Fourier transform: the spectrum of every frame.

    `signals` [..., samples] become [..., frames, fft_length // 2 + 1]; without `fft_length`
    it is the power of two that holds a frame. Frames are multiplied by
    `window_fn(frame_length, dtype=dtype)`, unless it is None.

    With `pad_end` the signal is padded with zeros so that every sample begins a frame where one
    may.

    >>> tf.signal.stft(tf.ones([100]), frame_length=16, frame_step=8).shape
    TensorShape([11, 9])
    """
    with door.level().scoped(name or "stft"):
        x = to_tensor(signals, None, "signals")
        size = lengths.length(frame_length, "frame_length")
        step = lengths.length(frame_step, "frame_step")
        whole = (
            _power_of_two(size) if fft_length is None else lengths.length(fft_length, "fft_length")
        )
        parts = frame(x, size, step, pad_end=pad_end)
        if window_fn is not None:
            parts = parts * window_fn(size, dtype=x.dtype)
        return fourier.rfft(parts, lengths.vector([whole]))


@dispatchable
def inverse_stft_window_fn(
    frame_step: Any, forward_window_fn: Callable[..., Any] = hann_window, name: str | None = None
) -> Callable[..., Any]:
    """A window function for `inverse_stft` that undoes `forward_window_fn`.

    With it the transform and its inverse give the signal back, where frames overlap enough.

    >>> tf.signal.inverse_stft_window_fn(2)(4, tf.float32).numpy().round(3)
    array([0., 1., 1., 1.], dtype=float32)
    """

    def window(frame_length: Any, dtype: Any) -> Tensor:
        with door.level().scoped(name or "inverse_stft_window_fn"):
            size = lengths.length(frame_length, "frame_length")
            step = lengths.length(frame_step, "frame_step")
            forward = forward_window_fn(size, dtype=dtype)
            overlaps = -((0 - size) // step)
            square = lengths.padded(raw.Square(forward), overlaps * step - size)
            square = raw.Reshape(square, lengths.vector([overlaps, step]))
            total = raw.Sum(square, np.int32(0), keep_dims=True)
            total = raw.Tile(total, lengths.vector([overlaps, 1]))
            total = raw.Reshape(total, lengths.vector([overlaps * step]))
            return forward / lengths.cut(total, size)

    return window


@dispatchable
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Signals from their short-time Fourier transforms: frames overlapped and added up.

    To get the signal back, give `inverse_stft_window_fn(frame_step)` as `window_fn`.

    `fft_length` are the lengths of the transformed axes of the real or result tensor: they are
    truncated, or padded with zeros.

    >>> spectra = tf.signal.stft(tf.ones([64]), 16, 8)
    >>> window = tf.signal.inverse_stft_window_fn(8)
    >>> tf.signal.inverse_stft(spectra, 16, 8, window_fn=window).numpy()[20:23].round(3)
    array([1., 1., 1.], dtype=float32)
    """
    with door.level().scoped(name or "inverse_stft"):
        x = to_tensor(stfts, None, "stfts")
        size = lengths.length(frame_length, "frame_length")
        step = lengths.length(frame_step, "frame_step")
        whole = (
            _power_of_two(size) if fft_length is None else lengths.length(fft_length, "fft_length")
        )
        parts = fourier.irfft(x, lengths.vector([whole]))
        if isinstance(whole, int) and isinstance(size, int):
            parts = (
                lengths.cut(parts, size) if size <= whole else lengths.padded(parts, size - whole)
            )
        else:
            missing = raw.Maximum(size - whole, np.int32(0))
            parts = lengths.cut(lengths.padded(parts, missing), size)
        if window_fn is not None:
            parts = parts * window_fn(size, dtype=parts.dtype)
        return overlap_and_add(parts, step)


# -- modified cosine transform ---------------------------------------------------------


def _check(norm: Any) -> None:
    if norm not in (None, "ortho"):
        raise ValueError(f"Unknown normalization. Expected None or 'ortho', got: {norm}")


def _window(window_fn: Callable[..., Any] | None, size: Any, like: Tensor) -> Any:
    """The window, or by default one whose squares add up to 1 where frames overlap."""
    if window_fn is not None:
        return window_fn(size, dtype=like.dtype)
    return np.asarray(np.sqrt(0.5), like.dtype.numpy)


def _half(size: int) -> int:
    if size % 4:
        raise ValueError("The frame length must be a multiple of 4.")
    return size // 2


@dispatchable
def mdct(
    signals: Any,
    frame_length: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """The modified discrete cosine transform of frames that overlap by half.

    `signals` [..., samples] become [..., frames, frame_length // 2]; `frame_length` is a
    multiple of 4. With norm="ortho" the transform is orthonormal.

    `window_fn(length, dtype=)` gives the window, None stands for none. With `pad_end` the signal is
    padded with zeros so that every sample begins a frame where one may.

    >>> tf.signal.mdct(tf.ones([32]), 8).shape
    TensorShape([7, 4])
    """
    with door.level().scoped(name or "mdct"):
        _check(norm)
        x = to_tensor(signals, None, "signals")
        size = lengths.length(frame_length, "frame_length")
        if not isinstance(size, int):
            raise ValueError("frame_length must be a constant.")
        parts = frame(x, size, _half(size), pad_end=pad_end)
        parts = parts * _window(window_fn, size, x)
        a, b, c, d = raw.Split(np.int32(-1), parts, num_split=4)
        first = raw.Neg(raw.ReverseV2(c, [-1])) - d
        second = a - raw.ReverseV2(b, [-1])
        return cosine.dct(raw.ConcatV2([first, second], -1), type=4, norm=norm)


@dispatchable
def inverse_mdct(
    mdcts: Any,
    window_fn: Callable[..., Any] | None = vorbis_window,
    norm: Any = None,
    name: str | None = None,
) -> Tensor:
    """Signals from their modified cosine transforms, with the same window and `norm`.

    `window_fn(length, dtype=)` gives the window, None stands for none.

    >>> tf.signal.inverse_mdct(tf.signal.mdct(tf.ones([32]), 8)).numpy()[6:9].round(3)
    array([1., 1., 1.], dtype=float32)
    """
    with door.level().scoped(name or "inverse_mdct"):
        _check(norm)
        x = to_tensor(mdcts, None, "mdcts")
        half = lengths.of_axis(x, -1)
        halves = cosine.idct(x, type=4, norm=norm)
        kind = x.dtype.numpy
        if norm is None:
            halves = halves * (np.asarray(0.5, kind) / _as(half, x))
        first, second = raw.Split(np.int32(-1), halves, num_split=2)
        mirrored = raw.ReverseV2(second, [-1])
        reversed_first = raw.Neg(raw.ReverseV2(first, [-1]))
        parts = raw.ConcatV2([second, raw.Neg(mirrored), reversed_first, raw.Neg(first)], -1)
        parts = parts * _window(window_fn, half * 2, x)
        return overlap_and_add(parts, half)


def _as(count: Any, like: Tensor) -> Any:
    if isinstance(count, int):
        return np.asarray(count, like.dtype.numpy)
    return raw.Cast(count, DstT=like.dtype)


__all__ = ["inverse_mdct", "inverse_stft", "inverse_stft_window_fn", "mdct", "stft"]
