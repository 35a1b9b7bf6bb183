"""Checkpoints: values on disk without the functions that use them.

Follows https://www.tensorflow.org/api_docs/python/tf/train and
https://www.tensorflow.org/guide/checkpoint.
"""

from __future__ import annotations

from typing import Any

from intaglio.saved_model.checkpoint import (
    Checkpoint,
    CheckpointManager,
    get_checkpoint_state,
    latest_checkpoint,
    load_checkpoint,
)
from intaglio.saved_model.checkpoint_options import CheckpointOptions


def list_variables(ckpt_dir_or_file: Any) -> list[tuple[str, list[int]]]:
    """(name, shape) of each value of a checkpoint, by name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable([1.0])).save(folder + "/c")
    ...     [name for name, shape in tf.train.list_variables(path) if shape]
    ['v/.ATTRIBUTES/VARIABLE_VALUE']
    """
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file: Any, name: str) -> Any:
    """One value of a checkpoint. Raises NotFoundError if there is none of that name.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.train.Checkpoint(v=tf.Variable([1.5])).save(folder + "/c")
    ...     print(tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE"))
    [1.5]
    """
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


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
