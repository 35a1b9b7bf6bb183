"""A number for each tensor that a tape has seen: unlike `id`, never used twice."""

from __future__ import annotations

import itertools
from typing import Any

_numbers = itertools.count(1)


def key(tensor: Any) -> int:
    """The tensor's number, given at the first question."""
    try:
        return tensor._key
    except AttributeError:
        tensor._key = number = next(_numbers)
        return number
