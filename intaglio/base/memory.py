"""Memory aligned to a cache line, so that no vector in it straddles two lines."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from typing import Any

import numpy as np

CACHE_LINE_BYTES = 64
# Bytes below which a copy takes less time than aligning it.
MIN_ALIGNED_BYTES = 1 << 17


def aligned(size: int) -> Any:
    """An uninitialized array of bytes, aligned to a cache line."""
    owner: Any = np.empty(size + CACHE_LINE_BYTES, np.uint8)
    # Takes a third of the time of `owner.ctypes.data`.
    first = -ctypes.addressof(ctypes.c_char.from_buffer(owner)) % CACHE_LINE_BYTES
    return owner[first : first + size]


def empty(shape: tuple[int, ...], dtype: Any) -> Any:
    """An uninitialized array in C order; a large one is aligned to a cache line."""
    size = math.prod(shape) * dtype.itemsize
    if size < MIN_ALIGNED_BYTES or dtype.hasobject:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, aligned(size))


def copied(array: Any, dtype: Any = None) -> Any:
    """A copy of an array in C order, of another dtype if one is given; a large one begins with
    a line of the cache."""
    size = array.nbytes if dtype is None else array.size * dtype.itemsize
    dtype = dtype or array.dtype
    if size < MIN_ALIGNED_BYTES or dtype.hasobject:
        return np.array(array, dtype, order="C")
    copy = empty(array.shape, dtype)
    np.copyto(copy, array, casting="unsafe")
    return copy


def arrays_at(shape: tuple[int, ...], dtype: Any) -> Callable[[int], Any]:
    """The function of an address: the array of this shape and dtype at that address, in C order.

    The caller keeps the memory alive as long as the array is used.
    """
    memory = ctypes.c_char * max(math.prod(shape) * dtype.itemsize, 1)
    return lambda address: np.ndarray(shape, dtype, memory.from_address(address))


def pointer_at(address: int) -> int:
    """The pointer stored at an address; 0 for a null pointer."""
    return ctypes.c_void_p.from_address(address).value or 0
