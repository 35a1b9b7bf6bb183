"""Image files: what their bytes are as pixels, through Pillow."""

from __future__ import annotations

import contextlib
import io
import struct
from collections.abc import Generator
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageSequence

from intaglio.base.dtypes import INDEX, DType, float32, uint8, uint16
from intaglio.base.errors import (
    OpError,
    ResourceExhaustedError,
    ShapeError,
    UnsupportedFileError,
    invalid_argument,
)
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.image import jpeg as image_jpeg
from intaglio.ops.image import png as image_png

# How files of each format begin.
STARTS = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\xff\x0a", "JPEG XL"),
    (b"\x00\x00\x00\x0cJXL \r\n\x87\n", "JPEG XL"),
    (b"\x89PNG", "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
)
BAD_JPEG = "jpeg::Uncompress failed. Invalid JPEG data or crop window."
RATIOS = (1, 2, 4, 8)
MAX_CHANNELS = 4


def format_of(contents: bytes) -> str:
    """The format that a file begins like. Raises InvalidArgumentError for others."""
    for start, name in STARTS:
        if contents.startswith(start):
            return name
    if contents[:4] == b"RIFF" and contents[8:12] == b"WEBP":
        return "WebP"
    raise invalid_argument(
        "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
    )


def _file(contents: Any) -> bytes:
    if np.ndim(contents):
        raise invalid_argument(f"`contents` must be scalar but got shape{list(np.shape(contents))}")
    found = np.asarray(contents, object).item()
    if not found:
        raise invalid_argument("Input is empty.")
    return found


def _opened(contents: bytes, message: str) -> Image.Image:
    with _reading(message):
        image = Image.open(io.BytesIO(contents))
    check_decoded(image.width * image.height * MAX_CHANNELS, "An image")
    return image


@contextlib.contextmanager
def _reading(message: str) -> Generator[None]:
    """Raises InvalidArgumentError with a message for whatever Pillow raises of a damaged file."""
    try:
        yield
    except (OpError, MemoryError):
        raise
    except Image.DecompressionBombError as e:
        raise ResourceExhaustedError(None, None, str(e)) from None
    except Exception:  # its decoders raise errors of many classes
        raise invalid_argument(message) from None


def _loaded(image: Image.Image, mode: str | None, message: str) -> np.ndarray:
    """The pixels [height, width, channels] of an opened image, in a mode of Pillow."""
    with _reading(message):
        converted = image if mode in (None, image.mode) else image.convert(mode)
        pixels = np.asarray(converted)
    return pixels[:, :, None] if pixels.ndim == 2 else pixels


def _frames(image: Image.Image, mode: str, message: str) -> np.ndarray:
    """The pixels [frames, height, width, channels] of all frames, in a mode of Pillow."""
    frames: list[np.ndarray] = []
    size = 0
    with _reading(message):
        for frame in ImageSequence.Iterator(image):
            size += frame.width * frame.height * len(mode)
            check_decoded(size, "An animation")
            frames.append(np.asarray(frame.convert(mode)))
    return np.stack(frames)


# -- decoding --------------------------------------------------------------------------


def _gray(pixels: np.ndarray) -> np.ndarray:
    """Brightness, rounded down."""
    red, green, blue = (pixels[..., i].astype(np.uint32) for i in range(3))
    bright = (red * 9798 + green * 19235 + blue * 3735) >> 15
    return bright.astype(pixels.dtype)[..., None]


def with_channels(pixels: np.ndarray, channels: int) -> np.ndarray:
    """Pixels as gray (1), gray and opacity (2), RGB (3) or RGB and opacity (4); 0: as is."""
    own = pixels.shape[-1]
    if channels in (0, own):
        return pixels
    if channels == 1:
        return pixels[..., :1] if own < 3 else _gray(pixels)
    color = np.repeat(pixels[..., :1], 3, axis=-1) if own < 3 else pixels[..., :3]
    if channels == 3:
        return color
    if own in (2, 4):
        return np.concatenate([color, pixels[..., own - 1 :]], axis=-1)
    opaque = np.full((*color.shape[:-1], 1), np.iinfo(pixels.dtype).max, pixels.dtype)
    return np.concatenate([color, opaque], axis=-1)


def png(contents: bytes, channels: int, dtype: DType) -> np.ndarray:
    """A PNG file's pixels."""
    message = "Invalid PNG. Failed to initialize decoder."
    image = _opened(contents, message)
    if image_png.depth_of(contents) == 16:
        wide = with_channels(image_png.decoded(contents), channels)
        return (wide >> 8).astype(np.uint8) if dtype is uint8 else wide
    mode = image.mode
    if mode == "P":
        mode = "RGBA" if "transparency" in image.info else "RGB"
    elif mode == "1" or mode.startswith("I"):
        mode = "L"
    return with_channels(_loaded(image, mode, message), channels)


class Jpeg(NamedTuple):
    """How JPEG files are read: every `ratio`-th pixel, by which transform, and colour that is
    stored coarser smoothed or not; `partial` for files that are cut off."""

    ratio: int = 1
    partial: bool = False
    fast: bool = True
    smooth: bool = True


AS_EVER = Jpeg()


def jpeg(
    contents: bytes, channels: int, how: Jpeg, window: image_jpeg.Window | None = None
) -> np.ndarray:
    """A JPEG file's pixels, or those of a window."""
    ratio = how.ratio
    if channels == 4:
        raise invalid_argument("JPEG does not support 4 channels")
    if ratio not in RATIOS:
        raise invalid_argument(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    image = _opened(contents, BAD_JPEG)
    if image.mode == "CMYK" and channels == 1:
        raise invalid_argument(BAD_JPEG)
    if window is not None:
        _check_window(window, image.size, ratio)
    mode = {1: "L", 3: "RGB"}.get(channels, "L" if image.mode == "L" else "RGB")
    # A file that was cut off has no end of image after its last scan's start.
    cut = contents.rfind(b"\xff\xd9") < contents.rfind(b"\xff\xda")
    if cut and how.partial:
        contents += b"\xff\xd9"
        image = _opened(contents, BAD_JPEG)
    elif cut:
        raise invalid_argument(BAD_JPEG)
    if image.mode == "CMYK":
        if ratio != 1:
            image_jpeg.prepare(image, "CMYK", ratio, how.fast)
        return _within(_loaded(image, mode, BAD_JPEG), window)
    with _reading(BAD_JPEG):
        # The decoder itself leaves out colour and scales down.
        if how.fast and how.smooth and ratio == 1 and mode == "RGB":
            pixels = image_jpeg.smoothed_draft(image, window)
            if pixels is not None:
                return pixels
        draft = image_jpeg.is_draft(image, ratio, how.fast, how.smooth)
        image_jpeg.prepare(image, mode, ratio, draft)
    return _within(_loaded(image, mode, BAD_JPEG), window)


def _check_window(window: image_jpeg.Window, size: tuple[int, int], ratio: int) -> None:
    """Raises InvalidArgumentError for a window that is empty or not inside of the image."""
    columns, rows = (-(-side // ratio) for side in size)
    top, left, height, width = window
    fits = top >= 0 and left >= 0 and height > 0 and width > 0
    if not (fits and top + height <= rows and left + width <= columns):
        raise invalid_argument(BAD_JPEG)


def _within(pixels: np.ndarray, window: image_jpeg.Window | None) -> np.ndarray:
    """The pixels of a window, or all."""
    if window is None:
        return pixels
    top, left, height, width = window
    return pixels[top : top + height, left : left + width]


def bmp(contents: bytes, channels: int) -> np.ndarray:
    """A BMP file's pixels; of palettes the indices, as TensorFlow returns them."""
    if channels not in (0, 3, 4):
        raise invalid_argument(f"`channels` must be 0, 3 or 4 for BMP, but got {channels}")
    if len(contents) < 32:
        raise invalid_argument("Incomplete bmp content, requires at least 32 bytes")
    start, _, width, height, _, bits = struct.unpack("<IIiiHH", contents[10:30])
    if bits not in (8, 24, 32):
        raise invalid_argument(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {bits // 8}"
        )
    if width <= 0 or not height:
        raise invalid_argument("The width and height of a BMP image must not be 0")
    own, count = bits // 8, abs(height)
    step = (own * width + 3) // 4 * 4
    check_decoded(step * count, "A BMP image")
    if len(contents) < start + step * (count - 1) + own * width:
        raise invalid_argument("Incomplete bmp content: there are too few pixels")
    data = np.frombuffer(contents, np.uint8, offset=start)[: step * count]
    rows = np.zeros(step * count, np.uint8)
    rows[: len(data)] = data
    pixels = rows.reshape(count, step)[:, : own * width].reshape(count, width, own)
    if height > 0:
        pixels = pixels[::-1]
    if own > 1:
        pixels = pixels[..., [2, 1, 0, 3][:own]]
    return with_channels(np.ascontiguousarray(pixels), channels)


def gif(contents: bytes, channels: int = 3) -> np.ndarray:
    """All frames of a GIF file: [frames, height, width, 3]."""
    if channels not in (0, 3):
        raise invalid_argument(f"channels must be 0 or 3 for GIF, got {channels}")
    message = "Invalid GIF data"
    image = _opened(contents, message)
    return _frames(image, "RGB", message)


def webp(contents: bytes, channels: int) -> np.ndarray:
    """All frames of a WebP file: [frames, height, width, 3 or 4]."""
    if channels not in (0, 3, 4):
        raise invalid_argument("WebP only supports 3 or 4 channels")
    message = "Failed to decode WebP"
    image = _opened(contents, message)
    own = 4 if image.mode == "RGBA" else 3
    if channels not in (0, own):
        raise invalid_argument("Number of channels requested does not match input")
    mode = "RGBA" if own == 4 else "RGB"
    return _frames(image, mode, message)


def _check_channels(channels: int) -> None:
    if channels not in (0, 1, 3, 4):
        raise invalid_argument(f"`channels` must be 0, 1, 3 or 4 but got {channels}")


def pixels_of(
    contents: bytes, channels: int, dtype: DType = uint8, how: Jpeg = AS_EVER
) -> tuple[np.ndarray, str]:
    """The pixels of a file of any format, of the file's own depth, and the format."""
    _check_channels(channels)
    kind = format_of(contents)
    if kind == "JPEG":
        return jpeg(contents, channels, how), kind
    if kind == "PNG":
        return png(contents, channels, uint16 if dtype is not uint8 else uint8), kind
    if kind == "BMP":
        return bmp(contents, channels), kind
    if kind == "GIF":
        return gif(contents, channels), kind
    if kind == "WebP":
        return webp(contents, channels), kind
    raise UnsupportedFileError(
        "JPEG XL files cannot be read: Pillow has no decoder for them. "
        "Convert the file to PNG or WebP."
    )


def stored_as(pixels: np.ndarray, kind: str, dtype: DType) -> np.ndarray:
    """Pixels of 8 or 16 bits in the requested dtype: its largest number is white."""
    if dtype is float32:
        return pixels.astype(np.float32) / np.float32(np.iinfo(pixels.dtype).max)
    if dtype is uint16 and pixels.dtype == np.uint8:
        # As in TensorFlow: white remains white in PNG files only.
        return pixels.astype(np.uint16) * np.uint16(257 if kind == "PNG" else 256)
    return pixels


class Decoding(Op):
    """The pixels of a file."""

    differentiable = False


def scalar(contents: Spec) -> None:
    """Raises ShapeError unless `contents` may be a scalar."""
    if contents.rank not in (None, 0):
        raise ShapeError(
            f"Shape must be rank 0 but is rank {contents.rank}",
            f"`contents` must be scalar but got shape{list(contents.shape or ())}",
        )


def _depth(channels: int) -> int | None:
    return channels or None


def _single(contents: bytes, pixels: np.ndarray, kind: str, name: str) -> np.ndarray:
    """One image, by the ops that are named after a format but read others too."""
    if kind == "BMP":
        raise invalid_argument(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or "
            f"`decode_image` instead. Op used: {name}"
        )
    if kind == "GIF":
        if len(pixels) > 1:
            raise invalid_argument(
                f"Got {len(pixels)} frames, but animated gifs can only be decoded by "
                "tf.io.decode_gif or tf.io.decode_image"
            )
        return pixels[0]
    return pixels


@op
class DecodePng(Decoding):
    """The pixels of a PNG file (or JPEG, or GIF of one frame)."""

    signature = "contents: string; channels: int = 0, dtype: type = uint8 -> image: dtype"
    dtype = (uint8, uint16)

    def infer(self, contents: Spec, channels, dtype: DType) -> Spec:
        scalar(contents)
        return Spec(dtype, (None, None, _depth(channels)))

    def kernel(self, contents, channels, dtype: DType):
        file = _file(contents)
        pixels, kind = pixels_of(file, channels, dtype)
        return stored_as(_single(file, pixels, kind, "DecodePng"), kind, dtype)


DCT_METHODS = ("", "INTEGER_FAST", "INTEGER_ACCURATE")
JPEG_ATTRS = (
    "channels: int = 0, ratio: int = 1, fancy_upscaling: bool = True,"
    " try_recover_truncated: bool = False, acceptable_fraction: float = 1.0,"
    " dct_method: str = ''"
)


def _how(ratio: int, partial: bool, dct_method: str, smooth: bool) -> Jpeg:
    return Jpeg(ratio, partial, dct_method != "INTEGER_ACCURATE", smooth)


@op
class DecodeJpeg(Decoding):
    """The pixels of a JPEG file (or PNG, or GIF of one frame).

    The accurate transform always comes with `fancy_upscaling`: Pillow has no other.
    """

    signature = f"contents: string; {JPEG_ATTRS} -> image: uint8"
    dct_method = DCT_METHODS

    def infer(self, contents: Spec, channels) -> Spec:
        scalar(contents)
        return Spec(uint8, (None, None, _depth(channels)))

    def kernel(self, contents, channels, ratio, fancy_upscaling, try_recover_truncated, dct_method):
        file = _file(contents)
        how = _how(ratio, try_recover_truncated, dct_method, fancy_upscaling)
        pixels, kind = pixels_of(file, channels, uint8, how)
        return _single(file, pixels, kind, "DecodeJpeg")


@op
class DecodeAndCropJpeg(Decoding):
    """A window (y, x, height, width) of a JPEG file's pixels."""

    signature = f"contents: string, crop_window: int32; {JPEG_ATTRS} -> image: uint8"
    dct_method = DCT_METHODS

    def infer(self, contents: Spec, crop_window: Spec, channels) -> Spec:
        scalar(contents)
        if crop_window.rank not in (None, 1):
            raise ShapeError(f"Shape must be rank 1 but is rank {crop_window.rank}")
        known = crop_window.partial
        height, width = known[2:4] if known and len(known) == 4 else (None, None)
        return Spec(uint8, (height, width, _depth(channels)))

    def kernel(
        self,
        contents,
        crop_window,
        channels,
        ratio,
        fancy_upscaling,
        try_recover_truncated,
        dct_method,
    ):
        file = _file(contents)
        if crop_window.shape != (4,):
            raise invalid_argument(f"crop_size must have four elements {list(crop_window.shape)}")
        _check_channels(channels)
        if format_of(file) != "JPEG":
            raise invalid_argument("Got a file that is no JPEG: only these are cropped")
        how = _how(ratio, try_recover_truncated, dct_method, fancy_upscaling)
        top, left, height, width = crop_window.tolist()
        return jpeg(file, channels, how, (top, left, height, width)).copy()


@op
class DecodeBmp(Decoding):
    """The pixels of a BMP file."""

    signature = "contents: string; channels: int = 0 -> image: uint8"

    def infer(self, contents: Spec, channels) -> Spec:
        scalar(contents)
        return Spec(uint8, (None, None, _depth(channels)))

    def kernel(self, contents, channels):
        file = _file(contents)
        kind = format_of(file)
        if kind != "BMP":
            raise invalid_argument(
                f"Trying to decode {kind} format using DecodeBmp op. Use "
                f"`decode_{kind.lower()}` or `decode_image` instead."
            )
        return bmp(file, channels)


@op
class DecodeGif(Decoding):
    """The frames of a GIF file, or the one image of another: [frames, height, width, 3]."""

    signature = "contents: string -> image: uint8"

    def infer(self, contents: Spec) -> Spec:
        scalar(contents)
        return Spec(uint8, (None, None, None, 3))

    def kernel(self, contents):
        file = _file(contents)
        pixels, kind = pixels_of(file, 3)
        if kind == "BMP":
            _single(file, pixels, kind, "DecodeGif")
        return pixels if pixels.ndim == 4 else pixels[None]


@op
class DecodeWebP(Decoding):
    """The frames of a WebP file."""

    signature = "contents: string; channels: int = 0, dtype: type = uint8 -> image: dtype"
    dtype = (uint8,)

    def infer(self, contents: Spec, channels, dtype: DType) -> Spec:
        scalar(contents)
        return Spec(dtype, (None, None, None, _depth(channels)))

    def kernel(self, contents, channels):
        return webp(_file(contents), channels)


@op
class DecodeImage(Decoding):
    """The pixels of a file of any format; animations have four dimensions."""

    signature = (
        "contents: string; channels: int = 0, dtype: type = uint8,"
        " expand_animations: bool = True -> image: dtype"
    )
    dtype = (uint8, uint16, float32)

    def infer(self, contents: Spec, channels, dtype: DType, expand_animations) -> Spec:
        scalar(contents)
        if expand_animations:
            return Spec(dtype, None)
        return Spec(dtype, (None, None, _depth(channels)))

    def kernel(self, contents, channels, dtype: DType, expand_animations):
        pixels, kind = pixels_of(_file(contents), channels, dtype)
        if pixels.ndim == 4 and not expand_animations:
            pixels = pixels[0]
        return stored_as(pixels, kind, dtype)


@op
class ExtractJpegShape(Decoding):
    """Height, width and channels of a JPEG file, from its header alone."""

    signature = "contents: string; output_type: type = int32 -> image_shape: output_type"
    output_type = INDEX

    def infer(self, contents: Spec, output_type: DType) -> Spec:
        scalar(contents)
        return Spec(output_type, (3,))

    def kernel(self, contents, output_type: DType):
        file = _file(contents)
        if format_of(file) != "JPEG":
            raise invalid_argument("Could not find a JPEG header in `contents`")
        image = _opened(file, "jpeg::GetImageInfo failed. Invalid JPEG data.")
        dims = (image.height, image.width, len(image.getbands()))
        return np.array(dims, output_type.numpy)
