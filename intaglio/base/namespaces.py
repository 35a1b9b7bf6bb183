"""Modules that are tables: a tree of namespaces whose names are imported on first access."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from intaglio.base import later


class Namespaces:
    """The modules under `root`, of a table namespace -> name -> target.

    `home` is the module that has `module` as its `__getattr__`: there the table finds a
    namespace that is a name of another, with `__` for the dots of its path.
    """

    def __init__(
        self, root: str, home: str, table: Callable[[], Mapping[str, Mapping[str, str]]]
    ) -> None:
        self._root = root
        self._home = home
        self._read = table
        self._table: dict[str, dict[str, str]] | None = None

    def origins(self, space: str = "") -> dict[str, str]:
        """The names of a namespace, "" for the root, and where they are."""
        return self._tables()[space]

    def module(self, name: str) -> types.ModuleType:
        """The module of a namespace, created when it is first asked for."""
        space = name.replace("__", ".")
        if name.startswith("_") or space not in self._tables():
            raise AttributeError(f"module {self._home!r} has no attribute {name!r}")
        fullname = f"{self._root}.{space}"
        if fullname not in sys.modules:
            module: Any = types.ModuleType(fullname, f"`{space}` of {self._root}.")
            module.__path__ = []
            module.__getattr__, module.__dir__ = later.attributes(fullname, self.origins(space))
            sys.modules[fullname] = module
        return sys.modules[fullname]

    def _tables(self) -> dict[str, dict[str, str]]:
        if self._table is None:
            found = {"": dict[str, str]()}
            for space, names in self._read().items():
                found.setdefault(space, {}).update(names)
                while space:
                    above, _, name = space.rpartition(".")
                    target = f"{self._home}:{space.replace('.', '__')}"
                    found.setdefault(above, {}).setdefault(name, target)
                    space = above
            self._table = found
        return self._table
