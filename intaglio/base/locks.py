"""Locks that are reset in a forked process: threads that may have held them are not in it."""

from __future__ import annotations

import os
import threading
from typing import Any

_locks: list[Any] = []


def lasting_lock() -> Any:
    """A re-entrant lock for process-wide state, held for short times only."""
    lock = threading.RLock()
    _locks.append(lock)
    return lock


def _freed() -> None:
    for lock in _locks:
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_freed)
