"""Programs of signal processing."""

from __future__ import annotations

from typing import Any

from benchmarks.programs.inputs import Inputs
from benchmarks.programs.registry import program


@program()
def fft_filter(tf: Any, inputs: Inputs) -> Any:
    """A low-pass filter of real signals by rfft."""
    b, n = inputs.size(8, 40, 2), inputs.size(1000, 5000, 24, step=4)

    def step(x: Any) -> Any:
        spectrum = tf.signal.rfft(x)
        kept = tf.cast(tf.range(n // 2 + 1) < n // 8, tf.complex64)
        return tf.signal.irfft(spectrum * kept, fft_length=[n])

    return step, (tf.constant(inputs.normal(b, n)),)


@program()
def spectrogram(tf: Any, inputs: Inputs) -> Any:
    """Log magnitudes of short-time spectra."""
    b, n = inputs.size(2, 8, 2), inputs.size(8000, 24_000, 600)
    frame = inputs.size(200, 512, 64, step=8)

    def step(x: Any) -> Any:
        spectra = tf.signal.stft(x, frame, frame // 2)
        return tf.math.log(tf.abs(spectra) + 1e-3)

    return step, (tf.constant(inputs.normal(b, n)),)


@program()
def mel_cepstrum(tf: Any, inputs: Inputs) -> Any:
    """MFCCs from a mel spectrogram."""
    b, n, bins = inputs.size(2, 8, 2), inputs.size(8000, 20_000, 900), inputs.size(30, 80, 16)

    def step(x: Any) -> Any:
        spectra = tf.abs(tf.signal.stft(x, 400, 160, 512))
        mel = tf.signal.linear_to_mel_weight_matrix(bins, 257, 16_000, 80.0, 7600.0)
        logs = tf.math.log(tf.tensordot(spectra, mel, 1) + 1e-2)
        return tf.signal.mfccs_from_log_mel_spectrograms(logs)[..., :13]

    return step, (tf.constant(inputs.normal(b, n)),)


@program()
def griffin_lim(tf: Any, inputs: Inputs) -> Any:
    """Phases of magnitudes by inverse and forward transforms."""
    n = inputs.size(4000, 12_000, 700)

    def step(x: Any) -> Any:
        wanted = tf.abs(tf.signal.stft(x, 256, 64))
        signal = tf.reverse(x, [0])
        for _ in range(2):
            spectra = tf.signal.stft(signal, 256, 64)
            phases = spectra / tf.cast(tf.abs(spectra) + 1e-3, tf.complex64)
            signal = tf.signal.inverse_stft(
                tf.cast(wanted, tf.complex64) * phases,
                256,
                64,
                window_fn=tf.signal.inverse_stft_window_fn(64),
            )
            signal = tf.pad(signal, [[0, n - tf.shape(signal)[0]]])
        return tf.reduce_mean(tf.abs(tf.abs(tf.signal.stft(signal, 256, 64)) - wanted))

    return step, (tf.constant(inputs.normal(n)),)


@program()
def spectral_poisson(tf: Any, inputs: Inputs) -> Any:
    """A periodic Poisson equation by a two-dimensional FFT."""
    h, w = inputs.size(64, 256, 8, step=8), inputs.size(64, 256, 12, step=4)

    def step(f: Any) -> Any:
        ky = tf.cast(tf.concat([tf.range(h // 2), tf.range(-(h // 2), 0)], 0), tf.float32)
        kx = tf.cast(tf.range(w // 2 + 1), tf.float32)
        square = ky[:, None] ** 2 + kx[None] ** 2
        inverse = tf.where(square > 0, -1.0 / tf.maximum(square, 1e-6), 0.0)
        return tf.signal.irfft2d(tf.signal.rfft2d(f) * tf.cast(inverse, tf.complex64))

    return step, (tf.constant(inputs.normal(h, w)),)


@program()
def matched_filter(tf: Any, inputs: Inputs) -> Any:
    """Where templates lie in a signal: correlation by a convolution, and its peaks."""
    b, n = inputs.size(4, 16, 2), inputs.size(2000, 6000, 80)
    length, count = inputs.size(15, 60, 7), inputs.size(4, 12, 3)

    def step(x: Any, templates: Any) -> Any:
        scores = tf.nn.conv1d(x[..., None], templates[:, None, :], 1, "VALID")
        energy = tf.sqrt(tf.nn.conv1d(x[..., None] ** 2, tf.ones([length, 1, 1]), 1, "VALID"))
        scores = scores / (energy + 1e-3)
        return tf.reduce_max(scores, 1), tf.argmax(scores, 1)

    return step, (tf.constant(inputs.normal(b, n)), tf.constant(inputs.normal(length, count)))
