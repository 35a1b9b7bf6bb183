"""Functions of the variable classes that their specs call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.base.dtypes import DType
    from intaglio.base.shapes import Dims
    from intaglio.state.variable import Variable


class StateHooks(Hooks):
    """The references of specs to the classes of variables."""

    variable: type[Variable]
    # A variable of a handle: `(handle, dims, dtype, trainable)`.
    variable_of_handle: Callable[[Any, Dims, DType, bool], Any]


HOOKS = StateHooks()
