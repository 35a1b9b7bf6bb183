"""Fork safety: locks that are free in the child process, and no imports in progress.

A child process has only the thread that forked. A lock that another thread held would stay locked in
it, and a module that another thread was importing would stay incomplete, with its import lock
held. All actions before and after a fork are registered here.
"""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

# Seconds that a fork waits for imports of other threads. The limit avoids a deadlock with an import that
# itself waits for a module that the forking thread is importing.
MAX_IMPORT_SECONDS = 20.0
_PAUSE_SECONDS = 0.001

# Weak references whose callback removes them from the set; faster than a WeakSet.
_locks: set[weakref.ref[Any]] = set()
_exclusive: list[Any] = []
_in_child: list[Callable[[], object]] = []
# The number of nested imports of each thread.
_imports: dict[int, int] = {}
_forks = 0


def lasting_lock() -> Any:
    """A reentrant lock that is free in a child process."""
    lock = threading.RLock()
    _locks.add(weakref.ref(lock, _locks.discard))
    return lock


def exclusive_lock(own: Any = None) -> Any:
    """A lock for a critical section that a fork must not interrupt: a fork waits for it.

    It is a new one, or a library's reentrant lock `own`. Code that acquires several must acquire them in
    the order in which these calls were made.
    """
    lock = threading.RLock() if own is None else own
    _exclusive.append(lock)
    return lock


def after_fork(call: Callable[[], object]) -> None:
    """Registers a function that is called in every child process, when all locks are free."""
    _in_child.append(call)


@contextmanager
def importing() -> Generator[None]:
    """A context around imports, during which other threads do not fork."""
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
        for lock in _exclusive:  # acquired after imports have ended, as an import may need one
            lock.acquire()
        # No thread begins an import between this look and the fork: no Python code runs.
        if not _imports.keys() - own or time.monotonic() >= end:
            return
        _after_in_parent()


def _after_in_parent() -> None:
    for lock in _exclusive:
        lock.release()


def fork_count() -> int:
    """The number of forks between the first process and this one."""
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
