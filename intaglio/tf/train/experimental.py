"""`tf.train.experimental`: Python objects in checkpoints, and how checkpoints are cut into files.

Follows https://www.tensorflow.org/api_docs/python/tf/train/experimental.
"""

from __future__ import annotations

from intaglio.saved_model.sharding import (
    MaxShardSizePolicy,
    ShardableTensor,
    ShardByTaskPolicy,
    ShardingCallback,
)
from intaglio.state.python_state import PythonState

__all__ = [
    "MaxShardSizePolicy",
    "PythonState",
    "ShardByTaskPolicy",
    "ShardableTensor",
    "ShardingCallback",
]
