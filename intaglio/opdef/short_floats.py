"""Eager calls of elementwise ops on large arrays of 16-bit floats.

NumPy computes with these one by one, many times slower than with float32. Machine code with the same
bits replaces the kernel of an op where it is worth it (`machine_code`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from intaglio.base.dtypes import bfloat16, float32, from_numpy
from intaglio.opdef import raw
from intaglio.opdef.machine_code import MIN_SHORT_ELEMENTS, WORK_PER_SHORT, exact_loop


def is_short(dtype: Any) -> bool:
    """True for NumPy's dtypes of 16-bit floats."""
    return dtype.itemsize == 2 and from_numpy(dtype).is_floating


def compiled(op: Any, elements: int, dtypes: tuple[Any, ...], **attrs: Any) -> Any:
    """The machine code of an elementwise op for arrays of these dtypes; None as long as NumPy is to
    compute, or if there is none."""
    return exact_loop(op, dtypes, WORK_PER_SHORT * elements, tuple(attrs.items()))


def widened(x: Any) -> Any:
    """An array of 16-bit floats as float32, without NumPy's steps where it is large; others as they are."""
    if x.dtype.itemsize != 2 or not is_short(x.dtype):
        return x
    if x.dtype == bfloat16.numpy:  # the upper half of a float32
        return np.left_shift(x.view(np.uint16), 16, dtype=np.uint32).view(np.float32)
    return _cast(x, float32)


def rounded(x: Any, dtype: Any) -> Any:
    """An array of float32 in a dtype of floats, rounded once."""
    if dtype.itemsize != 2 or x.dtype != np.float32:
        return x.astype(dtype, copy=False)
    return _cast(x, from_numpy(dtype))


def _cast(x: Any, to: Any) -> Any:
    run = compiled(raw.Cast, x.size, (x.dtype,), DstT=to, Truncate=False)
    return x.astype(to.numpy) if run is None else run(x)


def by_compiler(op: Any, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel of arrays of one dtype, which is replaced where they are large."""

    def run(*arrays: Any) -> Any:
        elements = max([a.size for a in arrays])
        if elements >= MIN_SHORT_ELEMENTS:
            found = compiled(op, elements, tuple([a.dtype for a in arrays]))
            if found is not None:
                return found(*arrays)
        return kernel(*arrays)

    return run


def dispatched(short: Mapping[Any, Callable[..., Any]], kernel: Any) -> Any:
    """A kernel with those of some dtypes instead of it, chosen by the dtype of the first array."""
    if not short:
        return kernel

    def run(*arrays: Any) -> Any:
        return short.get(arrays[0].dtype, kernel)(*arrays)

    return run
