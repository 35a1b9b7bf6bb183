"""A number for each tensor that a tape has seen: unlike `id`, never used twice."""

from __future__ import annotations

import itertools
from typing import Any

# The next number. New tensors may be given theirs with `tensor._key = fresh()` before tapes
# see them: asking a tensor without a number for it is ten times as slow.
fresh = itertools.count(1).__next__


def key(tensor: Any) -> int:
    """The tensor's number, given at the first question."""
    try:
        return tensor._key
    except AttributeError:
        tensor._key = number = fresh()
        return number
