"""Memory for large results, used again once nobody refers to it.

New memory of some megabytes costs more than most kernels that fill it: the system hands it
out page by page, each cleared when it is first touched. A block is in use as long as an array
refers to it, which the count of references of its owner says. What is kept is bounded.
"""

from __future__ import annotations

import functools
import math
import os
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio import cpython
from intaglio.base.memory import aligned
from intaglio.cpython.references import other_references

# Arrays of so many bytes are worth it, and not more; and what all blocks may have together.
LEAST, LARGEST, MOST = 1 << 17, 1 << 26, 1 << 28


class Buffers:
    """Blocks of memory by their size."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._held = 0
        self._lock = threading.Lock()
        self._blocks: dict[int, list[Any]] = {}

    def after_fork(self) -> None:
        """In a new process: a thread that held the lock is not there to give it back."""
        self._lock = threading.Lock()

    def empty(self, shape: tuple[int, ...], dtype: Any, size: int) -> Any:
        """An array of this shape and dtype, of `size` bytes, filled with anything."""
        rounded = _rounded(size)
        with self._lock:
            block = self._found(rounded)
            if block is None:
                block = self._made(rounded)
            # Made while no other thread may take the block: arrays refer to its owner.
            return block[:size].view(dtype).reshape(shape)

    def _found(self, size: int) -> Any | None:
        blocks = self._blocks.get(size, [])
        # What was taken last is most likely to be in cache still.
        for i in range(len(blocks) - 1, -1, -1):
            if _is_free(blocks[i]):
                blocks.append(blocks.pop(i))
                return blocks[-1]
        return None

    def _made(self, size: int) -> Any:
        block = aligned(size)
        if self._held + size > self._most:
            self._forget()
        if self._held + size <= self._most:
            self._held += size
            self._blocks.setdefault(size, []).append(block)
        return block

    def _forget(self) -> None:
        """Gives back what is free."""
        for size, blocks in self._blocks.items():
            used = [b for b in blocks if not _is_free(b)]
            self._held -= size * (len(blocks) - len(used))
            self._blocks[size] = used


def _is_free(block: Any) -> bool:
    """True if no array refers to the owner of a block, which the block itself does."""
    owner = block.base
    return other_references(owner) == 1


def _rounded(size: int) -> int:
    """Sizes that differ by less than an eighth share blocks."""
    step = 1 << max(size.bit_length() - 4, 12)
    return -(-size // step) * step


BUFFERS = Buffers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=BUFFERS.after_fork)


def maker(shape: tuple[int, ...], dtype: Any) -> Callable[[], Any]:
    """A function that makes arrays of this shape and dtype, filled with anything."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    if not LEAST <= size <= LARGEST or not cpython.AVAILABLE:
        return functools.partial(np.empty, shape, dtype)
    return functools.partial(BUFFERS.empty, shape, dtype, size)
