"""The tiers of a traced graph: as traced on the first call, optimised on later ones, machine code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from intaglio import native, xla
from intaglio.base import shapes
from intaglio.base.log import logger
from intaglio.base.options import OPTIONS
from intaglio.base.shapes import Dims
from intaglio.function import whole_graph
from intaglio.function.versions import ProfitableVersions, Versions
from intaglio.ir import resources, walk
from intaglio.ir.graph import Graph, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.ir.passes import is_loop
from intaglio.optimize.inline import inline_for_compilation
from intaglio.optimize.pipeline import changes_results, optimize
from intaglio.optimize.specialize import specialized
from intaglio.optimize.trip_count import is_data
from intaglio.runtime import interpreter

Runnable = Callable[..., tuple[Any, ...]]


def optimizes_first(graph: Graph) -> bool:
    """Whether optimisation changes results, as by the order of sums.

    It comes before the first run then, so that every call of a trace gives the same bits for the same tensors.
    """
    return changes_results(graph) and _optimizes()


def optimized_run(graph: Graph) -> Runnable:
    """The optimised graph, for a trace that turned out to be called again.

    `tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})` keeps it
    as it was traced.
    """
    if not _optimizes():
        return interpreter.compiled(graph)
    optimized = _taken(graph)
    return native.interpreted(optimized, interpreter.compiled(optimized))


def compiles_ahead(graph: Graph) -> bool:
    """Whether machine code may come before the first call of a graph that need not be compiled.

    Then all calls have its bits. It is for graphs of arithmetic whose compilation takes no longer than a
    few interpreted calls; where dimensions are open, that is asked for the shapes of a call.
    """
    if not graph.derived.get(interpreter.MAY_BE_COMPILED) or not _optimizes():
        return False
    return _compiles_ahead(graph)


@memoized
def _compiles_ahead(graph: Graph) -> bool:
    # The cheapest test for small graphs comes first, as most graphs are small.
    if not _is_static(graph) or native.is_profitable(graph):
        return whole_graph.is_arithmetic(graph)
    # Trip counts are known only once the optimizer has made the bounds constants.
    return (
        any([n.op.has_graphs for n in graph.nodes])
        and native.has_unknown_trip_count(graph)
        and not _runs_by_data(graph)
        and whole_graph.is_arithmetic(graph)
        and native.is_profitable(_optimized(graph))
    )


def divides_first(graph: Graph) -> bool:
    """Whether the numeric cores between a graph's host ops may be machine code from its first call on."""
    if not graph.derived.get(interpreter.MAY_BE_COMPILED) or not _optimizes():
        return False
    return _divides_first(graph)


@memoized
def _divides_first(graph: Graph) -> bool:
    # The sizes of what an iterator gives are known at the calls alone: products may be large.
    has_products = any([op.bilinear for op in walk.all_ops(graph)])
    return (has_products or native.is_profitable(graph)) and whole_graph.has_host_ops(graph)


def _runs_by_data(graph: Graph) -> bool:
    """True if all trip counts are inputs of the graph, and no loop is nested in another."""
    nested = {op for g in walk.nested(graph) for op in walk.own_ops(g)}
    loops = [n for n in graph.nodes if is_loop(n.op)]
    return not any(map(is_loop, nested)) and all(map(is_data, loops))


@memoized
def _optimized(graph: Graph) -> Graph:
    """The optimised graph, shared by the callers that need it before the graph's first call."""
    return optimize(graph)


def _taken(graph: Graph) -> Graph:
    """The optimised graph, removed from the memo: the code that is compiled from it replaces it."""
    optimized = _optimized(graph)
    graph.derived.pop(_optimized, None)
    return optimized


def repeated(graph: Graph) -> Runnable:
    """The function of a repeatedly called graph: machine code where profitable, else optimised."""
    return _ahead(graph) if compiles_ahead(graph) else optimized_run(graph)


def compiles_at_once(graph: Graph) -> bool:
    """Whether a graph's first run already uses `repeated`, so that all runs give the same bits."""
    return compiles_ahead(graph) or changes_results(graph)


@memoized
def _ahead(graph: Graph) -> Runnable:
    if _is_static(graph):
        return _checked(_taken(graph))
    return ProfitableVersions(graph, _checked_if_it_pays, optimized_run)


def _checked(optimized: Graph) -> Runnable:
    return native.AheadOfTime(optimized, interpreter.compiled(optimized), _hot)


def _checked_if_it_pays(specialized: Graph) -> Runnable | None:
    """Machine code for a graph of known shapes, checked on its first call; None if not profitable."""
    return _checked(optimize(specialized)) if native.is_profitable(specialized) else None


def _is_static(graph: Graph) -> bool:
    return all([shapes.known(v.spec.shape) for v in graph.inputs])


def _optimizes() -> bool:
    return not OPTIONS.optimizer.get("disable_meta_optimizer")


def tiered(graph: Graph, trains: bool) -> Runnable:
    """The optimised graph, for functions that may be compiled.

    Where last bits might change with that it is before the first call (`compiles_ahead`); or when it
    is hot, for graphs of which every call gives something else anyway, as it `trains`: what is
    called twice with the same tensors gives the same bits. The latter is not after
    `tf.config.experimental.enable_op_determinism`. Of graphs that `jit_compile=True` refuses this holds
    for what is numeric between the ops that only the host executes.
    """
    if not _optimizes():
        return interpreter.compiled(graph)
    if not trains and compiles_ahead(graph):
        return _ahead(graph)
    optimized = _taken(graph)
    if not whole_graph.has_host_ops(optimized):
        return _counted(optimized, trains)
    found = _divided(optimized, trains)
    return found or native.tiered(optimized, interpreter.compiled(optimized), None)


def _counted(optimized: Graph, trains: bool) -> Runnable:
    """An optimised graph of arithmetic, which is interpreted at first."""
    free = trains and not OPTIONS.deterministic
    return native.tiered(optimized, interpreter.compiled(optimized), _hot if free else None)


def _divided(optimized: Graph, trains: bool) -> Runnable | None:
    """An optimised graph whose numeric cores have tiers of their own; None if it has no core."""

    def core(graph: Graph) -> Runnable:
        interpreter.inherit(optimized, graph)
        inlined = inline_for_compilation(graph)
        if inlined is not graph:
            # What the caller knows of shapes is known in the callee.
            graph = specialized(inlined, [None] * len(inlined.inputs))
            interpreter.inherit(optimized, graph)
        if not trains and compiles_ahead(graph):
            return _ahead(graph)
        return _counted(graph, trains)

    try:
        found = native.HostParts(optimized, whole_graph.is_on_host, core)
    except ImportError:  # llvmlite is not installed
        return None
    return found if found.has_cores else None


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

    With `INTAGLIO_BACKEND=xla` it is an XLA program, if it can be one. Without llvmlite it is interpreted, which is logged once. Raises InvalidArgumentError for a
    graph that is not all arithmetic.
    """
    optimized = optimize(graph)
    whole_graph.check_arithmetic(optimized)
    if OPTIONS.backend == "xla":
        xla.check_installed()
        return xla.compiled(optimized, lambda: _by_native(graph, optimized))
    return _by_native(graph, optimized)


def _by_native(graph: Graph, optimized: Graph) -> Runnable:
    """The graph with machine code of our own compiler; `optimized` is what the passes made of it."""
    if not _optimizes():
        return interpreter.compiled(graph)
    try:
        make = native.compiled
    except ImportError as e:
        _say_interpreted(str(e), e.name == "llvmlite")
        return optimized_run(graph)
    if _is_static(optimized):
        return make(optimized)
    return Versions(optimized, make)


def report(graph: Graph, compiled: bool, run: Runnable | None) -> str:
    """The report on which steps of a graph run as machine code, for `compile_report`."""
    if hasattr(run, "report"):
        return run.report()  # type: ignore[union-attr]  # programs of XLA have one
    state = getattr(run, "state", "" if compiled else "interpreted")
    if not compiled and not getattr(run, "native", False):
        return f"{graph.name}: {state}; jit_compile=True compiles it at once"
    try:
        return (state and f"{graph.name}: {state}\n") + native.compile_report(optimize(graph))
    except ImportError as e:
        return f"{graph.name}: interpreted, for there is no compiler ({e})"
