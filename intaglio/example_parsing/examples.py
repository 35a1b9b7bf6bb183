"""Serialized `tf.train.Example`s as tensors.

Follows https://www.tensorflow.org/api_docs/python/tf/io/parse_example.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from intaglio.base.dtypes import DType, as_dtype, float32, int64, string
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import TensorShape
from intaglio.example_parsing.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    UniformRowLength,
    ValueRowIds,
    VarLenFeature,
)
from intaglio.opdef import convert, door, raw
from intaglio.opdef.dispatch import dispatchable
from intaglio.ragged.api import RaggedTensor
from intaglio.sparse.api import SparseTensor
from intaglio.trace.scopes import name_scope


class Plan:
    """Which features an op has to read for features of all kinds: each key once."""

    def __init__(self, features: Mapping[str, Any]) -> None:
        self.sparse: dict[str, DType] = {}
        self.dense: dict[str, Any] = {}
        self.ragged: dict[str, tuple[DType, DType]] = {}
        for key in sorted(features):
            self._add(key, features[key])
        check_apart(self.dense, self.sparse, self.ragged)

    def _add(self, key: str, feature: Any) -> None:
        if isinstance(feature, _TYPED) and feature.dtype is None:
            raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
        if isinstance(feature, VarLenFeature):
            self._sparse(key, feature.dtype)
        elif isinstance(feature, SparseFeature):
            for index in _listed(feature.index_key):
                self._sparse(index, int64)
            self._sparse(feature.value_key, feature.dtype)
        elif isinstance(feature, RaggedFeature):
            add_ragged(self.ragged, key, feature)
        elif isinstance(feature, FixedLenFeature):
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
            _check_dense(key, feature)
            _readable(feature.dtype, "Tdense")
            self.dense[key] = feature
        elif isinstance(feature, FixedLenSequenceFeature):
            if feature.shape is None:
                raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
            if not feature.allow_missing:
                raise ValueError(
                    "Unsupported: FixedLenSequenceFeature requires allow_missing to be True."
                )
            if None in dense_shape(feature)[1:]:
                shape = TensorShape([None, *TensorShape(feature.shape)])
                error = invalid_argument if door.level().eager else ValueError
                raise error(
                    f"dense_shapes has unknown rank or unknown inner dimensions for {key}: {shape}"
                )
            _readable(feature.dtype, "Tdense")
            self.dense[key] = feature
        else:
            raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")

    def _sparse(self, key: str, dtype: Any) -> None:
        wanted = _readable(dtype, "sparse_types")
        if self.sparse.setdefault(key, wanted) is not wanted:
            raise _conflict(self.sparse[key], wanted, key)


def value_key(key: str, feature: RaggedFeature) -> str:
    """The key of the values: the feature's own one by default."""
    return key if feature.value_key is None else feature.value_key


def add_ragged(ragged: dict[str, tuple[DType, DType]], key: str, feature: RaggedFeature) -> None:
    """Adds the keys of values and partitions, each with the dtypes of its values and row splits.

    Raises ValueError for a key that is there with other dtypes.
    """
    splits = as_dtype(feature.row_splits_dtype)
    read = [(value_key(key, feature), _readable(feature.dtype, "ragged_value_types"))]
    read += [(p.key, int64) for p in feature.partitions if not isinstance(p, UniformRowLength)]
    for name, dtype in read:
        kind, row_splits = ragged.setdefault(name, (dtype, splits))
        if kind is not dtype:
            raise _conflict(kind, dtype, name)
        if row_splits is not splits:
            raise ValueError(
                f"Conflicting partition type {row_splits} vs {splits} for feature {name}."
            )


def check_apart(
    dense: Mapping[str, Any], sparse: Mapping[str, Any], ragged: Mapping[str, Any]
) -> None:
    """Raises ValueError for a key that is read in two ways."""
    pairs = [
        ("Dense", dense, "sparse", sparse),
        ("Dense", dense, "ragged", ragged),
        ("Ragged", ragged, "sparse", sparse),
    ]
    for name, keys, other, others in pairs:
        if both := keys.keys() & others.keys():
            raise ValueError(
                f"{name} and {other} keys must not intersect; {name.lower()}_keys: {list(keys)}, "
                f"{other}_keys: {list(others)}, intersection: {both}"
            )


def _conflict(first: DType, second: DType, key: str) -> ValueError:
    return ValueError(f"Conflicting type {first} vs {second} for feature {key}.")


# Features that say of which dtype they are.
_TYPED = (VarLenFeature, SparseFeature, RaggedFeature, FixedLenFeature, FixedLenSequenceFeature)


def _check_dense(key: str, feature: FixedLenFeature) -> None:
    """Raises ValueError unless all dimensions are known."""
    dims = TensorShape(feature.shape).as_list()
    if dims and dims[0] is None:
        raise ValueError(
            f"First dimension of shape for feature {key} unknown. Consider using "
            f"FixedLenSequenceFeature. Received feature={feature}."
        )
    if None in dims:
        raise ValueError(
            f"All dimensions of shape for feature {key} need to be known but received {dims}."
        )


def _readable(dtype: Any, attribute: str) -> DType:
    """A dtype that features have. Raises InvalidArgumentError for others, TypeError in a graph."""
    found = as_dtype(dtype)
    if found in (float32, int64, string):
        return found
    if not door.level().eager:
        raise TypeError(
            f"Value passed to parameter '{attribute}' has DataType {found.name} not in list of "
            "allowed values: float32, int64, string"
        )
    raise invalid_argument(
        f"Value for attr '{attribute}' of {found.kernel_name} is not in the list of allowed "
        "values: float, int64, string"
    )


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def dense_shape(feature: Any) -> list[int | None]:
    """The shape of a dense feature of one record; None in front for a sequence."""
    inner = list(TensorShape(feature.shape).as_list())
    return [None, *inner] if isinstance(feature, FixedLenSequenceFeature) else inner


def default_of(feature: Any, key: str) -> Any:
    """The default of a dense feature as a tensor; an empty vector if there is none."""
    dtype = as_dtype(feature.dtype)
    value = feature.default_value
    if isinstance(feature, FixedLenSequenceFeature):
        blank = "" if dtype is string else 0
        return convert.to_tensor(blank if value is None else value, dtype)
    if value is None:
        return convert.to_tensor(np.zeros(0, dtype.numpy) if dtype is not string else [], dtype)
    result = convert.to_tensor(value, dtype)
    shape = [int(d) for d in dense_shape(feature) if d is not None]
    return raw.Reshape(result, shape)


def strings_of(keys: Any) -> Any:
    """Keys as a vector of strings."""
    found = np.empty(len(keys), object)
    found[:] = [k.encode() for k in keys]
    return found


@dispatchable
def parse_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of a vector of serialized Examples, by key.

    `features` maps each key to its kind: a tensor (FixedLenFeature,
    FixedLenSequenceFeature), a sparse tensor (VarLenFeature, SparseFeature) or a ragged one
    (RaggedFeature). `example_names` are used in errors. Raises ValueError for features that
    contradict one another, InvalidArgumentError for records that do not have them.

    >>> record = tf.train.Example(features=tf.train.Features(feature={
    ...     "x": tf.train.Feature(int64_list=tf.train.Int64List(value=[3, 4]))}))
    >>> parsed = tf.io.parse_example([record.SerializeToString()], {"x": tf.io.FixedLenFeature([2], tf.int64)})
    >>> print(parsed["x"].numpy())
    [[3 4]]

    https://www.tensorflow.org/api_docs/python/tf/io/parse_example
    """
    if not features:
        raise ValueError(f"Argument `features` cannot be None or falsy. Got {features}")
    with name_scope(name or "ParseExample"):
        data = convert.to_tensor(serialized, string, "serialized")
        names = [] if example_names is None else example_names
        plan = Plan(features)
        found = raw.ParseExampleV2(
            data,
            convert.to_tensor(names, string),
            strings_of(plan.sparse),
            strings_of(plan.dense),
            strings_of(plan.ragged),
            [default_of(f, k) for k, f in plan.dense.items()],
            num_sparse=len(plan.sparse),
            sparse_types=list(plan.sparse.values()),
            ragged_value_types=[v for v, _ in plan.ragged.values()],
            ragged_split_types=[s for _, s in plan.ragged.values()],
            dense_shapes=[dense_shape(f) for f in plan.dense.values()],
        )
        triples = zip(found.sparse_indices, found.sparse_values, found.sparse_shapes, strict=True)
        sparse = {k: SparseTensor(*t) for k, t in zip(plan.sparse, triples, strict=True)}
        dense = dict(zip(plan.dense, found.dense_values, strict=True))
        pairs = zip(found.ragged_values, found.ragged_row_splits, strict=True)
        ragged = dict(zip(plan.ragged, pairs, strict=True))
        single = data.dims == ()
        return assembled(features, sparse, dense, ragged, single)


# The order of results: what is read as it is, then what depends on several features.
_ORDER = (VarLenFeature, (FixedLenFeature, FixedLenSequenceFeature), RaggedFeature, SparseFeature)


def _order_of(item: tuple[str, Any]) -> tuple[int, str]:
    key, feature = item
    return next(i for i, k in enumerate(_ORDER) if isinstance(feature, k)), key


def assembled(
    features: Mapping[str, Any], sparse: Any, dense: Any, ragged: Any, single: bool
) -> dict[str, Any]:
    """The result for every feature, of what has been read by key."""
    results: dict[str, Any] = {}
    for key, feature in sorted(features.items(), key=_order_of):
        if isinstance(feature, VarLenFeature):
            results[key] = sparse[key]
        elif isinstance(feature, SparseFeature):
            results[key] = _of_indices(feature, sparse, single)
        elif isinstance(feature, RaggedFeature):
            results[key] = of_partitions(key, feature, ragged, single)
        else:
            results[key] = dense[key]
    return results


def _of_indices(feature: SparseFeature, sparse: Any, single: bool) -> SparseTensor:
    """A sparse tensor whose indices are features of their own."""
    values = sparse[feature.value_key]
    columns = [sparse[k].values for k in _listed(feature.index_key)]
    sizes = convert.to_tensor([int(s) for s in _listed(feature.size)], int64)
    if not single:
        columns.insert(0, values.indices[:, 0])
        sizes = raw.ConcatV2([values.dense_shape[:1], sizes], 0)
    found = SparseTensor(raw.Pack(columns, axis=1), values.values, sizes)
    if feature.already_sorted:
        return found
    parts = raw.SparseReorder(found.indices, found.values, found.dense_shape)
    return SparseTensor(parts[0], parts[1], found.dense_shape)


_CONSTRUCTORS: dict[Any, Any] = {
    RowSplits: RaggedTensor.from_row_splits,
    RowLengths: RaggedTensor.from_row_lengths,
    RowStarts: RaggedTensor.from_row_starts,
    RowLimits: RaggedTensor.from_row_limits,
    ValueRowIds: RaggedTensor.from_value_rowids,
}


def of_partitions(key: str, feature: RaggedFeature, ragged: Any, single: bool) -> Any:
    """Values cut into records, and these by the partitions."""
    values, splits = ragged[value_key(key, feature)]
    if single:
        return _cut(values, feature, {k: v for k, (v, _) in ragged.items()})
    if not feature.partitions:
        return RaggedTensor.from_row_splits(values, splits, validate=False)
    return _cut_records(values, splits, feature, ragged)


def _cut(values: Any, feature: RaggedFeature, by_key: Any) -> Any:
    """The values of one record by its partitions, the outermost first."""
    dtype = as_dtype(feature.row_splits_dtype)
    for part in reversed(feature.partitions):
        if isinstance(part, UniformRowLength):
            values = _in_rows(values, part, feature)
            continue
        partition = raw.Cast(by_key[part.key], DstT=dtype)
        values = _CONSTRUCTORS[type(part)](values, partition, validate=feature.validate)
    return values


def _cut_records(values: Any, splits: Any, feature: RaggedFeature, ragged: Any) -> Any:
    """The values of all records, each cut by its own partitions."""
    dtype = as_dtype(feature.row_splits_dtype)
    records = RaggedTensor.from_row_splits(values, splits, validate=False)
    outer: Any = records.row_lengths()
    for part in reversed(feature.partitions):
        if isinstance(part, UniformRowLength):
            length = convert.to_tensor(part.length, dtype)
            values = _in_rows(values, part, feature)
            outer = raw.FloorDiv(outer, length)
            continue
        lengths, outer = _row_lengths(part, outer, ragged[part.key], dtype)
        values = RaggedTensor.from_row_lengths(values, lengths, validate=feature.validate)
    return RaggedTensor.from_row_lengths(values, outer, validate=feature.validate)


def _in_rows(values: Any, part: Any, feature: RaggedFeature) -> Any:
    """Values in rows of one length: the innermost are dimensions of a tensor."""
    if not isinstance(values, RaggedTensor):
        return raw.Reshape(values, [-1, part.length, *values.dims[1:]])
    length = convert.to_tensor(part.length, as_dtype(feature.row_splits_dtype))
    return RaggedTensor.from_uniform_row_length(values, length, validate=feature.validate)


def _row_lengths(part: Any, outer: Any, partition: Any, dtype: DType) -> tuple[Any, Any]:
    """The lengths of all records' rows, and how many rows each record has.

    `outer` has the number of values of each record.
    """
    numbers, splits = partition
    rows = RaggedTensor.from_row_splits(raw.Cast(numbers, DstT=dtype), splits, validate=False)
    count: Any = raw.Cast(rows.row_lengths(), DstT=dtype)
    flat: Any = rows.flat_values
    if isinstance(part, RowLengths):
        return flat, count
    if isinstance(part, RowSplits):
        # Records without splits have no rows.
        return (rows[:, 1:] - rows[:, :-1]).flat_values, raw.Maximum(
            count - 1, raw.ZerosLike(count)
        )
    record: Any = rows.value_rowids()
    if isinstance(part, RowLimits):
        first = raw.NotEqual(record, _behind(-1, record))
        return flat - raw.SelectV2(first, raw.ZerosLike(flat), _behind(0, flat)), count
    if isinstance(part, RowStarts):
        last = raw.NotEqual(record, _before(record, -1))
        ends = raw.SelectV2(last, raw.GatherV2(outer, record, 0), _before(flat, 0))
        return ends - flat, count
    # Row ids, one for each value: a record has as many rows as its last id plus one.
    found = raw.UnsortedSegmentMax(flat + 1, record, raw.Size(count, out_type=dtype))
    many = raw.Maximum(found, raw.ZerosLike(found))
    indices = flat + raw.GatherV2(raw.Cumsum(many, 0, exclusive=True), record, 0)
    total = raw.Sum(many, [0])
    return raw.UnsortedSegmentSum(raw.OnesLike(flat), indices, total), many


def _behind(first: int, values: Any) -> Any:
    """For each value the one in front of it."""
    head = convert.to_tensor([first], values.dtype)
    return raw.ConcatV2([head, values], 0)[:-1]


def _before(values: Any, last: int) -> Any:
    """For each value the one behind it."""
    tail = convert.to_tensor([last], values.dtype)
    return raw.ConcatV2([values, tail], 0)[1:]


@dispatchable
def parse_single_example(
    serialized: Any, features: Any, example_names: Any = None, name: str | None = None
) -> dict[str, Any]:
    """The features of one serialized Example: as `parse_example`, without the first dimension.

    >>> record = tf.train.Example(features=tf.train.Features(feature={
    ...     "x": tf.train.Feature(float_list=tf.train.FloatList(value=[3.0]))}))
    >>> print(tf.io.parse_single_example(record.SerializeToString(), {"x": tf.io.FixedLenFeature([], tf.float32)}))
    {'x': <tf.Tensor: shape=(), dtype=float32, numpy=3.0>}

    https://www.tensorflow.org/api_docs/python/tf/io/parse_single_example
    """
    if not features:
        raise ValueError("Invalid argument: features cannot be empty.")
    with name_scope(name or "ParseSingleExample"):
        data = convert.to_tensor(serialized, string, "serialized")
        data.shape.assert_has_rank(0)
        return parse_example(data, features, example_names)


__all__ = ["parse_example", "parse_single_example"]
