"""Samples of sound: WAV files, spectrograms, cepstral coefficients."""

import struct

import numpy as np

from tests.ops.samples import f32, i32, s, sample


def wav(data, bits=16, kind=1, channels=1, rate=8000, extra=b""):
    """A WAV file around the data."""
    step = channels * bits // 8
    head = struct.pack("<HHIIHH", kind, channels, rate, rate * step, step, bits)
    body = b"fmt " + struct.pack("<I", 16) + head + extra
    body += b"data" + struct.pack("<I", len(data)) + data
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WAVE" + body


STEREO = wav(np.array([0, 5, -32768, 32767, 16384, -3], "<i2").tobytes(), channels=2)
for channels in (-1, 1, 2, 3):
    for count in (-1, 2, 5):
        sample("DecodeWav", contents=s.of(STEREO), desired_channels=channels, desired_samples=count)
sample("DecodeWav", contents=s.of(wav(b"")))
sample("DecodeWav", contents=s.of(wav(b"abcd", extra=b"LIST\x04\x00\x00\x00abcd")))
for contents, message in (
    (b"RIFFxx", "Data too short when trying to read string"),
    (b"foo bar baz qux quux", "Header mismatch: Expected RIFF but found foo"),
    (wav(b"abc", bits=8), "Can only read 16-bit WAV files, but received 8"),
    (wav(b"abcd", kind=3), "Bad audio format for WAV: Expected 1 (PCM), but got"),
    (wav(b"abcd")[:-2], "Data too short when trying to read string"),
):
    sample("DecodeWav", contents=s.of(contents), error=("InvalidArgumentError", message))
sample("DecodeWav", contents=s([STEREO]), error=("InvalidArgumentError", "contents must be scalar"))

TIES = f32(np.array([[0.5, 1.5, 2.5, -0.5], [-1.5, 40000, -40000, 32767]]) / 32768)
for audio in (f32(5, 1), f32(3, 2), TIES):
    sample("EncodeWav", audio=audio, sample_rate=i32.of(44100))
sample(
    "EncodeWav",
    audio=f32(0, 1),
    sample_rate=i32.of(8000),
    parity="NumPy's bytes cannot end in zeros",
)
sample(
    "EncodeWav",
    audio=f32(3),
    sample_rate=i32.of(8000),
    error=("InvalidArgumentError", "audio must be 2-dimensional"),
)
sample(
    "EncodeWav",
    audio=f32(3, 1),
    sample_rate=i32.of(0),
    error=("InvalidArgumentError", "sample_rate must be in (0, 2^32), got: 0"),
)
sample(
    "EncodeWav",
    audio=f32(3, 1),
    sample_rate=i32([8000]),
    error=("InvalidArgumentError", "Input sample_rate should be a scalar tensor, got"),
)

for size, stride in ((8, 5), (9, 3), (16, 16), (50, 1)):
    for squared in (False, True):
        sample(
            "AudioSpectrogram",
            input=f32(40, 2),
            window_size=size,
            stride=stride,
            magnitude_squared=squared,
            tol=4e-6,
        )
sample(
    "AudioSpectrogram", input=f32(40), window_size=8, stride=5, error=("InvalidArgumentError", "2")
)
for size, stride in ((1, 5), (4, 0)):
    sample(
        "AudioSpectrogram",
        input=f32(40, 1),
        window_size=size,
        stride=stride,
        error=(
            "InvalidArgumentError",
            f"Spectrogram initialization failed for window size {size} and stride {stride}",
        ),
    )
LOUD = f32(2, 3, 65, lo=0.01, hi=9)
sample("Mfcc", spectrogram=LOUD, sample_rate=i32.of(16000), tol=1e-5)
sample(
    "Mfcc",
    spectrogram=LOUD,
    sample_rate=i32.of(16000),
    filterbank_channel_count=9,
    dct_coefficient_count=5,
    lower_frequency_limit=300.0,
    upper_frequency_limit=7000.0,
    tol=1e-5,
)
sample("Mfcc", spectrogram=LOUD, sample_rate=i32.of(4000))
sample(
    "Mfcc",
    spectrogram=LOUD,
    sample_rate=i32.of(0),
    error=(
        "InvalidArgumentError",
        "Mfcc initialization failed for channel count 65, sample rate 0",
    ),
)
sample(
    "Mfcc", spectrogram=f32(3, 65), sample_rate=i32.of(8000), error=("InvalidArgumentError", "3")
)
