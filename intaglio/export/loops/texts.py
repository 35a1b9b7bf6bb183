"""Texts as bytes, each in as many as the longest may have: zeros come behind the last one."""

from __future__ import annotations

import math
from typing import Any

# Of floats beyond it there are digits that a product of two float64 does not have.
MOST_DIGITS = 9.2e18
# Splits a float64 into two of 26 bits (Veltkamp's constant, 2^27 + 1).
SPLIT = 134217729.0


def _unsigned_tenth(number: Any) -> Any:
    """A tenth, rounded down, of 64 bits without a sign."""
    half = number >> 1
    return half // 5


def _begun(text: Any, number: Any, negative: Any, width: Any, fill: Any, has_spaces: Any) -> Any:
    """Writes the sign of a text of so many more bytes, behind the spaces that pad it; how many bytes these are."""
    sign = 45 if negative else (fill if fill == 43 or fill == 32 else 0)
    size = number + (1 if sign else 0)
    at = 0
    if has_spaces:
        while at < width - size:
            text[at] = 32
            at += 1
    if sign:
        text[at] = sign
        at += 1
    return at


def _padded(text: Any, at: Any, width: Any) -> Any:
    """Writes spaces up to the width; how many bytes the text has then."""
    while at < width:
        text[at] = 32
        at += 1
    return at


def _placed(
    text: Any, digits: Any, number: Any, negative: Any, width: Any, fill: Any, points: Any
) -> Any:
    """Writes digits, the last of which come first, as C's printf pads them; how many bytes these are.

    `fill` is the byte of the flag, 0 for none; a point is before the last `points` digits, if there are any.
    """
    size = number + (1 if points else 0)
    has_spaces = 1 if fill != 45 and fill != 48 else 0
    at = _begun(text, size, negative, width, fill, has_spaces)
    if fill == 48:
        for _zero in range(width - at - size):
            text[at] = 48
            at += 1
    for step in range(number):
        if points and step == number - points:
            text[at] = 46
            at += 1
        text[at] = digits[number - 1 - step]
        at += 1
    if fill == 45:
        at = _padded(text, at, width)
    return at


def _cleared(text: Any, start: Any, most: Any) -> None:
    for i in range(start, most):
        text[i] = 0


def decimals(
    texts: Any, lengths: Any, digits: Any, xs: Any,
    count: Any, most: Any, unsigned: Any, width: Any, fill: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Integers in decimal digits."""
    for i in range(count):
        rest = xs[i]
        negative = 1 if rest < 0 and not unsigned else 0
        if negative:
            rest = -rest
        number = 0
        while number == 0 or rest != 0:
            tenth = _unsigned_tenth(rest)
            digits[number] = 48 + (rest - tenth * 10)
            rest = tenth
            number += 1
        text = texts[i * most :]
        size = _placed(text, digits, number, negative, width, fill, 0)
        lengths[i] = size
        _cleared(text, size, most)


def _of_word(
    text: Any, first: Any, second: Any, third: Any, negative: Any, width: Any, fill: Any
) -> Any:
    """Three letters, which are padded with spaces only."""
    at = _begun(text, 3, negative, width, fill, 1 if fill != 45 else 0)
    text[at] = first
    text[at + 1] = second
    text[at + 2] = third
    return _padded(text, at + 3, width)


def fixed_points(
    texts: Any, lengths: Any, refused: Any, digits: Any, xs: Any, bits: Any, scales: Any,
    count: Any, most: Any, points: Any, width: Any, fill: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Floats with so many digits behind the point, whose bits are integers, too; `scales` has that power of ten.

    The product with it is the sum of two float64 (T. J. Dekker, 1971), of which the sign of each difference to a half
    is exact, so that it is rounded once, to even.
    """
    scale = float(scales[0])
    for i in range(count):
        text = texts[i * most :]
        x = float(xs[i])
        negative = 1 if bits[i] < 0 else 0
        size = 0
        if x != x:
            size = _of_word(text, 110, 97, 110, 0, width, fill)
        elif abs(x) == math.inf:
            size = _of_word(text, 105, 110, 102, negative, width, fill)
        else:
            x = abs(x)
            high = x * scale
            if high > MOST_DIGITS or x > 1e290:
                refused[0] = 1
                high = 0.0
                x = 0.0
            one = x * SPLIT
            one = one - (one - x)
            two = scale * SPLIT
            two = two - (two - scale)
            low = (one * two - high) + one * (scale - two) + (x - one) * two
            low = low + (x - one) * (scale - two)
            whole = math.floor(high)
            part = high - whole
            rest = int(whole)
            if part != 0.0:
                over = (part - 0.5) + low
            else:
                below = math.floor(low)
                rest += int(below)
                over = low - (below + 0.5)
            if over > 0.0 or (over == 0.0 and rest % 2 == 1):
                rest += 1
            number = 0
            while number <= points or rest != 0:
                tenth = rest // 10
                digits[number] = 48 + (rest - tenth * 10)
                rest = tenth
                number += 1
            size = _placed(text, digits, number, negative, width, fill, points)
        lengths[i] = size
        _cleared(text, size, most)


def joined(
    texts: Any, lengths: Any, parts: Any, sizes: Any, glue: Any,
    count: Any, most: Any, each: Any, longest: Any, between: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """Rows of so many texts as one each, with `between` bytes of another text between them."""
    for i in range(count):
        text = texts[i * most :]
        at = 0
        for p in range(each):
            if p > 0:
                for c in range(between):
                    text[at] = glue[c]
                    at += 1
            row = i * each + p
            for c in range(sizes[row]):
                text[at] = parts[row * longest + c]
                at += 1
        lengths[i] = at
        _cleared(text, at, most)


def cut(
    texts: Any, lengths: Any, refused: Any, xs: Any, sizes: Any, starts: Any, counts: Any,
    count: Any, most: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """So many bytes from a position on, which counts from the end if it is negative; all if there are fewer."""
    for i in range(count):
        text = texts[i * most :]
        size, start = int(sizes[i]), int(starts[i])
        if start < -size or start > size:
            refused[0] = 1
            start = 0
        if start < 0:
            start += size
        taken = size - start
        if counts[i] >= 0:
            taken = min(taken, int(counts[i]))
        for c in range(taken):
            text[c] = xs[i * most + start + c]
        lengths[i] = taken
        _cleared(text, taken, most)


def _is_space(byte: Any) -> Any:
    return byte == 32 or (byte >= 9 and byte <= 13)


def stripped(
    texts: Any, lengths: Any, xs: Any, sizes: Any, count: Any, most: Any, first: Any, last: Any
) -> None:
    """Without white space at both ends."""
    for i in range(count):
        text, own = texts[i * most :], xs[i * most :]
        start, end = 0, int(sizes[i])
        while start < end and _is_space(own[start]):
            start += 1
        while end > start and _is_space(own[end - 1]):
            end -= 1
        for c in range(start, end):
            text[c - start] = own[c]
        lengths[i] = end - start
        _cleared(text, end - start, most)


def integers(
    found: Any, refused: Any, xs: Any, sizes: Any,
    count: Any, most: Any, tenth: Any, digit: Any, tenth_below: Any, digit_below: Any,
    first: Any, last: Any,
) -> None:  # fmt: skip
    """The numbers that decimal texts are.

    The largest of the dtype is ten times `tenth` and `digit`, what is below zero has the others as its largest;
    where there are no such numbers `digit_below` is negative.
    """
    for i in range(count):
        own = xs[i * most :]
        at, end = 0, int(sizes[i])
        while at < end and _is_space(own[at]):
            at += 1
        while end > at and _is_space(own[end - 1]):
            end -= 1
        negative = at < end and own[at] == 45
        if at < end and (own[at] == 45 or own[at] == 43):
            at += 1
        limit = tenth_below if negative else tenth
        largest = digit_below if negative else digit
        right = at < end and largest >= 0
        value = 0
        while at < end:
            byte = own[at] - 48
            fits = value < limit or (value == limit and byte <= largest)
            right = right and byte >= 0 and byte <= 9 and fits
            value = value * 10 + byte if right else value
            at += 1
        if not right:
            refused[0] = 1
            value = 0
        found[i] = -value if negative else value


def code_points(
    points: Any, lengths: Any, refused: Any, xs: Any, sizes: Any,
    count: Any, most: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The code points of texts in UTF-8, zeros behind them; refused is what is none."""
    for i in range(count):
        own, to = xs[i * most :], points[i * most :]
        at, end, number = 0, int(sizes[i]), 0
        while at < end:
            byte = own[at]
            more, point, least = 0, int(byte), 0
            if byte >= 240:
                more, point, least = 3, byte - 240, 65536
            elif byte >= 224:
                more, point, least = 2, byte - 224, 2048
            elif byte >= 192:
                more, point, least = 1, byte - 192, 128
            elif byte >= 128:
                refused[0] = 1
            at += 1
            for _next in range(more):
                if at < end and own[at] >= 128 and own[at] < 192:
                    point = point * 64 + (own[at] - 128)
                    at += 1
                else:
                    refused[0] = 1
            if point < least or point > 1114111 or (point >= 55296 and point < 57344):
                refused[0] = 1
            to[number] = point
            number += 1
        lengths[i] = number
        for c in range(number, most):
            to[c] = 0
