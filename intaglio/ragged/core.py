"""The base of ragged tensors: values, and the partition that cuts them into rows.

`RaggedTensor` derives from `Ragged` and has the documented methods. The functions of the other
modules depend only on what is defined here.
"""

from __future__ import annotations

from typing import Any, ClassVar

from intaglio.base.composite import TensorInParts
from intaglio.base.dtypes import DType
from intaglio.base.shapes import Dims, TensorShape
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged import checks, partition
from intaglio.ragged.partition import RowPartition


class Ragged(TensorInParts):
    """Values, the inner dimensions of which may be ragged again, with a row partition."""

    __slots__ = ("__dict__", "__weakref__", "_partition", "_values")

    # The public class, which `ragged` makes.
    kind: ClassVar[Any] = None

    _values: Any
    _partition: RowPartition

    def __init_subclass__(cls) -> None:
        Ragged.kind = cls

    @property
    def values(self) -> Any:
        """The rows put one after the other: a tensor or ragged tensor of one rank less."""
        return self._values

    @property
    def flat_values(self) -> Any:
        """The innermost values, a tensor."""
        found = self._values
        while isinstance(found, Ragged):
            found = found._values
        return found

    @property
    def partition(self) -> RowPartition:
        """The partition of the values into rows."""
        return self._partition

    @property
    def nested_partitions(self) -> tuple[RowPartition, ...]:
        """The partitions of all ragged dimensions, the outermost first."""
        found = [self._partition]
        values = self._values
        while isinstance(values, Ragged):
            found.append(values._partition)
            values = values._values
        return tuple(found)

    @property
    def ragged_rank(self) -> int:
        """The number of partitions."""
        values = self._values
        return 1 + (values.ragged_rank if isinstance(values, Ragged) else 0)

    @property
    def row_splits(self) -> Any:
        """Where rows begin, and where the last one ends."""
        return self._partition.row_splits()

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        return tuple([p.row_splits() for p in self.nested_partitions])

    @property
    def dtype(self) -> DType:
        """The type of the elements."""
        return self.flat_values.dtype

    @property
    def dims(self) -> Dims:
        """The static shape as a tuple, None for ragged dimensions."""
        inner = self._values.dims
        if inner is None:
            return None
        rows = self._partition.static_nrows
        return (rows, self._partition.static_uniform_row_length, *inner[1:])

    @property
    def shape(self) -> TensorShape:
        """The static shape; ragged dimensions have no size."""
        return TensorShape(self.dims)

    def with_values(self, new_values: Any) -> Any:
        """The same rows of other values, as many as there are now."""
        values = as_values(new_values, self._partition.dtype)
        checks.fits(values, self._values.dims[0] if self._values.dims else None)
        return ragged(values, self._partition)

    def with_flat_values(self, new_values: Any) -> Any:
        """The same partitions of other innermost values, as many as there are now."""
        if isinstance(self._values, Ragged):
            return ragged(self._values.with_flat_values(new_values), self._partition)
        return self.with_values(new_values)


def ragged(values: Any, rows: RowPartition) -> Any:
    """The ragged tensor of these rows, which are known to fit."""
    ragged_tensor = object.__new__(Ragged.kind)
    ragged_tensor._values = values
    ragged_tensor._partition = rows
    return ragged_tensor


def nested(flat_values: Any, partitions: Any) -> Any:
    """The ragged tensor with these partitions, the outermost first; without any, the values."""
    found = flat_values
    for rows in reversed(partitions):
        found = ragged(found, rows)
    return found


def from_splits(values: Any, splits: Any, uniform: int | None = None) -> Any:
    """The ragged tensor with these splits, which are known to fit."""
    return ragged(values, partition.partition_from_splits(splits, uniform))


def from_lengths(values: Any, lengths: Any) -> Any:
    """The ragged tensor of rows of these lengths, which are known to fit."""
    return ragged(values, RowPartition.from_row_lengths(lengths, validate=False))


def from_rowids(values: Any, rowids: Any, nrows: Any) -> Any:
    """The ragged tensor of values with these rows, which are known to fit."""
    rows = RowPartition.from_value_rowids(rowids, nrows, validate=False)
    return ragged(values, rows)


def from_uniform(values: Any, length: Any, nrows: Any = None) -> Any:
    """The ragged tensor of rows of one length, which are known to fit."""
    dtype = splits_dtype(values)
    count = row_count(values, dtype)
    if nrows is not None:
        nrows = as_index(nrows, dtype)
    rows = RowPartition.from_uniform_row_length(
        as_index(length, dtype), count, nrows, validate=False
    )
    return ragged(values, rows)


def row_count(values: Any, dtype: DType) -> Any:
    """The size of the first dimension as a scalar."""
    if isinstance(values, Ragged):
        return as_index(values.partition.nrows(), dtype)
    return partition.size(values, dtype)


def as_index(value: Any, dtype: DType) -> Any:
    """An integer or integer tensor as a tensor of this dtype."""
    tensor = convert.to_tensor(value) if isinstance(value, Tensor) else None
    if tensor is None:
        return convert.to_tensor(value, dtype)
    return tensor if tensor.dtype is dtype else raw.Cast(tensor, DstT=dtype)


def splits_dtype(*operands: Any) -> Any:
    """The dtype of the row splits of the ragged operands, int64 if there are none."""
    found = next((x.row_splits.dtype for x in operands if isinstance(x, Ragged)), None)
    return found or convert.as_dtype("int64")


def as_values(value: Any, dtype: DType | None = None) -> Any:
    """A ragged tensor as it is, anything else as a tensor.

    Raises ValueError for scalars, and for row splits that are not of `dtype`.
    """
    tensor = value if isinstance(value, Ragged) else convert.to_tensor(value)
    if isinstance(tensor, Ragged):
        if dtype is not None and tensor.partition.dtype is not dtype:
            names = f"<dtype: '{dtype.name}'> vs. <dtype: '{tensor.partition.dtype.name}'>"
            raise ValueError(
                "Argument `row_partition` of RaggedTensor with name: partition must "
                f"have same dtype as Argument `values`. ({names})."
            )
    else:
        TensorShape(tensor.dims).with_rank_at_least(1)
    return tensor


def as_operand(value: Any, dtype: DType | None = None) -> Any:
    """A ragged tensor as it is, anything else as a tensor, of `dtype` if it can be."""
    if isinstance(value, (Ragged, Tensor)):
        return value
    return convert.to_tensor(value, dtype_hint=dtype)


def matched(operands: Any) -> list[Any]:
    """The operands as ragged tensors and tensors, all row splits of one dtype.

    Raises ValueError if ragged ones have different dtypes of row splits.
    """
    values = list(operands)
    dtype = next((x.dtype for x in values if isinstance(x, (Ragged, Tensor))), None)
    operand_tensors = [as_operand(x, dtype) for x in values]
    kinds = {x.row_splits.dtype for x in operand_tensors if isinstance(x, Ragged)}
    if len(kinds) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use "
            "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes."
        )
    return operand_tensors


def rank_of(x: Any) -> int | None:
    """The number of dimensions of a tensor or ragged tensor."""
    return None if x.dims is None else len(x.dims)
