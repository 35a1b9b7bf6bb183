"""Products of batches of matrices with different numbers of rows and columns.

Follows https://www.tensorflow.org/api_docs/python/tf/linalg/matmul.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.opdef import convert, raw
from intaglio.ragged import checks, core, densities, joining
from intaglio.ragged.core import Ragged
from intaglio.trace.scopes import name_scope


def matmul(
    function: Any,
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: Any = None,
    name: str | None = None,
) -> Any:
    """a @ b for each pair of matrices. Rows of matrices that are no matrix are an error."""
    if a_is_sparse or b_is_sparse or adjoint_a or adjoint_b:
        raise ValueError("sparse and adjoint matrices are not supported for RaggedTensors")
    with name_scope(name or "RaggedMatMul"):
        a, b = core.matched([a, b])
        if core.rank_of(a) != core.rank_of(b):
            raise ValueError("`a` and `b` must have the same rank.")
        if core.rank_of(a) == 2:
            return _single(a, b, transpose_a, transpose_b)
        return _batched(a, b, transpose_a, transpose_b)


def _single(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    text = "The matrices in `a` and `b` may not be ragged in their innermost dimension."
    dense: list[Any] = []
    for x in (a, b):
        if isinstance(x, Ragged):
            whole: Any = densities.to_tensor(x, None, None)
            dtype = x.row_splits.dtype
            count = raw.Size(x.flat_values, out_type=dtype)
            checks.compare("==", count, raw.Size(whole, out_type=dtype), text)
            x = whole
        dense.append(x)
    return raw.MatMul(*dense, transpose_a=transpose_a, transpose_b=transpose_b)


def _rows(x: Any, dtype: Any) -> tuple[Any, Any]:
    """The number of rows and of columns of each matrix."""
    if not isinstance(x, Ragged):
        shape: Any = raw.Shape(x, out_type=dtype)
        return raw.Fill(shape[:1], shape[1]), raw.Fill(shape[:1], shape[2])
    counts = x.partition.row_lengths()
    zero = convert.to_tensor(0, dtype)
    if isinstance(x.values, Ragged):
        lengths: Any = x.values.partition.row_lengths()
        ids = x.partition.value_rowids()
        widest = raw.UnsortedSegmentMax(lengths, ids, x.partition.nrows())
        least = raw.UnsortedSegmentMin(lengths, ids, x.partition.nrows())
        some = raw.Greater(counts, zero)
        even = raw.LogicalOr(raw.Equal(widest, least), raw.LogicalNot(some))
        text = "The matrices in `a` and `b` may not be ragged in their innermost dimension."
        checks.holds(raw.All(even, np.asarray([0], np.int32)), [text])
        return counts, raw.Maximum(widest, zero)
    inner: Any = raw.Shape(x.values, out_type=dtype)
    return counts, raw.Fill(raw.ExpandDims(x.partition.nrows(), 0), inner[1])


def _batched(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    """Filled up with 0, multiplied, and cut to the sizes that the products have."""
    if not isinstance(a, Ragged) and not isinstance(b, Ragged):
        return raw.BatchMatMulV2(a, b, adj_x=transpose_a, adj_y=transpose_b)
    dtype = core.splits_dtype(a, b)
    if core.rank_of(a) != 3:
        one, two = [x if isinstance(x, Ragged) else joining.cut_to(x, 1, dtype) for x in (a, b)]
        text = "Batch dimensions of `a` and `b` do not have the same size."
        checks.same_splits(one.row_splits, two.row_splits, text)
        product = _batched(one.values, two.values, transpose_a, transpose_b)
        return one.with_values(product)
    (a_rows, a_columns), (b_rows, b_columns) = _rows(a, dtype), _rows(b, dtype)
    rows, inside = (a_columns, a_rows) if transpose_a else (a_rows, a_columns)
    other, columns = (b_columns, b_rows) if transpose_b else (b_rows, b_columns)
    checks.compare("==", inside, other, "Matrix size-incompatible")
    one, two = [densities.to_tensor(x, None, None) if isinstance(x, Ragged) else x for x in (a, b)]
    product = raw.BatchMatMulV2(one, two, adj_x=transpose_a, adj_y=transpose_b)
    dims: Any = b.dims
    uniform = dims[1] if transpose_b else dims[2]
    if uniform is not None:
        return densities.from_tensor(product, rows, None, 1, dtype)
    each = raw.GatherV2(columns, _row_numbers(rows), 0)
    return densities.from_tensor(product, (rows, each), None, 1, dtype)


def _row_numbers(lengths: Any) -> Any:
    return core.from_lengths(
        raw.Range(
            convert.to_tensor(0, lengths.dtype),
            raw.Sum(lengths, 0),
            convert.to_tensor(1, lengths.dtype),
        ),
        lengths,
    ).partition.value_rowids()
