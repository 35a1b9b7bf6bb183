"""Blocks of space moved into depth or batch, and back."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, INDEX
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import Dims, brackets
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, numbers

FORMATS = ("NHWC", "NCHW")


def _nhwc(dims: Any, data_format: str) -> list[Any]:
    """batch, height, width, channels of a shape."""
    if data_format not in FORMATS:
        raise ShapeError(f"data_format {data_format!r} is none of {FORMATS}")
    if len(dims) != 4:
        raise ShapeError(f"Shape must be rank 4 but is rank {len(dims)}")
    n, a, b, c = dims
    return [n, a, b, c] if data_format == "NHWC" else [n, b, c, a]


def _in_format(dims: list[Any], data_format: str) -> tuple[Any, ...]:
    n, h, w, c = dims
    return (n, h, w, c) if data_format == "NHWC" else (n, c, h, w)


def _divided(size: int | None, by: int, what: str) -> int | None:
    if size is None:
        return None
    if size % by:
        raise ShapeError(f"Dimension size must be evenly divisible by {by} but is {size} ({what})")
    return size // by


def _times(size: int | None, by: int) -> int | None:
    return None if size is None else size * by


class BlockMove(Op):
    """The shared form of SpaceToDepth and DepthToSpace."""

    signature = "input: T; block_size: int, data_format: str = 'NHWC' -> output: T"
    T = ALL
    batching = "examples"
    data_inputs = ("input",)

    def sizes(self, dims: list[Any], block: int) -> list[Any]:
        """batch, height, width, channels of the result."""
        raise NotImplementedError

    def infer(self, input: Spec, block_size, data_format) -> Spec:
        if block_size < 2:
            raise ShapeError(f"Block size should be > 1: {block_size}")
        dims: Any = input.shape or (None,) * 4
        return Spec(
            input.dtype, _in_format(self.sizes(_nhwc(dims, data_format), block_size), data_format)
        )


@op
class SpaceToDepth(BlockMove):
    """Each block of height and width becomes channels."""

    def sizes(self, dims: list[Any], block: int) -> list[Any]:
        n, h, w, c = dims
        return [
            n,
            _divided(h, block, "height"),
            _divided(w, block, "width"),
            _times(c, block * block),
        ]

    def kernel(self, input, block_size, data_format):
        b = block_size
        n, h, w, c = self.sizes(_nhwc(input.shape, data_format), b)
        if data_format == "NHWC":
            cells = input.reshape(n, h, b, w, b, c // (b * b))
            return cells.transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        cells = input.reshape(n, c // (b * b), h, b, w, b)
        return cells.transpose(0, 3, 5, 1, 2, 4).reshape(n, c, h, w)

    def gradient(self, doutput, block_size, data_format) -> Any:
        return raw.DepthToSpace(doutput, block_size=block_size, data_format=data_format)


@op
class DepthToSpace(BlockMove):
    """Channels become blocks of height and width."""

    def sizes(self, dims: list[Any], block: int) -> list[Any]:
        n, h, w, c = dims
        return [n, _times(h, block), _times(w, block), _divided(c, block * block, "channels")]

    def kernel(self, input, block_size, data_format):
        b = block_size
        n, h, w, c = self.sizes(_nhwc(input.shape, data_format), b)
        if data_format == "NHWC":
            cells = input.reshape(n, h // b, w // b, b, b, c)
            return cells.transpose(0, 1, 3, 2, 4, 5).reshape(n, h, w, c)
        cells = input.reshape(n, b, b, c, h // b, w // b)
        return cells.transpose(0, 3, 4, 1, 5, 2).reshape(n, c, h, w)

    def gradient(self, doutput, block_size, data_format) -> Any:
        return raw.SpaceToDepth(doutput, block_size=block_size, data_format=data_format)


# -- batch -----------------------------------------------------------------------------


def _checked(x: Any, block: list[int], edges: list[list[int]], what: str) -> None:
    if x.ndim < 1 + len(block):
        raise invalid_argument(f"input rank should be >= {1 + len(block)} instead of {x.ndim}")
    if len(edges) != len(block):
        raise invalid_argument(
            f"{what} should have shape [{len(block)}, 2] instead of [{len(edges)},2]"
        )
    for i, b in enumerate(block):
        if b < 1:
            raise invalid_argument(f"block_shape[{i}]={b} must be positive")
    if any(e < 0 for pair in edges for e in pair):
        raise invalid_argument(f"{what} cannot be negative")


def space_to_batch(x: Any, block: list[int], paddings: list[list[int]]) -> Any:
    """The kernel of SpaceToBatchND."""
    _checked(x, block, paddings, "paddings")
    m = len(block)
    if any(a or b for a, b in paddings):
        shape = [d + (sum(paddings[i - 1]) if 0 < i <= m else 0) for i, d in enumerate(x.shape)]
        check_allocated(shape, x.dtype.itemsize, "SpaceToBatch")
        padded = np.full(shape, b"" if x.dtype == object else 0, x.dtype)
        inner = [slice(a, a + d) for d, (a, _) in zip(x.shape[1:], paddings, strict=False)]
        padded[(slice(None), *inner)] = x
        x = padded
    for i, b in enumerate(block):
        if x.shape[i + 1] % b:
            raise invalid_argument(
                f"padded_shape[{i}]={x.shape[i + 1]} is not divisible by block_shape[{i}]={b}"
            )
    split: list[int] = [x.shape[0]]
    for d, b in zip(x.shape[1:], block, strict=False):
        split += [d // b, b]
    rest = x.shape[m + 1 :]
    cells = x.reshape((*split, *rest))
    order = [*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m + 1, 2), *range(2 * m + 1, cells.ndim)]
    sizes = [d // b for d, b in zip(x.shape[1:], block, strict=False)]
    batch = x.shape[0] * int(np.prod(block))
    return cells.transpose(order).reshape((batch, *sizes, *rest))


def batch_to_space(x: Any, block: list[int], crops: list[list[int]]) -> Any:
    """The kernel of BatchToSpaceND."""
    _checked(x, block, crops, "crops")
    m = len(block)
    count = int(np.prod(block))
    if x.shape[0] % count:
        raise invalid_argument(
            f"Input batch dimension ({x.shape[0]}) is not divisible by product of block sizes ({count})"
        )
    batch, rest = x.shape[0] // count, x.shape[m + 1 :]
    cells = x.reshape((*block, batch, *x.shape[1 : m + 1], *rest))
    order = [m]
    for i in range(m):
        order += [m + 1 + i, i]
    order += range(2 * m + 1, cells.ndim)
    sizes = [d * b for d, b in zip(x.shape[1:], block, strict=False)]
    whole = cells.transpose(order).reshape((batch, *sizes, *rest))
    inner: list[slice] = []
    for i, (size, (a, b)) in enumerate(zip(sizes, crops, strict=True)):
        if a + b > size:
            raise invalid_argument(f"cropped_shape[{i}]={size - a - b} must be non-negative")
        inner.append(slice(a, size - b))
    return whole[(slice(None), *inner)]


def _count_of(block: Spec) -> int | None:
    """How many dimensions a block has, if that is known. Raises ShapeError unless it is a vector."""
    if block.rank not in (1, None):
        raise ShapeError(f"block_shape rank should be 1 instead of {block.rank}")
    return block.count


def _check_edges(count: int | None, edges: Spec, what: str) -> None:
    """Raises ShapeError unless `edges` may have two numbers for each of `count` dimensions."""
    if edges.shape is None or None in (count, *edges.shape) or edges.shape == (count, 2):
        return
    raise ShapeError(f"{what} should have shape [{count}, 2] instead of {brackets(edges.shape)}")


def _moved_dims(x: Spec, block: list[int] | None, edges: list[int] | None, to_batch: bool) -> Dims:
    if x.shape is None:
        return None
    if block is None:
        return (None,) * len(x.shape)
    if len(x.shape) < 1 + len(block):
        raise ShapeError(f"Shape must be at least rank {1 + len(block)} but is rank {len(x.shape)}")
    count = int(np.prod(block))
    batch = x.shape[0]
    if batch is not None:
        if not to_batch and batch % count:
            raise ShapeError(f"Dimension size must be evenly divisible by {count} but is {batch}")
        batch = batch * count if to_batch else batch // count
    sizes: list[int | None] = []
    for i, b in enumerate(block):
        d = x.shape[1 + i]
        if d is None or edges is None:
            sizes.append(None)
            continue
        edge = edges[2 * i] + edges[2 * i + 1]
        if to_batch:
            if (d + edge) % b:
                raise ShapeError(
                    f"Dimension size must be evenly divisible by {b} but is {d + edge}"
                )
            sizes.append((d + edge) // b)
        else:
            sizes.append(d * b - edge)
    return (batch, *sizes, *x.shape[1 + len(block) :])


@op
class SpaceToBatchND(Op):
    """Blocks of the spatial dimensions moved into the batch, after padding with zeros."""

    signature = "input: T, block_shape: Tblock_shape, paddings: Tpaddings -> output: T"
    T = ALL
    Tblock_shape = INDEX
    Tpaddings = INDEX
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, block_shape: Spec, paddings: Spec) -> Spec:
        _check_edges(_count_of(block_shape), paddings, "paddings")
        dims = _moved_dims(input, numbers(block_shape), numbers(paddings), True)
        return Spec(input.dtype, dims)

    def kernel(self, input, block_shape, paddings):
        return space_to_batch(input, block_shape.tolist(), paddings.tolist())

    def gradient(self, doutput, block_shape, paddings) -> Any:
        return raw.BatchToSpaceND(doutput, block_shape, paddings), None, None


@op
class BatchToSpaceND(Op):
    """Blocks of the batch moved back into the spatial dimensions, then cropped."""

    signature = "input: T, block_shape: Tblock_shape, crops: Tcrops -> output: T"
    T = ALL
    Tblock_shape = INDEX
    Tcrops = INDEX
    data_inputs = ("input",)
    numerics_checked = False

    def infer(self, input: Spec, block_shape: Spec, crops: Spec) -> Spec:
        _check_edges(_count_of(block_shape), crops, "crops")
        dims = _moved_dims(input, numbers(block_shape), numbers(crops), False)
        return Spec(input.dtype, dims)

    def kernel(self, input, block_shape, crops):
        return batch_to_space(input, block_shape.tolist(), crops.tolist())

    def gradient(self, doutput, block_shape, crops) -> Any:
        return raw.SpaceToBatchND(doutput, block_shape, crops), None, None


@op
class SpaceToBatch(Op):
    """SpaceToBatchND of images, with square blocks."""

    signature = "input: T, paddings: Tpaddings; block_size: int -> output: T"
    T = ALL
    Tpaddings = INDEX
    data_inputs = ("input",)

    def infer(self, input: Spec, paddings: Spec, block_size) -> Spec:
        _check_edges(2, paddings, "paddings")
        dims = _moved_dims(input, [block_size] * 2, numbers(paddings), True)
        return Spec(input.dtype, dims)

    def kernel(self, input, paddings, block_size):
        _images(input)
        return space_to_batch(input, [block_size] * 2, paddings.tolist())

    def gradient(self, doutput, paddings, block_size) -> Any:
        return raw.BatchToSpace(doutput, paddings, block_size=block_size), None


@op
class BatchToSpace(Op):
    """BatchToSpaceND of images, with square blocks."""

    signature = "input: T, crops: Tidx; block_size: int -> output: T"
    T = ALL
    Tidx = INDEX
    data_inputs = ("input",)

    def infer(self, input: Spec, crops: Spec, block_size) -> Spec:
        _check_edges(2, crops, "crops")
        dims = _moved_dims(input, [block_size] * 2, numbers(crops), False)
        return Spec(input.dtype, dims)

    def kernel(self, input, crops, block_size):
        _images(input)
        return batch_to_space(input, [block_size] * 2, crops.tolist())

    def gradient(self, doutput, crops, block_size) -> Any:
        return raw.SpaceToBatch(doutput, crops, block_size=block_size), None


def _images(x: Any) -> None:
    if x.ndim != 4:
        raise invalid_argument(f"Input rank should be: 4 instead of: {x.ndim} {brackets(x.shape)}")
