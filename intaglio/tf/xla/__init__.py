"""What programs say to XLA: `tf.xla`. Intaglio's own compiler is meant by it.

Follows https://www.tensorflow.org/api_docs/python/tf/xla.
"""

from intaglio.tf.xla import experimental

__all__ = ["experimental"]
