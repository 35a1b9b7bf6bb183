"""What recording asks of the layers above: see `intaglio.base.hooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.trace.grown_list import Witness


class TraceHooks(Hooks):
    """The upward calls of recording."""

    # Is shown what is done to lists that grow.
    list_witness: Witness


HOOKS = TraceHooks()
