"""Arrays of texts joined to one text: one call of a function instead of one for each.

A function of bytes that leaves a separator alone, and looks at no text beyond one, gives for the
whole the results for the parts. The separator is a byte that is in no text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.ops.text.native_strings import Spans

# Fewer texts than this are passed on one by one in the same time.
MIN_TEXTS = 8
# All are characters of UTF-8, whitespace or control characters, and have no cases.
SEPARATORS = (b"\n", b"\0", b"\x1e")


def whole(texts: Sequence[bytes], besides: bytes = b"") -> tuple[bytes, bytes] | None:
    """All texts joined by a separator that occurs in none, and the separator; None if there is
    none.

    It is not among the bytes `besides` either.
    """
    if len(texts) < MIN_TEXTS:
        return None
    for separator in SEPARATORS:
        found = separator.join(texts)
        if found.count(separator) == len(texts) - 1 and separator not in besides:
            return found, separator
    return None


def mapped(function: Callable[[bytes], bytes], texts: Sequence[bytes]) -> list[bytes]:
    """The function of every text. It treats the characters next to a separator as those at an end."""
    joined = whole(texts)
    if joined is None:
        return list(map(function, texts))
    text, separator = joined
    return function(text).split(separator)


def split(texts: Sequence[bytes], separator: bytes) -> tuple[list[bytes], np.ndarray]:
    """The parts of all texts between separators of one byte, and how many (int64) each text has.

    A longer separator could begin at the end of a text.
    """
    counts = np.fromiter([text.count(separator) for text in texts], np.int64, len(texts))
    if not texts:
        return [], counts
    return separator.join(texts).split(separator), counts + 1


# What `bytes.split` takes for white space, by the number of the byte.
_IS_SPACE = np.array([bytes([code]).isspace() for code in range(256)])


def words(texts: Sequence[bytes]) -> tuple[Spans, np.ndarray]:
    """The parts of all texts between white space, and how many (int64) each text has."""
    whole = b" ".join([b"", *texts, b""])
    space = _IS_SPACE[np.frombuffer(whole, np.uint8)]
    # A word begins or ends where white space does.
    bounds = np.flatnonzero(space[1:] != space[:-1]) + 1
    starts, ends = bounds[::2], bounds[1::2]
    behind = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)) + 1)
    return Spans(whole, starts, ends - starts), np.diff(
        np.searchsorted(ends, behind, "right"), prepend=0
    )


def code_points(texts: Sequence[bytes]) -> tuple[Any, Any, Any] | None:
    """Of texts in UTF-8 the numbers of characters, their code points (int32), and where each begins.

    None if one is no UTF-8.
    """
    text = b"".join(texts)
    octets = np.frombuffer(text, np.uint8)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    ends = np.cumsum(sizes)
    begins = (octets & 0xC0) != 0x80
    # The whole may be UTF-8 although a text ends within a character.
    first = (ends - sizes)[sizes > 0]
    if not begins[first].all():
        return None
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError:
        return None
    points = np.frombuffer(decoded.encode("utf-32-le"), "<i4").astype(np.int32)
    starts = np.flatnonzero(begins)
    counts = np.diff(np.searchsorted(starts, ends), prepend=0)
    return counts, points, starts - np.repeat(ends - sizes, counts)
