"""Background compilation of code that is not urgent: it is faster than the present code, with the same bits.

One thread compiles the requested modules one after the other, and ends when there are no more. It
begins a module only when no other thread has compiled for a moment: LLVM compiles one module at a
time, and a call may be waiting for its code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable
from typing import Any

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.log import logger

# Seconds without a foreground compilation after which the background may compile, and the thread's
# polling interval in seconds.
QUIET_SECONDS = 0.25
PAUSE_SECONDS = 0.01


class Busy:
    """The time of the last compilation by a foreground thread."""

    def __init__(self) -> None:
        self._last = 0.0
        self._own: int | None = None

    def touch(self) -> None:
        """Notes a compilation in the foreground."""
        if threading.get_ident() != self._own:
            self._last = time.monotonic()

    def is_quiet(self) -> bool:
        """Whether no foreground thread has compiled for a moment."""
        self._own = threading.get_ident()
        return time.monotonic() - self._last > QUIET_SECONDS


BUSY = Busy()


class NotCompiled(Exception):
    """Code requested under `if_compiled` is not compiled yet."""


class _Waiting(threading.local):
    """Whether this thread is under `if_compiled`."""

    only_compiled = False


_THREAD = _Waiting()


def if_compiled(find: Callable[..., Any], *description: Any) -> Any:
    """What `find` returns for a description. Raises NotCompiled instead of compiling anything in this thread."""
    before, _THREAD.only_compiled = _THREAD.only_compiled, True
    try:
        return find(*description)
    finally:
        _THREAD.only_compiled = before


def begin() -> None:
    """Called before a compilation. Raises NotCompiled under `if_compiled`."""
    if _THREAD.only_compiled:
        raise NotCompiled
    BUSY.touch()


_lock = lasting_lock()
_waiting: dict[Hashable, Callable[[], object]] = {}
_threads: list[threading.Thread] = []


def later(key: Hashable, compile: Callable[[], object]) -> None:
    """Queues a function for the background thread, unless one with the same key is waiting."""
    with _lock:
        _waiting.setdefault(key, compile)
        _start()


def wait() -> None:
    """Waits until the queue is empty."""
    for thread in [*_threads]:
        thread.join()


def _start() -> None:
    if _waiting and not _threads:
        # Not a daemon thread: the exit of the process waits for the module that LLVM is compiling.
        thread = threading.Thread(target=_work, name="native-background")
        _threads.append(thread)
        try:
            thread.start()
        except RuntimeError:  # the interpreter ends, or the system has no more threads
            _threads.clear()


def _work() -> None:
    while (next_ := _next()) is not None:
        key, compile = next_
        try:
            compile()
        except Exception:
            # The present code stays in use: it has the same results.
            logger().debug("%s was not compiled", key, exc_info=True)
        with _lock:
            _waiting.pop(key, None)


def _next() -> tuple[Hashable, Callable[[], object]] | None:
    """The next function of the queue, once no thread compiles; None if the queue is empty or the program ends."""
    while True:
        with _lock:
            ends = not threading.main_thread().is_alive()
            if ends or not _waiting:
                _threads.clear()
                return None
            if BUSY.is_quiet():
                return next(iter(_waiting.items()))
        time.sleep(PAUSE_SECONDS)


def _after_fork() -> None:
    """Restarts the thread in a child process, if functions are waiting."""
    _threads.clear()
    _start()


after_fork(_after_fork)
