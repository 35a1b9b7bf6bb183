"""Parts of images: boxes cropped and resized, with gradients, and glimpses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import (
    HALF_TO_DOUBLE,
    SIGNED,
    DType,
    float16,
    float32,
    float64,
    uint8,
    uint16,
)
from intaglio.base.errors import OutOfRangeError, ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of

CROPPABLE = (uint8, uint16, *SIGNED, *HALF_TO_DOUBLE)
METHODS = ("bilinear", "nearest")


def check_boxes(boxes: Any, box_ind: Any, batch: int) -> None:
    """Raises an error unless there is an image for every box."""
    if boxes.ndim != 2:
        raise invalid_argument(f"boxes must be 2-D{list(boxes.shape)}")
    if boxes.shape[1] != 4:
        raise invalid_argument("boxes must have 4 columns")
    if box_ind.shape != boxes.shape[:1]:
        raise invalid_argument("box_index has incompatible shape")
    if len(box_ind) and not (box_ind.min() >= 0 and box_ind.max() < batch):
        raise OutOfRangeError(
            None, None, f"box_index has values outside [0, batch_size) of {batch}"
        )


class Line(NamedTuple):
    """The coordinates of every crop's pixels along one axis of the images: arrays [boxes, crop]."""

    low: np.ndarray
    high: np.ndarray
    part: np.ndarray
    inside: np.ndarray


def _line(first: Any, last: Any, size: int, crop: int, dtype: Any) -> Line:
    first, last = first.astype(dtype), last.astype(dtype)
    end = dtype.type(size - 1)
    if crop > 1:
        step = (last - first) * end / dtype.type(crop - 1)
        at = (first * end)[:, None] + np.arange(crop, dtype=dtype) * step[:, None]
    else:
        at = (dtype.type(0.5) * (first + last) * end)[:, None]
    inside = (at >= 0) & (at <= end)
    safe = np.where(inside, at, 0)
    low = np.floor(safe)
    return Line(low.astype(np.intp), np.ceil(safe).astype(np.intp), safe - low, inside)


def _lines(boxes: Any, sizes: Any, crop: Any) -> tuple[Line, Line]:
    dtype = boxes.dtype
    rows = _line(boxes[:, 0], boxes[:, 2], sizes[0], crop[0], dtype)
    columns = _line(boxes[:, 1], boxes[:, 3], sizes[1], crop[1], dtype)
    return rows, columns


def _nearest(line: Line) -> np.ndarray:
    return np.where(line.part < 0.5, line.low, line.high)


def _flat(box_ind: Any, rows: Any, columns: Any, sizes: Any) -> np.ndarray:
    """The numbers of pixels in all images one after the other: [boxes, height, width]."""
    start = box_ind.astype(np.intp)[:, None] * sizes[0] + rows
    return start[:, :, None] * sizes[1] + columns[:, None, :]


@op
class CropAndResize(Op):
    """Boxes of images, each resized to one size. Outside of the image is one value."""

    signature = (
        "image: T, boxes: float32, box_ind: int32, crop_size: int32;"
        " method: str = 'bilinear', extrapolation_value: float = 0.0 -> crops: float32"
    )
    T: tuple[DType, ...] = CROPPABLE
    method = METHODS

    def infer(self, image: Spec, boxes: Spec, box_ind: Spec, crop_size: Spec) -> Spec:
        _rank(image, 4)
        _rank(boxes, 2)
        count = None if boxes.shape is None else boxes.shape[0]
        if count is None and box_ind.shape is not None:
            count = box_ind.shape[0]
        known = crop_size.as_shape()
        if known is not None and len(known) != 2:
            raise ShapeError(
                f"Dimension must be 2 but is {len(known)}",
                f"crop_size must have two elements[{len(known)}]",
            )
        depth = None if image.shape is None else image.shape[3]
        return Spec(float32, (count, *(known or (None, None)), depth))

    def kernel(self, image, boxes, box_ind, crop_size, method, extrapolation_value):
        crop = _checked(image, boxes, box_ind, crop_size)
        depth, sizes = image.shape[3], image.shape[1:3]
        rows, columns = _lines(boxes, sizes, crop)
        if not len(boxes) or not depth:
            return np.zeros((len(boxes), *crop, depth), np.float32)
        pixels = image.reshape(-1, depth)

        def at(r: Any, c: Any) -> np.ndarray:
            taken = pixels.take(_flat(box_ind, r, c, sizes), axis=0, mode="clip")
            return taken.astype(np.float32, copy=False)

        if method == "nearest":
            crops = at(_nearest(rows), _nearest(columns))
        else:
            across = columns.part[:, None, :, None]
            top = _between(at(rows.low, columns.low), at(rows.low, columns.high), across)
            low = _between(at(rows.high, columns.low), at(rows.high, columns.high), across)
            crops = _between(top, low, rows.part[:, :, None, None])
        if not (rows.inside.all() and columns.inside.all()):
            inside = rows.inside[:, :, None] & columns.inside[:, None, :]
            crops[~inside] = extrapolation_value
        return crops

    def gradient(self, image, boxes, box_ind, dcrops, method, extrapolation_value) -> Any:
        known = spec_of(image)

        def by_image() -> Any:
            if known.dtype not in HALF_TO_DOUBLE:
                return None
            return raw.CropAndResizeGradImage(
                dcrops, boxes, box_ind, shape_of(known), T=known.dtype, method=method
            )

        # Only bilinear crops are differentiable with respect to boxes.
        def by_boxes() -> Any:
            return raw.CropAndResizeGradBoxes(dcrops, image, boxes, box_ind)

        return by_image, by_boxes, None, None


def _rank(x: Spec, rank: int) -> None:
    if x.rank not in (None, rank):
        raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")


# The size of an element of a crop, and of the gradient while it is summed.
CROPPED_BYTES, SUMMED_BYTES = 4, 8


def _checked(image: Any, boxes: Any, box_ind: Any, crop_size: Any) -> tuple[int, int]:
    if image.ndim != 4:
        raise invalid_argument(f"input image must be 4-D{list(image.shape)}")
    check_boxes(boxes, box_ind, image.shape[0])
    if crop_size.shape != (2,):
        raise invalid_argument(f"crop_size must have two elements{list(crop_size.shape)}")
    height, width = crop_size.tolist()
    if height <= 0 or width <= 0:
        raise invalid_argument("crop dimensions must be positive")
    dims = (len(boxes), height, width, image.shape[3])
    check_allocated(dims, CROPPED_BYTES, "Crops of images")
    return height, width


def _between(a: np.ndarray, b: np.ndarray, part: np.ndarray) -> np.ndarray:
    b = b - a
    b *= part
    b += a
    return b


@op
class CropAndResizeGradImage(Op):
    """The gradient of CropAndResize by the images."""

    signature = (
        "grads: float32, boxes: float32, box_ind: int32, image_size: int32;"
        " T: type, method: str = 'bilinear' -> output: T"
    )
    T = (float32, float16, float64)
    method = METHODS

    def infer(self, image_size: Spec, T: DType) -> Spec:
        known = image_size.as_shape()
        return Spec(T, known if known is not None else (None,) * 4)

    def kernel(self, grads, boxes, box_ind, image_size, T: DType, method):
        batch, height, width, depth = image_size.tolist()
        if min(height, width, depth) < 1 or batch < 0:
            raise invalid_argument(f"image dimensions must be positive: {image_size.tolist()}")
        check_allocated((batch, height, width, depth), SUMMED_BYTES, "The gradient of crops")
        check_boxes(boxes, box_ind, batch)
        rows, columns = _lines(boxes, (height, width), grads.shape[1:3])
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        gradients = np.where(inside, grads, 0)
        total = np.zeros(batch * height * width * depth)

        def add(r: Any, c: Any, share: Any) -> None:
            pixels = _flat(box_ind, r, c, (height, width))[..., None] * depth
            indices = (pixels + np.arange(depth)).reshape(-1)
            total[:] += np.bincount(indices, share.reshape(-1), len(total))

        if method == "nearest":
            add(_nearest(rows), _nearest(columns), gradients)
        else:
            down = rows.part[:, :, None, None]
            across = columns.part[:, None, :, None]
            top, low = gradients * (1 - down), gradients * down
            add(rows.low, columns.low, top * (1 - across))
            add(rows.low, columns.high, top * across)
            add(rows.high, columns.low, low * (1 - across))
            add(rows.high, columns.high, low * across)
        return total.reshape(batch, height, width, depth).astype(T.numpy)


@op
class CropAndResizeGradBoxes(Op):
    """The gradient of CropAndResize by the boxes."""

    signature = (
        "grads: float32, image: T, boxes: float32, box_ind: int32;"
        " method: str = 'bilinear' -> output: float32"
    )
    T = CROPPABLE
    method = METHODS[:1]

    def infer(self, boxes: Spec) -> Spec:
        return Spec(float32, boxes.shape)

    def kernel(self, grads, image, boxes, box_ind, method):
        check_boxes(boxes, box_ind, image.shape[0])
        sizes, crop = image.shape[1:3], grads.shape[1:3]
        rows, columns = _lines(boxes, sizes, crop)
        pixels = image.reshape(-1, image.shape[3])

        def at(r: Any, c: Any) -> np.ndarray:
            taken = pixels.take(_flat(box_ind, r, c, sizes), axis=0, mode="clip")
            return taken.astype(np.float32, copy=False)

        above = at(rows.low, columns.low), at(rows.low, columns.high)
        below = at(rows.high, columns.low), at(rows.high, columns.high)
        down = rows.part[:, :, None, None]
        across = columns.part[:, None, :, None]
        left, right = below[0] - above[0], below[1] - above[1]
        by_row = left + (right - left) * across
        upper, lower = above[1] - above[0], below[1] - below[0]
        by_column = upper + (lower - upper) * down
        inside = (rows.inside[:, :, None] & columns.inside[:, None, :])[..., None]
        inner_gradients = np.where(inside, grads, 0)
        first_y, last_y = _ends((inner_gradients * by_row).sum(axis=(2, 3)), sizes[0])
        first_x, last_x = _ends((inner_gradients * by_column).sum(axis=(1, 3)), sizes[1])
        gradients = np.stack([first_y, first_x, last_y, last_x], axis=1)
        return gradients.astype(np.float32, copy=False)


def _ends(moved: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The gradients of a box's first and last coordinate, from those of the samples between."""
    crop = moved.shape[1]
    if crop == 1:
        half = moved[:, 0] * np.float32(0.5 * (size - 1))
        return half, half
    share = np.arange(crop, dtype=np.float32) * np.float32((size - 1) / (crop - 1))
    return moved @ (np.float32(size - 1) - share), moved @ share


# -- glimpses --------------------------------------------------------------------------

NOISES = ("uniform", "gaussian", "zero")


class Glimpse(Op):
    """A window of each image around an offset; pixels outside are noise."""

    signature = (
        "input: float32, size: int32, offsets: float32; centered: bool = True,"
        " normalized: bool = True, uniform_noise: bool = True, noise: str = 'uniform'"
        " -> glimpse: float32"
    )
    differentiable = False

    def infer(self, input: Spec, size: Spec, offsets: Spec) -> Spec:
        _rank(input, 4)
        _rank(offsets, 2)
        batch, depth = (None, None) if input.shape is None else (input.shape[0], input.shape[3])
        known = size.as_shape() or (None, None)
        return Spec(float32, (batch, *known, depth))

    def kernel(self, input, size, offsets, centered, normalized, uniform_noise, noise):
        if input.ndim != 4:
            raise invalid_argument("input must be 4-dimensional")
        if offsets.shape != (len(input), 2):
            raise invalid_argument(f"first dimension should be batch{list(offsets.shape)}")
        if uniform_noise and noise != "uniform":
            raise invalid_argument(
                "The uniform_noise and noise could not be specified at the same time"
            )
        if noise not in NOISES:
            raise invalid_argument(f"Unknown noise type: {noise}")
        if size.shape != (2,):
            raise invalid_argument("size must be a vector of two: height and width")
        if min(size) < 1:
            raise invalid_argument(f"glimpse height and width must be positive: {size.tolist()}")
        if not input.size:
            return np.zeros((len(input), *size, input.shape[3]), np.float32)
        start = self.starts(offsets, input.shape[1:3], size, centered, normalized)
        rows = start[:, :1] + np.arange(size[0])
        columns = start[:, 1:] + np.arange(size[1])
        height, width = input.shape[1:3]
        inside = ((rows >= 0) & (rows < height))[:, :, None] & ((columns >= 0) & (columns < width))[
            :, None, :
        ]
        rows, columns = np.clip(rows, 0, height - 1), np.clip(columns, 0, width - 1)
        batch = np.arange(len(input))[:, None, None]
        seen = input[batch, rows[:, :, None], columns[:, None, :]]
        return np.where(inside[..., None], seen, _noise(noise, input, seen.shape))

    @staticmethod
    def starts(
        offsets: Any, sizes: Any, window: Any, centered: bool, normalized: bool
    ) -> np.ndarray:
        """The first row and column of every window."""
        raise NotImplementedError


def _noise(kind: str, input: Any, shape: Any) -> Any:
    if kind == "zero" or not input.size:
        return np.float32(0)
    generator = np.random.default_rng()
    if kind == "gaussian":
        noise = generator.standard_normal(shape, np.float32)
        return noise * input.std() + input.mean()
    least, most = input.min(), input.max()
    return generator.random(shape, np.float32) * (most - least) + least


@op
class ExtractGlimpse(Glimpse):
    """A window of each image around an offset; pixels outside are noise."""

    @staticmethod
    def starts(
        offsets: Any, sizes: Any, window: Any, centered: bool, normalized: bool
    ) -> np.ndarray:
        whole = np.array(sizes, np.float32)
        at = offsets * whole if normalized else offsets
        if centered:
            at = at / 2 + whole / 2
        return np.trunc(at - window.astype(np.float32) / 2).astype(np.intp)


@op
class ExtractGlimpseV2(Glimpse):
    """`ExtractGlimpse`, the offset being the window's corner unless centered and normalized."""

    @staticmethod
    def starts(
        offsets: Any, sizes: Any, window: Any, centered: bool, normalized: bool
    ) -> np.ndarray:
        whole = np.array(sizes, np.float32)
        at = offsets * whole if normalized else offsets
        if centered and normalized:
            at = at / 2 + whole / 2 - window.astype(np.float32) / 2
        elif centered:
            at = at + whole / 2
        return np.trunc(at).astype(np.intp)
