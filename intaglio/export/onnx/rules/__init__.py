"""The rules of ops that are more than an elementwise expression. Importing this registers them."""

from intaglio.export.onnx.rules import (
    complex_numbers,
    control_flow,
    convolution,
    data_movement,
    elementwise,
    fourier,
    indexing,
    neural_networks,
    products,
    quantization,
    reductions,
    state,
    tensor_lists,
)

__all__ = [
    "complex_numbers",
    "control_flow",
    "convolution",
    "data_movement",
    "elementwise",
    "fourier",
    "indexing",
    "neural_networks",
    "products",
    "quantization",
    "reductions",
    "state",
    "tensor_lists",
]
