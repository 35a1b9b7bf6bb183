"""Locks that a forked process finds free: the threads that may have held them are not in it."""

from __future__ import annotations

import os
import threading
from typing import Any

_locks: list[Any] = []


def lasting_lock() -> Any:
    """A lock for what lives as long as the process, held for moments; its thread may take it again."""
    lock = threading.RLock()
    _locks.append(lock)
    return lock


def _freed() -> None:
    for lock in _locks:
        lock._at_fork_reinit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_freed)
