"""Thread-local state that worker threads inherit from the thread that starts them.

A thread that runs a part of a trace, such as a replica, is inside the same scopes as the thread that
started it. Such state derives from `Inherited`.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any


class Inherited(threading.local):
    """Thread-local state whose attributes `inheriting` passes to another thread; lists and dicts are copied."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        found = super().__new__(cls, *args, **kwargs)
        _all.add(found)
        return found


_all: weakref.WeakSet[Inherited] = weakref.WeakSet()


def inheriting(function: Callable[[], Any]) -> Callable[[], Any]:
    """A wrapper of a function for another thread, which runs it with this thread's state."""
    present = [(state, dict(vars(state))) for state in _all]

    def call() -> Any:
        for state, attributes in present:
            for name, value in attributes.items():
                copied = value.copy() if isinstance(value, (list, dict)) else value
                setattr(state, name, copied)
        return function()

    return call


__all__ = ["Inherited", "inheriting"]
