"""Attributes of a module that are imported when they are first asked for (PEP 562).

The catalogue is large and a program uses little of it: what few programs need is a module of
its own, named in a table, and `import intaglio` does not pay for it.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any


def named(place: str) -> Any:
    """A module ("intaglio.tf.image") or a name in one ("intaglio.tf.image:ResizeMethod"), imported."""
    home, _, attribute = place.partition(":")
    module = importlib.import_module(home)
    return getattr(module, attribute) if attribute else module


def attributes(
    module: str, places: Mapping[str, str], advice: str = ""
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of `module`, by which it has what `places` names.

    A place is what `named` takes; `advice` is added to the message for other names. What was found stays in the module, so that only the
    first access comes here.

        __getattr__, __dir__ = later.attributes(__name__, {"image": "intaglio.tf.image"})

    Type checkers see nothing of this: the module imports the same names under TYPE_CHECKING.
    """

    def find(name: str) -> Any:
        if name not in places:
            message = f"module {module!r} has no attribute {name!r}{advice}"
            raise AttributeError(message, name=name, obj=sys.modules[module])
        found = named(places[name])
        setattr(sys.modules[module], name, found)
        return found

    def names() -> list[str]:
        return sorted({*vars(sys.modules[module]), *places})

    return find, names
