"""Empty rows of ragged tensors filled with a default."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ALL, bool_, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef import raw
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.families import check_rank
from intaglio.ops.math.segments import gathered


@op
class RaggedFillEmptyRows(Op):
    """Each row without values gets the default as its only value."""

    signature = (
        "value_rowids: int64, values: T, nrows: int64, default_value: T"
        " -> output_value_rowids: int64, output_values: T, empty_row_indicator: bool,"
        " reverse_index_map: int64"
    )
    T = ALL

    def infer(self, value_rowids: Spec, values: Spec, nrows: Spec, default_value: Spec) -> Any:
        for x, rank in ((value_rowids, 1), (values, 1), (nrows, 0), (default_value, 0)):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank}")
        rows = None if nrows.value is None else int(nrows.value)
        size = value_rowids.shape[0] if value_rowids.shape else None
        return (
            Spec(int64, (None,)),
            Spec(values.dtype, (None,)),
            Spec(bool_, (rows,)),
            Spec(int64, (size,)),
        )

    def kernel(self, value_rowids, values, nrows, default_value):
        _check(value_rowids, values, nrows, default_value)
        count = int(nrows)
        counts = np.bincount(value_rowids, minlength=count)
        empty = counts == 0
        sizes = np.where(empty, 1, counts)
        starts = np.cumsum(sizes) - sizes
        order = np.argsort(value_rowids, kind="stable")
        sorted_ids = value_rowids[order]
        first = np.cumsum(counts) - counts
        targets = np.empty(values.shape[0], np.int64)
        targets[order] = starts[sorted_ids] + np.arange(order.size) - first[sorted_ids]
        filled = np.empty(int(sizes.sum()), values.dtype)
        filled[...] = default_value
        filled[targets] = values
        return np.repeat(np.arange(count), sizes), filled, empty, targets

    def gradient(self, doutput_values, reverse_index_map) -> Any:
        gradients = raw.RaggedFillEmptyRowsGrad(reverse_index_map, doutput_values)
        return None, gradients.d_values, None, gradients.d_default_value


def _check(value_rowids: Any, values: Any, nrows: Any, default_value: Any) -> None:
    if np.ndim(value_rowids) != 1:
        raise invalid_argument("value_rowids must be a vector")
    if np.ndim(values) != 1:
        raise invalid_argument("values must be a vector")
    if np.ndim(nrows) != 0:
        raise invalid_argument("nrows must be a scalar")
    if np.ndim(default_value) != 0:
        raise invalid_argument("default_value must be a scalar")
    if values.size != value_rowids.size:
        raise invalid_argument(
            f"The length of `values` ({values.size}) must match the first dimension of "
            f"`value_rowids` ({value_rowids.size})."
        )
    wrong = (value_rowids < 0) | (value_rowids >= int(nrows))
    if np.any(wrong):
        at = int(np.flatnonzero(wrong)[0])
        raise invalid_argument(
            f"segment_ids[{at}] = {int(value_rowids[at])} out of range [0, {int(nrows)})"
        )


@op
class RaggedFillEmptyRowsGrad(Op):
    """The gradients of the values and of the default."""

    signature = "reverse_index_map: int64, grad_values: T -> d_values: T, d_default_value: T"
    T = ALL

    def infer(self, reverse_index_map: Spec, grad_values: Spec) -> Any:
        for x in (reverse_index_map, grad_values):
            if x.rank not in (None, 1):
                raise ShapeError(f"Shape must be rank 1 but is rank {x.rank}")
        return Spec(grad_values.dtype, reverse_index_map.shape), Spec(grad_values.dtype, ())

    def kernel(self, reverse_index_map, grad_values):
        check_rank("reverse_index_map", reverse_index_map, 1)
        size = grad_values.shape[0]
        wrong = (reverse_index_map < 0) | (reverse_index_map >= size)
        if np.any(wrong):
            at = int(np.flatnonzero(wrong)[0])
            raise invalid_argument(
                "Elements in reverse index must be in [0, "
                f"{size}) but got {int(reverse_index_map[at])}"
            )
        rest = np.ones(size, bool)
        rest[reverse_index_map] = False
        ids = np.zeros(int(rest.sum()), np.int64)
        total = gathered(grad_values[rest], ids, 1, np.add, 0, 0)[0]
        return grad_values[reverse_index_map], np.asarray(total)

    def gradient(self, dd_values, dd_default_value, reverse_index_map, grad_values: Spec) -> Any:
        from_values = raw.UnsortedSegmentSum(
            raw.Sub(dd_values, dd_default_value),
            reverse_index_map,
            raw.StridedSlice(_size(grad_values), [0], [1], [1], shrink_axis_mask=1),
        )
        return None, raw.AddV2(from_values, dd_default_value)


def _size(x: Spec) -> Any:
    return np.asarray(x.shape, np.int32) if x.tensor is None else raw.Shape(x.tensor)
