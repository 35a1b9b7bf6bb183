"""The Levenshtein distance: insertions, deletions and replacements between sequences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from intaglio.base.dtypes import ORDINARY, float32
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.grouping import distinct
from intaglio.ops.restricted import run_loops
from intaglio.ops.sparse import indices as coordinates

# What NumPy takes for a cell of the tables, and for one more element of all rows, in multiplications.
WORK_PER_CELL, WORK_PER_STEP = 8, 1 << 14


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
        codes = _codes(np.concatenate([hypothesis_values, truth_values]))
        cut = hypothesis_values.size
        hypothesis = _Rows.of(hypothesis_indices, codes[:cut], dims, count)
        truth = _Rows.of(truth_indices, codes[cut:], dims, count)
        found, n, m = _distances(hypothesis, truth), hypothesis.lengths, truth.lengths
        found = found.astype(np.float32)
        if normalize:
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.where((m == 0) & (n == 0), 0, found / m.astype(np.float32))
        return found.reshape(dims.tolist()).astype(np.float32)


def _codes(values: Any) -> Any:
    """A number (int64) for each value, the same for equal ones."""
    if values.dtype.kind in "iubO":
        return np.asarray(distinct(values)[1], np.int64)
    return np.unique(values, return_inverse=True)[1].reshape(-1)  # NaNs are equal


class _Rows(NamedTuple):
    """Sequences one after the other, where each begins, and their lengths (int64)."""

    values: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, indices: Any, values: Any, dims: Any, count: int) -> _Rows:
        """Those of a sparse tensor's last dimension."""
        coordinates.check_bounds(indices[:, :-1], dims)
        rows, last = coordinates.flat(indices[:, :-1], dims), indices[:, -1]
        above, below = rows[:-1], rows[1:]
        if not ((below > above) | ((below == above) & (last[1:] >= last[:-1]))).all():
            order = np.lexsort((last, rows))
            rows, values = rows[order], values[order]
        lengths = np.bincount(rows, minlength=count)
        return cls(values, np.cumsum(lengths) - lengths, lengths)

    def table(self) -> np.ndarray:
        """The sequences side by side in a matrix, with -1 behind them."""
        columns = np.arange(self.lengths.max(initial=0))
        inside = columns < self.lengths[:, None]
        at = np.where(inside, self.starts[:, None] + columns, 0)
        return np.where(inside, self.values[at], -1) if self.values.size else at


def _distances(a: _Rows, b: _Rows) -> Any:
    """The distance of each row's pair."""
    count = a.lengths.size
    length, width = (int(x.lengths.max(initial=0)) for x in (a, b))
    found = np.empty(count, np.int64)
    work = WORK_PER_CELL * count * length * width + WORK_PER_STEP * length
    memory = np.empty(count * (width + 1), np.int64)
    if run_loops(distance_rows, work, found, memory, *a, *b, width, rows=count):
        return found
    return _distances_by_columns(a.table(), a.lengths, b.table(), b.lengths)


def distance_rows(
    found: Any, memory: Any, a: Any, begin: Any, n: Any, b: Any, start: Any, m: Any,
    width: Any, first: Any, last: Any,
) -> None:  # fmt: skip
    """The distances of rows: n elements of a from `begin` on, and m of b from `start` on, up to `width`."""
    for r in range(first, last):
        one, other, row = a[begin[r] :], b[start[r] :], memory[r * (width + 1) :]
        size = m[r]
        for j in range(size + 1):
            row[j] = j
        for i in range(n[r]):
            before = row[0]
            row[0] = i + 1
            for j in range(size):
                above = row[j + 1]
                replaced = before if one[i] == other[j] else before + 1
                row[j + 1] = min(min(above, row[j]) + 1, replaced)
                before = above
        found[r] = row[size]


def _distances_by_columns(a: Any, n: Any, b: Any, m: Any) -> Any:
    """The distance of each row's pair, a row of every table at a time."""
    count, width = b.shape
    steps = np.arange(width + 1)
    row = np.broadcast_to(steps, (count, width + 1)).copy()
    found = np.take_along_axis(row, m[:, None], axis=1)[:, 0]
    for i in range(a.shape[1]):
        new = row + 1
        new[:, 1:] = np.minimum(new[:, 1:], row[:, :-1] + (a[:, i : i + 1] != b))
        # A path from the left costs 1 for each step: the minimum so far, less the steps.
        row = np.minimum.accumulate(new - steps, axis=1) + steps
        done = n == i + 1
        found[done] = np.take_along_axis(row[done], m[done, None], axis=1)[:, 0]
    return found
