"""Calls of elementwise functions on large arrays of complex numbers.

NumPy calls the C library for each element, which takes many times what machine code of the rule
`scalar` does for a vector of them. Which of the two computes depends on shapes and dtypes alone, for
their last digits differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.hooks import HOOKS

# Below so many elements NumPy takes no longer than the call of a kernel of large arrays costs.
MIN_ELEMENTS = 1 << 9


def is_complex(dtype: Any) -> bool:
    """True for NumPy's dtypes of complex numbers."""
    return dtype.kind == "c"


def by_compiler(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of one or two arrays of a complex dtype, with machine code where the result is large."""

    def run(*arrays: Any) -> Any:
        first, last = arrays[0], arrays[-1]
        alike = first is last or first.shape == last.shape
        shape = first.shape if alike else np.broadcast_shapes(first.shape, last.shape)
        if math.prod(shape) >= MIN_ELEMENTS:
            dtypes = tuple([a.dtype for a in arrays])
            found = HOOKS.select_kernel("elementwise", op, dtypes, ())
            if found is not None:
                return found(*arrays)
        return kernel(*arrays)

    return run


__all__ = ["MIN_ELEMENTS", "by_compiler", "is_complex"]
