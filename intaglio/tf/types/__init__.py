"""`tf.types`: types for annotations and protocols."""

from intaglio.tf.types import experimental

__all__ = ["experimental"]
