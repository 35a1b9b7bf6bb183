"""Access to the variables that a call writes: they are locked, and their arrays taken out, until it ends.

Ctrl-C may raise an exception between any two lines of Python. So each acquired lock and taken array is
recorded by a single call of a C function, which no signal interrupts, and `release` can be repeated until
it completes.
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
        # The arrays taken out of the variables, and those that the call writes to.
        self.before: list[Any] = []
        self.after: list[Any] = []

    def acquire(
        self, others: Sequence[Resource], allocators: Sequence[Callable[[], Any]], in_place: bool
    ) -> bool:
        """Takes the arrays out of the variables, which stay locked.

        The new values go to the same arrays, if they may (`in_place`) and nobody else refers to them,
        else to those that `allocators` allocate. False if a variable has no value, or is among the
        variables twice. `release` must follow.
        """
        written = self._written
        if len({*map(id, written), *map(id, others)}) != len(written) + len(others):
            return False
        # All threads lock in one order, which excludes deadlocks.
        self._locks = [v.lock for v in sorted(written, key=id)]
        self._acquired.extend(map(_acquire, self._locks))
        for variable, allocate in zip(written, allocators, strict=True):
            if variable._value is None:
                return False
            array, is_owner = variable.taken(self)
            self.before.append(array)
            self.after.append(array if is_owner and in_place else allocate())
        return True

    def release(self, changed: bool) -> None:
        """Sets the variables to the arrays before the call, or if it `changed` them to those after it.

        May be called again after an exception.
        """
        if not self._released:
            for number, variable in enumerate(self._written):
                variable.restore(self, self.after[number] if changed else None)
        left = self._locks[len(self._released) : len(self._acquired)]
        self._released.extend(map(_release, left))
