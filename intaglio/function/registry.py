"""All traced functions of the process, for settings that concern each of them."""

from __future__ import annotations

import weakref
from typing import Any

from intaglio.base.locks import lasting_lock

_functions: weakref.WeakSet[Any] = weakref.WeakSet()
_kept: list[Any] | None = None
_lock = lasting_lock()


def register(function: Any) -> None:
    """Notes a function, as long as it lives."""
    with _lock:
        _functions.add(function)
        if _kept is not None:
            _kept.append(function)


def keep() -> None:
    """Lets functions live as long as the process from now on, for a report on them."""
    global _kept
    with _lock:
        _kept = list(_functions)


def functions() -> list[Any]:
    """All that live."""
    with _lock:
        return list(_functions)
