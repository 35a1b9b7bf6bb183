"""`tensorflow.python.ops.numpy_ops.np_dtypes`: which types NumPy's functions give floats."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.numpy_api import promotion


def is_allow_float64() -> bool:
    """True: results may be float64."""
    return True


def set_allow_float64(b: Any) -> None:
    """Allows float64. Raises NotImplementedError where it is forbidden."""
    if not b:
        raise NotImplementedError(
            "set_allow_float64(False) is not supported: set_prefer_float32(True) makes Python's "
            "floats float32."
        )


def is_prefer_float32() -> bool:
    """Whether Python's floats count as float32."""
    return promotion.Options.prefer_float32


def set_prefer_float32(b: Any) -> None:
    """Makes Python's floats count as float32, or as float64 again."""
    promotion.Options.prefer_float32 = bool(b)


def default_float_type() -> type[np.floating[Any]]:
    """The type of Python's floats."""
    return np.float32 if is_prefer_float32() else np.float64


def canonicalize_dtype(dtype: Any) -> Any:
    """The dtype: all are allowed."""
    return dtype
