"""Upward calls from the door: see `intaglio.base.hooks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

from intaglio.base.hooks import Hooks

if TYPE_CHECKING:
    from intaglio.opdef.indexed_slices import IndexedSlices
    from intaglio.opdef.levels import Level
    from intaglio.opdef.op import Op
    from intaglio.opdef.tensor import Tensor


class WatchedCall(Protocol):
    """Executes an eager call of a graph that tapes watch, and keeps the values that gradients need.

    Returns the outputs, flat, or None if no tape depends on the inputs.
    """

    def __call__(
        self,
        level: Level,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        name: str | None,
        /,
    ) -> Sequence[Tensor] | None: ...


class OpdefHooks(Hooks):
    """The door's upward calls."""

    eager_level: type[Level]
    # Creates the level that a thread starts on: the host's, or that of the default device.
    first_level: Callable[[], Level]
    watched_call: WatchedCall
    # An op's function of `(watchers, *inputs, *attributes)` for direct eager calls.
    direct_call: Callable[[Op], Callable[..., Any]]
    indexed_slices_spec: Callable[[IndexedSlices], Any]
    # The module that public functions are attributes of: "math.abs".
    public_face: ModuleType


HOOKS = OpdefHooks()
