"""`tf.linalg`: products, decompositions and other functions of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from intaglio.tf.linalg.norms import (
    adjoint,
    cross,
    global_norm,
    l2_normalize,
    matrix_transpose,
    norm,
    normalize,
    trace,
)
from intaglio.tf.linalg.products import (
    einsum,
    matmul,
    matvec,
    tensordot,
)

__all__ = [
    "adjoint",
    "cross",
    "einsum",
    "global_norm",
    "l2_normalize",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "tensordot",
    "trace",
]
