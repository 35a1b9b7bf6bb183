"""Graphs as machine code, through LLVM. What needs LLVM is imported when something is to be compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.log import logger
from intaglio.ops.compiled import install
from intaglio.runtime.eager import install_better_operators

if TYPE_CHECKING:
    from intaglio.native.compilation import compiled as compiled
    from intaglio.native.interpreting import interpreted as interpreted
    from intaglio.native.report import report as report
    from intaglio.native.runtime import native_calls as native_calls
    from intaglio.native.tiers import tiered as tiered

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "calls": "intaglio.native.runtime.native_calls",
            "compiled": "intaglio.native.compilation:compiled",
            "interpreted": "intaglio.native.interpreting:interpreted",
            "report": "intaglio.native.report:report",
            "tiered": "intaglio.native.tiers:tiered",
        },
    )


def _offer(kind: str, *description: Any) -> Any:
    """Large kernels, from the first time that one is asked for; none without llvmlite."""
    try:
        found = later.named("intaglio.native.kernels.selection:offer")
    except ImportError as e:
        logger().info("large kernels are NumPy's, for there is no compiler (%s)", e)
        found = _nothing
    install(found)
    return found(kind, *description)


def _nothing(kind: str, *description: Any) -> None:
    return None


def _methods(python: dict[str, Any]) -> dict[str, Any]:
    """Operators of eager tensors in machine code; none without llvmlite."""
    try:
        make = later.named("intaglio.native.runtime.eager_operators:methods")
    except ImportError as e:
        logger().info("operators are Python's, for there is no compiler (%s)", e)
        return {}
    return make(python)


install(_offer)
install_better_operators(_methods)
