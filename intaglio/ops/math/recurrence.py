"""Linear recurrences of tensors, which gradients of running products and sums come to.

They are put together from multiplications and additions alone, so that derivatives of every
order are right, also where elements are 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.ops.families import constant

# Doublings that are enough for an axis of unknown length.
MAX_DOUBLINGS = 31


def ending(x: Any, axis: Any, reverse: bool) -> Any:
    """True for the last element along the axis, or for the first with `reverse`."""
    nothing = raw.ZerosLike(x)
    marks = raw.Cumprod(nothing, axis, exclusive=True, reverse=not reverse)
    return raw.NotEqual(marks, nothing)


def following(x: Any, axis: Any, reverse: bool, end: Any) -> Any:
    """The next element along the axis, 0 at the end; the previous one with `reverse`."""
    return raw.SelectV2(end, constant(0, x), raw.Roll(x, 1 if reverse else -1, axis))


def doublings(x: Spec, axis: int | None) -> int:
    """How many steps `recurrence` needs along an axis, None for an unknown one."""
    length = None if axis is None or x.shape is None else x.shape[axis]
    return MAX_DOUBLINGS if length is None else max(length - 1, 0).bit_length()


def recurrence(factor: Any, term: Any, axis: Any, reverse: bool, steps: int) -> Any:
    """s[i] = term[i] + factor[i] s[i + 1]; with `reverse` s[i - 1].

    The factor must be 0 at the end, because `Roll` wraps around.
    """
    for step in range(steps):
        by = np.asarray(1 << step if reverse else -(1 << step), np.int32)
        term = raw.AddV2(term, raw.Mul(factor, raw.Roll(term, by, axis)))
        if step + 1 < steps:
            factor = raw.Mul(factor, raw.Roll(factor, by, axis))
    return term
