"""Datasets for the replicas of a strategy: global batches in parts, or a batch for each replica.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/DistributedDataset. The elements are
`PerReplica` values, composite ones, so that a distributed dataset is a dataset of these.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from intaglio.base import nest
from intaglio.base.dtypes import int32, int64
from intaglio.data import sharding
from intaglio.data.dataset import Dataset
from intaglio.data.iterating import Iterator
from intaglio.data.options import AutoShardPolicy
from intaglio.data.specs import IteratorSpec
from intaglio.distribute.values import regrouped
from intaglio.opdef import convert, raw
from intaglio.opdef.tensor import Tensor
from intaglio.ragged.tensor import RaggedTensor
from intaglio.runtime.eager import EagerTensor
from intaglio.sparse import arranging
from intaglio.sparse.tensor import SparseTensor
from intaglio.trace import control_flow


class InputReplicationMode(enum.Enum):
    """How often the function of `distribute_datasets_from_function` is called."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class InputOptions(NamedTuple):
    """How datasets are distributed: prefetching is accepted, values stay where they are."""

    experimental_fetch_to_device: bool | None = True
    experimental_replication_mode: InputReplicationMode = InputReplicationMode.PER_WORKER
    experimental_place_dataset_on_device: bool = False
    experimental_per_replica_buffer_size: int = 1


class Shares(NamedTuple):
    """Which parts of a global batch this process takes: `own` from number `first`, of `total`."""

    first: int
    own: int
    total: int


class DistributedIterator(Iterator[Any]):
    """An iterator over a distributed dataset."""

    __module__ = "tensorflow.python.distribute.input_lib"  # Keras recognises it by this

    @property
    def _type_spec(self) -> IteratorSpec:
        return DistributedIteratorSpec(self._element_spec)


class DistributedIteratorSpec(IteratorSpec):
    """The type of a distributed iterator."""

    __slots__ = ()

    @property
    def value_type(self) -> Any:
        return DistributedIterator

    def _from_components(self, components: Any) -> Any:
        return DistributedIterator(components, self._element_spec)


class DistributedDataset:
    """A dataset as the replicas of a strategy see it."""

    __module__ = "tensorflow.python.distribute.input_lib"  # Keras recognises it by this

    def __init__(self, dataset: Dataset[Any]) -> None:
        self._dataset = dataset

    @property
    def element_spec(self) -> Any:
        """The structure of the elements' types."""
        return self._dataset.element_spec

    @property
    def cardinality(self) -> Any:
        """The number of elements, as `tf.data.Dataset.cardinality` returns it."""
        found = self._dataset.cardinality()
        return found.numpy() if isinstance(found, EagerTensor) else found

    def __iter__(self) -> DistributedIterator:
        found = iter(self._dataset)
        return DistributedIterator(found.handle_tensor, found.element_spec)

    def __autograph_for__(self, *loop: Any) -> None:
        """A `for` statement over it in converted code."""
        self._dataset.__autograph_for__(*loop)


class DistributedDatasetsFromFunction(DistributedDataset):
    """The datasets that a function makes, as the replicas see them."""

    __module__ = "tensorflow.python.distribute.input_lib"  # Keras recognises it by this


def split(dataset: Dataset[Any], shares: Shares) -> Dataset[Any]:
    """The dataset with each global batch in the parts of the replicas of this process.

    A batch of n elements gives replicas n / total of them each, rounded up; the last get fewer, or
    none. Where the auto-shard policy gives this process other files or elements than the others, its
    batches have the size of its share. Raises ValueError for elements without a batch dimension.
    """
    if shares.own < shares.total:
        own = _of_worker(dataset, shares)
        if own is not None:
            dataset = _in_shares(own, shares.total // shares.own)
            shares = Shares(0, shares.own, shares.own)
    for spec in nest.flatten(dataset.element_spec):
        if getattr(spec, "shape", None) is not None and spec.shape.rank == 0:
            raise ValueError(
                "experimental_distribute_dataset shares out batches, and the elements of this dataset "
                f"have no batch dimension ({spec}): call dataset.batch(global_batch_size) first."
            )

    def parts(*elements: Any) -> Any:
        value = elements[0] if len(elements) == 1 else elements
        flat = nest.flatten(value)
        size = _rows(flat[0])
        share = -(-size // shares.total)
        each = [
            nest.pack_sequence_as(value, [_slice(leaf, i, share) for leaf in flat])
            for i in range(shares.first, shares.first + shares.own)
        ]
        return each[0] if len(each) == 1 else regrouped(each)

    return dataset.map(parts)


def _of_worker(dataset: Dataset[Any], shares: Shares) -> Dataset[Any] | None:
    """What a process of several reads by the auto-shard policy; None where it takes a part of each batch.

    Raises NotFoundError for a source that is no file, InvalidArgumentError for too few files, where
    the policy is FILE.
    """
    policy = dataset.options().experimental_distribute.auto_shard_policy
    if policy is AutoShardPolicy.DATA:
        return None
    if policy is AutoShardPolicy.OFF:
        return dataset
    stage = sharding.stage_of(dataset)
    if stage is None:
        if policy is AutoShardPolicy.AUTO:
            return None
        raise NotImplementedError(
            f"AutoShardPolicy.{policy.name} is not supported in a tf.function: call "
            "experimental_distribute_dataset outside of it."
        )
    workers, worker = shares.total // shares.own, shares.first // shares.own
    if policy is AutoShardPolicy.HINT:
        return sharding.of_stage(sharding.by_hint(stage, workers, worker), dataset)
    try:
        return sharding.of_stage(sharding.by_files(stage, workers, worker), dataset)
    except sharding.Unshardable as e:
        if policy is AutoShardPolicy.AUTO:
            return None
        raise e.error from None


def _in_shares(dataset: Dataset[Any], workers: int) -> Dataset[Any]:
    """The dataset with each batch in so many."""
    stage = sharding.stage_of(dataset)
    sizes: list[Any] = [s.shape[0] for s in nest.flatten(dataset.element_spec) if s.shape.rank]
    size = sizes[0] if sizes else None
    if size is None and stage is not None:
        size = sharding.batch_size(stage)
    if size is not None:
        return dataset.rebatch(-(-size // workers))

    def shares_of(*elements: Any) -> Dataset[Any]:
        value = elements[0] if len(elements) == 1 else elements
        share = raw.Maximum(-(-_rows(nest.flatten(value)[0]) // workers), 1)
        rows = Dataset.from_tensor_slices(value)
        return rows.batch(raw.Cast(share, DstT=int64))

    return dataset.flat_map(shares_of)


def _rows(value: Any) -> Any:
    """The size of the first dimension, a number if it is known."""
    if isinstance(value, RaggedTensor):
        return value.nrows()
    if isinstance(value, SparseTensor):
        return value.dense_shape[0]
    known: Any = value.shape[0]
    return known if known is not None else raw.Shape(value)[0]


def _slice(value: Any, index: int, share: Any) -> Any:
    begin, end = index * share, (index + 1) * share
    if isinstance(value, SparseTensor):
        dims = raw.Unpack(value.dense_shape, num=value.shape.rank)
        start = raw.Pack([begin, *[0 for _ in dims[1:]]])
        size = raw.Pack([share, *dims[1:]])
        return arranging.slice(value, start, size)
    return value[begin:end]


def grouped(dataset: Dataset[Any], count: int) -> Dataset[Any]:
    """The dataset with `count` elements, one for each replica, as one; the last may get empty batches.

    Where batches have one static size there are no empty ones, and a last incomplete group is left out.
    """
    if count == 1:
        return dataset
    specs = nest.flatten(dataset.element_spec)
    _check_ranks(specs, dataset)
    is_static = all(s.shape.is_fully_defined() for s in specs)
    together = (
        dataset.batch(count, drop_remainder=True) if is_static else dataset.ragged_batch(count)
    )

    def parts(*elements: Any) -> Any:
        value = elements[0] if len(elements) == 1 else elements
        flat = nest.flatten(value)
        each = [
            nest.pack_sequence_as(value, [_row(v, i, s) for v, s in zip(flat, specs, strict=True)])
            for i in range(count)
        ]
        return regrouped(each)

    return together.map(parts)


def _check_ranks(specs: Sequence[Any], dataset: Dataset[Any]) -> None:
    if not all(hasattr(s, "shape") and s.shape.rank is not None for s in specs):
        raise ValueError(
            "distribute_datasets_from_function needs elements of tensors of known rank, not "
            f"{dataset.element_spec}"
        )


def _row(value: Any, index: int, spec: Any) -> Any:
    """The element of one replica; where there is none, one of the same kind without rows."""
    if isinstance(value, Tensor) and spec.shape.is_fully_defined():
        return value[index]
    if isinstance(value, RaggedTensor):
        count: Any = value.nrows()

        def present() -> Any:
            row = value[index]
            return row.to_tensor() if isinstance(row, RaggedTensor) else row

        def empty() -> Any:
            dims = [0 if d is None else d for d in spec.shape.as_list()]
            return raw.Fill(
                convert.to_tensor(dims), raw.Cast(convert.to_tensor(0), DstT=spec.dtype)
            )

        found = control_flow.cond(count > index, present, empty)
        found.set_shape(spec.shape)
        return found
    return value[index]


def from_function(
    dataset_fn: Callable[[Any], Any], context: Any, count: int
) -> DistributedDatasetsFromFunction:
    """What a function makes for this process, in elements for `count` replicas."""
    return DistributedDatasetsFromFunction(grouped(dataset_fn(context), count))


def of_each_replica(
    dataset_fn: Callable[[Any], Any], contexts: Sequence[Any]
) -> DistributedDatasetsFromFunction:
    """What a function makes for each replica. Those whose dataset has ended get empty batches.

    Where batches have one static size, all end with the first.
    """
    parts: list[Dataset[Any]] = [dataset_fn(context) for context in contexts]
    if len(parts) == 1:
        return DistributedDatasetsFromFunction(parts[0])
    specs = nest.flatten(parts[0].element_spec)
    _check_ranks(specs, parts[0])
    if all(s.shape.is_fully_defined() for s in specs):
        zipped = Dataset.zip(tuple(parts))
        return DistributedDatasetsFromFunction(zipped.map(lambda *each: regrouped(each)))
    flagged = Dataset.zip(tuple([_without_end(part) for part in parts]))
    flagged = flagged.take_while(lambda *each: raw.Any(raw.Pack([here for here, _ in each]), [0]))

    def values(*each: Any) -> Any:
        for _, value in each:
            for leaf, spec in zip(nest.flatten(value), specs, strict=True):
                leaf.set_shape(spec.shape)
        return regrouped([value for _, value in each])

    return DistributedDatasetsFromFunction(flagged.map(values))


def _without_end(dataset: Dataset[Any]) -> Dataset[Any]:
    """(True, element) for each element, then (False, an empty batch) for ever."""

    def flagged(*elements: Any) -> Any:
        return convert.to_tensor(True), elements[0] if len(elements) == 1 else elements

    def empty(spec: Any) -> Any:
        dims = [0 if d is None else d for d in spec.shape.as_list()]
        return raw.Fill(
            convert.to_tensor(dims, int32), raw.Cast(convert.to_tensor(0), DstT=spec.dtype)
        )

    structure = nest.map_structure(empty, dataset.element_spec)
    rest = Dataset.from_tensors((convert.to_tensor(False), structure))
    return dataset.map(flagged).concatenate(rest.repeat())


def is_per_replica(options: Any) -> bool:
    """True for InputOptions that ask for a dataset for each replica.

    Raises ValueError for a placement that needs these without them.
    """
    mode = getattr(options, "experimental_replication_mode", None)
    found = mode is InputReplicationMode.PER_REPLICA
    if getattr(options, "experimental_place_dataset_on_device", False) and not found:
        raise ValueError(
            "When `experimental_place_dataset_on_device` is set for dataset placement, you must also "
            "specify `PER_REPLICA` for the replication mode"
        )
    return found


def check_global(options: Any) -> None:
    """Raises NotImplementedError for InputOptions that ask for a dataset for each replica."""
    if is_per_replica(options):
        raise NotImplementedError(
            "InputReplicationMode.PER_REPLICA is only supported in "
            "`distribute_datasets_from_function`."
        )


__all__ = [
    "DistributedDataset",
    "DistributedDatasetsFromFunction",
    "DistributedIterator",
    "InputOptions",
    "InputReplicationMode",
    "Shares",
    "check_global",
    "from_function",
    "is_per_replica",
    "of_each_replica",
    "split",
]
