"""Graphs as machine code, through LLVM. Modules that need LLVM are imported on the first compilation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.log import logger

if TYPE_CHECKING:
    from intaglio.native.compilation import compiled as compiled
    from intaglio.native.cost_model import has_unknown_trip_count as has_unknown_trip_count
    from intaglio.native.interpreting import interpreted as interpreted
    from intaglio.native.report import report as report
    from intaglio.native.runtime import native_calls
    from intaglio.native.tiers import Ahead as Ahead
    from intaglio.native.tiers import pays_at_once as pays_at_once
    from intaglio.native.tiers import tiered as tiered

    calls = native_calls

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "native_calls": "intaglio.native.runtime.native_calls",
            "compiled": "intaglio.native.compilation:compiled",
            "interpreted": "intaglio.native.interpreting:interpreted",
            "report": "intaglio.native.report:report",
            "Ahead": "intaglio.native.tiers:Ahead",
            "has_unknown_trip_count": "intaglio.native.cost_model:has_unknown_trip_count",
            "pays_at_once": "intaglio.native.tiers:pays_at_once",
            "tiered": "intaglio.native.tiers:tiered",
        },
    )


def _without_compiler(error: ImportError, instead: str) -> None:
    """Logs the fallback. An error of this package is raised again."""
    if (error.name or "").startswith("intaglio"):
        raise error
    logger().info("%s, for there is no compiler (%s)", instead, error)


@functools.cache
def _kernel_selection() -> Callable[..., Any]:
    """What selects kernels for large arrays; without llvmlite there are none."""
    try:
        later.named("intaglio.native.llvm.jit")
        return later.named("intaglio.native.kernels.kinds:select")
    except ImportError as e:
        _without_compiler(e, "large kernels are NumPy's")
        return lambda kind, *description: None


def select_kernel(kind: str, *description: Any) -> Any:
    """A kernel for large arrays by kind and description, or None."""
    return _kernel_selection()(kind, *description)


def eager_operators(python: dict[str, Any]) -> dict[str, Any]:
    """Methods of eager tensors in machine code for these in Python; none without llvmlite."""
    try:
        make = later.named("intaglio.native.runtime.eager_operators:methods")
    except ImportError as e:
        _without_compiler(e, "operators are Python's")
        return {}
    return make(python)
