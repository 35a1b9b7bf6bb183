"""Functions of upper layers that growing lists call: see `intaglio.base.hooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.type_specs.grown_list import ListObserver


class TypeSpecHooks(Hooks):
    """The upward calls of composite values."""

    # Is shown what is done to lists that grow.
    list_observer: ListObserver


HOOKS = TypeSpecHooks()
