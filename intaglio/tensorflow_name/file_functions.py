"""`tensorflow.python.lib.io.file_io`: files as texts, beside the functions of `tf.io.gfile`."""

from __future__ import annotations

import os
from typing import Any

from intaglio.base import later

_GFILE = "intaglio.tf:io.gfile."


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """What a file has: text, or bytes. Raises NotFoundError."""
    with later.named(f"{_GFILE}GFile")(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Writes a file of text or bytes."""
    with later.named(f"{_GFILE}GFile")(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: Any, contents: Any, overwrite: bool = True) -> None:
    """Writes a file beside its place, and moves it there."""
    beside = f"{os.fspath(filename)}.tmp{os.getpid()}"
    write_string_to_file(beside, contents)
    try:
        later.named(f"{_GFILE}rename")(beside, filename, overwrite)
    except BaseException:
        later.named(f"{_GFILE}remove")(beside)
        raise


def file_crc32(filename: Any, block_size: int = 4096) -> str:
    """The CRC-32 of a file, in hexadecimal digits."""
    import zlib

    return hex(zlib.crc32(read_file_to_string(filename, binary_mode=True)))
