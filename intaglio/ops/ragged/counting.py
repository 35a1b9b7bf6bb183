"""How often integers occur in the rows of ragged tensors, and in sparse form."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, float32, float64, int32, int64
from intaglio.base.errors import ShapeError, invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec, number
from intaglio.ops.families import check_rank
from intaglio.ops.sparse import indices as coordinates

_WEIGHTS = (int32, int64, float32, float64)


def _row_numbers(splits: Any, size: int) -> Any:
    if splits.size < 1 or splits[0] != 0:
        raise invalid_argument(
            f"Splits must start with 0, not with {int(splits[0]) if splits.size else 'nothing'}"
        )
    if splits[-1] != size:
        raise invalid_argument(
            f"Splits must end with the number of values, got {int(splits[-1])} instead of {size}"
        )
    return np.repeat(np.arange(splits.size - 1), np.diff(splits))


@op
class RaggedBincount(Op):
    """How often each integer occurs in each row, or the sum of its weights."""

    signature = (
        "splits: int64, values: Tidx, size: Tidx, weights: T; binary_output: bool = False"
        " -> output: T"
    )
    differentiable = False
    Tidx = INDEX
    T = _WEIGHTS
    without_default = ("Tidx",)

    def infer(self, splits: Spec, size: Spec, weights: Spec) -> Spec:
        for x, rank, name in ((splits, 1, "splits"), (size, 0, "size")):
            if x.rank not in (None, rank):
                raise ShapeError(f"Shape must be rank {rank} but is rank {x.rank} for '{name}'")
        rows = splits.shape[0] if splits.shape else None
        return Spec(weights.dtype, (None if rows is None else rows - 1, number(size)))

    def kernel(self, splits, values, size, weights, binary_output):
        count = int(size)
        if count < 0:
            raise invalid_argument(f"size ({count}) must be non-negative")
        if np.any(values < 0):
            raise invalid_argument("Input must be non-negative")
        if weights.size and weights.size != values.size:
            raise invalid_argument("Weights and values must have the same size")
        rows = _row_numbers(splits, values.size)
        kept = values < count
        flat = rows[kept] * count + values[kept].astype(np.int64)
        total = (splits.size - 1) * count
        if binary_output:
            found = np.zeros(total, weights.dtype)
            found[flat] = 1
        elif weights.size:
            found = np.zeros(total, weights.dtype)
            np.add.at(found, flat, weights[kept])
        else:
            found = np.bincount(flat, minlength=total).astype(weights.dtype)
        return found.reshape(splits.size - 1, count)


@op
class SparseBincount(Op):
    """How often each integer occurs in a sparse vector, or in each row of a sparse matrix."""

    signature = (
        "indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T;"
        " binary_output: bool = False -> output: T"
    )
    differentiable = False
    Tidx = INDEX
    T = _WEIGHTS
    without_default = ("Tidx",)

    def infer(self, dense_shape: Spec, size: Spec, weights: Spec) -> Spec:
        if size.rank not in (None, 0):
            raise ShapeError(f"Shape must be rank 0 but is rank {size.rank}")
        dims = dense_shape.as_shape()
        if dims is None:
            return Spec(weights.dtype, None)
        return Spec(weights.dtype, (*dims[:-1], number(size)))

    def kernel(self, indices, values, dense_shape, size, weights, binary_output):
        count = int(size)
        if count < 0:
            raise invalid_argument(f"size ({count}) must be non-negative")
        if weights.size and weights.size != values.size:
            raise invalid_argument("Weights and values must have the same size")
        coordinates.check(indices, values, dense_shape)
        flat = dense_shape.size == 1
        rows = 1 if flat else int(dense_shape[0])
        ids = np.zeros(values.size, np.int64) if flat else indices[:, 0]
        # Negative ones are left out, as those that are too large.
        kept = (values >= 0) & (values < count)
        bins = ids[kept] * count + values[kept].astype(np.int64)
        found = np.zeros(rows * count, weights.dtype)
        if binary_output:
            found[bins] = 1
        elif weights.size:
            np.add.at(found, bins, weights[kept])
        else:
            found = np.bincount(bins, minlength=rows * count).astype(weights.dtype)
        return found.reshape(count if flat else (rows, count))


class _SparseCounts(Op):
    """Counts as the parts of a sparse tensor: rows, integers, and how often each occurs."""

    differentiable = False
    T = INDEX
    output_type = _WEIGHTS

    def outputs(self, rank: int | None, weights: Spec) -> Any:
        return (Spec(int64, (None, rank)), Spec(weights.dtype, (None,)), Spec(int64, (rank,)))


def _counted(
    rows: Any, values: Any, weights: Any, minlength: int, maxlength: int, binary: bool
) -> tuple[Any, Any, int]:
    """(row, integer) pairs in order, what each adds up to, and how many integers there are."""
    for name, length in (("minlength", minlength), ("maxlength", maxlength)):
        if length < -1:
            raise invalid_argument(f"{name} must be -1 or more, not {length}")
    if values.size and values.min() < 0:
        raise invalid_argument("Input values must all be non-negative")
    if weights.size and weights.size != values.size:
        raise invalid_argument(
            "Weights and values must have the same shape. Weight shape: "
            f"[{weights.size}]; values shape: [{values.size}]"
        )
    kept = np.ones(values.shape, bool) if maxlength < 0 else values < maxlength
    rows, values = rows[kept], values[kept].astype(np.int64)
    # With a limit the number of bins is fixed, whichever occur.
    width = max(int(values.max(initial=0)) + 1, minlength)
    width = maxlength if maxlength >= 0 else width
    keys, where, counts = np.unique(
        rows * max(width, 1) + values, return_inverse=True, return_counts=True
    )
    if binary:
        found = np.ones(keys.size, weights.dtype)
    elif weights.size:
        found = np.zeros(keys.size, weights.dtype)
        np.add.at(found, where.reshape(-1), weights.reshape(-1)[kept])
    else:
        found = counts.astype(weights.dtype)
    pairs = np.stack([keys // max(width, 1), keys % max(width, 1)], axis=1)
    return pairs.astype(np.int64), found, width


@op
class RaggedCountSparseOutput(_SparseCounts):
    """How often each integer occurs in each row of a ragged tensor."""

    signature = (
        "splits: int64, values: T, weights: output_type; minlength: int = -1,"
        " maxlength: int = -1, binary_output: bool"
        " -> output_indices: int64, output_values: output_type,"
        " output_dense_shape: int64"
    )

    def infer(self, weights: Spec) -> Any:
        return self.outputs(2, weights)

    def kernel(self, splits, values, weights, minlength, maxlength, binary_output):
        if weights.size:
            check_rank("weights", weights, 1)
        rows = _row_numbers(splits, values.size)
        pairs, found, width = _counted(rows, values, weights, minlength, maxlength, binary_output)
        return pairs, found, np.array([splits.size - 1, width], np.int64)


@op
class DenseCountSparseOutput(_SparseCounts):
    """How often each integer occurs in a vector, or in each row of a matrix."""

    signature = (
        "values: T, weights: output_type; minlength: int = -1, maxlength: int = -1,"
        " binary_output: bool"
        " -> output_indices: int64, output_values: output_type,"
        " output_dense_shape: int64"
    )

    def infer(self, values: Spec, weights: Spec) -> Any:
        return self.outputs(values.rank, weights)

    def kernel(self, values, weights, minlength, maxlength, binary_output):
        if values.ndim not in (1, 2):
            raise invalid_argument(f"Input must be a 1 or 2-dimensional tensor. Got: {values.ndim}")
        if weights.size and weights.shape != values.shape:
            raise invalid_argument(
                "Weights and data must have the same shape. Weight shape: "
                f"{list(weights.shape)}; data shape: {list(values.shape)}"
            )
        wide = np.atleast_2d(values)
        rows = np.repeat(np.arange(wide.shape[0]), wide.shape[1])
        flat = weights.reshape(-1)
        pairs, found, width = _counted(
            rows, wide.reshape(-1), flat, minlength, maxlength, binary_output
        )
        if values.ndim == 1:
            return pairs[:, 1:], found, np.array([width], np.int64)
        return pairs, found, np.array([values.shape[0], width], np.int64)


@op
class SparseCountSparseOutput(_SparseCounts):
    """How often each integer occurs in a sparse vector, or in each row of a sparse matrix."""

    signature = (
        "indices: int64, values: T, dense_shape: int64, weights: output_type;"
        " minlength: int = -1, maxlength: int = -1, binary_output: bool"
        " -> output_indices: int64, output_values: output_type,"
        " output_dense_shape: int64"
    )

    def infer(self, dense_shape: Spec, weights: Spec) -> Any:
        rank = dense_shape.shape[0] if dense_shape.shape else None
        return self.outputs(rank, weights)

    def kernel(self, indices, values, dense_shape, weights, minlength, maxlength, binary_output):
        if dense_shape.size not in (1, 2):
            raise invalid_argument("Input must be a 1 or 2-dimensional sparse tensor")
        if indices.shape[0] != values.size:
            raise invalid_argument(
                "Number of values must match first dimension of indices. Got "
                f"{values.size} values, indices shape: [{indices.shape[0]},{indices.shape[1]}]"
            )
        check_rank("dense_shape", dense_shape, 1)
        if indices.shape[1] != dense_shape.size:
            raise invalid_argument(
                f"Dense shape has {dense_shape.size} dimensions, but indices have"
                f" {indices.shape[1]}"
            )
        if np.any(indices < 0) or np.any(indices >= dense_shape):
            raise invalid_argument(f"indices reach outside the dense shape {dense_shape.tolist()}")
        flat = dense_shape.size == 1
        rows = np.zeros(values.size, np.int64) if flat else indices[:, 0]
        pairs, found, width = _counted(rows, values, weights, minlength, maxlength, binary_output)
        if flat:
            return pairs[:, 1:], found, np.array([width], np.int64)
        return pairs, found, np.array([int(dense_shape[0]), width], np.int64)
