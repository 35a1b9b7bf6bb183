"""Machine code that comes with the package, so that the first call of a new user does not compile.

An archive for each level of x86-64, and one for AMD's processors with AVX-512, has the object files of kernels
that programs use first: products, convolutions, pooling, sums, functions. `intaglio.tools.preparation` writes
it when a wheel is built. The key of a module is the hash of its text, so an archive older than the package
lacks modules, but has no wrong ones. Code for a level gives the same bits as code for the processor itself:
LLVM neither contracts nor reorders the operations of the text.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import zlib
from collections.abc import Mapping

# The folder of archives: the package's, or that of `INTAGLIO_PREPARED`; none if that is empty.
FOLDER = os.environ.get(
    "INTAGLIO_PREPARED", os.path.join(os.path.dirname(os.path.dirname(__file__)), "prepared")
)
# The number of modules; the key, offset and size of each; the digest of all this.
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<32sIII")
_DIGEST_BYTES = 32


def path_of(processors: str) -> str:
    """The path of the archive for a kind of processor."""
    return os.path.join(FOLDER, f"{processors}.objects")


def key_of(text: str, effort: int) -> bytes:
    """The key of a module in an archive."""
    return hashlib.sha256(f"{effort}\0{text}".encode()).digest()


def written(objects: Mapping[bytes, bytes]) -> bytes:
    """The bytes of an archive of object files by key."""
    entries: list[bytes] = []
    contents: list[bytes] = []
    at = _COUNT.size + len(objects) * _ENTRY.size + _DIGEST_BYTES
    for key, code in sorted(objects.items()):
        packed = zlib.compress(code, 9)
        entries.append(_ENTRY.pack(key, at, len(packed), zlib.crc32(packed)))
        contents.append(packed)
        at += len(packed)
    head = _COUNT.pack(len(objects)) + b"".join(entries)
    return head + hashlib.sha256(head).digest() + b"".join(contents)


def objects_of(archive: bytes) -> dict[bytes, bytes]:
    """The object files of an archive by key. Raises ValueError for a damaged archive."""
    index = _parsed(archive)
    if index is None:
        raise ValueError("no archive of machine code")
    return {key: zlib.decompress(archive[at : at + n]) for key, (at, n, _) in index.items()}


def read(processors: str, text: str, effort: int) -> bytes | None:
    """The object file of a module for a kind of processor; None if the package has none."""
    index = _index(processors)
    if not index:
        return None
    place = index.get(key_of(text, effort))
    if place is None:
        return None
    at, size, checksum = place
    try:
        with open(path_of(processors), "rb") as file:
            file.seek(at)
            packed = file.read(size)
    except OSError:
        return None
    return zlib.decompress(packed) if zlib.crc32(packed) == checksum else None


@functools.cache
def _index(processors: str) -> Mapping[bytes, tuple[int, int, int]]:
    """The offset and size of each module of an archive, by key; empty if it is absent or damaged."""
    if not processors or not FOLDER:
        return {}
    try:
        with open(path_of(processors), "rb") as file:
            count = file.read(_COUNT.size)
            (number,) = _COUNT.unpack(count)
            head = count + file.read(number * _ENTRY.size + _DIGEST_BYTES)
    except (OSError, struct.error):
        return {}
    return _parsed(head) or {}


def _parsed(archive: bytes) -> dict[bytes, tuple[int, int, int]] | None:
    """The index, read from the head of an archive; None if it is damaged."""
    if len(archive) < _COUNT.size:
        return None
    end = _COUNT.size + _COUNT.unpack_from(archive)[0] * _ENTRY.size
    if hashlib.sha256(archive[:end]).digest() != archive[end : end + _DIGEST_BYTES]:
        return None
    entries = _ENTRY.iter_unpack(archive[_COUNT.size : end])
    return {key: (at, size, checksum) for key, at, size, checksum in entries}
