"""`tf.__internal__`: functions that TensorFlow has for libraries such as Keras only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.base.composite import CompositeTensor
from intaglio.composite_ops import smart_cond
from intaglio.runtime.eager import EagerTensor
from intaglio.tensorflow_name.internal_names import SPACES
from intaglio.tf.internal import distribute, tracking, types
from intaglio.trace.opened_graph import OpenedGraph as FuncGraph

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(__name__, SPACES.origins())

__all__ = [
    "CompositeTensor",
    "EagerTensor",
    "FuncGraph",
    "distribute",
    "smart_cond",
    "tracking",
    "types",
]
