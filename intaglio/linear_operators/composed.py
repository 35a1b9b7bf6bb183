"""Linear operators composed of operators: adjoints, inverses, products, blocks, updates.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.composite_ops.linalg.norms import adjoint
from intaglio.linear_operators import assertions
from intaglio.linear_operators.operator import LinearOperator, conjugate, same_batch
from intaglio.linear_operators.structured import (
    LinearOperatorDiag,
    LinearOperatorIdentity,
    tensor_of,
)
from intaglio.opdef import convert, raw


def _arguments_of_init(values: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in values.items() if k not in ("self", "__class__")}


def _transposed(dims: Dims) -> Dims:
    return None if dims is None else (*dims[:-2], dims[-1], dims[-2])


def _every(operators: Any, hint: str) -> bool | None:
    """True if the hint is true of all operators, else None."""
    return True if all(getattr(o, hint) for o in operators) else None


def _joined_batch(operators: Any) -> Any:
    """The batch shape that the operators have together."""
    batch: Any = ()
    for o in operators:
        dims = o._dims()
        if dims is None:
            return None
        batch = shapes.broadcast(batch, dims[:-2])
    return batch


class _OfOperator(LinearOperator):
    """The adjoint or the inverse of an operator, which has the same properties."""

    _operator: LinearOperator

    def _assert_non_singular(self) -> Any:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Any:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Any:
        return self._operator.assert_self_adjoint()


class LinearOperatorAdjoint(_OfOperator):
    """The adjoint of an operator.

    >>> matrix = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> print(tf.linalg.LinearOperatorAdjoint(matrix).to_dense().numpy())
    [[1. 3.]
     [2. 4.]]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = _arguments_of_init(locals())
        self._operator = operator
        super().__init__(
            operator.dtype,
            None,
            operator.is_non_singular if is_non_singular is None else is_non_singular,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            operator.is_square if is_square is None else is_square,
            name or f"{operator.name}_adjoint",
            parameters,
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator that this is the adjoint of."""
        return self._operator

    def _dims(self) -> Dims:
        return _transposed(self._operator._dims())

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._operator._matmul(x, not adjoint)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._operator._solve(rhs, not adjoint)

    def _to_dense(self) -> Any:
        return adjoint(self._operator.to_dense())

    def _determinant(self) -> Any:
        return conjugate(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return self._operator.log_abs_determinant()

    def _diag_part(self) -> Any:
        return conjugate(self._operator.diag_part())

    def _adjoint(self) -> LinearOperator:
        return self._operator


class LinearOperatorInversion(_OfOperator):
    """The inverse of an operator, by its `solve`.

    >>> matrix = tf.linalg.LinearOperatorDiag([2.0, 4.0])
    >>> print(tf.linalg.LinearOperatorInversion(matrix).matvec([2.0, 2.0]).numpy())
    [1.  0.5]
    """

    def __init__(
        self,
        operator: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if operator.is_square is False:
            raise ValueError("Operator should be square, so that it has an inverse")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError("Operators of type LinearOperatorInversion are non-singular")
        parameters = _arguments_of_init(locals())
        self._operator = operator
        super().__init__(
            operator.dtype,
            None,
            True,
            operator.is_self_adjoint if is_self_adjoint is None else is_self_adjoint,
            operator.is_positive_definite if is_positive_definite is None else is_positive_definite,
            True,
            name or f"{operator.name}_inv",
            parameters,
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator that this is the inverse of."""
        return self._operator

    def _dims(self) -> Dims:
        return self._operator._dims()

    def _size(self) -> Any:
        return self._operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._operator._solve(x, adjoint)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._operator._matmul(rhs, adjoint)

    def _determinant(self) -> Any:
        return raw.Reciprocal(self._operator.determinant())

    def _log_abs_determinant(self) -> Any:
        return raw.Neg(self._operator.log_abs_determinant())

    def _inverse(self) -> LinearOperator:
        return self._operator


class LinearOperatorComposition(LinearOperator):
    """The product of operators: the last is applied first.

    >>> twice = tf.linalg.LinearOperatorDiag([2., 2.])
    >>> tf.linalg.LinearOperatorComposition([twice, twice]).to_dense().numpy()
    array([[4., 0.],
           [0., 4.]], dtype=float32)
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = _arguments_of_init(locals())
        parameters["operators"] = self._operators = tuple(operators)
        if not self._operators:
            raise ValueError("Expected a non-empty list of operators.")
        _same_dtype(self._operators)
        if is_non_singular is None:
            is_non_singular = _every(self._operators, "is_non_singular")
        super().__init__(
            self._operators[0].dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name or "_o_".join(o.name for o in self._operators),
            parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return list(self._operators)

    def _dims(self) -> Dims:
        first, last = self._operators[0]._dims(), self._operators[-1]._dims()
        batch = _joined_batch(self._operators)
        if first is None or last is None or batch is None:
            return None
        return (*batch, first[-2], last[-1])

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        for operator in self._operators if adjoint else reversed(self._operators):
            x = operator._matmul(x, adjoint)
        return x

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        for operator in reversed(self._operators) if adjoint else self._operators:
            rhs = operator._solve(rhs, adjoint)
        return rhs

    def _to_dense(self) -> Any:
        result = self._operators[-1].to_dense()
        for operator in reversed(self._operators[:-1]):
            result = operator._matmul(result, False)
        return result

    def _determinant(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._determinant()
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result = raw.Mul(result, operator.determinant())
        return result

    def _log_abs_determinant(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._log_abs_determinant()
        result = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            result = raw.AddV2(result, operator.log_abs_determinant())
        return result

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorComposition([o.adjoint() for o in reversed(self._operators)])

    def _inverse(self) -> LinearOperator:
        if not all(o.is_square for o in self._operators):
            return super()._inverse()
        return LinearOperatorComposition([o.inverse() for o in reversed(self._operators)])

    def _assert_non_singular(self) -> Any:
        if all(o.is_square for o in self.operators):
            return assertions.of_each([o.assert_non_singular() for o in self.operators])
        return super()._assert_non_singular()


def _same_dtype(operators: Any) -> None:
    kinds = {o.dtype for o in operators}
    if len(kinds) > 1:
        text = ", ".join(f"{o.name}: {o.dtype.name}" for o in operators)
        raise TypeError(f"Expected all operators to have the same dtype, got {text}")


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    >>> parts = [
    ...     tf.linalg.LinearOperatorDiag([1.0, 2.0]),
    ...     tf.linalg.LinearOperatorDiag([3.0, 4.0]),
    ... ]
    >>> print(tf.linalg.LinearOperatorKronecker(parts).diag_part().numpy())
    [3. 4. 6. 8.]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = _arguments_of_init(locals())
        parameters["operators"] = self._operators = tuple(operators)
        if not self._operators:
            raise ValueError("Expected a list of >=1 operators.")
        _same_dtype(self._operators)
        hints = {
            hint: _every(self._operators, hint) if value is None else value
            for hint, value in (
                ("is_non_singular", is_non_singular),
                ("is_self_adjoint", is_self_adjoint),
                ("is_positive_definite", is_positive_definite),
                ("is_square", is_square),
            )
        }
        super().__init__(
            self._operators[0].dtype,
            None,
            *hints.values(),
            name=name or "_x_".join(o.name for o in self._operators),
            parameters=parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The factors."""
        return list(self._operators)

    def _dims(self) -> Dims:
        batch = _joined_batch(self._operators)
        if batch is None:
            return None
        sizes: list[Any] = [1, 1]
        for o in self._operators:
            for at, size in enumerate(o._dims()[-2:]):  # type: ignore[index]  # the rank is known here
                known = size is not None and sizes[at] is not None
                sizes[at] = sizes[at] * size if known else None
        return (*batch, *sizes)

    def _to_dense(self) -> Any:
        result = self._operators[0].to_dense()
        for operator in self._operators[1:]:
            other = operator.to_dense()
            product = raw.Einsum([result, other], equation="...ij,...kl->...ikjl")
            rows = raw.Mul(raw.Shape(result)[-2], raw.Shape(other)[-2])
            columns = raw.Mul(raw.Shape(result)[-1], raw.Shape(other)[-1])
            last = raw.Pack([rows, columns])
            lead = raw.Shape(product)[:-4]
            result = raw.Reshape(product, raw.ConcatV2([lead, last], np.int32(0)))
        return result

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        inverse = LinearOperatorKronecker([o.inverse() for o in self._operators])
        return inverse._matmul(rhs, adjoint)

    def _exponents(self) -> list[Any]:
        """How often each factor's determinant counts: the product of the others' sizes."""
        sizes = [raw.Cast(o.domain_dimension_tensor(), DstT=self.dtype) for o in self._operators]
        total = sizes[0]
        for size in sizes[1:]:
            total = raw.Mul(total, size)
        return [raw.RealDiv(total, size) for size in sizes]

    def _determinant(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._determinant()
        parts = zip(self._operators, self._exponents(), strict=True)
        result = [raw.Pow(o.determinant(), e) for o, e in parts]
        return _folded(raw.Mul, result)

    def _log_abs_determinant(self) -> Any:
        if not all(o.is_square for o in self._operators):
            return super()._log_abs_determinant()
        parts = zip(self._operators, self._exponents(), strict=True)
        return _folded(raw.AddV2, [raw.Mul(o.log_abs_determinant(), e) for o, e in parts])

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker([o.adjoint() for o in self._operators])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([o.inverse() for o in self._operators])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([o.cholesky() for o in self._operators])

    def _assert_non_singular(self) -> Any:
        if all(o.is_square for o in self.operators):
            return assertions.of_each([o.assert_non_singular() for o in self.operators])
        return super()._assert_non_singular()


def _folded(function: Any, values: Any) -> Any:
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return result


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H, with D diagonal and few columns in `u` and `v` (`u` if none is given).

    >>> base = tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
    >>> print(
    ...     tf.linalg.LinearOperatorLowRankUpdate(base, [[1.0], [1.0]]).to_dense().numpy()
    ... )
    [[2. 1.]
     [1. 3.]]
    """

    _event_ranks = {"u": 2, "v": 2, "diag_update": 1}

    def __init__(
        self,
        base_operator: Any,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = _arguments_of_init(locals())
        dtype = base_operator.dtype
        if diag_update is None:
            is_diag_update_positive = True
        if not dtype.is_complex and is_self_adjoint is None and v is None:
            is_self_adjoint = base_operator.is_self_adjoint
        if v is None and is_diag_update_positive and base_operator.is_positive_definite:
            is_positive_definite = True if is_positive_definite is None else is_positive_definite
        self._base = base_operator
        parameters["u"] = self._u = tensor_of(u, "u", dtype)
        self._v = self._u
        if v is not None:
            parameters["v"] = self._v = tensor_of(v, "v", dtype)
        self._diag = None
        if diag_update is not None:
            parameters["diag_update"] = self._diag = tensor_of(diag_update, "diag_update", dtype)
        self._positive = is_diag_update_positive
        super().__init__(
            dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            base_operator.is_square if is_square is None else is_square,
            name,
            parameters,
        )

    @property
    def base_operator(self) -> LinearOperator:
        """L in L + U D V^H."""
        return self._base

    @property
    def u(self) -> Any:
        """U in L + U D V^H."""
        return self._u

    @property
    def v(self) -> Any:
        """V in L + U D V^H."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of D in L + U D V^H, or None."""
        return self._diag

    @property
    def diag_operator(self) -> LinearOperator:
        """D in L + U D V^H, an operator."""
        if self._diag is not None:
            return LinearOperatorDiag(self._diag, is_positive_definite=self._positive)
        return LinearOperatorIdentity(int(self._u.shape[-1]), dtype=self.dtype)

    @property
    def is_diag_update_positive(self) -> bool | None:
        """The hint that D has a positive diagonal."""
        return self._positive

    def _dims(self) -> Dims:
        base = self._base._dims()
        if base is None or self._u.shape.rank is None:
            return None
        batch = shapes.broadcast(base[:-2], tuple(self._u.shape.as_list()[:-2]))
        return (*batch, *base[-2:])  # type: ignore[misc]  # the rank is known here

    def _sides(self, adjoint: bool) -> tuple[Any, Any]:
        u, v = convert.to_tensor(self._u), convert.to_tensor(self._v)
        return (v, u) if adjoint else (u, v)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        left, right = self._sides(adjoint)
        inner = self.diag_operator._matmul(raw.BatchMatMulV2(right, x, adj_x=True), adjoint)
        return raw.AddV2(self._base._matmul(x, adjoint), raw.BatchMatMulV2(left, inner))

    def _capacitance(self) -> Any:
        """D^-1 + V^H L^-1 U."""
        u, v = self._sides(False)
        inner = raw.BatchMatMulV2(v, self._base._solve(u, False), adj_x=True)
        inverse = raw.Reciprocal(self.diag_operator.diag_part())
        zero = np.asarray(0, inner.dtype.numpy)
        own = raw.MatrixDiagPartV3(inner, np.int32(0), zero)
        return raw.MatrixSetDiagV3(inner, raw.AddV2(own, inverse), np.int32(0))

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        # The identity of Woodbury.
        left, right = self._sides(adjoint)
        first = self._base._solve(rhs, adjoint)
        middle, inner = same_batch(self._capacitance(), raw.BatchMatMulV2(right, first, adj_x=True))
        solved = raw.MatrixSolve(middle, inner, adjoint=adjoint)
        update = self._base._solve(raw.BatchMatMulV2(left, solved), adjoint)
        return raw.Sub(first, update)

    def _determinant(self) -> Any:
        middle = raw.MatrixDeterminant(self._capacitance())
        both = raw.Mul(self.diag_operator.determinant(), self._base.determinant())
        return raw.Mul(middle, both)

    def _log_abs_determinant(self) -> Any:
        middle = raw.LogMatrixDeterminant(self._capacitance()).log_abs_determinant
        diagonal = self.diag_operator.log_abs_determinant()
        return raw.AddV2(raw.AddV2(middle, diagonal), self._base.log_abs_determinant())
