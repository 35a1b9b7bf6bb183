"""`tf.linalg`: products, decompositions and other functions of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.tf.arrays import eye
from intaglio.tf.diagonals import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
)
from intaglio.tf.linalg.decompositions import (
    cholesky,
    cholesky_solve,
    det,
    eigh,
    eigvalsh,
    inv,
    logdet,
    lstsq,
    matrix_rank,
    pinv,
    qr,
    slogdet,
    solve,
    svd,
    triangular_solve,
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
    "cholesky",
    "cholesky_solve",
    "cross",
    "det",
    "diag",
    "diag_part",
    "eigh",
    "eigvalsh",
    "einsum",
    "eye",
    "global_norm",
    "inv",
    "l2_normalize",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_rank",
    "matrix_transpose",
    "matvec",
    "norm",
    "normalize",
    "pinv",
    "qr",
    "set_diag",
    "slogdet",
    "solve",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
    "tensordot",
    "trace",
    "triangular_solve",
]

# Names that are imported when they are first asked for: see `intaglio.base.later`.
LATER: dict[str, str] = {
    "banded_triangular_solve": "intaglio.tf.linalg.factorisations:banded_triangular_solve",
    "eig": "intaglio.tf.linalg.factorisations:eig",
    "eigh_tridiagonal": "intaglio.tf.linalg.factorisations:eigh_tridiagonal",
    "eigvals": "intaglio.tf.linalg.factorisations:eigvals",
    "expm": "intaglio.tf.linalg.factorisations:expm",
    "logm": "intaglio.tf.linalg.factorisations:logm",
    "lu": "intaglio.tf.linalg.factorisations:lu",
    "lu_matrix_inverse": "intaglio.tf.linalg.factorisations:lu_matrix_inverse",
    "lu_reconstruct": "intaglio.tf.linalg.factorisations:lu_reconstruct",
    "lu_solve": "intaglio.tf.linalg.factorisations:lu_solve",
    "sqrtm": "intaglio.tf.linalg.factorisations:sqrtm",
    "tridiagonal_matmul": "intaglio.tf.linalg.factorisations:tridiagonal_matmul",
    "tridiagonal_solve": "intaglio.tf.linalg.factorisations:tridiagonal_solve",
}
__all__ += [*LATER]

if TYPE_CHECKING:
    from intaglio.tf.linalg.factorisations import (
        banded_triangular_solve,
        eig,
        eigh_tridiagonal,
        eigvals,
        expm,
        logm,
        lu,
        lu_matrix_inverse,
        lu_reconstruct,
        lu_solve,
        sqrtm,
        tridiagonal_matmul,
        tridiagonal_solve,
    )
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
