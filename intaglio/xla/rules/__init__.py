"""The rules of ops whose programs are not their recorded kernels. Importing this registers them."""

from intaglio.xla.rules import (
    control_flow,
    convolution,
    data_movement,
    effects,
    elementwise,
    linear_algebra,
    reductions,
    replicas,
    tensor_lists,
)

__all__ = [
    "control_flow",
    "convolution",
    "data_movement",
    "effects",
    "elementwise",
    "linear_algebra",
    "reductions",
    "replicas",
    "tensor_lists",
]
