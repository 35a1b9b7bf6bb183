"""What is computed of an array once, and kept while the array is what it was: filters, transformed.

An array that somebody holds is never written to: a variable that is assigned gets another one, but
for the one case that nobody else holds it (`resources`), and then what was made of it is forgotten
first. So whoever has the array at hand may use what was made of it, in any thread. What is kept
goes with the array, and the oldest of it when it is too much.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from intaglio.base.locks import lasting_lock

# Bytes that are kept.
MAX_CACHED_BYTES = 1 << 28


class Derived:
    """Arrays made of arrays, by what made them."""

    def __init__(self) -> None:
        # Entries by the ids of arrays; the reference says whether it is still that array.
        self._kept: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}
        self._lock = lasting_lock()
        self.size = 0

    def of(self, array: Any, key: Any, make: Callable[[Any], Any]) -> Any:
        """What `make` gives for an array that the caller holds; the same again for the same key."""
        found = self._kept.get(id(array))
        if found is not None and found[0]() is array:
            made = found[1].get(key)
            if made is not None:
                return made
        if type(array) is not np.ndarray:  # there is no value
            return array
        made = make(array)
        self._keep(array, key, made)
        return made

    def _keep(self, array: Any, key: Any, made: Any) -> None:
        number = id(array)
        with self._lock:
            found = self._kept.get(number)
            if found is None or found[0]() is not array:
                self._drop(number)
                found = weakref.ref(array, lambda ref: self._died(number, ref)), {}
                self._kept[number] = found
            if key not in found[1]:
                found[1][key] = made
                self.size += made.nbytes
            while self.size > MAX_CACHED_BYTES:
                self._drop(next(iter(self._kept)))

    def forget(self, array: Any) -> None:
        """Says that an array is about to be written to, by the only one that holds it."""
        if self._kept and id(array) in self._kept:
            with self._lock:
                self._drop(id(array))

    def _died(self, number: int, ref: Any) -> None:
        with self._lock:
            found = self._kept.get(number)
            if found is not None and found[0] is ref:
                self._drop(number)

    def _drop(self, number: int) -> None:
        found = self._kept.pop(number, None)
        if found is not None:
            self.size -= sum([made.nbytes for made in found[1].values()])


DERIVED = Derived()
