"""Deferred restoration of variables that are created after `Checkpoint.restore`.

A restoration (`saved_model/restoration.py`) whose checkpoint has more objects than the program so far
is in `RESTORATIONS`. An object that becomes an attribute is restored when the attribute is set. Lists and
dicts give no notice of new elements. So a variable that may be put into one has the class `PendingVariable`
at first: on its first use every restoration looks for new objects, and the variable becomes an ordinary one.
Programs without a pending restoration pay one test for each variable that they create.
"""

from __future__ import annotations

import weakref
from typing import Any, Protocol


class PendingRestoration(Protocol):
    """A restoration for which objects are missing."""

    def look_again(self) -> None:
        """Restores the objects that have been added to lists and dicts."""
        ...


RESTORATIONS: weakref.WeakSet[PendingRestoration] = weakref.WeakSet()


def look_again() -> None:
    """Lets all pending restorations restore objects that were added to lists and dicts."""
    for restoration in [*RESTORATIONS]:
        restoration.look_again()


class PendingVariable:
    """The class of a variable until its first use; see `delay`."""

    # `__class__` can be assigned only if the layouts are the same.
    __slots__ = ()

    _ordinary: type[Any]
    _resource: Any
    _handle: Any


def _used(name: str) -> property:
    def use(variable: Any) -> Any:
        variable.__class__ = type(variable)._ordinary
        look_again()
        return getattr(variable, name)

    def store(variable: Any, value: Any) -> None:
        vars(variable)[name] = value

    return property(use, store)


_CLASSES: dict[type[Any], type[Any]] = {}


def delay(variable: Any) -> None:
    """Defers the restoration of a new variable to its first use."""
    look_again()
    ordinary = type(variable)
    if issubclass(ordinary, PendingVariable):
        return
    found = _CLASSES.get(ordinary)
    if found is None:
        space: dict[str, Any] = {n: _used(n) for n in ("_handle", "_resource")}
        space |= {"_ordinary": ordinary, "__module__": ordinary.__module__, "__slots__": ()}
        metaclass: Any = type(ordinary)
        found = metaclass(ordinary.__name__, (ordinary, PendingVariable), space)
        _CLASSES[ordinary] = found
    variable.__class__ = found


__all__ = ["RESTORATIONS", "PendingVariable", "delay", "look_again"]
