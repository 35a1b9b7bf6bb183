"""Intaglio: `tf.function` without TensorFlow."""

from intaglio import ops
from intaglio.runtime import eager, random_state

__version__ = "0.1.0"

eager.install_fast_operators()

__all__ = ["__version__", "ops", "random_state"]
