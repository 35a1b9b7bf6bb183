"""Tensors of a graph without a value.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/placeholder.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import as_dtype
from intaglio.base.shapes import as_dims
from intaglio.opdef import door
from intaglio.opdef.tensor import Tensor
from intaglio.trace.recorder import Recorder


def placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor of the current graph that has no value. Raises RuntimeError eagerly.

    >>> with tf.Graph().as_default():
    ...     print(tf.compat.v1.placeholder(tf.float32, [None, 2]).shape)
    (None, 2)
    """
    level = door.level()
    if not isinstance(level, Recorder):
        raise RuntimeError("tf.placeholder() is not compatible with eager execution.")
    return level.graph.placeholder(as_dtype(dtype), as_dims(shape), name or "Placeholder")


__all__ = ["placeholder"]
