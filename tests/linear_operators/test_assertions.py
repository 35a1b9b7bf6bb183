"""What linear operators assert; TensorFlow 2.21 was asked for errors and the beginnings of messages."""

from __future__ import annotations

from typing import Any

import pytest

from intaglio import tf

DIAG = tf.linalg.LinearOperatorDiag([1.0, 0.0])
SINGULAR = "Singular operator:  Diagonal contained zero values."
NOT_POSITIVE = "Real diagonal operator had non-positive diagonal entries, thus was not positive"
OPERATORS: dict[str, Any] = {
    "diagonal": DIAG,
    "complex": tf.linalg.LinearOperatorDiag([1j, 1 + 0j]),
    "triangular": tf.linalg.LinearOperatorLowerTriangular([[1.0, 0.0], [1.0, 0.0]]),
    "full": tf.linalg.LinearOperatorFullMatrix([[1.0, 0.0], [1.0, 1.0]]),
    "scaled": tf.linalg.LinearOperatorScaledIdentity(2, 0.0),
    "circulant": tf.linalg.LinearOperatorCirculant([0j, 1 + 0j]),
    "zeros": tf.linalg.LinearOperatorZeros(2),
    "kronecker": tf.linalg.LinearOperatorKronecker([DIAG]),
    "blocks": tf.linalg.LinearOperatorBlockDiag([DIAG]),
    "composition": tf.linalg.LinearOperatorComposition([DIAG]),
    "householder": tf.linalg.LinearOperatorHouseholder([0.0, 0.0]),
    "inversion": tf.linalg.LinearOperatorInversion(DIAG),
    "adjoint": tf.linalg.LinearOperatorAdjoint(DIAG),
    "triangle of blocks": tf.linalg.LinearOperatorBlockLowerTriangular([[DIAG]]),
    "tridiagonal": tf.linalg.LinearOperatorTridiag(
        ([1.0, 1.0], [3.0, 3.0], [0.0, 0.0]), diagonals_format="sequence"
    ),
    "identity": tf.linalg.LinearOperatorIdentity(2),
}
NO_RULE = NotImplementedError, "assert_positive_definite is not implemented"
REFUSED: dict[tuple[str, str], Any] = {
    ("diagonal", "non_singular"): SINGULAR,
    ("diagonal", "positive_definite"): NOT_POSITIVE,
    ("complex", "positive_definite"): "Diagonal operator had diagonal entries with non-positive",
    ("complex", "self_adjoint"): "This diagonal operator contained non-zero imaginary values",
    ("triangular", "non_singular"): SINGULAR,
    ("triangular", "positive_definite"): NO_RULE,
    ("triangular", "self_adjoint"): "Matrix was not equal to its adjoint",
    ("full", "positive_definite"): NO_RULE,
    ("full", "self_adjoint"): "Matrix was not equal to its adjoint",
    ("scaled", "non_singular"): "LinearOperator was singular",
    ("scaled", "positive_definite"): "LinearOperator was not positive definite",
    ("circulant", "non_singular"): "Singular operator:  Spectrum contained zero values",
    ("circulant", "positive_definite"): "Not positive definite:  Real part of spectrum was not all",
    ("zeros", "non_singular"): "Zero operators are always non-invertible",
    ("zeros", "positive_definite"): "Zero operators are always non-positive definite",
    ("kronecker", "non_singular"): SINGULAR,
    ("blocks", "non_singular"): SINGULAR,
    ("blocks", "positive_definite"): NOT_POSITIVE,
    ("composition", "non_singular"): SINGULAR,
    ("householder", "positive_definite"): "Householder operators are always non-positive definite",
    ("inversion", "non_singular"): SINGULAR,
    ("inversion", "positive_definite"): NOT_POSITIVE,
    ("adjoint", "non_singular"): SINGULAR,
    ("triangle of blocks", "non_singular"): SINGULAR,
    ("triangle of blocks", "positive_definite"): NO_RULE,
    ("tridiagonal", "positive_definite"): NO_RULE,
    ("tridiagonal", "self_adjoint"): "This tridiagonal operator has non-conjugate subdiagonal",
}
# What they cannot know of themselves, TensorFlow answers by a factorisation of a singular matrix.
UNDEFINED = {
    ("kronecker", "positive_definite"),
    ("composition", "positive_definite"),
    ("adjoint", "positive_definite"),
}


ASSERTIONS = [
    (name, what)
    for name in OPERATORS
    for what in ("non_singular", "positive_definite", "self_adjoint")
    if (name, what) not in UNDEFINED
]


@pytest.mark.parametrize(("name", "what"), ASSERTIONS)
def test_assertions(name: str, what: str):
    check = getattr(OPERATORS[name], f"assert_{what}")
    refusal = REFUSED.get((name, what))
    if refusal is None:
        assert check() is None
        return
    kind, text = (
        refusal if isinstance(refusal, tuple) else (tf.errors.InvalidArgumentError, refusal)
    )
    with pytest.raises(kind, match=text):
        check()
    if kind is not NotImplementedError and name not in ("zeros", "householder"):
        traced = tf.function(lambda: (check(), tf.constant(1.0))[1])
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            traced()


@pytest.mark.parametrize("dtype", [tf.float64, tf.complex64])
def test_a_graph_factorises_for_the_assertion_alone(dtype: Any):
    """TensorFlow 2.21 was asked for the class of the error."""

    def checked(matrix: Any) -> Any:
        tf.linalg.LinearOperatorFullMatrix(matrix, is_self_adjoint=True).assert_positive_definite()
        return matrix

    good = tf.constant([[2, 1], [1, 2]], dtype)
    for run in (checked, tf.function(checked), tf.function(checked, jit_compile=True)):
        assert (run(good).numpy() == good.numpy()).all()
        with pytest.raises(tf.errors.InvalidArgumentError, match="not positive definite"):
            run(tf.constant([[1, 2], [2, 1]], dtype))
