"""From an optimised graph to an executable: native functions for nodes with lowerings, NumPy for others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intaglio.base import progress
from intaglio.base.errors import OpError
from intaglio.ir.graph import Graph, Node
from intaglio.native import fallback, outer_control_flow, pipeline
from intaglio.native.analysis.constants import constants_agree
from intaglio.native.kernels.elementwise import FusedKernel
from intaglio.native.kernels.node_selection import called_kernel_of
from intaglio.native.pipeline import Graphs
from intaglio.native.regions import Regions
from intaglio.native.runtime import entry
from intaglio.opdef import raw
from intaglio.runtime import interpreter


def whole(graph: Graph) -> interpreter.Compiled | None:
    """The graph as one native function, or None if it needs the interpreter for some nodes."""
    able = entry.AVAILABLE and constants_agree(graph)
    program = Regions(graph).whole if able else None
    return None if program is None else program.forget()


def looped(graph: Graph) -> interpreter.Compiled:
    """The interpreted graph with its elementwise ops fused into native loops, bit for bit equal to the kernels."""
    if not constants_agree(graph):
        return interpreter.compiled(graph)
    fused = pipeline.run(graph, Graphs.EXACT)
    loops = _loops_of(fused)

    def kernel(node: Node) -> Callable[..., Any] | None:
        return loops.get(id(node)) or outer_control_flow.kernel(node, _nested(looped))

    return interpreter.compiled_with(fused, kernel)


def _loops_of(graph: Graph) -> dict[int, FusedKernel]:
    """The loops of a graph, compiled, by the ids of their nodes."""
    loops: dict[int, FusedKernel] = {}
    for node in graph.nodes:
        if node.op is raw._FusedElementwise:
            loop = loops[id(node)] = FusedKernel(node.attrs["body"])
            loop.prepare([v.dims for v in node.inputs])
    return loops


def exact(graph: Graph) -> interpreter.Compiled:
    """The interpreted graph with native functions for the regions whose code gives the bits of the kernels."""
    if not entry.AVAILABLE or not constants_agree(graph):
        return looped(graph)
    regions = Regions(graph, exact=True)
    if regions.whole is not None:
        return regions.whole.forget()
    loops = _loops_of(regions.mixed)

    def kernel(node: Node) -> Callable[..., Any] | None:
        program = regions.programs.get(id(node.attrs.get("body")))
        if program is not None:
            return program.forget()
        return loops.get(id(node)) or outer_control_flow.kernel(node, _nested(exact))

    return interpreter.compiled_with(regions.mixed, kernel)


def _nested(
    compile_graph: Callable[[Graph], interpreter.Compiled],
) -> Callable[[Graph], interpreter.Compiled]:
    """`compile_graph` for graphs that an interpreted graph calls, except those with their own compiler."""

    def compile_nested(graph: Graph) -> interpreter.Compiled:
        compiler = interpreter.compiler_of(graph)
        return compile_graph(graph) if compiler is None else interpreter.repeated(graph)

    return compile_nested


def compiled(graph: Graph) -> interpreter.Compiled:
    """The compiled graph as a function of arrays; interpreted if the compiler fails or may not be used."""
    if not constants_agree(graph):
        return interpreter.compiled(graph)
    try:
        with progress.shown(f"compiling {graph.name}"):
            return _compiled(graph)
    except OpError:  # the interpreter raises the same error when it runs
        return interpreter.compiled(graph)
    except Exception as e:
        fallback.failed(graph.name, e)
        return interpreter.compiled(graph)


def _compiled(graph: Graph) -> interpreter.Compiled:
    if not entry.AVAILABLE:
        return interpreter.compiled_with(pipeline.run(graph, Graphs.INTERPRETED), called_kernel_of)
    regions = Regions(pipeline.run(graph, Graphs.CALLED))
    if regions.whole is not None:  # the call itself may be machine code, too
        return regions.whole.forget()

    def kernel(node: Node) -> Callable[..., Any] | None:
        program = regions.programs.get(id(node.attrs.get("body")))
        if program is not None:
            return program.forget()
        return called_kernel_of(node) or outer_control_flow.kernel(node, compiled)

    return interpreter.compiled_with(regions.mixed, kernel)
