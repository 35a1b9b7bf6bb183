"""Threads that end together: `tf.train.Coordinator`.

Follows https://www.tensorflow.org/api_docs/python/tf/train/Coordinator.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import Any

from intaglio.base.errors import OutOfRangeError


class Coordinator:
    """Tells threads when to stop, and passes on the error of one of them.

    `clean_stop_exception_types` are errors that end the threads without being passed on;
    OutOfRangeError by default.

    >>> coordinator = tf.train.Coordinator()
    >>> coordinator.request_stop()
    >>> coordinator.should_stop()
    True
    """

    def __init__(
        self, clean_stop_exception_types: tuple[type[Exception], ...] | None = None
    ) -> None:
        self._clean = clean_stop_exception_types or (OutOfRangeError,)
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        """True once `join` has returned or raised."""
        return self._joined

    def request_stop(self, ex: Any = None) -> None:
        """Tells all threads to stop; `join` raises the error `ex`, if it is given."""
        with self._lock:
            error = ex[1] if isinstance(ex, tuple) else ex
            if self._joined and not self._stop.is_set():
                if error is not None:
                    raise error
                return
            if isinstance(error, self._clean):
                error = None
            if error is not None and self._error is None and not self._stop.is_set():
                self._error = error
            self._stop.set()

    def clear_stop(self) -> None:
        """Forgets that a stop was requested, and the error."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop.clear()

    def should_stop(self) -> bool:
        """True once a stop has been requested."""
        return self._stop.is_set()

    @contextmanager
    def stop_on_exception(self) -> Generator[None]:
        """Requests a stop with the error that the block raises, which goes no further."""
        try:
            yield
        except Exception as e:
            self.request_stop(e)

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits for a stop; returns whether one has been requested."""
        return self._stop.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread that `join` waits for."""
        with self._lock:
            self._threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for the threads, and raises the error that stopped them.

        Once a stop has been requested, waits `stop_grace_period_secs` at most; then raises
        RuntimeError if a thread still runs, unless it is to be ignored.
        """
        with self._lock:
            waiting = [*self._threads.union(threads or ())]
        while any(t.is_alive() for t in waiting) and not self._stop.wait(0.1):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waiting:
            thread.join(max(0.0, end - time.monotonic()))
        with self._lock:
            self._joined = True
            self._threads = set()
            error = self._error
        if error is not None:
            raise error
        late = [t.name for t in waiting if t.is_alive()]
        if late and not ignore_live_threads:
            raise RuntimeError("Coordinator stopped with threads still running: " + " ".join(late))

    def raise_requested_exception(self) -> None:
        """Raises the error that a stop was requested with, if there is one."""
        if self._error is not None:
            raise self._error


__all__ = ["Coordinator"]
