"""The native compiler: graphs to machine code, through LLVM, which is imported on the first compilation."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from intaglio.base import later
from intaglio.base.log import logger
from intaglio.native import fallback
from intaglio.native.llvm import background, target

if TYPE_CHECKING:
    from intaglio.native.compilation import compiled as compiled
    from intaglio.native.cost_model import has_unknown_trip_count as has_unknown_trip_count
    from intaglio.native.host_parts import HostParts as HostParts
    from intaglio.native.interpreting import interpreted as interpreted
    from intaglio.native.report import compile_report as compile_report
    from intaglio.native.runtime import native_calls
    from intaglio.native.tiers import AheadOfTime as AheadOfTime
    from intaglio.native.tiers import is_profitable as is_profitable
    from intaglio.native.tiers import tiered as tiered

    calls = native_calls

if not TYPE_CHECKING:
    __getattr__, __dir__ = later.attributes(
        __name__,
        {
            "native_calls": "intaglio.native.runtime.native_calls",
            "compiled": "intaglio.native.compilation:compiled",
            "HostParts": "intaglio.native.host_parts:HostParts",
            "interpreted": "intaglio.native.interpreting:interpreted",
            "compile_report": "intaglio.native.report:compile_report",
            "AheadOfTime": "intaglio.native.tiers:AheadOfTime",
            "has_unknown_trip_count": "intaglio.native.cost_model:has_unknown_trip_count",
            "is_profitable": "intaglio.native.tiers:is_profitable",
            "tiered": "intaglio.native.tiers:tiered",
        },
    )


def _without_compiler(error: ImportError, instead: str) -> None:
    """Logs the fallback to the interpreter where llvmlite is missing. Other import errors are raised again."""
    if (error.name or "").startswith("intaglio"):
        raise error
    logger().info("%s, for there is no compiler (%s)", instead, error)


@functools.cache
def _kernel_selection() -> Callable[..., Any]:
    """The function that selects kernels for large arrays; without llvmlite it selects none."""
    if target.FREESTANDING:  # code is written for another process
        return lambda kind, *description: None
    try:
        later.named("intaglio.native.llvm.jit")
        return later.named("intaglio.native.kernels.kinds:select")
    except ImportError as e:
        _without_compiler(e, "large kernels are NumPy's")
        return lambda kind, *description: None


def select_kernel(kind: str, *description: Any) -> Any:
    """A kernel for large arrays by kind and description, or None."""
    return _kernel_selection()(kind, *description)


# Kinds of kernels of which one was compiled: further ones may need no more code.
_known_kinds: set[str] = set()


def kernel_when_ready(kind: str, *description: Any) -> Any:
    """As `select_kernel`, but None while the kernel is being compiled in the background."""
    if target.FREESTANDING:
        return None
    if kind in _known_kinds:
        try:
            return background.if_compiled(select_kernel, kind, *description)
        except background.NotCompiled:
            pass
    background.later((kind, *description), functools.partial(_compile, kind, *description))
    return None


def _compile(kind: str, *description: Any) -> None:
    select_kernel(kind, *description)
    _known_kinds.add(kind)


def eager_operators(python: dict[str, Any]) -> dict[str, Any]:
    """Machine-code replacements of these Python methods of eager tensors; none without llvmlite."""
    if target.FREESTANDING:
        return {}
    try:
        make = later.named("intaglio.native.runtime.eager_operators:methods")
    except ImportError as e:
        _without_compiler(e, "operators are Python's")
        return {}
    try:
        return make(python)
    except Exception as e:
        fallback.failed("The operators of eager tensors", e, "are Python's")
        return {}
