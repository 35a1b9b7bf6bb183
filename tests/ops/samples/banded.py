"""Samples of banded and tridiagonal matrices."""

from tests.ops.samples import each, f32, f64, of, sample

TYPES = ("float32", "float64", "complex64", "complex128")
LOWER = [[2.0, 3.0, 4.0, 5.0], [0.0, 1.0, -1.0, 2.0], [0.0, 0.0, 2.0, 1.0]]
UPPER = [[2.0, 1.0, 0.0, 0.0], [1.0, -1.0, 2.0, 0.0], [2.0, 3.0, 4.0, 5.0]]
THREE = [[1.0, 2.0, 1.5, 0.0], [5.0, -4.0, 6.0, 3.0], [0.0, 1.0, 2.0, 1.0]]
ZERO = [[1.0, 2.0, 9.0], [0.0, 0.0, 1.0], [9.0, 4.0, 5.0]]

for lower, bands in ((True, LOWER), (False, UPPER)):
    for adjoint in (False, True):
        each(
            TYPES,
            "BandedTriangularSolve",
            matrix=of(bands),
            rhs=(2, 4, 2),
            lower=lower,
            adjoint=adjoint,
            tol=2e-6,
            wrt=("rhs",),
        )
    sample(
        "BandedTriangularSolve",
        matrix=f64(bands),
        rhs=f64(4, 2),
        lower=lower,
        tol=1e-12,
        grad_tol=1e-4,
    )
sample(
    "BandedTriangularSolve",
    matrix=f32([[0.0, 1.0]]),
    rhs=f32(2, 1),
    error=("InvalidArgumentError", "not invertible"),
)
each(
    TYPES,
    "TridiagonalMatMul",
    superdiag=(2, 1, 4),
    maindiag=(2, 1, 4),
    subdiag=(2, 1, 4),
    rhs=(2, 4, 3),
    tol=2e-6,
)
for pivoting in (True, False):
    each(
        TYPES,
        "TridiagonalSolve",
        diagonals=of([THREE, THREE]),
        rhs=(2, 4, 2),
        partial_pivoting=pivoting,
        tol=2e-6,
    )
sample("TridiagonalSolve", diagonals=f64(ZERO), rhs=f64(3, 1), tol=1e-12)
sample("TridiagonalSolve", diagonals=f64(ZERO), rhs=f64(3, 1), partial_pivoting=False, grad="NaN")
sample(
    "TridiagonalSolve",
    diagonals=f32(2, 4),
    rhs=f32(4, 1),
    error=(
        "InvalidArgumentError",
        "Expected diagonals to be provided as a matrix with 3 rows, got 2 rows.",
    ),
)
