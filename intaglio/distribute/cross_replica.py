"""What code that runs for all replicas does with their values: `CrossReplica`, which `current().replicas` is.

Replicas are separate, each with values of its own, or one program, whose values are those of whichever
replica runs (`spmd.py`). Strategies, variables and cross-device ops ask and need not know which.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from intaglio.distribute.contexts import Context, ReduceOp, current, pushed, replica_of
from intaglio.distribute.cross_device_ops import gathered, placed, reduced
from intaglio.distribute.values import (
    DistributedValues,
    Mirrored,
    PerReplica,
    of_replica,
    regrouped,
)
from intaglio.distribute.variables import DistributedVariable
from intaglio.opdef import door
from intaglio.state.variable import UnreadVariable
from intaglio.trace.scopes import device


class Update(NamedTuple):
    """A call of `StrategyExtended.update`: `fn(copy, *args, **kwargs)` for each copy of a variable of a strategy.

    With `group` the results are one value.
    """

    strategy: Any
    variable: Any
    fn: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    group: bool

    def of(self, copy: Any, own: Callable[[Any], Any]) -> Any:
        """What `fn` gives for a copy; `own` finds its replica's part of the arguments."""
        found = self.fn(copy, *own(self.args), **own(self.kwargs))
        return found.value() if self.group and isinstance(found, UnreadVariable) else found


class CrossReplica:
    """The values of all replicas of a process. A base class: the subclasses say how they are had.

    What a program of all replicas does not have raises NotOneProgram there.
    """

    are_one_program = False

    def own(self, values: DistributedValues) -> Any:
        """The value of the replica that runs, or whose copies are updated; else of the first one."""
        raise NotImplementedError

    def local(self, variable: DistributedVariable) -> Any:
        """The copy of a variable of the replica that runs, or is updated; else the first one."""
        raise NotImplementedError

    def copies(self, variable: DistributedVariable) -> Sequence[Any]:
        """The copies of a variable, to be brought together."""
        raise NotImplementedError

    def single(self, why: str) -> None:
        """Called before values of single replicas are used, which is `why` the replicas are no one program."""

    def reduced(self, op: ReduceOp, values: Sequence[Any]) -> Any:
        """The sum or mean of tensors, or of IndexedSlices."""
        raise NotImplementedError

    def gathered(self, values: Sequence[Any], axis: int) -> Any:
        """Tensors along an axis."""
        raise NotImplementedError

    def of_first(self, values: Sequence[Any]) -> Any:
        """What the first replica has."""
        raise NotImplementedError

    def of_each(self, values: Sequence[Any]) -> DistributedValues:
        """Values as one of all replicas."""
        raise NotImplementedError

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        """A tensor for each replica of `destinations`; for a device, itself."""
        raise NotImplementedError

    def updated(self, update: Update) -> Any:
        """`fn(copy, *args, **kwargs)` for each copy of a variable: see `StrategyExtended.update`."""
        raise NotImplementedError


class SeparateReplicas(CrossReplica):
    """Replicas with values of their own, one beside the other."""

    def own(self, values: DistributedValues) -> Any:
        here = current()
        index = here.updating if here.replica is None else here.replica.index
        return values._values[index or 0]

    def local(self, variable: DistributedVariable) -> Any:
        return variable._values[replica_of(variable._distribute_strategy) or 0]

    def copies(self, variable: DistributedVariable) -> Sequence[Any]:
        return variable._values

    def reduced(self, op: ReduceOp, values: Sequence[Any]) -> Any:
        return reduced(op, values)

    def gathered(self, values: Sequence[Any], axis: int) -> Any:
        return gathered(values, axis)

    def of_first(self, values: Sequence[Any]) -> Any:
        return values[0]

    def of_each(self, values: Sequence[Any]) -> DistributedValues:
        return PerReplica(values)

    def broadcast(self, tensor: Any, destinations: Any) -> Any:
        values = getattr(destinations, "values", None)
        if not isinstance(values, tuple):
            return tensor
        return Mirrored([placed(tensor, getattr(v, "device", None)) for v in values])

    def updated(self, update: Update) -> Any:
        variable = update.variable
        copies = variable.values if isinstance(variable, DistributedVariable) else [variable]
        results: list[Any] = []
        for index, copy in enumerate(copies):
            with (
                pushed(Context(update.strategy, None, index)),
                device(copy.device if door.level().eager else None),
            ):
                results.append(update.of(copy, lambda arguments, i=index: of_replica(i, arguments)))
        if not update.group:
            return tuple(results)
        return results[0] if len(results) == 1 else regrouped(results, Mirrored)


SEPARATE = SeparateReplicas()

__all__ = ["SEPARATE", "CrossReplica", "SeparateReplicas", "Update"]
