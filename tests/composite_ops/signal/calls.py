"""Calls of tf.signal, whose answers TensorFlow gave (see record.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Call = Callable[[Any], Any]
rng = np.random.RandomState(5)
REAL = rng.uniform(-1, 1, (2, 12)).astype("float32")
CUBE = rng.uniform(-1, 1, (2, 3, 4, 6)).astype("float32")
SPECTRA = (rng.uniform(-1, 1, (2, 5)) + 1j * rng.uniform(-1, 1, (2, 5))).astype("c8")
PLANES = (CUBE[:, :, :, :4] + 1j * CUBE[:, :, :, 1:5]).astype("complex64")
SOUND = rng.uniform(-1, 1, (2, 40)).astype("float32")

FOURIER: dict[str, Call] = {
    "fft": lambda tf: tf.signal.fft(SPECTRA),
    "fft128": lambda tf: tf.signal.fft(SPECTRA.astype("complex128")),
    "ifft2d": lambda tf: tf.signal.ifft2d(PLANES),
    "fft3d": lambda tf: tf.signal.fft3d(PLANES),
    "ifft": lambda tf: tf.signal.ifft(SPECTRA),
    "fft2d": lambda tf: tf.signal.fft2d(PLANES),
    "ifft3d": lambda tf: tf.signal.ifft3d(PLANES),
    "rfft": lambda tf: tf.signal.rfft(REAL),
    "rfft longer": lambda tf: tf.signal.rfft(REAL, [16]),
    "rfft shorter": lambda tf: tf.signal.rfft(REAL, [7]),
    "rfft double": lambda tf: tf.signal.rfft(REAL.astype("float64")),
    "rfft2d": lambda tf: tf.signal.rfft2d(CUBE),
    "rfft2d mixed": lambda tf: tf.signal.rfft2d(CUBE, [3, 9]),
    "rfft3d": lambda tf: tf.signal.rfft3d(CUBE),
    "rfft3d longer": lambda tf: tf.signal.rfft3d(CUBE, [4, 4, 8]),
    "irfft": lambda tf: tf.signal.irfft(SPECTRA),
    "irfft odd": lambda tf: tf.signal.irfft(SPECTRA, [9]),
    "irfft longer": lambda tf: tf.signal.irfft(SPECTRA, [13]),
    "irfft2d": lambda tf: tf.signal.irfft2d(PLANES),
    "irfft2d longer": lambda tf: tf.signal.irfft2d(PLANES, [5, 9]),
    "irfft3d": lambda tf: tf.signal.irfft3d(PLANES),
    "fftshift": lambda tf: tf.signal.fftshift(CUBE),
    "fftshift axis": lambda tf: tf.signal.fftshift(CUBE, axes=1),
    "ifftshift": lambda tf: tf.signal.ifftshift(CUBE, axes=[1, -1]),
}
WINDOWS: dict[str, Call] = {}
for size in (1, 2, 5, 8):
    for periodic in (True, False):
        WINDOWS[f"hann {size} {periodic}"] = lambda tf, n=size, p=periodic: tf.signal.hann_window(
            n, p
        )
        WINDOWS[f"hamming {size} {periodic}"] = lambda tf, n=size, p=periodic: (
            tf.signal.hamming_window(n, periodic=p)
        )
    WINDOWS[f"kaiser {size}"] = lambda tf, n=size: tf.signal.kaiser_window(n, beta=5.0)
    WINDOWS[f"vorbis {size}"] = lambda tf, n=size: tf.signal.vorbis_window(n)
WINDOWS |= {
    "derived": lambda tf: tf.signal.kaiser_bessel_derived_window(8, beta=4.0),
    "hann double": lambda tf: tf.signal.hann_window(6, dtype=tf.float64),
    "hann half": lambda tf: tf.signal.hann_window(6, dtype=tf.float16),
    "hann tensor": lambda tf: tf.signal.hann_window(tf.constant(6)),
}
FRAMES: dict[str, Call] = {
    "frame": lambda tf: tf.signal.frame(SOUND, 8, 3),
    "frame end": lambda tf: tf.signal.frame(SOUND, 9, 7, pad_end=True, pad_value=2),
    "frame axis": lambda tf: tf.signal.frame(CUBE, 2, 1, axis=1),
    "frame axis end": lambda tf: tf.signal.frame(CUBE, 3, 2, pad_end=True, axis=2),
    "frame short": lambda tf: tf.signal.frame(SOUND[:, :3], 8, 3),
    "frame short end": lambda tf: tf.signal.frame(SOUND[:, :3], 8, 2, pad_end=True),
    "frame int": lambda tf: tf.signal.frame(np.arange(9), 4, 2),
    "overlap": lambda tf: tf.signal.overlap_and_add(CUBE, 4),
    "overlap equal": lambda tf: tf.signal.overlap_and_add(CUBE, 6),
    "overlap apart": lambda tf: tf.signal.overlap_and_add(CUBE, 8),
    "overlap odd": lambda tf: tf.signal.overlap_and_add(CUBE[0, 0], 1),
}
SPECTROGRAMS: dict[str, Call] = {
    "stft": lambda tf: tf.signal.stft(SOUND, 10, 4),
    "stft plain": lambda tf: tf.signal.stft(SOUND, 8, 8, window_fn=None),
    "stft end": lambda tf: tf.signal.stft(SOUND, 10, 7, fft_length=11, pad_end=True),
    "istft": lambda tf: tf.signal.inverse_stft(tf.signal.stft(SOUND, 10, 4), 10, 4),
    "istft long": lambda tf: tf.signal.inverse_stft(
        tf.signal.stft(SOUND, 8, 4, fft_length=8), 12, 4, fft_length=8, window_fn=None
    ),
    "istft exact": lambda tf: tf.signal.inverse_stft(
        tf.signal.stft(SOUND, 10, 4), 10, 4, window_fn=tf.signal.inverse_stft_window_fn(4)
    ),
    "istft window": lambda tf: tf.signal.inverse_stft_window_fn(
        3, forward_window_fn=tf.signal.hamming_window
    )(8, tf.float32),
    "mdct": lambda tf: tf.signal.mdct(SOUND, 8),
    "mdct ortho": lambda tf: tf.signal.mdct(SOUND, 8, norm="ortho"),
    "mdct plain": lambda tf: tf.signal.mdct(SOUND, 8, window_fn=None, pad_end=True),
    "mdct plain ortho": lambda tf: tf.signal.mdct(SOUND, 8, window_fn=None, norm="ortho"),
    "imdct": lambda tf: tf.signal.inverse_mdct(SOUND.reshape(2, 10, 4)),
    "imdct ortho": lambda tf: tf.signal.inverse_mdct(SOUND.reshape(2, 10, 4), norm="ortho"),
    "imdct plain": lambda tf: tf.signal.inverse_mdct(SOUND.reshape(2, 10, 4), window_fn=None),
    "imdct plain ortho": lambda tf: tf.signal.inverse_mdct(
        SOUND.reshape(2, 10, 4), window_fn=None, norm="ortho"
    ),
    "mel": lambda tf: tf.signal.linear_to_mel_weight_matrix(),
    "mel wide": lambda tf: tf.signal.linear_to_mel_weight_matrix(
        6, 33, 16000, 80.0, 7600.0, tf.float64
    ),
    "mel tensor": lambda tf: tf.signal.linear_to_mel_weight_matrix(
        6, tf.constant(33), tf.constant(16000.0), 80.0, 7600.0
    ),
    "mfcc": lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(CUBE),
}
COSINES: dict[str, Call] = {}
for kind in (1, 2, 3, 4):
    for norm in (None, "ortho") if kind > 1 else (None,):
        for n in (None, 7, 15):
            for name in ("dct", "idct"):
                COSINES[f"{name} {kind} {norm} {n}"] = lambda tf, *, f=name, a=(kind, n, -1, norm): (
                    getattr(tf.signal, f)(REAL, *a)
                )
CALLS = {**FOURIER, **WINDOWS, **FRAMES, **SPECTROGRAMS, **COSINES}


def arrays(result: Any) -> list[np.ndarray]:
    """The tensors that a call returned: real ones, and complex ones as two real parts."""
    many = result if isinstance(result, (list, tuple)) else [result]
    found: list[np.ndarray] = []
    for tensor in many:
        array = np.asarray(tensor)
        if array.dtype.kind == "c":
            found += [array.real, array.imag]
        else:
            found.append(array)
    return [a.astype(np.float64) for a in found]
