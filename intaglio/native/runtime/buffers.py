"""Buffers of large results, which are reused once nothing refers to them.

New memory of some megabytes costs more than most kernels that fill it: the system maps it page by
page and clears each on first touch. A buffer is in use as long as an array refers to it, which the
reference count of its owner shows. The total size of free buffers is bounded.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import cpython
from intaglio.base.locks import lasting_lock
from intaglio.base.memory import aligned
from intaglio.cpython.references import other_references

# Bytes from which on arrays are allocated from buffers, and the bytes of all buffers that are kept.
MIN_BYTES, MAX_BYTES, MAX_KEPT_BYTES = 1 << 17, 1 << 26, 1 << 28


class Buffers:
    """Buffers by their size in bytes."""

    def __init__(self, max_kept: int = MAX_KEPT_BYTES) -> None:
        self._max_kept = max_kept
        self._kept = 0
        self._lock = lasting_lock()
        self._buffers: dict[int, list[Any]] = {}

    def empty(self, shape: tuple[int, ...], dtype: Any, size: int) -> Any:
        """An array of this shape and dtype, of `size` bytes, whose elements are undefined."""
        rounded = _rounded(size)
        with self._lock:
            buffer = self._free(rounded)
            if buffer is None:
                buffer = self._allocate(rounded)
            # The new array refers to the owner before another thread can take the buffer.
            return buffer[:size].view(dtype).reshape(shape)

    def _free(self, size: int) -> Any | None:
        buffers = self._buffers.get(size, [])
        # The most recently used buffer is the most likely to be in the processor's cache.
        for i in range(len(buffers) - 1, -1, -1):
            if _is_free(buffers[i]):
                buffers.append(buffers.pop(i))
                return buffers[-1]
        return None

    def _allocate(self, size: int) -> Any:
        buffer = aligned(size)
        if self._kept + size > self._max_kept:
            self._drop_free()
        if self._kept + size <= self._max_kept:
            self._kept += size
            self._buffers.setdefault(size, []).append(buffer)
        return buffer

    def _drop_free(self) -> None:
        """Returns the memory of all buffers that are not in use."""
        for size, buffers in self._buffers.items():
            used = [b for b in buffers if not _is_free(b)]
            self._kept -= size * (len(buffers) - len(used))
            self._buffers[size] = used


def _is_free(buffer: Any) -> bool:
    """True if nothing refers to the owner of a buffer's memory but the buffer."""
    owner = buffer.base
    return other_references(owner) == 1


def _rounded(size: int) -> int:
    """The size rounded up by less than an eighth, so that similar sizes share buffers."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


BUFFERS = Buffers()


def allocator(shape: tuple[int, ...], dtype: Any) -> Callable[[], Any]:
    """A function that allocates arrays of this shape and dtype, whose elements are undefined."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not MIN_BYTES <= size <= MAX_BYTES or not cpython.AVAILABLE:
        return functools.partial(np.empty, shape, dtype)
    return functools.partial(BUFFERS.empty, shape, dtype, size)
