"""Which strategy is current, and whether code runs for one replica or for all of them.

Follows https://www.tensorflow.org/api_docs/python/tf/distribute/get_replica_context.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from typing import Any, NamedTuple

from intaglio.autodiff.custom import custom_gradient
from intaglio.base import nest
from intaglio.base.composite import CompositeTensor
from intaglio.base.dtypes import int32
from intaglio.base.threads import Inherited
from intaglio.distribute.hooks import HOOKS
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.state import one_device
from intaglio.state.replica import RUNNING


class ReduceOp(enum.Enum):
    """How the values of several replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def of(value: Any) -> ReduceOp:
        """A member or its name, in any case, as a member. Raises ValueError, and TypeError for what is neither."""
        if isinstance(value, ReduceOp):
            return value
        if not isinstance(value, str):
            raise TypeError(f"Expected `reduce_op` to be a `tf.distribute.ReduceOp`, not: {value}")
        return ReduceOp(value.upper())


class ReplicaContext:
    """Where code runs that `Strategy.run` was given: in one replica of a strategy."""

    def __init__(self, strategy: Any, replica_id_in_sync_group: Any = 0) -> None:
        self._strategy = strategy
        self._replica_id = replica_id_in_sync_group
        # The number among the replicas of this process.
        self.index = 0

    @property
    def strategy(self) -> Any:
        """The strategy that this is a replica of."""
        return self._strategy

    @property
    def num_replicas_in_sync(self) -> int:
        """How many replicas there are."""
        return self._strategy.num_replicas_in_sync

    @property
    def replica_id_in_sync_group(self) -> Any:
        """Which of the replicas this is, an int32 tensor."""
        return convert.to_tensor(self._replica_id, int32)

    @property
    def is_first(self) -> bool:
        """Whether this is the first of all replicas."""
        return not self._replica_id

    @property
    def devices(self) -> list[Any]:
        """The devices of this replica."""
        return list(self._strategy.extended.worker_devices)

    def all_reduce(self, reduce_op: Any, value: Any, options: Any = None) -> Any:
        """`value` summed or averaged over the replicas, as tensors; its gradient is that of all of them.

        Raises ValueError for another `reduce_op`.
        """
        op = ReduceOp.of(reduce_op)
        flat = [_as_tensor(part) for part in nest.flatten(value)]
        return nest.pack_sequence_as(value, self._all_reduced(op, flat, options))

    def _all_reduced(self, op: ReduceOp, flat: list[Any], options: Any) -> list[Any]:
        if not self._is_one_of_several():
            return flat

        def merged(strategy: Any, *values: Any) -> Any:
            pairs = [(v, v) for v in values]
            return tuple(strategy.extended.batch_reduce_to(op, pairs, options))

        def reduced(*values: Any) -> Any:
            # Not `values`, which in a graph are copies: one tensor of outside would be several.
            results = self.merge_call(merged, args=tuple(flat))
            return results, lambda *gradients: self._all_reduced(op, [*gradients], options)

        if any(isinstance(part, IndexedSlices) for part in flat):
            return list(self.merge_call(merged, args=tuple(flat)))
        found = custom_gradient(reduced)(*flat)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def all_gather(self, value: Any, axis: Any, options: Any = None) -> Any:
        """`value` of all replicas along `axis`, as tensors.

        Raises NotImplementedError for IndexedSlices, as TensorFlow does.
        """
        flat = nest.flatten(value)
        if any(isinstance(part, IndexedSlices) for part in flat):
            raise NotImplementedError("all_gather does not support IndexedSlices")
        flat = [_as_tensor(part) for part in flat]
        if self._is_one_of_several():
            flat = self._all_gathered(flat, axis, options)
        return nest.pack_sequence_as(value, flat)

    def _all_gathered(self, flat: list[Any], axis: Any, options: Any) -> list[Any]:
        def merged(strategy: Any, *values: Any) -> Any:
            return tuple([strategy.extended._gather_to(v, v, axis, options) for v in values])

        def own_part(total: Any, value: Any) -> Any:
            """The rows of a gathered tensor that are this replica's."""
            # By a slice, whose index may be negative where the rank is unknown.
            size = raw.Reshape(raw.Shape(value)[axis], [1])
            (found,) = self.merge_call(
                lambda strategy, v: (strategy.extended._gather_to(v, v, 0, options),), args=(size,)
            )
            sizes = convert.to_tensor(found)
            replicas = raw.Range(0, raw.Size(sizes), 1)
            is_before = raw.Less(replicas, convert.to_tensor(self._replica_id, int32))
            first = raw.Sum(raw.Cast(is_before, DstT=int32) * sizes, 0)
            own_rows = raw.Range(0, size[0], 1) + first
            return raw.GatherV2(total, own_rows, axis)

        def gathered(*values: Any) -> Any:
            # Not `values`, for the reason in `_all_reduced`.
            results = self.merge_call(merged, args=tuple(flat))

            def gradients(*found: Any) -> list[Any]:
                totals = self._all_reduced(ReduceOp.SUM, [*found], options)
                return [own_part(t, v) for t, v in zip(totals, flat, strict=True)]

            return results, gradients

        found = custom_gradient(gathered)(*flat)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def _is_one_of_several(self) -> bool:
        return self._strategy.extended._num_replicas_in_sync > 1

    def merge_call(self, merge_fn: Callable[..., Any], args: Any = (), kwargs: Any = None) -> Any:
        """`merge_fn(strategy, *args)`, called once for all replicas."""
        with cross_replica(self._strategy):
            return merge_fn(self._strategy, *args, **(kwargs or {}))

    def __enter__(self) -> ReplicaContext:
        _push(Context(self._strategy, self))
        return self

    def __exit__(self, *error: object) -> None:
        _pop()


def merge_in_inner_graph() -> RuntimeError:
    """The error of a `merge_call` in a graph that is not the replica's own."""
    return RuntimeError(
        "`merge_call` called while defining a new graph or a tf.function: the function "
        "that strategy.run was given contains a tf.function or control flow in which "
        "replicas wait for each other (optimizer.apply_gradients, all_reduce). Move "
        "strategy.run into the tf.function, or the control flow out of the function."
    )


def _as_tensor(value: Any) -> Any:
    """Tensors and composite values as they are; other values as tensors."""
    # Slices of plain Python indices have no type spec yet.
    if isinstance(value, CompositeTensor) or hasattr(value, "_type_spec"):
        return value
    return convert.to_tensor(value)


class Context(NamedTuple):
    """A current strategy; without a replica, code runs for all of them.

    `updating` is the replica whose copies `StrategyExtended.update` changes. Where code is recorded as one
    program of all replicas, `program` is that of whichever runs.
    """

    strategy: Any
    replica: ReplicaContext | None
    updating: int | None = None
    program: Any = None

    @property
    def replicas(self) -> Any:
        """What has the values of all replicas: the `CrossReplica` of the program, or of separate replicas."""
        return HOOKS.separate if self.program is None else self.program

    @property
    def trace_key(self) -> Hashable:
        """What traces are told apart by: the replica, if there is one."""
        if self.program is not None:
            return (self.program, self.replica is None, self.updating)
        if self.replica is not None:
            return (self.strategy, self.replica.index)
        return None if self.updating is None else (self.strategy, self.updating, "updating")


class _Contexts(Inherited):
    def __init__(self) -> None:
        self.stack: list[Context] = []


_contexts = _Contexts()


@functools.cache
def _default() -> Context:
    """The context where no other is current."""
    strategy = HOOKS.default_strategy
    return Context(strategy, ReplicaContext(strategy))


class _Chosen:
    """The context of threads that open no scope, if a program has set one."""

    context: Context | None = None


_chosen = _Chosen()


def current() -> Context:
    """The context of this thread."""
    if _contexts.stack:
        return _contexts.stack[-1]
    return _chosen.context or _default()


def _push(context: Context) -> None:
    _contexts.stack.append(context)
    RUNNING.replica = context.trace_key


def _pop() -> None:
    _contexts.stack.pop()
    RUNNING.replica = _contexts.stack[-1].trace_key if _contexts.stack else None


@contextmanager
def pushed(context: Context) -> Generator[None]:
    """The context is current in the block."""
    _push(context)
    try:
        yield
    finally:
        _pop()


def cross_replica(strategy: Any) -> Any:
    """The block runs for all replicas of a strategy."""
    here = current()
    return pushed(
        Context(strategy, None, None, here.program if here.strategy is strategy else None)
    )


def replica_of(strategy: Any) -> int | None:
    """The number, in this process, of the replica that runs this code or whose copies it updates.

    None where code runs for all replicas, or under another strategy.
    """
    here = current()
    if here.strategy is not strategy:
        return None
    return here.updating if here.replica is None else here.replica.index


@contextmanager
def in_force(strategy: Any) -> Generator[Any]:
    """The strategy is current in the block. The default one changes nothing.

    Raises RuntimeError inside the scope of another strategy, or in a replica.
    """
    if strategy is _default().strategy:
        if has_strategy():
            raise RuntimeError("Must not nest tf.distribute.Strategy scopes.")
        yield strategy
        return
    _check_in_force(strategy)
    require_cross_replica()
    with cross_replica(strategy):
        yield strategy


def require_cross_replica(
    message: str = "Method requires being in cross-replica context, use "
    "get_replica_context().merge_call()",
) -> None:
    """Raises RuntimeError in a replica, a function that `Strategy.run` calls."""
    if has_strategy() and current().replica is not None:
        raise RuntimeError(message)


def _check_in_force(strategy: Any) -> None:
    """Raises RuntimeError under another strategy than this, or the default one."""
    here = strategy_in_force()
    if here is not None and here is not strategy:
        raise RuntimeError(
            f"Mixing different tf.distribute.Strategy objects: {here!r} is not {strategy!r}"
        )


def strategy_in_force() -> Any:
    """The current strategy; None where it is the default one."""
    if not _contexts.stack and _chosen.context is None:
        return None
    return get_strategy() if has_strategy() else None


def replica_id_in(strategy: Any) -> Any:
    """The number, among all replicas, of the one that runs this code; None where code runs for all.

    Raises RuntimeError under another strategy.
    """
    _check_in_force(strategy)
    replica = current().replica
    if strategy_in_force() is None or replica is None:
        return None
    return replica.replica_id_in_sync_group


def replicas_with(caller: str) -> int:
    """How many replicas call the function of this name together.

    Raises RuntimeError in a strategy's scope outside of its replicas.
    """
    strategy = strategy_in_force()
    if strategy is None:
        return 1
    if in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{caller}` in cross replica context, while it was expected to be called "
            "in replica context."
        )
    return strategy.num_replicas_in_sync


def sum_of_replicas(values: list[Any]) -> list[Any]:
    """The values summed over the replicas that run together; as they are outside of replicas."""
    replica = None if strategy_in_force() is None else current().replica
    return values if replica is None else replica.all_reduce(ReduceOp.SUM, values)


def is_first_replica() -> bool:
    """False in replicas other than the first."""
    replica = None if strategy_in_force() is None else current().replica
    return replica is None or replica.is_first


def update_in(strategy: Any, variable: Any, fn: Callable[..., Any]) -> Any:
    """`fn(copy)` for the copy of the replica that runs this code, or else for every copy of a variable.

    Raises RuntimeError under another strategy.
    """
    if one_device.is_traced_for() or replica_of(strategy) is not None:
        return fn(variable)
    _check_in_force(strategy)
    if current().strategy is strategy:
        return strategy.extended.update(variable, fn)
    with strategy.scope():
        return strategy.extended.update(variable, fn)


def get_strategy() -> Any:
    """The current strategy: the default one where no scope is open.

    >>> tf.distribute.get_strategy().num_replicas_in_sync
    1
    """
    return current().strategy


def has_strategy() -> bool:
    """True where a strategy other than the default one is current.

    >>> tf.distribute.has_strategy()
    False
    """
    return get_strategy() is not _default().strategy


def get_replica_context() -> ReplicaContext | None:
    """The replica that runs this code; None where code runs for all replicas.

    Without a strategy there is one replica, which runs everything.

    >>> tf.distribute.get_replica_context().num_replicas_in_sync
    1
    """
    return current().replica


def in_cross_replica_context() -> bool:
    """True where code runs for all replicas: in the scope of a strategy.

    >>> tf.distribute.in_cross_replica_context()
    False
    """
    return current().replica is None


def experimental_set_strategy(strategy: Any) -> None:
    """Makes a strategy current without a scope; None takes it back.

    Raises RuntimeError inside a scope.

    >>> tf.distribute.experimental_set_strategy(tf.distribute.OneDeviceStrategy("/cpu:0"))
    >>> tf.distribute.has_strategy()
    True
    >>> tf.distribute.experimental_set_strategy(None)
    """
    if _contexts.stack:
        raise RuntimeError("Must not be called inside a `tf.distribute.Strategy` scope.")
    if strategy is None:
        _chosen.context = None
        return
    with strategy.scope():
        _chosen.context = Context(strategy, None)
