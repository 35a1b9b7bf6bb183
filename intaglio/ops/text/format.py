"""Numbers as text, in the formats of C's printf."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import NUMERIC, DType, bool_, string
from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.text import native_strings
from intaglio.ops.text.strings import filled, mapped


def _float_format(precision: int, scientific: bool, shortest: bool) -> str:
    letter = "e" if scientific else "g" if shortest else "f"
    return f".{precision}{letter}" if precision >= 0 else letter


def _padded(text: str, width: int, fill: str) -> bytes:
    """The text to a width, as the flags of C's printf pad."""
    if fill in ("+", " ") and not text.startswith("-"):
        text = fill + text
    if fill == "-":
        return text.ljust(width).encode()
    if fill == "0" and text.lstrip("+-")[:1].isdigit():
        return text.zfill(width).encode()
    return text.rjust(width).encode()


def _formatted(value: Any, width: int, fill: str, style: str) -> bytes:
    return _padded(f"%{style}" % value, width, fill)


@op
class AsString(Op):
    """Numbers, bools and strings as text, in C's printf formats."""

    signature = (
        "input: T; precision: int = -1, scientific: bool = False, shortest: bool = False,"
        " width: int = -1, fill: str = '' -> output: string"
    )
    T = (*NUMERIC, bool_, string)
    differentiable = False
    batching = "leading"

    def infer(self, input: Spec) -> Spec:
        return Spec(string, input.shape)

    def kernel(self, input, precision, scientific, shortest, width, fill, T: DType):
        _check_format(T, precision, scientific, shortest, fill)
        width = max(width, 0)
        longest = max(width, precision, 0)
        check_decoded(np.size(input) * longest, "AsString")
        if T is string:
            side = bytes.ljust if fill == "-" else bytes.rjust
            return mapped(lambda v: side(v, width), input)
        values = np.asarray(input).reshape(-1)
        if T is bool_:
            texts = [b"true" if v else b"false" for v in values]
        elif T.is_complex:
            style = _float_format(precision, scientific, shortest)
            texts = [
                b"(%s,%s)"
                % (_formatted(v.real, width, fill, style), _formatted(v.imag, width, fill, style))
                for v in values.tolist()
            ]
        else:
            style = _float_format(precision, scientific, shortest)
            style = style if T.is_floating else "d"
            # C's printf has no sign for numbers without one.
            fill = "" if T.is_unsigned and fill in ("+", " ") else fill
            return _texts(values, width, fill, style).reshape(np.shape(input))
        return filled(texts, np.shape(input))


def _texts(values: Any, width: int, fill: str, style: str) -> Any:
    """Real numbers as text: in machine code where that is exact, others in one go."""
    digits = _digits(values, style)
    if digits is not None:
        numbers, negative, unusual, point = digits
        found = native_strings.decimals(numbers, negative, point, width, fill)
        if found is not None:
            for i in unusual.tolist():
                found[i] = _formatted(float(values[i]), width, fill, style)
            return found
    finite = values.dtype.kind in "iu" or bool(np.isfinite(values).all())
    if not values.size or (fill and not finite):
        return filled([_formatted(v, width, fill, style) for v in values.tolist()], -1)
    every = f"%{fill}{width or ''}{style}\n" * values.size
    return filled((every % tuple(values.tolist())).encode().split(b"\n")[:-1], -1)


# The products of numbers of 24 bits and 10**12, which has 5**12 in 28 bits, are exact.
_MAX_EXACT_DIGITS = 12
_MAX_WHOLE = 1 << 53


def _digits(values: Any, style: str) -> tuple[Any, Any, Any, int] | None:
    """Numbers as digits (uint64), what is negative, and how many are behind the point.

    Where the digits are not certain is a list. None where they are for too few numbers.
    """
    none = np.empty(0, np.int64)
    if values.dtype.kind in "iu":
        wide = values.astype(np.uint64)
        return np.where(values < 0, -wide, wide), values < 0, none, 0
    if style[-1] != "f":
        return None
    point = int(style[1:-1] or 6)
    if point > _MAX_EXACT_DIGITS:
        return None
    doubles = values.astype(np.float64)
    negative = np.signbit(doubles)
    with np.errstate(all="ignore"):
        scaled = np.abs(doubles) * 10.0**point
        # As exact numbers are rounded: halves to even ones.
        whole = np.rint(scaled)
        certain = scaled < _MAX_WHOLE
        if values.dtype == np.float64:
            # The product is off by half of its last bit at most.
            certain &= np.abs(np.abs(scaled - whole) - 0.5) > scaled * 2.0**-52
        unusual = np.flatnonzero(~certain)
        if unusual.size * 8 > values.size:
            return None
        whole[unusual] = 0
    return whole.astype(np.uint64), negative, unusual, point


def _check_format(
    dtype: DType, precision: int, scientific: bool, shortest: bool, fill: str
) -> None:
    if len(fill) > 1:
        raise invalid_argument("Fill string must be one or fewer characters")
    if fill not in ("", " ", "+", "-", "0"):
        raise invalid_argument(f'Fill argument not supported: "{fill}"')
    if scientific and shortest:
        raise invalid_argument("Cannot select both scientific and shortest notation")
    if dtype.is_floating or dtype.is_complex or dtype is string:
        return
    if scientific or shortest:
        raise invalid_argument(
            f"scientific and shortest format not supported for datatype {dtype.name}"
        )
    if precision >= 0:
        raise invalid_argument(f"precision not supported for datatype {dtype.name}")
