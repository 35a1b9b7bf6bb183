"""Python numbers as constants of a tensor's dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef.tensor import Tensor


def constant_of(value: Any, like: Tensor) -> np.ndarray:
    """A number as a scalar of the tensor's dtype."""
    return np.asarray(value).astype(like.dtype.numpy)
