"""Identities and zeros of a shape that is known when they run. TensorFlow 2.21 was asked for every answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from intaglio import tf

L: Any = tf.linalg
METHODS: dict[str, Callable[[Any, Any], Any]] = {
    "dense": lambda o, x: o.to_dense(),
    "shape": lambda o, x: o.shape_tensor(),
    "batch": lambda o, x: o.batch_shape_tensor(),
    "columns": lambda o, x: o.domain_dimension_tensor(),
    "product": lambda o, x: o.matmul(x),
    "diagonal": lambda o, x: o.diag_part(),
    "trace": lambda o, x: o.trace(),
    "determinant": lambda o, x: o.determinant(),
    "adjoint": lambda o, x: o.adjoint().to_dense(),
}
REGULAR: dict[str, Callable[[Any, Any], Any]] = {
    "solution": lambda o, x: o.solve(x),
    "logarithm": lambda o, x: o.log_abs_determinant(),
    "inverse": lambda o, x: o.inverse().to_dense(),
    "root": lambda o, x: o.cholesky().to_dense(),
    "square": lambda o, x: (o @ o).to_dense(),
    "condition": lambda o, x: o.cond(),
}


def _scaled(rows: Any, batch: Any, dtype: Any) -> Any:
    return L.LinearOperatorScaledIdentity(rows, tf.fill(batch, tf.cast(2, dtype)), True, True, True)


OPERATORS: dict[str, tuple[Callable[..., Any], bool]] = {
    "identity": (lambda n, b, t: L.LinearOperatorIdentity(n, b, t), True),
    "scaled": (_scaled, True),
    "zeros": (lambda n, b, t: L.LinearOperatorZeros(n, batch_shape=b, dtype=t), False),
}


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(list(OPERATORS)),
    rows=st.integers(1, 4),
    batch=st.lists(st.integers(0, 3), max_size=2),
    dtype=st.sampled_from([tf.float32, tf.float64, tf.complex64]),
)
def test_a_shape_that_is_known_at_last_is_the_shape(
    name: str, rows: int, batch: list[int], dtype: Any
) -> None:
    create, is_regular = OPERATORS[name]
    methods = METHODS | (REGULAR if is_regular else {})
    x = tf.cast(np.arange(2.0 * rows).reshape(rows, 2), dtype)

    def values(n: Any, b: Any) -> dict[str, Any]:
        operator = create(n, b, dtype)
        return {key: method(operator, x) for key, method in methods.items()}

    static = values(rows, batch)
    late = tf.function(values)(tf.constant(rows), tf.constant(batch, tf.int32))
    for key, value in static.items():
        assert late[key].dtype == value.dtype
        np.testing.assert_array_equal(late[key], value, key)


def test_the_static_shape_is_what_is_known() -> None:
    seen: list[Any] = []

    @tf.function(input_signature=[tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)])
    def f(rows: Any, batch: Any) -> Any:
        of_rows = L.LinearOperatorIdentity(rows, [2])
        of_batch = L.LinearOperatorIdentity(3, batch)
        wide = L.LinearOperatorZeros(rows, rows + 1, is_square=False, is_self_adjoint=False)
        seen.extend([of_rows.shape.as_list(), of_batch.shape.rank, wide.shape.as_list()])
        seen.append(wide.is_square)
        return of_batch[1].to_dense(), wide.to_dense()

    part, wide = f(tf.constant(2), tf.constant([4, 2]))
    assert seen == [[2, None, None], None, [None, None], False]
    assert (part.shape, wide.shape) == ((2, 3, 3), (2, 3))


@pytest.mark.parametrize(
    ("value", "error"), [([3], ValueError), (-1, ValueError), (2.5, TypeError), ([[1]], ValueError)]
)
def test_what_is_no_number_of_rows_is_refused(value: Any, error: type[Exception]) -> None:
    for create in (L.LinearOperatorIdentity, L.LinearOperatorZeros):
        with pytest.raises(error, match="Argument num_rows must be"):
            create(value)


@pytest.mark.parametrize(
    ("value", "error"),
    [(-1, ValueError), (2.5, TypeError), ([[1]], ValueError), ([-1], ValueError)],
)
def test_what_is_no_batch_is_refused(value: Any, error: type[Exception]) -> None:
    for create in (L.LinearOperatorIdentity, L.LinearOperatorZeros):
        with pytest.raises(error, match="Argument batch_shape must be"):
            create(2, batch_shape=value)


def test_such_an_operator_crosses_a_function() -> None:
    @tf.function
    def dense(operator: Any) -> Any:
        return operator.to_dense()

    @tf.function
    def f(rows: Any) -> Any:
        return dense(L.LinearOperatorIdentity(rows))

    assert f(tf.constant(2)).numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
