"""Shapes that kernels take as inputs: vectors of sizes, which are checked before memory is allocated."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_allocated
from intaglio.base.shapes import brackets


def dims_of(
    shape: Any,
    item_bytes: int,
    what: str = "A random tensor",
    *,
    each: tuple[int, ...] = (),
    expected: str = "shape must be a vector of {int32,int64}",
) -> tuple[int, ...]:
    """A shape input's value as a tuple. Raises InvalidArgumentError for negative sizes and other ranks than 1.

    `item_bytes` is the size of a number, of which there are `each` for every element of `what`: raises
    ResourceExhaustedError for more of them than may be allocated.
    """
    if np.ndim(shape) != 1:
        raise invalid_argument(f"{expected}, got shape {brackets(np.shape(shape))}")
    dims = tuple(shape.tolist())
    for dim in dims:
        if dim < 0:
            raise invalid_argument(f"Dimension {dim} must be >= 0")
    check_allocated((*dims, *each), item_bytes, what)
    return dims
