"""What conversion asks of modules that are imported after it: see `intaglio.base.hooks`."""

from __future__ import annotations

from types import ModuleType

from intaglio.base.hooks import Hooks


class AutographHooks(Hooks):
    """The calls of conversion to the modules that convert what converted code calls."""

    # What converted code knows as `ag__`.
    operators: ModuleType


HOOKS = AutographHooks()
