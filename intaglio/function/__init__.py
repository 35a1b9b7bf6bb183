"""`tf.function`: trace types, signatures, the trace cache, concrete functions."""

from intaglio.function import pipeline

__all__ = ["pipeline"]
