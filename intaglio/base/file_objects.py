"""File objects that read and write text or bytes, on local and remote file systems.

Follows https://www.tensorflow.org/api_docs/python/tf/io/gfile/GFile.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from intaglio.base import errors, files

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class GFile:
    """A file that is opened when it is first read or written; a context manager.

    `mode` is "r", "w", "a" or one of these with "+", and with "b" for bytes instead of
    text. Raises InvalidArgumentError for another mode; reading and writing raise
    PermissionDeniedError where the mode does not allow them, NotFoundError if there is no
    such file or folder.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a.txt"
    >>> with tf.io.gfile.GFile(path, "w") as file:
    ...     file.write("one\\ntwo\\n")
    >>> with tf.io.gfile.GFile(path) as file:
    ...     print(file.readlines())
    ['one\\n', 'two\\n']
    """

    def __init__(self, name: Any, mode: str = "r", encoding: str = "utf-8") -> None:
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.invalid_argument("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._name = name
        self._path = os.fsdecode(name)
        self._mode = mode
        self._binary = "b" in mode
        self._encoding = encoding
        self._may_read = plain[0] == "r" or "+" in plain
        self._may_write = plain != "r"
        self._append = plain[0] == "a"
        self._reader: Any = None
        self._writer: Any = None

    @property
    def name(self) -> Any:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode as it was given."""
        return self._mode

    def _reading(self) -> Any:
        if not self._may_read:
            raise errors.PermissionDeniedError(None, None, "File isn't open for reading")
        if self._reader is None:
            if files.is_folder(self._path):
                raise errors.FailedPreconditionError(None, None, f"{self._path}; Is a directory")
            self._reader = files.opened(self._path, "rb")
        return self._reader

    def _writing(self) -> Any:
        if not self._may_write:
            raise errors.PermissionDeniedError(None, None, "File isn't open for writing")
        if self._writer is None:
            self._writer = files.opened(self._path, "ab" if self._append else "wb")
        return self._writer

    def _decoded(self, data: bytes) -> Any:
        return data if self._binary else data.decode(self._encoding)

    def size(self) -> int:
        """The number of bytes in the file."""
        return files.stat(self._path).length

    def write(self, file_content: Any) -> None:
        """Appends text, or bytes."""
        file = self._writing()
        if not isinstance(file_content, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with files.explained(self._path):
            file.write(
                file_content.encode(self._encoding)
                if isinstance(file_content, str)
                else file_content
            )

    def read(self, n: int = -1) -> Any:
        """`n` bytes from the current position, or all that remain; as text unless in binary mode."""
        file = self._reading()
        with files.explained(self._path):
            return self._decoded(file.read(n))

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        file = self._reading()
        with files.explained(self._path):
            return self._decoded(file.readline())

    def readlines(self) -> list[Any]:
        """All lines that remain."""
        return list(self)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Sets the position relative to the start (0), the current one (1) or the end (2).

        Raises OutOfRangeError for a position behind the end.
        """
        file = self._reading()
        if offset is None:
            offset = position
        if offset is None:
            raise TypeError("seek(): offset argument required")
        if whence not in (0, 1, 2):
            raise errors.invalid_argument(
                f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2."
            )
        size = self.size()
        target = offset + (0, file.tell(), size)[whence]
        if target < 0:
            raise errors.invalid_argument(f"Seeking to a negative position: {target}")
        if target > size:
            raise errors.OutOfRangeError(None, None, "reached end of file")
        file.seek(target)

    def tell(self) -> int:
        """The position of reading, or else of writing, in bytes."""
        return (self._reading() if self._may_read else self._writing()).tell()

    def seekable(self) -> bool:
        """True: all files support `seek`."""
        return True

    def flush(self) -> None:
        """Flushes written data to the file system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Ends reading and writing."""
        reader, self._reader = self._reader, None
        writer, self._writer = self._writer, None
        for file in (reader, writer):
            if file is not None:
                with files.explained(self._path):
                    file.close()

    def next(self) -> Any:
        """The next line."""
        return self.__next__()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *exc: Any) -> None:
        self.close()

    def __del__(self) -> None:
        if hasattr(self, "_writer"):
            self.close()


__all__ = ["GFile"]
