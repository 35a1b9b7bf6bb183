"""Samples of square roots, logarithms and exponentials of matrices, and least squares."""

import numpy as np

from tests.ops.samples import each, f32, f64, of, sample

TYPES = ("float32", "float64", "complex64", "complex128")
COMPLEX = TYPES[2:]
R = np.random.RandomState(7).uniform(-1, 1, (2, 3, 3)).round(3)
GENERAL = (R + 2 * np.eye(3)).tolist()
JORDAN = [[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [0.0, 0.0, -1.0]]
SINGULAR = [[0.0, 0.0], [0.0, 4.0]]
WITHDRAWN = "TensorFlow has withdrawn the kernel"

each(TYPES, "MatrixSquareRoot", input=of(GENERAL), tol=1e-5)
each(TYPES, "MatrixSquareRoot", input=of(SINGULAR), tol=1e-6, grad="singular")
sample("MatrixSquareRoot", input=f64([[-1.0, 0.0], [0.0, 4.0]]), grad="NaN")
each(COMPLEX, "MatrixSquareRoot", input=of(JORDAN), tol=1e-5, grad="on the cut")
sample("MatrixSquareRoot", input=f64(0, 2, 2))
sample("MatrixSquareRoot", input=f32(2, 3), error=("InvalidArgumentError", "must be square"))
each(COMPLEX, "MatrixLogarithm", input=of(GENERAL), tol=1e-5)
each(COMPLEX, "MatrixLogarithm", input=of(JORDAN), tol=1e-5, grad="on the cut")
each(
    COMPLEX,
    "MatrixLogarithm",
    input=of([[1e-4, 3.0], [0.0, 2e3]]),
    tol=1e-4,
    parity=True,
    grad="too steep",
)
each(COMPLEX, "MatrixLogarithm", input=of(SINGULAR), tol=1e-6, grad="singular")
each(TYPES, "MatrixExponential", input=(2, 3, 3), parity=WITHDRAWN)
each(
    TYPES,
    "MatrixSolveLs",
    matrix=(2, 4, 3),
    rhs=(2, 4, 2),
    l2_regularizer=f64.of(0.1),
    tol=1e-4,
    wrt=("matrix", "rhs"),
)
each(
    TYPES,
    "MatrixSolveLs",
    matrix=(2, 3, 4),
    rhs=(2, 3, 2),
    l2_regularizer=f64.of(0.1),
    tol=1e-4,
    wrt=("matrix", "rhs"),
)
each(
    TYPES,
    "MatrixSolveLs",
    matrix=(3, 4),
    rhs=(3, 2),
    l2_regularizer=f64.of(0.0),
    fast=False,
    tol=1e-4,
    grad="the gradient is that of the fast way",
)
sample(
    "MatrixSolveLs",
    matrix=f32([[0.0, 0.0], [0.0, 0.0]]),
    rhs=f32(2, 1),
    l2_regularizer=f64.of(0.0),
    error=("InvalidArgumentError", "rank deficient"),
)
