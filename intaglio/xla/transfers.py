"""Arrays between the host and the devices of XLA: each copy is one call here, and is counted.

Programs take and return arrays of their device. So what crosses is what the program asks for: a tensor
that is made from Python's numbers, a result that is read, an op that only the host computes.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import jax
import numpy as np


class Count:
    """Copies since a count began: how many, and their bytes."""

    def __init__(self) -> None:
        self.to_device = self.to_host = 0
        self.bytes_to_device = self.bytes_to_host = 0

    def __repr__(self) -> str:
        return (
            f"{self.to_device} copies to devices ({self.bytes_to_device} bytes), "
            f"{self.to_host} to the host ({self.bytes_to_host} bytes)"
        )


_COUNTS: list[Count] = []


@contextmanager
def counting() -> Generator[Count]:
    """Counts the copies of all threads in the block."""
    count = Count()
    _COUNTS.append(count)
    try:
        yield count
    finally:
        _COUNTS.remove(count)


def put(value: Any, device: Any) -> Any:
    """The array on a device of XLA: the same object if it is there already."""
    if isinstance(value, jax.Array) and value.sharding.device_set == {device}:
        return value
    for count in _COUNTS:
        count.to_device += 1
        count.bytes_to_device += value.nbytes
    before = jax.enable_x64.swap_local(True)
    try:
        return jax.device_put(value, device)
    finally:
        jax.enable_x64.set_local(before)


def fetched(value: Any) -> np.ndarray:
    """The array of NumPy with the elements of one of a device; it may be read-only."""
    if not isinstance(value, jax.Array):
        return np.asarray(value)
    for count in _COUNTS:
        count.to_host += 1
        count.bytes_to_host += value.nbytes
    return jax.device_get(value)


__all__ = ["Count", "counting", "fetched", "put"]
