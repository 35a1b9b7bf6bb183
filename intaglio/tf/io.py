"""Strings that stand for bytes: `tf.io`.

Follows https://www.tensorflow.org/api_docs/python/tf/io.
"""

from __future__ import annotations

from typing import Any

from intaglio.op import raw
from intaglio.op.tensor import Tensor


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Tensor:
    """Web-safe base 64 of each string, without padding unless `pad`."""
    return raw.EncodeBase64(input, pad=pad, name=name)


def decode_base64(input: Any, name: str | None = None) -> Tensor:
    """The strings that web-safe base 64 stands for, padded or not.

    Raises InvalidArgumentError for text that is no base 64.
    """
    return raw.DecodeBase64(input, name=name)


__all__ = ["decode_base64", "encode_base64"]
