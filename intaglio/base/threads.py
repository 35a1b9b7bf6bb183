"""State of a thread that a thread which works for it begins with.

A thread that runs a part of a trace, such as a replica's, is inside the same scopes as the thread that
started it. What belongs to a thread in this way derives from `Inherited`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any


class Inherited(threading.local):
    """State by thread that `inheriting` hands on: its attributes; lists and dicts are copied."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        found = super().__new__(cls, *args, **kwargs)
        _all.add(found)
        return found


_all: weakref.WeakSet[Inherited] = weakref.WeakSet()


def inheriting(function: Callable[[], Any]) -> Callable[[], Any]:
    """The function, for another thread, with this thread's state."""
    present = [(state, dict(vars(state))) for state in _all]

    def call() -> Any:
        for state, attributes in present:
            for name, value in attributes.items():
                copied = value.copy() if isinstance(value, (list, dict)) else value
                setattr(state, name, copied)
        return function()

    return call


__all__ = ["Inherited", "inheriting"]
