"""Mel scales and cepstral coefficients of `tf.signal`.

Follows https://www.tensorflow.org/api_docs/python/tf/signal/linear_to_mel_weight_matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, float32
from intaglio.composite_ops.array import lengths
from intaglio.composite_ops.signal import cosine
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor

# The mel scale: 1127 * log(1 + hertz / 700).
BREAK_HERTZ = 700.0
HIGH_Q = 1127.0


def _mel(hertz: Any) -> Any:
    return HIGH_Q * np.log1p(hertz / BREAK_HERTZ)


@dispatchable
def linear_to_mel_weight_matrix(
    num_mel_bins: int = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: Any = float32,
    name: str | None = None,
) -> Tensor:
    """The matrix that takes spectra to the mel scale: [num_spectrogram_bins, num_mel_bins].

    Multiply spectrograms [..., frames, num_spectrogram_bins] by it. Raises ValueError for
    edges that are not in order or beyond half the sample rate.

    `sample_rate` is that of the signal, and `lower_edge_hertz` and `upper_edge_hertz` are the
    bounds of the frequencies.

    >>> tf.signal.linear_to_mel_weight_matrix(4, 9).numpy()[2].round(3)
    array([0.   , 0.869, 0.131, 0.   ], dtype=float32)
    """
    kind = as_dtype(dtype)
    _check(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, kind)
    with door.level().scoped(name or "linear_to_mel_weight_matrix") as scope:
        rate = sample_rate
        if not isinstance(rate, (int, float, np.number)):
            rate = to_tensor(rate, None, "sample_rate")
        bins = lengths.length(num_spectrogram_bins, "num_spectrogram_bins")
        edges = np.linspace(_mel(lower_edge_hertz), _mel(upper_edge_hertz), num_mel_bins + 2)
        low, center, high = (edges[i : i + num_mel_bins] for i in range(3))
        if isinstance(bins, int) and not isinstance(rate, Tensor):
            # The frequency 0 belongs to no bin.
            mels = _mel(np.linspace(0.0, float(rate) / 2, bins)[1:, None])
            rise, fall = (mels - low) / (center - low), (high - mels) / (high - center)
            result = np.maximum(0, np.minimum(rise, fall))
            full = np.pad(result, ((1, 0), (0, 0))).astype(kind.numpy)
            return raw.Identity(to_tensor(full), name=scope)
        return _in_graph(bins, rate, (low, center, high), kind)


def _in_graph(bins: Any, rate: Any, edges: Any, kind: Any) -> Tensor:
    """The same where the size or the rate is a tensor."""
    low, center, high = (e.astype(kind.numpy)[None] for e in edges)
    half = raw.Cast(rate, DstT=kind) / np.asarray(2, kind.numpy)
    hertz = raw.LinSpace(np.asarray(0, kind.numpy), half, bins)
    above = raw.StridedSlice(hertz, [1], [0], [1], end_mask=1)
    parts = raw.Log1p(above / np.asarray(BREAK_HERTZ, kind.numpy))
    mels = raw.ExpandDims(parts * np.asarray(HIGH_Q, kind.numpy), 1)
    rise, fall = (mels - low) / (center - low), (high - mels) / (high - center)
    result = raw.Maximum(np.asarray(0, kind.numpy), raw.Minimum(rise, fall))
    return raw.Pad(result, np.asarray([[1, 0], [0, 0]], np.int32))


def _check(bins: Any, rate: Any, low: Any, high: Any, kind: Any) -> None:
    if bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {bins}")
    if low < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {low}")
    if low >= high:
        raise ValueError(f"lower_edge_hertz {low:.1f} >= upper_edge_hertz {high:.1f}")
    if isinstance(rate, (int, float, np.number)):
        if rate <= 0.0:
            raise ValueError(f"sample_rate must be positive. Got: {rate}")
        if high > rate / 2:
            raise ValueError(
                "upper_edge_hertz must not be larger than the Nyquist frequency "
                f"(sample_rate / 2). Got {high} for sample_rate: {rate}"
            )
    if not kind.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {kind!r}")


@dispatchable
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Tensor:
    """Cepstral coefficients of log mel spectrograms [..., num_mel_bins], as HTK scales them.

    Raises ValueError if there are no bins.

    >>> tf.signal.mfccs_from_log_mel_spectrograms([[1.0, 1.0]]).numpy().round(3)
    array([[2., 0.]], dtype=float32)
    """
    with door.level().scoped(name or "mfccs_from_log_mel_spectrograms"):
        x = to_tensor(log_mel_spectrograms)
        bins = lengths.of_axis(x, -1)
        if isinstance(bins, int) and bins == 0:
            raise ValueError(
                f"num_mel_bins must be positive. Got: log_mel_spectrograms of shape {x.shape}"
            )
        result = cosine.dct(x, type=2)
        double = (
            np.asarray(bins * 2, x.dtype.numpy)
            if isinstance(bins, int)
            else raw.Cast(bins * 2, DstT=x.dtype)
        )
        return result * raw.Rsqrt(double)


__all__ = ["linear_to_mel_weight_matrix", "mfccs_from_log_mel_spectrograms"]
