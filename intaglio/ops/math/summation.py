"""Sums in blocks: rounding errors grow with the length of a block, not with that of the array.

NumPy adds neighbouring elements in pairs, but the rows of an array one after the other: over an
axis that is not the last one, each column is a single chain. BLAS adds dot products in one chain
for each lane of a vector. Both lose a digit of single precision for every factor of ten in length.
"""

from __future__ import annotations

import itertools
from math import prod
from typing import Any

import numpy as np

from intaglio.opdef import short_floats
from intaglio.ops.math.exact_reduction import (
    SHORT,
    exact_reduce,
    in_order,
    is_thin,
    slices_combined,
)

# Terms that are added one after the other.
CHAIN = 128
# Elements of the rows that are added at a time; narrower ones are put side by side.
ROW_ELEMENTS = 1024
# Terms of the dot products that are added up in a second step.
DOT_TERMS = 4096
# Products with so many terms, and so few results, are summed in blocks of terms.
LONG_TERMS = 1 << 18
FEW_RESULTS = 16
PRODUCT_TERMS = 1 << 14


def add_reduce(x: Any, axes: tuple[int, ...], keep_dims: bool = False) -> Any:
    """The sums of an array over axes (from 0 up, each once), in its own dtype.

    float16 and bfloat16 are added up in float32 and rounded once.
    """
    dtype = x.dtype
    if dtype.kind in "iub":
        return exact_reduce(np.add, x, axes, keep_dims, dtype)
    if dtype.itemsize == 2:
        total = add_reduce(short_floats.widened(x), axes, keep_dims)
        return total.astype(dtype)
    if all([x.shape[a] == 1 for a in axes]):  # sums begin with 0, of which nothing is left here
        return x.reshape(_kept(x.shape, axes, keep_dims)).copy()[()]
    groups = [] if x.size <= CHAIN else _groups(x.shape, axes)
    thin = bool(groups) and is_thin(x.size, groups[-1][1])
    if not thin and not any(gone and length > CHAIN for gone, length in groups[:-1]):
        return np.add.reduce(x, axis=axes, dtype=dtype, keepdims=keep_dims)
    total = np.ascontiguousarray(x)
    lengths = [length for _, length in groups]
    for at in reversed(range(len(groups))):
        if groups[at][0]:
            total = _reduced(total.reshape(prod(lengths[:at]), lengths[at], -1))
            lengths[at] = 1
    return total.reshape(_kept(x.shape, axes, keep_dims))[()]


def _kept(shape: tuple[int, ...], axes: tuple[int, ...], keep_dims: bool) -> list[int]:
    """The shape of the sums."""
    return [1 if i in axes else d for i, d in enumerate(shape) if keep_dims or i not in axes]


def _groups(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[tuple[bool, int]]:
    """Neighbouring axes that are reduced, or not, as one: (whether reduced, length)."""
    dims = [(i in axes, d) for i, d in enumerate(shape) if d != 1]
    return [
        (gone, prod([length for _, length in group]))
        for gone, group in itertools.groupby(dims, lambda d: d[0])
    ]


def _reduced(x: Any) -> Any:
    """The sums over the middle axis of a contiguous array of three, whose shape is (a, 1, c)."""
    outer, length, inner = x.shape
    if inner == 1 and 1 < length <= SHORT:  # sums begin with 0, not with -0.0
        return (slices_combined(np.add, x.reshape(outer, length)) + 0)[:, None, None]
    if inner == 1:
        return np.add.reduce(x, axis=1, keepdims=True)
    if length <= CHAIN:
        return in_order(np.add, x)[:, None]
    beside = max(1, min(ROW_ELEMENTS // inner, length // CHAIN))
    step = beside * CHAIN
    whole = length // step * step
    head = x[:, :whole].reshape(outer, whole // step, CHAIN, beside * inner)
    total = _reduced(np.add.reduce(head, axis=2).reshape(outer, -1, inner))
    if whole < length:
        total = total + _reduced(np.ascontiguousarray(x[:, whole:]))
    return total


def sum_of_squares(x: Any) -> Any:
    """The sum of the squares of all elements, as a scalar of the array's dtype."""
    flat = x.reshape(-1)
    whole = flat.size // DOT_TERMS * DOT_TERMS
    if not whole:
        return flat.dot(flat)
    rows = flat[:whole].reshape(-1, 1, DOT_TERMS)
    rest = flat[whole:]
    return np.add.reduce(np.matmul(rows, rows.swapaxes(1, 2)).reshape(-1)) + rest.dot(rest)


def is_long_product(a: Any, b: Any) -> bool:
    """True for a product of matrices, or of stacks of them, with few results of very many terms."""
    depth = a.shape[-1]
    if depth < LONG_TERMS or b.shape[-2] != depth or a.dtype.kind not in "fc":
        return False
    return a.shape[-2] * b.shape[-1] <= FEW_RESULTS


def long_product(a: Any, b: Any) -> Any:
    """The product of matrices, or of stacks of them, added up in blocks of terms."""
    starts = range(0, a.shape[-1], PRODUCT_TERMS)
    steps = [slice(i, i + PRODUCT_TERMS) for i in starts]
    return add_reduce(np.stack([np.matmul(a[..., s], b[..., s, :]) for s in steps]), (0,))


def column_sums(rows: Any) -> Any:
    """The sums of the columns of a matrix, as products with ones: faster than sums over rows."""
    count, columns = rows.shape
    whole = count // CHAIN * CHAIN
    ones = np.ones(CHAIN, rows.dtype)
    total = ones[: count - whole].dot(rows[whole:])
    if whole:
        blocks = np.matmul(ones, rows[:whole].reshape(-1, CHAIN, columns))
        total = total + add_reduce(blocks, (0,))
    return total
