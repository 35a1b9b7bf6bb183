"""Image files read and written, of `tf.image` and `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io/decode_image and its neighbours.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype, float32, int32, uint8, uint16
from intaglio.composite_ops.image import color
from intaglio.opdef import door, raw
from intaglio.opdef.convert import to_tensor
from intaglio.opdef.dispatch import dispatchable
from intaglio.opdef.tensor import Tensor


@dispatchable
def decode_png(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The pixels [height, width, channels] of a PNG file, uint8 or uint16.

    `channels` is 0 (as in the file), 1 (gray), 3 (RGB) or 4 (with opacity). Raises
    InvalidArgumentError for what is no image.

    >>> file = tf.io.encode_png(tf.constant([[[1], [2]]], tf.uint8))
    >>> tf.io.decode_png(file).numpy()[0, :, 0]
    array([1, 2], dtype=uint8)
    """
    return raw.DecodePng(contents, channels=channels, dtype=dtype, name=name)


@dispatchable
def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """The pixels [height, width, channels] of a JPEG file, uint8.

    `channels` is 0 (as in the file), 1 (gray) or 3 (RGB); of a `ratio` of 2, 4 or 8 only
    every so many pixels are decoded. `fancy_upscaling` and `dct_method` are hints.

    With `try_recover_truncated` a file that is cut off is decoded as far as it goes;
    `acceptable_fraction` has no effect.

    >>> file = tf.io.encode_jpeg(tf.zeros([8, 8, 1], tf.uint8))
    >>> tf.io.decode_jpeg(file, ratio=2).shape
    TensorShape([4, 4, 1])
    """
    return raw.DecodeJpeg(
        contents,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@dispatchable
def decode_and_crop_jpeg(
    contents: Any,
    crop_window: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> Tensor:
    """A window (y, x, height, width) of a JPEG file's pixels; see `tf.io.decode_jpeg`.

    >>> file = tf.io.encode_jpeg(tf.zeros([8, 8, 1], tf.uint8))
    >>> tf.io.decode_and_crop_jpeg(file, [1, 2, 3, 4]).shape
    TensorShape([3, 4, 1])
    """
    return raw.DecodeAndCropJpeg(
        contents,
        crop_window,
        channels=channels,
        ratio=ratio,
        fancy_upscaling=fancy_upscaling,
        try_recover_truncated=try_recover_truncated,
        acceptable_fraction=acceptable_fraction,
        dct_method=dct_method,
        name=name,
    )


@dispatchable
def decode_bmp(contents: Any, channels: int = 0, name: str | None = None) -> Tensor:
    """The pixels [height, width, channels] of a BMP file, uint8.

    >>> import struct
    >>> head = struct.pack("<2s8xIIiiHH24x", b"BM", 54, 40, 1, 1, 1, 24)
    >>> tf.io.decode_bmp(head + b"\\3\\2\\1\\0").numpy()
    array([[[1, 2, 3]]], dtype=uint8)
    """
    return raw.DecodeBmp(contents, channels=channels, name=name)


@dispatchable
def decode_gif(contents: Any, name: str | None = None) -> Tensor:
    """The frames [frames, height, width, 3] of a GIF file, uint8.

    >>> file = tf.io.encode_png(tf.zeros([2, 2, 3], tf.uint8))
    >>> tf.io.decode_gif(file).shape
    TensorShape([1, 2, 2, 3])
    """
    return raw.DecodeGif(contents, name=name)


@dispatchable
def decode_webp(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The frames [frames, height, width, channels] of a WebP file, uint8.

    >>> import base64
    >>> file = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="
    >>> tf.image.decode_webp(base64.b64decode(file)).shape
    TensorShape([1, 1, 1, 4])
    """
    return raw.DecodeWebP(contents, channels=channels, dtype=dtype, name=name)


@dispatchable
def decode_jxl(
    contents: Any, channels: int = 0, dtype: Any = uint8, name: str | None = None
) -> Tensor:
    """The pixels of a JPEG XL file: raises NotImplementedError.

    >>> tf.image.decode_jxl(b"")
    Traceback (most recent call last):
    ...
    NotImplementedError: JPEG XL files cannot be read: Pillow has no decoder for them. Convert the file to PNG or WebP.
    """
    raise NotImplementedError(
        "JPEG XL files cannot be read: Pillow has no decoder for them. "
        "Convert the file to PNG or WebP."
    )


@dispatchable
def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = uint8,
    name: str | None = None,
    expand_animations: bool = True,
) -> Tensor:
    """The pixels of a file of any format, scaled to a dtype as `convert_image_dtype` does.

    Animations have four dimensions; with `expand_animations=False` all have three, and the
    rank is known in graphs.

    `channels` is the number of channels, 0 or None for that of the file.

    >>> file = tf.io.encode_png(tf.constant([[[255], [0]]], tf.uint8))
    >>> tf.io.decode_image(file, dtype=tf.float32).numpy()[0, :, 0]
    array([1., 0.], dtype=float32)
    """
    with door.level().scoped(name or "decode_image"):
        kind = as_dtype(dtype)
        stored = kind if kind in (uint8, uint16, float32) else uint16
        result = raw.DecodeImage(
            contents, channels=channels or 0, dtype=stored, expand_animations=expand_animations
        )
        return result if stored is kind else color.convert_image_dtype(result, kind)


def is_jpeg(contents: Any, name: str | None = None) -> Tensor:
    """Whether the bytes begin as those of a JPEG file.

    >>> tf.io.is_jpeg(tf.io.encode_jpeg(tf.zeros([8, 8, 1], tf.uint8))).numpy()
    np.True_
    """
    with door.level().scoped(name or "is_jpeg") as scope:
        start = raw.Substr(contents, 0, 3)
        return raw.Equal(start, to_tensor(b"\xff\xd8\xff"), name=scope)


@dispatchable
def extract_jpeg_shape(contents: Any, output_type: Any = int32, name: str | None = None) -> Tensor:
    """Height, width and channels of a JPEG file, from its header alone.

    >>> file = tf.io.encode_jpeg(tf.zeros([8, 9, 1], tf.uint8))
    >>> tf.io.extract_jpeg_shape(file).numpy()
    array([8, 9, 1], dtype=int32)
    """
    return raw.ExtractJpegShape(contents, output_type=output_type, name=name)


@dispatchable
def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> Tensor:
    """A JPEG file of a uint8 image [height, width, 1 or 3].

    Raises InvalidArgumentError for other channels than `format` ("grayscale", "rgb" or "")
    has, and a `quality` that is not 0 to 100.

    The file is `progressive`, of optimised size with `optimize_size`, and stores colours at half
    resolution with `chroma_downsampling`. `x_density` and `y_density` are pixels per
    `density_unit`, "in" or "cm"; `xmp_metadata` is stored as it is.

    >>> tf.io.encode_jpeg(tf.zeros([8, 8, 3], tf.uint8)).numpy()[:4]
    b'\\xff\\xd8\\xff\\xe0'
    """
    return raw.EncodeJpeg(
        image,
        format=format,
        quality=quality,
        progressive=progressive,
        optimize_size=optimize_size,
        chroma_downsampling=chroma_downsampling,
        density_unit=density_unit,
        x_density=x_density,
        y_density=y_density,
        xmp_metadata=xmp_metadata,
        name=name,
    )


@dispatchable
def encode_png(image: Any, compression: int = -1, name: str | None = None) -> Tensor:
    """PNG files of uint8 or uint16 images [..., height, width, 1 to 4].

    `compression` is 0 (none) to 9, or -1 for the usual.

    >>> tf.io.encode_png(tf.zeros([2, 8, 8, 3], tf.uint8)).shape
    TensorShape([2])
    """
    return raw.EncodePng(to_tensor(image, None, "image"), compression=compression, name=name)


__all__ = [
    "decode_and_crop_jpeg",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_jxl",
    "decode_png",
    "decode_webp",
    "encode_jpeg",
    "encode_png",
    "extract_jpeg_shape",
    "is_jpeg",
]
