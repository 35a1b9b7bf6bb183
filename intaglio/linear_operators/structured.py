"""Linear operators of tensors: full, triangular, diagonal, tridiagonal, permutations, ...

Follows https://www.tensorflow.org/api_docs/python/tf/linalg.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import float32, int32
from intaglio.base.errors import InvalidArgumentError
from intaglio.base.shapes import Dims
from intaglio.composite_ops.array.creation import get_static_value
from intaglio.composite_ops.linalg.norms import LAST
from intaglio.linear_operators import assertions
from intaglio.linear_operators.operator import LinearOperator, column, conjugate
from intaglio.opdef import convert, raw

ZERO = np.int32(0)


def tensor_of(value: Any, name: str, dtype: Any = None) -> Any:
    """A part as a tensor; variables stay what they are, so that changes are seen."""
    if hasattr(value, "_type_spec") or hasattr(value, "read_value"):
        return value
    return convert.to_tensor(value, dtype, name)


def dims_of(value: Any) -> Dims:
    """The static shape of a tensor or variable."""
    shape = value.shape
    return None if shape.rank is None else tuple(shape.as_list())


def own_square(dims: Dims) -> Dims:
    """[..., N] to [..., N, N]."""
    return None if dims is None else (*dims, dims[-1])


def doubled(x: Any) -> Any:
    """The shape [..., N, N] of operators with a part [..., N], when they run."""
    shape = raw.Shape(x)
    return raw.ConcatV2([shape, shape[-1:]], ZERO)


def _as_matrix(diagonal: Any) -> Any:
    zero = np.asarray(0, diagonal.dtype.numpy)
    return raw.MatrixDiagV3(diagonal, ZERO, np.int32(-1), np.int32(-1), zero)


class LinearOperatorFullMatrix(LinearOperator):
    """A dense matrix [..., M, N].

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1., 2.], [3., 4.]])
    >>> operator.matvec([1., 1.]).numpy()
    array([3., 7.], dtype=float32)
    """

    _event_ranks = {"matrix": 2}

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["matrix"] = self._matrix = tensor_of(matrix, "matrix")
        dims = dims_of(self._matrix)
        if dims is not None and len(dims) < 2:
            raise ValueError(f"Argument `matrix` must have at least 2 dimensions, got {dims}")
        super().__init__(
            self._matrix.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
            parameters,
        )

    @property
    def matrix(self) -> Any:
        """The matrix."""
        return self._matrix

    def _dims(self) -> Dims:
        return dims_of(self._matrix)

    def _size(self) -> Any:
        return raw.Shape(self._matrix)

    def _to_dense(self) -> Any:
        return convert.to_tensor(self._matrix)


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix [..., N, N]; what is above it is not used.

    >>> print(
    ...     tf.linalg.LinearOperatorLowerTriangular([[2.0, 9.0], [1.0, 4.0]])
    ...     .solvevec([2.0, 5.0])
    ...     .numpy()
    ... )
    [1. 1.]
    """

    _event_ranks = {"tril": 2}

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square lower triangular operators supported at this time.")
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["tril"] = self._tril = tensor_of(tril, "tril")
        super().__init__(
            self._tril.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def tril(self) -> Any:
        """The matrix of which the lower triangle counts."""
        return self._tril

    def _dims(self) -> Dims:
        return dims_of(self._tril)

    def _size(self) -> Any:
        return raw.Shape(self._tril)

    def _to_dense(self) -> Any:
        return raw.MatrixBandPart(self._tril, np.int32(-1), ZERO)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return raw.MatrixTriangularSolve(self._tril, rhs, lower=True, adjoint=adjoint)

    def _diag_part(self) -> Any:
        whole = convert.to_tensor(self._tril)
        return raw.MatrixDiagPartV3(whole, ZERO, np.asarray(0, whole.dtype.numpy))

    def _determinant(self) -> Any:
        return raw.Prod(self._diag_part(), LAST)

    def _log_abs_determinant(self) -> Any:
        return raw.Sum(raw.Log(_size_of(self._diag_part())), LAST)

    def _assert_non_singular(self) -> Any:
        text = "Singular operator:  Diagonal contained zero values."
        return assertions.not_zero(self.diag_part(), text)


def _size_of(x: Any) -> Any:
    """Absolute values in the dtype itself."""
    if x.dtype.is_complex:
        return raw.Cast(raw.ComplexAbs(x, Tout=x.dtype.real_dtype), DstT=x.dtype)
    return raw.Abs(x)


class LinearOperatorDiag(LinearOperator):
    """A diagonal matrix, given by its diagonal [..., N].

    >>> tf.linalg.LinearOperatorDiag([2., 4.]).solvevec([2., 2.]).numpy()
    array([1. , 0.5], dtype=float32)
    """

    _event_ranks = {"diag": 1}

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        if is_square is False:
            raise ValueError("Only square, diagonal operators currently supported.")
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["diag"] = self._diag = tensor_of(diag, "diag")
        dims = dims_of(self._diag)
        if dims is not None and len(dims) < 1:
            raise ValueError("Argument `diag` must have at least 1 dimension.")
        if not self._diag.dtype.is_complex:
            is_self_adjoint = True if is_self_adjoint is None else is_self_adjoint
        super().__init__(
            self._diag.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def diag(self) -> Any:
        """The diagonal."""
        return self._diag

    def _dims(self) -> Dims:
        return own_square(dims_of(self._diag))

    def _size(self) -> Any:
        return doubled(self._diag)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        own = convert.to_tensor(self._diag)
        return raw.Mul(column(conjugate(own) if adjoint else own), x)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        own = convert.to_tensor(self._diag)
        return raw.RealDiv(rhs, column(conjugate(own) if adjoint else own))

    def _to_dense(self) -> Any:
        return _as_matrix(convert.to_tensor(self._diag))

    def _diag_part(self) -> Any:
        return convert.to_tensor(self._diag)

    def _determinant(self) -> Any:
        return raw.Prod(self._diag, LAST)

    def _log_abs_determinant(self) -> Any:
        return raw.Sum(raw.Log(_size_of(convert.to_tensor(self._diag))), LAST)

    def _eigvals(self) -> Any:
        return convert.to_tensor(self._diag)

    def _adjoint(self) -> Any:
        return LinearOperatorDiag(conjugate(convert.to_tensor(self._diag)), self.is_non_singular)

    def _inverse(self) -> Any:
        return LinearOperatorDiag(
            raw.Reciprocal(self._diag), True, self.is_self_adjoint, self.is_positive_definite
        )

    def _cholesky(self) -> Any:
        return LinearOperatorDiag(raw.Sqrt(self._diag), True, True)

    def _assert_non_singular(self) -> Any:
        text = "Singular operator:  Diagonal contained zero values."
        return assertions.not_zero(self._diag, text)

    def _assert_positive_definite(self) -> Any:
        what = (
            "Diagonal operator had diagonal entries with non-positive real part"
            if self.dtype.is_complex
            else "Real diagonal operator had non-positive diagonal entries"
        )
        return assertions.positive(self._diag, f"{what}, thus was not positive definite.")

    def _assert_self_adjoint(self) -> Any:
        text = "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint."
        return assertions.not_complex(self._diag, text)


def _dimension(value: Any, name: str) -> Any:
    """A number of rows or columns: an int, or an int32 tensor that is known when the operator runs.

    Raises ValueError for what is no scalar or negative, TypeError for what is no integer.
    """
    tensor = _integers(value, name)
    if tensor.dims not in ((), None):
        raise ValueError(f"Argument {name} must be a 0-D Tensor.  Found: {value}")
    known = get_static_value(tensor)
    if known is None:
        return tensor
    if known < 0:
        raise ValueError(f"Argument {name} must be non-negative.  Found: {value}")
    return int(known)


def _batch_dims(value: Any) -> Any:
    """The shape of a batch: a tuple, or an int32 tensor. Raises as `_dimension` does."""
    if value is None:
        return ()
    tensor = _integers(value, "batch_shape")
    if tensor.dims is not None and len(tensor.dims) != 1:
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {value}")
    known = get_static_value(tensor)
    if known is None:
        return tensor
    if (known < 0).any():
        raise ValueError(f"Argument batch_shape must be non-negative.  Found: {value}")
    return tuple(known.tolist())


def _integers(value: Any, name: str) -> Any:
    is_empty = isinstance(value, (list, tuple)) and not value
    tensor = convert.to_tensor(value, int32 if is_empty else None)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {tensor}")
    return tensor if tensor.dtype is int32 else raw.Cast(tensor, DstT=int32)


def _filled(number: int, dtype: Any, *sizes: Any) -> Any:
    """A tensor of one number, whose shape consists of sizes and shapes: ints, tuples or tensors."""
    shape = _joined(*sizes)
    if isinstance(shape, tuple):
        return convert.to_tensor(np.full(shape, number, dtype.numpy))
    return raw.Fill(shape, np.asarray(number, dtype.numpy))


def _joined(*sizes: Any) -> Any:
    """One shape of sizes and shapes: a tuple, or a tensor if one of them is a tensor."""
    if not any(hasattr(size, "dtype") for size in sizes):
        parts = [size if isinstance(size, tuple) else (size,) for size in sizes]
        return tuple([dim for part in parts for dim in part])
    vectors = [raw.Reshape(convert.to_tensor(size, int32), [-1]) for size in sizes]
    return raw.ConcatV2(vectors, ZERO)


def _static_dim(size: Any) -> int | None:
    """A size as a static dimension."""
    return size if isinstance(size, int) else None


class _Sparse(LinearOperator):
    """Matrices whose sum with another is mostly the other, which TensorFlow calls `mat` here."""

    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Any:  # type: ignore[override]  # TensorFlow's name
        """A + mat."""
        return super().add_to_tensor(mat, name)


class _OfShape(_Sparse):
    """Operators without data, of a shape that is given: numbers, or tensors."""

    _rows: Any
    _columns: Any
    _batch: Any

    def _dims(self) -> Dims:
        if not isinstance(self._batch, tuple):
            return None
        return (*self._batch, _static_dim(self._rows), _static_dim(self._columns))

    def _size(self) -> Any:
        return _joined(self._batch, self._rows, self._columns)

    def __getitem__(self, slices: Any) -> LinearOperator:
        if isinstance(self._batch, tuple):
            batch: Any = np.broadcast_to(np.int8(0), self._batch)[slices].shape
        else:
            batch = raw.Shape(_filled(0, int32, self._batch)[slices])
        return type(self)(**{**self.parameters, "batch_shape": batch})


class LinearOperatorIdentity(_OfShape):
    """The identity [batch_shape, num_rows, num_rows].

    >>> tf.linalg.LinearOperatorIdentity(2).to_dense().numpy()
    array([[1., 0.],
           [0., 1.]], dtype=float32)
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        if not (is_self_adjoint and is_non_singular and is_positive_definite and is_square):
            raise ValueError(
                "An identity operator is always self-adjoint, non-singular, positive definite and square."
            )
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._rows = self._columns = _dimension(num_rows, "num_rows")
        self._batch = _batch_dims(batch_shape)
        batch = None if batch_shape is None else self._batch
        parameters |= {"num_rows": self._rows, "batch_shape": batch}
        super().__init__(dtype or float32, None, True, True, True, True, name, parameters)

    def _broadcast(self, x: Any) -> Any:
        if isinstance(self._batch, tuple) and not self._batch:
            return x
        return raw.Mul(x, _filled(1, self.dtype, self._batch, 1, 1))

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return self._broadcast(x)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return self._broadcast(rhs)

    def _to_dense(self) -> Any:
        return self._broadcast(_identity(self._rows, self.dtype))

    def _diag_part(self) -> Any:
        return _filled(1, self.dtype, self._batch, self._rows)

    _eigvals = _diag_part

    def _determinant(self) -> Any:
        return _filled(1, self.dtype, self._batch)

    def _log_abs_determinant(self) -> Any:
        return _filled(0, self.dtype, self._batch)

    def _cond(self) -> Any:
        return self._determinant()

    def _inverse(self) -> Any:
        return self

    _cholesky = _adjoint = _inverse

    def _assert_non_singular(self) -> Any:
        return None

    def _assert_positive_definite(self) -> Any:
        return None

    def _assert_self_adjoint(self) -> Any:
        return None


def _identity(rows: Any, dtype: Any) -> Any:
    """The identity matrix of a number of rows, an int or a tensor."""
    if isinstance(rows, int):
        return convert.to_tensor(np.eye(rows), dtype)
    return _as_matrix(_filled(1, dtype, rows))


class LinearOperatorScaledIdentity(_Sparse):
    """A multiple of the identity; `multiplier` [...] gives the batch.

    >>> print(tf.linalg.LinearOperatorScaledIdentity(2, 3.0).matvec([1.0, 2.0]).numpy())
    [3. 6.]
    """

    _event_ranks = {"multiplier": 0}

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._rows = _dimension(num_rows, "num_rows")
        parameters["num_rows"] = self._rows
        parameters["multiplier"] = self._multiplier = tensor_of(multiplier, "multiplier")
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
            parameters,
        )

    @property
    def multiplier(self) -> Any:
        """What the identity is multiplied by."""
        return self._multiplier

    def _dims(self) -> Dims:
        dims = dims_of(self._multiplier)
        return None if dims is None else (*dims, _static_dim(self._rows), _static_dim(self._rows))

    def _size(self) -> Any:
        return _joined(raw.Shape(self._multiplier), self._rows, self._rows)

    def _factor(self, adjoint: bool) -> Any:
        own = convert.to_tensor(self._multiplier)
        return column(column(conjugate(own) if adjoint else own))

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        return raw.Mul(x, self._factor(adjoint))

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        return raw.RealDiv(rhs, self._factor(adjoint))

    def _to_dense(self) -> Any:
        return raw.Mul(self._factor(False), _identity(self._rows, self.dtype))

    def _diag_part(self) -> Any:
        own = column(convert.to_tensor(self._multiplier))
        return raw.Mul(own, _filled(1, self.dtype, self._rows))

    _eigvals = _diag_part

    def _determinant(self) -> Any:
        return raw.Pow(self._multiplier, raw.Cast(self._rows, DstT=self.dtype))

    def _log_abs_determinant(self) -> Any:
        size = raw.Log(_size_of(convert.to_tensor(self._multiplier)))
        return raw.Mul(raw.Cast(self._rows, DstT=size.dtype), size)

    def _inverse(self) -> Any:
        return LinearOperatorScaledIdentity(self._rows, raw.Reciprocal(self._multiplier), True)

    def _adjoint(self) -> Any:
        return LinearOperatorScaledIdentity(
            self._rows, conjugate(convert.to_tensor(self._multiplier)), self.is_non_singular
        )

    def _cholesky(self) -> Any:
        return LinearOperatorScaledIdentity(self._rows, raw.Sqrt(self._multiplier), True, True)

    def _assert_non_singular(self) -> Any:
        return assertions.not_zero(self._multiplier, "LinearOperator was singular.")

    def _assert_positive_definite(self) -> Any:
        text = "LinearOperator was not positive definite."
        return assertions.positive(self._multiplier, text)

    def _assert_self_adjoint(self) -> Any:
        text = "LinearOperator was not self-adjoint"
        return assertions.not_complex(self._multiplier, text)


class LinearOperatorZeros(_OfShape):
    """The zero matrix [batch_shape, num_rows, num_columns].

    >>> print(tf.linalg.LinearOperatorZeros(2).matvec([1.0, 2.0]).numpy())
    [0. 0.]
    """

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        if is_non_singular or is_positive_definite:
            raise ValueError("A zero operator is never invertible nor positive definite.")
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        self._rows = self._columns = _dimension(num_rows, "num_rows")
        if num_columns is not None:
            self._columns = _dimension(num_columns, "num_columns")
        self._batch = _batch_dims(batch_shape)
        parameters |= {
            "num_rows": self._rows,
            "num_columns": self._columns,
            "batch_shape": None if batch_shape is None else self._batch,
        }
        both_known = isinstance(self._rows, int) and isinstance(self._columns, int)
        square = self._rows == self._columns if both_known else is_square
        super().__init__(
            dtype or float32,
            None,
            False,
            square and is_self_adjoint,
            False,
            square,
            name,
            parameters,
        )

    def _to_dense(self) -> Any:
        return _filled(0, self.dtype, self._batch, self._rows, self._columns)

    def _diag_part(self) -> Any:
        both = (self._rows, self._columns)
        least = raw.Minimum(*both) if any(hasattr(n, "dtype") for n in both) else min(both)
        return _filled(0, self.dtype, self._batch, least)

    _eigvals = _diag_part

    def _determinant(self) -> Any:
        return _filled(0, self.dtype, self._batch)

    def _assert_non_singular(self) -> Any:
        raise InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        text = "Zero operators are always non-positive definite."
        raise InvalidArgumentError(None, None, text)

    def _assert_self_adjoint(self) -> Any:
        return None
