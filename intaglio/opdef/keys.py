"""A number for each tensor that a tape has seen: unlike `id`, never used twice."""

from __future__ import annotations

import itertools
from typing import Any

from intaglio.base.locks import lasting_lock

# The next number. New tensors may be given theirs with `tensor._key = fresh()` before tapes
# see them: asking a tensor without a number for it is ten times as slow.
fresh = itertools.count(1).__next__
_lock = lasting_lock()


def key(tensor: Any) -> int:
    """The tensor's number, given at the first question."""
    try:
        return tensor._key
    except AttributeError:
        return _new_key(tensor)


def _new_key(tensor: Any) -> int:
    # Two threads that ask first at once must hear the same: a tape finds the tensor by it.
    with _lock:
        number = getattr(tensor, "_key", None)
        if number is None:
            tensor._key = number = fresh()
        return number
