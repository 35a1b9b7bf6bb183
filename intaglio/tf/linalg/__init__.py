"""`tf.linalg`: products, decompositions and other functions of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from intaglio.tf.arrays import eye
from intaglio.tf.diagonals import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
)
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
    "band_part",
    "cross",
    "diag",
    "diag_part",
    "einsum",
    "eye",
    "global_norm",
    "l2_normalize",
    "matmul",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "set_diag",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
]
