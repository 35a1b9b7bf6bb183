"""Machine code for elementwise ops on large arrays that NumPy computes in several passes.

Each pass reads and writes the whole array, or a block of it; machine code of the rule `scalar` reads every
operand once. Only expressions of operations that are rounded alike everywhere are compiled, in the
background: NumPy computes until the code is there, and which of the two did is never visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.hooks import HOOKS

# Below so many elements NumPy is fast enough, and after so many a compiler is worth loading.
MIN_ELEMENTS, MIN_TOTAL_ELEMENTS = 1 << 13, 1 << 21

# False compiles at once, as tests want it.
IN_BACKGROUND = True


class _Progress:
    """How much such calls have computed so far."""

    elements = 0


_progress = _Progress()


def compiled_loop(op: Any, arguments: Sequence[Any]) -> Callable[[], Any] | None:
    """The result of an elementwise op's kernel for its inputs and the attributes behind them, as a
    function to call; None as long as NumPy is to compute, or if there is no such code."""
    if _progress.elements < MIN_TOTAL_ELEMENTS:
        _progress.elements += arguments[0].size
        return None
    count = len(op.input_names)
    arrays = arguments[:count]
    dtypes = tuple([a.dtype for a in arrays])
    if not all(map(_has_code, dtypes)) or not _broadcast(arrays):
        return None
    # Kernels are found by their attributes: -0.0 equals another number, and NaN not itself.
    if any([isinstance(a, float) and str(a) in ("-0.0", "nan") for a in arguments[count:]]):
        return None
    attrs = tuple(zip(op.rules["scalar"].takes[1 + count :], arguments[count:], strict=True))
    select = HOOKS.kernel_when_ready if IN_BACKGROUND else HOOKS.select_kernel
    run = select("exact elementwise", op, dtypes, attrs)
    return None if run is None else lambda: run(*arrays)


def _broadcast(arrays: Sequence[Any]) -> bool:
    """False for shapes that do not fit, of which the op's kernel raises the error."""
    shape = arrays[0].shape
    if all([not a.ndim or a.shape == shape for a in arrays]):
        return True
    try:
        np.broadcast_shapes(*[a.shape for a in arrays])
    except ValueError:
        return False
    return True


def _has_code(dtype: Any) -> bool:
    """True for bools, integers, and floats of 32 and 64 bits."""
    return dtype.kind in "biu" or (dtype.kind == "f" and dtype.itemsize in (4, 8))
