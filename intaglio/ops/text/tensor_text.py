"""Tensors as the runtime writes them: in `tf.print`, `tf.strings.format` and failed asserts.

Follows https://www.tensorflow.org/api_docs/python/tf/print. Numbers are written with the
fewest of 6 or 9 digits (15 or 17 for float64) that give the same number back.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.dtypes import float64, from_numpy, string

_ESCAPES = {
    **{i: f"\\{i:03o}".encode() for i in (*range(32), 127)},
    9: b"\\t",
    10: b"\\n",
    13: b"\\r",
    34: b'\\"',
    39: b"\\'",
    92: b"\\\\",
}


def escape(text: bytes) -> bytes:
    """C escapes for control characters, quotes and backslashes; the rest is UTF-8."""
    return b"".join([_ESCAPES.get(c) or bytes([c]) for c in text])


def _float(value: float, short: str, long: str, narrow: Any) -> bytes:
    if not math.isfinite(value):
        return (b"-" if value < 0 else b"") + (b"nan" if math.isnan(value) else b"inf")
    text = short % value
    return (text if narrow(text) == value else long % value).encode()


def _single(value: Any) -> bytes:
    return _float(float(value), "%.6g", "%.9g", lambda text: float(np.float32(text)))


def _double(value: Any) -> bytes:
    return _float(float(value), "%.15g", "%.17g", float)


def _element(array: Any, quote: bytes) -> Callable[[Any], bytes]:
    """How an element of the array is written; strings in quotes, if requested."""
    kind = from_numpy(array.dtype)
    if kind is string:
        return lambda value: quote + escape(value) + quote
    if kind.is_complex:
        return lambda value: b"?"
    if kind.is_floating:
        return _double if kind is float64 else _single
    return lambda value: str(int(value)).encode()


def printed(array: Any, ends: int) -> bytes:
    """The form of `tf.print`: `ends` elements of each end of a dimension, -1 for all."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return repr(array).encode()
    array = np.asarray(array)
    write = _element(array, b'"')
    if array.ndim == 0:
        return write(array[()])
    if array.dtype.kind == "c":
        return b"[" + _marks(array, ends) + b"]"
    count = array.size if ends < 0 else min(ends, array.size)
    return _dimension(array, 0, count, write)


def _marks(array: Any, limit: int) -> bytes:
    """The runtime cannot format complex numbers, and prints only how many there are."""
    count = array.size if limit < 0 else min(limit, array.size)
    return b" ".join([b"?"] * count) + (b"..." if count < array.size else b"")


def _dimension(array: Any, depth: int, ends: int, write: Callable[[Any], bytes]) -> bytes:
    length = len(array)
    below = array.ndim - 1
    gap = b" " if not below else b"\n" * below + b" " * (depth + 1)
    cut = length > 2 * ends
    shown = [*range(ends), *range(length - ends, length)] if cut else range(length)
    parts = [
        _dimension(array[i], depth + 1, ends, write) if below else write(array[i]) for i in shown
    ]
    if not cut:
        return b"[" + gap.join(parts) + b"]"
    middle = gap.join([*parts[:ends], b"...", *parts[ends:]])
    return b"[" + (middle if ends else gap + middle) + b"]"


def summarized(array: Any, limit: int) -> bytes:
    """The form of failed asserts: the first `limit` elements, -1 for all."""
    if not isinstance(array, (np.ndarray, np.generic)):
        return repr(array).encode()
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return _marks(array, limit)
    write = _element(array, b"")
    limit = array.size if limit < 0 else min(limit, array.size)
    if array.ndim == 0:
        return write(array[()]) if limit else b""
    left = [limit]
    text = _row(array, 0, left, write)
    return text + b"..." if array.size > limit else text


def _row(array: Any, depth: int, left: list[int], write: Callable[[Any], bytes]) -> bytes:
    """The elements while any are left to be written; `left` counts them down."""
    if array.ndim == 1:
        take = min(left[0], len(array))
        text = b" ".join([write(v) for v in array[:take]])
        left[0] -= take
        return text + b"..." if take < len(array) and depth else text
    parts: list[bytes] = []
    for row in array:
        if left[0] <= 0:
            break
        parts.append(b"[" + _row(row, depth + 1, left, write) + b"]")
    return b"".join(parts)
