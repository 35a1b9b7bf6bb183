"""Which values native code supports, and which of them are held in registers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from intaglio.base.dtypes import DType
from intaglio.native.llvm.vectors import KINDS

# Values with at most this many elements live in registers.
MAX_REGISTER_ELEMENTS = 16


def is_small(shape: Sequence[int]) -> bool:
    """True for shapes whose values live in registers."""
    return 0 < math.prod(shape) <= MAX_REGISTER_ELEMENTS


def numeric(dtype: DType) -> bool:
    """True for dtypes that native code has elements of."""
    return dtype.is_numpy_compatible and dtype.numpy in KINDS
