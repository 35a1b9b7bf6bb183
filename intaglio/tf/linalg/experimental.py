"""`tf.linalg.experimental`: iterative solution of linear equations.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/experimental/conjugate_gradient.
"""

from intaglio.linear_operators.conjugate_gradients import conjugate_gradient

__all__ = ["conjugate_gradient"]
