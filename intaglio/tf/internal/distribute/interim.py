"""`tf.__internal__.distribute.interim`: calls for all replicas, where that is needed."""

from __future__ import annotations

from intaglio.distribute.strategy import maybe_merge_call

__all__ = ["maybe_merge_call"]
