"""Ops whose results are Summary messages, as TensorFlow 1 makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, REAL, float16, float32, float64, string, uint8
from intaglio.base.errors import invalid_argument
from intaglio.graphdef import event_messages, tensors
from intaglio.graphdef.declarations import MalformedError, merge, parsed
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.image.encoding import png_file
from intaglio.ops.signal.audio import wav_file

_MAX = float(np.finfo(np.float64).max)


def _bytes(array: Any, what: str) -> bytes:
    """A scalar. Raises InvalidArgumentError for anything else."""
    if np.ndim(array):
        raise invalid_argument(f"{what} must be scalar")
    return bytes(np.asarray(array, object)[()])


def _text(array: Any) -> str:
    return _bytes(array, "tag").decode("utf-8", "replace")


def _need_one(name: str, value: int) -> None:
    if value < 1:
        raise invalid_argument(f"Value for attr '{name}' of {value} must be at least minimum 1")


def _result(summary: Any) -> np.ndarray:
    return np.array(summary.SerializeToString(), object)


class _Summary(Op):
    """A Summary message as bytes."""

    differentiable = False

    def infer(self) -> Spec:
        return Spec(string, ())


@op
class ScalarSummary(_Summary):
    """Numbers under tags."""

    signature = "tags: string, values: T -> summary: string"
    T = REAL

    def kernel(self, tags, values):
        names = np.asarray(tags, object)
        if names.shape != values.shape:
            tag = f" (tag '{_text(names)}')" if not names.ndim else ""
            raise invalid_argument(
                f"tags and values are not the same shape: {list(names.shape)} != {list(values.shape)}{tag}"
            )
        summary = event_messages.Summary()
        for name, value in zip(names.ravel(), np.ravel(values), strict=True):
            summary.value.add(tag=_text(name), simple_value=float(value))
        return _result(summary)


def _edges() -> np.ndarray:
    """The right edges of the buckets of histograms: they grow by a tenth, to both sides of zero."""
    sizes, size = list[float](), 1e-12
    while size < 1e20:
        sizes.append(size)
        size *= 1.1
    sizes.append(_MAX)
    return np.array([-v for v in reversed(sizes)] + [0.0] + sizes)


_EDGES = _edges()


def histogram_of(values: np.ndarray) -> Any:
    """A HistogramProto: how many values are in each bucket. Runs of empty buckets are one."""
    flat = values.astype(np.float64).ravel()
    found = event_messages.HistogramProto(
        min=float(flat.min()) if flat.size else _MAX,
        max=float(flat.max()) if flat.size else -_MAX,
        num=float(flat.size),
        sum=float(np.sum(flat)),
        sum_squares=float(np.sum(flat * flat)),
    )
    if not flat.size:
        found.bucket_limit.append(_MAX)
        found.bucket.append(0.0)
        return found
    last = len(_EDGES) - 1
    where = np.minimum(np.searchsorted(_EDGES, flat, side="right"), last)
    counts = np.bincount(where, minlength=last + 1)
    for i, (edge, count) in enumerate(zip(_EDGES, counts, strict=True)):
        if count or i == last or counts[i + 1]:
            found.bucket_limit.append(float(edge))
            found.bucket.append(float(count))
    return found


@op
class HistogramSummary(_Summary):
    """How numbers are distributed, under a tag."""

    signature = "tag: string, values: T -> summary: string"
    T = REAL

    def kernel(self, tag, values):
        wide = values.astype(np.float64)
        for what, wrong in (
            ("Nan in summary histogram", np.isnan(wide)),
            ("Infinity in Histogram", np.isinf(wide)),
        ):
            if wrong.any():
                raise invalid_argument(f"{what} for: {_text(tag)}")
        summary = event_messages.Summary()
        summary.value.add(tag=_text(tag)).histo.CopyFrom(histogram_of(values))
        return _result(summary)


def _pixels(image: np.ndarray, bad: np.ndarray) -> np.ndarray:
    """An image of floats as bytes: the largest absolute value is the brightest, zero black or grey."""
    finite = np.isfinite(image)
    known = image[finite].astype(np.float32)
    low = float(known.min()) if known.size else 0.0
    high = float(known.max()) if known.size else 0.0
    if low < 0:
        largest = max(abs(low), abs(high))
        scale, offset = (0.0 if largest < 1e-6 else 127.0 / largest), 128.0
    else:
        scale, offset = (0.0 if high < 1e-6 else 255.0 / high), 0.0
    with np.errstate(invalid="ignore"):
        wide = np.where(finite, image, 0).astype(np.float32)
        found = (wide * np.float32(scale) + np.float32(offset)).astype(np.uint8)
    found[~finite.all(-1)] = bad[: image.shape[-1]]
    return found


@op
class ImageSummary(_Summary):
    """The first images of a batch as PNG files."""

    signature = (
        "tag: string, tensor: T; max_images: int = 3, bad_color: tensor = None -> summary: string"
    )
    T = (float32, uint8, float16, float64)

    def kernel(self, tag, tensor, max_images, bad_color):
        _need_one("max_images", max_images)
        if tensor.ndim != 4 or tensor.shape[-1] not in (1, 3, 4):
            raise invalid_argument(
                "Tensor must be 4-D with last dim 1, 3, or 4, not " + str(list(tensor.shape))
            )
        bad = np.array([255, 0, 0, 255] if bad_color is None else bad_color, np.uint8)
        summary, name = event_messages.Summary(), _text(tag)
        for i, image in enumerate(tensor[:max_images]):
            data = image if image.dtype == np.uint8 else _pixels(image, bad)
            value = summary.value.add(
                tag=f"{name}/image/{i}" if max_images > 1 else f"{name}/image"
            )
            value.image.height, value.image.width, value.image.colorspace = data.shape
            value.image.encoded_image_string = png_file(data, -1)
        return _result(summary)


@op
class AudioSummaryV2(_Summary):
    """The first sounds of a batch as WAV files."""

    signature = (
        "tag: string, tensor: float32, sample_rate: float32; max_outputs: int = 3"
        " -> summary: string"
    )

    def kernel(self, tag, tensor, sample_rate, max_outputs):
        _need_one("max_outputs", max_outputs)
        if tensor.ndim not in (2, 3):
            raise invalid_argument(f"Tensor must be 3-D or 2-D, got: {list(tensor.shape)}")
        if np.size(sample_rate) != 1:
            raise invalid_argument("sample_rate must be scalar")
        rate = float(np.ravel(sample_rate)[0])
        if rate <= 0:
            raise invalid_argument("sample_rate must be > 0")
        summary, name = event_messages.Summary(), _text(tag)
        sounds = tensor if tensor.ndim == 3 else tensor[..., None]
        if not sounds.shape[-1]:
            raise invalid_argument("num_channels must be in (0, 2^15), got: 0")
        for i, sound in enumerate(sounds[:max_outputs]):
            several = max_outputs > 1
            value = summary.value.add(tag=f"{name}/audio/{i}" if several else f"{name}/audio")
            value.audio.sample_rate = rate
            value.audio.length_frames, value.audio.num_channels = sound.shape
            value.audio.content_type = "audio/wav"
            value.audio.encoded_audio_string = wav_file(sound, round(rate))
        return _result(summary)


@op
class TensorSummaryV2(_Summary):
    """A tensor under a tag, with metadata for the plugin that shows it."""

    signature = "tag: string, tensor: T, serialized_summary_metadata: string -> summary: string"
    T = ALL

    def kernel(self, tag, tensor, serialized_summary_metadata):
        summary = event_messages.Summary()
        value = summary.value.add(tag=_text(tag))
        value.tensor.CopyFrom(tensors.tensor_proto(tensor))
        if tensor.dtype != object:  # as bytes, where other messages have few elements as numbers
            like = value.tensor
            content = type(like)(
                dtype=like.dtype, tensor_shape=like.tensor_shape, tensor_content=tensor.tobytes()
            )
            value.tensor.CopyFrom(content)
        # TensorFlow 2.21 keeps what it can read of damaged metadata, too.
        merge(value.metadata, _bytes(serialized_summary_metadata, "serialized_summary_metadata"))
        return _result(summary)


@op
class MergeSummary(_Summary):
    """The values of several messages in one. Raises InvalidArgumentError for a tag that comes twice."""

    signature = "inputs: N*string -> summary: string"

    def kernel(self, inputs):
        _need_one("N", len(inputs))
        summary, tags = event_messages.Summary(), set[str]()
        for array in inputs:
            for data in np.ravel(np.asarray(array, object)):
                try:
                    part = parsed(event_messages.Summary, bytes(data), "the input")
                except MalformedError:
                    raise invalid_argument("Could not parse one of the summary inputs") from None
                for value in part.value:
                    if value.tag and value.tag in tags:
                        raise invalid_argument(f"Duplicate tag {value.tag} found in summary inputs")
                    tags.add(value.tag)
                    summary.value.append(value)
        return _result(summary)
