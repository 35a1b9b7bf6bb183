"""`tf.__internal__.distribute`: how optimizers bring replicas together."""

from __future__ import annotations

from intaglio.distribute.strategy import (
    strategy_supports_no_merge_call,
    variable_sync_on_read_context,
)
from intaglio.distribute.unsupported import ShardedVariable
from intaglio.tf.internal.distribute import interim

__all__ = [
    "ShardedVariable",
    "interim",
    "strategy_supports_no_merge_call",
    "variable_sync_on_read_context",
]
