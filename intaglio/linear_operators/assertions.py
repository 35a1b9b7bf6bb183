"""Assertions of linear operators whose structure says more than the dense matrix.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.composite_ops.math.arithmetic import abs as absolute
from intaglio.composite_ops.math.casting import imag, real
from intaglio.opdef import convert, raw
from intaglio.trace import ordering
from intaglio.trace.assertions import check


def check_all(good: Any, text: str) -> Any:
    """Fails with the text when it runs unless all of `good` is true."""
    flat = raw.Reshape(good, np.array([-1], np.int32))
    return check(raw.All(flat, np.int32(0)), [text])


def not_zero(values: Any, text: str) -> Any:
    """Fails with the text unless all values, or moduli, are positive."""
    sizes = absolute(convert.to_tensor(values))
    return check_all(raw.Greater(sizes, np.zeros((), sizes.dtype.numpy)), text)


def positive(values: Any, text: str) -> Any:
    """Fails with the text unless all values, or real parts, are positive."""
    parts = real(convert.to_tensor(values))
    return check_all(raw.Greater(parts, np.zeros((), parts.dtype.numpy)), text)


def not_complex(values: Any, text: str) -> Any:
    """Fails with the text unless all imaginary parts are zero; None for real numbers."""
    values = convert.to_tensor(values)
    if not values.dtype.is_complex:
        return None
    parts = imag(values)
    return check_all(raw.Equal(parts, np.zeros((), parts.dtype.numpy)), text)


def of_each(checks: Sequence[Any]) -> Any:
    """The checks of several operators as one."""
    present = [c for c in checks if c is not None]
    return ordering.group(present, None, {}) if present else None
