"""Numbers as text, in the formats of C's printf."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import NUMERIC, DType, bool_, string
from intaglio.base.errors import invalid_argument
from intaglio.base.limits import check_decoded
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.restricted import run_loops
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


class _Digits(NamedTuple):
    """Numbers as digits (uint64) with a sign where `negative`; `points` are the digits behind the point,
    `exponents` those of the powers of ten, both for each number or for all; and where the digits
    are not certain."""

    numbers: Any
    negative: Any
    points: Any
    exponents: Any
    unusual: Any


def _texts(values: Any, width: int, fill: str, style: str) -> Any:
    """Real numbers as text: in machine code where that is exact, others in one go."""
    digits = _digits(values, style)
    if digits is not None:
        found = native_strings.decimals(*digits[:4], width, fill)
        if found is not None:
            for i in digits.unusual.tolist():
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
# A fraction within this of a half may be rounded otherwise than the exact number's: a power of ten
# is off by half of its last bit, and so is the product with it.
_UNCERTAIN = 2.0**-51
# The powers that float64 has, from the least on.
_LEAST_POWER = -300
_TENS = np.array([float(f"1e{n}") for n in range(_LEAST_POWER, -_LEAST_POWER + 1)])


def _digits(values: Any, style: str) -> _Digits | None:
    """Numbers as digits; None where these are certain of too few, or they are few."""
    if values.size < native_strings.MIN_NATIVE_STRINGS:
        return None
    if values.dtype.kind in "iu":
        wide, none = values.astype(np.uint64), np.empty(0, np.int64)
        signed = np.where(values < 0, -wide, wide)
        return _Digits(signed, values < 0, 0, native_strings.NO_EXPONENT, none)
    precision = int(style[1:-1] or 6)
    if precision > _MAX_EXACT_DIGITS:
        return None
    doubles = values.astype(np.float64)
    with np.errstate(all="ignore"):
        if style[-1] == "f":
            found = _fixed(doubles, precision, values.dtype == np.float64)
        else:
            behind = precision if style[-1] == "e" else max(precision, 1) - 1
            found = _by_loop(doubles, behind, style[-1] == "g") or _by_arrays(
                doubles, behind, style[-1] == "g"
            )
    # Unusual ones are formatted one by one.
    if found.unusual.size * 8 > values.size:
        return None
    found.numbers[found.unusual] = 0
    return found


def _fixed(doubles: Any, behind: int, doubly: bool) -> _Digits:
    """With so many digits after the point."""
    scaled = np.abs(doubles) * 10.0**behind
    whole = np.rint(scaled)  # as exact numbers are rounded: halves to even ones
    certain = scaled < _MAX_WHOLE
    if doubly:
        certain &= np.abs(np.abs(scaled - whole) - 0.5) > scaled * _UNCERTAIN
    none = native_strings.NO_EXPONENT
    whole = np.where(certain, whole, 0).astype(np.uint64)
    return _Digits(whole, np.signbit(doubles), behind, none, np.flatnonzero(~certain))


# What NumPy takes for a number with an exponent, in multiplications.
_WORK_PER_NUMBER = 400
# The sum of this and a float below it has no fraction.
_NO_FRACTION = float(1 << 52)


def _by_loop(doubles: Any, behind: int, shortest: bool) -> _Digits | None:
    """With one digit before the point, or as `%g` has them, in machine code if there is any."""
    count = doubles.size
    numbers, points, exponents = np.empty(count, np.uint64), *np.empty((2, count), np.int64)
    negative, usual = np.empty((2, count), np.bool_)
    arrays = numbers, points, exponents, negative, usual, doubles, doubles.view(np.int64), _TENS
    work = _WORK_PER_NUMBER * count
    if not run_loops(write_digits, work, *arrays, behind, int(shortest), rows=count):
        return None
    return _Digits(numbers, negative, points, exponents, np.flatnonzero(~usual))


def times_power(size: Any, power: Any, tens: Any) -> Any:
    """A number times a power of ten: by a positive power, which is nearer to exact."""
    if power < 0:
        return size / tens[-power - _LEAST_POWER]
    return size * tens[power - _LEAST_POWER]


def write_digits(
    numbers: Any, points: Any, exponents: Any, negative: Any, usual: Any, doubles: Any, bits: Any,
    tens: Any, behind: Any, shortest: Any, begin: Any, end: Any,
) -> None:  # fmt: skip
    """`_by_arrays`, number by number. `bits` are those of `doubles`, `tens` the powers of ten."""
    least, most = tens[behind - _LEAST_POWER], tens[behind + 1 - _LEAST_POWER]
    smallest, largest = tens[15], tens[-2 * _LEAST_POWER]
    for i in range(begin, end):
        size = abs(doubles[i])
        negative[i] = bits[i] < 0
        usual[i] = size == 0.0 or (size > smallest and size < largest)
        number, point, exponent = 0, behind, 0
        if usual[i] and size > 0.0:
            # From the exponent of 2, by log10(2) = 1233 / 4096; the loops below correct it.
            exponent = ((((bits[i] >> 52) & 2047) + 51) * 1233 >> 12) - 323
            scaled = times_power(size, behind - exponent, tens)
            while scaled >= most:
                exponent += 1
                scaled = times_power(size, behind - exponent, tens)
            while scaled < least:
                exponent -= 1
                scaled = times_power(size, behind - exponent, tens)
            whole = (scaled + _NO_FRACTION) - _NO_FRACTION
            usual[i] = abs(abs(scaled - whole) - 0.5) > scaled * _UNCERTAIN
            if whole >= most:
                whole = least
                exponent += 1
            number = int(whole)
        if shortest == 1:
            while point > 0 and number % 10 == 0:
                number = number // 10
                point -= 1
            if exponent >= -4 and exponent <= behind:
                point -= exponent
                exponent = native_strings.NO_EXPONENT
                while point < 0:
                    number *= 10
                    point += 1
        numbers[i] = number
        points[i] = point
        exponents[i] = exponent


def _by_arrays(doubles: Any, behind: int, shortest: bool) -> _Digits:
    """With one digit before the point, or as `%g` has them."""
    found = _scientific(doubles, behind)
    return _shortest(found) if shortest else found


def _scientific(doubles: Any, behind: int) -> _Digits:
    """With one digit before the point."""
    size = np.abs(doubles)
    usual = np.isfinite(size)
    usual &= (size == 0) | ((size > 10.0 ** (_LEAST_POWER + 15)) & (size < 10.0**-_LEAST_POWER))
    size = np.where(usual, size, 0.0)
    exponent = np.where(size > 0, np.floor(np.log10(size)), 0.0).astype(np.int64)
    least, most = 10**behind, 10 ** (behind + 1)
    # The logarithm of a number near a power of ten may be on the other side of it.
    exponent += (_scaled(size, behind - exponent) >= most).astype(np.int64)
    scaled = _scaled(size, behind - exponent)
    lower = (scaled < least) & (size > 0)
    exponent -= lower
    scaled = np.where(lower, _scaled(size, behind - exponent), scaled)
    whole = np.rint(scaled)
    usual &= np.abs(np.abs(scaled - whole) - 0.5) > scaled * _UNCERTAIN
    rounded_up = whole >= most
    whole, exponent = np.where(rounded_up, whole / 10, whole), exponent + rounded_up
    numbers = whole.astype(np.uint64)
    return _Digits(numbers, np.signbit(doubles), behind, exponent, np.flatnonzero(~usual))


def _scaled(size: Any, powers: Any) -> Any:
    """Numbers times powers of ten: by a positive power, which is nearer to exact."""
    tens = _TENS[np.abs(powers) - _LEAST_POWER]
    return np.where(powers < 0, size / tens, size * tens)


def _shortest(found: _Digits) -> _Digits:
    """Without zeros at the end, and without an exponent where that is from -4 to the precision."""
    numbers, points = found.numbers.copy(), np.full(found.numbers.shape, found.points)
    for step in (8, 4, 2, 1):
        whole, rest = np.divmod(numbers, np.uint64(10**step))
        zeros = (rest == 0) & (points >= step)
        numbers, points = np.where(zeros, whole, numbers), points - step * zeros
    plain = (found.exponents >= -4) & (found.exponents <= found.points)
    shifted = points - found.exponents
    whole = plain & (shifted < 0)
    zeros = np.where(whole, -shifted, 0).astype(np.uint64)
    numbers = numbers * np.uint64(10) ** zeros
    points = np.where(plain, np.maximum(shifted, 0), points)
    exponents = np.where(plain, native_strings.NO_EXPONENT, found.exponents)
    return found._replace(numbers=numbers, points=points, exponents=exponents)


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
