"""The lowerings of ops: each is registered, with the op itself, where it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from intaglio.opdef.late import OpReference
    from intaglio.opdef.op import Op

# A function of the lowering, a node and the operands of its inputs that returns those of its
# outputs (`function.Rule`), by the name of the op.
LOWERINGS: dict[str, Callable[..., list[Any]]] = {}
F = TypeVar("F", bound=Callable[..., list[Any]])


def lowering(*ops: Op | OpReference) -> Callable[[F], F]:
    """Registers a function as the lowering of ops.

    Raises ValueError for an op that has a lowering already.
    """

    def register(rule: F) -> F:
        for op in ops:
            if op.name in LOWERINGS:
                raise ValueError(f"there are two lowerings of {op.name}")
            LOWERINGS[op.name] = rule
        return rule

    return register
