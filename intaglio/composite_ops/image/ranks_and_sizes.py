"""What the functions of `tf.image` share: ranks, sizes, frames of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.composite_ops.array import lengths
from intaglio.opdef import raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.tensor import Tensor


def sizes(images: Tensor) -> list[Any]:
    """Height and width: ints where they are known, else tensors."""
    return [lengths.of_axis(images, -3), lengths.of_axis(images, -2)]


def check_rank(x: Tensor, least: int = 3) -> None:
    """Raises ValueError for tensors that are known to be no images."""
    if x.dims is not None and len(x.dims) < least:
        raise ValueError(f"'image' (shape {x.shape}) must be at least three-dimensional.")


def batched(image: Any) -> tuple[Tensor, Any]:
    """The image as a batch, and the rank it had (a tensor if it is not known)."""
    x = to_tensor(image, None, "image")
    if x.dims is None:
        rank = raw.Rank(x)
        last = raw.StridedSlice(raw.Shape(x), [-3], [0], [1], end_mask=1)
        first = np.asarray([-1], np.int32)
        return raw.Reshape(x, raw.ConcatV2([first, last], 0)), rank
    if len(x.dims) not in (3, 4):
        raise ValueError(f"'image' (shape {x.shape}) must have either 3 or 4 dimensions.")
    return (x if len(x.dims) == 4 else raw.ExpandDims(x, 0)), len(x.dims)


def with_rank(x: Tensor, rank: Any) -> Tensor:
    """A batch with the rank that `batched` found."""
    if isinstance(rank, int):
        return x if rank == 4 else raw.Squeeze(x, axis=[0])
    start = raw.Reshape(4 - rank, [1])
    return raw.Reshape(x, raw.StridedSlice(raw.Shape(x), start, [0], [1], end_mask=1))


def check_positive(value: Any, name: str) -> None:
    """Raises ValueError for a size that is known not to be positive."""
    if isinstance(value, (int, np.integer)) and value <= 0:
        raise ValueError(f"{name} must be > 0.")


def check(true: Any, message: str) -> None:
    """Raises ValueError if the condition is statically known to be false."""
    if isinstance(true, (bool, np.bool_)) and not true:
        raise ValueError(message)


def cropped(x: Tensor, top: Any, left: Any, height: Any, width: Any) -> Tensor:
    """A window of a batch of images."""
    begin = lengths.vector([0, top, left, 0])
    size = lengths.vector([-1, height, width, -1])
    return raw.Slice(x, begin, size)


def padded(x: Tensor, top: Any, left: Any, height: Any, width: Any) -> Tensor:
    """A batch of images within zeros of a size."""
    own = sizes(x)
    before, after = [top, left], [height - top - own[0], width - left - own[1]]
    if all(isinstance(n, int) and n == 0 for n in (*before, *after)):
        return x
    pairs = [0, 0, top, after[0], left, after[1], 0, 0]
    return raw.Pad(x, raw.Reshape(lengths.vector(pairs), [4, 2]))


__all__: list[str] = []
