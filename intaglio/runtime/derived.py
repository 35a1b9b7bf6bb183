"""A cache of arrays derived from another array, such as transformed filters, valid while it is unchanged.

An array with other references is never written to: an assignment replaces a variable's array. Only if the
variable holds the sole reference (`resources`) is it written in place, and its derived arrays are dropped
first. So code that holds the array may use its derived arrays, in any thread. They are freed
with the array; beyond `MAX_BYTES` the oldest are freed first.
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
    """Derived arrays, by their source array and the function that computes them."""

    def __init__(self) -> None:
        # Entries by the ids of arrays; the weak reference checks that it is still that array.
        self._kept: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}
        self._lock = lasting_lock()
        self.size = 0

    def of(self, array: Any, key: Any, make: Callable[[Any], Any]) -> Any:
        """The cached result of `make` for this key and an array that the caller holds."""
        found = self._kept.get(id(array))
        if found is not None and found[0]() is array:
            derived = found[1].get(key)
            if derived is not None:
                return derived
        if type(array) is not np.ndarray:  # there is no value
            return array
        derived = make(array)
        self._keep(array, key, derived)
        return derived

    def _keep(self, array: Any, key: Any, derived: Any) -> None:
        number = id(array)
        with self._lock:
            found = self._kept.get(number)
            if found is None or found[0]() is not array:
                self._drop(number)
                found = weakref.ref(array, lambda ref: self._died(number, ref)), {}
                self._kept[number] = found
            if key not in found[1]:
                found[1][key] = derived
                self.size += derived.nbytes
            while self.size > MAX_CACHED_BYTES:
                self._drop(next(iter(self._kept)))

    def forget(self, array: Any) -> None:
        """Drops the derived arrays of an array, before its sole owner writes to it."""
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
            self.size -= sum([derived.nbytes for derived in found[1].values()])


DERIVED = Derived()
