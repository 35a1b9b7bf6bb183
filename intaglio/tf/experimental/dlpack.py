"""`tf.experimental.dlpack`: memory shared with other array libraries.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/dlpack.
"""

from intaglio.runtime.dlpack import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
