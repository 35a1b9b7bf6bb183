"""How near two answers are: what counts as the same number, and which is nearer to the exact one."""

from __future__ import annotations

import dataclasses
from typing import Any

import ml_dtypes
import numpy as np

from tests.ops import calls
from tests.ops.samples import FLOATING, SUM_TOLERANCE, Sample
from tests.parity import variants

# Families whose results are sums, which may be added up in any order.
SUMS = frozenset({"reduction", "scan", "segments", "sums"})
# The widest dtype, in which results are exact for the others.
EXACT = "float64"


def differing(call: Sample, got: list[Any], wanted: list[Any]) -> str | None:
    """How outputs differ from TensorFlow's, or None if they are the same numbers.

    Numbers smaller than the smallest normal one count as 0, which TensorFlow makes of them.
    Of complex numbers that are not finite, C says only that they are so. Where a result in
    few bits is off, one that is as near to the exact result as it should be counts too.
    """
    for mine, theirs in zip(got, wanted, strict=True):
        mine, theirs = _comparable(mine), _comparable(theirs)
        if mine.dtype.kind == "c":
            neither = ~np.isfinite(mine) & ~np.isfinite(theirs)
            mine[neither] = theirs[neither] = 0
        try:
            calls.assert_close(mine, theirs, _tolerant(call, mine))
        except AssertionError as e:
            if not _nearer(call, mine):
                return str(e).splitlines()[0]
    return None


def _comparable(array: Any) -> Any:
    if array.dtype.name not in FLOATING:
        return np.array(array)
    tiny = ml_dtypes.finfo(array.dtype).smallest_normal
    return np.where(np.abs(array) <= tiny, np.zeros((), array.dtype), array)


def _tolerant(call: Sample, array: Any) -> Sample:
    """The call with its tolerance made to fit the dtype, and sums of any order."""
    least = SUM_TOLERANCE.get(array.dtype.name, 0.0)
    if call.tol is None:
        return dataclasses.replace(call, tol=least) if call.family in SUMS else call
    return dataclasses.replace(call, tol=max(call.tol, least))


def exact(call: Sample) -> Any:
    """The result of an elementwise op in the widest dtype, None if there is none."""
    if call.family not in variants.ELEMENTWISE:
        return None
    wide = {
        k: v.astype(EXACT) if isinstance(v, np.ndarray) and v.dtype.name in FLOATING else v
        for k, v in call.args.items()
    }
    try:
        return calls.eager(dataclasses.replace(call, args=wide))[0]
    except Exception:  # an op of few dtypes
        return None


def _nearer(call: Sample, mine: Any) -> bool:
    """True if our result in few bits is right, and TensorFlow's is not."""
    if mine.dtype.name not in FLOATING or mine.dtype.name == EXACT:
        return False
    wide = exact(call)
    if wide is None:
        return False
    with np.errstate(all="ignore"):
        right = _comparable(wide.astype(mine.dtype))
    try:
        calls.assert_close(mine, right, dataclasses.replace(call, tol=None, ulp=2))
    except AssertionError:
        return False
    return True
