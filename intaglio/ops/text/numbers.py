"""Numbers read from texts, by the rules of C's `strtod` and `strtol`; each is rounded once.

Integers are decimal, floats also hexadecimal, infinite and NaN; white space around them is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, float32, int64
from intaglio.ops.text import native_strings
from intaglio.ops.text.native_strings import Spans

_SPACE = b" \t\n\v\f\r"
# Behind its zeros, an integer of 64 bits has 20 digits at most; of thousands Python reads none.
_INTEGER = re.compile(rb"([-+]?)0*([0-9]{1,20})\Z")
_FLOAT = re.compile(
    rb"[-+]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?|inf|infinity|(nan)(?:\([0-9a-z_]*\))?)\Z",
    re.I,
)
_HEXADECIMAL = re.compile(
    rb"([-+]?)0x([0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p([-+]?[0-9]+))?\Z", re.I
)

# Lines of nothing but integers.
_INTEGERS = re.compile(rb"(?:-?[0-9]{1,18}\n)+")
# Of these bytes Python reads what C does.
_DECIMAL_BYTES = b"0123456789+-.eE"


class NoNumber(ValueError):
    """A text that is no number of the dtype: which one of several, and the text."""

    def __init__(self, at: int, text: bytes) -> None:
        super().__init__(at, text)
        self.at, self.text = at, text


def read(array: Any, dtype: DType) -> np.ndarray:
    """The numbers of an array of texts, or of spans, in one dimension. Raises NoNumber."""
    found = _by_machine_code(array, dtype)
    if found is None:
        found = _listed(_texts_of(array), dtype)
    if dtype is float32:
        return _single(found, lambda i: _texts_of(array, [i])[0])
    return found.astype(dtype.numpy, copy=False)


def read_one(text: bytes, dtype: DType) -> Any:
    """The number of one text, as a scalar of NumPy's. Raises NoNumber."""
    return read([text], dtype)[0]


def _texts_of(array: Any, at: Sequence[int] | None = None) -> list[bytes]:
    """The texts at these indices, or all."""
    if isinstance(array, Spans):
        some = array if at is None else Spans(array.whole, array.starts[at], array.sizes[at])
        return some.texts()
    flat = array if isinstance(array, list) else np.asarray(array).reshape(-1)
    if at is not None:
        return [flat[i] for i in at]
    return flat if isinstance(flat, list) else flat.tolist()


def _by_machine_code(array: Any, dtype: DType) -> Any:
    """The numbers, where machine code reads them, and Python those that are unusual."""
    if isinstance(array, list):
        return None
    if dtype.is_floating:
        found = native_strings.numbers(array)
    else:
        found = native_strings.integers(array, not dtype.is_unsigned)
    if found is None:
        return None
    values, unusual = found
    if not dtype.is_floating:
        unusual = unusual | (values < dtype.min) | (values > min(dtype.max, int64.max))
        values = values.astype(dtype.numpy)
    some = np.flatnonzero(unusual)
    if some.size:
        try:
            values[some] = _listed(_texts_of(array, some.tolist()), dtype)
        except NoNumber as e:
            raise NoNumber(int(some[e.at]), e.text) from None
    return values


def _listed(texts: list[bytes], dtype: DType) -> np.ndarray:
    """The numbers of texts: floats of 64 bits, or integers of the dtype."""
    found = _plain(texts, dtype)
    if found is None:
        found = [_number(at, text, dtype) for at, text in enumerate(texts)]
    return np.asarray(found, np.float64 if dtype.is_floating else dtype.numpy)


def _plain(texts: list[bytes], dtype: DType) -> list[Any] | None:
    """The numbers, if the texts are ordinary ones, which can be read without a closer look."""
    if dtype.is_floating:
        if b"".join(texts).translate(None, _DECIMAL_BYTES):
            return None
        try:
            return list(map(float, texts))
        except ValueError:
            return None
    lines = b"\n".join([*texts, b""])
    if not _INTEGERS.fullmatch(lines) or (dtype.is_unsigned and b"-" in lines):
        return None
    numbers = list(map(int, texts))
    return numbers if dtype.min <= min(numbers) and max(numbers) <= dtype.max else None


def _number(at: int, text: bytes, dtype: DType) -> Any:
    stripped = text.strip(_SPACE)
    if dtype.is_floating:
        found = _FLOAT.match(stripped)
        if found is not None:
            return float(found[1] or stripped)
        if _HEXADECIMAL.match(stripped):
            try:
                return float.fromhex(stripped.decode())
            except OverflowError:
                return -np.inf if stripped.startswith(b"-") else np.inf
    elif (whole := _INTEGER.match(stripped)) and not (dtype.is_unsigned and whole[1] == b"-"):
        value = int(whole[1] + whole[2])
        if dtype.min <= value <= dtype.max:
            return value
    raise NoNumber(at, text)


# -- rounding once -------------------------------------------------------------------


def _single(values: np.ndarray, text: Callable[[int], bytes]) -> np.ndarray:
    """float64 of texts as float32, rounded as the texts themselves are.

    That differs where the float64 is the midpoint of two float32, and the text is not.
    """
    with np.errstate(over="ignore", under="ignore"):
        tiny = np.abs(values) < 2.0**-126
        # In units of half the least float32, of which odd numbers are midpoints.
        halves = np.where(tiny, values, 0) * 2.0**150
    midpoint = (values.view(np.int64) & ((1 << 29) - 1)) == 1 << 28
    midpoint = np.where(tiny, np.abs(halves) % 2 == 1, midpoint)
    for i in np.flatnonzero(midpoint).tolist():
        exact = _exact(text(i))
        if exact != Fraction(values[i]):
            values[i] = np.nextafter(values[i], np.inf if exact > Fraction(values[i]) else -np.inf)
    with np.errstate(over="ignore", under="ignore"):
        return values.astype(np.float32)


def _exact(text: bytes) -> Fraction:
    """The number of a text that is one, and finite."""
    stripped = text.strip(_SPACE)
    found = _HEXADECIMAL.match(stripped)
    if found is None:
        return Fraction(Decimal(stripped.decode()))  # of any number of digits
    sign, digits, power = found.groups(b"")
    whole, _, behind = digits.partition(b".")
    scale = Fraction(2) ** (int(power or b"0") - 4 * len(behind))
    return int(whole + behind, 16) * scale * (-1 if sign == b"-" else 1)
