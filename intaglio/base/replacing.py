"""Files and folders of this machine that take the place of others at once.

A process can be killed, and a disk can be full, at any moment. Whoever looks afterwards sees the old
file or folder, or the new one, never a part. A file is written beside its place, synchronised with the
disk and renamed. A folder is filled beside its place, and both are exchanged by one system call. Where
the system has no such call, or the folder contains what is not the writer's, the new entries are moved
into the folder one by one; `finish` completes that if the process was killed meanwhile.

What is being written has a name that follows from its place, and is locked. So the next writer finds
what a killed one has left, and removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import hashlib
import itertools
import os
import shutil
import stat
import sys
from collections.abc import Collection, Generator
from typing import Any

try:
    import fcntl
except ImportError:  # Windows: what a killed process leaves there stays
    fcntl = None

# Whether locks show that the process that was writing has been killed.
CAN_LOCK = fcntl is not None
# The suffix of incomplete files and folders, followed by a number if there are several writers.
SUFFIX = ".tempstate"
# Subfolders for complete entries that are being moved to their final names, and for the entries they replace.
_NEW, _OLD = ".tempstate-new", ".tempstate-old"
_MAX_NAME_BYTES = 240


# -- locks -------------------------------------------------------------------------------------


def _locked(descriptor: int, wait: bool = False) -> bool:
    """Locks an open file or folder; False if another process or thread has locked it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as e:
        if e.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
            raise
    return True


def _is_at(descriptor: int, path: str) -> bool:
    """Whether a path still names the open file: another process may have renamed it."""
    if fcntl is None:
        return True
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _names(path: str, hidden: bool = False) -> Generator[str]:
    """The names under which `path` may be written, one for each writer at the same time."""
    folder, base = os.path.split(path)
    if len(os.fsencode(base)) > _MAX_NAME_BYTES:
        base = hashlib.sha256(os.fsencode(base)).hexdigest()
    base = f".{base}" if hidden and base[:1] != "." else base
    own = f"-{os.getpid():x}-{id(object()):x}" if fcntl is None else ""
    for number in itertools.count():
        yield os.path.join(folder, f"{base}{SUFFIX}{own}{number or ''}")


def _open_folder(path: str) -> int:
    """A descriptor of a folder, to lock it. Raises FileNotFoundError if there is none."""
    if fcntl is None and os.path.isdir(path):  # Windows opens no folders
        return os.open(os.devnull, os.O_RDONLY)
    return os.open(path, os.O_RDONLY)


def sync_folder(path: str) -> None:
    """Synchronises the entries of a folder with the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path or ".", os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# -- files -------------------------------------------------------------------------------------


class NewFile:
    """A binary file that takes the place of `path` when it is committed.

    `file` is open for writing. What is no regular file, such as a device, is written to directly.
    Raises OSError.
    """

    def __init__(self, path: str) -> None:
        path = os.path.realpath(path) if os.path.islink(path) else path
        self.path = path
        self.partial = ""
        if not path:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        with contextlib.suppress(FileNotFoundError):
            os.lstat(path)  # names that are too long, or below a file
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if os.path.exists(path) and not stat.S_ISREG(os.stat(path).st_mode):
            self.file: Any = os.fdopen(os.open(path, os.O_WRONLY), "wb")
            return
        for self.partial in _names(path):
            descriptor = open_locked(self.partial)
            if descriptor is not None:
                self.file = os.fdopen(descriptor, "wb")
                os.ftruncate(descriptor, 0)
                return

    def commit(self) -> None:
        """The file takes its place. Raises OSError, and discards it, if not all can be written."""
        try:
            self.file.flush()
            with contextlib.suppress(*(() if self.partial else (OSError,))):  # pipes and devices
                os.fsync(self.file.fileno())
            if self.partial and fcntl is None:
                self.file.close()
            self.publish()
        except BaseException:
            self.discard()
            raise
        self.file.close()

    def publish(self) -> None:
        """The file takes its place before it is whole; what is written then is seen at once."""
        if not self.partial or (fcntl is None and not self.file.closed):
            return
        os.replace(self.partial, self.path)
        remove_abandoned(self.path, self.partial)
        sync_folder(os.path.dirname(self.path))
        self.partial = ""

    def discard(self) -> None:
        """Removes what was written."""
        try:
            if self.partial and _is_at(self.file.fileno(), self.partial):
                os.unlink(self.partial)
        finally:
            with contextlib.suppress(OSError):  # what the disk has no space for
                self.file.close()


def remove_abandoned(path: str, but: str = "") -> None:
    """Removes what writers of a file left that were killed; `but` is a name that is in use."""
    for name in _names(path):
        if name == but:
            continue
        if not os.path.exists(name):
            return
        descriptor = open_locked(name)
        if descriptor is not None:
            os.unlink(name)
            os.close(descriptor)


def open_locked(name: str) -> int | None:
    """A descriptor of a locked file, created if need be; None if another writer has locked it.

    It is locked until the descriptor is closed, or the process ends.
    """
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    while True:
        descriptor = os.open(name, flags, 0o666)
        if not _locked(descriptor):
            os.close(descriptor)
            return None
        if _is_at(descriptor, name):
            return descriptor
        os.close(descriptor)


@contextlib.contextmanager
def replaced(path: str) -> Generator[Any]:
    """A binary file to write, which takes the place of `path` once it is whole.

    Raises OSError; the old file stays then, as after any exception in the block.
    """
    new = NewFile(path)
    try:
        yield new.file
    except BaseException:
        new.discard()
        raise
    new.commit()


# -- folders -----------------------------------------------------------------------------------


@contextlib.contextmanager
def replaced_folder(path: str, own: Collection[str]) -> Generator[str]:
    """An empty folder to fill, which takes the place of the folder `path` once it is whole.

    Entries of the old folder that are not among the names `own` stay. Raises OSError; the old folder
    stays then, as after any exception in the block. Loaders call `finish(path)`.
    """
    path = os.path.realpath(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    finish(path)
    place = path if _shares_parent(path) else os.path.join(path, "model")
    partial, descriptor = _new_folder(place)
    try:
        yield partial
        _sync_tree(partial)
        _take_place(path, partial, own)
    finally:
        with contextlib.suppress(FileNotFoundError):
            shutil.rmtree(partial)
        os.close(descriptor)
    sync_folder(os.path.dirname(path))


@contextlib.contextmanager
def replaced_path(path: str) -> Generator[str]:
    """A path with the name of `path`, for writers that open it themselves.

    What is written there takes the place of `path`. Raises OSError; the old file stays then, as after
    any exception in the block.
    """
    path = os.path.realpath(path)
    folder, descriptor = _new_folder(path)
    beside = os.path.join(folder, os.path.basename(path))
    try:
        yield beside
        if os.path.exists(beside):
            _sync_tree(folder)
            os.replace(beside, path)
            sync_folder(os.path.dirname(path))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _shares_parent(path: str) -> bool:
    """Whether a folder can be exchanged with one beside it."""
    parent = os.path.dirname(path)
    return not os.path.isdir(path) or (
        os.stat(path).st_dev == os.stat(parent).st_dev and os.access(parent, os.W_OK)
    )


def _new_folder(path: str) -> tuple[str, int]:
    """An empty folder beside `path`, locked, and its descriptor."""
    for name in _names(path, hidden=True):
        while True:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name)
            descriptor = _open_folder(name)
            if not _locked(descriptor):
                os.close(descriptor)
                break
            if _is_at(descriptor, name):
                for entry in os.scandir(name):
                    remove(entry.path)
                return name, descriptor
            os.close(descriptor)
    raise AssertionError("names do not end")


def remove(path: str) -> None:
    """Removes a file, or a folder with all that it holds."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _sync_tree(folder: str) -> None:
    for place, _, names in os.walk(folder):
        for name in names:
            descriptor = os.open(os.path.join(place, name), os.O_RDWR)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
        sync_folder(place)


def _take_place(path: str, partial: str, own: Collection[str]) -> None:
    """Puts the complete folder `partial` into the place of `path`."""
    while True:
        try:
            old = _open_folder(path)
        except FileNotFoundError:
            os.rename(partial, path)
            return
        try:
            _locked(old, wait=True)
            if not _is_at(old, path):  # another process was faster
                continue
            only_own = set(os.listdir(path)) <= {*own, _NEW, _OLD}
            if only_own and not _is_current(path) and _exchanged(partial, path):
                shutil.rmtree(partial)
                return
            os.rename(partial, os.path.join(path, _NEW))
            _finish(path)
            return
        finally:
            os.close(old)


def _is_current(path: str) -> bool:
    """Whether the process works in a folder: then it must stay the same one."""
    with contextlib.suppress(OSError):
        return os.path.commonpath([os.getcwd(), path]) == path
    return False


def _exchanged(one: str, other: str) -> bool:
    """Exchanges two names; False if the system cannot."""
    a, b = os.fsencode(one), os.fsencode(other)
    try:
        if sys.platform == "linux":
            here = -100  # AT_FDCWD
            return ctypes.CDLL(None).renameat2(here, a, here, b, 2) == 0  # RENAME_EXCHANGE
        if sys.platform == "darwin":
            return ctypes.CDLL(None).renamex_np(a, b, 2) == 0  # RENAME_SWAP
    except AttributeError:
        pass
    return False


def finish(path: str) -> None:
    """Completes what `replaced_folder` has begun, if a process was killed meanwhile.

    Raises OSError if the folder cannot be written to.
    """
    if not os.path.isdir(os.path.join(path, _NEW)) and not os.path.isdir(os.path.join(path, _OLD)):
        return
    descriptor = _open_folder(path)
    try:
        _locked(descriptor, wait=True)
        _finish(path)
    finally:
        os.close(descriptor)


def _finish(path: str) -> None:
    """Moves complete entries to their places. May be repeated after any of its steps."""
    new, old = os.path.join(path, _NEW), os.path.join(path, _OLD)
    if os.path.isdir(new):
        os.makedirs(old, exist_ok=True)
        for name in sorted(os.listdir(new)):
            there, kept = os.path.join(path, name), os.path.join(old, name)
            if os.path.lexists(there):
                if os.path.lexists(kept):
                    remove(kept)
                os.rename(there, kept)
            os.rename(os.path.join(new, name), there)
        sync_folder(path)
        os.rmdir(new)
    if os.path.isdir(old):
        shutil.rmtree(old)
