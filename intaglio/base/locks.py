"""What a forked process needs: locks that are free, and imports that are complete.

A child process has only the thread that forked. A lock that another thread held would stay locked in
it, and a module that another thread imported would stay half imported, with the lock of the import
held. All that has to happen before and after a fork is registered here.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

# Seconds that a fork waits for imports of other threads. An import that takes longer may wait itself,
# for a module that the forking thread imports.
MAX_IMPORT_SECONDS = 20.0
_PAUSE_SECONDS = 0.001

# Weak references: the set forgets by itself those whose locks are gone, faster than a WeakSet does.
_locks: set[weakref.ref[Any]] = set()
_exclusive: list[Any] = []
_in_child: list[Callable[[], object]] = []
# By thread: how many imports it is in the midst of.
_imports: dict[int, int] = {}
_forks = 0


def lasting_lock() -> Any:
    """A lock, which its thread may take again. It is free in a child process."""
    lock = threading.RLock()
    _locks.add(weakref.ref(lock, _locks.discard))
    return lock


def exclusive_lock(own: Any = None) -> Any:
    """A lock for what no process may be forked in the midst of: a fork waits for it.

    It is a new one, or the `own` lock of a library, which its thread may take again. Who takes several
    takes them in the order of these calls.
    """
    lock = threading.RLock() if own is None else own
    _exclusive.append(lock)
    return lock


def after_fork(call: Callable[[], object]) -> None:
    """Calls a function in every child process, when locks are free; it lives as long as the process."""
    _in_child.append(call)


@contextmanager
def importing() -> Generator[None]:
    """The time in which modules are imported: other threads do not fork meanwhile."""
    thread = threading.get_ident()
    _imports[thread] = _imports.get(thread, 0) + 1
    try:
        yield
    finally:
        _imports[thread] -= 1
        if not _imports[thread]:
            del _imports[thread]


def _before() -> None:
    own = {threading.get_ident()}
    end = time.monotonic() + MAX_IMPORT_SECONDS
    while True:
        while _imports.keys() - own and time.monotonic() < end:
            time.sleep(_PAUSE_SECONDS)
        for lock in _exclusive:  # an import may need one of them
            lock.acquire()
        # No thread begins an import between this look and the fork: no Python code runs.
        if not _imports.keys() - own or time.monotonic() >= end:
            return
        _after_in_parent()


def _after_in_parent() -> None:
    for lock in _exclusive:
        lock.release()


def fork_count() -> int:
    """How many forks lie between the first process and this one."""
    return _forks


def _after_in_child() -> None:
    global _forks
    _forks += 1
    own = threading.get_ident()
    for thread in [*_imports]:
        if thread != own:
            del _imports[thread]
    for lock in [*[reference() for reference in [*_locks]], *_exclusive]:
        if lock is not None:
            lock._at_fork_reinit()
    for call in _in_child:
        call()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child
    )
