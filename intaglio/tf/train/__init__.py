"""`tf.train`: checkpoints.

Follows https://www.tensorflow.org/api_docs/python/tf/train.
"""

from intaglio.tf.train.checkpoints import (
    Checkpoint,
    CheckpointManager,
    CheckpointOptions,
    get_checkpoint_state,
    latest_checkpoint,
    list_variables,
    load_checkpoint,
    load_variable,
)

__all__ = [
    "Checkpoint",
    "CheckpointManager",
    "CheckpointOptions",
    "get_checkpoint_state",
    "latest_checkpoint",
    "list_variables",
    "load_checkpoint",
    "load_variable",
]
