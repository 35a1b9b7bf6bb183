"""Random crops of an image that cover enough of one of its boxes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import INDEX, SIGNED, DType, float32, uint8
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.random import philox
from intaglio.ops.random.stateless import seeded

SIZES = (uint8, *SIGNED)
ATTRS = (
    "aspect_ratio_range: list(float) = [0.75, 1.33], area_range: list(float) = [0.05, 1],"
    " max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False"
)
OUTPUTS = "begin: T, size: T, bboxes: float32"
# Counters that an attempt may need.
COUNTERS_PER_ATTEMPT = 4
F = np.float32


class Crop(NamedTuple):
    """A part of an image: from (top, left) up to, without, (bottom, right)."""

    top: int
    left: int
    bottom: int
    right: int


class RandomNumbers:
    """The numbers of a stream, one after the other."""

    def __init__(self, stream: philox.Stream, count: int) -> None:
        self._stream = stream
        self._bits = self._numbers(count)

    def _numbers(self, count: int) -> Iterator[int]:
        first = 0
        while True:  # more than `count` only if numbers had to be rejected
            bits = philox.bits32(self._stream.skipped(first), 4 * count)
            yield from bits.tolist()
            first += count

    def unit(self) -> np.float32:
        """A float in [0, 1)."""
        bits = np.array([next(self._bits)], np.uint32)
        return philox.unit(bits, np.dtype(np.float32))[0]

    def below(self, limit: int) -> int:
        """An integer in [0, limit)."""
        if limit & (limit - 1) == 0:
            return next(self._bits) & (limit - 1)
        # The lowest numbers are left out, so that every remainder is as likely.
        skipped = 0xFFFFFFFF % limit + 1
        bits = next(self._bits)
        while bits < skipped:
            bits = next(self._bits)
        return bits % limit


def _sides(
    numbers: RandomNumbers, whole: tuple[int, int], areas: Sequence[Any], ratio: np.float32
) -> tuple[int, int] | None:
    """A random height and width of this aspect ratio (width by height); None if none fits."""
    height, width = whole
    least = F(areas[0]) * F(width) * F(height)
    most = F(areas[1]) * F(width) * F(height)
    if ratio <= 0 or height <= 0 or width <= 0:
        return None
    low = round(math.sqrt(float(least / ratio)))
    high = round(math.sqrt(float(most / ratio)))
    if round(float(F(high) * ratio)) > width:
        high = int((width + 0.5 - 1e-7) / float(ratio))
        if round(float(F(high) * ratio)) > width:
            high -= 1
    high = min(high, height)
    low = min(low, high)
    if low < high:
        low += numbers.below(high - low + 1)
    across = round(float(F(low) * ratio))
    if F(across * low) < least:
        low += 1
        across = round(float(F(low) * ratio))
    if F(across * low) > most:
        low -= 1
        across = round(float(F(low) * ratio))
    size = F(across * low)
    fits = 0 < across <= width and 0 < low <= height
    return (low, across) if fits and least <= size <= most else None


def _attempt(
    numbers: RandomNumbers, whole: tuple[int, int], areas: Sequence[Any], ratios: Sequence[Any]
) -> Crop | None:
    ratio = numbers.unit() * (F(ratios[1]) - F(ratios[0])) + F(ratios[0])
    sides = _sides(numbers, whole, areas, ratio)
    if sides is None:
        return None
    height, width = sides
    top = numbers.below(whole[0] - height) if height < whole[0] else 0
    left = numbers.below(whole[1] - width) if width < whole[1] else 0
    return Crop(top, left, top + height, left + width)


def _covers(crop: Crop, boxes: np.ndarray, share: np.float32) -> bool:
    """True if the crop covers the share of some box that has an area."""
    low = np.maximum(boxes[:, :2], crop[:2])
    high = np.minimum(boxes[:, 2:], crop[2:])
    shared = np.prod(np.maximum(high - low, 0), axis=1).astype(np.float32)
    area = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1).astype(np.float32)
    real = area >= 1
    return bool((shared[real] / area[real] >= share).any())


def sampled(
    image_size: Any, bounding_boxes: Any, share: Any, stream: philox.Stream, plan: Any
) -> Any:
    """The crop's begin and size as slices take them, and its box."""
    ratios, areas, attempts, use_image = plan
    height, width, _ = image_size.tolist()
    boxes = np.array([[0, 0, height, width]])
    if bounding_boxes.size:
        corners = bounding_boxes.reshape(-1, 4) * np.array([height, width] * 2, F)
        boxes = corners.astype(np.int64)
    elif not use_image:
        raise invalid_argument(
            "No bounding boxes provided as input. One must enable "
            "use_image_if_no_bounding_boxes if you wish to not provide any bounding boxes."
        )
    numbers = RandomNumbers(stream, COUNTERS_PER_ATTEMPT * attempts)
    found = Crop(0, 0, height, width)
    for _ in range(attempts):
        crop = _attempt(numbers, (height, width), areas, ratios)
        if crop is not None and _covers(crop, boxes, F(share)):
            found = crop
            break
    dtype = image_size.dtype
    begin = np.array([found.top, found.left, 0]).astype(dtype)
    size = np.array([found.bottom - found.top, found.right - found.left, -1])
    box = np.array(found, F) / np.array([height, width] * 2, F)
    return begin, size.astype(dtype), box.reshape(1, 1, 4)


def _check(image_size: Any, boxes: Any, share: Any, plan: Any) -> None:
    ratios, areas, attempts, _ = plan
    if image_size.ndim != 1:
        raise invalid_argument(f"image_size must be 1-dimensional: {list(image_size.shape)}")
    if image_size.size != 3:
        raise invalid_argument(f"image_size must contain 3 elements[{image_size.size}]")
    if min(image_size[:2]) <= 0:
        raise invalid_argument(
            f"image height and width must be positive: {image_size[:2].tolist()}"
        )
    if boxes.ndim != 3:
        raise invalid_argument(
            f"input boxes must be 3-dimensional [batch, num_boxes, coords]: {list(boxes.shape)}"
        )
    if boxes.shape[2] != 4:
        raise invalid_argument(
            f"bounding boxes must have shape [4] or [*, 4], got {list(boxes.shape)}"
        )
    if np.ndim(share):
        raise invalid_argument(f"min_object_covered must be 0-D, got shape {list(np.shape(share))}")
    if share < 0:
        raise invalid_argument(f"Min object covered must be non-negative: {share:g}")
    if boxes.size and not ((boxes >= 0) & (boxes <= 1)).all():
        bad = boxes[~((boxes >= 0) & (boxes <= 1))][0]
        raise invalid_argument(f"All bounding box coordinates must be in [0.0, 1.0]: {bad:g}")
    if len(ratios) != 2:
        raise invalid_argument("Aspect ratio range field must specify 2 dimensions")
    if len(areas) != 2:
        raise invalid_argument("Area range field must specify 2 dimensions")
    if min(ratios) <= 0:
        raise invalid_argument(f"Aspect ratio range must be non-negative: {list(ratios)}")
    if min(areas) <= 0:
        raise invalid_argument(f"Area range must be non-negative: {list(areas)}")
    if max(areas) > 1:
        raise invalid_argument(f"Area range must be less then or equal to 1.0: {list(areas)}")
    if attempts <= 0:
        raise invalid_argument(f"Max attempts must be non-negative: {attempts}")


class BoxSampling(Op):
    """A random crop: where it begins, its size, and the crop as a box."""

    T: tuple[DType, ...] = SIZES
    differentiable = False

    def infer(self, image_size: Spec, bounding_boxes: Spec) -> Any:
        for x, rank in ((image_size, 1), (bounding_boxes, 3)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        three = Spec(image_size.dtype, (3,))
        return three, three, Spec(float32, (1, 1, 4))


class StreamSampling(BoxSampling):
    """A sampling op that uses its own stream of random numbers."""

    stateful = True
    droppable = True

    def kernel(
        self,
        image_size,
        bounding_boxes,
        min_object_covered,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
        stream,
    ):
        plan = (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
        _check(image_size, bounding_boxes, min_object_covered, plan)
        start = stream.take(COUNTERS_PER_ATTEMPT * max_attempts)
        return sampled(image_size, bounding_boxes, min_object_covered, start, plan)


@op
class SampleDistortedBoundingBox(StreamSampling):
    """A random crop that covers enough of one box."""

    signature = (
        "image_size: T, bounding_boxes: float32; seed: int = 0, seed2: int = 0,"
        f" min_object_covered: float = 0.1, {ATTRS} -> {OUTPUTS}"
    )


@op
class SampleDistortedBoundingBoxV2(StreamSampling):
    """A random crop that covers enough of one box; how much is an input."""

    signature = (
        "image_size: T, bounding_boxes: float32, min_object_covered: float32;"
        f" seed: int = 0, seed2: int = 0, {ATTRS} -> {OUTPUTS}"
    )


@op
class StatelessSampleDistortedBoundingBox(BoxSampling):
    """A random crop that depends on the seed alone."""

    signature = (
        "image_size: T, bounding_boxes: float32, min_object_covered: float32,"
        f" seed: Tseed; {ATTRS} -> {OUTPUTS}"
    )
    Tseed = INDEX
    without_default = ("Tseed",)

    def kernel(
        self,
        image_size,
        bounding_boxes,
        min_object_covered,
        seed,
        aspect_ratio_range,
        area_range,
        max_attempts,
        use_image_if_no_bounding_boxes,
    ):
        plan = (aspect_ratio_range, area_range, max_attempts, use_image_if_no_bounding_boxes)
        _check(image_size, bounding_boxes, min_object_covered, plan)
        return sampled(image_size, bounding_boxes, min_object_covered, seeded(seed), plan)
