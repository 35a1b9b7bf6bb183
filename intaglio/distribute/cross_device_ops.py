"""How values of several replicas are brought together: the cross-device ops by name.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/CrossDeviceOps. The replicas of one
process compute in one memory, so that all ways give the same numbers: sums go by the order of
the replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.distribute.contexts import ReduceOp, current
from intaglio.distribute.values import DistributedValues
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.trace.scopes import device


def reduced(reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
    """The sum or mean of tensors, or of IndexedSlices, which stay slices."""
    if any(isinstance(v, IndexedSlices) for v in values):
        return _reduced_slices(reduce_op, values)
    tensors = [convert.to_tensor(v) for v in values]
    total = tensors[0] if len(tensors) == 1 else raw.AddN(tensors)
    return mean_of(total, len(tensors)) if reduce_op is ReduceOp.MEAN else total


def mean_of(total: Any, count: int) -> Any:
    """The mean of `count` values of this sum; of integers a float, as of a division."""
    if isinstance(total, IndexedSlices):
        return IndexedSlices(total.values / count, total.indices, total.dense_shape)
    return total if count == 1 else total / count


def _reduced_slices(reduce_op: ReduceOp, values: Sequence[Any]) -> IndexedSlices:
    rows = raw.ConcatV2([v.values for v in values], 0) if len(values) > 1 else values[0].values
    indices = raw.ConcatV2([v.indices for v in values], 0) if len(values) > 1 else values[0].indices
    if reduce_op is ReduceOp.MEAN:
        rows = rows / len(values)
    return IndexedSlices(rows, indices, values[0].dense_shape)


def gathered(values: Sequence[Any], axis: int) -> Any:
    """Tensors of all replicas along an axis. Raises NotImplementedError for IndexedSlices."""
    if any(isinstance(v, IndexedSlices) for v in values):
        raise NotImplementedError("gather/all_gather does not support IndexedSlices")
    tensors = [convert.to_tensor(v) for v in values]
    for tensor in tensors:
        if tensor.shape.rank == 0:
            raise ValueError(
                f"Cannot gather along axis {axis} of a scalar: give values of the replicas one "
                "dimension, for example by tf.expand_dims(value, 0)."
            )
    return tensors[0] if len(tensors) == 1 else raw.ConcatV2(tensors, axis)


class CrossDeviceOps:
    """Reduces and broadcasts values of replicas. A base class: the subclasses say how."""

    def reduce(
        self, reduce_op: Any, per_replica_value: Any, destinations: Any, options: Any = None
    ) -> Any:
        """The sum or mean of a value's replicas, for each replica of `destinations`."""
        op = ReduceOp.of(reduce_op)
        values = _values(per_replica_value)
        return self.broadcast(self.reduce_implementation(op, values), destinations)

    def reduce_implementation(self, reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
        """The sum or mean of values."""
        return current().replicas.reduced(reduce_op, values)

    def batch_reduce(
        self, reduce_op: Any, value_destination_pairs: Sequence[Any], options: Any = None
    ) -> list[Any]:
        """`reduce` of each (value, destinations)."""
        return [self.reduce(reduce_op, v, where, options) for v, where in value_destination_pairs]

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """A tensor for each replica of `destinations`; for a device, itself."""
        return current().replicas.broadcast(tensor, destinations)

    def _gather(
        self, per_replica_value: Any, destinations: Any, axis: int, options: Any = None
    ) -> Any:
        return self.broadcast(gathered(_values(per_replica_value), axis), destinations)


def placed(value: Any, where: str | None) -> Any:
    """A tensor on a device; slices with their parts there."""
    if isinstance(value, IndexedSlices):
        parts = placed(value.values, where), placed(value.indices, where)
        return IndexedSlices(*parts, value.dense_shape)
    with device(where):
        return raw.Identity(value)


def _values(value: Any) -> Sequence[Any]:
    return value.values if isinstance(value, DistributedValues) else [value]


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device and copies the result. `accumulation_fn` adds up a list of tensors."""

    def __init__(self, reduce_to_device: Any = None, accumulation_fn: Any = None) -> None:
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn

    def reduce_implementation(self, reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
        if self.accumulation_fn is None:
            return super().reduce_implementation(reduce_op, values)
        current().replicas.single("accumulation_fn adds up the values of single replicas")
        if any(isinstance(v, IndexedSlices) for v in values):
            return super().reduce_implementation(reduce_op, values)
        total = self.accumulation_fn([convert.to_tensor(v) for v in values])
        return total / len(values) if reduce_op is ReduceOp.MEAN else total


class AllReduceCrossDeviceOps(CrossDeviceOps):
    """Reduces on all devices, packed into `num_packs` pieces: accepted, there is nothing to pack."""

    def __init__(self, num_packs: int = 1) -> None:
        if num_packs < 0:
            raise ValueError(
                f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified"
                if isinstance(self, NcclAllReduce)
                else f"HierarchicalCopy requires num_packs >= 0, but {num_packs} is specified"
            )
        self.num_packs = num_packs


class NcclAllReduce(AllReduceCrossDeviceOps):
    """Reduces by NCCL between GPUs; between parts of the host, in their memory."""


class HierarchicalCopyAllReduce(AllReduceCrossDeviceOps):
    """Reduces within groups of devices, then between them; in one memory, at once."""


__all__ = [
    "CrossDeviceOps",
    "HierarchicalCopyAllReduce",
    "NcclAllReduce",
    "ReductionToOneDevice",
    "gathered",
    "mean_of",
    "placed",
    "reduced",
]
