"""Callbacks after the import of third-party modules."""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Callable, Sequence


class _Finder(importlib.abc.MetaPathFinder):
    """A meta path finder that wraps the loaders of modules with callbacks."""

    def __init__(self) -> None:
        self.calls: dict[str, Callable[[types.ModuleType], None]] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in self.calls:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            execute, call = spec.loader.exec_module, self.calls[fullname]

            def executed(module: types.ModuleType) -> None:
                execute(module)
                call(module)

            spec.loader.exec_module = executed  # type: ignore[method-assign]  # of this loader only
        return spec


_FINDER = _Finder()


def after_import(name: str, call: Callable[[types.ModuleType], None]) -> None:
    """Calls a function with a module after its import, or at once if it has been imported already.

    Nothing happens the second time for one module.
    """
    if name in _FINDER.calls:
        return
    _FINDER.calls[name] = call
    if _FINDER not in sys.meta_path:
        sys.meta_path.insert(0, _FINDER)
    if name in sys.modules:
        call(sys.modules[name])
