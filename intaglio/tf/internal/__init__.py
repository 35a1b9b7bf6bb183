"""`tf.__internal__`: functions that TensorFlow has for libraries such as Keras only."""

from __future__ import annotations

from intaglio.base.composite import CompositeTensor
from intaglio.composite_ops import smart_cond
from intaglio.runtime.eager import EagerTensor
from intaglio.tf.internal import distribute, tracking, types
from intaglio.trace.graph import FuncGraph

__all__ = [
    "CompositeTensor",
    "EagerTensor",
    "FuncGraph",
    "distribute",
    "smart_cond",
    "tracking",
    "types",
]
