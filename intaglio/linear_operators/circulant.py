"""Circulant operators: matrices that Fourier transforms make diagonal, in 1, 2 and 3 dimensions.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/LinearOperatorCirculant.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import as_dtype, complex64, complex128, float64
from intaglio.base.shapes import Dims
from intaglio.composite_ops.linalg.norms import LAST
from intaglio.linear_operators import assertions
from intaglio.linear_operators.assertions import check_all
from intaglio.linear_operators.operator import LinearOperator, conjugate
from intaglio.linear_operators.structured import dims_of, tensor_of
from intaglio.opdef import convert, late, raw

FORWARD = {1: late.FFT, 2: late.FFT2D, 3: late.FFT3D}
BACKWARD = {1: late.IFFT, 2: late.IFFT2D, 3: late.IFFT3D}


class _Circulant(LinearOperator):
    """F^-1 diag(spectrum) F, where F is the transform over the block of the last dimensions."""

    _depth = 1

    def _event_rank(self, key: str) -> int:
        return self._depth

    def __init__(
        self,
        spectrum: Any,
        input_output_dtype: Any = complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = {k: v for k, v in locals().items() if k not in ("self", "__class__")}
        parameters["spectrum"] = self._spectrum = tensor_of(spectrum, "spectrum")
        dims = dims_of(self._spectrum)
        if dims is not None and len(dims) < self._depth:
            raise ValueError(
                f"Argument `spectrum` must have at least {self._depth} dimensions, got {dims}"
            )
        if not self._spectrum.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
            is_self_adjoint = True
        super().__init__(
            as_dtype(input_output_dtype),
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name or type(self).__name__,
            parameters,
        )

    @property
    def spectrum(self) -> Any:
        """The transform of the convolution kernel: the eigenvalues."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """How many dimensions a block has."""
        return self._depth

    @property
    def block_shape(self) -> Any:
        """The static shape of a block."""
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Any:
        """The shape of a block as a tensor."""
        return raw.Shape(self._spectrum)[-self._depth :]

    def _dims(self) -> Dims:
        dims = dims_of(self._spectrum)
        if dims is None:
            return None
        block = dims[-self._depth :]
        size = None if None in block else math.prod(block)  # type: ignore[arg-type]  # None is ruled out
        return (*dims[: -self._depth], size, size)

    def _size(self) -> Any:
        shape = raw.Shape(self._spectrum)
        size = raw.Prod(shape[-self._depth :], LAST, keep_dims=True)
        return raw.ConcatV2([shape[: -self._depth], size, size], np.int32(0))

    def _working(self) -> Any:
        """The spectrum in a complex dtype."""
        whole = convert.to_tensor(self._spectrum)
        kind = self.dtype
        if not kind.is_complex:
            kind = complex128 if kind is float64 else complex64
        return whole if whole.dtype is kind else raw.Cast(whole, DstT=kind)

    def _through(self, x: Any, factors: Any) -> Any:
        """x, transformed, multiplied and transformed back; columns become blocks meanwhile."""
        kind = factors.dtype
        x = x if x.dtype is kind else raw.Cast(x, DstT=kind)
        transposed = raw.Einsum([x], equation="...ij->...ji")
        block = raw.ConcatV2([raw.Shape(transposed)[:-1], self.block_shape_tensor()], np.int32(0))
        spectrum = FORWARD[self._depth].op(raw.Reshape(transposed, block))
        wide = raw.ExpandDims(factors, np.int32(-1 - self._depth))
        back = BACKWARD[self._depth].op(raw.Mul(spectrum, wide))
        whole = raw.Shape(back)
        size = raw.Prod(whole[-self._depth :], LAST, keep_dims=True)
        rows = raw.Reshape(back, raw.ConcatV2([whole[: -self._depth], size], np.int32(0)))
        result = raw.Einsum([rows], equation="...ij->...ji")
        return result if self.dtype is kind else raw.Real(result, Tout=self.dtype)

    def _matmul(self, x: Any, adjoint: bool) -> Any:
        own = self._working()
        return self._through(x, raw.Conj(own) if adjoint else own)

    def _solve(self, rhs: Any, adjoint: bool) -> Any:
        own = self._working()
        return self._through(rhs, raw.Reciprocal(raw.Conj(own) if adjoint else own))

    def _flat(self) -> Any:
        """The eigenvalues as vectors."""
        own = self._working()
        lead = raw.Shape(own)[: -self._depth]
        shape = raw.ConcatV2([lead, np.array([-1], np.int32)], np.int32(0))
        return raw.Reshape(own, shape)

    def _own(self, x: Any) -> Any:
        return x if x.dtype is self.dtype else raw.Real(x, Tout=self.dtype)

    def _eigvals(self) -> Any:
        return self._flat()

    def _determinant(self) -> Any:
        return self._own(raw.Prod(self._flat(), LAST))

    def _log_abs_determinant(self) -> Any:
        values = self._flat()
        size = raw.ComplexAbs(values, Tout=values.dtype.real_dtype)
        total = raw.Sum(raw.Log(size), LAST)
        return total if total.dtype is self.dtype else raw.Cast(total, DstT=self.dtype)

    def _diag_part(self) -> Any:
        values = self._flat()
        mean = raw.Mean(values, LAST, keep_dims=True)
        return self._own(raw.BroadcastTo(mean, raw.Shape(values)))

    def _cond(self) -> Any:
        values = self._flat()
        size = raw.ComplexAbs(values, Tout=values.dtype.real_dtype)
        return raw.RealDiv(raw.Max(size, LAST), raw.Min(size, LAST))

    def convolution_kernel(self, name: str = "convolution_kernel") -> Any:
        """The kernel with which a product with the operator is a circular convolution."""
        with self._scope(name):
            return self._own(BACKWARD[self._depth].op(self._working()))

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Fails when it runs unless the convolution kernel is real."""
        with self._scope(name):
            kernel = BACKWARD[self._depth].op(self._working())
            part = raw.Abs(raw.Imag(kernel, Tout=kernel.dtype.real_dtype))
            limit = np.asarray(1e-4, part.dtype.numpy)
            return check_all(raw.Less(part, limit), "Spectrum was not Hermitian")

    def _inverse(self) -> Any:
        return type(self)(
            raw.Reciprocal(self._working()), self.dtype, True, name=f"{self.name}_inverse"
        )

    def _adjoint(self) -> Any:
        return type(self)(conjugate(self._working()), self.dtype, self.is_non_singular)

    def _assert_non_singular(self) -> Any:
        text = "Singular operator:  Spectrum contained zero values."
        return assertions.not_zero(self._spectrum, text)

    def _assert_positive_definite(self) -> Any:
        text = "Not positive definite:  Real part of spectrum was not all positive."
        return assertions.positive(self._spectrum, text)

    def _assert_self_adjoint(self) -> Any:
        text = "Spectrum was not real.  The operator was not self-adjoint."
        return assertions.not_complex(self._spectrum, text)


class LinearOperatorCirculant(_Circulant):
    """A circulant matrix: each row is the one above, shifted by one element.

    >>> operator = tf.linalg.LinearOperatorCirculant([6., 4., 4.], input_output_dtype=tf.float32)
    >>> operator.diag_part().numpy().round(3)
    array([4.667, 4.667, 4.667], dtype=float32)
    """


class LinearOperatorCirculant2D(_Circulant):
    """Blocks of circulant matrices, put together circulantly; `spectrum` is [..., N0, N1].

    >>> tf.linalg.LinearOperatorCirculant2D(tf.ones([2, 2])).shape
    TensorShape([4, 4])
    """

    _depth = 2


class LinearOperatorCirculant3D(_Circulant):
    """Circulant in three levels; `spectrum` is [..., N0, N1, N2].

    >>> tf.linalg.LinearOperatorCirculant3D(tf.ones([2, 2, 2])).shape
    TensorShape([8, 8])
    """

    _depth = 3
