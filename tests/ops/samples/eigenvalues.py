"""Samples of eigenvalues of general matrices, and LU."""

import numpy as np

from tests.ops.samples import INDEX, T, each, f32, f64, of, sample

TYPES = ("float32", "float64", "complex64", "complex128")
R = np.random.RandomState(9).uniform(-1, 1, (2, 3, 3)).round(3)
GENERAL = (R + 2 * np.eye(3)).tolist()
ORDER = "eigenvalues have no order of their own: tests/composite_ops/linalg"

sample("Eig", input=f64(GENERAL), Tout="complex128", parity=ORDER, grad="complex")
sample("Eig", input=f32(GENERAL), Tout="complex64", parity=ORDER)
sample("Eig", input=f64(GENERAL), Tout="complex128", compute_v=False, parity=ORDER)
sample("Eig", input=f32(2, 3), Tout="complex64", error=("InvalidArgumentError", "square"))
each(TYPES, "Lu", input=of(GENERAL), tol=1e-5)
each(
    INDEX,
    "Lu",
    input=f64([[0.0, 2.0, 1.0], [2.0, 4.0, 3.0], [1.0, 1.0, 5.0]]),
    output_idx_type=T,
    tol=1e-12,
)
sample(
    "Lu",
    input=f32([[1.0, 2.0], [2.0, 4.0]]),
    error=("InvalidArgumentError", "Input is not invertible."),
)
sample("Lu", input=f32(2, 3), error=("InvalidArgumentError", "must be square"))
