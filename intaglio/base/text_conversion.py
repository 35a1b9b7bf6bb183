"""Text as bytes, and bytes as text.

Follows https://www.tensorflow.org/api_docs/python/tf/compat.
"""

from __future__ import annotations

import os
from typing import Any


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes; bytes unchanged. Raises TypeError for anything else.

    `encoding` is the name of a codec of Python's.

    >>> tf.compat.as_bytes("ä")
    b'\\xc3\\xa4'
    """
    if isinstance(bytes_or_text, (bytearray, bytes)):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text; text unchanged. Raises TypeError for anything else.

    `encoding` is the name of a codec of Python's.

    >>> tf.compat.as_text(b"abc")
    'abc'
    """
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_str(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """The same as `as_text`.

    `encoding` is the name of a codec of Python's.

    >>> tf.compat.as_str(b"abc")
    'abc'
    """
    return as_text(bytes_or_text, encoding)


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes as text, and `str(value)` of anything else.

    `encoding` is the name of a codec of Python's.

    >>> tf.compat.as_str_any(3)
    '3'
    """
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """A path object as text; anything else unchanged.

    >>> import pathlib
    >>> tf.compat.path_to_str(pathlib.PurePosixPath("a/b"))
    'a/b'
    """
    return as_str_any(os.fspath(path)) if hasattr(path, "__fspath__") else path


__all__ = ["as_bytes", "as_str", "as_str_any", "as_text", "path_to_str"]
