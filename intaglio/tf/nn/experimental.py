"""`tf.nn.experimental`.

Follows https://www.tensorflow.org/api_docs/python/tf/nn/experimental.
"""

from intaglio.composite_ops.nn.dropouts import general_dropout, stateless_dropout

__all__ = ["general_dropout", "stateless_dropout"]
