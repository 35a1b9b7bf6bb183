"""Variables that are created while values wait to be restored: they get theirs before their first use.

A restoration (`saved_model/restoration.py`) whose checkpoint has more objects than the program so far
is in `RESTORATIONS`. What becomes an attribute is restored when the attribute is set. A list or
dict tells nobody that it grows, so that a variable that may end up in one is of the class
`PendingVariable` at first, which lets every restoration look for new objects when the variable is used, and
then makes it an ordinary variable. Programs without a pending restoration pay one test for each variable
that they create.
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
    """Restores what has been added to lists and dicts since."""
    for restoration in [*RESTORATIONS]:
        restoration.look_again()


class PendingVariable:
    """What a variable is derived from until its first use; see `delay`."""

    # An object's class can be exchanged for one of the same layout only.
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
    """Makes a variable that has just been created look for its value in a checkpoint when it is first used."""
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
