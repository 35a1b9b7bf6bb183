"""The Levenshtein distance: insertions, deletions and replacements between sequences."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import ORDINARY, float32
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.sparse import indices as coordinates


@op
class EditDistance(Op):
    """The Levenshtein distances of the rows of two sparse tensors."""

    signature = (
        "hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64,"
        " truth_indices: int64, truth_values: T, truth_shape: int64;"
        " normalize: bool = True -> output: float32"
    )
    differentiable = False
    T = ORDINARY

    def infer(self, hypothesis_shape: Spec, truth_shape: Spec) -> Spec:
        a, b = hypothesis_shape.as_shape(), truth_shape.as_shape()
        if a is None or b is None or len(a) != len(b):
            return Spec(float32, None)
        pairs = zip(a[:-1], b[:-1], strict=True)
        dims = [None if x is None or y is None else max(x, y) for x, y in pairs]
        return Spec(float32, tuple(dims))

    def kernel(
        self,
        hypothesis_indices,
        hypothesis_values,
        hypothesis_shape,
        truth_indices,
        truth_values,
        truth_shape,
        normalize,
    ):
        coordinates.check(hypothesis_indices, hypothesis_values, hypothesis_shape, "hypothesis")
        coordinates.check(truth_indices, truth_values, truth_shape, "truth")
        if truth_shape.size < 2:
            raise invalid_argument(
                "Input SparseTensors must have rank at least 2, but truth_shape rank is: "
                f"{truth_shape.size}"
            )
        if hypothesis_shape.size != truth_shape.size:
            raise invalid_argument(
                "Expected truth and hypothesis to have matching ranks, but their shapes "
                f"are: [{truth_shape.size}] and [{hypothesis_shape.size}]"
            )
        dims = np.maximum(hypothesis_shape, truth_shape)[:-1]
        count = int(np.prod(dims))
        _, codes = np.unique(np.concatenate([hypothesis_values, truth_values]), return_inverse=True)
        codes = codes.reshape(-1)
        cut = hypothesis_values.size
        hypothesis, n = _rows(hypothesis_indices, codes[:cut], dims, count)
        truth, m = _rows(truth_indices, codes[cut:], dims, count)
        found = _distances(hypothesis, n, truth, m).astype(np.float32)
        if normalize:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.where((m == 0) & (n == 0), 0, found / m.astype(np.float32))
        return found.reshape(dims.tolist()).astype(np.float32)


def _rows(indices: Any, codes: Any, dims: Any, count: int) -> tuple[Any, Any]:
    """The sequences side by side in a matrix, and their lengths."""
    coordinates.check_bounds(indices[:, :-1], dims)
    rows = coordinates.flat(indices[:, :-1], dims)
    order = np.lexsort((indices[:, -1], rows))
    rows, codes = rows[order], codes[order]
    lengths = np.bincount(rows, minlength=count)
    inside = np.arange(rows.size) - (np.cumsum(lengths) - lengths)[rows]
    table = np.full((count, int(lengths.max(initial=0))), -1, np.int64)
    table[rows, inside] = codes
    return table, lengths


def _distances(a: Any, n: Any, b: Any, m: Any) -> Any:
    """The distance of each row's pair, a row of every table at a time."""
    count, width = b.shape
    steps = np.arange(width + 1)
    row = np.broadcast_to(steps, (count, width + 1)).copy()
    found = np.take_along_axis(row, m[:, None], axis=1)[:, 0]
    for i in range(a.shape[1]):
        new = row + 1
        new[:, 1:] = np.minimum(new[:, 1:], row[:, :-1] + (a[:, i : i + 1] != b))
        # What comes from the left costs 1 a step: the least so far, less the steps.
        row = np.minimum.accumulate(new - steps, axis=1) + steps
        done = n == i + 1
        found[done] = np.take_along_axis(row[done], m[done, None], axis=1)[:, 0]
    return found
