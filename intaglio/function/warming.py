"""`f.warmup(..., background=True)`: a thread that traces and compiles while calls go on eagerly."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class Warmup:
    """Work that runs in a background thread, and its result."""

    def __init__(self, work: Callable[[], list[Any]], name: str) -> None:
        self._work = work
        self._found: list[Any] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"warmup of {name}", daemon=True)

    def start(self) -> None:
        """Starts the thread."""
        self._thread.start()

    def _run(self) -> None:
        try:
            self._found = self._work()
        except BaseException as e:  # `result` raises it in the caller
            self._error = e

    def done(self) -> bool:
        """True once the work is done, or has failed."""
        return not self._thread.is_alive()

    def result(self, timeout: float | None = None) -> list[Any]:
        """The traces, as soon as they are there. Raises what the work raised, TimeoutError after so many seconds."""
        self._thread.join(timeout)
        if not self.done():
            raise TimeoutError(f"{self._thread.name} is not done after {timeout} s")
        if self._error is not None:
            raise self._error
        return self._found
