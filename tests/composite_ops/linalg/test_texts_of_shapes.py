"""What errors of matrices say of shapes: TensorFlow 2.21 was asked for these phrases."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf

WIDE, TWO, ONE = [[1.0, 0.0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0]]
SQUARE = r"Input matrix must be square\."
CASES: list[tuple[Any, tuple[Any, ...], str]] = [
    (tf.linalg.solve, (WIDE, ONE), r"First input \(lhs\) must be a square matrix\."),
    (tf.linalg.solve, (TWO, ONE), r"Input matrix and rhs are incompatible\."),
    (tf.linalg.solve, ([1.0], [1.0]), r"Input tensor 0 must have rank >= 2, got 1"),
    (
        tf.linalg.triangular_solve,
        (WIDE, ONE),
        r"In\[0\] matrices in the last dimensions must be square \(2 =/= 1\)",
    ),
    (
        tf.linalg.triangular_solve,
        (TWO, ONE),
        r"In\[0\] mismatch In\[1\] shape: 2 vs\. 1: \[2,2\] \[1,1\] 1 0",
    ),
    (tf.linalg.inv, (WIDE,), SQUARE),
    (tf.linalg.inv, ([1.0],), r"Input tensor 0 must have rank >= 2, got 1"),
    (tf.linalg.det, (WIDE,), SQUARE),
    (tf.linalg.cholesky, (WIDE,), SQUARE),
    (tf.linalg.eigh, (WIDE,), SQUARE),
    (tf.linalg.slogdet, (WIDE,), SQUARE),
    (tf.linalg.sqrtm, (WIDE,), SQUARE),
    (tf.linalg.svd, ([1.0],), r"Input tensor 0 must have rank >= 2, got 1"),
    (tf.linalg.qr, ([1.0],), r"Input tensor 0 must have rank >= 2, got 1"),
]


@pytest.mark.parametrize(("function", "arguments", "text"), CASES)
def test_texts(function: Any, arguments: tuple[Any, ...], text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        function(*arguments)


@pytest.mark.parametrize("method", ["matmul", "solve", "matvec", "solvevec"])
@pytest.mark.parametrize("name", ["Diag", "FullMatrix", "LowerTriangular"])
def test_operators(name: str, method: str) -> None:
    operator = getattr(tf.linalg, "LinearOperator" + name)(TWO if name != "Diag" else [1.0, 2.0])
    argument = tf.ones([3] if "vec" in method else [3, 2])
    with pytest.raises(ValueError, match="Dimensions 2 and 3 are not compatible"):
        getattr(operator, method)(argument)
