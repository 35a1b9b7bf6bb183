"""The creation of variables: `variable_creator_scope`, and checks of the arguments.

Follows https://www.tensorflow.org/api_docs/python/tf/variable_creator_scope.

`tf.Variable(...)` calls the creators of `variable_creator_scope`, innermost first; the last one creates
the variable itself. A function that is being traced is notified by `trace.variable_creation.admit`, and
the initial value is computed outside of its graph.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from intaglio.trace.variable_creation import CREATORS

Creator = Callable[..., Any]


class VariableSynchronization(enum.Enum):
    """When copies of a distributed variable are brought together."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


class VariableAggregation(enum.Enum):
    """How copies of a distributed variable are brought together."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = 3


@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Generator[None]:
    """`variable_creator(next_creator, **kwargs)` creates the variables of the block.

    It may change the arguments of `tf.Variable`, and calls `next_creator(**kwargs)` or
    returns something of its own.

    >>> def doubled(next_creator, **kwargs):
    ...     return next_creator(**{**kwargs, "initial_value": 2 * kwargs["initial_value"]})
    >>> with tf.variable_creator_scope(doubled):
    ...     int(tf.Variable(3))
    6
    """
    CREATORS.stack.append(variable_creator)
    try:
        yield
    finally:
        CREATORS.stack.pop()


def create(make: Creator, kwargs: dict[str, Any]) -> Any:
    """A variable, created by the active creators and finally by `make(**kwargs)`."""

    def bottom(next_creator: Any = None, **arguments: Any) -> Any:
        return make(**arguments)

    following: Creator = bottom
    for creator in list(CREATORS.stack):
        following = _bound(creator, following)
    return following(**kwargs)


def _bound(creator: Creator, following: Creator) -> Creator:
    def call(**kwargs: Any) -> Any:
        return creator(following, **kwargs)

    return call


def checked_modes(
    synchronization: Any, aggregation: Any, trainable: Any, name: str | None
) -> tuple[VariableSynchronization, VariableAggregation, bool]:
    """The synchronization and aggregation modes, and whether the variable is trainable.

    Raises ValueError for what is no mode.
    """
    if aggregation is None:
        aggregation = VariableAggregation.NONE
    elif not isinstance(aggregation, VariableAggregation):
        try:
            aggregation = VariableAggregation(aggregation)
        except ValueError:
            raise ValueError(
                f"Invalid variable aggregation mode: {aggregation} for variable: {name}"
            ) from None
    if synchronization is None:
        synchronization = VariableSynchronization.AUTO
    else:
        try:
            synchronization = VariableSynchronization(synchronization)
        except ValueError:
            raise ValueError(
                f"Invalid variable synchronization mode: {synchronization} for variable: {name}"
            ) from None
    if trainable is None:
        trainable = synchronization is not VariableSynchronization.ON_READ
    return synchronization, aggregation, bool(trainable)
