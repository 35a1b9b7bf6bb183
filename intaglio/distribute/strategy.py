"""`tf.distribute.Strategy`, its base, and the default one.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/Strategy.

Here there is one replica: its values are the values, and reducing over replicas changes nothing.
`replicated` has strategies with several.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from intaglio.base import nest
from intaglio.base.devices import DEVICE
from intaglio.data.dataset import Dataset
from intaglio.distribute import datasets, input_iterators
from intaglio.distribute.contexts import (
    ReduceOp,
    ReplicaContext,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_force,
)
from intaglio.opdef import convert, raw
from intaglio.state.creation import variable_creator_scope
from intaglio.trace import ordering


class InputContext:
    """Which part of the input a function that makes datasets is to make."""

    def __init__(
        self,
        num_input_pipelines: int = 1,
        input_pipeline_id: int = 0,
        num_replicas_in_sync: int = 1,
    ) -> None:
        self.num_input_pipelines = num_input_pipelines
        self.input_pipeline_id = input_pipeline_id
        self.num_replicas_in_sync = num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The share of one replica. Raises ValueError if it is no whole number."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size!r} is not divisible by "
                f"`num_replicas_in_sync` {self.num_replicas_in_sync!r}"
            )
        return global_batch_size // self.num_replicas_in_sync

    def __str__(self) -> str:
        return (
            f"tf.distribute.InputContext(input pipeline id {self.input_pipeline_id}, "
            f"total: {self.num_input_pipelines})"
        )


class RunOptions(NamedTuple):
    """How `Strategy.run` runs a function: accepted, for strategies on TPUs."""

    experimental_enable_dynamic_batch_size: bool = True
    experimental_bucketizing_dynamic_shape: bool = False
    experimental_xla_options: Any = None


class StrategyExtended:
    """The part of a strategy for authors of optimizers and layers."""

    # One process has all replicas, and saves what they compute.
    experimental_between_graph = False
    experimental_require_static_shapes = False
    experimental_should_init = True
    should_checkpoint = True
    should_save_summary = True
    # Datasets have batches for all replicas. This and what follows is what Keras 2 asks for.
    _global_batch_size = True
    _num_replicas_in_sync = 1

    def __init__(self, container_strategy: Any) -> None:
        self._strategy = container_strategy

    def _in_multi_worker_mode(self) -> bool:
        return False

    def _use_merge_call(self) -> bool:
        return True

    def call_for_each_replica(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)` in each replica: in one."""
        with ReplicaContext(self._strategy):
            return fn(*args, **(kwargs or {}))

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """The devices that replicas run on."""
        return (DEVICE,)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """The devices that variables live on."""
        return (DEVICE,)

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Any) -> Generator[None]:
        """Variables of the block live where another does: they all live together."""
        yield

    def update(
        self,
        var: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(var, *args, **kwargs)`, once for each copy of the variable: once."""
        return fn(var, *args, **(kwargs or {}))

    def reduce_to(self, reduce_op: Any, value: Any, destinations: Any, options: Any = None) -> Any:
        """`value` of all replicas as one value: of one replica, itself."""
        ReduceOp.of(reduce_op)
        return value

    def batch_reduce_to(
        self, reduce_op: Any, value_destination_pairs: Any, options: Any = None
    ) -> list[Any]:
        """`reduce_to` of each (value, destinations)."""
        return [
            self.reduce_to(reduce_op, value, where, options)
            for value, where in value_destination_pairs
        ]

    def value_container(self, value: Any) -> Any:
        """The variable that a copy belongs to: itself."""
        return value

    # -- as programs of TensorFlow 1 have it -------------------------------------------------------

    def broadcast_to(self, tensor: Any, destinations: Any) -> Any:
        """The tensor for each replica of `destinations`: for one, itself."""
        return tensor

    def non_slot_devices(self, var_list: Any) -> Any:
        """The devices of what belongs to no variable."""
        return self.parameter_devices

    def update_non_slot(
        self,
        colocate_with: Any,
        fn: Callable[..., Any],
        args: Any = (),
        kwargs: Any = None,
        group: bool = True,
    ) -> Any:
        """`fn(*args, **kwargs)`, for what belongs to no variable. The results are one, or a tuple."""
        found = fn(*args, **(kwargs or {}))
        return found if group else (found,)

    def read_var(self, v: Any) -> Any:
        """The value of a variable for all replicas."""
        return convert.to_tensor(v)

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """The rows of arrays as a dataset."""
        return Dataset.from_tensor_slices(numpy_input)

    def experimental_run_steps_on_iterator(
        self,
        fn: Callable[..., Any],
        iterator: Any,
        iterations: Any = 1,
        initial_loop_values: Any = None,
    ) -> input_iterators.MultiStepContext:
        """Runs `fn(context, element)` for so many elements of an iterator; returns the context.

        In graphs the context's `run_op` runs the steps, and `last_step_outputs` are tensors.
        """
        with self._strategy.scope():
            return input_iterators.run_steps(
                self._strategy, fn, iterator, iterations, initial_loop_values
            )

    def variable_created_in_scope(self, v: Any) -> bool:
        """True if the variable was created under this strategy; under none, for the default one."""
        return getattr(v, "_distribute_strategy", DEFAULT) is self._strategy

    def create(self, next_creator: Any, **kwargs: Any) -> Any:
        """A variable of this strategy, for `tf.variable_creator_scope`."""
        variable = next_creator(**kwargs)
        variable._distribute_strategy = self._strategy
        return variable


class Strategy:
    """How computations are shared among devices. This one has one replica.

    >>> strategy = tf.distribute.get_strategy()
    >>> int(strategy.run(lambda x: x + 1, args=(tf.constant(1),)))
    2
    """

    # Keras 2 asks whether a coordinator sends steps to workers.
    _should_use_with_coordinator = False

    def __init__(self, extended: Any = None) -> None:
        self._extended: Any = StrategyExtended(self) if extended is None else extended

    @property
    def extended(self) -> Any:
        """The part of the strategy for authors of optimizers and layers."""
        return self._extended

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas work on a batch: one."""
        return 1

    @property
    def cluster_resolver(self) -> None:
        """None: there is no cluster."""
        return None

    @contextmanager
    def scope(self) -> Generator[Any]:
        """A context manager: the strategy is active, and variables are created for it."""
        with in_force(self), variable_creator_scope(self._extended.create):
            yield self

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)` in each replica: here in one."""
        with self.scope():
            return self._extended.call_for_each_replica(fn, args, kwargs)

    def reduce(self, reduce_op: Any, value: Any, axis: Any) -> Any:
        """The sum or mean of `value` over replicas, and along `axis` unless it is None.

        With one replica and without an axis that is `value`. Raises ValueError for another
        `reduce_op`.
        """
        along = raw.Sum if ReduceOp.of(reduce_op) is ReduceOp.SUM else raw.Mean
        if axis is None:
            return self._of_replicas(value)
        return along(convert.to_tensor(value), axis)

    def _of_replicas(self, value: Any) -> Any:
        """The value of the only replica as one value: itself, whatever it is."""
        return value

    def gather(self, value: Any, axis: int) -> Any:
        """`value` of all replicas along `axis`: of one, itself."""
        return nest.map_structure(convert.to_tensor, value)

    def experimental_local_results(self, value: Any) -> tuple[Any, ...]:
        """The values of the replicas of this process."""
        return (value,)

    def unwrap(self, value: Any) -> tuple[Any, ...]:
        """The old name of `experimental_local_results`."""
        return self.experimental_local_results(value)

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset as replicas see it: each gets its part of every batch.

        Raises ValueError for elements without a batch dimension.
        """
        return datasets.DistributedDataset(dataset)

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """What `dataset_fn(tf.distribute.InputContext)` makes, as replicas see it."""
        return datasets.DistributedDatasetsFromFunction(dataset_fn(InputContext()))

    def experimental_distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """The old name of `distribute_datasets_from_function`."""
        return self.distribute_datasets_from_function(dataset_fn, options)

    def experimental_distribute_values_from_function(self, value_fn: Callable[[Any], Any]) -> Any:
        """What `value_fn(context)` makes for each replica."""
        return value_fn(ReplicaContext(self))

    # -- as programs of TensorFlow 1 have it -------------------------------------------------------

    def make_dataset_iterator(self, dataset: Any) -> input_iterators.InputIterator:
        """An iterator over the elements of a dataset, each of whose batches the replicas share."""
        found = self.experimental_distribute_dataset(dataset)
        return input_iterators.InputIterator(_distributed(found))

    def make_input_fn_iterator(
        self,
        input_fn: Callable[[InputContext], Any],
        replication_mode: Any = datasets.InputReplicationMode.PER_WORKER,
    ) -> input_iterators.InputIterator:
        """An iterator over what `input_fn(tf.distribute.InputContext)` makes: a batch for each replica.

        Raises ValueError for another replication mode.
        """
        if replication_mode is not datasets.InputReplicationMode.PER_WORKER:
            raise ValueError(
                f"Input replication mode not supported: {replication_mode!r}. Use PER_WORKER."
            )
        found = self.distribute_datasets_from_function(input_fn)
        return input_iterators.InputIterator(_distributed(found))

    def experimental_make_numpy_dataset(self, numpy_input: Any, session: Any = None) -> Any:
        """The rows of arrays as a dataset, for `make_dataset_iterator`."""
        return self._extended.experimental_make_numpy_dataset(numpy_input, session)

    def experimental_run(self, fn: Callable[..., Any], input_iterator: Any = None) -> Any:
        """`fn(element)` in each replica, of the next element; without an iterator `fn()`."""
        with self.scope():
            args = () if input_iterator is None else (input_iterator.get_next(),)
            return self.run(fn, args)

    def group(self, value: Any, name: str | None = None) -> Any:
        """An operation that runs after the values of all replicas; of one without a `name`, itself."""
        values = nest.flatten(self.experimental_local_results(value))
        if len(values) == 1 and name is None:
            return values[0]
        return ordering.group(values, name, {})

    def configure(
        self,
        session_config: Any = None,
        cluster_spec: Any = None,
        task_type: Any = None,
        task_id: Any = None,
    ) -> None:
        """Sets nothing: sessions run in this process."""

    def update_config_proto(self, config_proto: Any) -> Any:
        """The configuration of a session for this strategy: a copy."""
        return copy.deepcopy(config_proto)


def _distributed(dataset: Any) -> datasets.DistributedDataset:
    is_distributed = isinstance(dataset, datasets.DistributedDataset)
    return dataset if is_distributed else datasets.DistributedDataset(dataset)


class DefaultStrategy(Strategy):
    """The strategy where no other is current: everything is as without any."""

    def run(
        self, fn: Callable[..., Any], args: Any = (), kwargs: Any = None, options: Any = None
    ) -> Any:
        """`fn(*args, **kwargs)`."""
        return fn(*args, **(kwargs or {}))

    def experimental_distribute_dataset(self, dataset: Any, options: Any = None) -> Any:
        """The dataset itself."""
        return dataset

    def distribute_datasets_from_function(
        self, dataset_fn: Callable[[InputContext], Any], options: Any = None
    ) -> Any:
        """The dataset that the function makes."""
        return dataset_fn(InputContext())


def maybe_merge_call(fn: Callable[..., Any], strategy: Any, *args: Any, **kwargs: Any) -> Any:
    """`fn(strategy, *args)`: once for all replicas if these wait for each other, else at once."""
    replica = get_replica_context()
    if replica is None or strategy_supports_no_merge_call():
        return fn(strategy, *args, **kwargs)
    return replica.merge_call(fn, args=args, kwargs=kwargs)


def strategy_supports_no_merge_call() -> bool:
    """Whether replicas need not wait for each other in `merge_call`: where there is one."""
    return not (has_strategy() and get_strategy().extended._use_merge_call())


@contextmanager
def variable_sync_on_read_context() -> Generator[None]:
    """Reads of the block give the value of all replicas: that of the one there is."""
    yield


DEFAULT = DefaultStrategy()
