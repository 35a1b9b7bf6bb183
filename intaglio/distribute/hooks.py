"""Objects of later modules that contexts refer to: see `intaglio.base.hooks`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.distribute.cross_replica import SeparateReplicas
    from intaglio.distribute.strategy import DefaultStrategy


class DistributeHooks(Hooks):
    """The references of the contexts to the strategies."""

    # The strategy that is current where no other is.
    default_strategy: DefaultStrategy
    # What brings the values of replicas together that are no one program.
    separate: SeparateReplicas


HOOKS = DistributeHooks()
