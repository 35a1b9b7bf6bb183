"""Files and folders by path: local ones, and remote ones by a scheme ("gs://bucket/name").

Local files need only Python. Paths with other schemes are handled by fsspec, which the first of them
imports. All errors of file systems are converted to those of `errors`.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import glob
import os
import posixpath
import re
import shutil
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, Protocol

import numpy as np

from intaglio.base import errors, later, replacing

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9.+-]*)://")
# TensorFlow's names of file systems with another name in fsspec.
_CALLED = {"ram": "memory"}


class Stat(NamedTuple):
    """The status of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


class System(Protocol):
    """The interface of a file system; paths are complete, with their scheme."""

    def open(self, path: str, mode: str) -> Any:
        """Opens a binary file."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is a file or a folder."""
        ...

    def stat(self, path: str) -> Stat:
        """The status of a file or folder."""
        ...

    def names(self, path: str) -> list[str]:
        """The names of the entries of a folder."""
        ...

    def matching(self, pattern: str) -> list[str]:
        """The paths that a pattern matches; its `*` stops at a slash."""
        ...

    def make_folder(self, path: str) -> None:
        """Creates one folder."""
        ...

    def make_folders(self, path: str) -> None:
        """Creates a folder and its missing parents."""
        ...

    def remove(self, path: str) -> None:
        """Removes a file."""
        ...

    def remove_tree(self, path: str) -> None:
        """Removes a folder recursively."""
        ...

    def rename(self, old: str, new: str) -> None:
        """Moves a file or folder, and replaces an existing file."""
        ...

    @contextlib.contextmanager
    def replaced(self, path: str) -> Generator[Any]:
        """A binary file that replaces `path` once all is written."""
        ...


class Local:
    """The local file system."""

    @staticmethod
    def _plain(path: str) -> str:
        return path.removeprefix("file://")

    def open(self, path: str, mode: str) -> Any:
        return open(self._plain(path), mode)

    def exists(self, path: str) -> bool:
        return os.path.exists(self._plain(path))

    def stat(self, path: str) -> Stat:
        found = os.stat(self._plain(path))
        return Stat(found.st_size, found.st_mtime_ns, os.path.isdir(self._plain(path)))

    def names(self, path: str) -> list[str]:
        return os.listdir(self._plain(path))

    def matching(self, pattern: str) -> list[str]:
        plain = self._plain(pattern)
        found = glob.glob(_starless(plain), include_hidden=True)
        if plain is not pattern:
            return ["file://" + p for p in found]
        # TensorFlow lists "." for a pattern whose first part already has wildcards.
        bare = glob.has_magic(plain.partition("/")[0]) and plain[:1] != "/"
        return [f"./{p}" for p in found] if bare else found

    def make_folder(self, path: str) -> None:
        os.mkdir(self._plain(path))

    def make_folders(self, path: str) -> None:
        os.makedirs(self._plain(path), exist_ok=True)

    def remove(self, path: str) -> None:
        os.unlink(self._plain(path))

    def remove_tree(self, path: str) -> None:
        shutil.rmtree(self._plain(path))

    def rename(self, old: str, new: str) -> None:
        os.replace(self._plain(old), self._plain(new))

    @contextlib.contextmanager
    def replaced(self, path: str) -> Generator[Any]:
        with replacing.replaced(self._plain(path)) as file:
            yield file


class Remote:
    """A file system of fsspec."""

    def __init__(self, scheme: str, system: Any) -> None:
        self._scheme = scheme
        self._system = system

    def _inner(self, path: str) -> str:
        return self._system._strip_protocol(
            _CALLED.get(self._scheme, self._scheme) + path[len(self._scheme) :]
        )

    def _outer(self, path: str) -> str:
        return f"{self._scheme}://{path.lstrip('/')}"

    def open(self, path: str, mode: str) -> Any:
        return self._system.open(self._inner(path), mode)

    def exists(self, path: str) -> bool:
        return self._system.exists(self._inner(path))

    def stat(self, path: str) -> Stat:
        found = self._system.info(self._inner(path))
        when: Any = found.get("mtime") or found.get("created") or 0
        when = when.timestamp() if hasattr(when, "timestamp") else float(when)
        folder = found.get("type") == "directory"
        return Stat(int(found.get("size") or 0), int(when * 1e9), folder)

    def names(self, path: str) -> list[str]:
        folder = self._inner(path)
        found = self._system.ls(folder, detail=False)
        return [posixpath.basename(p.rstrip("/")) for p in found if p != folder]

    def matching(self, pattern: str) -> list[str]:
        return [self._outer(p) for p in self._system.glob(self._inner(pattern))]

    def make_folder(self, path: str) -> None:
        if self._system.exists(self._inner(path)):
            return
        self._system.mkdir(self._inner(path), create_parents=False)

    def make_folders(self, path: str) -> None:
        self._system.makedirs(self._inner(path), exist_ok=True)

    def remove(self, path: str) -> None:
        if self._system.isdir(self._inner(path)):
            raise IsADirectoryError(path)
        self._system.rm_file(self._inner(path))

    def remove_tree(self, path: str) -> None:
        self._system.rm(self._inner(path), recursive=True)

    def rename(self, old: str, new: str) -> None:
        self._system.mv(self._inner(old), self._inner(new), recursive=True)

    @contextlib.contextmanager
    def replaced(self, path: str) -> Generator[Any]:
        # File systems of this kind show a file once it is closed.
        with self._system.open(self._inner(path), "wb") as file:
            yield file


LOCAL = Local()


def _starless(pattern: str) -> str:
    """A pattern with `**` replaced by `*`, as TensorFlow's patterns do not cross folders."""
    return re.sub(r"\*\*+", "*", pattern)


def scheme_of(path: str) -> str:
    """The part of a path before "://", or ""."""
    found = _SCHEME.match(path)
    return found[1] if found else ""


def system_of(path: str) -> System:
    """The file system of a path. Raises UnimplementedError if there is none for its scheme."""
    scheme = scheme_of(path)
    return LOCAL if scheme in ("", "file") else _remote(scheme, path)


# The attribute of nodes loaded from a file, whose paths may name local files only.
LOCAL_PATHS = "_local_paths"
FILESYSTEMS = "INTAGLIO_FILESYSTEMS"


def check_local(paths: Any) -> None:
    """Raises PermissionDeniedError for a path of another file system than this machine's.

    `paths` is an array of bytes. `INTAGLIO_FILESYSTEMS` lists the schemes that are allowed besides,
    separated by commas: "gs,s3". It applies to the paths in graphs that were loaded from files, and is
    read at each use, so that it may change.
    """
    for path in np.asarray(paths, object).ravel().tolist():
        scheme = scheme_of(os.fsdecode(path)) if isinstance(path, (bytes, str)) else ""
        if scheme in ("", "file"):
            continue
        if scheme not in os.environ.get(FILESYSTEMS, "").replace(" ", "").split(","):
            raise errors.PermissionDeniedError(
                None,
                None,
                f"A graph that was loaded from a file names '{os.fsdecode(path)}', and such graphs may "
                f"use local files only. Set {FILESYSTEMS}={scheme} if you trust the file.",
            )


@functools.cache
def _system(scheme: str) -> Remote:
    return Remote(scheme, later.named("fsspec:filesystem")(_CALLED.get(scheme, scheme)))


def _remote(scheme: str, path: str) -> Remote:
    try:
        return _system(scheme)
    except ModuleNotFoundError as e:
        why = f"it needs the package {e.name}, which is not installed"
    except (ImportError, ValueError) as e:
        why = str(e)
    raise errors.UnimplementedError(
        None, None, f"File system scheme '{scheme}' not implemented (file: '{path}'): {why}"
    ) from None


def schemes() -> list[str]:
    """The schemes with a file system, those of fsspec included if it is installed."""
    found = ["", "file"]
    try:
        more = later.named("fsspec:available_protocols")()
    except ImportError:
        return found
    return [*found, *sorted({*more, *_CALLED} - {*found, "local"})]


_CLASSES: list[tuple[type[OSError], type[errors.OpError], str]] = [
    (FileNotFoundError, errors.NotFoundError, "No such file or directory"),
    (FileExistsError, errors.AlreadyExistsError, "File exists"),
    (IsADirectoryError, errors.FailedPreconditionError, "Is a directory"),
    (NotADirectoryError, errors.FailedPreconditionError, "Not a directory"),
    (PermissionError, errors.PermissionDeniedError, "Permission denied"),
]
# The system's errors of what is full: the disk, a user's share of it, a file, the table of open files.
_EXHAUSTED = frozenset(
    getattr(errno, name)
    for name in ("ENOSPC", "EDQUOT", "EFBIG", "EMFILE", "ENFILE", "ENOMEM")
    if hasattr(errno, name)
)


@contextlib.contextmanager
def explained(path: str) -> Generator[None]:
    """Converts errors of the file system raised in the block to those of `errors`, with the path."""
    try:
        yield
    except OSError as e:
        for error_class, new_class, text in _CLASSES:
            if isinstance(e, error_class):
                raise new_class(None, None, f"{path}; {text}") from None
        reason = e.strerror or str(e)
        if e.errno in _EXHAUSTED:
            raise errors.ResourceExhaustedError(None, None, f"{path}; {reason}") from e
        if e.errno in (errno.ENAMETOOLONG, errno.EINVAL):
            raise errors.InvalidArgumentError(None, None, f"{path}; {reason}") from e
        raise errors.UnknownError(None, None, f"{path}; {reason}") from e


def _explaining(method: str) -> Callable[..., Any]:
    def call(path: str, *args: Any) -> Any:
        system = system_of(path)
        with explained(path):
            return getattr(system, method)(path, *args)

    return call


opened = _explaining("open")
exists = _explaining("exists")
stat = _explaining("stat")
names = _explaining("names")
make_folder = _explaining("make_folder")
remove = _explaining("remove")
remove_tree = _explaining("remove_tree")
matching = _explaining("matching")


def make_folders(path: str) -> None:
    """Creates a folder and its missing parents; does nothing for the path "".

    Raises FailedPreconditionError if one of them is a file.
    """
    if not path:
        return
    system = system_of(path)
    with explained(path):
        try:
            system.make_folders(path)
        except (FileExistsError, NotADirectoryError):
            while not system.exists(path):
                path = posixpath.dirname(path)
            raise errors.FailedPreconditionError(None, None, f"{path} is not a directory") from None


def is_folder(path: str) -> bool:
    """Whether there is a folder of that name."""
    return exists(path) and stat(path).is_directory


@contextlib.contextmanager
def replaced(path: str) -> Generator[Any]:
    """A binary file to write, which replaces `path` once it is complete."""
    system = system_of(path)
    with explained(path), system.replaced(path) as file:
        yield file


def read(path: str) -> bytes:
    """All bytes of a file."""
    with explained(path), opened(path, "rb") as file:
        return file.read()


def write(path: str, data: bytes) -> None:
    """Writes a file with the contents `data`."""
    with replaced(path) as file:
        file.write(data)


def _keep(target: str, overwrite: bool) -> None:
    if not overwrite and exists(target):
        raise errors.AlreadyExistsError(None, None, "file already exists")


def copy(source: str, target: str, overwrite: bool) -> None:
    """Copies a file. Raises AlreadyExistsError unless it may overwrite."""
    _keep(target, overwrite)
    with explained(source), opened(source, "rb") as old, replaced(target) as new:
        shutil.copyfileobj(old, new)


def rename(source: str, target: str, overwrite: bool) -> None:
    """Moves a file or folder. Raises AlreadyExistsError unless it may overwrite."""
    _keep(target, overwrite)
    system = system_of(source)
    if system_of(target) is not system:
        copy(source, target, overwrite)
        remove(source)
        return
    with explained(source):
        system.rename(source, target)


def join(first: str, *others: str) -> str:
    """Joined paths; an absolute path discards those before it."""
    return posixpath.join(first, *others)
