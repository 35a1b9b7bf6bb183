"""Serialized Examples parsed into tensors, sparse tensors and ragged tensors."""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError

from intaglio.base.dtypes import INDEX, DType, float32, int64, string
from intaglio.base.errors import invalid_argument
from intaglio.base.shapes import brackets
from intaglio.graphdef.example_bytes import (
    BYTES,
    FLOATS,
    INTEGERS,
    NONE,
    NotCanonicalError,
    Table,
    lists,
    objects,
)
from intaglio.graphdef.example_messages import Example, Feature
from intaglio.opdef.op import Op, op
from intaglio.opdef.spec import Spec

_KINDS = {int64: "int64_list", float32: "float_list", string: "bytes_list"}
_NAMES = {"int64_list": "int64", "float_list": "float", "bytes_list": "string"}
_TYPES = (float32, int64, string)
_TABLE_KINDS = {int64: INTEGERS, float32: FLOATS, string: BYTES}
_TABLE_NAMES = {INTEGERS: "int64", FLOATS: "float", BYTES: "string"}
_VALUES = {name: operator.attrgetter(f"{name}.value") for name in _NAMES}
_NONE = Feature()  # for a feature that a record does not have


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

    `lengths` has how many each record has, -1 for those without the feature.
    """

    __slots__ = ("lengths", "values")

    def __init__(self, values: Any, lengths: Any) -> None:
        self.values = values
        self.lengths = lengths

    @property
    def counts(self) -> Any:
        """How many values each record has."""
        return np.maximum(self.lengths, 0)


def column_of(features: list[Any], key: str, dtype: DType, names: Any) -> Column:
    """A feature of records that have been read as messages."""
    kind = _KINDS[dtype]
    ones = [feature.get(key, _NONE) for feature in features]
    lists = list(map(_VALUES[kind], ones))
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    for at in np.flatnonzero(lengths == 0).tolist():
        # Without values it may be missing, or of another type.
        had = ones[at].WhichOneof("kind")
        if had is None:
            lengths[at] = -1
        elif had != kind:
            raise _other_type(names, key, at, dtype, _NAMES[had], False)
    flat = list(itertools.chain.from_iterable(lists))
    return Column(objects(flat) if dtype is string else np.array(flat, dtype.numpy), lengths)


class NotPlainError(Exception):
    """Messages cannot represent the record, or it is malformed: the parser with tables handles it."""


def list_of(features: Any, key: bytes, dtype: DType) -> Any:
    """The list of a feature of a message; None if it does not have it."""
    feature = features.get(key.decode())
    if feature is None:
        return None
    kind = _KINDS[dtype]
    found = _VALUES[kind](feature)
    # One without a list may follow another of its name, which counts then.
    if not found and feature.WhichOneof("kind") != kind:
        raise NotPlainError
    return found


# As many features cost about the same in messages, one by one, as in a table, all at once.
_MAX_FEATURES_FOR_MESSAGES = 256


def _of_messages(records: list[bytes], wants: list[Any]) -> list[Column]:
    """The wanted features of a few records. Raises UnusualError or DecodeError for odd ones."""
    features = [Example.FromString(data).features.feature for data in records]
    found: list[Column] = []
    for key, dtype, _ in wants:
        ones = [list_of(feature, key, dtype) for feature in features]
        lengths = [-1 if one is None else len(one) for one in ones]
        flat = list(itertools.chain.from_iterable([one for one in ones if one]))
        values = objects(flat) if dtype is string else np.array(flat, dtype.numpy)
        found.append(Column(values, np.array(lengths, np.int64)))
    return found


def columns_of(records: list[bytes], wants: list[Any], names: Any) -> list[Column]:
    """The features of serialized Examples that are wanted: (key, dtype, whether dense).

    Raises InvalidArgumentError for what is no Example, and for a feature of another type.
    """
    keys = {key: index for index, key in enumerate(dict.fromkeys(key for key, _, _ in wants))}
    if len(records) * (len(keys) + 2) <= _MAX_FEATURES_FOR_MESSAGES:
        with contextlib.suppress(DecodeError, UnicodeDecodeError, NotPlainError):
            return _of_messages(records, wants)
    found: list[Any] = [None] * len(wants)
    try:
        table = Table(records, tuple(keys))
        for dtype, kind in _TABLE_KINDS.items():
            own = [i for i, want in enumerate(wants) if want[1] is dtype]
            if not own:
                continue
            indices = [keys[wants[i][0]] for i in own]
            kinds = table.kinds[indices]
            other = (kinds != kind) & (kinds != NONE)
            if other.any():
                row, at = np.argwhere(other)[0].tolist()
                key, _, dense = wants[own[row]]
                had = _TABLE_NAMES[int(kinds[row, at])]
                raise _other_type(names, key.decode(), at, dtype, had, dense)
            read = lists(table, indices, kind)
            for i, (values, lengths) in zip(own, read, strict=True):
                found[i] = Column(values, lengths)
    except NotCanonicalError as error:
        raise invalid_argument(
            f"Could not parse example input, value: '{records[error.at]!r}' "
            f"({label(names, error.at)})"
        ) from None
    return found


def _other_type(names: Any, key: str, at: int, dtype: DType, had: str, dense: bool) -> Exception:
    return invalid_argument(
        f"{label(names, at)}, Key: {key}, Index: {at}.  "
        + _mismatch(_NAMES[_KINDS[dtype]], had, dense)
    )


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
        return inside[:, None].astype(np.int64), column.values, np.array([most], np.int64)
    table = np.stack([rows, inside], axis=1).astype(np.int64)
    return table, column.values, np.array([counts.size, most], np.int64)


def dense_values(
    column: Column, key: str, dtype: DType, shape: Any, default: Any, names: Any
) -> Any:
    """A column as a tensor; a first dimension of None is as long as needed."""
    if shape and shape[0] is None:
        return _padded(column, key, shape, default, names)
    each = math.prod(shape)
    if column.values.size == each * column.lengths.size and (column.lengths == each).all():
        return column.values.reshape((column.lengths.size, *shape))
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
    fill: Any = (
        default.reshape(-1)[0] if default.size else (b"" if column.values.dtype == object else 0)
    )
    found = np.full((counts.size, rows * inner), fill, column.values.dtype)
    found[np.arange(rows * inner) < counts[:, None]] = column.values
    return found.reshape((counts.size, rows, *shape[1:]))


def flat(*keys: Any) -> Any:
    """The keys as vectors, whatever their shapes."""
    return map(np.ravel, keys)


def check_number(attr: str, number: int, keys: Any) -> None:
    """Raises InvalidArgumentError unless an attribute has the number of keys."""
    if number != len(keys):
        raise invalid_argument(f"{attr} is {number}, but there are {len(keys)} keys")


def _check_defaults(defaults: Any, dense_shapes: Any) -> None:
    """Raises InvalidArgumentError for defaults of other dtypes or shapes than their features."""
    for at, (default, dims) in enumerate(zip(defaults, dense_shapes, strict=False)):
        if default.dtype not in (np.float32, np.int64, object):
            raise invalid_argument(
                f"dense_defaults[{at}] is of dtype {default.dtype}: features are of "
                "float32, int64 or string"
            )
        wanted: tuple[Any, ...] = tuple(dims or ())
        if default.size and None not in wanted and default.shape != wanted:
            raise invalid_argument(
                f"dense_defaults[{at}] has shape {brackets(default.shape)}, its feature "
                f"{brackets(wanted)}"
            )


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
        self,
        serialized: Spec,
        dense_defaults: list[Spec],
        num_sparse,
        sparse_types,
        ragged_value_types,
        ragged_split_types,
        dense_shapes,
    ) -> Any:
        outer = serialized.shape
        rank = None if outer is None else len(outer) + 1
        dense = [
            Spec(d.dtype, None if outer is None else (*outer, *(s or ())))
            for d, s in zip(dense_defaults, dense_shapes, strict=True)
        ]
        rows = (outer[0] + 1 if outer and outer[0] is not None else None) if outer != () else 0
        return (
            [Spec(int64, (None, rank)) for _ in range(num_sparse)],
            [Spec(t, (None,)) for t in sparse_types],
            [Spec(int64, (rank,)) for _ in range(num_sparse)],
            dense,
            [Spec(t, (None,)) for t in ragged_value_types],
            [Spec(t, (rows,)) for t in ragged_split_types],
        )

    def kernel(
        self,
        serialized,
        names,
        sparse_keys,
        dense_keys,
        ragged_keys,
        dense_defaults,
        sparse_types,
        ragged_value_types,
        ragged_split_types,
        dense_shapes,
        num_sparse,
    ):
        sparse_keys, dense_keys, ragged_keys = flat(sparse_keys, dense_keys, ragged_keys)
        check_number("num_sparse", num_sparse, sparse_keys)
        _check_defaults(dense_defaults, dense_shapes)
        data = np.asarray(serialized, object)
        if data.ndim > 1:
            raise invalid_argument(
                f"Expected serialized to be a scalar or vector, got shape: {brackets(data.shape)}"
            )
        scalar = data.ndim == 0
        if scalar:
            found = one_record(
                data.item(),
                zip(sparse_keys, sparse_types, strict=True),
                zip(dense_keys, dense_defaults, dense_shapes, strict=True),
                zip(ragged_keys, ragged_value_types, ragged_split_types, strict=True),
            )
            if found is not None:
                return found
        names = np.asarray(names, object).reshape(-1)
        wants = [
            *((k, t, False) for k, t in zip(sparse_keys, sparse_types, strict=True)),
            *((k, _dtype_of(d), True) for k, d in zip(dense_keys, dense_defaults, strict=True)),
            *((k, t, False) for k, t in zip(ragged_keys, ragged_value_types, strict=True)),
        ]
        columns = iter(columns_of(data.reshape(-1).tolist(), wants, names))
        sparse = [sparse_parts(next(columns), scalar) for _ in sparse_keys]
        dense = [
            dense_values(next(columns), k.decode(), _dtype_of(d), shape, d, names)
            for k, d, shape in zip(dense_keys, dense_defaults, dense_shapes, strict=True)
        ]
        if scalar:
            dense = [values[0, ...] for values in dense]
        ragged = list(columns)
        splits = [
            np.zeros(0, t.numpy)
            if scalar
            else np.concatenate([[0], np.cumsum(c.counts)]).astype(t.numpy)
            for c, t in zip(ragged, ragged_split_types, strict=True)
        ]
        indices, values, shapes = [list(x) for x in zip(*sparse, strict=True)] or [[], [], []]
        return indices, values, shapes, dense, [c.values for c in ragged], splits


def _dtype_of(default: Any) -> DType:
    kinds = {"O": string, "f": float32, "i": int64}
    return kinds[default.dtype.kind]


def one_record(data: bytes, sparse: Any, dense: Any, ragged: Any) -> Any:
    """The results for a single record: for one, a message costs less than a table.

    None if anything is unexpected: the parser of batches raises the error.
    """
    message = Example()
    try:
        message.ParseFromString(data)
        features = message.features.feature
        of_sparse = [_numbers(features, k, t) for k, t in sparse]
        of_dense = [_dense_one(features, k, d, s) for k, d, s in dense]
        of_ragged = [(_numbers(features, k, t), np.zeros(0, s.numpy)) for k, t, s in ragged]
    except (DecodeError, UnicodeDecodeError, NotPlainError):
        return None
    counts = [values.size for values in of_sparse]
    return (
        [np.arange(n, dtype=np.int64)[:, None] for n in counts],
        of_sparse,
        [np.array([n], np.int64) for n in counts],
        of_dense,
        [values for values, _ in of_ragged],
        [splits for _, splits in of_ragged],
    )


def _numbers(features: Any, key: bytes, dtype: DType) -> Any:
    found = list_of(features, key, dtype)
    if found is None:
        return np.zeros(0, dtype.numpy)
    return objects(found) if dtype is string else np.array(found, dtype.numpy)


def _dense_one(features: Any, key: bytes, default: Any, shape: Any) -> Any:
    dtype = _dtype_of(default)
    found = list_of(features, key, dtype)
    if found is None:
        raise NotPlainError
    if shape:
        if shape[0] is None or len(found) != math.prod(shape):
            raise NotPlainError
        values = objects(found) if dtype is string else np.array(found, dtype.numpy)
        return values.reshape(shape)
    if len(found) != 1:
        raise NotPlainError
    if dtype is not string:
        return np.array(found[0], dtype.numpy)
    value = np.empty((), object)
    value[()] = found[0]
    return value
