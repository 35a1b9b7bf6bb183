"""`tf.io.gfile`: files and folders by path, on local and remote file systems.

Follows https://www.tensorflow.org/api_docs/python/tf/io/gfile. Paths with a scheme
("gs://bucket/name") need the package fsspec and its dependency for the scheme.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from intaglio.base import errors, files
from intaglio.base.files import Stat


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
    """Joined parts of a path; an absolute part discards those before it.

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
    """Creates a folder and its missing parents, unless it exists.

    Raises FailedPreconditionError if one of them is a file.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/one/two"
    >>> tf.io.gfile.makedirs(path)
    >>> tf.io.gfile.isdir(path)
    True
    """
    files.make_folders(os.fsdecode(path))


def mkdir(path: Any) -> None:
    """Creates a folder, unless it exists. Raises NotFoundError if its parent does not exist.

    >>> import tempfile
    >>> path = tempfile.mkdtemp() + "/one"
    >>> tf.io.gfile.mkdir(path)
    >>> tf.io.gfile.isdir(path)
    True
    """
    folder = os.fsdecode(path)
    if folder and not files.exists(folder):
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
    """Removes a folder recursively. Raises NotFoundError if there is none.

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
