"""`tf.__internal__.distribute`: how optimizers bring replicas together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.distribute.strategy import (
    strategy_supports_no_merge_call,
    variable_sync_on_read_context,
)
from intaglio.distribute.unsupported import ShardedVariable
from intaglio.tf.internal.distribute import interim

if TYPE_CHECKING:
    from intaglio.distribute import combinations

# Tests of libraries only.
LATER = {"combinations": "intaglio.distribute.combinations"}

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, LATER)

__all__ = [
    "ShardedVariable",
    "combinations",
    "interim",
    "strategy_supports_no_merge_call",
    "variable_sync_on_read_context",
]
