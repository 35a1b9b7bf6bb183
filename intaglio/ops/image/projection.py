"""Images seen through a projective map: rotated, sheared, moved, in perspective."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, bfloat16, float16, float32, float64, int32, int64, uint8
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.machine_code import exact_kernel
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of

FILLS = ("CONSTANT", "REFLECT", "WRAP", "NEAREST")
INTERPOLATIONS = ("NEAREST", "BILINEAR")
# The column and row of pixels that come from nowhere: beyond all that is interpolated.
_NOWHERE = -2
# The cost of a pixel's channel without machine code, in units of `machine_code.MIN_TOTAL_WORK`.
_WORK_PER_PIXEL = 40


def _inside(at: np.ndarray, size: int, mode: str) -> np.ndarray:
    """Coordinates beyond the image as the fill mode takes them; far outside for CONSTANT."""
    if mode == "CONSTANT":
        return at
    if mode == "REFLECT":
        # d c b a | a b c d | d c b a
        at = np.mod(at, 2 * size)
        at = np.where(at >= size, 2 * size - at - 1, at)
    elif mode == "WRAP":
        steps = max(size - 1, 1)
        below = at + size * (np.trunc(-at / steps) + 1)
        above = at - size * np.trunc(at / steps)
        at = np.where(at < 0, below, np.where(at > size - 1, above, at))
    return np.clip(at, 0, size - 1)


def _coordinates(transform: Any, height: int, width: int) -> Any:
    """The column and row in the image of every new pixel; NaN where there is none."""
    x = np.arange(width, dtype=np.float32)
    y = np.arange(height, dtype=np.float32)[:, None]
    a = transform.astype(np.float32)
    found = a[0] * x + a[1] * y + a[2], a[3] * x + a[4] * y + a[5]
    if isinstance(a, np.ndarray) and not (a[6] or a[7]):  # everything is divided by 1
        return found
    depth = a[6] * x + a[7] * y + np.float32(1)
    depth = np.where(depth == 0, np.float32(np.nan), depth)
    return found[0] / depth, found[1] / depth


def projected(
    images: Any, transforms: Any, size: Any, fill: Any, how: str, mode: str
) -> np.ndarray:
    """The images as the transforms have them."""
    count, height, width, channels = images.shape
    shape = (count, int(size[0]), int(size[1]))
    if not images.size:
        return np.full((*shape, channels), fill, images.dtype)
    x, y = np.empty((2, *shape), np.float32)
    # Image by image, so that intermediate results fit into the cache.
    for number in range(count):
        one = transforms[number % len(transforms)]
        x[number], y[number] = _bounded(one, shape[1:], (height, width), mode)
    if images.dtype != np.float64 and np.isfinite(fill):
        work = _WORK_PER_PIXEL * x.size * channels
        run = exact_kernel("sampling", work, how)
        if run is not None:
            wide = images.astype(np.float32, copy=False)
            return run(wide, x, y, fill).astype(images.dtype, copy=False)
    return _sampled(images, x, y, fill, how)


def _bounded(transform: Any, size: Any, image: Any, mode: str) -> tuple[Any, Any]:
    """The columns and rows of one transform's new pixels; `_NOWHERE` where there is none."""
    height, width = image
    x, y = _coordinates(transform, *size)
    nowhere = np.isnan(x) | np.isnan(y)
    some = not isinstance(nowhere, np.ndarray) or bool(
        nowhere.any()
    )  # of what is recorded, perhaps
    if some:
        x, y = (np.where(nowhere, np.float32(0), p) for p in (x, y))
    x, y = _inside(x, width, mode), _inside(y, height, mode)
    # Coordinates beyond these are outside of every image, and would overflow integers.
    x, y = np.clip(x, _NOWHERE, width + 1), np.clip(y, _NOWHERE, height + 1)
    if some:
        x[nowhere] = y[nowhere] = _NOWHERE
    return x, y


def _sampled(images: Any, x: Any, y: Any, fill: Any, how: str) -> np.ndarray:
    """The images at these columns and rows, [n, new rows, new columns] of float32."""
    count, height, width, _ = images.shape
    nowhere = (x == _NOWHERE) & (y == _NOWHERE)
    wide = np.float64 if images.dtype == np.float64 else np.float32
    batch = np.arange(count)[:, None, None]

    def read(row: np.ndarray, column: np.ndarray) -> np.ndarray:
        row, column = row.astype(np.intp), column.astype(np.intp)
        seen = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        there = images[batch, np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]
        return np.where(seen[..., None], there.astype(wide), wide(fill))

    if how == "NEAREST":
        sampled = read(
            np.trunc(y + np.copysign(np.float32(0.5), y)),
            np.trunc(x + np.copysign(np.float32(0.5), x)),
        )
    else:
        left, top = np.floor(x), np.floor(y)
        across, down = (x - left)[..., None], (y - top)[..., None]
        above = read(top, left) * (1 - across) + read(top, left + 1) * across
        below = read(top + 1, left) * (1 - across) + read(top + 1, left + 1) * across
        sampled = above * (1 - down) + below * down
    sampled = np.where(nowhere[..., None], wide(fill), sampled)
    return sampled.astype(images.dtype, copy=False)


def _check(images: Any, transforms: Any, size: Any, how: str, mode: str) -> None:
    if images.ndim != 4:
        raise invalid_argument("images must have rank 4")
    if transforms.ndim != 2 or transforms.shape[1] != 8:
        raise invalid_argument("Input transform should be num_images x 8 or 1 x 8")
    if len(transforms) not in (1, len(images)):
        raise invalid_argument("Input transform should be num_images x 8 or 1 x 8")
    if size.shape != (2,):
        raise invalid_argument(
            f"output shape must be 1-dimensional with two elements{list(size.shape)}"
        )
    if (size <= 0).any():
        raise invalid_argument(f"new_height, new_width must be positive: {size.tolist()}")
    dims = (len(images), *size.tolist(), images.shape[-1])
    check_allocated(dims, images.dtype.itemsize, "A projected image")
    if how not in INTERPOLATIONS:
        raise invalid_argument(f"Invalid interpolation {how}. Supported types: NEAREST, BILINEAR")
    if mode not in FILLS:
        raise invalid_argument(f"Invalid mode {mode}. Supported types: {', '.join(FILLS)}")


class Projection(Op):
    """Images [n, height, width, channels] sampled through projective transforms of eight numbers.

    The pixel (x, y) comes from ((a0 x + a1 y + a2) / k, (a3 x + a4 y + a5) / k) with
    k = a6 x + a7 y + 1.
    """

    dtype: tuple[DType, ...] = (uint8, int32, int64, float16, bfloat16, float32, float64)

    def spec(self, images: Spec, transforms: Spec, output_shape: Spec) -> Spec:
        """The spec of the new images."""
        for x, rank in ((images, 4), (transforms, 2), (output_shape, 1)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        ends = (None, None) if images.shape is None else (images.shape[0], images.shape[3])
        size = output_shape.as_shape() or (None, None)
        return Spec(images.dtype, (ends[0], *size, ends[1]))


def _back(transforms: Any) -> Any:
    """The inverse maps, scaled so that their last number is 1."""
    ones = raw.OnesLike(
        raw.StridedSlice(transforms, [0, 0], [0, 1], [1, 1], begin_mask=3, end_mask=1)
    )
    matrices = raw.Reshape(raw.ConcatV2([transforms, ones], 1), [-1, 3, 3])
    flat = raw.Reshape(raw.MatrixInverse(matrices), [-1, 9])
    last = raw.StridedSlice(flat, [0, 8], [0, 9], [1, 1], begin_mask=1, end_mask=1)
    return raw.StridedSlice(
        raw.RealDiv(flat, last), [0, 0], [0, 8], [1, 1], begin_mask=3, end_mask=1
    )


def _size(images: Spec) -> Any:
    return raw.StridedSlice(shape_of(images), [1], [3], [1])


@op
class ImageProjectiveTransformV2(Projection):
    """Images through a projective map; 0 outside of the image."""

    signature = (
        "images: dtype, transforms: float32, output_shape: int32; interpolation: str,"
        " fill_mode: str = 'CONSTANT' -> transformed_images: dtype"
    )

    def infer(self, images: Spec, transforms: Spec, output_shape: Spec) -> Spec:
        return self.spec(images, transforms, output_shape)

    def kernel(self, images, transforms, output_shape, interpolation, fill_mode):
        how, mode = interpolation.upper(), fill_mode.upper()
        _check(images, transforms, output_shape, how, mode)
        return projected(images, transforms, output_shape, 0, how, mode)

    # As TensorFlow has it: the gradient is moved back, which is near the derivative.
    def gradient(
        self, images: Spec, transforms, dtransformed_images, interpolation, fill_mode
    ) -> Any:
        gradient = raw.ImageProjectiveTransformV2(
            dtransformed_images,
            _back(transforms),
            _size(images),
            interpolation=interpolation,
            fill_mode=fill_mode,
        )
        return gradient, None, None


@op
class ImageProjectiveTransformV3(Projection):
    """Images through a projective map; a given value outside of the image."""

    signature = (
        "images: dtype, transforms: float32, output_shape: int32, fill_value: float32;"
        " interpolation: str, fill_mode: str = 'CONSTANT' -> transformed_images: dtype"
    )

    def infer(self, images: Spec, transforms: Spec, output_shape: Spec) -> Spec:
        return self.spec(images, transforms, output_shape)

    def kernel(self, images, transforms, output_shape, fill_value, interpolation, fill_mode):
        how, mode = interpolation.upper(), fill_mode.upper()
        _check(images, transforms, output_shape, how, mode)
        if np.ndim(fill_value):
            raise invalid_argument("fill_value must be a scalar")
        return projected(images, transforms, output_shape, fill_value, how, mode)

    def gradient(
        self, images: Spec, transforms, fill_value, dtransformed_images, interpolation, fill_mode
    ) -> Any:
        gradient = raw.ImageProjectiveTransformV3(
            dtransformed_images,
            _back(transforms),
            _size(images),
            fill_value,
            interpolation=interpolation,
            fill_mode=fill_mode,
        )
        return gradient, None, None, None
