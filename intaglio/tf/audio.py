"""Sound files: `tf.audio`.

Follows https://www.tensorflow.org/api_docs/python/tf/audio.
"""

from __future__ import annotations

from typing import Any

from intaglio.opdef import raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> Any:
    """A 16-bit WAV file: `audio` [samples, channels] in [-1, 1), and `sample_rate`.

    More samples than there are become zeros, more channels repeat the last one. Raises
    InvalidArgumentError for other files.

    `desired_channels` and `desired_samples` are the sizes of the result, cut or filled up; -1 for
    those of the file.

    >>> file = tf.audio.encode_wav([[0.5], [-0.25]], 8000)
    >>> tf.audio.decode_wav(file).audio.numpy()
    array([[ 0.5 ],
           [-0.25]], dtype=float32)
    """
    return raw.DecodeWav(
        contents, desired_channels=desired_channels, desired_samples=desired_samples, name=name
    )


@dispatchable
def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """Samples [n, channels] in [-1, 1) as a 16-bit WAV file; louder ones are cut off.

    >>> tf.audio.encode_wav([[0.0]], 8000).numpy()[:4]
    b'RIFF'
    """
    return raw.EncodeWav(audio, sample_rate, name=name)


__all__ = ["decode_wav", "encode_wav"]
