"""Variables with a copy on each replica: mirrored ones, and those that are brought together when read.

Follows https://www.tensorflow.org/api_docs/python/tf/VariableSynchronization and
https://www.tensorflow.org/api_docs/python/tf/VariableAggregation. What a program does with such a
variable, it does with the copy of the replica that runs; where code runs for all replicas, with all
copies.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import nest
from intaglio.distribute.contexts import (
    ReduceOp,
    cross_replica,
    current,
    get_replica_context,
    replica_of,
)
from intaglio.distribute.cross_device_ops import reduced
from intaglio.distribute.values import DistributedValues
from intaglio.opdef import convert, door, raw
from intaglio.opdef.tensor import Tensor
from intaglio.runtime.eager import register_reader
from intaglio.state import deferred, one_device
from intaglio.state.creation import VariableAggregation, VariableSynchronization
from intaglio.state.variable import ResourceVariable, Variable

_SUM, _MEAN = VariableAggregation.SUM, VariableAggregation.MEAN
_FIRST, _NONE = VariableAggregation.ONLY_FIRST_REPLICA, VariableAggregation.NONE


class DistributedVariable(Variable, DistributedValues):
    """A variable with a copy on each replica of this process.

    Raises ValueError for the mean of what is no floating-point number.
    """

    # Whether it may be of any dtype if its aggregation is the mean.
    _has_mean = False

    def __init__(
        self,
        strategy: Any,
        values: Sequence[ResourceVariable],
        synchronization: VariableSynchronization,
        aggregation: VariableAggregation,
    ) -> None:
        if aggregation is _MEAN and not (self._has_mean or values[0].dtype.is_floating):
            raise ValueError(
                "creating distributed tf.Variable with aggregation=MEAN and a non-floating dtype is "
                "not supported, please use a different aggregation or dtype"
            )
        self._values = tuple(values)
        self._distribute_strategy = strategy
        self._synchronization = synchronization
        self._aggregation = aggregation
        first = values[0]
        for name in ("_name", "_dtype", "_dims", "_trainable", "_constraint", "_validate_shape"):
            setattr(self, name, getattr(first, name))
        container = weakref.ref(self)
        for value in values:
            value._distributed_container = container  # type: ignore[attr-defined]  # as TensorFlow's have
            if deferred.RESTORATIONS:
                # The first copy has been read for the others, when nothing led to the variable yet.
                deferred.delay(value)

    @property
    def distribute_strategy(self) -> Any:
        """The strategy that created the variable."""
        return self._distribute_strategy

    @property
    def _copy(self) -> Any:
        """The copy that the running code means: its replica's, or the first."""
        if one_device.is_traced_for():
            return self._values[0]
        return current().replicas.local(self)

    # What a variable is made of is the copy's.
    _handle = property(lambda self: self._copy._handle)  # type: ignore[assignment]  # a field elsewhere
    _resource = property(lambda self: self._copy._resource)  # type: ignore[assignment]  # a field elsewhere
    _device = property(lambda self: self._copy._device)  # type: ignore[assignment]  # a field elsewhere

    def _of(self, index: int) -> Any:
        return self

    @property
    def _unique_id(self) -> str:
        return self._values[0]._unique_id

    def accessed(self) -> None:
        self._copy.accessed()

    @property
    def _is_for_all(self) -> bool:
        return not one_device.is_traced_for() and replica_of(self._distribute_strategy) is None

    def __repr__(self) -> str:
        return self._listed(repr)

    def __str__(self) -> str:
        return self._listed(str)

    def _distributed_container(self) -> Any:
        return self

    def __reduce__(self) -> Any:
        return self._values[0].__reduce__()

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        with self._distribute_strategy.scope():
            copied = Variable(
                initial_value=self._values[0].read_value(),
                trainable=self._trainable,
                name=self._name.removesuffix(":0"),
                dtype=self._dtype,
                constraint=self._constraint,
                synchronization=self._synchronization,
                aggregation=self._aggregation,
            )
        memo[id(self)] = copied
        return copied

    # -- checkpoints -----------------------------------------------------------------------

    @property
    def _copies(self) -> tuple[Any, ...]:
        return self._values

    def _saved_value(self) -> np.ndarray:
        return self._values[0]._saved_value()

    def _restore(self, value: Any) -> None:
        # Of all copies, also where a replica creates the object that has the variable.
        with cross_replica(self._distribute_strategy):
            self.assign(value)

    # -- writing ---------------------------------------------------------------------------

    def _write(self, method: str, *args: Any, **kwargs: Any) -> Any:
        """Calls a method that writes: of the replica's copy, or of all copies."""
        if not self._is_for_all:
            return getattr(self._copy, method)(*args, **kwargs)
        strategy = self._distribute_strategy

        def write(copy: Any, *own: Any, **own_kwargs: Any) -> Any:
            return getattr(copy, method)(*own, **own_kwargs)

        if current().strategy is strategy:
            return strategy.extended.update(self, write, args, kwargs)
        with strategy.scope():
            return strategy.extended.update(self, write, args, kwargs)


def _has_tensors(value: Any) -> bool:
    """True for a list or tuple with tensors in it."""
    is_list = isinstance(value, (list, tuple))
    return is_list and any([isinstance(v, Tensor) for v in nest.flatten(value)])


class MirroredVariable(DistributedVariable):
    """A variable whose copies stay equal.

    A write in a replica is one of all copies with the sum, the mean or the first of what the replicas
    write; without an aggregation it is one of the replica's copy.
    """

    def _write(self, method: str, *args: Any, **kwargs: Any) -> Any:
        replica = get_replica_context()
        is_updating = current().updating is not None
        is_own = is_updating or one_device.is_traced_for() or self._aggregation is _NONE
        if self._is_for_all or replica is None or is_own:
            return super()._write(method, *args, **kwargs)

        def merged(strategy: Any, *values: Any, **options: Any) -> Any:
            value = self._aggregated(values[-1])
            return self._write(method, *values[:-1], value, **options)

        names = [k for k in ("value", "delta", "sparse_delta", "updates") if k in kwargs]
        if names:
            args = (*args, kwargs.pop(names[0]))
        if args and _has_tensors(args[-1]):  # a list, whose tensors differ by replica
            args = (*args[:-1], convert.to_tensor(args[-1], self._dtype))
        return replica.merge_call(merged, args, kwargs)

    def _aggregated(self, value: Any) -> Any:
        """What all copies take of the replicas' values."""
        if not isinstance(value, DistributedValues):
            if self._aggregation is _SUM:
                count = self._distribute_strategy.num_replicas_in_sync
                return reduced(ReduceOp.SUM, [value] * count)
            return value
        if self._aggregation is _FIRST:
            return current().replicas.of_first(value._values)
        op = ReduceOp.SUM if self._aggregation is _SUM else ReduceOp.MEAN
        return self._distribute_strategy.extended.reduce_to(op, value, self)


class CentralVariable(MirroredVariable):
    """A variable with one copy for all replicas, which assign to it with an aggregation only.

    What else they write, such as rows, each writes in its turn.
    """

    _has_mean = True

    @property
    def _copy(self) -> Any:
        return self._values[0]

    def _write(self, method: str, *args: Any, **kwargs: Any) -> Any:
        here = current()
        if method not in _AGGREGATED:
            return getattr(self._values[0], method)(*args, **kwargs)
        if (
            self._aggregation is _NONE
            and here.replica is not None
            and here.strategy is self._distribute_strategy
        ):
            raise ValueError(
                "You must specify an aggregation method to update a variable in replica context: "
                f"tf.Variable(..., aggregation=tf.VariableAggregation.MEAN) for {self._name}."
            )
        return super()._write(method, *args, **kwargs)

    def __repr__(self) -> str:
        return repr(self._values[0])

    def __str__(self) -> str:
        return str(self._values[0])


class SyncOnReadVariable(DistributedVariable):
    """A variable whose copies go their own ways, and are brought together where all are read."""

    @property
    def _is_plain(self) -> bool:
        return not self._is_for_all or self._aggregation is _FIRST

    def value(self) -> Any:
        return self._copy.value() if self._is_plain else self._aggregated()

    def _read(self, name: str | None) -> Any:
        return self._copy._read(name) if self._is_plain else self._aggregated()

    def numpy(self) -> Any:
        return self._copy.numpy() if self._is_plain else self._aggregated().numpy()

    def _saved_value(self) -> np.ndarray:
        if self._aggregation is _FIRST:
            return super()._saved_value()
        with cross_replica(self._distribute_strategy):
            return self._aggregated().numpy()

    def _aggregated(self) -> Any:
        if self._aggregation is _NONE:
            raise ValueError(
                "Could not convert from `tf.VariableAggregation` VariableAggregation.NONE to"
                "`tf.distribute.ReduceOp` type"
            )
        op = ReduceOp.SUM if self._aggregation is _SUM else ReduceOp.MEAN
        values = [copy.value() for copy in current().replicas.copies(self)]
        return self._distribute_strategy.extended._of_all(op, values)

    def _write(self, method: str, *args: Any, **kwargs: Any) -> Any:
        if not self._is_for_all:
            return super()._write(method, *args, **kwargs)
        if self._aggregation is _SUM:
            if method != "assign":
                raise ValueError(
                    f"SyncOnReadVariable does not support `{method}` in cross-replica context "
                    "when aggregation is set to `tf.VariableAggregation.SUM`."
                )
            count = self._distribute_strategy.num_replicas_in_sync
            value = args[0] if args else kwargs.pop("value")
            args = (self._share(value, count), *args[1:])
        super()._write(method, *args, **kwargs)
        return self.value()

    def _share(self, value: Any, count: int) -> Any:
        """What each of `count` copies has of a sum; of integers, rounded towards zero."""
        return raw.Cast(convert.to_tensor(value, self._dtype) / count, DstT=self._dtype)


# What replicas write to one copy as one value of all of them.
_AGGREGATED = ("assign", "assign_add", "assign_sub")
_WRITERS = (
    "assign", "assign_add", "assign_sub", "assign_slice", "batch_scatter_update", "scatter_add",
    "scatter_div", "scatter_max", "scatter_min", "scatter_mul", "scatter_nd_add", "scatter_nd_max",
    "scatter_nd_min", "scatter_nd_sub", "scatter_nd_update", "scatter_sub", "scatter_update",
)  # fmt: skip


def _writer(method: str) -> Any:
    def write(self: DistributedVariable, *args: Any, **kwargs: Any) -> Any:
        return self._write(method, *args, **kwargs)

    write.__name__, write.__doc__ = method, getattr(Variable, method).__doc__
    return write


for _method in _WRITERS:
    setattr(DistributedVariable, _method, _writer(_method))


def _eager_value(variable: DistributedVariable) -> Any:
    """The present value if ops run eagerly; see `runtime.eager.register_reader`."""
    if not door.level().eager or door.INSPECTORS:
        return None
    return variable.value()


register_reader((CentralVariable, MirroredVariable, SyncOnReadVariable), _eager_value)

__all__ = ["CentralVariable", "DistributedVariable", "MirroredVariable", "SyncOnReadVariable"]
