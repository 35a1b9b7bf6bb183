"""Feature crosses of ragged, sparse and dense columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base.dtypes import INDEX, int64, string
from intaglio.base.errors import invalid_argument
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec
from intaglio.ops.ragged.tensors import positions, splits_from
from intaglio.ops.text.hash_functions import fingerprints
from intaglio.ops.text.strings import filled

_MULTIPLIER = np.uint64(0xC6A4A7935BD1E995)
_SHIFT = np.uint64(47)
_MOST = np.uint64(0x7FFFFFFFFFFFFFFF)


@op
class RaggedCross(Op):
    """All combinations of one value of each input, row by row: joined, or as hashes."""

    signature = (
        "ragged_values: *ragged_values_types, ragged_row_splits: *ragged_splits_types,"
        " sparse_indices: Nsparse*int64, sparse_values: *sparse_values_types,"
        " sparse_shape: Nsparse*int64, dense_inputs: *dense_types;"
        " input_order: str, hashed_output: bool, num_buckets: int, hash_key: int,"
        " out_values_type: type, out_row_splits_type: type"
        " -> output_values: out_values_type, output_row_splits: out_row_splits_type"
    )
    differentiable = False
    out_values_type = (int64, string)
    out_row_splits_type = INDEX

    def infer(self, out_values_type, out_row_splits_type) -> Any:
        return Spec(out_values_type, (None,)), Spec(out_row_splits_type, (None,))

    def kernel(
        self,
        ragged_values,
        ragged_row_splits,
        sparse_indices,
        sparse_values,
        sparse_shape,
        dense_inputs,
        input_order,
        hashed_output,
        num_buckets,
        hash_key,
        out_row_splits_type,
    ):
        _check_lists(
            ragged_values,
            ragged_row_splits,
            sparse_indices,
            sparse_values,
            dense_inputs,
            input_order,
        )
        if num_buckets < 0:
            raise invalid_argument(
                f"Value for attr 'num_buckets' of {num_buckets} must be at least minimum 0"
            )
        ragged = zip(ragged_values, ragged_row_splits, strict=True)
        sparse = zip(sparse_indices, sparse_values, sparse_shape, strict=True)
        dense = iter(dense_inputs)
        readers: dict[str, Any] = {
            "R": lambda: next(ragged),
            "S": lambda: _sparse_rows(*next(sparse)),
            "D": lambda: _dense_rows(next(dense)),
        }
        columns = [readers[kind]() for kind in input_order]
        rows = {splits.size - 1 for _, splits in columns}
        if len(rows) > 1:
            raise invalid_argument("inputs must all have the same batch dimension size.")
        combined, counts = combinations([np.diff(s) for _, s in columns], rows)
        taken = [
            v[np.repeat(s[:-1], counts) + p] for (v, s), p in zip(columns, combined, strict=True)
        ]
        values = (
            hashed(taken, num_buckets, hash_key, int(counts.sum()))
            if hashed_output
            else texts(taken)
        )
        return values, splits_from(counts, out_row_splits_type.numpy)


def _check_lists(
    ragged: Any, splits: Any, indices: Any, sparse: Any, dense: Any, order: str
) -> None:
    """Raises InvalidArgumentError for lists that do not belong together."""
    for name, arrays in (("ragged_values", ragged), ("sparse_values", sparse), ("dense", dense)):
        for array in arrays:
            if array.dtype not in (np.int64, object):
                raise invalid_argument(
                    f"Value for attr '{name}_types' of {array.dtype} is not in the list of "
                    "allowed values: int64, string"
                )
    if len(ragged) != len(splits):
        raise invalid_argument(
            "ragged values and splits must have the same length, got "
            f"{len(ragged)} and {len(splits)}"
        )
    for values, ends in zip(ragged, splits, strict=True):
        if ends.size and ends[-1] != values.size:
            raise invalid_argument(
                f"Invalid ragged splits: last element of ragged splits is {ends[-1]}, "
                f"for {values.size} values"
            )
    if len(indices) != len(sparse):
        raise invalid_argument(
            "sparse indices and values must have the same length, got "
            f"{len(indices)} and {len(sparse)}"
        )
    counts = {"R": len(ragged), "S": len(sparse), "D": len(dense)}
    if len(order) != sum(counts.values()):
        raise invalid_argument(
            f"Invalid length for input_order: {order!r} is about {len(order)} inputs, but "
            f"there are {sum(counts.values())}"
        )
    if any(order.count(kind) != count for kind, count in counts.items()):
        raise invalid_argument(
            f"input_order {order!r} must have R for each ragged input, S for each sparse "
            "and D for each dense one"
        )


def _sparse_rows(indices: Any, values: Any, shape: Any) -> tuple[Any, Any]:
    if shape.size != 2:
        raise invalid_argument("tf.ragged.cross only supports inputs with rank=2.")
    counts = np.bincount(indices[:, 0], minlength=int(shape[0]))
    return values, splits_from(counts, np.int64)


def _dense_rows(values: Any) -> tuple[Any, Any]:
    if values.ndim != 2:
        raise invalid_argument("tf.ragged.cross only supports inputs with rank=2.")
    rows, width = values.shape
    return values.reshape(-1), np.arange(rows + 1) * width


def combinations(lengths: list[Any], rows: set[int]) -> tuple[list[Any], Any]:
    """For each input the offset in its row of each combination's value, and their counts."""
    count = next(iter(rows), 0)
    totals = np.ones(count, np.int64)
    strides: list[Any] = []
    for one in reversed(lengths):
        strides.append(totals)
        totals = totals * one
    if not lengths:
        totals = np.zeros(count, np.int64)
    inside = positions(np.zeros(count, np.int64), totals)
    combined = [
        inside // np.maximum(np.repeat(stride, totals), 1) % np.maximum(np.repeat(one, totals), 1)
        for one, stride in zip(lengths, reversed(strides), strict=True)
    ]
    return combined, totals


def texts(columns: list[Any], separator: bytes = b"_X_") -> Any:
    """The combinations' values joined."""
    if not columns:
        return filled([], -1)
    words = [_words(column) for column in columns]
    return filled([separator.join(parts) for parts in zip(*words, strict=True)], -1)


def _words(column: Any) -> list[bytes]:
    if column.dtype == object:
        return column.tolist()
    return [b"%d" % number for number in column.tolist()]


def hashed(columns: list[Any], buckets: int, key: int, count: int) -> Any:
    """The combinations' values as one hash each."""
    found = np.full(count, np.uint64(key & 0xFFFFFFFFFFFFFFFF))
    for column in columns:
        if column.dtype == object:
            numbers = fingerprints(column.tolist())
        else:
            numbers = column.astype(np.int64).view(np.uint64)
        found = _joined(found, numbers)
    return (found % (np.uint64(buckets) if buckets > 0 else _MOST)).astype(np.int64)


def _joined(one: Any, two: Any) -> Any:
    """Two hashes as one."""
    with np.errstate(over="ignore"):
        found = one ^ _MULTIPLIER
        found ^= _mixed(two * _MULTIPLIER) * _MULTIPLIER
        found *= _MULTIPLIER
        return _mixed(_mixed(found) * _MULTIPLIER)


def _mixed(value: Any) -> Any:
    return value ^ (value >> _SHIFT)
