"""`IndexedSlices`: rows of a larger tensor, the form of a gather's gradient.

Follows https://www.tensorflow.org/api_docs/python/tf/IndexedSlices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import DType
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.opdef.hooks import HOOKS
from intaglio.opdef.tensor import Tensor


class IndexedSlices(TensorInParts):
    """Rows `values[i]` standing at `indices[i]` of a tensor; rows of one index add up.

    `values` has shape (D0, ...), `indices` is an integer vector (D0,), `dense_shape` an
    integer vector with the shape of the whole tensor, or None.

    >>> slices = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), [3, 1])
    >>> print(tf.convert_to_tensor(slices).numpy().ravel())
    [1. 0. 2.]
    """

    __slots__ = ("__dict__", "__weakref__", "_dense_shape", "_indices", "_values")

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        # Gradient rules know many shapes as arrays.
        self._dense_shape = (
            convert.to_tensor(dense_shape) if isinstance(dense_shape, np.ndarray) else dense_shape
        )

    @property
    def _type_spec(self) -> Any:
        """The spec of this value."""
        return HOOKS.indexed_slices_spec(self)

    @property
    def values(self) -> Tensor:
        """The rows."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The indices of the rows [n]."""
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole tensor as an integer vector, or None."""
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        """The type of the rows' elements."""
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        """The static shape of the whole tensor."""
        if self._dense_shape is None:
            return TensorShape(None)
        value = getattr(self._dense_shape, "_array", None)
        if value is None:
            spec = getattr(self._dense_shape, "spec", None)
            return TensorShape(None if spec is None else spec.as_shape())
        return TensorShape([int(d) for d in value])

    @property
    def name(self) -> str:
        """The name of the rows' tensor."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the rows."""
        return self._values.device

    @property
    def op(self) -> Any:
        """The operation that computes the rows."""
        return self._values.op

    @property
    def graph(self) -> Any:
        """The graph that the rows belong to."""
        return self._values.graph

    def consumers(self) -> list[Any]:
        """The operations that use the rows."""
        return self._values.consumers()

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(raw.Neg(self._values), self._indices, self._dense_shape)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Any:
        """The whole tensor. Raises ValueError if its shape or dtype does not fit."""
        if dtype is not None and dtype is not self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {self.dtype.name}"
            )
        if self._dense_shape is None:
            raise ValueError(
                f"Tensor conversion requested for IndexedSlices for argument `value` without dense_shape: {self!s}"
            )
        known = getattr(self._dense_shape, "_array", None)
        if known is None:
            rows = raw.StridedSlice(self._dense_shape, [0], [1], [1], shrink_axis_mask=1)
        else:
            rows = np.asarray(known[0])
        return raw.UnsortedSegmentSum(self._values, self._indices, rows, name=name)


def concatenated(parts: Sequence[IndexedSlices]) -> IndexedSlices:
    """The sum of several IndexedSlices, by concatenating their rows."""
    indices = [convert.to_tensor(p.indices) for p in parts]
    if len({i.dtype for i in indices}) > 1:
        from_dtype = convert.to_tensor(0).dtype
        indices = [raw.Cast(i, DstT="int64") if i.dtype is from_dtype else i for i in indices]
    return IndexedSlices(
        raw.ConcatV2([p.values for p in parts], 0), raw.ConcatV2(indices, 0), parts[0].dense_shape
    )
