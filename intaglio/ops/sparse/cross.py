"""Feature crosses of sparse and dense columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import int64, string
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.opdef.op import Op, op
from intaglio.ops.ragged.cross import combinations, hashed, texts
from intaglio.ops.ragged.tensors import positions, splits_from
from intaglio.ops.sparse import indices as coordinates

_KINDS = (int64, string)


class Crosses(Op):
    """All combinations of one value of each input, row by row, as a sparse matrix."""

    differentiable = False

    def columns(
        self, indices: Any, values: Any, shapes: Any, dense_inputs: Any
    ) -> list[tuple[Any, Any]]:
        """Every input's values with its row splits."""
        found: list[tuple[Any, Any]] = []
        for i, v, d in zip(indices, values, shapes, strict=True):
            coordinates.check(i, v, d)
            if d.size != 2:
                raise invalid_argument(
                    f"shape should imply a 2D tensor, but got shape {brackets(tuple(d.tolist()))}"
                )
            counts = np.bincount(i[:, 0], minlength=int(d[0]))
            found.append((v, splits_from(counts, np.int64)))
        for x in dense_inputs:
            if x.ndim != 2:
                raise invalid_argument(
                    f"Dense inputs should be a matrix but received shape {brackets(x.shape)}"
                )
            splits = np.arange(x.shape[0] + 1) * x.shape[1]
            found.append((x.reshape(-1), splits))
        rows = [s.size - 1 for _, s in found]
        if len(set(rows)) > 1:
            at = next(i for i, r in enumerate(rows) if r != rows[0])
            raise invalid_argument(f"Expected batch size {rows[0]} got {rows[at]} at input {at}")
        return found

    def crossed(self, columns: list[tuple[Any, Any]], join: Any) -> Any:
        """The parts of the result; `join` makes one value of each combination's."""
        lengths = [np.diff(s) for _, s in columns]
        taken, counts = combinations(lengths, {n.size for n in lengths})
        picked = [
            v[np.repeat(s[:-1], counts) + p] for (v, s), p in zip(columns, taken, strict=True)
        ]
        inside = positions(np.zeros(counts.size, np.int64), counts)
        rows = np.repeat(np.arange(counts.size), counts)
        table = np.stack([rows, inside], axis=1).astype(np.int64)
        shape = np.array([counts.size, int(counts.max(initial=0))], np.int64)
        return table, join(picked, int(counts.sum())), shape


@op
class SparseCross(Crosses):
    """Combinations joined by "_X_", or as hashes."""

    signature = (
        "indices: N*int64, values: *sparse_types, shapes: N*int64,"
        " dense_inputs: *dense_types; hashed_output: bool, num_buckets: int,"
        " hash_key: int, out_type: type, internal_type: type"
        " -> output_indices: int64, output_values: out_type, output_shape: int64"
    )
    sparse_types = _KINDS
    dense_types = _KINDS
    out_type = _KINDS
    internal_type = _KINDS

    def infer(self, out_type) -> Any:
        return coordinates.parts(out_type, None, 2)

    def kernel(self, indices, values, shapes, dense_inputs, hashed_output, num_buckets, hash_key):
        columns = self.columns(indices, values, shapes, dense_inputs)
        if not hashed_output:
            return self.crossed(columns, lambda picked, _: texts(picked))
        return self.crossed(
            columns, lambda picked, count: hashed(picked, num_buckets, hash_key, count)
        )


@op
class SparseCrossV2(Crosses):
    """Combinations joined by a separator."""

    signature = (
        "indices: N*int64, values: *sparse_types, shapes: N*int64,"
        " dense_inputs: *dense_types, sep: string"
        " -> output_indices: int64, output_values: string, output_shape: int64"
    )
    sparse_types = _KINDS
    dense_types = _KINDS

    def infer(self) -> Any:
        return coordinates.parts(string, None, 2)

    def kernel(self, indices, values, shapes, dense_inputs, sep):
        columns = self.columns(indices, values, shapes, dense_inputs)
        separator = np.asarray(sep).item()
        return self.crossed(columns, lambda picked, _: texts(picked, separator))
