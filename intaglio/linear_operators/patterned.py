"""Linear operators with patterns: permutations, reflections, bands, equal diagonals.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.base.errors import InvalidArgumentError
from intaglio.base.shapes import Dims
from intaglio.composite_ops.linalg import factorisations
from intaglio.composite_ops.linalg.norms import LAST
from intaglio.linear_operators.assertions import check_all
from intaglio.linear_operators.operator import LinearOperator, column, conjugate, same_batch
from intaglio.linear_operators.structured import dims_of, doubled, own_square, tensor_of
from intaglio.opdef import convert, raw

ZERO = np.int32(0)


class LinearOperatorPermutation(LinearOperator):
    """Row i of the product is row perm[i] of the argument; `perm` is [..., N].

    >>> print(
    ...     tf.linalg.LinearOperatorPermutation([1, 0, 2])
    ...     .matvec([10.0, 20.0, 30.0])
    ...     .numpy()
    ... )
    [20. 10. 30.]
    """

    _event_ranks = {"perm": 1}

    def __init__(
        self,
        perm: Any,
        dtype: Any = float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        if is_non_singular is False or is_square is False:
            raise ValueError("A Permutation operator is always non-singular and square.")
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["perm"] = self._perm = tensor_of(perm, "perm")
        super().__init__(
            dtype, None, True, is_self_adjoint, is_positive_definite, True, name, parameters
        )

    @property
    def perm(self) -> Any:
        """The rows in their new order."""
        return self._perm

    def _dims(self) -> Dims:
        return own_square(dims_of(self._perm))

    def _size(self) -> Any:
        return doubled(self._perm)

    def _to_dense(self) -> Any:
        one, zero = (np.asarray(v, self.dtype.numpy) for v in (1, 0))
        return raw.OneHot(self._perm, raw.Shape(self._perm)[-1], one, zero)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._matmul(rhs, not adjoint)

    def _log_abs_determinant(self) -> Any:
        return raw.Cast(raw.Sum(raw.ZerosLike(self._perm), LAST), DstT=self.dtype)

    def _cond(self) -> Any:
        return raw.Cast(raw.Max(raw.OnesLike(self._perm), LAST), DstT=self.dtype)


class LinearOperatorHouseholder(LinearOperator):
    """The reflection 1 - 2 v v^H for the unit vector along `reflection_axis` [..., N].

    >>> print(tf.linalg.LinearOperatorHouseholder([0.6, 0.8]).to_dense().numpy().round(4))
    [[ 0.28 -0.96]
     [-0.96 -0.28]]
    """

    _event_ranks = {"reflection_axis": 1}

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        if is_non_singular is False or is_self_adjoint is False or is_positive_definite:
            raise ValueError(
                "A Householder operator is always self-adjoint and non-singular and never positive definite."
            )
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["reflection_axis"] = self._axis = tensor_of(reflection_axis, "axis")
        super().__init__(self._axis.dtype, None, True, True, False, True, name, parameters)

    @property
    def reflection_axis(self) -> Any:
        """The vector that is reflected to its negative."""
        return self._axis

    def _dims(self) -> Dims:
        return own_square(dims_of(self._axis))

    def _size(self) -> Any:
        return doubled(self._axis)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        axis = column(convert.to_tensor(self._axis))
        length = raw.BatchMatMulV2(axis, axis, adj_x=True)
        along = raw.RealDiv(raw.BatchMatMulV2(axis, x, adj_x=True), length)
        twice = raw.Mul(np.asarray(2, self.dtype.numpy), raw.Mul(axis, along))
        return raw.Sub(x, twice)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._matmul(rhs, adjoint)

    def _determinant(self) -> Any:
        return raw.Neg(raw.Max(raw.OnesLike(self._axis), LAST))

    def _log_abs_determinant(self) -> Any:
        return raw.Sum(raw.ZerosLike(self._axis), LAST)

    def _cond(self) -> Any:
        return raw.Max(raw.OnesLike(self._axis), LAST)

    def _inverse(self) -> Any:
        return self

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        text = "Householder operators are always non-positive definite."
        raise InvalidArgumentError(None, None, text)

    def _assert_self_adjoint(self) -> Any:
        return None


class LinearOperatorTridiag(LinearOperator):
    """A tridiagonal matrix by its diagonals; forms as in `tf.linalg.tridiagonal_solve`.

    >>> print(
    ...     tf.linalg.LinearOperatorTridiag([[4.0, 0.0], [1.0, 2.0], [0.0, 5.0]], "compact")
    ...     .to_dense()
    ...     .numpy()
    ... )
    [[1. 4.]
     [5. 2.]]
    """

    def _event_rank(self, key: str) -> int:
        return 1 if self._format == "sequence" else 2

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        if diagonals_format not in ("compact", "matrix", "sequence"):
            raise ValueError(
                f"Argument `diagonals_format` must be compact, matrix or sequence. Found {diagonals_format}."
            )
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        sequence = diagonals_format == "sequence"
        self._diagonals = (
            [tensor_of(d, "diagonal") for d in diagonals]
            if sequence
            else tensor_of(diagonals, "diagonals")
        )
        self._format = diagonals_format
        parameters["diagonals"] = self._diagonals
        first: Any = self._diagonals[0] if sequence else self._diagonals
        super().__init__(
            first.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def diagonals(self) -> Any:
        """The diagonals in the form given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """The form: "compact", "sequence" or "matrix"."""
        return self._format

    def _dims(self) -> Dims:
        if self._format == "sequence":
            return own_square(dims_of(self._diagonals[1]))
        dims = dims_of(self._diagonals)
        if dims is None or self._format == "matrix":
            return dims
        return (*dims[:-2], dims[-1], dims[-1])

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        if adjoint:
            return raw.BatchMatMulV2(self._to_dense(), x, adj_x=True)
        return factorisations.tridiagonal_matmul(self._diagonals, x, self._format)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        if adjoint:
            return super()._solve(rhs, adjoint)
        rows = factorisations.diagonal_rows(self._diagonals, self._format)
        return factorisations.tridiagonal_solve(*same_batch(raw.Pack(rows, axis=-2), rhs))

    def _to_dense(self) -> Any:
        if self._format == "matrix":
            return convert.to_tensor(self._diagonals)
        rows = factorisations.diagonal_rows(self._diagonals, self._format)
        zero = np.asarray(0, self.dtype.numpy)
        span = np.array([-1, 1], np.int32)
        return raw.MatrixDiagV3(
            raw.Pack(rows, axis=-2), span, np.int32(-1), np.int32(-1), zero, align="LEFT_RIGHT"
        )

    def _assert_self_adjoint(self) -> Any:
        if self._format == "matrix":
            return super()._assert_self_adjoint()
        rows = factorisations.diagonal_rows(self._diagonals, self._format)
        above, below = rows[0][..., :-1], conjugate(rows[2])[..., 1:]
        text = "This tridiagonal operator has non-conjugate subdiagonal and superdiagonal."
        return check_all(raw.Equal(above, below), text)


class LinearOperatorToeplitz(LinearOperator):
    """A matrix with equal diagonals, given by its first column and row [..., N].

    >>> print(
    ...     tf.linalg.LinearOperatorToeplitz([1.0, 2.0, 3.0], [1.0, 4.0, 5.0])
    ...     .to_dense()
    ...     .numpy()
    ... )
    [[1. 4. 5.]
     [2. 1. 4.]
     [3. 2. 1.]]
    """

    _event_ranks = {"col": 1, "row": 1}

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["col"] = self._col = tensor_of(col, "col")
        parameters["row"] = self._row = tensor_of(row, "row", self._col.dtype)
        super().__init__(
            self._col.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def col(self) -> Any:
        """The first column."""
        return self._col

    @property
    def row(self) -> Any:
        """The first row."""
        return self._row

    def _dims(self) -> Dims:
        row, col = dims_of(self._row), dims_of(self._col)
        if row is None or col is None:
            return None
        return own_square(shapes.broadcast(row, col))

    def _size(self) -> Any:
        return doubled(self._both()[1])

    def _both(self) -> tuple[Any, Any]:
        """(row, column) with the batch dimensions of the two together."""
        row, col = convert.to_tensor(self._row), convert.to_tensor(self._col)
        if row.dims == col.dims and row.dims is not None and None not in row.dims:
            return row, col
        whole = raw.BroadcastArgs(raw.Shape(row), raw.Shape(col))
        return raw.BroadcastTo(row, whole), raw.BroadcastTo(col, whole)

    def _to_dense(self) -> Any:
        # Element (i, j) is element i - j of the column, or j - i of the row.
        row, col = self._both()
        n = raw.Shape(col)[-1]
        mirrored = raw.ReverseV2(row[..., 1:], LAST)
        both = raw.ConcatV2([mirrored, col], np.int32(-1))
        indices = raw.Range(ZERO, n, np.int32(1))
        at = raw.Sub(raw.ExpandDims(indices, np.int32(1)), indices)
        at = raw.AddV2(at, raw.Sub(n, np.int32(1)))
        return raw.GatherV2(both, at, np.int32(-1))

    def _diag_part(self) -> Any:
        _, col = self._both()
        return raw.BroadcastTo(col[..., :1], raw.Shape(col))
