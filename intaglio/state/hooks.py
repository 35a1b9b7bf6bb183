"""Functions of variable classes and of strategies that modules below them call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.base.dtypes import DType
    from intaglio.base.shapes import Dims
    from intaglio.state.variable import Variable


class StateHooks(Hooks):
    """Calls from specs to the classes of variables, and from replicas to strategies."""

    variable: type[Variable]
    # Creates a variable from a handle: `(handle, dims, dtype, trainable)`.
    variable_of_handle: Callable[[Any, Dims, DType, bool], Any]
    # The class of variables on accelerators.
    variable_on: type[Variable]
    # A variable of a graph as a VariableDef message without the name of a scope.
    variable_def: Callable[[Any, str | None], Any]
    # The variable that a message names in the current graph, where its scope was imported.
    variable_of_def: Callable[[Any, str | None], Any]
    # The distribution strategy of the block, or None.
    strategy_in_force: Callable[[], Any]
    # The index of the running replica of a strategy, an int32 tensor, or None.
    replica_id_in: Callable[[Any], Any]
    # `(strategy, variable, function)`: applies the function to the replica's copy, or to every copy.
    update_in: Callable[[Any, Any, Callable[..., Any]], Any]
    # Sums tensors over all replicas.
    sum_of_replicas: Callable[[list[Any]], list[Any]]
    # False in replicas other than the first.
    is_first_replica: Callable[[], bool]


HOOKS = StateHooks()
