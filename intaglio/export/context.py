"""Memory of a library: what a context consists of, and data that never changes.

A context is one piece of memory: a few words, the variables that functions write, streams of random
numbers, arrays derived from weights, and the memory of the functions themselves, of which one runs at
a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# Every block begins at a multiple, and so does a context.
ALIGNMENT = 64
# The words of a context: what says that it is one; the memory to free; weights, and their mapping;
# the caller's function that runs tasks on threads, and its argument.
MAGIC, ALLOCATED, WEIGHTS, MAPPED, PARALLEL_FOR, THREADS = range(0, 48, 8)
_WORDS_END = 64


def padded(size: int) -> int:
    """The size rounded up to the alignment."""
    return -(-size // ALIGNMENT) * ALIGNMENT


class Layout:
    """The blocks of a context, by their offsets in bytes."""

    def __init__(self) -> None:
        self.size = _WORDS_END

    def block(self, size: int) -> int:
        """A new block."""
        offset, self.size = self.size, self.size + padded(max(size, 1))
        return offset


class Data:
    """Constant bytes, each once: arrays by their offsets."""

    def __init__(self) -> None:
        self.size = 0
        self._parts: list[bytes] = []
        self._offsets: dict[bytes, int] = {}

    def add(self, array: Any) -> int:
        """The offset of the bytes of an array."""
        content = np.ascontiguousarray(array).tobytes()
        offset = self._offsets.get(content)
        if offset is None:
            offset = self._offsets[content] = self.size
            self._parts.append(content.ljust(padded(max(len(content), 1)), b"\0"))
            self.size += len(self._parts[-1])
        return offset

    @property
    def bytes(self) -> bytes:
        """All of it."""
        return b"".join(self._parts)


def text_of(content: bytes) -> str:
    """Bytes as LLVM writes them."""
    return 'c"' + "".join([_CHARACTERS[b] for b in content]) + '"'


_CHARACTERS = [
    chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else f"\\{b:02X}" for b in range(256)
]
