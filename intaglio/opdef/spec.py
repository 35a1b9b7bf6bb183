"""The static part of a tensor: dtype, shape, and sometimes the value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.base.errors import ShapeError
from intaglio.base.shapes import Dims


class Spec:
    """The dtype and shape of a tensor, with its value where it is statically known.

    `shape` is a tuple of `int | None`, or None for an unknown rank. `value` is the
    constant as an ndarray, or None. `partial` is for the small integer vectors that
    shapes are computed with: the elements, None for those not known. `tensor` is set in
    gradient rules whose input's shape is not fully known: the symbolic tensor described.
    """

    __slots__ = ("_partial", "dtype", "shape", "tensor", "value")

    def __init__(
        self,
        dtype: DType,
        shape: Dims,
        value: Any = None,
        partial: tuple[int | None, ...] | None = None,
        tensor: Any = None,
    ) -> None:
        self.dtype = dtype
        self.shape: Dims = shape
        self.value: Any = value
        self._partial = partial
        self.tensor: Any = tensor

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return None if self.shape is None else len(self.shape)

    @property
    def count(self) -> int | None:
        """The number of elements, or None."""
        return shapes.count(self.shape)

    @property
    def partial(self) -> tuple[int | None, ...] | None:
        """The elements of an integer vector, None for each unknown one; None if it has no known length."""
        if self._partial is not None:
            return self._partial
        if self.value is not None and np.ndim(self.value) == 1:
            return tuple(np.asarray(self.value).tolist())
        if self.shape is not None and len(self.shape) == 1 and self.shape[0] is not None:
            return (None,) * self.shape[0]
        return None

    def as_shape(self) -> Dims:
        """The shape that this integer vector describes; -1 means unknown. Raises ShapeError for less."""
        partial = self.partial
        if partial is None:
            return None
        if any([d is not None and d < -1 for d in partial]):
            invalid = next(d for d in partial if d is not None and d < -1)
            raise ShapeError(f"Invalid value in tensor used for shape: {invalid}")
        return tuple([None if d is None or d < 0 else d for d in partial])

    def like(self, *, dtype: DType | None = None, shape: Any = ...) -> Spec:
        """The spec without its value, with these fields replaced."""
        return Spec(dtype or self.dtype, self.shape if shape is ... else shape)

    def __repr__(self) -> str:
        return f"Spec({self.dtype.name}, {shapes.text(self.shape)})"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Spec) and self.dtype is other.dtype and self.shape == other.shape

    def __hash__(self) -> int:
        return hash((self.dtype, self.shape))


def of_array(array: Any, dtype: DType) -> Spec:
    """The spec of an array, with its value."""
    return Spec(dtype, array.shape, array)


def of_elements(dtype: DType, elements: Sequence[int | None]) -> Spec:
    """The spec of an integer vector of which some elements are known."""
    dims = (len(elements),)
    if None in elements:
        return Spec(dtype, dims, partial=tuple(elements))
    return Spec(dtype, dims, np.asarray(elements, dtype.numpy))


def number(spec: Spec) -> int | None:
    """The value of an integer scalar (or of a vector's only element), None if not known."""
    if spec.value is None or np.size(spec.value) != 1:
        return None
    return int(np.asarray(spec.value).reshape(())[()])


def numbers(spec: Spec) -> list[int] | None:
    """The elements of an integer vector, or of a scalar as a list; None unless all are known."""
    if spec.value is not None:
        return np.asarray(spec.value).reshape(-1).tolist()
    return None
