"""`tf.xla`: requests to XLA, which apply to Intaglio's own compiler.

Follows https://www.tensorflow.org/api_docs/python/tf/xla.
"""

from intaglio.tf.xla import experimental

__all__ = ["experimental"]
