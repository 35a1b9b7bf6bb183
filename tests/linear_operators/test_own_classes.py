"""Operators that libraries and programs define: the methods that TensorFlow's class calls; its answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from intaglio import tf


class Scaled(tf.linalg.LinearOperator):
    """A multiple of the identity, which says no more than its shape and product."""

    def __init__(self, size: Any, open_shape: bool, **hints: Any) -> None:
        self._count, self._open = size, open_shape
        super().__init__(dtype=tf.float32, is_square=True, **hints)

    def _shape(self) -> Any:
        return tf.TensorShape([None, None] if self._open else [self._count, self._count])

    def _shape_tensor(self) -> Any:
        return tf.stack([self._count, self._count])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return 2.0 * (tf.linalg.adjoint(x) if adjoint_arg else x)


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("open_shape", [False, True])
def test_shape_and_product_are_enough(open_shape: bool, traced: bool) -> None:
    def all_of_it(size: Any) -> Any:
        a = Scaled(size, open_shape, is_self_adjoint=True)
        return [
            a.shape_tensor(),
            a.to_dense(),
            a.trace(),
            a.diag_part(),
            a.matvec([1.0, 2.0, 3.0]),
            a.matmul(tf.ones([2, 3]), adjoint_arg=True),
            a.determinant(),
            a.solve(tf.ones([3, 1])),
            a.add_to_tensor(tf.ones([3, 3])),
            a.domain_dimension_tensor(),
            (a @ a).to_dense(),
            a.eigvals(),
        ]

    if traced and not open_shape:
        pytest.skip("its size is a tensor")
    found = tf.function(all_of_it)(tf.constant(3)) if traced else all_of_it(3)
    eye = np.eye(3, dtype=np.float32)
    wanted = [[3, 3], 2 * eye, 6, [2] * 3, [2, 4, 6], np.full([3, 2], 2), 8, np.full([3, 1], 0.5)]
    wanted += [1 + 2 * eye, 3, 4 * eye, [2, 2, 2]]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_own_methods_are_called() -> None:
    class Own(Scaled):
        def _matvec(self, x: Any, adjoint: bool = False) -> Any:
            return x + 100.0

        def _solvevec(self, rhs: Any, adjoint: bool = False) -> Any:
            return rhs + 200.0

        def _add_to_tensor(self, x: Any) -> Any:
            return x + 300.0

        def _assert_non_singular(self) -> Any:
            raise RuntimeError("asked")

    a = Own(1, False)
    assert a.matvec([1.0]).numpy() == 101 and a.solvevec([1.0]).numpy() == 201
    assert a.add_to_tensor([[1.0]]).numpy() == 301
    with pytest.raises(RuntimeError, match="asked"):
        a.assert_non_singular()


def test_what_is_missing_is_named() -> None:
    class Empty(tf.linalg.LinearOperator):
        pass

    with pytest.raises(NotImplementedError, match="_shape is not implemented"):
        _ = Empty(dtype=tf.float32).shape

    class WithoutProduct(Empty):
        def _shape(self) -> Any:
            return tf.TensorShape([2, 2])

    with pytest.raises(NotImplementedError, match="_matmul is not implemented"):
        WithoutProduct(dtype=tf.float32).to_dense()
