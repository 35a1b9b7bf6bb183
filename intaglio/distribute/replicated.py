"""Strategies with several replicas in one process: the part that `MirroredStrategy` and others share.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/MirroredStrategy.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from intaglio.base import nest
from intaglio.base.devices import DEVICE
from intaglio.base.log import logger
from intaglio.distribute import datasets, replica_threads, spmd
from intaglio.distribute.contexts import (
    Context,
    ReduceOp,
    ReplicaContext,
    current,
    get_replica_context,
    pushed,
    require_cross_replica,
)
from intaglio.distribute.cross_device_ops import CrossDeviceOps
from intaglio.distribute.cross_replica import Update
from intaglio.distribute.strategy import InputContext, Strategy, StrategyExtended
from intaglio.distribute.values import DistributedValues, Mirrored, of_replica, regrouped
from intaglio.distribute.variables import DistributedVariable, MirroredVariable, SyncOnReadVariable
from intaglio.function.decorator import function
from intaglio.function.polymorphic import Function
from intaglio.ir.replicas import NotOneProgram
from intaglio.opdef import convert, door, raw
from intaglio.state.creation import VariableSynchronization, checked_modes
from intaglio.trace.scopes import device, init_scope


class _Creating(threading.local):
    """Whether copies are being created, whose creators must not create copies of copies."""

    is_on = False


_creating = _Creating()


class ReplicatedExtended(StrategyExtended):
    """The part for authors of optimizers and layers, of a strategy with a replica for each device."""

    def __init__(
        self,
        container_strategy: Any,
        devices: Sequence[str],
        cross_device_ops: CrossDeviceOps | None = None,
    ) -> None:
        super().__init__(container_strategy)
        self._devices: tuple[str, ...] = tuple(devices)
        self._cross_device_ops = cross_device_ops or CrossDeviceOps()
        self._num_replicas_in_sync = len(self._devices)
        # The numbers, among all replicas, of those of this process.
        self._replica_ids: tuple[int, ...] = tuple(range(len(self._devices)))
        self._functions: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that replicas run on."""
        return self._devices

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables live on."""
        return self._devices

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(*args, **kwargs)` for each device, with its replica's values.

        The results are one value for all replicas, or a tuple with `group=False`.
        """
        require_cross_replica()
        count = len(self.parameter_devices)
        found = [
            fn(*of_replica(i, tuple(args)), **of_replica(i, kwargs or {})) for i in range(count)
        ]
        return regrouped(found, Mirrored) if group else tuple(found)

    @property
    def _shares(self) -> datasets.Shares:
        return datasets.Shares(
            self._replica_ids[0], len(self._replica_ids), self._num_replicas_in_sync
        )

    # -- running -----------------------------------------------------------------------------

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)` in each replica, with its own part of each DistributedValues.

        Eagerly a `tf.function` is traced once with all replicas in it; so is one that XLA compiles.
        """
        require_cross_replica()
        if len(self._devices) > 1 and isinstance(fn, Function) and self._is_whole(fn):
            return self._traced(fn)(*args, **(kwargs or {}))
        if len(self._devices) > 1:
            return self._in_each_of_several(fn, tuple(args), kwargs or {})
        own_args: Any = of_replica(0, tuple(args))
        own_kwargs = of_replica(0, kwargs or {})
        replica = ReplicaContext(self._strategy, min(self._replica_ids))
        # The call of a function is one op outside of the replica, which tapes see.
        is_call = isinstance(fn, Function) and door.level().eager
        with (
            nullcontext() if is_call else self._tapes_around(),
            replica,
            device(self.worker_devices[0]),
        ):
            return fn(*own_args, **own_kwargs)

    @staticmethod
    def _is_whole(fn: Function) -> bool:
        return door.level().eager or bool(fn._options.jit_compile and spmd.is_possible())

    def _in_each_of_several(self, fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """One SPMD program where these are wanted and the function can be one, else each in its turn."""
        variables: list[Any] = []
        current().replicas.single(
            "strategy.run, or a reduction along an axis, is called in a replica"
        )
        if spmd.is_wanted():
            try:
                return spmd.run(self._strategy, fn, args, kwargs, variables)
            except NotOneProgram as e:
                logger().warning(
                    "strategy.run of %s records each replica, no SPMD program: %s", _name_of(fn), e
                )
        count = len(self._devices)
        return replica_threads.run(self._strategy, fn, args, kwargs, count, variables)

    def _tapes_around(self) -> Any:
        """A context in which no tape of outside sees a replica, as where replicas are threads."""
        return door.unwatched()

    def _traced(self, fn: Function) -> Any:
        found = self._functions.get(fn)
        if found is None:
            python_function = fn.python_function

            def all_replicas(*args: Any, **kwargs: Any) -> Any:
                with self._strategy.scope():
                    return self.call_for_each_replica(python_function, args, kwargs)

            found = self._functions[fn] = function(
                all_replicas,
                jit_compile=fn._options.jit_compile,
                reduce_retracing=fn._options.reduce_retracing,
            )
        return found

    # -- bringing together ---------------------------------------------------------------------

    def _of_all(self, reduce_op: ReduceOp, values: Sequence[Any]) -> Any:
        """The sum or mean of the values of all replicas; `values` are those of this process."""
        return self._cross_device_ops.reduce_implementation(reduce_op, values)

    def _gathered(self, values: Sequence[Any], axis: int) -> Any:
        """The values of all replicas along an axis; `values` are those of this process."""
        return current().replicas.gathered(values, axis)

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """The sum or mean of `value` over replicas, for each replica of `destinations`.

        Raises ValueError for the sum of a value that is one for all replicas, AssertionError for that of a
        mirrored one, and RuntimeError in a replica.
        """
        require_cross_replica()
        op = ReduceOp.of(reduce_op)
        if isinstance(value, (Mirrored, MirroredVariable)):
            # Replicas keep it equal: their mean is the value, and a sum would count it once for each.
            assert op is ReduceOp.MEAN, (
                f"the value is mirrored, which has a mean over replicas and no sum: {value!r}"
            )
            return value
        if isinstance(value, DistributedVariable):
            here = current().replicas
            value = here.of_each([copy.value() for copy in here.copies(value)])
        if not isinstance(value, DistributedValues):
            if isinstance(value, (int, float)) and value == 0:
                return 0
            if op is ReduceOp.MEAN:
                return self._cross_device_ops.broadcast(value, destinations)
            if self._num_replicas_in_sync > 1:
                raise ValueError(
                    f"A non-DistributedValues value {value} cannot be reduced with the given "
                    f"reduce op {op}."
                )
            values: Sequence[Any] = [value]
        else:
            values = value._values
        return self._cross_device_ops.broadcast(self._of_all(op, values), destinations)

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce_to` of each (value, destinations). What is one tensor in all replicas stays it.

        Replicas that sum a tensor of outside get the tensor, as with TensorFlow.
        """
        require_cross_replica()
        return [
            self.reduce_to(reduce_op, value, where, options)
            if isinstance(value, DistributedValues)
            else self._cross_device_ops.broadcast(value, where)
            for value, where in value_destination_pairs
        ]

    def _gather_to(self, value: Any, destinations: Any, axis: int, options: Any = None) -> Any:
        is_distributed = isinstance(value, DistributedValues)
        if current().replicas.are_one_program and not is_distributed:  # one value, of outside
            return value
        values = value._values if is_distributed else [value]
        return self._cross_device_ops.broadcast(self._gathered(values, axis), destinations)

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """A tensor for each replica of `destinations`."""
        require_cross_replica()
        return self._cross_device_ops.broadcast(tensor, destinations)

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(copy, *args, **kwargs)` for each copy of a variable, with its replica's values.

        The results are one value for all replicas, or a tuple with `group=False`.
        """
        update = Update(self._strategy, var, fn, tuple(args), kwargs or {}, group)
        return current().replicas.updated(update)

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Generator[None]:
        """Variables of the block live where another does: with a copy on each device."""
        yield

    def value_container(self, value: Any) -> Any:
        """The variable that a copy belongs to."""
        container = getattr(value, "_distributed_container", None)
        return value if container is None else container()

    def _local_results(self, value: Any) -> tuple[Any, ...]:
        if isinstance(value, DistributedValues):
            return value.values
        if not nest.is_nested(value):
            return (value,)
        return tuple([of_replica(i, value) for i in range(len(self._devices))])

    # -- variables -------------------------------------------------------------------------------

    def create(self, next_creator: Any, **kwargs: Any) -> Any:
        """A variable with a copy on each device, for `tf.variable_creator_scope`."""
        if _creating.is_on:
            return next_creator(**kwargs)
        if len(self._devices) == 1 and self._num_replicas_in_sync == 1:
            with device(self._variable_devices[0]):
                return super().create(next_creator, **kwargs)
        replica: Any = get_replica_context()
        if replica is not None and len(self._devices) > 1:
            return replica.created(lambda: self._copies(next_creator, kwargs))
        return self._copies(next_creator, kwargs)

    def _copies(self, next_creator: Any, kwargs: dict[str, Any]) -> Any:
        name = kwargs.get("name")
        synchronization, aggregation, _ = checked_modes(
            kwargs.get("synchronization"), kwargs.get("aggregation"), kwargs.get("trainable"), name
        )
        if synchronization is VariableSynchronization.NONE:
            raise ValueError(
                "`NONE` variable synchronization mode is not supported with tf.distribute strategy. "
                f"Please change the `synchronization` for variable: {name}"
            )
        copies: list[Any] = []
        _creating.is_on = True
        try:
            for index, where in enumerate(self._variable_devices):
                copies.append(self._created(next_creator, kwargs, index, where, copies))
        finally:
            _creating.is_on = False
        kind = self._kind_of(synchronization)
        if synchronization is VariableSynchronization.AUTO:
            synchronization = VariableSynchronization.ON_WRITE
        return kind(self._strategy, copies, synchronization, aggregation)

    @property
    def _variable_devices(self) -> tuple[str, ...]:
        return self._devices

    def _kind_of(self, synchronization: VariableSynchronization) -> type[DistributedVariable]:
        is_on_read = synchronization is VariableSynchronization.ON_READ
        return SyncOnReadVariable if is_on_read else MirroredVariable

    def _created(
        self, next_creator: Any, kwargs: dict[str, Any], index: int, where: str, copies: list[Any]
    ) -> Any:
        if index:
            name = kwargs.get("name") or "Variable"
            with init_scope():
                first = copies[0].read_value()
            kwargs = {**kwargs, "initial_value": first, "name": f"{name}/replica_{index}"}
        with pushed(Context(self._strategy, None, index)), device(where):
            return self._first_value_of_all(next_creator(**kwargs))

    def _first_value_of_all(self, variable: Any) -> Any:
        """The variable, with the value that it has in the first process."""
        return variable


class ReplicatedStrategy(Strategy):
    """A strategy with a replica for each of several devices."""

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas work on a batch."""
        return self._extended._num_replicas_in_sync

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)` in each replica; what differs between them is `PerReplica`."""
        if not isinstance(args, (list, tuple)):
            raise ValueError(f"positional args must be a list or tuple, got {type(args)}")
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    run.__autograph_functions__ = {"fn": 0}  # type: ignore[attr-defined]  # what autograph converts

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean of `value` over replicas, and along `axis` unless it is None.

        Raises ValueError for another `reduce_op`, and for the sum of what is no DistributedValues.
        """
        op = ReduceOp.of(reduce_op)
        with self.scope():
            if axis is None:
                return nest.map_structure(lambda v: self._reduced(op, v), value)
            return self._reduced_along(op, value, axis)

    def _reduced(self, op: ReduceOp, value: Any) -> Any:
        found = self._extended.reduce_to(op, value, DEVICE)
        if not isinstance(found, (Mirrored, MirroredVariable)):
            return found
        here = current().replicas
        copies = here.copies(found) if isinstance(found, DistributedVariable) else found._values
        return here.of_first(copies)

    def _reduced_along(self, op: ReduceOp, value: Any, axis: Any) -> Any:
        extended = self._extended

        axes = axis if isinstance(axis, (list, tuple)) else [axis]

        def total(v: Any) -> Any:
            return raw.Sum(_with_axes(convert.to_tensor(v), axes), axis)

        def both(v: Any) -> Any:
            tensor = _with_axes(convert.to_tensor(v), axes)
            shape = raw.Shape(tensor)
            count = raw.Prod(raw.GatherV2(shape, [a % tensor.shape.rank for a in axes], 0), 0)
            return raw.Sum(tensor, axis), raw.Cast(count, DstT=tensor.dtype)

        along = total if op is ReduceOp.SUM else both
        found = extended.call_for_each_replica(along, (value,))
        sums = self._of_each(found if op is ReduceOp.SUM else found[0])
        if op is ReduceOp.SUM:
            return extended._of_all(ReduceOp.SUM, sums)
        counts = self._of_each(found[1])
        return extended._of_all(ReduceOp.SUM, sums) / extended._of_all(ReduceOp.SUM, counts)

    def _of_each(self, value: Any) -> Sequence[Any]:
        if isinstance(value, DistributedValues):
            return value.values
        return [value] * len(self._extended.worker_devices)

    def gather(self, value: Any, axis: int) -> Any:
        """`value` of all replicas along `axis`.

        Raises NotImplementedError for IndexedSlices, RuntimeError in a replica.
        """
        require_cross_replica(
            "tf.distribute.Strategy.gather method requires cross-replica context, use "
            "get_replica_context().all_gather() instead"
        )
        with self.scope():
            return nest.map_structure(lambda v: self._extended._gather_to(v, DEVICE, axis), value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return self._extended._local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset as replicas see it: each gets its part of every batch.

        Raises ValueError for elements without a batch dimension.
        """
        datasets.check_global(options)
        shares = self._extended._shares
        found = dataset if shares.total == 1 else datasets.split(dataset, shares)
        return datasets.DistributedDataset(found)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """What `dataset_fn(tf.distribute.InputContext)` makes: an element for each replica at a time."""
        shares = self._extended._shares
        if datasets.is_per_replica(options):
            ids = self._extended._replica_ids
            contexts = [InputContext(shares.total, i, shares.total) for i in ids]
            return datasets.of_each_replica(dataset_fn, contexts)
        context = InputContext(shares.total // shares.own, shares.first // shares.own, shares.total)
        return datasets.from_function(dataset_fn, context, shares.own)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """What `value_fn(tf.distribute.experimental.ValueContext)` makes for each replica."""
        found = [
            value_fn(ValueContext(i, self.num_replicas_in_sync))
            for i in self._extended._replica_ids
        ]
        return regrouped(found, always=True)


def _with_axes(tensor: Any, axes: Sequence[Any]) -> Any:
    """The tensor. Raises ValueError if it lacks one of the axes: TensorFlow reduces in a graph."""
    rank = tensor.shape.rank
    for axis in axes:
        if rank is not None and not -rank <= axis < rank:
            raise ValueError(
                f"Invalid reduction dimension {axis} for input with {rank} dimensions."
            )
    return tensor


def _name_of(function: Any) -> str:
    """The name of a function, also of one that autograph has converted."""
    while isinstance(function, functools.partial):
        function = function.args[-1] if function.args else function.func
    return getattr(function, "__name__", type(function).__name__)


class ValueContext:
    """For which replica a function is to make a value."""

    def __init__(self, replica_id_in_sync_group: int = 0, num_replicas_in_sync: int = 1) -> None:
        self.replica_id_in_sync_group = replica_id_in_sync_group
        self.num_replicas_in_sync = num_replicas_in_sync

    def __str__(self) -> str:
        return (
            f"tf.distribute.ValueContext(replica id {self.replica_id_in_sync_group}, "
            f" total replicas in sync: {self.num_replicas_in_sync})"
        )


__all__ = ["ReplicatedExtended", "ReplicatedStrategy", "ValueContext"]
