"""What takes long is shown while it lasts: traces and compilations of more than two seconds.

In a terminal and in a notebook one line on stderr says what is done, for how long, and where; it goes when
the work is done. Elsewhere nothing is printed. `INTAGLIO_PROGRESS=0` switches it off, `1` on.
A single thread looks at the work of all others, and is there only where a line may be shown.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from intaglio.base import origins
from intaglio.base.locks import after_fork, lasting_lock
from intaglio.base.origins import Frame

AFTER = 2.0  # seconds after which progress is shown
INTERVAL = 0.5
VARIABLE = "INTAGLIO_PROGRESS"
MAX_COLUMNS = 100
THREAD = "intaglio-progress"  # the name of the thread, which runs until the process ends


class _Work(NamedTuple):
    what: str
    began: float
    thread: int
    status: Callable[[], str] | None


def _in_notebook() -> bool:
    return "ipykernel" in sys.modules


# The setting of the environment, read once, as every trace needs it.
CHOSEN = os.environ.get(VARIABLE)


def is_shown() -> bool:
    """True where a line may be shown: in a terminal, in a notebook, or if the environment says so."""
    if CHOSEN is not None:
        return CHOSEN not in ("", "0")
    return _in_notebook() or _is_terminal(sys.stderr)


# The last stream with the result of its `isatty`, a system call; one tuple, so that threads see a consistent pair.
_last: tuple[Any, bool] = (None, False)


def _is_terminal(stream: Any) -> bool:
    global _last
    asked, answer = _last
    if stream is not asked:
        answer = bool(getattr(stream, "isatty", lambda: False)())
        _last = stream, answer
    return answer


class _Display:
    """The work in progress, and the thread that shows it."""

    def __init__(self) -> None:
        self._lock = lasting_lock()
        self._reset()
        after_fork(self._reset)

    def _reset(self) -> None:
        """Without work or a thread, as in a child process."""
        self._work: list[_Work] = []
        self._thread: threading.Thread | None = None
        self._wake = threading.Event()
        self._columns = 0

    def begin(self, work: _Work) -> None:
        with self._lock:
            self._work.append(work)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, name=THREAD, daemon=True)
                self._thread.start()
        self._wake.set()

    def end(self, work: _Work) -> None:
        with self._lock:
            self._work.remove(work)
            if not self._work and self._columns:
                self._write("")

    def _watch(self) -> None:
        while True:
            if not self._work:
                self._wake.wait()
            self._wake.clear()
            time.sleep(INTERVAL)
            with self._lock:
                shown = [w for w in self._work if time.monotonic() - w.began > AFTER]
                if shown:
                    self._write(line(shown[-1]))

    def _write(self, text: str) -> None:
        """Puts a text in the place of the last one."""
        stream: Any = sys.stderr
        if stream is None:
            return
        try:
            stream.write("\r" + text.ljust(self._columns) + ("" if text else "\r"))
            stream.flush()
        except (OSError, ValueError):  # the stream is closed
            return
        self._columns = len(text)


def line(work: _Work) -> str:
    """What is shown of some work: what it is, its seconds, how far it is, and the user's line."""
    parts = [f"{work.what}: {time.monotonic() - work.began:.0f} s"]
    if work.status is not None:
        parts.append(work.status())
    where = _line_of(work.thread)
    if where is not None:
        parts.append(f"{where.short} {where.source}")
    return ", ".join(parts)[:MAX_COLUMNS]


def _line_of(thread: int) -> Frame | None:
    """The user's line that a thread executes."""
    frame = sys._current_frames().get(thread)
    while frame is not None and origins.is_ours(frame.f_code):
        frame = frame.f_back
    return None if frame is None else origins.running(frame)


_DISPLAY = _Display()


class shown:
    """A context that shows its work if it takes long; `status` says in words how far it is."""

    __slots__ = ("_status", "_what", "_work")

    def __init__(self, what: str, status: Callable[[], str] | None = None) -> None:
        self._what, self._status = what, status
        self._work: _Work | None = None

    def __enter__(self) -> None:
        if is_shown():
            self._work = _Work(self._what, time.monotonic(), threading.get_ident(), self._status)
            _DISPLAY.begin(self._work)

    def __exit__(self, *error: object) -> None:
        if self._work is not None:
            _DISPLAY.end(self._work)


__all__ = ["is_shown", "line", "shown"]
