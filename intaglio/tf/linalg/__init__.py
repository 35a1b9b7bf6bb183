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
    "LinearOperator": "intaglio.tf.linalg.operators.composed:LinearOperator",
    "LinearOperatorAdjoint": "intaglio.tf.linalg.operators.composed:LinearOperatorAdjoint",
    "LinearOperatorBlockDiag": "intaglio.tf.linalg.operators.blocks:LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular": "intaglio.tf.linalg.operators.blocks:LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant": "intaglio.tf.linalg.operators.circulant:LinearOperatorCirculant",
    "LinearOperatorCirculant2D": "intaglio.tf.linalg.operators.circulant:LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D": "intaglio.tf.linalg.operators.circulant:LinearOperatorCirculant3D",
    "LinearOperatorComposition": "intaglio.tf.linalg.operators.composed:LinearOperatorComposition",
    "LinearOperatorDiag": "intaglio.tf.linalg.operators.structured:LinearOperatorDiag",
    "LinearOperatorFullMatrix": "intaglio.tf.linalg.operators.structured:LinearOperatorFullMatrix",
    "LinearOperatorHouseholder": "intaglio.tf.linalg.operators.patterned:LinearOperatorHouseholder",
    "LinearOperatorIdentity": "intaglio.tf.linalg.operators.structured:LinearOperatorIdentity",
    "LinearOperatorInversion": "intaglio.tf.linalg.operators.composed:LinearOperatorInversion",
    "LinearOperatorKronecker": "intaglio.tf.linalg.operators.composed:LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate": "intaglio.tf.linalg.operators.composed:LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular": "intaglio.tf.linalg.operators.structured:LinearOperatorLowerTriangular",
    "LinearOperatorPermutation": "intaglio.tf.linalg.operators.patterned:LinearOperatorPermutation",
    "LinearOperatorScaledIdentity": "intaglio.tf.linalg.operators.structured:LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz": "intaglio.tf.linalg.operators.patterned:LinearOperatorToeplitz",
    "LinearOperatorTridiag": "intaglio.tf.linalg.operators.patterned:LinearOperatorTridiag",
    "LinearOperatorZeros": "intaglio.tf.linalg.operators.structured:LinearOperatorZeros",
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
    from intaglio.tf.linalg.operators.blocks import (
        LinearOperatorBlockDiag,
        LinearOperatorBlockLowerTriangular,
    )
    from intaglio.tf.linalg.operators.circulant import (
        LinearOperatorCirculant,
        LinearOperatorCirculant2D,
        LinearOperatorCirculant3D,
    )
    from intaglio.tf.linalg.operators.composed import (
        LinearOperatorAdjoint,
        LinearOperatorComposition,
        LinearOperatorInversion,
        LinearOperatorKronecker,
        LinearOperatorLowRankUpdate,
    )
    from intaglio.tf.linalg.operators.operator import LinearOperator
    from intaglio.tf.linalg.operators.patterned import (
        LinearOperatorHouseholder,
        LinearOperatorPermutation,
        LinearOperatorToeplitz,
        LinearOperatorTridiag,
    )
    from intaglio.tf.linalg.operators.structured import (
        LinearOperatorDiag,
        LinearOperatorFullMatrix,
        LinearOperatorIdentity,
        LinearOperatorLowerTriangular,
        LinearOperatorScaledIdentity,
        LinearOperatorZeros,
    )
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
