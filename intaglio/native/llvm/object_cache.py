"""The cache of machine code on disk, which processes share.

A file is named by the hash of everything that its code depends on: the text, the processor,
the versions. It begins with the hash of its name and content: a truncated, changed or renamed file is
ignored. Files are written under a temporary name and renamed, so that processes may share the folder.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import threading
import time

# Maximum bytes of the folder; beyond it the least recently used files are removed.
MAX_FOLDER_BYTES = 256 << 20
# The size is checked after one in this number of writes.
WRITES_PER_SIZE_CHECK = 64
_SUFFIX, _PARTIAL = ".o", ".partial"
_BINARY: int = getattr(os, "O_BINARY", 0)
# Age in seconds from which on an incomplete file counts as abandoned.
ABANDONED_SECONDS = 3600


def folder() -> str | None:
    """The folder of the cache: `INTAGLIO_CACHE`, or the user's cache folder.

    None if `INTAGLIO_CACHE` is empty, or if other users could write there: the folder's code
    is run.
    """
    named = os.environ.get("INTAGLIO_CACHE")
    if named == "":
        return None
    if named is not None:
        path = named
    elif "XDG_CACHE_HOME" in os.environ or sys.platform != "win32":
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        path = os.path.join(home, "intaglio")
    else:
        path = os.path.join(os.environ.get("LOCALAPPDATA", os.path.expanduser("~")), "intaglio")
    try:
        os.makedirs(path, mode=0o700, exist_ok=True)
        found = os.stat(path)
    except OSError:
        return None
    if hasattr(os, "getuid") and (
        found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        return None
    return path


def is_ours(name: str) -> bool:
    """True for the name of a file that this module writes."""
    return name.endswith((_SUFFIX, _PARTIAL))


def name_of(*depends: str) -> str:
    """The name of the code that depends on these texts."""
    return hashlib.sha256("\0".join(depends).encode()).hexdigest()


def read(name: str) -> bytes | None:
    """The code of that name; None if it is absent or damaged."""
    directory = folder()
    if directory is None:
        return None
    path = os.path.join(directory, name + _SUFFIX)
    try:
        with open(path, "rb") as file:
            content = file.read()
        os.utime(path)
    except OSError:
        return None
    digest, code = content[:32], content[32:]
    return code if _digest(name, code) == digest else None


def _digest(name: str, code: bytes) -> bytes:
    """The digest that a file begins with. It covers the name, as a renamed file would run as other code."""
    return hashlib.sha256(name.encode() + b"\0" + code).digest()


def write(name: str, code: bytes) -> None:
    """Writes code under a name; errors of the file system are ignored."""
    directory = folder()
    if directory is None:
        return
    own = f"{name}-{os.getpid()}-{threading.get_ident()}{_PARTIAL}"
    beside = os.path.join(directory, own)
    with contextlib.suppress(OSError):
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(_digest(name, code) + code)
            os.replace(beside, os.path.join(directory, name + _SUFFIX))
        except OSError:
            os.unlink(beside)
            raise
    if int(name[:8], 16) % WRITES_PER_SIZE_CHECK == 0:
        shrink(directory)


def shrink(directory: str, most: int = MAX_FOLDER_BYTES) -> None:
    """Removes the least recently used files until the folder is small enough."""
    found: list[tuple[float, int, str]] = []
    with os.scandir(directory) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                status = entry.stat()
                old = status.st_mtime < time.time() - ABANDONED_SECONDS
                if entry.name.endswith(_SUFFIX):
                    found.append((status.st_mtime, status.st_size, entry.path))
                elif old and entry.name.endswith(_PARTIAL):  # its process was killed
                    os.unlink(entry.path)
    size = sum(s for _, s, _ in found)
    for _, bytes_, path in sorted(found):
        if size <= most:
            return
        with contextlib.suppress(OSError):
            os.unlink(path)
            size -= bytes_
