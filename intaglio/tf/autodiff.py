"""`tf.autodiff`: forward-mode differentiation."""

from intaglio.autodiff.forward import ForwardAccumulator

__all__ = ["ForwardAccumulator"]
