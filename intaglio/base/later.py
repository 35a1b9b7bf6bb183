"""Attributes of a module that are imported on first access (PEP 562).

The catalogue is large and a program uses little of it: what few programs need is a module of
its own, named in a table, and `import intaglio` does not pay for it.
"""

from __future__ import annotations

import importlib
import operator
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from intaglio.base.locks import importing


def named(target: str) -> Any:
    """A module ("intaglio.tf.image") or a name in one ("intaglio.tf.image:ResizeMethod"), imported."""
    home, _, attribute = target.partition(":")
    with importing():
        module = importlib.import_module(home)
    return operator.attrgetter(attribute)(module) if attribute else module


class Module:
    """A proxy of a module, which is imported on the first access to an attribute."""

    def __init__(self, target: str) -> None:
        self._target = target

    def __getattr__(self, name: str) -> Any:
        return getattr(named(self._target), name)


# The attributes that every module has, and the version.
_OF_MODULES = {
    *("__builtins__", "__cached__", "__doc__", "__file__", "__loader__", "__name__"),
    *("__package__", "__path__", "__spec__", "__version__"),
}
# By package: the target of a function that returns the advice for a name that a module lacks.
_ADVISERS: dict[str, str] = {}


def advise(package: str, target: str) -> None:
    """Adds advice to the errors for names that modules of `package` lack.

    `target` is that of a function of the module and the name.
    """
    _ADVISERS[package] = target
    _adopt()


def _adopt() -> None:
    """Sets `__getattr__` and `__dir__` of the imported modules of packages with an adviser."""
    for name, module in list(sys.modules.items()):
        # In this order: a module whose import is blocked is None in `sys.modules`.
        if _adviser(name) and not {"__getattr__", "__dir__"} <= vars(module).keys():
            find, names = attributes(name, {})
            vars(module).setdefault("__getattr__", find)
            vars(module).setdefault("__dir__", names)


def _adviser(module: str) -> str | None:
    for package, target in _ADVISERS.items():
        if module == package or module.startswith(f"{package}."):
            return target
    return None


def attributes(
    module: str, origins: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `module`, by which it has what `origins` names.

    A target is an argument of `named`. The value stays in the module, so that only the first
    access comes here.

        __getattr__, __dir__ = later.attributes(__name__, {"image": "intaglio.tf.image"})

    Type checkers see nothing of this: the module imports the same names under TYPE_CHECKING.
    """

    def find(name: str) -> Any:
        if name == "__all__" and origins:  # of a module that does not say it: asked by `import *`
            return [n for n in sorted({*vars(sys.modules[module]), *origins}) if n[0] != "_"]
        if name not in origins:
            message = f"module {module!r} has no attribute {name!r}"
            adviser = None if name.startswith("__") else _adviser(module)
            if adviser is not None:
                message += named(adviser)(module, name)
            raise AttributeError(message, name=name, obj=sys.modules[module])
        found = named(origins[name])
        if isinstance(found, types.ModuleType) and _adviser(found.__name__):
            _adopt()
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        here = vars(sys.modules[module])
        if _adviser(module) is not None and "__all__" in here:  # what is public, and nothing else
            return sorted({*here["__all__"], *origins, *(_OF_MODULES & here.keys())})
        return sorted({*here, *origins})

    return find, names
