"""Limits on memory that untrusted data can request: a few bytes of a file can state any size.

`INTAGLIO_LIMIT_DECODED` is the largest value, in bytes, that one call may decode or allocate. Where it
is not set, decoders may make 4 GiB, four times an image of 16384 x 16384 pixels with opacity, which is
the largest that is plausible; ops that allocate what a program asks for may take four times the
machine's memory.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable

from intaglio.base.errors import OpError, ResourceExhaustedError

VARIABLE = "INTAGLIO_LIMIT_DECODED"
DEFAULT_DECODED_BYTES = 4 << 30


def _physical_bytes() -> int:
    """The machine's memory; no limit where the system does not say."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 1 << 60


def _from_environment() -> int | None:
    """The limit that the environment sets. Raises ValueError if it is no positive number."""
    text = os.environ.get(VARIABLE, "")
    if not text:
        return None
    if not text.isdigit() or not int(text):
        raise ValueError(f"{VARIABLE} must be a number of bytes, not {text!r}")
    return int(text)


class _Limits:
    """The limits of this process, which tests change."""

    def __init__(self) -> None:
        value = _from_environment()
        self.decoded = value or DEFAULT_DECODED_BYTES
        self.allocated = value or 4 * _physical_bytes()


LIMITS = _Limits()


def check_decoded(size: int, what: str) -> None:
    """Raises ResourceExhaustedError if decoding a file or an op's attributes would exceed the limit in bytes."""
    if size > LIMITS.decoded:
        raise _exhausted(size, what, LIMITS.decoded)


def check_allocated(dims: Iterable[int], item_bytes: int, what: str) -> None:
    """Raises ResourceExhaustedError if a tensor of these dims would exceed the limit.

    `item_bytes` is the size of an element.
    """
    size = math.prod(dims) * item_bytes
    if size > LIMITS.allocated:
        raise _exhausted(size, what, LIMITS.allocated)


def _exhausted(size: int, what: str, limit: int) -> OpError:
    return ResourceExhaustedError(
        None, None, f"{what} needs {size} bytes, more than the {limit} that {VARIABLE} allows"
    )
