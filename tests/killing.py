"""Processes that are killed at every step of what they write."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from intaglio.base import replacing

# Calls of the file system of which Python tells hooks, and those that it does not tell of.
_EVENTS = frozenset(
    ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.link", "os.truncate")
)
_CALLS = ("fsync", "close")
_hooked: list[Callable[[], None]] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _hooked and event in _EVENTS:
        _hooked[0]()


def killed_at_every_step(write: Callable[[], Any], check: Callable[[], None]) -> int:
    """Runs `write` in processes that are killed before the first, the second... step, and `check` after
    each; returns the number of steps."""
    sys.addaudithook(_hook)
    step = 0
    while True:
        process = os.fork()
        if process == 0:
            _die_at(step, write)
        _, status = os.waitpid(process, 0)
        check()
        if os.WIFEXITED(status):
            assert os.WEXITSTATUS(status) == 0
            return step
        step += 1


def _die_at(step: int, write: Callable[[], Any]) -> None:
    left = [step]

    def count() -> None:
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left[0] -= 1

    def counting(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            count()
            return function(*args, **kwargs)

        return call

    try:
        for name in _CALLS:
            setattr(os, name, counting(getattr(os, name)))
        replacing._exchanged = counting(replacing._exchanged)
        _hooked.append(count)
        write()
    except BaseException:
        os._exit(1)
    os._exit(0)
