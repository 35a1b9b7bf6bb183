"""Boxes drawn into images."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float16, float32
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

# The default colours of boxes, used cyclically: red, green, blue, opacity.
PALETTE = np.array(
    [
        (1, 1, 0, 1),
        (0, 0, 1, 1),
        (1, 0, 0, 1),
        (0, 1, 0, 1),
        (0.5, 0, 0.5, 1),
        (0.5, 0.5, 0, 1),
        (0.5, 0, 0, 1),
        (0, 0, 0.5, 1),
        (0, 1, 1, 1),
        (1, 0, 1, 1),
    ],
    np.float32,
)


def _ranges(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of `first` to `last` of every row one after the other, with the row's own."""
    lengths = np.maximum(last - first + 1, 0)
    row = np.repeat(np.arange(len(first)), lengths)
    start = np.cumsum(lengths) - lengths
    return np.arange(len(row)) - start[row] + first[row], row


def _border(boxes: np.ndarray, sizes: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of the pixels on the boxes' borders, and the box of each, in order."""
    height, width = sizes
    corners = boxes * np.array([height - 1, width - 1] * 2, np.float32)
    seen: Any = np.isfinite(corners).all(axis=1)
    top, left, bottom, right = np.where(seen[:, None], corners, 0).astype(np.int64).T
    seen &= (top <= bottom) & (left <= right) & (bottom >= 0) & (right >= 0)
    seen &= (top < height) & (left < width)
    which = np.flatnonzero(seen)
    top, left, bottom, right = (a[which] for a in (top, left, bottom, right))
    high, low = np.maximum(top, 0), np.minimum(bottom, height - 1)
    near, far = np.maximum(left, 0), np.minimum(right, width - 1)
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    owners: list[np.ndarray] = []
    for row, there in ((top, top >= 0), (bottom, bottom < height)):
        along, box = _ranges(near, np.where(there, far, near - 1))
        rows, columns, owners = [*rows, row[box]], [*columns, along], [*owners, box]
    for column, there in ((left, left >= 0), (right, right < width)):
        along, box = _ranges(high, np.where(there, low, high - 1))
        rows, columns, owners = [*rows, along], [*columns, column[box]], [*owners, box]
    owner = np.concatenate(owners)
    # The last box wins where borders cross.
    order = np.argsort(owner, kind="stable")
    row, column = np.concatenate(rows)[order], np.concatenate(columns)[order]
    return row, column, which[owner[order]]


def drawn(images: Any, boxes: Any, colors: Any) -> np.ndarray:
    """Images with the borders of the boxes in colours that repeat."""
    if images.ndim != 4:
        raise invalid_argument("The rank of the images should be 4")
    if boxes.ndim != 3:
        raise invalid_argument("The rank of the boxes tensor should be 3")
    if boxes.shape[2] != 4:
        raise invalid_argument(
            f"The size of the third dimension of the box must be 4: {boxes.shape[2]}"
        )
    count, height, width, depth = images.shape
    if boxes.shape[0] != count:
        raise invalid_argument(
            f"The batch sizes should be the same: {count} images, boxes for {boxes.shape[0]}"
        )
    if depth not in (1, 3, 4):
        raise invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    if colors.ndim != 2 or colors.shape[1] < depth:
        raise invalid_argument(
            f"colors must have equal or more channels than the image provided: {list(colors.shape)}"
        )
    result = images.copy()
    each = boxes.shape[1]
    # Every image's boxes in one row; only the pixel's image differs.
    row, column, box = _border(boxes.reshape(-1, 4), (height, width))
    paint = colors[:, :depth].astype(images.dtype)
    result[box // max(each, 1), row, column] = paint[box % max(each, 1) % len(paint)]
    return result


class Drawing(Op):
    """Images [n, height, width, channels] with the borders of boxes."""

    T = (float32, float16)
    differentiable = False

    def infer(self, images: Spec, boxes: Spec) -> Spec:
        for x, rank, name in ((images, 4, "images"), (boxes, 3, "boxes tensor")):
            if x.rank not in (None, rank):
                raise ShapeError(
                    f"Shape must be rank {rank} but is rank {x.rank}",
                    f"The rank of the {name} should be {rank}",
                )
        return Spec(images.dtype, images.shape or (None,) * 4)


@op
class DrawBoundingBoxes(Drawing):
    """Boxes in ten colours that repeat."""

    signature = "images: T, boxes: float32 -> output: T"
    batched_inputs = 2
    batching = "examples"

    def kernel(self, images, boxes):
        palette = PALETTE
        if images.ndim == 4 and images.shape[3] == 1:
            palette = np.ones_like(PALETTE)
        return drawn(images, boxes, palette)


@op
class DrawBoundingBoxesV2(Drawing):
    """Boxes in the colours given, which repeat."""

    signature = "images: T, boxes: float32, colors: float32 -> output: T"

    def kernel(self, images, boxes, colors):
        if not colors.size:
            raise invalid_argument(
                "colors must have equal or more channels than the image provided: "
                f"{list(colors.shape)}"
            )
        return drawn(images, boxes, colors)
