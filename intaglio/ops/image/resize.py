"""Images in other sizes: every method of resizing, with gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import (
    FLOATING,
    SIGNED,
    DType,
    bfloat16,
    float16,
    float32,
    float64,
    int8,
    int32,
    uint8,
    uint16,
)
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import shape_of, spec_of
from intaglio.ops.image import resampling
from intaglio.ops.image.resampling import Taps

RESIZABLE = (*SIGNED, uint8, uint16, *FLOATING)


def check_rank(x: Spec, rank: int) -> None:
    """Raises ShapeError if the rank is known to be another."""
    if x.rank not in (None, rank):
        raise ShapeError(
            f"Shape must be rank {rank} but is rank {x.rank}",
            f"input must be {rank}-dimensional{list(x.shape or ())}",
        )


def resized(images: Spec, size: Spec, dtype: DType) -> Spec:
    """The spec of images in another size."""
    check_rank(images, 4)
    check_rank_of_size(size)
    batch, channels = (None, None) if images.shape is None else (images.shape[0], images.shape[3])
    known = size.as_shape()
    height, width = (None, None) if known is None else known
    return Spec(dtype, (batch, height, width, channels))


def check_rank_of_size(size: Spec) -> None:
    """Raises ShapeError unless `size` may be a vector of two."""
    if size.rank not in (None, 1):
        raise ShapeError(
            f"Shape must be rank 1 but is rank {size.rank}",
            f"shape_t must be 1-dimensional{list(size.shape or ())}",
        )
    if size.shape is not None and size.shape[0] not in (None, 2):
        raise ShapeError(
            f"Dimension must be 2 but is {size.shape[0]}",
            f"shape_t must have two elements{list(size.shape)}",
        )


# The size of a pixel's channel while images are resized.
RESIZED_BYTES = 4


def sizes_of(images: Any, size: Any, gradient: bool = False) -> tuple[int, int]:
    """The new height and width. Raises InvalidArgumentError for bad ones.

    An image without pixels has zeros as its gradient.
    """
    if images.ndim != 4:
        raise invalid_argument(f"input must be 4-dimensional{list(images.shape)}")
    if size.ndim != 1:
        raise invalid_argument(f"shape_t must be 1-dimensional{list(size.shape)}")
    if size.size != 2:
        raise invalid_argument(f"shape_t must have two elements{list(size.shape)}")
    height, width = size.tolist()
    if height <= 0 or width <= 0:
        raise invalid_argument(
            f"output dimensions must be positive, but the size is {height} x {width}"
        )
    if not gradient and 0 in images.shape[1:]:
        raise invalid_argument("input image must be of non-zero size")
    wide = (len(images), height, width, images.shape[-1])
    check_allocated(wide, RESIZED_BYTES, "A resized image")
    return height, width


def size_of(images: Spec) -> Any:
    """The height and width of images, for gradient rules."""
    if images.shape is not None and None not in images.shape[1:3]:
        return np.asarray(images.shape[1:3], np.int32)
    return raw.StridedSlice(shape_of(images), [1], [3], [1])


def check_centers(align_corners: bool, half_pixel_centers: bool) -> None:
    """Raises InvalidArgumentError if both attributes are set."""
    if align_corners and half_pixel_centers:
        raise invalid_argument("If half_pixel_centers is True, align_corners must be False.")


class Resize(Op):
    """Images [n, height, width, channels] in another size, as float32."""

    signature = (
        "images: T, size: int32; align_corners: bool = False,"
        " half_pixel_centers: bool = False -> resized_images: float32"
    )
    T: tuple[DType, ...] = RESIZABLE
    taps: Any = None
    batching = "examples"

    def infer(self, images: Spec, size: Spec) -> Spec:
        return resized(images, size, float32)

    def kernel(self, images, size, align_corners, half_pixel_centers):
        height, width = sizes_of(images, size)
        check_centers(align_corners, half_pixel_centers)
        if images.shape[1:3] == (height, width):
            return images.astype(np.float32)
        rows = self.taps(images.shape[1], height, align_corners, half_pixel_centers)
        columns = self.taps(images.shape[2], width, align_corners, half_pixel_centers)
        return resampling.resample(images, rows, columns, np.float32)


class ResizeGradient(Op):
    """The gradient of a resize by its images."""

    signature = (
        "grads: float32, original_image: T; align_corners: bool = False,"
        " half_pixel_centers: bool = False -> output: T"
    )
    T: tuple[DType, ...] = FLOATING
    taps: Any = None
    forth: str = ""
    batched_inputs = 2
    batching = "examples"

    def infer(self, original_image: Spec) -> Spec:
        return Spec(original_image.dtype, original_image.shape)

    def kernel(self, grads, original_image, align_corners, half_pixel_centers):
        check_centers(align_corners, half_pixel_centers)
        if original_image.ndim != 4:
            raise invalid_argument(
                f"original_image must be 4-dimensional: {list(original_image.shape)}"
            )
        dtype = original_image.dtype
        wide = np.dtype(np.float64 if dtype == np.float64 else np.float32)
        return scattered(
            grads,
            original_image.shape[1:3],
            lambda n, m: self.taps(n, m, align_corners, half_pixel_centers),
            wide,
        ).astype(dtype, copy=False)

    def gradient(
        self, grads: Spec, doutput, original_image: Spec, align_corners, half_pixel_centers
    ) -> Any:
        again = getattr(raw, self.forth)
        return again(
            doutput,
            size_of(grads),
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ), None


def scattered(grads: Any, sizes: Any, taps: Any, dtype: Any) -> np.ndarray:
    """Gradients of resized images, brought back to images of these sizes."""
    rows, columns = (
        resampling.transposed(taps(n, m)) for n, m in zip(sizes, grads.shape[1:3], strict=True)
    )
    return resampling.resample(grads, rows, columns, dtype)


@op
class ResizeBilinear(Resize):
    """Between the four nearest pixels."""

    taps = staticmethod(resampling.linear)

    def gradient(self, images, dresized_images, align_corners, half_pixel_centers) -> Any:
        return raw.ResizeBilinearGrad(
            dresized_images,
            images,
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ), None


@op
class ResizeBilinearGrad(ResizeGradient):
    """The gradient of ResizeBilinear."""

    taps = staticmethod(resampling.linear)
    forth = "ResizeBilinear"


@op
class ResizeBicubic(Resize):
    """Cubics through the sixteen nearest pixels."""

    taps = staticmethod(resampling.cubic)

    def gradient(self, images, dresized_images, align_corners, half_pixel_centers) -> Any:
        if images.dtype not in (float32, float64):
            return None, None
        return raw.ResizeBicubicGrad(
            dresized_images,
            images,
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ), None


@op
class ResizeBicubicGrad(ResizeGradient):
    """The gradient of ResizeBicubic."""

    T = (float32, float64)
    taps = staticmethod(resampling.cubic)
    forth = "ResizeBicubic"


@op
class ResizeArea(Op):
    """The mean over the area that a new pixel covers."""

    signature = "images: T, size: int32; align_corners: bool = False -> resized_images: float32"
    T = RESIZABLE
    batching = "examples"

    def infer(self, images: Spec, size: Spec) -> Spec:
        return resized(images, size, float32)

    def kernel(self, images, size, align_corners):
        height, width = sizes_of(images, size)
        rows = resampling.area(images.shape[1], height, align_corners)
        columns = resampling.area(images.shape[2], width, align_corners)
        return resampling.resample(images, rows, columns, np.float32)


# -- nearest ---------------------------------------------------------------------------


@op
class ResizeNearestNeighbor(Op):
    """The nearest pixel."""

    signature = (
        "images: T, size: int32; align_corners: bool = False,"
        " half_pixel_centers: bool = False -> resized_images: T"
    )
    T = RESIZABLE
    batching = "examples"
    data_inputs = ("images",)

    def infer(self, images: Spec, size: Spec) -> Spec:
        return resized(images, size, images.dtype)

    def kernel(self, images, size, align_corners, half_pixel_centers):
        height, width = sizes_of(images, size)
        check_centers(align_corners, half_pixel_centers)
        rows = resampling.nearest(images.shape[1], height, align_corners, half_pixel_centers)
        columns = resampling.nearest(images.shape[2], width, align_corners, half_pixel_centers)
        if height < images.shape[1]:
            chosen = images.take(rows.indices[0], axis=1, mode="clip")
            return chosen.take(columns.indices[0], axis=2, mode="clip")
        chosen = images.take(columns.indices[0], axis=2, mode="clip")
        return chosen.take(rows.indices[0], axis=1, mode="clip")

    def gradient(self, images: Spec, dresized_images, align_corners, half_pixel_centers) -> Any:
        return raw.ResizeNearestNeighborGrad(
            dresized_images,
            size_of(images),
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ), None


@op
class ResizeNearestNeighborGrad(Op):
    """The gradient of ResizeNearestNeighbor: pixels get the sum of what came from them."""

    native_exact = True
    signature = (
        "grads: T, size: int32; align_corners: bool = False,"
        " half_pixel_centers: bool = False -> output: T"
    )
    T = (uint8, int8, int32, float16, float32, float64, bfloat16)
    batching = "examples"

    def infer(self, grads: Spec, size: Spec) -> Spec:
        return resized(grads, size, grads.dtype)

    def kernel(self, grads, size, align_corners, half_pixel_centers):
        sizes = sizes_of(grads, size, gradient=True)
        check_centers(align_corners, half_pixel_centers)
        dtype = grads.dtype
        if not grads.size:
            return np.zeros((len(grads), *sizes, grads.shape[3]), dtype)
        half = dtype.itemsize == 2
        return scattered(
            grads,
            sizes,
            lambda n, m: resampling.nearest(n, m, align_corners, half_pixel_centers),
            np.float32 if half else dtype,
        ).astype(dtype, copy=False)

    def gradient(self, grads: Spec, doutput, align_corners, half_pixel_centers) -> Any:
        return raw.ResizeNearestNeighbor(
            doutput,
            size_of(grads),
            align_corners=align_corners,
            half_pixel_centers=half_pixel_centers,
        ), None


# -- any kernel ------------------------------------------------------------------------


def _weighted(
    sizes: Any, outs: Any, scale: Any, translation: Any, kernel: str, antialias: bool
) -> list[Taps]:
    if kernel not in resampling.KERNELS:
        raise invalid_argument(f"Unrecognized kernel type: {kernel}")
    if not (scale.shape == translation.shape == (2,)):
        raise invalid_argument(
            "scale and translation must be vectors of two: for the rows and the columns"
        )
    if not (scale > 0).all():
        raise invalid_argument("Scale must be greater than zero.")
    return [
        resampling.weighted(n, m, float(s), float(t), kernel, antialias)
        for n, m, s, t in zip(sizes, outs, scale, translation, strict=True)
    ]


@op
class ScaleAndTranslate(Op):
    """Images scaled and moved, new pixels weighed by a kernel."""

    signature = (
        "images: T, size: int32, scale: float32, translation: float32;"
        " kernel_type: str = 'lanczos3', antialias: bool = True -> resized_images: float32"
    )
    T = RESIZABLE
    batching = "examples"

    def infer(self, images: Spec, size: Spec) -> Spec:
        return resized(images, size, float32)

    def kernel(self, images, size, scale, translation, kernel_type, antialias):
        outs = sizes_of(images, size)
        rows, columns = _weighted(
            images.shape[1:3], outs, scale, translation, kernel_type, antialias
        )
        return resampling.resample(images, rows, columns, np.float32)

    def gradient(self, images, scale, translation, dresized_images, kernel_type, antialias) -> Any:
        if spec_of(images).dtype is not float32:
            return (None,) * 4
        gradient = raw.ScaleAndTranslateGrad(
            dresized_images,
            images,
            scale,
            translation,
            kernel_type=kernel_type,
            antialias=antialias,
        )
        return gradient, None, None, None


@op
class ScaleAndTranslateGrad(Op):
    """The gradient of ScaleAndTranslate by its images."""

    signature = (
        "grads: T, original_image: T, scale: float32, translation: float32;"
        " kernel_type: str = 'lanczos3', antialias: bool = True -> output: T"
    )
    T = (float32,)

    def infer(self, original_image: Spec) -> Spec:
        return Spec(original_image.dtype, original_image.shape)

    def kernel(self, grads, original_image, scale, translation, kernel_type, antialias):
        if original_image.ndim != 4:
            raise invalid_argument(
                f"original_image must be 4-dimensional: {list(original_image.shape)}"
            )
        if not grads.size or 0 in original_image.shape[:3]:
            # As many channels as the gradient has; TensorFlow was asked.
            dims = (*original_image.shape[:3], *grads.shape[3:])
            return np.zeros(dims, np.float32)
        rows, columns = _weighted(
            original_image.shape[1:3], grads.shape[1:3], scale, translation, kernel_type, antialias
        )
        return resampling.resample(
            grads, resampling.transposed(rows), resampling.transposed(columns), np.float32
        )

    def gradient(self, grads: Spec, scale, translation, doutput, kernel_type, antialias) -> Any:
        gradient = raw.ScaleAndTranslate(
            doutput,
            size_of(grads),
            scale,
            translation,
            kernel_type=kernel_type,
            antialias=antialias,
        )
        return gradient, None, None, None
