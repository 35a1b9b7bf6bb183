"""Variables of TensorFlow 1 that consist of several, and the functions that say how they are divided.

Follows https://www.tensorflow.org/api_docs/python/tf/compat/v1/fixed_size_partitioner.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from intaglio.base.dtypes import DType, as_dtype, string
from intaglio.base.shapes import TensorShape
from intaglio.opdef import convert, raw
from intaglio.trace import scopes

Partitioner = Callable[..., list[int]]
_LARGEST_SLICE_BYTES = 256 << 10


class Slice(NamedTuple):
    """Where a part of a variable begins in the whole, and its sizes."""

    offset: list[int]
    sizes: list[int]


def slices(shape: Sequence[int], counts: Sequence[int]) -> list[Slice]:
    """The parts of a shape that is divided along at most one axis; the first ones are larger by one.

    Raises ValueError for a division along several axes.
    """
    divided = [axis for axis, count in enumerate(counts) if count > 1]
    if len(divided) > 1:
        raise ValueError(
            f"Cannot slice more than one dimension: partitions {list(counts)} of a variable of "
            f"shape {list(shape)}."
        )
    axis = divided[0] if divided else 0
    size, rest = divmod(shape[axis], counts[axis])
    lengths = [size + (index < rest) for index in range(counts[axis])]
    starts = itertools.accumulate([0, *lengths[:-1]])
    found: list[Slice] = []
    for start, length in zip(starts, lengths, strict=True):
        offset, sizes = [0] * len(shape), list(shape)
        offset[axis], sizes[axis] = start, length
        found.append(Slice(offset, sizes))
    return found


def partitions(partitioner: Partitioner, shape: TensorShape, dtype: DType) -> list[int]:
    """What a partitioner says of a shape. Raises ValueError for an answer that does not fit."""
    counts = partitioner(shape=shape, dtype=dtype)
    if not isinstance(counts, Sequence):
        raise ValueError(f"Partitioner must return a sequence, but saw: {counts}")
    if len(counts) != shape.rank:
        raise ValueError(
            "Partitioner returned a partition list that does not match the Variable's rank: "
            f"{counts} vs. {shape}"
        )
    if any(count < 1 for count in counts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {counts}")
    return list(counts)


class PartitionedVariable:
    """Variables that are parts of one, in order along one axis; as a tensor it is the whole."""

    def __init__(
        self,
        name: str,
        shape: Any,
        dtype: Any,
        variable_list: Sequence[Any],
        partitions: Sequence[int],
    ) -> None:
        if not isinstance(variable_list, (list, tuple)):
            raise TypeError(f"variable_list is not a list or tuple: {variable_list}")
        self._name = name
        self._shape = TensorShape(shape)
        self._dtype = as_dtype(dtype)
        self._variables = list(variable_list)
        self._partitions = list(partitions)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._variables)

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def name(self) -> str:
        """The name of the whole, without a number of an output."""
        return self._name

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def get_shape(self) -> TensorShape:
        """The shape of the whole."""
        return self._shape

    def _get_variable_list(self) -> list[Any]:  # TensorFlow's name, which libraries call
        return self._variables

    def _get_partitions(self) -> list[int]:  # as above
        return self._partitions

    def _partition_axes(self) -> list[int]:  # as above
        return [axis for axis, count in enumerate(self._partitions) if count > 1] or [0]

    def as_tensor(self) -> Any:
        """The parts joined. Its gradient is that of the parts."""
        parts = [convert.to_tensor(v) for v in self._variables]
        with scopes.name_scope(""):
            if len(parts) == 1:
                return raw.Identity(parts[0], name=self._name)
            axis = self._partition_axes()[0]
            whole = raw.ConcatV2(parts, axis, name=f"{self._name}/ConcatPartitions/concat")
            return raw.Identity(whole, name=self._name)

    def __tf_tensor__(self, dtype: Any = None, name: str | None = None) -> Any:
        """The value as a tensor. Raises ValueError for another dtype."""
        if dtype is not None and as_dtype(dtype) != self._dtype:
            raise ValueError(
                f"Incompatible type conversion requested to type '{as_dtype(dtype).name}' for "
                f"variable of type '{self._dtype.name}'"
            )
        return self.as_tensor()

    def _assigned(self, method: str, value: Any, use_locking: bool, read_value: bool) -> Any:
        parts: Any = value
        if not isinstance(value, (list, PartitionedVariable)):
            axis = self._partition_axes()[0]
            sizes = [v.shape[axis] for v in self._variables]
            whole = convert.to_tensor(value, self._dtype)
            parts = raw.SplitV(whole, sizes, axis, num_split=len(sizes))
        found = [
            getattr(v, method)(part, use_locking, None, read_value)
            for v, part in zip(self._variables, parts, strict=True)
        ]
        return found if read_value else [getattr(one, "op", one) for one in found]

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """The parts after an assignment of a whole value, or of a list of values of parts."""
        return self._assigned("assign", value, use_locking, read_value)

    def assign_add(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """The parts after an addition."""
        return self._assigned("assign_add", value, use_locking, read_value)

    def assign_sub(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """The parts after a subtraction."""
        return self._assigned("assign_sub", value, use_locking, read_value)


def known_sizes(shape: TensorShape) -> list[int]:
    """The sizes of a shape. Raises ValueError if one is not known."""
    if not shape.is_fully_defined():
        raise ValueError(f"shape is not fully defined: {shape}")
    return [int(n or 0) for n in shape.as_list()]


def _one_axis(rank: int, axis: int, count: int) -> list[int]:
    counts = [1] * rank
    counts[axis] = count
    return counts


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """A partitioner that divides an axis into this many parts, or fewer if it is shorter.

    >>> tf.compat.v1.fixed_size_partitioner(5)(tf.TensorShape([2, 3]))
    [2, 1]
    """

    def partitioner(shape: Any, **_: Any) -> list[int]:
        sizes = TensorShape(shape)
        return _one_axis(sizes.rank or 0, axis, min(num_shards, sizes[axis]))

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int,
    axis: int = 0,
    bytes_per_string_element: int = 16,
    max_shards: int | None = None,
) -> Partitioner:
    """A partitioner by which no part has more than `max_shard_bytes`, as far as one axis allows.

    Raises ValueError for limits below 1.
    """
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, "
            f"max_shard_bytes is {max_shard_bytes} and"
            f"bytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise ValueError(f"max_shards must be positive. {max_shards}")

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise ValueError(f"shape is not a TensorShape: {shape}")
        sizes = known_sizes(shape)
        kind = as_dtype(dtype)
        element_bytes = bytes_per_string_element if kind == string else kind.size
        row_bytes = element_bytes * math.prod(sizes) // sizes[axis] if sizes[axis] else 0
        rows = max(1, max_shard_bytes // max(1, row_bytes))
        count = max(1, math.ceil(sizes[axis] / rows))
        return _one_axis(len(sizes), axis, min(count, max_shards) if max_shards else count)

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1,
    axis: int = 0,
    min_slice_size: int = _LARGEST_SLICE_BYTES,
    bytes_per_string_element: int = 16,
) -> Partitioner:
    """A partitioner into at most `max_partitions` parts of at least `min_slice_size` bytes.

    It raises ValueError for limits below 1.
    """

    def partitioner(shape: Any, dtype: Any) -> list[int]:
        for name, value in (
            ("max_partitions", max_partitions),
            ("min_slice_size", min_slice_size),
            ("bytes_per_string_element", bytes_per_string_element),
        ):
            if value < 1:
                raise ValueError(f"Argument `{name}` must be positive. Received: {value}")
        sizes = known_sizes(TensorShape(shape))
        kind = as_dtype(dtype)
        element_bytes = bytes_per_string_element if kind == string else kind.size
        count = max(1, math.ceil(math.prod(sizes) * element_bytes / min_slice_size))
        return _one_axis(len(sizes), axis, max(1, min(sizes[axis], max_partitions, count)))

    return partitioner
