"""Functions of later modules that conversion calls: see `intaglio.base.hooks`."""

from __future__ import annotations

from types import ModuleType

from intaglio.base.hooks import Hooks


class AutographHooks(Hooks):
    """The calls of conversion to the modules that convert what converted code calls."""

    # The module that converted code refers to as `ag__`.
    operators: ModuleType


HOOKS = AutographHooks()
