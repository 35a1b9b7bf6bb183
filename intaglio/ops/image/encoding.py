"""Pixels as image files, through Pillow."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from PIL import Image

from intaglio.base.dtypes import string, uint8, uint16
from intaglio.base.errors import InternalError, ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.image import png


def jpeg_file(
    image: np.ndarray,
    quality: int,
    progressive: bool,
    optimize: bool,
    coarse: bool,
    extra: bytes = b"",
) -> bytes:
    """A JPEG file of uint8 pixels [height, width, 1 or 3]."""
    if not 0 <= quality <= 100:
        raise invalid_argument(f"quality must be in [0,100], got {quality}")
    if not image.size:
        raise InternalError(None, None, "JPEG encoding failed: there are no pixels")
    pixels = image[..., 0] if image.shape[-1] == 1 else image
    file = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(
        file,
        "JPEG",
        quality=max(quality, 1),
        progressive=progressive,
        optimize=optimize,
        subsampling=2 if coarse else 0,
        dpi=(300, 300),
        **({"xmp": extra} if extra else {}),
    )
    return file.getvalue()


def _check_image(image: Any) -> None:
    if image.ndim != 3:
        raise invalid_argument(f"image must be 3-dimensional{list(image.shape)}")
    if image.shape[-1] not in (1, 3):
        raise invalid_argument(f"image must have 1 or 3 channels, got {list(image.shape)}")


class Encoding(Op):
    """The bytes of a file."""

    differentiable = False


@op
class EncodeJpeg(Encoding):
    """A JPEG file."""

    signature = (
        "image: uint8; format: str = '', quality: int = 95, progressive: bool = False,"
        " optimize_size: bool = False, chroma_downsampling: bool = True,"
        " density_unit: str = 'in', x_density: int = 300, y_density: int = 300,"
        " xmp_metadata: str = '' -> contents: string"
    )
    format = ("", "grayscale", "rgb")
    density_unit = ("in", "cm")

    def infer(self, image: Spec) -> Spec:
        if image.rank not in (None, 3):
            raise ShapeError(
                f"Shape must be rank 3 but is rank {image.rank}",
                f"image must be 3-dimensional{list(image.shape or ())}",
            )
        return Spec(string, ())

    def kernel(
        self,
        image,
        format,
        quality,
        progressive,
        optimize_size,
        chroma_downsampling,
        density_unit,
        x_density,
        y_density,
        xmp_metadata,
    ):
        _check_image(image)
        wanted = {"grayscale": 1, "rgb": 3}.get(format, image.shape[-1])
        if image.shape[-1] != wanted:
            raise invalid_argument(
                f"format {format} expects {wanted} channels, got {list(image.shape)}"
            )
        extra = xmp_metadata if isinstance(xmp_metadata, bytes) else xmp_metadata.encode()
        encoded = bytearray(
            jpeg_file(image, quality, progressive, optimize_size, chroma_downsampling, extra)
        )
        # The JFIF header comes first: unit and densities have a fixed offset.
        unit = 1 if density_unit == "in" else 2
        density = (n & 0xFFFF for n in (x_density, y_density))
        encoded[13:18] = struct.pack(">BHH", unit, *density)
        return np.array(bytes(encoded), object)


@op
class EncodeJpegVariableQuality(Encoding):
    """A JPEG file, of a quality that is an input."""

    signature = "images: uint8, quality: int32 -> contents: string"

    def infer(self, images: Spec, quality: Spec) -> Spec:
        for x, rank in ((images, 3), (quality, 0)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        return Spec(string, ())

    def kernel(self, images, quality):
        _check_image(images)
        if np.ndim(quality):
            raise invalid_argument(f"quality must be scalar: {list(np.shape(quality))}")
        encoded = jpeg_file(images, int(quality), False, False, True)
        return np.array(encoded, object)


def png_file(image: np.ndarray, compression: int) -> bytes:
    """A PNG file of uint8 or uint16 pixels [height, width, 1 to 4]."""
    if image.dtype == np.uint16:
        return png.encoded(image, compression)
    pixels = np.ascontiguousarray(image[..., 0] if image.shape[-1] == 1 else image)
    if compression >= 0:
        return _saved(pixels, compress_level=compression)
    return _saved(pixels, **({"compress_type": zlib.Z_RLE} if _runs_suffice(pixels) else {}))


def _saved(pixels: np.ndarray, **options: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **options)
    return file.getvalue()


# Smaller images take little time; of larger ones so many bytes of rows are sampled, which is about
# the window in which the compressor searches repetitions, but no more than one row of four.
_MIN_TRIED_BYTES = 1 << 17
_TRIED_BYTES = 1 << 16
# By how much files may be larger.
_MAX_GROWTH = 1.02


def _runs_suffice(pixels: np.ndarray) -> bool:
    """Whether repetitions farther apart than a pixel compress next to nothing, as in photographs.

    Looking for them takes most of the time. Rows in the middle are compressed with and without.
    """
    if pixels.nbytes < _MIN_TRIED_BYTES:
        return False
    rows = min(len(pixels) // 4, -(-_TRIED_BYTES // pixels[0].nbytes))
    first = (len(pixels) - rows) // 2
    some = pixels[first : first + max(rows, 1)]
    return len(_saved(some, compress_type=zlib.Z_RLE)) <= _MAX_GROWTH * len(_saved(some))


@op
class EncodePng(Encoding):
    """PNG files of images [..., height, width, channels]."""

    signature = "image: T; compression: int = -1 -> contents: string"
    T = (uint8, uint16)

    def infer(self, image: Spec) -> Spec:
        if image.rank is not None and image.rank < 3:
            raise ShapeError(
                f"Shape must be at least rank 3 but is rank {image.rank}",
                f"images must be at least rank 3{list(image.shape or ())}",
            )
        return Spec(string, None if image.shape is None else image.shape[:-3])

    def kernel(self, image, compression):
        if image.ndim < 3:
            raise invalid_argument(f"images must be at least rank 3{list(image.shape)}")
        if not -1 <= compression <= 9:
            raise invalid_argument(f"compression should be in [-1,9], got {compression}")
        if image.shape[-1] not in (1, 2, 3, 4):
            raise invalid_argument(f"image must have 1, 2, 3, or 4 channels, got {image.shape[-1]}")
        if not image.size:
            raise InternalError(None, None, "PNG encoding failed: there are no pixels")
        flat = image.reshape(-1, *image.shape[-3:])
        encoded = np.empty(len(flat), object)
        encoded[:] = [png_file(one, compression) for one in flat]
        return encoded.reshape(image.shape[:-3])
