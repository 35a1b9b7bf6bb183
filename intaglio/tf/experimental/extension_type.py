"""`tf.experimental.extension_type`: helpers for values of extension types.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/extension_type.
"""

from intaglio.type_specs.extension_type import as_dict

__all__ = ["as_dict"]
