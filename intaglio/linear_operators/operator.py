"""`LinearOperator`: what every operator can do, and how by default.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperator. A subclass defines its
shape and its product with a matrix; it overrides more where its structure is cheaper than
the dense matrix.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from intaglio.base import later, shapes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import as_dtype, int32
from intaglio.base.shapes import Dims, TensorShape, as_dims
from intaglio.composite_ops.linalg import decompositions
from intaglio.composite_ops.linalg.norms import LAST, adjoint
from intaglio.linear_operators import handlers
from intaglio.linear_operators.assertions import check_all, positive
from intaglio.linear_operators.specs import LinearOperatorSpec, has_tensors
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.state.module import Module

COLUMN = np.int32(-1)
# What combines operators derives from them: imported when it is first needed.
COMBINED = {
    "matmul": "intaglio.linear_operators.products:product",
    "adjoint": "intaglio.linear_operators.composed:LinearOperatorAdjoint",
    "inverse": "intaglio.linear_operators.composed:LinearOperatorInversion",
    "lower": "intaglio.linear_operators.structured:LinearOperatorLowerTriangular",
}


def combined(what: str, *parts: Any) -> Any:
    """The operator that combines the parts."""
    return later.named(COMBINED[what])(*parts)


def adjoint_if(x: Any, wanted: bool) -> Any:
    """The adjoint of matrices, or the matrices themselves."""
    return adjoint(x) if wanted else x


def conjugate(x: Any) -> Any:
    """The complex conjugate; real tensors as they are."""
    return raw.Conj(x) if x.dtype.is_complex else x


def column(x: Any) -> Any:
    """A vector as a matrix of one column, to multiply the rows of matrices."""
    return raw.ExpandDims(x, COLUMN)


def batch_of(x: Any) -> Any:
    """The sizes of all dimensions but the last two, as a tensor."""
    shape = raw.Shape(x)
    size = raw.Reshape(raw.Sub(raw.Rank(x), np.int32(2)), np.array([1], np.int32))
    return raw.Slice(shape, np.array([0], np.int32), size)


def broadcast_to_batch(x: Any, batch: Any) -> Any:
    """Matrices repeated to fill a batch shape (a tensor) that theirs broadcasts to."""
    own = raw.Shape(x)
    rank = raw.Reshape(raw.Sub(raw.Rank(x), np.int32(2)), np.array([1], np.int32))
    last = raw.Slice(own, rank, np.array([2], np.int32))
    whole = raw.BroadcastArgs(raw.ConcatV2([batch, last], np.int32(0)), own)
    return raw.BroadcastTo(x, whole)


def same_batch(a: Any, b: Any) -> tuple[Any, Any]:
    """Both batches of matrices with the batch dimensions of the two together."""
    if (
        a.dims is not None
        and b.dims is not None
        and a.dims[:-2] == b.dims[:-2]
        and None not in a.dims
    ):
        return a, b
    batch = raw.BroadcastArgs(batch_of(a), batch_of(b))
    return broadcast_to_batch(a, batch), broadcast_to_batch(b, batch)


class LinearOperator(Module, CompositeTensor):
    """A batch of matrices [..., M, N] by what they do, with hints about what they are.

    The hints `is_non_singular`, `is_self_adjoint`, `is_positive_definite` and `is_square` are
    True, False or None (unknown); they choose algorithms and are promises, not checks.

    >>> operator = tf.linalg.LinearOperatorDiag([1., 2.])
    >>> operator.matmul([[1., 1.], [1., 1.]]).numpy()
    array([[1., 1.],
           [2., 2.]], dtype=float32)
    """

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: Any = None,
    ) -> None:
        if is_positive_definite and is_non_singular is False:
            raise ValueError("A positive definite matrix is always non-singular.")
        if is_positive_definite:
            is_non_singular = True
        if is_square is False and (is_non_singular or is_self_adjoint):
            raise ValueError("A non-singular or self-adjoint matrix is always square.")
        super().__init__(name=name or type(self).__name__)
        self._dtype = None if dtype is None else as_dtype(dtype)
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square = True if is_non_singular or is_self_adjoint else is_square
        self._parameters = dict(parameters or {})

    # -- what it is ----------------------------------------------------------------

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return dict(self._parameters)

    @property
    def dtype(self) -> Any:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that the operator consists of (deprecated in TensorFlow)."""
        return []

    @property
    def is_non_singular(self) -> bool | None:
        """The hint that the matrices can be inverted."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """The hint that the matrices are their own adjoints."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """The hint that x^H A x has a positive real part for all x."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """True if there are as many rows as columns, None if it is not known."""
        dims = self._dims()
        if dims is not None and None not in dims[-2:]:
            square = dims[-2] == dims[-1]
            if self._is_square is not None and self._is_square != square:
                raise ValueError(f"is_square is {self._is_square}, but the shape is {dims}")
            return square
        return self._is_square

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        return LinearOperatorSpec.of(self)

    # Classes of libraries define `_shape`, `_shape_tensor`, `_matmul` and more of the methods that are called
    # here; the classes of this package define `_dims` in place of the first.

    def _dims(self) -> Dims:
        """The static shape [..., M, N]."""
        if type(self)._shape is LinearOperator._shape:
            raise NotImplementedError("_shape is not implemented.")
        return as_dims(self._shape())

    def _shape(self) -> TensorShape:
        """The same as a TensorShape."""
        return TensorShape(self._dims())

    def _size(self) -> Any:
        """The shape as a tensor, when the static one leaves something open."""
        return self._shape_tensor()

    def _shape_tensor(self) -> Any:
        """The same, for classes of libraries."""
        return raw.Shape(self.to_dense())

    @property
    def shape(self) -> TensorShape:
        """The static shape [..., M, N]."""
        return TensorShape(self._dims())

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        dims = self._dims()
        return TensorShape(None if dims is None else dims[:-2])

    @property
    def tensor_rank(self) -> int | None:
        """The rank of the matrices, as a Python number."""
        dims = self._dims()
        return None if dims is None else len(dims)

    @property
    def domain_dimension(self) -> Any:
        """The number of columns."""
        dims = self._dims()
        return None if dims is None else dims[-1]

    @property
    def range_dimension(self) -> Any:
        """The number of rows."""
        dims = self._dims()
        return None if dims is None else dims[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as an int32 vector."""
        with self._scope(name):
            dims = self._dims()
            if shapes.known(dims):
                return convert.to_tensor(list(dims), int32)
            return self._size()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as an int32 vector."""
        return self.shape_tensor(name)[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank of the matrices as a scalar."""
        return raw.Size(self.shape_tensor(name))

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a scalar."""
        return self.shape_tensor(name)[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as a scalar."""
        return self.shape_tensor(name)[-2]

    def _scope(self, name: str) -> Any:
        return door.level().scoped(f"{self.name}/{name}")

    # -- what it does ----------------------------------------------------------------

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices themselves."""
        with self._scope(name):
            return self._to_dense()

    def _to_dense(self) -> Any:
        n = self.domain_dimension
        if n is not None:
            return self._matmul(convert.to_tensor(np.eye(n), self.dtype), False)
        if type(self)._shape_tensor is LinearOperator._shape_tensor:
            raise ValueError("to_dense needs the number of columns")
        size = raw.Reshape(self.domain_dimension_tensor(), np.array([1], np.int32))
        one = convert.to_tensor(1, self.dtype)
        return self._matmul(raw.MatrixDiag(raw.Fill(size, one)), False)

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """A @ x, with optional adjoints; `x` may be a linear operator.

        Raises ValueError if the dimensions do not fit.
        """
        if isinstance(x, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            return combined("matmul", left, right)
        with self._scope(name):
            x = convert.to_tensor(x, self.dtype)
            x = adjoint_if(x, adjoint_arg)
            self._check_rows(x, -2, self.range_dimension if adjoint else self.domain_dimension)
            return self._matmul(x, adjoint)

    def _check_rows(self, x: Any, at: int, size: Any) -> None:
        if x.dims is not None and not shapes.compatible((x.dims[at],), (size,)):
            raise ValueError(
                f"Dimensions {size} and {x.dims[at]} are not compatible: {self.name} has shape "
                f"{self._dims()}, and the argument {x.dims}"
            )

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        if type(self)._to_dense is LinearOperator._to_dense:
            raise NotImplementedError("_matmul is not implemented.")
        return raw.BatchMatMulV2(self.to_dense(), x, adj_x=adjoint)

    # Of each argument of the constructor that is a tensor: how many of its dimensions are no
    # batch dimensions.
    _event_ranks: ClassVar[dict[str, int]] = {}

    def _event_rank(self, key: str) -> int:
        if key not in self._event_ranks:
            raise NotImplementedError(f"Brackets of {type(self).__name__}")
        return self._event_ranks[key]

    def __getitem__(self, slices: Any) -> LinearOperator:
        """The operators that brackets choose from the batch, which are read as for tensors.

        >>> pair = tf.linalg.LinearOperatorDiag([[1., 2.], [3., 4.]])
        >>> pair[1].to_dense().numpy()
        array([[3., 0.],
               [0., 4.]], dtype=float32)
        """
        taken = slices if isinstance(slices, tuple) else (slices,)
        batch = self.batch_shape_tensor()
        result = {
            key: self._sliced(key, value, taken, batch) if has_tensors(value) else value
            for key, value in self.parameters.items()
        }
        return type(self)(**result)

    def _sliced(self, key: str, value: Any, taken: tuple[Any, ...], batch: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [self._sliced(key, v, taken, batch) for v in value]
        if isinstance(value, LinearOperator):
            if value.batch_shape.rank == 0:
                return value  # for every member of the batch
            if value.batch_shape != self.batch_shape:
                raise NotImplementedError(
                    f"Brackets of {self.name}: its part {value.name} has the batch shape "
                    f"{value.batch_shape}, not {self.batch_shape}: broadcast it first"
                )
            return value[taken]
        rank = self._event_rank(key)
        x = convert.to_tensor(value)
        own = raw.Shape(x)
        whole = raw.ConcatV2([batch, own[len(x.shape) - rank :]], np.int32(0))
        wide: Any = raw.BroadcastTo(x, whole)
        rest = () if any(part is Ellipsis for part in taken) else (Ellipsis,)
        return wide[(*taken, *rest, *[slice(None)] * rank)]

    # More than that of tensors, which leave a product with an operator on the right to it.
    __array_priority__ = 110

    def __matmul__(self, x: Any) -> Any:
        return self.matmul(x)

    def __rmatmul__(self, x: Any) -> Any:
        return handlers.of_operator_on_the_right(x, self)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """A @ x for vectors x."""
        with self._scope(name):
            return self._matvec(convert.to_tensor(x, self.dtype), adjoint)

    def _matvec(self, x: Any, adjoint: bool) -> Any:
        return raw.Squeeze(self.matmul(column(x), adjoint), axis=[-1])

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """x with A @ x = rhs.

        Raises NotImplementedError for an operator that is not square or marked as singular.
        """
        self._refuse_singular("solve")
        if isinstance(rhs, LinearOperator):
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            return combined("matmul", left.inverse(), right)
        with self._scope(name):
            rhs = adjoint_if(convert.to_tensor(rhs, self.dtype), adjoint_arg)
            self._check_rows(rhs, -2, self.range_dimension)
            return self._solve(rhs, adjoint)

    def _refuse_singular(self, what: str) -> None:
        if self.is_non_singular is False:
            raise NotImplementedError(f"{what} is not possible: the operator is singular")
        if self.is_square is False:
            raise NotImplementedError(f"{what} is not possible: the operator is not square")

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        matrix, rhs = same_batch(self.to_dense(), rhs)
        if self.is_positive_definite and self.is_self_adjoint:
            return decompositions.cholesky_solve(raw.Cholesky(matrix), rhs)
        return raw.MatrixSolve(matrix, rhs, adjoint=adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """x with A @ x = rhs for vectors rhs."""
        with self._scope(name):
            return self._solvevec(convert.to_tensor(rhs, self.dtype), adjoint)

    def _solvevec(self, rhs: Any, adjoint: bool) -> Any:
        return raw.Squeeze(self.solve(column(rhs), adjoint), axis=[-1])

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The adjoint operator."""
        if self.is_self_adjoint:
            return self
        with self._scope(name):
            return self._adjoint()

    H = property(adjoint, doc="The adjoint operator.")

    def _adjoint(self) -> LinearOperator:
        return combined("adjoint", self)

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse operator. Raises ValueError where there is none."""
        if self.is_square is False:
            raise ValueError("Cannot take the inverse of a non-square operator")
        if self.is_non_singular is False:
            raise ValueError("Cannot take the inverse of a singular operator")
        with self._scope(name):
            return self._inverse()

    def _inverse(self) -> LinearOperator:
        return combined("inverse", self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular factor L of A = L @ L^H, an operator."""
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        with self._scope(name):
            return self._cholesky()

    def _cholesky(self) -> LinearOperator:
        return combined("lower", raw.Cholesky(self.to_dense()))

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants."""
        self._refuse_unsquare("determinant")
        with self._scope(name):
            return self._determinant()

    def _refuse_unsquare(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(f"{what} is not possible: the operator is not square")

    def _determinant(self) -> Any:
        if self.is_positive_definite:
            return raw.Exp(self._log_abs_determinant())
        return raw.MatrixDeterminant(self.to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the determinants' absolute values."""
        self._refuse_unsquare("log_abs_determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _log_abs_determinant(self) -> Any:
        return raw.LogMatrixDeterminant(self.to_dense()).log_abs_determinant

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals."""
        with self._scope(name):
            return self._trace()

    def _trace(self) -> Any:
        return raw.Sum(self.diag_part(), LAST)

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals."""
        with self._scope(name):
            return self._diag_part()

    def _diag_part(self) -> Any:
        dense = self.to_dense()
        return raw.MatrixDiagPartV3(dense, np.int32(0), np.asarray(0, dense.dtype.numpy))

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """A + x."""
        with self._scope(name):
            return self._add_to_tensor(convert.to_tensor(x, self.dtype))

    def _add_to_tensor(self, x: Any) -> Any:
        return raw.AddV2(self.to_dense(), x)

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues of self-adjoint operators.

        Raises NotImplementedError for operators that are not known to be self-adjoint.
        """
        if not self.is_self_adjoint:
            raise NotImplementedError("Only self-adjoint matrices are supported.")
        with self._scope(name):
            return self._eigvals()

    def _eigvals(self) -> Any:
        return decompositions.eigvalsh(self.to_dense())

    def cond(self, name: str = "cond") -> Tensor:
        """The condition numbers: the greatest singular value divided by the least."""
        with self._scope(name):
            return self._cond()

    def _cond(self) -> Any:
        values = decompositions.svd(self.to_dense(), compute_uv=False)
        return raw.RealDiv(raw.Max(values, LAST), raw.Min(values, LAST))

    # -- checks ----------------------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """Fails when it runs if a condition number is too large for the dtype."""
        with self._scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        limit = np.asarray(1 / np.finfo(self.dtype.numpy).eps, self.dtype.real_dtype.numpy)
        good = raw.Less(self.cond(), limit)
        return check_all(good, "Singular matrix up to precision epsilon.")

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """Fails when it runs unless a Cholesky factorisation exists.

        Raises NotImplementedError for operators that are not known to be self-adjoint.
        """
        with self._scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        factor = raw.Cholesky(self.to_dense())
        # In a graph the check is what keeps the factorisation.
        return positive(raw.MatrixDiagPart(factor), "Matrix was not positive definite.")

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """Fails when it runs unless the matrices equal their adjoints."""
        with self._scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        good = raw.Equal(dense, adjoint(dense))
        return check_all(good, "Matrix was not equal to its adjoint.")


handlers.register(LinearOperator)
