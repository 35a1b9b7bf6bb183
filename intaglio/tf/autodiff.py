"""`tf.autodiff`."""

from intaglio.autodiff.forward import ForwardAccumulator
from intaglio.autodiff.gradient_tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
