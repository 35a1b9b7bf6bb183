"""Functions that only one thread runs at a time: `tf.CriticalSection`.

Follows https://www.tensorflow.org/api_docs/python/tf/CriticalSection.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.ir.graph import Node
from intaglio.opdef import convert, raw
from intaglio.trace.scopes import control_dependencies, init_scope, name_scope


class _Inside(threading.local):
    """The critical sections that the current thread is executing."""

    def __init__(self) -> None:
        self.sections: list[Any] = []


_inside = _Inside()


class CriticalSection:
    """A lock around functions: it executes one function at a time.

    Sections with the same `shared_name` have one lock.

    >>> section = tf.CriticalSection()
    >>> int(section.execute(lambda: tf.constant(3)))
    3
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: Any = None,
        import_scope: Any = None,
    ) -> None:
        if critical_section_def is not None:
            raise ValueError("critical_section_def is not supported.")
        self._name = shared_name or name or "critical_section"
        with init_scope():
            self._handle = raw.MutexV2(shared_name=shared_name or "", name=name)

    @property
    def name(self) -> str:
        """The name that was given."""
        return self._name

    def execute(
        self, fn: Callable[[], Any], exclusive_resource_access: bool = True, name: str | None = None
    ) -> Any:
        """The results of `fn()` as tensors, executed while no other thread or graph is in the section.

        Raises ValueError for what is not callable, and inside of the section itself.
        """
        if not callable(fn):
            raise ValueError("fn must be callable.")
        if any(s is self for s in _inside.sections):
            raise ValueError(
                f"Attempting to lock a CriticalSection (name={self._name!r}) in which we are "
                "already running. This is illegal and may cause deadlocks."
            )
        _inside.sections.append(self)
        try:
            with name_scope(name or "critical_section_execute"):
                return self._locked(fn)
        finally:
            _inside.sections.pop()

    def _locked(self, fn: Callable[[], Any]) -> Any:
        lock = raw.MutexLock(self._handle)
        try:
            with control_dependencies([lock]):
                result = nest.map_structure(_as_tensor, fn())
        finally:
            raw.ConsumeMutexLock(lock)
        return result


def _as_tensor(value: Any) -> Any:
    if value is None or isinstance(value, (CompositeTensor, Node)):
        return value
    return convert.to_tensor(value)


__all__ = ["CriticalSection"]
