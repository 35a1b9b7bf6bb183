"""Variables for the time of a call that writes them: locked, with their arrays taken out.

Ctrl-C may raise an exception between any two lines of Python. So what has been locked and taken is
written down by calls of C functions, which no signal divides, and `release` can be repeated until it
has come to its end.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from intaglio.runtime.resources import Resource

_LOCK = type(threading.RLock())
_acquire, _release = _LOCK.acquire, _LOCK.release


class Access:
    """The access of one call to the variables that it writes."""

    __slots__ = ("_acquired", "_locks", "_released", "_written", "after", "before")

    def __init__(self, written: Sequence[Resource]) -> None:
        self._written = written
        self._locks: list[Any] = []
        self._acquired: list[bool] = []
        self._released: list[None] = []
        # The arrays that were taken, and those that the call writes to.
        self.before: list[Any] = []
        self.after: list[Any] = []

    def acquire(
        self, others: Sequence[Resource], makers: Sequence[Callable[[], Any]], in_place: bool
    ) -> bool:
        """Takes the arrays out of the variables, which stay locked.

        The new values go to the same arrays, if they may (`in_place`) and nobody else refers to them,
        else to those that `makers` allocate. False if a variable has no value, or is among the
        variables twice. `release` must follow.
        """
        written = self._written
        if len({*map(id, written), *map(id, others)}) != len(written) + len(others):
            return False
        # All threads lock in one order.
        self._locks = [v.lock for v in sorted(written, key=id)]
        self._acquired.extend(map(_acquire, self._locks))
        for variable, make in zip(written, makers, strict=True):
            if variable._value is None:
                return False
            array, mine = variable.taken(self)
            self.before.append(array)
            self.after.append(array if mine and in_place else make())
        return True

    def release(self, changed: bool) -> None:
        """Puts the arrays before the call, or if it `changed` them those after it, into the variables.

        May be called again after an exception.
        """
        if not self._released:
            for number, variable in enumerate(self._written):
                variable.restore(self, self.after[number] if changed else None)
        left = self._locks[len(self._released) : len(self._acquired)]
        self._released.extend(map(_release, left))
