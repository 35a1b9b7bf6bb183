"""Serialized SequenceExamples parsed: features, and lists of features."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, DType, float32, int64, string
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.graphdef.example_messages import SequenceExample
from intaglio.graphdef.example_parsing import (
    Column,
    column_of,
    dense_values,
    label,
    records,
    sparse_parts,
)
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec


@op
class ParseSequenceExampleV2(Op):
    """The features of serialized SequenceExamples: one record, or a vector of them."""

    signature = (
        "serialized: string, debug_name: string, context_sparse_keys: string,"
        " context_dense_keys: string, context_ragged_keys: string,"
        " feature_list_sparse_keys: string, feature_list_dense_keys: string,"
        " feature_list_ragged_keys: string,"
        " feature_list_dense_missing_assumed_empty: bool,"
        " context_dense_defaults: *Tcontext_dense; Ncontext_sparse: int = 0,"
        " context_sparse_types: list(type) = [],"
        " context_ragged_value_types: list(type) = [],"
        " context_ragged_split_types: list(type) = [],"
        " context_dense_shapes: list(shape) = [], Nfeature_list_sparse: int = 0,"
        " Nfeature_list_dense: int = 0, feature_list_dense_types: list(type) = [],"
        " feature_list_sparse_types: list(type) = [],"
        " feature_list_ragged_value_types: list(type) = [],"
        " feature_list_ragged_split_types: list(type) = [],"
        " feature_list_dense_shapes: list(shape) = []"
        " -> context_sparse_indices: Ncontext_sparse*int64,"
        " context_sparse_values: *context_sparse_types,"
        " context_sparse_shapes: Ncontext_sparse*int64,"
        " context_dense_values: *Tcontext_dense,"
        " context_ragged_values: *context_ragged_value_types,"
        " context_ragged_row_splits: *context_ragged_split_types,"
        " feature_list_sparse_indices: Nfeature_list_sparse*int64,"
        " feature_list_sparse_values: *feature_list_sparse_types,"
        " feature_list_sparse_shapes: Nfeature_list_sparse*int64,"
        " feature_list_dense_values: *feature_list_dense_types,"
        " feature_list_dense_lengths: Nfeature_list_dense*int64,"
        " feature_list_ragged_values: *feature_list_ragged_value_types,"
        " feature_list_ragged_outer_splits: *feature_list_ragged_split_types,"
        " feature_list_ragged_inner_splits: *feature_list_ragged_split_types"
    )
    differentiable = False
    Tcontext_dense = (float32, int64, string)
    context_sparse_types = Tcontext_dense
    context_ragged_value_types = Tcontext_dense
    context_ragged_split_types = INDEX
    feature_list_dense_types = Tcontext_dense
    feature_list_sparse_types = Tcontext_dense
    feature_list_ragged_value_types = Tcontext_dense
    feature_list_ragged_split_types = INDEX

    def infer(
        self,
        serialized: Spec,
        context_dense_defaults: list[Spec],
        Ncontext_sparse,
        context_sparse_types,
        context_ragged_value_types,
        context_ragged_split_types,
        context_dense_shapes,
        Nfeature_list_sparse,
        Nfeature_list_dense,
        feature_list_dense_types,
        feature_list_sparse_types,
        feature_list_ragged_value_types,
        feature_list_ragged_split_types,
        feature_list_dense_shapes,
    ) -> Any:
        outer = serialized.shape
        rank = None if outer is None else len(outer)
        in_context, in_lists = (None, None) if rank is None else (rank + 1, rank + 2)
        dense = zip(context_dense_defaults, context_dense_shapes, strict=True)
        steps = zip(feature_list_dense_types, feature_list_dense_shapes, strict=True)
        return (
            [Spec(int64, (None, in_context))] * Ncontext_sparse,
            [Spec(t, (None,)) for t in context_sparse_types],
            [Spec(int64, (in_context,))] * Ncontext_sparse,
            [Spec(d.dtype, None if outer is None else (*outer, *s)) for d, s in dense],
            [Spec(t, (None,)) for t in context_ragged_value_types],
            [Spec(t, (None,)) for t in context_ragged_split_types],
            [Spec(int64, (None, in_lists))] * Nfeature_list_sparse,
            [Spec(t, (None,)) for t in feature_list_sparse_types],
            [Spec(int64, (in_lists,))] * Nfeature_list_sparse,
            [Spec(t, None if outer is None else (*outer, None, *s)) for t, s in steps],
            [Spec(int64, outer)] * Nfeature_list_dense,
            [Spec(t, (None,)) for t in feature_list_ragged_value_types],
            [Spec(t, (None,)) for t in feature_list_ragged_split_types],
            [Spec(t, (None,)) for t in feature_list_ragged_split_types],
        )

    def kernel(
        self, serialized, debug_name, context_sparse_keys, context_dense_keys,
        context_ragged_keys, feature_list_sparse_keys, feature_list_dense_keys,
        feature_list_ragged_keys, feature_list_dense_missing_assumed_empty,
        context_dense_defaults, context_sparse_types, context_ragged_value_types,
        context_ragged_split_types, context_dense_shapes, feature_list_dense_types,
        feature_list_sparse_types, feature_list_ragged_value_types,
        feature_list_ragged_split_types, feature_list_dense_shapes, Tcontext_dense,
    ):  # fmt: skip
        data = np.asarray(serialized, object)
        if data.ndim > 1:
            raise invalid_argument(
                f"Expected serialized to be a scalar or vector, got shape: {brackets(data.shape)}"
            )
        scalar = data.ndim == 0
        names = np.asarray(debug_name, object).reshape(-1)
        found = records(data.reshape(-1), SequenceExample, names)
        context = [m.context.feature for m in found]
        lists = [m.feature_lists.feature_list for m in found]

        def columns(keys: Any, kinds: Any) -> list[Column]:
            pairs = zip(keys, kinds, strict=True)
            return [column_of(context, k.decode(), t, names) for k, t in pairs]

        def steps(keys: Any, kinds: Any) -> list[Steps]:
            pairs = zip(keys, kinds, strict=True)
            return [Steps(lists, k.decode(), t, names) for k, t in pairs]

        sparse = [
            sparse_parts(c, scalar) for c in columns(context_sparse_keys, context_sparse_types)
        ]
        dense: list[Any] = []
        facts = context_dense_keys, context_dense_defaults, context_dense_shapes, Tcontext_dense
        for k, d, s, t in zip(*facts, strict=True):
            column = column_of(context, k.decode(), t, names)
            values = dense_values(column, k.decode(), t, s, d, names)
            dense.append(values[0] if scalar else values)
        ragged = columns(context_ragged_keys, context_ragged_value_types)
        splits = [
            _splits(c.counts, t) for c, t in zip(ragged, context_ragged_split_types, strict=True)
        ]
        in_lists = [
            x.sparse(scalar) for x in steps(feature_list_sparse_keys, feature_list_sparse_types)
        ]
        found_steps = steps(feature_list_dense_keys, feature_list_dense_types)
        facts = found_steps, feature_list_dense_shapes, feature_list_dense_missing_assumed_empty
        padded = [x.dense(shape, bool(m), scalar) for x, shape, m in zip(*facts, strict=True)]
        rows = steps(feature_list_ragged_keys, feature_list_ragged_value_types)
        kinds = feature_list_ragged_split_types
        return (
            *_columns(sparse, 3),
            dense,
            [c.values for c in ragged],
            splits,
            *_columns(in_lists, 3),
            *_columns(padded, 2),
            [x.column.values for x in rows],
            [_splits(x.counts, t) for x, t in zip(rows, kinds, strict=True)],
            [_splits(x.column.counts, t) for x, t in zip(rows, kinds, strict=True)],
        )


def _columns(rows: list[Any], width: int) -> list[list[Any]]:
    return [[row[i] for row in rows] for i in range(width)]


def _splits(counts: Any, dtype: DType) -> Any:
    return np.concatenate([[0], np.cumsum(counts)]).astype(dtype.numpy)


class Steps:
    """One feature list of all records: the features of all steps one after the other."""

    __slots__ = ("column", "counts", "key", "missing", "names")

    def __init__(self, lists: list[Any], key: str, dtype: DType, names: Any) -> None:
        self.key = key
        self.names = names
        self.missing = np.array([key not in features for features in lists])
        found = [features[key].feature if key in features else () for features in lists]
        self.counts = np.array([len(features) for features in found], np.int64)
        flat = [{key: feature} for features in found for feature in features]
        self.column = column_of(flat, key, dtype, names)

    def _row_positions(self) -> tuple[Any, Any]:
        """The record and the step of each feature."""
        ids = np.repeat(np.arange(self.counts.size), self.counts)
        return ids, np.arange(ids.size) - (np.cumsum(self.counts) - self.counts)[ids]

    def sparse(self, scalar: bool) -> tuple[Any, Any, Any]:
        """The parts of a sparse tensor [record, step, value]."""
        ids, step = self._row_positions()
        indices, values, shape = sparse_parts(self.column, False)
        table = np.stack([ids[indices[:, 0]], step[indices[:, 0]], indices[:, 1]], 1)
        dims = np.array([self.counts.size, self.counts.max(initial=0), shape[1]], np.int64)
        return (table[:, 1:], values, dims[1:]) if scalar else (table, values, dims)

    def dense(self, shape: Any, may_miss: bool, scalar: bool) -> tuple[Any, Any]:
        """A tensor [record, step, ...] padded with zeros, and the numbers of steps."""
        if self.missing.any() and not may_miss:
            at = int(np.argmax(self.missing))
            raise invalid_argument(
                f"{label(self.names, at)}, Feature list '{self.key}' is required but could "
                "not be found.  Did you mean to include it in "
                "feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        each = math.prod(shape)
        wrong = self.column.counts != each
        if wrong.any():
            at = int(np.argmax(wrong))
            raise invalid_argument(
                f"{label(self.names, 0)}, Key: {self.key}, Index: {at}.  Number of values "
                f"!= expected.  values size: {int(self.column.counts[at])} but output "
                f"shape: {brackets(tuple(shape))}"
            )
        ids, step = self._row_positions()
        longest = int(self.counts.max(initial=0))
        blank = b"" if self.column.values.dtype == object else 0
        found = np.full((self.counts.size, longest, *shape), blank, self.column.values.dtype)
        found[ids, step] = self.column.values.reshape((-1, *shape))
        return (found[0], self.counts[0]) if scalar else (found, self.counts)
