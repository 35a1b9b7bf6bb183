"""Functions of upper layers that kernels call: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.opdef.tensor import Tensor
    from intaglio.ops.control_flow.python_call import Token


class OpsHooks(Hooks):
    """The catalogue's upward calls."""

    # Calls a Python function under a tape: `(token, inputs, types)` to the outputs.
    record_python_call: Callable[[Token, Sequence[Tensor], Sequence[Any]], list[Any]]
    # A StableHLO module as a function of arrays that are like these: `(module, version, platforms, arrays,
    # shapes, types)`.
    module_program: Callable[..., Callable[..., Sequence[Any]]]
    # The gradients of its inputs: `(token, inputs, types, output gradients)`.
    replay_python_call: Callable[[Token, Sequence[Any], Sequence[Any], Sequence[Any]], list[Any]]


HOOKS = OpsHooks()
