"""Linear operators put together as blocks: along the diagonal, or below it as well.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperatorBlockDiag. Their
`matmul` and `solve` take a tensor, or a list of tensors, one for each block.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.composite_ops.linalg.norms import LAST
from intaglio.linear_operators import assertions
from intaglio.linear_operators.operator import (
    LinearOperator,
    adjoint_if,
    batch_of,
    broadcast_to_batch,
    column,
)
from intaglio.opdef import convert, raw

ROWS = np.int32(-2)


def _sum(numbers: Any) -> Any:
    return None if None in numbers else sum(numbers)


class _Blocks(LinearOperator):
    """What block operators share: arguments and results in blocks."""

    _rows: tuple[tuple[LinearOperator, ...], ...]

    def _diagonal(self) -> list[LinearOperator]:
        return [row[-1] for row in self._rows]

    def _dims(self) -> Dims:
        batch: Any = ()
        for row in self._rows:
            for operator in row:
                dims = operator._dims()
                if dims is None:
                    return None
                batch = shapes.broadcast(batch, dims[:-2])
        height = _sum([o.range_dimension for o in self._diagonal()])
        width = _sum([o.domain_dimension for o in self._diagonal()])
        return (*batch, height, width)

    def _sizes(self, rows: bool) -> Any:
        return raw.Pack(
            [
                o.range_dimension_tensor() if rows else o.domain_dimension_tensor()
                for o in self._diagonal()
            ]
        )

    def _split(self, x: Any, rows: bool) -> list[Any]:
        count = len(self._rows)
        return raw.SplitV(x, self._sizes(rows), ROWS, num_split=count)

    def _joined(self, parts: list[Any]) -> Any:
        batch = batch_of(parts[0])
        for part in parts[1:]:
            batch = raw.BroadcastArgs(batch, batch_of(part))
        if all(p.dims is not None and len(p.dims) == 2 for p in parts):
            return raw.ConcatV2(parts, ROWS)
        return raw.ConcatV2([broadcast_to_batch(p, batch) for p in parts], ROWS)

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """A @ x; a list of blocks gives a list of blocks."""
        if not isinstance(x, (list, tuple)) or not _are_blocks(x, self):
            return super().matmul(x, adjoint, adjoint_arg, name)
        with self._scope(name):
            parts = [adjoint_if(convert.to_tensor(p, self.dtype), adjoint_arg) for p in x]
            return self._by_blocks(parts, adjoint)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """x with A @ x = rhs; a list of blocks gives a list of blocks."""
        if not isinstance(rhs, (list, tuple)) or not _are_blocks(rhs, self):
            return super().solve(rhs, adjoint, adjoint_arg, name)
        self._refuse_singular("solve")
        with self._scope(name):
            parts = [adjoint_if(convert.to_tensor(p, self.dtype), adjoint_arg) for p in rhs]
            return self._solved_blocks(parts, adjoint)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._joined(self._by_blocks(self._split(x, adjoint), adjoint))

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._joined(self._solved_blocks(self._split(rhs, not adjoint), adjoint))

    def _by_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def _solved_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        raise NotImplementedError

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """A @ x for vectors x, or for a list of vectors."""
        if isinstance(x, (list, tuple)) and _are_blocks(x, self):
            columns = [column(convert.to_tensor(p, self.dtype)) for p in x]
            result = self.matmul(columns, adjoint, name=name)
            return [raw.Squeeze(p, axis=[-1]) for p in result]
        return super().matvec(x, adjoint, name)

    def _diag_part(self) -> Any:
        parts = [column(o.diag_part()) for o in self._diagonal()]
        return raw.Squeeze(self._joined(parts), axis=[-1])

    def _determinant(self) -> Any:
        result = [o.determinant() for o in self._diagonal()]
        total = result[0]
        for value in result[1:]:
            total = raw.Mul(total, value)
        return total

    def _log_abs_determinant(self) -> Any:
        result = [o.log_abs_determinant() for o in self._diagonal()]
        total = result[0]
        for value in result[1:]:
            total = raw.AddV2(total, value)
        return total


def _are_blocks(x: Any, operator: _Blocks) -> bool:
    """True for a list of tensors as long as there are blocks."""
    return len(x) == len(operator._rows) and all(hasattr(p, "shape") for p in x)


class LinearOperatorBlockDiag(_Blocks):
    """Operators along the diagonal, zeros elsewhere.

    >>> one = tf.linalg.LinearOperatorDiag([1., 2.])
    >>> two = tf.linalg.LinearOperatorFullMatrix([[3.]])
    >>> tf.linalg.LinearOperatorBlockDiag([one, two]).to_dense().numpy()
    array([[1., 0., 0.],
           [0., 2., 0.],
           [0., 0., 3.]], dtype=float32)
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        operators = tuple(operators)
        if not operators:
            raise ValueError("Expected a list of >=1 operators.")
        parameters = {
            "operators": operators,
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_square": is_square,
            "name": name,
            "is_positive_definite": is_positive_definite,
        }
        self._rows = tuple((o,) for o in operators)

        def every(hint: str, value: bool | None) -> bool | None:
            return value or all(getattr(o, hint) for o in operators) or value

        square = all(o.is_square for o in operators) or (is_square and None)
        super().__init__(
            operators[0].dtype,
            None,
            every("is_non_singular", is_non_singular),
            every("is_self_adjoint", is_self_adjoint),
            every("is_positive_definite", is_positive_definite),
            square,
            name or "_ds_".join(o.name for o in operators),
            parameters,
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The blocks."""
        return self._diagonal()

    def _by_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        both = zip(self._diagonal(), parts, strict=True)
        return [o._matmul(p, adjoint) for o, p in both]

    def _solved_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        both = zip(self._diagonal(), parts, strict=True)
        return [o._solve(p, adjoint) for o, p in both]

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.adjoint() for o in self._diagonal()])

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.inverse() for o in self._diagonal()])

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([o.cholesky() for o in self._diagonal()])

    def _trace(self) -> Any:
        return raw.Sum(self._diag_part(), LAST)

    def _assert_non_singular(self) -> Any:
        return assertions.of_each([o.assert_non_singular() for o in self.operators])

    def _assert_positive_definite(self) -> Any:
        return assertions.of_each([o.assert_positive_definite() for o in self.operators])

    def _assert_self_adjoint(self) -> Any:
        return assertions.of_each([o.assert_self_adjoint() for o in self.operators])


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Blocks on and below the diagonal: `operators` is [[A00], [A10, A11], ...].

    >>> one = tf.linalg.LinearOperatorIdentity(1)
    >>> below = tf.linalg.LinearOperatorFullMatrix([[5.0]])
    >>> print(
    ...     tf.linalg.LinearOperatorBlockLowerTriangular([[one], [below, one]])
    ...     .to_dense()
    ...     .numpy()
    ... )
    [[1. 0.]
     [5. 1.]]
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        self._rows = tuple(tuple(row) for row in operators)
        if [len(row) for row in self._rows] != list(range(1, len(self._rows) + 1)):
            raise ValueError("Row i of `operators` must have i + 1 blocks.")
        parameters = {
            "operators": self._rows,
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_square": is_square,
            "name": name,
            "is_positive_definite": is_positive_definite,
        }
        if is_non_singular is None and all(o.is_non_singular for o in self._diagonal()):
            is_non_singular = True
        super().__init__(
            self._rows[0][0].dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def operators(self) -> list[list[LinearOperator]]:
        """The rows of blocks."""
        return [list(row) for row in self._rows]

    def _by_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        result: list[Any] = []
        count = len(self._rows)
        for i in range(count):
            taken = range(i, count) if adjoint else range(i + 1)
            total = None
            for j in taken:
                block = self._rows[j][i] if adjoint else self._rows[i][j]
                part = block._matmul(parts[j], adjoint)
                total = part if total is None else raw.AddV2(total, part)
            result.append(total)
        return result

    def _solved_blocks(self, parts: list[Any], adjoint: bool) -> list[Any]:
        count = len(self._rows)
        result: list[Any] = [None] * count
        for i in range(count - 1, -1, -1) if adjoint else range(count):
            rest = parts[i]
            for j in range(i + 1, count) if adjoint else range(i):
                block = self._rows[j][i] if adjoint else self._rows[i][j]
                rest = raw.Sub(rest, block._matmul(result[j], adjoint))
            result[i] = self._rows[i][i]._solve(rest, adjoint)
        return result

    def _assert_non_singular(self) -> Any:
        return assertions.of_each([row[-1].assert_non_singular() for row in self.operators])
