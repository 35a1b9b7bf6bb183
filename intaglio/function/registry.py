"""All traced functions of the process, for settings that concern each of them."""

from __future__ import annotations

import weakref
from typing import Any

from intaglio.base.locks import lasting_lock

# Weak references: the set itself forgets those whose functions are gone, without a call in Python.
_functions: set[weakref.ref[Any]] = set()
_kept: list[Any] | None = None
_lock = lasting_lock()


def register(function: Any) -> None:
    """Registers a function, by a weak reference."""
    with _lock:
        _functions.add(weakref.ref(function, _functions.discard))
        if _kept is not None:
            _kept.append(function)


def keep() -> None:
    """Keeps functions alive until the process ends, for a report on them."""
    global _kept
    with _lock:
        _kept = _living()


def functions() -> list[Any]:
    """All registered functions that are alive."""
    with _lock:
        return _living()


def _living() -> list[Any]:
    return [f for f in [reference() for reference in list(_functions)] if f is not None]
