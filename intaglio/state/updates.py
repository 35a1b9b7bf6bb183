"""Partial updates and reads of a variable: scatter, gather, assignment to slices."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.op import Op
from intaglio.opdef.slicing import SliceSpec
from intaglio.opdef.tensor import Tensor


class PartialUpdates:
    """The methods of `tf.Variable` that read or update some of its elements.

    Follows https://www.tensorflow.org/api_docs/python/tf/Variable. Updates return the updated variable.
    All raise InvalidArgumentError (ValueError in graphs) for incompatible shapes and for indices out
    of range.
    """

    dtype: DType
    handle: Tensor
    _dims: Dims

    def _changed(self, operation: Any) -> Any:
        raise NotImplementedError

    def accessed(self) -> None:
        """Notifies tapes and the function being traced that the variable is used."""
        raise NotImplementedError

    # -- rows ------------------------------------------------------------------------

    def _scatter(self, op: Op, sparse_delta: Any, name: str | None) -> Any:
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
            )
        values = convert.to_tensor(sparse_delta.values, self.dtype)
        return self._changed(op(self.handle, sparse_delta.indices, values, name=name))

    def scatter_add(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds `tf.IndexedSlices` to the rows that they name."""
        return self._scatter(raw.ResourceScatterAdd, sparse_delta, name)

    def scatter_sub(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtracts `tf.IndexedSlices` from the rows that they name."""
        return self._scatter(raw.ResourceScatterSub, sparse_delta, name)

    def scatter_mul(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies the rows that `tf.IndexedSlices` name."""
        return self._scatter(raw.ResourceScatterMul, sparse_delta, name)

    def scatter_div(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divides the rows that `tf.IndexedSlices` name."""
        return self._scatter(raw.ResourceScatterDiv, sparse_delta, name)

    def scatter_min(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Sets the rows that `tf.IndexedSlices` name to the minimum with these."""
        return self._scatter(raw.ResourceScatterMin, sparse_delta, name)

    def scatter_max(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Sets the rows that `tf.IndexedSlices` name to the maximum with these."""
        return self._scatter(raw.ResourceScatterMax, sparse_delta, name)

    def scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces the rows that `tf.IndexedSlices` name."""
        return self._scatter(raw.ResourceScatterUpdate, sparse_delta, name)

    def batch_scatter_update(
        self, sparse_delta: Any, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """`var[i, ..., indices[i, ..., j]] = updates[i, ..., j]` for all leading indices."""
        if not isinstance(sparse_delta, IndexedSlices):
            raise TypeError(
                f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: {sparse_delta}"
            )
        indices = convert.to_tensor(sparse_delta.indices)
        updates = convert.to_tensor(sparse_delta.values, self.dtype)
        rank = len(indices.shape)
        dims = indices.dims
        if not shapes.known(dims):
            raise NotImplementedError(
                "batch_scatter_update needs indices of a known shape; use scatter_nd_update"
            )
        grid = np.indices(dims, indices.dtype.numpy)[: rank - 1]
        where = raw.Pack([*grid, indices], axis=-1)
        return self._changed(raw.ResourceScatterNdUpdate(self.handle, where, updates, name=name))

    # -- coordinates -----------------------------------------------------------------

    def _scatter_nd(self, op: Op, indices: Any, updates: Any, name: str | None) -> Any:
        values = convert.to_tensor(updates, self.dtype)
        return self._changed(op(self.handle, indices, values, name=name))

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces the slices named by the rows of `indices`."""
        return self._scatter_nd(raw.ResourceScatterNdUpdate, indices, updates, name)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds to the slices named by the rows of `indices`."""
        return self._scatter_nd(raw.ResourceScatterNdAdd, indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts from the slices named by the rows of `indices`."""
        return self._scatter_nd(raw.ResourceScatterNdSub, indices, updates, name)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Sets the slices named by the rows of `indices` to the minimum with the updates."""
        return self._scatter_nd(raw.ResourceScatterNdMin, indices, updates, name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Sets the slices named by the rows of `indices` to the maximum with the updates."""
        return self._scatter_nd(raw.ResourceScatterNdMax, indices, updates, name)

    # -- reading parts -----------------------------------------------------------------

    def sparse_read(self, indices: Any, name: str | None = None) -> Tensor:
        """The rows at `indices`; their gradient is a `tf.IndexedSlices`."""
        self.accessed()
        return raw.ResourceGather(self.handle, indices, dtype=self.dtype, name=name or "Gather")

    def gather_nd(self, indices: Any, name: str | None = None) -> Tensor:
        """The slices named by the rows of `indices`."""
        self.accessed()
        rows = raw.ResourceGatherNd(self.handle, indices, dtype=self.dtype, name=name or "GatherNd")
        return raw.Identity(rows)

    # -- slices ------------------------------------------------------------------------

    def assign_slice(self, part: SliceSpec, value: Any, name: str | None = None) -> Any:
        """`variable[...].assign(value)`: the value, broadcast to the slice, replaces it."""
        where = [
            np.asarray(v, np.int32) if not any(isinstance(i, Tensor) for i in v) else v
            for v in (part.begin, part.end, part.strides)
        ]
        return self._changed(
            raw.ResourceStridedSliceAssign(
                self.handle,
                *where,
                convert.to_tensor(value, self.dtype),
                **part.masks,
                name=name or "strided_slice/_assign",
            )
        )
