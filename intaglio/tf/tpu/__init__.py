"""`tf.tpu`: descriptions that programs for TPUs share with others. There is no TPU.

Follows https://www.tensorflow.org/api_docs/python/tf/tpu.
"""

from intaglio.tf.tpu import experimental

__all__ = ["experimental"]
