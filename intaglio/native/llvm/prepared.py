"""Machine code that comes with the package, so that the first call of a new user does not compile.

An archive for each level of x86-64, and one for AMD's processors with AVX-512, has the object files of kernels that programs use first: those of
products, convolutions, pooling, sums, functions. `intaglio.tools.preparation` writes it when a wheel is
built. A module is found by its text, so an archive that is older than the package has no wrong code, but
less. The same text for a level gives the same bits as for the processor itself: LLVM neither contracts nor
reorders what the text says.
"""

from __future__ import annotations

import functools
import hashlib
import os
import struct
import zlib
from collections.abc import Mapping

# Of this package, or what `INTAGLIO_PREPARED` names; if that is empty there are none.
FOLDER = os.environ.get(
    "INTAGLIO_PREPARED", os.path.join(os.path.dirname(os.path.dirname(__file__)), "prepared")
)
# The number of modules; then a name, the place and the size of each, and the digest of all that.
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<32sIII")
_DIGEST_BYTES = 32


def path_of(processors: str) -> str:
    """Where the archive for some processors is."""
    return os.path.join(FOLDER, f"{processors}.objects")


def key_of(text: str, effort: int) -> bytes:
    """What a module is found by."""
    return hashlib.sha256(f"{effort}\0{text}".encode()).digest()


def written(objects: Mapping[bytes, bytes]) -> bytes:
    """An archive of object files by their keys."""
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
    """The object files of an archive by their keys. Raises ValueError for one that is not whole."""
    index = _parsed(archive)
    if index is None:
        raise ValueError("no archive of machine code")
    return {key: zlib.decompress(archive[at : at + n]) for key, (at, n, _) in index.items()}


def read(processors: str, text: str, effort: int) -> bytes | None:
    """The object file of a module for some processors; None if the package has none."""
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
    """Where the modules of an archive are, by their keys; empty if there is none, or it is not whole."""
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
    """The index of an archive, of which the head is enough; None if it is not whole."""
    if len(archive) < _COUNT.size:
        return None
    end = _COUNT.size + _COUNT.unpack_from(archive)[0] * _ENTRY.size
    if hashlib.sha256(archive[:end]).digest() != archive[end : end + _DIGEST_BYTES]:
        return None
    entries = _ENTRY.iter_unpack(archive[_COUNT.size : end])
    return {key: (at, size, checksum) for key, at, size, checksum in entries}
