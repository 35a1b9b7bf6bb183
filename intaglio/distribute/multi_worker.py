"""`MultiWorkerMirroredStrategy`: replicas in several processes, which `jax.distributed` brings together.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/MultiWorkerMirroredStrategy. Each process runs
the same program on its part of the data. Sums and means go over all of them, eagerly and in graphs,
where they are calls that keep their order.
"""

from __future__ import annotations

import dataclasses
import enum
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from intaglio import xla
from intaglio.autodiff.python_functions import numpy_function
from intaglio.base.devices import DEVICE
from intaglio.distribute import spmd
from intaglio.distribute.cluster_resolvers import ClusterResolver, TFConfigClusterResolver
from intaglio.distribute.contexts import ReduceOp
from intaglio.distribute.cross_device_ops import gathered, mean_of, reduced
from intaglio.distribute.replicated import ReplicatedExtended, ReplicatedStrategy
from intaglio.distribute.values import DistributedValues
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.ops.control_flow.python_call import Token
from intaglio.runtime.eager import EagerTensor, from_array
from intaglio.trace.scopes import init_scope

# Seconds that processes wait for the others at the beginning.
TIMEOUT_VARIABLE, DEFAULT_TIMEOUT = "INTAGLIO_CLUSTER_TIMEOUT", 300.0
_JOBS = ("chief", "worker", "evaluator", "ps", None)


class CommunicationImplementation(enum.Enum):
    """What carries collectives out: accepted; between CPUs it is Gloo, between GPUs NCCL."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@dataclasses.dataclass(frozen=True)
class CommunicationOptions:
    """How processes communicate; they wait `timeout_seconds` for each other at the beginning.

    Raises ValueError for a negative `bytes_per_pack`.
    """

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None
    implementation: CommunicationImplementation = CommunicationImplementation.AUTO

    def __post_init__(self) -> None:
        if self.bytes_per_pack < 0:
            raise ValueError(
                f"Argument `bytes_per_pack` must be >=0, Received {self.bytes_per_pack}."
            )

    def __str__(self) -> str:
        return (
            f"Options(bytes_per_pack={self.bytes_per_pack},timeout_seconds={self.timeout_seconds}, "
            f"implementation={self.implementation})"
        )


class CollectiveHints(NamedTuple):
    """The old form of CommunicationOptions."""

    bytes_per_pack: int = 0
    timeout_seconds: float | None = None


class MultiWorkerExtended(ReplicatedExtended):
    """The part for authors of optimizers and layers, of a strategy with several processes."""

    # Every process has a graph of its own.
    experimental_between_graph = True

    def __init__(self, container_strategy: Any, processes: Any, resolver: ClusterResolver) -> None:
        super().__init__(container_strategy, [DEVICE])
        self._processes = processes
        self._resolver = resolver
        count = 1 if processes is None else len(processes.addresses)
        self._num_replicas_in_sync = count
        self._replica_ids = (0 if processes is None else processes.index,)
        self._is_chief = processes is None or processes.index == 0

    def _in_multi_worker_mode(self) -> bool:
        return self._processes is not None

    @property
    def should_checkpoint(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        """Whether this process saves checkpoints: the first does."""
        return self._is_chief

    @property
    def should_save_summary(self) -> bool:  # type: ignore[override]  # a constant elsewhere
        """Whether this process writes summaries: the first does."""
        return self._is_chief

    # -- bringing together ---------------------------------------------------------------------

    def _of_all(self, reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
        return self._of_all_at_once(reduce_op, [values])[0]

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of what each process has, for each replica of `destinations`."""
        if self._processes is None:
            return super().reduce_to(reduce_op, value, destinations, options)
        found = self.batch_reduce_to(reduce_op, [(value, destinations)], options)[0]
        return self._cross_device_ops.broadcast(found, destinations)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce_to` of each (value, destinations): all in one exchange."""
        op = ReduceOp.of(reduce_op)
        parts = [self._parts_of(value) for value, _ in value_destination_pairs]
        return self._of_all_at_once(op, parts)

    @staticmethod
    def _parts_of(value: Any) -> Sequence[Any]:
        return value.values if isinstance(value, DistributedValues) else [value]

    def _of_all_at_once(self, op: ReduceOp, groups: Sequence[Sequence[Any]]) -> list[Any]:
        if self._processes is None:
            return [reduced(op, group) for group in groups]
        own = [reduced(ReduceOp.SUM, group) for group in groups]
        results: list[Any] = [
            self._all_slices(v) if isinstance(v, IndexedSlices) else None for v in own
        ]
        dense = [i for i, found in enumerate(results) if found is None]
        sums = self._exchanged(xla.AllReduce(self._processes), [own[i] for i in dense])
        for index, total in zip(dense, sums, strict=True):
            total.set_shape(own[index].shape)
            results[index] = total
        if op is ReduceOp.MEAN:
            results = [mean_of(total, self._num_replicas_in_sync) for total in results]
        return results

    def _all_slices(self, value: IndexedSlices) -> IndexedSlices:
        rows = self._gathered([value.values], 0)
        return IndexedSlices(rows, self._gathered([value.indices], 0), value.dense_shape)

    def _gathered(self, values: Sequence[Any], axis: int) -> Any:
        own = gathered(values, axis)
        if self._processes is None:
            return own

        (found,) = self._exchanged(xla.AllGather(self._processes, axis), [own])
        dims = own.shape.as_list()
        dims[axis] = None
        found.set_shape(dims)
        return found

    def _exchanged(self, exchange: Any, values: Sequence[Any]) -> list[Any]:
        """The results of an exchange of arrays between the processes: now, or when the graph runs.

        In a function that is compiled whole it is an op: XLA runs the function as one program of all processes.
        """
        tensors = [convert.to_tensor(v) for v in values]
        if not tensors:
            return []
        if all(type(t) is EagerTensor for t in tensors):
            return [from_array(a) for a in exchange(*[t.numpy() for t in tensors])]
        types = [t.dtype for t in tensors]
        if not spmd.is_whole():
            return list(numpy_function(exchange, tensors, types))
        shapes = exchange.shapes_of([t.shape for t in tensors])
        return list(
            raw._Exchange(
                tensors, token=Token.of(exchange), shapes=shapes, Tout=types, name="Exchange"
            )
        )

    # -- variables -------------------------------------------------------------------------------

    def _first_value_of_all(self, variable: Any) -> Any:
        if self._processes is not None:
            with init_scope():
                value = self._processes.of_first(variable._resource.read())
                variable._resource.assign(value)
        return variable


class MultiWorkerMirroredStrategy(ReplicatedStrategy):
    """A replica in each process of a cluster, each with a copy of every variable.

    `cluster_resolver` knows the cluster, by default from `TF_CONFIG`; jobs are chief and worker. Without a
    cluster there is one process. Processes wait for each other, `timeout_seconds` of
    `communication_options` or INTAGLIO_CLUSTER_TIMEOUT. Raises ValueError for a task that the
    cluster does not have, DeadlineExceededError with the workers that did not come, and
    ImportError without jax.
    """

    def __init__(
        self,
        cluster_resolver: ClusterResolver | None = None,
        communication_options: CommunicationOptions | None = None,
    ) -> None:
        resolver = cluster_resolver or TFConfigClusterResolver()
        options = communication_options or CommunicationOptions()
        seconds = options.timeout_seconds
        if seconds is None:
            seconds = float(os.environ.get(TIMEOUT_VARIABLE, DEFAULT_TIMEOUT))
        processes = joined(resolver, seconds)
        super().__init__(MultiWorkerExtended(self, processes, resolver))

    def _reduced_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        own = value.values[0] if isinstance(value, DistributedValues) else value
        if self._extended._in_multi_worker_mode() and convert.to_tensor(own).shape.rank == 0:
            # Keras asks for the mean of scalars along axis 0, under this strategy only.
            return self._extended.reduce_to(op, value, DEVICE)
        return super()._reduced_along(op, value, axis)

    @property
    def cluster_resolver(self) -> Any:
        """What knows the cluster."""
        return self._extended._resolver


def joined(resolver: ClusterResolver, seconds: float) -> Any:
    """The processes of a cluster, once all have come; None for an empty cluster. Raises as the strategy."""
    spec = resolver.cluster_spec().as_dict()
    if not spec:
        return None
    kind, number = resolver.task_type, resolver.task_id
    if kind is None or number is None:
        raise ValueError(
            "When `cluster_spec` is given, you must also specify `task_type` and `task_id`."
        )
    if kind not in _JOBS:
        raise ValueError(f"Unrecognized task_type: {kind}, valid task types are: {_JOBS}")
    tasks = [(job, i, a) for job in ("chief", "worker") for i, a in enumerate(spec.get(job, []))]
    own = [at for at, (job, i, _) in enumerate(tasks) if (job, i) == (kind, number)]
    if not own:
        raise ValueError(f"The `task_id` {number} exceeds the maximum id of {kind}.")
    xla.check_installed()
    names = [f"{job} {i}" for job, i, _ in tasks]
    return xla.join([a for _, _, a in tasks], own[0], names, seconds)


__all__ = [
    "CollectiveHints",
    "CommunicationImplementation",
    "CommunicationOptions",
    "MultiWorkerExtended",
    "MultiWorkerMirroredStrategy",
    "joined",
]
