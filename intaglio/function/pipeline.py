"""The tiers of a traced graph: as traced on the first call, optimised on later ones, machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio import native
from intaglio.base import shapes
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS
from intaglio.base.shapes import Dims
from intaglio.function import whole_graph
from intaglio.function.versions import Versions
from intaglio.ir import resources
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.optimize.pipeline import optimize, reassociates
from intaglio.optimize.specialize import specialized
from intaglio.runtime import interpreter

Runnable = Callable[..., tuple[Any, ...]]


def quick(graph: Graph) -> Runnable:
    """The graph as it was traced, for its first runs: nothing is spent on it.

    Where optimisation changes the order of sums it comes before the first run, so that every
    call of a trace gives the same bits for the same tensors.
    """
    if reassociates(graph) and not OPTIONS.optimizer.get("disable_meta_optimizer"):
        return optimized_run(graph)
    return interpreter.compiled(graph)


def optimized_run(graph: Graph) -> Runnable:
    """The optimised graph, for a trace that turned out to be called again.

    `tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})` keeps it
    as it was traced.
    """
    if OPTIONS.optimizer.get("disable_meta_optimizer"):
        return interpreter.compiled(graph)
    optimized = optimize(graph)
    return native.interpreted(optimized, interpreter.compiled(optimized))


def tiered(graph: Graph, trains: bool) -> Runnable:
    """The optimised graph, for functions that may be compiled once they are hot.

    Where last bits might change with that it is only for graphs of which every call gives
    something else anyway, as it `trains`: what is called twice with the same tensors gives the
    same bits. Nor is it for those that `jit_compile=True` refuses, nor after
    `tf.config.experimental.enable_op_determinism`.
    """
    if OPTIONS.optimizer.get("disable_meta_optimizer"):
        return interpreter.compiled(graph)
    optimized = optimize(graph)
    run = native.interpreted(optimized, interpreter.compiled(optimized))
    free = trains and not OPTIONS.deterministic and whole_graph.is_arithmetic(optimized)
    return native.tiered(optimized, run, _hot if free else None)


def writes_to(graph: Graph, variables: Sequence[SymbolicTensor]) -> bool:
    """Whether a graph writes to any of these inputs, or may do so in a branch or body."""
    ids = {id(v) for v in variables}
    return any(id(graph.inputs[i]) in ids for i in resources.written(graph))


def _hot(graph: Graph, dims: Sequence[Dims] | None = None) -> Runnable:
    """Machine code for an optimised graph, for inputs of these shapes if any are given."""
    return native.compiled(optimize(specialized(graph, dims)) if dims else graph)


@functools.cache
def _say_interpreted(reason: str, install: bool) -> None:
    """Logs once why graphs with `jit_compile=True` are interpreted."""
    logger().warning(
        "jit_compile: graphs are interpreted, for there is no compiler (%s)%s",
        reason,
        ". Install it with: pip install 'intaglio[jit]'" * install,
    )


def compiled(graph: Graph) -> Runnable:
    """The optimised graph with machine code for what the native compiler has code for.

    Without llvmlite it is interpreted, which is logged once. Raises InvalidArgumentError for a
    graph that is not all arithmetic.
    """
    optimized = optimize(graph)
    whole_graph.check_arithmetic(optimized)
    if OPTIONS.optimizer.get("disable_meta_optimizer"):
        return interpreter.compiled(graph)
    try:
        make = native.compiled
    except ImportError as e:
        _say_interpreted(str(e), e.name == "llvmlite")
        return optimized_run(graph)
    if all(shapes.known(v.dims) for v in optimized.inputs):
        return make(optimized)
    return Versions(optimized, make)


def report(graph: Graph, compiled: bool, run: Runnable | None) -> str:
    """What of a graph runs as machine code, for `compile_report`."""
    state = getattr(run, "state", "" if compiled else "interpreted")
    if not compiled and not getattr(run, "native", False):
        return f"{graph.name}: {state}; jit_compile=True compiles it at once"
    try:
        return (state and f"{graph.name}: {state}\n") + native.report(optimize(graph))
    except ImportError as e:
        return f"{graph.name}: interpreted, for there is no compiler ({e})"
