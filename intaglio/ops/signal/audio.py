"""Sound: WAV files, spectrograms, cepstral coefficients."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int32, string
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

# One sample is two bytes: the loudest is just below 1.
FULL = 1 << 15


def _check_rank(x: Spec, rank: int) -> None:
    if x.rank not in (None, rank):
        raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")


class _Reader:
    """The remaining bytes of a file."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if end > len(self.data):
            raise invalid_argument("Data too short when trying to read string")
        part = self.data[self.at : end]
        self.at = end
        return part

    def expect(self, text: bytes) -> None:
        found = self.take(len(text))
        if found != text:
            raise invalid_argument(
                f"Header mismatch: Expected {text.decode()} but found {found.decode('latin-1')}"
            )

    def number(self, kind: str) -> int:
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(kind)))[0]


def samples_of(contents: bytes) -> tuple[np.ndarray, int]:
    """Samples [n, channels] of 16 bits and the sample rate. Raises InvalidArgumentError."""
    file = _Reader(contents)
    file.expect(b"RIFF")
    file.take(4)
    file.expect(b"WAVE")
    file.expect(b"fmt ")
    size, kind, channels = file.number("I"), file.number("H"), file.number("H")
    rate, _, _, bits = (file.number(k) for k in "IIHH")
    if size not in (16, 18):
        raise invalid_argument(f"Bad format chunk size for WAV: Expected 16 or 18, but got {size}")
    file.take(size - 16)
    if kind != 1:
        raise invalid_argument(f"Bad audio format for WAV: Expected 1 (PCM), but got {kind}")
    if bits != 16:
        raise invalid_argument(f"Can only read 16-bit WAV files, but received {bits}")
    if not channels:
        raise invalid_argument("Bad number of channels for WAV: Expected at least 1")
    found: np.ndarray | None = None
    while file.at < len(contents):
        name, length = file.take(4), file.number("I")
        part = file.take(length)
        if name == b"data" and found is None:
            whole = length // (2 * channels) * channels
            found = np.frombuffer(part, "<i2", whole).reshape(-1, channels)
    if found is None:
        raise invalid_argument("No data chunk found in WAV")
    return found, rate


@op
class DecodeWav(Op):
    """A 16-bit WAV file as samples [n, channels] in [-1, 1) and its sample rate."""

    signature = (
        "contents: string; desired_channels: int = -1, desired_samples: int = -1"
        " -> audio: float32, sample_rate: int32"
    )
    differentiable = False

    def infer(self, contents: Spec, desired_channels, desired_samples) -> Any:
        _check_rank(contents, 0)
        dims = [n if n >= 0 else None for n in (desired_samples, desired_channels)]
        return Spec(float32, tuple(dims)), Spec(int32, ())

    def kernel(self, contents, desired_channels, desired_samples):
        if np.ndim(contents):
            raise invalid_argument(f"contents must be scalar, got shape {list(np.shape(contents))}")
        read, rate = samples_of(np.asarray(contents, object).item())
        for name, wanted in (
            ("desired_channels", desired_channels),
            ("desired_samples", desired_samples),
        ):
            if wanted < -1:
                raise invalid_argument(f"{name} must be -1 or more, not {wanted}")
        count, channels = read.shape
        length = count if desired_samples < 0 else desired_samples
        wide = channels if desired_channels < 0 else desired_channels
        check_decoded(4 * length * wide, "DecodeWav")
        audio = np.zeros((length, wide), np.float32)
        # Channels that the file does not have repeat its last one.
        chosen = np.minimum(np.arange(wide), channels - 1)
        audio[:count] = read[:length, chosen]
        audio /= np.float32(FULL)
        return audio, np.asarray(rate, np.int32)


def wav_file(audio: np.ndarray, rate: int) -> bytes:
    """A 16-bit WAV file of samples [n, channels] in [-1, 1)."""
    channels = audio.shape[1]
    loud = audio * np.float32(FULL)
    # Halves go away from zero.
    loud = np.trunc(loud + np.copysign(np.float32(0.5), loud))
    loud = np.clip(loud, -FULL, FULL - 1)
    body = loud.astype("<i2").tobytes()
    head = struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(body), b"WAVE", b"fmt ", 16, 1, channels),
        *(rate, rate * channels * 2, channels * 2, 16, b"data", len(body)),
    )
    return head + body


@op
class EncodeWav(Op):
    """Samples [n, channels] in [-1, 1) as a 16-bit WAV file."""

    signature = "audio: float32, sample_rate: int32 -> contents: string"
    differentiable = False

    def infer(self, audio: Spec, sample_rate: Spec) -> Spec:
        _check_rank(audio, 2)
        _check_rank(sample_rate, 0)
        return Spec(string, ())

    def kernel(self, audio, sample_rate):
        if audio.ndim != 2:
            raise invalid_argument(f"audio must be 2-dimensional{list(audio.shape)}")
        rate = _rate(sample_rate)
        if rate <= 0:
            raise invalid_argument(f"sample_rate must be in (0, 2^32), got: {rate}")
        channels = audio.shape[1]
        if not 0 < channels < FULL:
            raise invalid_argument(f"num_channels must be in (0, 2^15), got: {channels}")
        return np.array(wav_file(audio, rate), object)


def _rate(sample_rate: Any) -> int:
    if np.ndim(sample_rate):
        raise invalid_argument(
            f"Input sample_rate should be a scalar tensor, got {list(np.shape(sample_rate))} instead."
        )
    return int(sample_rate)


@op
class AudioSpectrogram(Op):
    """How loud each frequency is over time: [channels, frames, frequencies]."""

    signature = (
        "input: float32; window_size: int, stride: int, magnitude_squared: bool = False"
        " -> spectrogram: float32"
    )
    differentiable = False

    def infer(self, input: Spec, window_size, stride) -> Spec:
        _check_rank(input, 2)
        length, channels = input.shape or (None, None)
        _check_window(window_size, stride)
        frames = None if length is None else _frames(length, window_size, stride)
        return Spec(float32, (channels, frames, _power(window_size) // 2 + 1))

    def kernel(self, input, window_size, stride, magnitude_squared):
        if input.ndim != 2:
            raise invalid_argument(f"input must be 2-dimensional{list(input.shape)}")
        _check_window(window_size, stride)
        length, channels = input.shape
        frames = _frames(length, window_size, stride)
        bins = _power(window_size) // 2 + 1
        if not frames:
            return np.zeros((channels, 0, bins), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(input, window_size, axis=0)
        angles = 2 * np.pi * np.arange(window_size) / window_size
        parts = windows[: frames * stride : stride] * (0.5 - 0.5 * np.cos(angles))
        found = np.fft.rfft(parts, 2 * (bins - 1), axis=-1)
        power = np.square(found.real) + np.square(found.imag)
        loud = power if magnitude_squared else np.sqrt(power)
        return loud.transpose(1, 0, 2).astype(np.float32)


def _check_window(window_size: int, stride: int) -> None:
    if window_size < 2 or stride < 1:
        raise invalid_argument(
            f"Spectrogram initialization failed for window size {window_size} and stride {stride}"
        )


def _frames(length: int, window_size: int, stride: int) -> int:
    return 1 + (length - window_size) // stride if length >= window_size else 0


def _power(size: int) -> int:
    """The smallest power of two that is no smaller."""
    return 1 << (size - 1).bit_length()


# Energies below this are taken for it before their logarithm.
QUIETEST = 1e-12


def _mel(hertz: Any) -> Any:
    return 1127.0 * np.log1p(hertz / 700.0)


def _filterbank(bins: int, rate: int, low: float, high: float, channels: int) -> np.ndarray | None:
    """Triangles on the mel scale, [bins, channels]; None if they reach beyond the bins."""
    lowest = _mel(low)
    step = (_mel(high) - lowest) / (channels + 1)
    centers = lowest + step * np.arange(1, channels + 2)
    per_bin = 0.5 * rate / (bins - 1)
    start, end = int(1.5 + low / per_bin), int(high / per_bin)
    if end >= bins:
        return None
    used = np.arange(start, end + 1)
    mels = _mel(used * per_bin)
    # The channel whose centre is the last below; -1 before the first centre.
    below = np.searchsorted(centers[:channels], mels, side="left") - 1
    before = np.where(below < 0, lowest, centers[below])
    weight = (centers[below + 1] - mels) / (centers[below + 1] - before)
    bank = np.zeros((bins, channels))
    inner = below >= 0
    bank[used[inner], below[inner]] += weight[inner]
    more = below + 1 < channels
    bank[used[more], below[more] + 1] += 1 - weight[more]
    return bank


@op
class Mfcc(Op):
    """Mel-frequency cepstral coefficients of a spectrogram of squared magnitudes."""

    signature = (
        "spectrogram: float32, sample_rate: int32; upper_frequency_limit: float = 4000.0,"
        " lower_frequency_limit: float = 20.0, filterbank_channel_count: int = 40,"
        " dct_coefficient_count: int = 13 -> output: float32"
    )
    differentiable = False

    def infer(self, spectrogram: Spec, sample_rate: Spec, dct_coefficient_count) -> Spec:
        _check_rank(spectrogram, 3)
        _check_rank(sample_rate, 0)
        lead = (spectrogram.shape or (None, None))[:2]
        return Spec(float32, (*lead, dct_coefficient_count))

    def kernel(
        self,
        spectrogram,
        sample_rate,
        upper_frequency_limit,
        lower_frequency_limit,
        filterbank_channel_count,
        dct_coefficient_count,
    ):
        if spectrogram.ndim != 3:
            raise invalid_argument(f"spectrogram must be 3-dimensional{list(spectrogram.shape)}")
        rate, bins = _rate(sample_rate), spectrogram.shape[2]
        channels, wanted = filterbank_channel_count, dct_coefficient_count
        if (
            min(rate, channels, wanted) < 1
            or bins < 2
            or wanted > channels
            or not 0 <= lower_frequency_limit < upper_frequency_limit
        ):
            raise invalid_argument(
                f"Mfcc initialization failed for channel count {bins}, sample rate {rate} "
                f"and filterbank_channel_count {channels}"
            )
        bank = _filterbank(bins, rate, lower_frequency_limit, upper_frequency_limit, channels)
        if bank is None:
            return np.zeros((*spectrogram.shape[:2], wanted), np.float32)
        loud = np.sqrt(spectrogram.astype(np.float64)) @ bank
        levels = np.log(np.maximum(loud, QUIETEST))
        angles = np.arange(wanted) * (np.arange(channels)[:, None] + 0.5)
        cosines = np.sqrt(2.0 / channels) * np.cos(angles * np.pi / channels)
        return (levels @ cosines).astype(np.float32)
