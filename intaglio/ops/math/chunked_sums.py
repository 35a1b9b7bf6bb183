"""Sums, means and products of large arrays in NumPy, with the bits of the compiled kernels.

The order of the operations is that of `native/kernels/reductions.py`: chunks of rows one row after the
other, chunks of a row by the lanes of four vectors. So a program need not wait for a kernel, and may take it
when it is there.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import Any

import numpy as np

from intaglio.cpython.numpy_libraries import vector_bytes

# As in `native/kernels/reductions.py`, which a test compares.
CHUNK_ELEMENTS = 1 << 14
MIN_ROWS_PER_CHUNK = 64
COLUMNS_PER_CHUNK = 1024
VECTORS_PER_STEP = 4


def chunked(how: str, x: Any, axes: tuple[int, ...], keep_dims: bool) -> Any:
    """The "sum", "mean" or "product" over axes of floats, which are not empty.

    None if the kernel's order is not known, or no axis has several elements.
    """
    width = vector_bytes()
    if width is None or not x.size or x.dtype.char not in "fd":
        return None
    groups = [
        (gone, math.prod([length for _, length in group]))
        for gone, group in groupby(
            [(i in axes, d) for i, d in enumerate(x.shape) if d != 1], lambda d: d[0]
        )
    ]
    if not any(gone for gone, _ in groups):
        return None
    lengths = [length for _, length in groups]
    ufunc = np.multiply if how == "product" else np.add
    total = np.ascontiguousarray(x)
    with np.errstate(all="ignore"):
        for at in reversed(range(len(groups))):
            if groups[at][0]:
                rows = total.reshape(math.prod(lengths[:at]), lengths[at], -1)
                total = _reduced(ufunc, rows, width // x.itemsize)
                lengths[at] = 1
        if how == "mean":
            count = math.prod([length for gone, length in groups if gone])
            total = total / x.dtype.type(count)
    kept = [1 if i in axes else d for i, d in enumerate(x.shape) if keep_dims or i not in axes]
    return total.reshape(kept)[()]


def _reduced(ufunc: np.ufunc, rows: np.ndarray, lanes: int) -> np.ndarray:
    """The results [outer, inner] of rows [outer, length, inner]."""
    length, inner = rows.shape[1:]
    chunk = max(MIN_ROWS_PER_CHUNK, CHUNK_ELEMENTS // min(inner, COLUMNS_PER_CHUNK))
    while True:
        whole = length // chunk
        parts = [
            part.reshape(len(rows) * count, size, inner)
            for part, count, size in (
                (rows[:, : whole * chunk], whole, chunk),
                (rows[:, whole * chunk :], 1, length - whole * chunk),
            )
            if count and size
        ]
        found = [
            _row(ufunc, p[..., 0], lanes)[:, None] if inner == 1 else ufunc.reduce(p, axis=1)
            for p in parts
        ]
        rows = np.concatenate([f.reshape(len(rows), -1, inner) for f in found], 1)
        length = rows.shape[1]
        if length == 1:
            return rows[:, 0]


def _row(ufunc: np.ufunc, rows: np.ndarray, lanes: int) -> np.ndarray:
    """The result for each row."""
    count, length = rows.shape
    group = lanes * VECTORS_PER_STEP
    middle = length // group * group
    # The lanes are the first axis; lanes without elements are left out.
    total = np.empty((0, count), rows.dtype)
    if middle:
        # One after the other, for the axis is not the last one.
        steps = ufunc.reduce(rows[:, :middle].reshape(count, -1, group), axis=1)
        halves = steps.reshape(count, 2, -1)
        halves = ufunc(halves[:, 0], halves[:, 1]).reshape(count, 2, -1)
        total = np.ascontiguousarray(ufunc(halves[:, 0], halves[:, 1]).T)
    for start in range(middle, length, lanes):
        rest = rows[:, start : start + lanes].T
        if len(total):
            ufunc(total[: len(rest)], rest, out=total[: len(rest)])
        else:
            total = np.array(rest, order="C")
    half = lanes // 2
    while half:
        upper = total[half:]
        total = total[:half]
        ufunc(total[: len(upper)], upper, out=total[: len(upper)])
        half //= 2
    return total[0]
