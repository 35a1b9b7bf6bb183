"""Files and folders by path, here and elsewhere: `tf.io.gfile`.

Follows https://www.tensorflow.org/api_docs/python/tf/io/gfile. Paths with a scheme
("gs://bucket/name") need the package fsspec and what it needs for the scheme.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from intaglio.base import errors, files
from intaglio.base.files import Stat

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

    def _as_given(self, data: bytes) -> Any:
        return data if self._binary else data.decode(self._encoding)

    def size(self) -> int:
        """The number of bytes in the file."""
        return files.stat(self._path).length

    def write(self, file_content: Any) -> None:
        """Adds text, or bytes, at the end of what was written."""
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
        """`n` bytes from where reading is, or all that remain; as text unless in binary mode."""
        file = self._reading()
        with files.explained(self._path):
            return self._as_given(file.read(n))

    def readline(self) -> Any:
        """The next line with its end; empty at the end of the file."""
        file = self._reading()
        with files.explained(self._path):
            return self._as_given(file.readline())

    def readlines(self) -> list[Any]:
        """All lines that remain."""
        return list(self)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Goes to a byte: from the start (0), from here (1) or from the end (2).

        Raises OutOfRangeError for a place behind the end.
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
        """The number of the byte where reading, or else writing, goes on."""
        return (self._reading() if self._may_read else self._writing()).tell()

    def seekable(self) -> bool:
        """True: all files can be read from any byte on."""
        return True

    def flush(self) -> None:
        """Hands what was written to the file system."""
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


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file. Raises AlreadyExistsError if `dst` is there, unless it may overwrite.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.copy(folder + "/a", folder + "/b")
    >>> sorted(tf.io.gfile.listdir(folder))
    ['a', 'b']
    """
    source, target = os.fsdecode(src), os.fsdecode(dst)
    if files.is_folder(source):
        raise errors.invalid_argument(f"{target}; Invalid argument")
    files.copy(source, target, overwrite)


def exists(path: Any) -> bool:
    """Whether there is a file or folder.

    >>> tf.io.gfile.exists("/no/such/file")
    False
    """
    return files.exists(os.fsdecode(path))


def get_registered_schemes() -> list[str]:
    """The schemes of paths that can be opened; those of fsspec if it is installed.

    >>> "file" in tf.io.gfile.get_registered_schemes()
    True
    """
    return files.schemes()


def glob(pattern: Any) -> list[str]:
    """The paths that a pattern, or one of several, matches: `*`, `?` and `[abc]` within names.

    >>> tf.io.gfile.glob("/no/such/folder/*")
    []
    """
    one = isinstance(pattern, (str, bytes, os.PathLike))
    patterns = [pattern] if one else pattern
    return [p for one in patterns for p in sorted(files.matching(os.fsdecode(one)))]


def isdir(path: Any) -> bool:
    """Whether there is a folder of that name.

    >>> tf.io.gfile.isdir("/")
    True
    """
    return files.is_folder(os.fsdecode(path))


def join(path: Any, *paths: Any) -> Any:
    """Parts of a path put together; a part that begins with a slash stands alone.

    >>> tf.io.gfile.join("gs://bucket", "folder", "name")
    'gs://bucket/folder/name'
    """
    if len({isinstance(p, bytes) for p in (path, *paths)}) > 1:
        raise TypeError("Can't mix strings and bytes in path components")
    joined = files.join(os.fsdecode(path), *map(os.fsdecode, paths))
    return os.fsencode(joined) if isinstance(path, bytes) else joined


def listdir(path: Any) -> list[str]:
    """The names in a folder, in no order. Raises NotFoundError if there is no such folder.

    >>> import tempfile
    >>> tf.io.gfile.listdir(tempfile.mkdtemp())
    []
    """
    folder = os.fsdecode(path)
    if not files.is_folder(folder):
        raise errors.NotFoundError(None, None, f"Could not find directory {folder}")
    return files.names(folder)


def makedirs(path: Any) -> None:
    """Makes a folder and those that it is in; nothing if it is there.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/one/two"
    >>> tf.io.gfile.makedirs(path)
    >>> tf.io.gfile.isdir(path)
    True
    """
    folder = os.fsdecode(path)
    if files.exists(folder) and not files.is_folder(folder):
        raise errors.FailedPreconditionError(None, None, f"{folder} is not a directory")
    files.make_folders(folder)


def mkdir(path: Any) -> None:
    """Makes a folder; nothing if it is there. Raises NotFoundError if its own is not there.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/one"
    >>> tf.io.gfile.mkdir(path)
    >>> tf.io.gfile.isdir(path)
    True
    """
    folder = os.fsdecode(path)
    if not files.exists(folder):
        files.make_folder(folder)


def remove(path: Any) -> None:
    """Removes a file. Raises NotFoundError if there is none.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/a"
    >>> tf.io.write_file(path, "text")
    >>> tf.io.gfile.remove(path)
    >>> tf.io.gfile.exists(path)
    False
    """
    name = os.fsdecode(path)
    if files.is_folder(name):
        raise errors.FailedPreconditionError(None, None, f"{name}; Is a directory")
    files.remove(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Moves a file or folder. Raises AlreadyExistsError if `dst` is there, unless it may overwrite.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/a", "text")
    >>> tf.io.gfile.rename(folder + "/a", folder + "/b")
    >>> tf.io.gfile.listdir(folder)
    ['b']
    """
    files.rename(os.fsdecode(src), os.fsdecode(dst), overwrite)


def rmtree(path: Any) -> None:
    """Removes a folder with all that it holds. Raises NotFoundError if there is none.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.gfile.rmtree(folder)
    >>> tf.io.gfile.exists(folder)
    False
    """
    folder = os.fsdecode(path)
    if not files.exists(folder):
        raise errors.NotFoundError(None, None, f"{folder} not found")
    if files.is_folder(folder):
        files.remove_tree(folder)
    else:
        files.remove(folder)


def stat(path: Any) -> Stat:
    """The `length`, `mtime_nsec` and `is_directory` of a file. Raises NotFoundError if there is none.

    >>> tf.io.gfile.stat("/").is_directory
    True
    """
    return files.stat(os.fsdecode(path))


def walk(
    top: Any, topdown: bool = True, onerror: Callable[..., Any] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """For each folder below `top`: its path, the names of its folders and of its files.

    A folder comes before those in it, or after them with `topdown=False`. An error of
    listing goes to `onerror`; without it such a folder is passed over.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> tf.io.write_file(folder + "/one/a", "text")
    >>> [(folders, names) for _, folders, names in tf.io.gfile.walk(folder)]
    [(['one'], []), ([], ['a'])]
    """
    folder = os.fsdecode(top)
    try:
        found = listdir(folder)
    except errors.NotFoundError as e:
        if onerror is not None:
            onerror(e)
        return
    inner = [n for n in found if files.is_folder(files.join(folder, n))]
    here = (folder, inner, [n for n in found if n not in set(inner)])
    if topdown:
        yield here
    for name in inner:
        yield from walk(files.join(folder, name), topdown, onerror)
    if not topdown:
        yield here


__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]
