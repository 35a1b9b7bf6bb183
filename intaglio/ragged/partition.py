"""`RowPartition`: how a sequence of values is cut into rows.

Follows https://www.tensorflow.org/api_docs/python/tf/experimental/RowPartition. A partition
of n rows is n + 1 row splits: where rows begin, and where the last one ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import DType, as_dtype
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks
from intaglio.trace.scopes import name_scope
from intaglio.type_specs.type_spec import TensorSpec, TypeSpec

_INTERNAL: Any = object()


def index_vector(value: Any, name: str, dtype: Any = None, hint: Any = None) -> Tensor:
    """An integer vector; what has no dtype of its own becomes int64.

    Raises ValueError for other dtypes.
    """
    if dtype is not None and as_dtype(dtype) not in dtypes.INDEX:
        raise ValueError(f"{name} must have dtype int32 or int64")
    if isinstance(value, np.ndarray) and value.dtype == np.int32 and dtype is None:
        dtype = dtypes.int32
    if dtype is not None:
        wanted = as_dtype(dtype)
        tensor = convert.to_tensor(value) if isinstance(value, Tensor) else None
        if tensor is None:
            tensor = convert.to_tensor(value, wanted)
        return tensor if tensor.dtype is wanted else raw.Cast(tensor, DstT=wanted)
    tensor = convert.to_tensor(value, dtype_hint=as_dtype(hint or dtypes.int64))
    if tensor.dtype not in dtypes.INDEX:
        raise ValueError(f"{name} must have dtype int32 or int64")
    return tensor


def row_ids(splits: Any, count: Any) -> Tensor:
    """The row of each of `count` values."""
    rows = raw.Range(_like(0, splits), count, _like(1, splits))
    found = raw.UpperBound(
        raw.ExpandDims(splits[1:], 0), raw.ExpandDims(rows, 0), out_type=splits.dtype
    )
    return raw.Squeeze(found, axis=[0])


def splits_of(lengths: Any) -> Tensor:
    """The row splits of rows of these lengths."""
    zero = convert.to_tensor(np.zeros(1, lengths.dtype.numpy))
    return raw.ConcatV2([zero, raw.Cumsum(lengths, 0)], 0)


def _like(value: int | list[int], tensor: Any) -> Tensor:
    return convert.to_tensor(value, tensor.dtype)


def size(tensor: Any, dtype: DType) -> Tensor:
    """The size of the first dimension as a scalar."""
    dims = tensor.dims
    if dims is not None and dims and dims[0] is not None:
        return convert.to_tensor(dims[0], dtype)
    shape: Any = raw.Shape(tensor, out_type=dtype)
    return shape[0]


class RowPartition(CompositeTensor):
    """A sequence of values cut into consecutive rows.

    Made by the `from_` methods. All of them take `validate` (False: the arguments are not
    looked at) and `dtype`, int32 or int64, which is that of all tensors of the partition.
    """

    __slots__ = ("__weakref__", "_lengths", "_nrows", "_nvals", "_rowids", "_splits", "_uniform")

    def __init__(
        self,
        row_splits: Any,
        row_lengths: Any = None,
        value_rowids: Any = None,
        nrows: Any = None,
        uniform_row_length: Any = None,
        nvals: Any = None,
        internal: Any = None,
    ) -> None:
        if internal is not _INTERNAL:
            raise ValueError(
                "RowPartition constructor is private; please use one of the factory "
                "methods instead (e.g., RowPartition.from_row_lengths())"
            )
        self._splits: Any = row_splits
        self._lengths: Any = row_lengths
        self._rowids: Any = value_rowids
        self._nrows: Any = nrows
        self._uniform: Any = uniform_row_length
        self._nvals: Any = nvals

    # -- making --------------------------------------------------------------------------

    @classmethod
    def from_row_splits(
        cls, row_splits: Any, validate: Any = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """The rows between neighbouring splits: sorted, the first one 0."""
        check_flag(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with name_scope("RowPartitionFromRowSplits"):
            splits: Any = index_vector(row_splits, "row_splits", dtype, dtype_hint)
            checks.has_rank(splits, 1)
            if splits.dims == (0,):
                raise ValueError("row_splits tensor may not be empty.")
            if validate:
                text = "Arguments to from_row_splits do not form a valid RaggedTensor:"
                checks.compare("==", splits[0], _like(0, splits), f"{text}zero")
                checks.not_negative(splits[1:] - splits[:-1], f"{text}monotonic")
            return cls(splits, internal=_INTERNAL)

    @classmethod
    def from_row_lengths(
        cls, row_lengths: Any, validate: Any = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows of these lengths."""
        check_flag(validate)
        with name_scope("RowPartitionFromRowLengths"):
            lengths = index_vector(row_lengths, "row_lengths", dtype, dtype_hint)
            checks.has_rank(lengths, 1)
            if validate:
                checks.not_negative(lengths, _form("from_row_lengths"))
            return cls(splits_of(lengths), row_lengths=lengths, internal=_INTERNAL)

    @classmethod
    def from_value_rowids(
        cls,
        value_rowids: Any,
        nrows: Any = None,
        validate: Any = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """The values with their row's number: sorted. `nrows` counts empty rows at the end."""
        check_flag(validate)
        with name_scope("RowPartitionFromValueRowIds"):
            rowids: Any = index_vector(value_rowids, "value_rowids", dtype, dtype_hint)
            _check_row_count(rowids, nrows)
            checks.has_rank(rowids, 1)
            if nrows is None:
                last = raw.ConcatV2([_like([-1], rowids), rowids[-1:]], 0)
                count: Any = raw.Max(last, 0) + 1
            else:
                count = index_vector(nrows, "nrows", rowids.dtype)
            if validate:
                text = _form("from_value_rowids")
                checks.not_negative(rowids[:1], text)
                checks.not_negative(rowids[1:] - rowids[:-1], text)
                checks.compare("<", rowids[-1:], count, text)
            ones = raw.OnesLike(rowids)
            lengths = raw.UnsortedSegmentSum(ones, rowids, count)
            return cls(
                splits_of(lengths),
                row_lengths=lengths,
                value_rowids=rowids,
                nrows=count,
                internal=_INTERNAL,
            )

    @classmethod
    def from_row_starts(
        cls,
        row_starts: Any,
        nvals: Any,
        validate: Any = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows that begin here; the last one ends at `nvals`."""
        check_flag(validate)
        with name_scope("RowPartitionFromRowStarts"):
            starts: Any = index_vector(row_starts, "row_starts", dtype, dtype_hint)
            checks.has_rank(starts, 1)
            count = index_vector(nvals, "nvals", starts.dtype)
            if validate:
                text = "Arguments to from_row_starts do not form a valid RaggedTensor"
                zero = convert.to_tensor(0, starts.dtype)
                checks.compare("==", starts[:1], zero, text)
                checks.not_negative(starts[1:] - starts[:-1], text)
                checks.compare("<=", starts[-1:], count, text)
            splits = raw.ConcatV2([starts, raw.ExpandDims(count, 0)], 0)
            return cls(splits, nvals=count, internal=_INTERNAL)

    @classmethod
    def from_row_limits(
        cls, row_limits: Any, validate: Any = True, dtype: Any = None, dtype_hint: Any = None
    ) -> RowPartition:
        """Rows that end here; the first one begins at 0."""
        check_flag(validate)
        with name_scope("RowPartitionFromRowLimits"):
            limits: Any = index_vector(row_limits, "row_limits", dtype, dtype_hint)
            checks.has_rank(limits, 1)
            if validate:
                text = "Arguments to from_row_limits do not form a valid RaggedTensor"
                checks.not_negative(limits[:1], text)
                checks.not_negative(limits[1:] - limits[:-1], text)
            zero = _like([0], limits)
            return cls(raw.ConcatV2([zero, limits], 0), internal=_INTERNAL)

    @classmethod
    def from_uniform_row_length(
        cls,
        uniform_row_length: Any,
        nvals: Any = None,
        nrows: Any = None,
        validate: Any = True,
        dtype: Any = None,
        dtype_hint: Any = None,
    ) -> RowPartition:
        """Rows of one length. `nrows` is needed where the length is 0."""
        check_flag(validate)
        if nvals is None and nrows is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        with name_scope("RowPartitionFromUniformRowLength"):
            found_dtype = next(
                (
                    v.dtype
                    for v in (uniform_row_length, nvals, nrows)
                    if isinstance(v, (Tensor, np.ndarray, np.generic))
                    and as_dtype(v.dtype) in dtypes.INDEX
                ),
                None,
            )
            wanted = dtype or found_dtype
            length: Any = index_vector(uniform_row_length, "uniform_row_length", wanted, dtype_hint)
            checks.has_rank(length, 0)
            count: Any = None if nvals is None else index_vector(nvals, "nvals", length.dtype)
            if nrows is None:
                one = _like(1, length)
                rows: Any = raw.Select(length > 0, count // raw.Maximum(length, one), one * 0)
                if checks.static(length) is not None and checks.static(count) is not None:
                    known = checks.static(length) or 0
                    total = checks.static(count) or 0
                    rows = _like(total // known if known else 0, length)
            else:
                rows = index_vector(nrows, "nrows", length.dtype)
            _check_uniform(length, rows, count, validate)
            row_indices = raw.Range(_like(0, length), rows + 1, _like(1, length))
            return cls(
                row_indices * length,
                nrows=rows,
                uniform_row_length=length,
                nvals=count,
                internal=_INTERNAL,
            )

    # -- reading -------------------------------------------------------------------------

    @property
    def dtype(self) -> DType:
        """The type of the partition's tensors, int32 or int64."""
        return self._splits.dtype

    def row_splits(self) -> Tensor:
        """Where rows begin, and where the last one ends."""
        return self._splits

    def value_rowids(self) -> Tensor:
        """The row of each value."""
        if self._rowids is not None:
            return self._rowids
        return row_ids(self._splits, self.nvals())

    def nvals(self) -> Tensor:
        """The number of values."""
        return self._splits[-1] if self._nvals is None else self._nvals

    def nrows(self) -> Tensor:
        """The number of rows."""
        if self._nrows is not None:
            return self._nrows
        static = self.static_nrows
        if static is not None:
            return _like(static, self._splits)
        shape: Any = raw.Shape(self._splits, out_type=self.dtype)
        return raw.Sub(shape[0], _like(1, self._splits), name="sub")

    def uniform_row_length(self) -> Tensor | None:
        """The length of every row if it is the same by construction, else None."""
        return self._uniform

    def row_starts(self) -> Tensor:
        """Where rows begin."""
        return self._splits[:-1]

    def row_limits(self) -> Tensor:
        """Where rows end."""
        return self._splits[1:]

    @property
    def known_lengths(self) -> Tensor | None:
        """The lengths of the rows if they were given, which no op need compute."""
        return self._lengths

    def row_lengths(self) -> Tensor:
        """The lengths of the rows."""
        if self._lengths is not None:
            return self._lengths
        return self._splits[1:] - self._splits[:-1]

    @property
    def static_nrows(self) -> int | None:
        """The number of rows if it is known while tracing."""
        dims = self._splits.dims
        if dims is not None and dims[0] is not None:
            return dims[0] - 1
        return checks.static(self._nrows)

    @property
    def static_nvals(self) -> int | None:
        """The number of values if it was given, and is known while tracing."""
        if self._nvals is not None:
            return checks.static(self._nvals)
        if self._rowids is not None and self._rowids.dims:
            return self._rowids.dims[0]
        rows, length = self.static_nrows, self.static_uniform_row_length
        return rows * length if rows is not None and length is not None else None

    @property
    def static_uniform_row_length(self) -> int | None:
        """The length of every row if it is the same and known while tracing."""
        return checks.static(self._uniform)

    def offsets_in_rows(self) -> Tensor:
        """The position of each value in its row."""
        rowids: Any = self.value_rowids()
        starts = raw.GatherV2(self.row_starts(), rowids, 0)
        count = raw.Range(_like(0, rowids), self.nvals(), _like(1, rowids))
        return raw.Sub(count, starts)

    def is_uniform(self) -> bool:
        """True if all rows have one length by construction."""
        return self._uniform is not None

    def with_dtype(self, dtype: Any) -> RowPartition:
        """The same partition in int32 or int64. Raises ValueError for other types."""
        wanted = as_dtype(dtype)
        if wanted not in dtypes.INDEX:
            raise ValueError(
                f"Argument `row_splits` dtype must be int32 or int64. Received {wanted!r}.".replace(
                    "tf.float32", "<dtype: 'float32'>"
                )
            )
        if wanted is self.dtype:
            return self
        parts = [
            None if t is None else raw.Cast(t, DstT=wanted)
            for t in (
                self._splits,
                self._lengths,
                self._rowids,
                self._nrows,
                self._uniform,
                self._nvals,
            )
        ]
        return RowPartition(*parts, internal=_INTERNAL)

    def __repr__(self) -> str:
        if self._uniform is not None:
            return (
                f"tf.RowPartition(nrows={_shown(self.nrows())}, "
                f"uniform_row_length={_shown(self._uniform)})"
            )
        return f"tf.RowPartition(row_splits={_shown(self._splits)})"

    @property
    def _type_spec(self) -> Any:
        return RowPartitionSpec(
            self.static_nrows, self.static_nvals, self.static_uniform_row_length, self.dtype
        )


def _shown(tensor: Any) -> str:
    array = getattr(tensor, "_array", None)
    return repr(tensor) if array is None else str(array)


def _form(method: str) -> str:
    return f"Arguments to {method} do not form a valid RowPartition"


def check_flag(validate: Any) -> None:
    """Raises TypeError if `validate` is no bool."""
    if not isinstance(validate, bool):
        raise TypeError(f"Argument `validate` must have type bool. Received {validate}.")


def _check_row_count(rowids: Any, nrows: Any) -> None:
    """What is wrong with a number of rows that is known."""
    count = None if nrows is None else checks.static(nrows)
    if count is None:
        return
    if count < 0:
        raise ValueError(f"Expected nrows >= 0; got {count}")
    ids = checks.known(rowids)
    if ids is not None and ids.ndim == 1 and ids.size and count <= int(ids[-1]):
        raise ValueError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={count}, "
            f"value_rowids[-1]={int(ids[-1])}"
        )


def _check_uniform(length: Any, rows: Any, values: Any, validate: bool) -> None:
    """What does not fit in uniform rows, at once where it is known."""
    known_length, known_rows = checks.static(length), checks.static(rows)
    known_values = None if values is None else checks.static(values)
    if known_length is not None and known_length < 0:
        raise ValueError("uniform_row_length must be >= 0.")
    if known_length is not None and known_rows is not None and known_values is not None:
        if known_length * known_rows != known_values:
            raise ValueError(
                f"uniform_row_length={known_length} times nrows={known_rows} must "
                f"equal nvals={known_values}"
            )
        return
    if validate and values is not None:
        text = _form("from_uniform_row_length")
        checks.compare("==", length * rows, values, text)


class RowPartitionSpec(TypeSpec):
    """The type of partitions with these numbers of rows and values, None for any."""

    __slots__ = ("_dtype", "_nrows", "_nvals", "_uniform")

    def __init__(
        self,
        nrows: int | None = None,
        nvals: int | None = None,
        uniform_row_length: int | None = None,
        dtype: Any = dtypes.int64,
    ) -> None:
        self._nrows = TensorShape([nrows])
        self._nvals = TensorShape([nvals])
        self._uniform = TensorShape([uniform_row_length])
        self._dtype = as_dtype(dtype)

    @property
    def value_type(self) -> Any:
        """`RowPartition`."""
        return RowPartition

    @property
    def nrows(self) -> int | None:
        """The number of rows, None if it may be any."""
        return self._nrows[0]

    @property
    def nvals(self) -> int | None:
        """The number of values, None if it may be any."""
        return self._nvals[0]

    @property
    def uniform_row_length(self) -> int | None:
        """The length of every row, None if rows may differ."""
        return self._uniform[0]

    @property
    def dtype(self) -> DType:
        """The type of the partition's tensors."""
        return self._dtype

    def _serialize(self) -> tuple[Any, ...]:
        return (self._nrows, self._nvals, self._uniform, self._dtype)

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> RowPartitionSpec:
        nrows, nvals, uniform, dtype = serialization
        return cls(nrows[0], nvals[0], uniform[0], dtype)

    def __reduce__(self) -> Any:
        return RowPartitionSpec, (self.nrows, self.nvals, self.uniform_row_length, self._dtype)

    @property
    def _component_specs(self) -> Any:
        rows = self.nrows
        return [TensorSpec([None if rows is None else rows + 1], self._dtype)]

    def _to_components(self, value: Any) -> Any:
        return [value.row_splits()]

    def _from_components(self, components: Any) -> Any:
        return partition_from_splits(components[0], self.uniform_row_length)

    def __repr__(self) -> str:
        return (
            f"RowPartitionSpec(nrows={self.nrows}, nvals={self.nvals}, "
            f"uniform_row_length={self.uniform_row_length}, dtype={self._dtype!r})"
        )


def partition_from_splits(splits: Any, uniform: int | None = None) -> RowPartition:
    """A partition of splits that are known to be right."""
    if uniform is None or not isinstance(splits, Tensor):
        return RowPartition(splits, internal=_INTERNAL)
    length = _like(uniform, splits)
    return RowPartition(splits, uniform_row_length=length, internal=_INTERNAL)


def with_rows_counted(partition: RowPartition, nvals: Any) -> RowPartition:
    """The partition with a static number of values."""
    return RowPartition(
        partition._splits,
        partition._lengths,
        partition._rowids,
        partition._nrows,
        partition._uniform,
        nvals,
        internal=_INTERNAL,
    )
