"""The documented TensorFlow API. `from intaglio import tf`."""

import intaglio.ops  # the catalogue
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.ir.graph import Node as Operation
from intaglio.op import raw as raw_ops
from intaglio.op.tensor import Tensor
from intaglio.tf.gradients import GradientTape, IndexedSlices, UnconnectedGradients
from intaglio.trace.graph import Graph

__version__ = "2.21.0"

__all__ = [
    "DType",
    "GradientTape",
    "Graph",
    "IndexedSlices",
    "Operation",
    "Tensor",
    "TensorShape",
    "UnconnectedGradients",
    "as_dtype",
    "raw_ops",
]
