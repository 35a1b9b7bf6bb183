"""Summaries that TensorBoard's pages show: scalars, histograms, images, sounds, texts.

Follows https://www.tensorflow.org/api_docs/python/tf/summary.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, float64, int32, string, uint8
from intaglio.composite_ops.image.color import convert_image_dtype
from intaglio.composite_ops.math.arithmetic import linspace
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.summaries import writers
from intaglio.trace import loops
from intaglio.trace.choices import cond

_WAV = b"\x10\x0b"  # the number of the encoding in the plugin's own message


def _write(name: str, kind: str, data: Callable[[], Any], step: Any, metadata: Any) -> Tensor:
    with writers.summary_scope(name, f"{kind}_summary") as (tag, _):
        return writers.write(tag, data, step, metadata)


def _of_rank(data: Any, rank: int, what: str) -> Tensor:
    tensor = convert.to_tensor(data)
    if tensor.dims is not None and len(tensor.dims) != rank:
        raise ValueError(
            f"{what} is of rank {rank}; the data given are of shape {list(tensor.dims)}"
        )
    return tensor


def scalar(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes a number, as float32; returns whether it was written.

    Raises ValueError for what is no scalar, and without a step.

    `description` is Markdown text that TensorBoard shows.

    >>> bool(tf.summary.scalar("loss", 0.5, step=1))  # no writer
    False
    """
    metadata = writers.metadata_of("scalars", "SCALAR", description)
    return _write(
        name,
        "scalar",
        lambda: raw.Cast(_of_rank(data, 0, "A scalar summary"), DstT=float32),
        step,
        metadata,
    )


def histogram(
    name: str,
    data: Any,
    step: Any = None,
    buckets: int | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes how numbers of any shape are distributed over `buckets` (30) equal parts.

    `description` is Markdown text that TensorBoard shows.

    >>> bool(tf.summary.histogram("weights", [0.1, 0.2], step=1))  # no writer
    False
    """
    metadata = writers.metadata_of("histograms", "TENSOR", description)
    return _write(
        name,
        "histogram",
        lambda: _buckets(convert.to_tensor(data), 30 if buckets is None else buckets),
        step,
        metadata,
    )


def _buckets(data: Tensor, count: int) -> Tensor:
    """[count, 3] of float64: the left and right edges of the parts, and how many are there."""
    if count <= 0:
        return raw.Fill([0, 3], np.float64(0))
    values = raw.Cast(raw.Reshape(data, [-1]), DstT=float64)

    def counted() -> Tensor:
        low, high = raw.Min(values, [0]), raw.Max(values, [0])
        one = raw.Equal(low, high)
        width = raw.SelectV2(one, np.float64(1), (high - low) / np.float64(count))
        part = raw.Cast(raw.Floor((values - low) / width), DstT=int32)
        # equal numbers are all in the last bucket
        last = np.int32(count - 1)
        part = raw.SelectV2(one, raw.OnesLike(part) * last, raw.Minimum(part, last))
        amounts = raw.Bincount(part, np.int32(count), np.zeros(0, np.float64))
        edges = linspace(low, high, count + 1)
        return raw.Pack([edges[:-1], edges[1:], amounts], axis=1)

    def nothing() -> Tensor:
        return raw.Fill([count, 3], np.float64(0))

    return cond(raw.Equal(raw.Size(values), np.int32(0)), nothing, counted)


def image(
    name: str, data: Any, step: Any = None, max_outputs: int = 3, description: str | None = None
) -> Tensor:
    """Writes the first images of a batch [k, height, width, channels] as PNG files.

    Floats are in [0, 1], integers are scaled to 8 bits. There are 1 to 4 channels.

    Of a batch the first `max_outputs` are written. `description` is Markdown text that TensorBoard
    shows.

    >>> bool(tf.summary.image("input", tf.zeros([1, 8, 8, 3]), step=1))  # no writer
    False
    """
    metadata = writers.metadata_of("images", "BLOB_SEQUENCE", description)

    def encoded() -> Tensor:
        tensor = _of_rank(data, 4, "An image summary")
        pixels = convert_image_dtype(tensor, uint8, saturate=True)[:max_outputs]
        sizes = raw.AsString(raw.Shape(pixels))
        return raw.ConcatV2([sizes[2:3], sizes[1:2], raw.EncodePng(pixels)], 0)

    return _write(name, "image", encoded, step, metadata)


def audio(
    name: str,
    data: Any,
    sample_rate: Any,
    step: Any = None,
    max_outputs: int = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes the first sounds of a batch [k, samples, channels] in [-1, 1] as WAV files.

    Raises ValueError for another encoding than "wav".

    Of a batch the first `max_outputs` are written. `description` is Markdown text that TensorBoard
    shows.

    >>> bool(tf.summary.audio("voice", tf.zeros([1, 8, 1]), 8000, step=1))  # no writer
    False
    """
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}; it may be 'wav'.")
    metadata = writers.metadata_of("audio", "UNKNOWN", description, _WAV)

    def encoded() -> Tensor:
        sounds = _of_rank(data, 3, "An audio summary")[:max_outputs]
        rate = convert.to_tensor(sample_rate, int32)
        files = loops.map_rows(
            lambda samples: raw.EncodeWav(samples, rate), sounds, string, None, None
        )
        return raw.Pack([files, raw.Fill(raw.Shape(files), b"")], axis=1)

    return _write(name, "audio", encoded, step, metadata)


def text(name: str, data: Any, step: Any = None, description: str | None = None) -> Tensor:
    """Writes texts of any shape, which are read as Markdown.

    `description` is Markdown text that TensorBoard shows.

    >>> bool(tf.summary.text("note", "**begun**", step=1))  # no writer
    False
    """
    metadata = writers.metadata_of("text", "TENSOR", description)
    return _write(name, "text", lambda: convert.to_tensor(data, string), step, metadata)


__all__ = ["audio", "histogram", "image", "scalar", "text"]
