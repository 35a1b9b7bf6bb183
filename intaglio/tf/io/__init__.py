"""Strings that stand for bytes, and image files: `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.op import raw
from intaglio.op.tensor import Tensor

if TYPE_CHECKING:
    from intaglio.tf.image.files import (
        decode_and_crop_jpeg as decode_and_crop_jpeg,
    )
    from intaglio.tf.image.files import (
        decode_bmp as decode_bmp,
    )
    from intaglio.tf.image.files import (
        decode_gif as decode_gif,
    )
    from intaglio.tf.image.files import (
        decode_image as decode_image,
    )
    from intaglio.tf.image.files import (
        decode_jpeg as decode_jpeg,
    )
    from intaglio.tf.image.files import (
        decode_jxl as decode_jxl,
    )
    from intaglio.tf.image.files import (
        decode_png as decode_png,
    )
    from intaglio.tf.image.files import (
        decode_webp as decode_webp,
    )
    from intaglio.tf.image.files import (
        encode_jpeg as encode_jpeg,
    )
    from intaglio.tf.image.files import (
        encode_png as encode_png,
    )
    from intaglio.tf.image.files import (
        extract_jpeg_shape as extract_jpeg_shape,
    )
    from intaglio.tf.image.files import (
        is_jpeg as is_jpeg,
    )


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Web-safe base 64 of each string, without padding unless `pad`."""
    return raw.EncodeBase64(input, pad=pad, name=name)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings that web-safe base 64 stands for, padded or not.

    Raises InvalidArgumentError for text that is no base 64.
    """
    return raw.DecodeBase64(input, name=name)


__all__ = [
    "decode_base64",
    "encode_base64",
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

# Image files are read and written by functions of `tf.image`, imported when asked for.
LATER = {
    name: f"intaglio.tf.image.files:{name}" for name in __all__ if "base64" not in name
}

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
