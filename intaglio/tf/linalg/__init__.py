"""`tf.linalg`: products, decompositions and other functions of matrices.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from typing import TYPE_CHECKING

from intaglio.base import later
from intaglio.composite_ops.array.creation import eye
from intaglio.composite_ops.linalg.decompositions import (
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
from intaglio.composite_ops.linalg.diagonals import (
    band_part,
    diag,
    diag_part,
    set_diag,
    tensor_diag,
    tensor_diag_part,
)
from intaglio.composite_ops.linalg.norms import (
    adjoint,
    cross,
    global_norm,
    l2_normalize,
    matrix_transpose,
    norm,
    normalize,
    trace,
)
from intaglio.composite_ops.linalg.products import einsum, matmul, matvec, tensordot

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

# Names that are imported on first access: see `intaglio.base.later`.
LATER: dict[str, str] = {
    "experimental": "intaglio.tf.linalg.experimental",
    "LinearOperator": "intaglio.linear_operators.composed:LinearOperator",
    "LinearOperatorAdjoint": "intaglio.linear_operators.composed:LinearOperatorAdjoint",
    "LinearOperatorBlockDiag": "intaglio.linear_operators.blocks:LinearOperatorBlockDiag",
    "LinearOperatorBlockLowerTriangular": "intaglio.linear_operators.blocks:LinearOperatorBlockLowerTriangular",
    "LinearOperatorCirculant": "intaglio.linear_operators.circulant:LinearOperatorCirculant",
    "LinearOperatorCirculant2D": "intaglio.linear_operators.circulant:LinearOperatorCirculant2D",
    "LinearOperatorCirculant3D": "intaglio.linear_operators.circulant:LinearOperatorCirculant3D",
    "LinearOperatorComposition": "intaglio.linear_operators.composed:LinearOperatorComposition",
    "LinearOperatorDiag": "intaglio.linear_operators.structured:LinearOperatorDiag",
    "LinearOperatorFullMatrix": "intaglio.linear_operators.structured:LinearOperatorFullMatrix",
    "LinearOperatorHouseholder": "intaglio.linear_operators.patterned:LinearOperatorHouseholder",
    "LinearOperatorIdentity": "intaglio.linear_operators.structured:LinearOperatorIdentity",
    "LinearOperatorInversion": "intaglio.linear_operators.composed:LinearOperatorInversion",
    "LinearOperatorKronecker": "intaglio.linear_operators.composed:LinearOperatorKronecker",
    "LinearOperatorLowRankUpdate": "intaglio.linear_operators.composed:LinearOperatorLowRankUpdate",
    "LinearOperatorLowerTriangular": "intaglio.linear_operators.structured:LinearOperatorLowerTriangular",
    "LinearOperatorPermutation": "intaglio.linear_operators.patterned:LinearOperatorPermutation",
    "LinearOperatorScaledIdentity": "intaglio.linear_operators.structured:LinearOperatorScaledIdentity",
    "LinearOperatorToeplitz": "intaglio.linear_operators.patterned:LinearOperatorToeplitz",
    "LinearOperatorTridiag": "intaglio.linear_operators.patterned:LinearOperatorTridiag",
    "LinearOperatorZeros": "intaglio.linear_operators.structured:LinearOperatorZeros",
    "banded_triangular_solve": "intaglio.composite_ops.linalg.factorisations:banded_triangular_solve",
    "eig": "intaglio.composite_ops.linalg.factorisations:eig",
    "eigh_tridiagonal": "intaglio.composite_ops.linalg.factorisations:eigh_tridiagonal",
    "eigvals": "intaglio.composite_ops.linalg.factorisations:eigvals",
    "expm": "intaglio.composite_ops.linalg.factorisations:expm",
    "logm": "intaglio.composite_ops.linalg.factorisations:logm",
    "lu": "intaglio.composite_ops.linalg.factorisations:lu",
    "lu_matrix_inverse": "intaglio.composite_ops.linalg.factorisations:lu_matrix_inverse",
    "lu_reconstruct": "intaglio.composite_ops.linalg.factorisations:lu_reconstruct",
    "lu_solve": "intaglio.composite_ops.linalg.factorisations:lu_solve",
    "sqrtm": "intaglio.composite_ops.linalg.factorisations:sqrtm",
    "tridiagonal_matmul": "intaglio.composite_ops.linalg.factorisations:tridiagonal_matmul",
    "tridiagonal_solve": "intaglio.composite_ops.linalg.factorisations:tridiagonal_solve",
}
__all__ += [*LATER]

if TYPE_CHECKING:
    from intaglio.composite_ops.linalg.factorisations import (
        banded_triangular_solve as banded_triangular_solve,
    )
    from intaglio.composite_ops.linalg.factorisations import eig as eig
    from intaglio.composite_ops.linalg.factorisations import eigh_tridiagonal as eigh_tridiagonal
    from intaglio.composite_ops.linalg.factorisations import eigvals as eigvals
    from intaglio.composite_ops.linalg.factorisations import expm as expm
    from intaglio.composite_ops.linalg.factorisations import logm as logm
    from intaglio.composite_ops.linalg.factorisations import lu as lu
    from intaglio.composite_ops.linalg.factorisations import lu_matrix_inverse as lu_matrix_inverse
    from intaglio.composite_ops.linalg.factorisations import lu_reconstruct as lu_reconstruct
    from intaglio.composite_ops.linalg.factorisations import lu_solve as lu_solve
    from intaglio.composite_ops.linalg.factorisations import sqrtm as sqrtm
    from intaglio.composite_ops.linalg.factorisations import (
        tridiagonal_matmul as tridiagonal_matmul,
    )
    from intaglio.composite_ops.linalg.factorisations import tridiagonal_solve as tridiagonal_solve
    from intaglio.linear_operators.blocks import LinearOperatorBlockDiag as LinearOperatorBlockDiag
    from intaglio.linear_operators.blocks import (
        LinearOperatorBlockLowerTriangular as LinearOperatorBlockLowerTriangular,
    )
    from intaglio.linear_operators.circulant import (
        LinearOperatorCirculant as LinearOperatorCirculant,
    )
    from intaglio.linear_operators.circulant import (
        LinearOperatorCirculant2D as LinearOperatorCirculant2D,
    )
    from intaglio.linear_operators.circulant import (
        LinearOperatorCirculant3D as LinearOperatorCirculant3D,
    )
    from intaglio.linear_operators.composed import LinearOperatorAdjoint as LinearOperatorAdjoint
    from intaglio.linear_operators.composed import (
        LinearOperatorComposition as LinearOperatorComposition,
    )
    from intaglio.linear_operators.composed import (
        LinearOperatorInversion as LinearOperatorInversion,
    )
    from intaglio.linear_operators.composed import (
        LinearOperatorKronecker as LinearOperatorKronecker,
    )
    from intaglio.linear_operators.composed import (
        LinearOperatorLowRankUpdate as LinearOperatorLowRankUpdate,
    )
    from intaglio.linear_operators.operator import LinearOperator as LinearOperator
    from intaglio.linear_operators.patterned import (
        LinearOperatorHouseholder as LinearOperatorHouseholder,
    )
    from intaglio.linear_operators.patterned import (
        LinearOperatorPermutation as LinearOperatorPermutation,
    )
    from intaglio.linear_operators.patterned import LinearOperatorToeplitz as LinearOperatorToeplitz
    from intaglio.linear_operators.patterned import LinearOperatorTridiag as LinearOperatorTridiag
    from intaglio.linear_operators.structured import LinearOperatorDiag as LinearOperatorDiag
    from intaglio.linear_operators.structured import (
        LinearOperatorFullMatrix as LinearOperatorFullMatrix,
    )
    from intaglio.linear_operators.structured import (
        LinearOperatorIdentity as LinearOperatorIdentity,
    )
    from intaglio.linear_operators.structured import (
        LinearOperatorLowerTriangular as LinearOperatorLowerTriangular,
    )
    from intaglio.linear_operators.structured import (
        LinearOperatorScaledIdentity as LinearOperatorScaledIdentity,
    )
    from intaglio.linear_operators.structured import LinearOperatorZeros as LinearOperatorZeros
    from intaglio.tf.linalg import experimental as experimental
else:
    __getattr__, __dir__ = later.attributes(__name__, LATER)
