"""Serialized Examples taken apart into tensors, sparse tensors and ragged tensors."""

from __future__ import annotations

import itertools
import math
import operator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from intaglio.base.dtypes import INDEX, DType, float32, int64, string
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.graphdef.example_messages import Example, Feature
from intaglio.op.op import Op, op
from intaglio.op.spec import Spec

_KINDS = {int64: "int64_list", float32: "float_list", string: "bytes_list"}
_NAMES = {"int64_list": "int64", "float_list": "float", "bytes_list": "string"}
_TYPES = (float32, int64, string)
_VALUES = {name: operator.attrgetter(f"{name}.value") for name in _NAMES}
_NONE = Feature()  # in the place of a feature that a record does not have


def records(serialized: Any, kind: Any, names: Any) -> list[Any]:
    """The messages of a vector of strings. Raises InvalidArgumentError for other bytes."""
    found: list[Any] = []
    for at, data in enumerate(serialized):
        message = kind()
        try:
            message.ParseFromString(data)
        except DecodeError:
            raise invalid_argument(
                f"Could not parse example input, value: '{data!r}' ({label(names, at)})"
            ) from None
        found.append(message)
    return found


def label(names: Any, at: int) -> str:
    """What errors call a record."""
    return f"Name: {names[at].decode() if at < len(names) else '<unknown>'}"


class Column:
    """The values of one feature in all records, one after the other.

    `lengths` says how many each record has, -1 for those without the feature.
    """

    __slots__ = ("lengths", "values")

    def __init__(
        self, features: list[Any], key: str, dtype: DType, names: Any, dense: bool
    ) -> None:
        kind = _KINDS[dtype]
        ones = [feature.get(key, _NONE) for feature in features]
        lists = list(map(_VALUES[kind], ones))
        self.lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        for at in np.flatnonzero(self.lengths == 0).tolist():
            # Without values it may be missing, or of another type.
            had = ones[at].WhichOneof("kind")
            if had is None:
                self.lengths[at] = -1
            elif had != kind:
                raise invalid_argument(
                    f"{label(names, at)}, Key: {key}, Index: {at}.  "
                    + _mismatch(_NAMES[kind], _NAMES[had], dense)
                )
        flat = list(itertools.chain.from_iterable(lists))
        if dtype is string:
            self.values = np.empty(len(flat), object)
            self.values[:] = flat
        else:
            self.values = np.array(flat, dtype.numpy)

    @property
    def counts(self) -> Any:
        """How many values each record has."""
        return np.maximum(self.lengths, 0)


def _mismatch(wanted: str, had: str, dense: bool) -> str:
    if dense:
        return f"Data types don't match. Data type: {had} but expected type: {wanted}"
    return f"Data types don't match. Expected type: {wanted}, Actual type: {had}"


def sparse_parts(column: Column, scalar: bool) -> tuple[Any, Any, Any]:
    """A column as the parts of a sparse tensor: a row for each record."""
    counts = column.counts
    rows = np.repeat(np.arange(counts.size), counts)
    inside = np.arange(rows.size) - np.repeat(np.cumsum(counts) - counts, counts)
    most = int(counts.max(initial=0))
    if scalar:
        return inside[:, None].astype(np.int64), column.values, np.array([most], np.int64)  # fmt: skip
    table = np.stack([rows, inside], axis=1).astype(np.int64)
    return table, column.values, np.array([counts.size, most], np.int64)


def dense_values(
    column: Column, key: str, dtype: DType, shape: Any, default: Any, names: Any
) -> Any:
    """A column as a tensor; a first dimension of None is as long as needed."""
    if shape and shape[0] is None:
        return _padded(column, key, shape, default, names)
    each = math.prod(shape)
    missing = column.lengths < 0
    if missing.any() and default.size == 0 and each:
        at = int(np.argmax(missing))
        raise invalid_argument(
            f"{label(names, at)}, Feature: {key} (data type: {_NAMES[_KINDS[dtype]]}) "
            "is required but could not be found."
        )
    wrong = ~missing & (column.lengths != each)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise invalid_argument(
            f"{label(names, at)}, Key: {key}, Index: {at}.  Number of "
            f"{_NAMES[_KINDS[dtype]]} values != expected.  Values size: "
            f"{int(column.lengths[at])} but output shape: {brackets(tuple(shape))}"
        )
    found = np.empty((missing.size, *shape), dtype.numpy)
    found[~missing] = column.values.reshape((-1, *shape))
    if missing.any():
        found[missing] = default.reshape(shape) if default.size == each else default
    return found


def _padded(column: Column, key: str, shape: Any, default: Any, names: Any) -> Any:
    inner = math.prod(shape[1:])
    counts = column.counts
    wrong = counts % max(inner, 1) != 0
    if wrong.any():
        at = int(np.argmax(wrong))
        raise invalid_argument(
            f"{label(names, at)}, Key: {key}, Index: {at}.  Number of values is not a "
            f"multiple of stride length. Values size: {int(counts[at])} but output shape: "
            f"{brackets(tuple(shape))}"
        )
    rows = int(counts.max(initial=0)) // max(inner, 1)
    fill: Any = default.reshape(-1)[0] if default.size else (b"" if column.values.dtype == object else 0)  # fmt: skip
    found = np.full((counts.size, rows * inner), fill, column.values.dtype)
    found[np.arange(rows * inner) < counts[:, None]] = column.values
    return found.reshape((counts.size, rows, *shape[1:]))


@op
class ParseExampleV2(Op):
    """The features of serialized Examples: one record, or a vector of them."""

    signature = (
        "serialized: string, names: string, sparse_keys: string, dense_keys: string,"
        " ragged_keys: string, dense_defaults: *Tdense; num_sparse: int,"
        " sparse_types: list(type), ragged_value_types: list(type),"
        " ragged_split_types: list(type), dense_shapes: list(shape)"
        " -> sparse_indices: num_sparse*int64, sparse_values: *sparse_types,"
        " sparse_shapes: num_sparse*int64, dense_values: *Tdense,"
        " ragged_values: *ragged_value_types, ragged_row_splits: *ragged_split_types"
    )
    differentiable = False
    Tdense = _TYPES
    sparse_types = _TYPES
    ragged_value_types = _TYPES
    ragged_split_types = INDEX

    def infer(
        self, serialized: Spec, dense_defaults: list[Spec], num_sparse, sparse_types,
        ragged_value_types, ragged_split_types, dense_shapes,
    ) -> Any:  # fmt: skip
        outer = serialized.shape
        rank = None if outer is None else len(outer) + 1
        dense = [
            Spec(d.dtype, None if outer is None else (*outer, *(s or ())))
            for d, s in zip(dense_defaults, dense_shapes, strict=True)
        ]
        rows = (outer[0] + 1 if outer and outer[0] is not None else None) if outer != () else 0  # fmt: skip
        return (
            [Spec(int64, (None, rank)) for _ in range(num_sparse)],
            [Spec(t, (None,)) for t in sparse_types],
            [Spec(int64, (rank,)) for _ in range(num_sparse)],
            dense,
            [Spec(t, (None,)) for t in ragged_value_types],
            [Spec(t, (rows,)) for t in ragged_split_types],
        )

    def kernel(
        self, serialized, names, sparse_keys, dense_keys, ragged_keys, dense_defaults,
        sparse_types, ragged_value_types, ragged_split_types, dense_shapes,
    ):  # fmt: skip
        data = np.asarray(serialized, object)
        if data.ndim > 1:
            raise invalid_argument(
                f"Expected serialized to be a scalar or vector, got shape: {brackets(data.shape)}"
            )
        scalar = data.ndim == 0
        names = np.asarray(names, object).reshape(-1)
        features = [m.features.feature for m in records(data.reshape(-1), Example, names)]  # fmt: skip
        sparse = [
            sparse_parts(Column(features, k.decode(), t, names, False), scalar)
            for k, t in zip(sparse_keys, sparse_types, strict=True)
        ]
        dense: list[Any] = []
        for k, default, shape in zip(dense_keys, dense_defaults, dense_shapes, strict=True):  # fmt: skip
            key, dtype = k.decode(), _dtype_of(default)
            column = Column(features, key, dtype, names, True)
            values = dense_values(column, key, dtype, shape, default, names)
            dense.append(values[0, ...] if scalar else values)
        ragged = [
            Column(features, k.decode(), t, names, False)
            for k, t in zip(ragged_keys, ragged_value_types, strict=True)
        ]
        splits = [
            np.zeros(0, t.numpy) if scalar
            else np.concatenate([[0], np.cumsum(c.counts)]).astype(t.numpy)
            for c, t in zip(ragged, ragged_split_types, strict=True)
        ]  # fmt: skip
        indices, values, shapes = ([list(x) for x in zip(*sparse, strict=True)] or [[], [], []])  # fmt: skip
        return indices, values, shapes, dense, [c.values for c in ragged], splits


def _dtype_of(default: Any) -> DType:
    kinds = {"O": string, "f": float32, "i": int64}
    return kinds[default.dtype.kind]
