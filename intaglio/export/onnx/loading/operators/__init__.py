"""The operators of ONNX in ops. Importing this registers them."""

from intaglio.export.onnx.loading.operators import (
    control_flow,
    convolution,
    data_movement,
    elementwise,
    images,
    indexing,
    machine_learning,
    neural_networks,
    pooling,
    quantization,
    random,
    recurrent,
    reductions,
    sequences,
    signal,
    strings,
    training,
)
from intaglio.export.onnx.loading.registry import OPERATORS

__all__ = [
    "OPERATORS",
    "control_flow",
    "convolution",
    "data_movement",
    "elementwise",
    "images",
    "indexing",
    "machine_learning",
    "neural_networks",
    "pooling",
    "quantization",
    "random",
    "recurrent",
    "reductions",
    "sequences",
    "signal",
    "strings",
    "training",
]
