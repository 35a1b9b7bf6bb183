"""Samples of factorisations, inverses, solutions and determinants."""

import numpy as np

from tests.ops.samples import each, f32, f64, of, sample, sums

TYPES = ("float32", "float64", "complex64", "complex128")
SIGNS = "vectors have no sign of their own: tests/ops/test_decomposition.py"
R = np.random.RandomState(5).uniform(-1, 1, (2, 3, 3))
POSITIVE = (R @ R.swapaxes(-1, -2) + 2 * np.eye(3)).round(3).tolist()
GENERAL = (R + 2 * np.eye(3)).round(3).tolist()
EMPTY = "the vectors left out have no defined shape: tests/composite_ops/nn"
VECTORS = "TensorFlow has no gradient either"

each(TYPES, "Cholesky", input=of(POSITIVE), tol=1e-5, grad="the upper triangle is not read")
each(TYPES, "MatrixInverse", input=of(GENERAL), tol=1e-5)
sample("MatrixInverse", input=f64(GENERAL), adjoint=True, tol=1e-12)
sample(
    "MatrixInverse",
    input=f32([[1.0, 2.0], [2.0, 4.0]]),
    error=("InvalidArgumentError", "Input is not invertible."),
)
sample("MatrixInverse", input=f32(2, 3), error=("InvalidArgumentError", "must be square"))
each(TYPES, "MatrixSolve", matrix=of(GENERAL), rhs=(2, 3, 2), tol=1e-5)
sample("MatrixSolve", matrix=f64(GENERAL), rhs=f64(2, 3, 1), adjoint=True, tol=1e-12)
each(TYPES, "MatrixTriangularSolve", matrix=of(GENERAL), rhs=(2, 3, 2), tol=1e-5)
for lower, adjoint in ((True, True), (False, False), (False, True)):
    sample(
        "MatrixTriangularSolve",
        matrix=f64(GENERAL),
        rhs=f64(2, 3, 2),
        lower=lower,
        adjoint=adjoint,
        tol=1e-12,
    )
sample("MatrixTriangularSolve", matrix=f64(GENERAL[0]), rhs=f64(2, 3, 2), tol=1e-12)
each(TYPES, "MatrixDeterminant", input=of(GENERAL), tol=1e-5)
sums(("float32", "float64"), "LogMatrixDeterminant", input=of(GENERAL))
sample("Qr", input=f64(2, 4, 3), parity=SIGNS, grad_tol=1e-4)
sample("Qr", input=f64(2, 3, 4), parity=SIGNS, grad="no gradient for wide matrices")
sample("Qr", input=f64(4, 3), full_matrices=True, parity=SIGNS, grad="no gradient")
each(
    TYPES,
    "SelfAdjointEigV2",
    input=of(POSITIVE),
    compute_v=False,
    parity=EMPTY,
    grad="the upper triangle is not read",
)
sample("SelfAdjointEigV2", input=f64(POSITIVE), parity=SIGNS, grad="the upper triangle is not read")
each(("float32", "float64"), "Svd", input=(2, 3, 4), compute_uv=False, parity=EMPTY)
sample("Svd", input=f64(2, 3, 4), parity=SIGNS, grad_tol=1e-4)
sample("Svd", input=f64(4, 3), full_matrices=True, parity=SIGNS, grad=VECTORS)
