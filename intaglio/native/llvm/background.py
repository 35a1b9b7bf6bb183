"""Compiling in the background what can wait: code that is faster, with the same bits.

One thread does what is asked for, one module after the other, and ends when there is nothing more to
do. It begins a module only when no other thread has compiled for a moment: LLVM compiles one at a
time, and a call may be waiting for its code.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager

from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.log import logger

# Seconds without a compilation after which there may be time for one in the background, and how often
# the thread looks.
QUIET_SECONDS = 0.25
PAUSE_SECONDS = 0.01


class Busy:
    """When a thread that is not in the background has compiled last."""

    def __init__(self) -> None:
        self._last = 0.0
        self._own: int | None = None

    def touch(self) -> None:
        """Notes that a thread compiles now."""
        if threading.get_ident() != self._own:
            self._last = time.monotonic()

    def is_quiet(self) -> bool:
        """Whether none has for a moment; asked by the thread in the background."""
        self._own = threading.get_ident()
        return time.monotonic() - self._last > QUIET_SECONDS


BUSY = Busy()


class NotCompiled(Exception):
    """Code that is asked for under `only_compiled` is not there yet."""


class _Waiting(threading.local):
    """Whether this thread takes compiled code alone."""

    only_compiled = False


_THREAD = _Waiting()


@contextmanager
def only_compiled() -> Generator[None]:
    """The time in which this thread compiles nothing: NotCompiled is raised instead."""
    before, _THREAD.only_compiled = _THREAD.only_compiled, True
    try:
        yield
    finally:
        _THREAD.only_compiled = before


def begin() -> None:
    """A compilation begins. Raises NotCompiled where it may not."""
    if _THREAD.only_compiled:
        raise NotCompiled
    BUSY.touch()


_lock = lasting_lock()
_waiting: dict[Hashable, Callable[[], object]] = {}
_threads: list[threading.Thread] = []


def later(key: Hashable, compile: Callable[[], object]) -> None:
    """Calls a function in the background, once for a key that is waiting."""
    with _lock:
        _waiting.setdefault(key, compile)
        _start()


def wait() -> None:
    """Returns when nothing is left to do."""
    for thread in [*_threads]:
        thread.join()


def _start() -> None:
    if _waiting and not _threads:
        # Not a daemon: a process that ends waits for the module that LLVM is in the midst of.
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
            # What stands in for it stays, and gives the same.
            logger().debug("%s was not compiled", key, exc_info=True)
        with _lock:
            _waiting.pop(key, None)


def _next() -> tuple[Hashable, Callable[[], object]] | None:
    """What is to be done, once no thread compiles; None at the end, or at that of the program."""
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
    """In a new process, which does not have the thread."""
    _threads.clear()
    _start()


after_fork(_after_fork)
