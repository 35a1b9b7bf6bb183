"""A unique key for each tensor that a tape has recorded; unlike `id` it is never reused."""

from __future__ import annotations

import itertools
from typing import Any

from intaglio.base.locks import lasting_lock

# The next key. New tensors may get theirs by `tensor._key = fresh()` before a tape records them: `key` of a
# tensor without one takes ten times as long.
fresh = itertools.count(1).__next__
_lock = lasting_lock()


def key(tensor: Any) -> int:
    """The tensor's key, assigned on first use."""
    try:
        return tensor._key
    except AttributeError:
        return _new_key(tensor)


def _new_key(tensor: Any) -> int:
    # Concurrent first calls must return the same key, by which tapes find the tensor.
    with _lock:
        number = getattr(tensor, "_key", None)
        if number is None:
            tensor._key = number = fresh()
        return number
