"""Inlining: calls are replaced by the nodes of the called function."""

from __future__ import annotations

from intaglio.base.origins import Origin
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.runtime import interpreter

# Maximum number of nodes, callees included, of an inlined function with several calls; larger ones
# share their code.
MAX_SHARED_NODES = 64
# Maximum number of nodes of an inlined function with one call. Without a limit, functions that call
# each other in pairs would double the graph at each level.
MAX_INLINED_NODES = 512
# The same for a graph that is to be one function of machine code, which has the callees' code anyway.
MAX_COMPILED_NODES = 1 << 14


@looks_for(lambda op: op.control_flow == "call")
def inline_calls(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with calls replaced by the called graphs' nodes, to any depth."""
    return _with_inlined(graph, fuel or Fuel(), MAX_INLINED_NODES)


def inline_for_compilation(graph: Graph) -> Graph:
    """The same for a graph that is to be one function of machine code: functions with one call may be large."""
    if not any([op.control_flow == "call" for op in walk.own_ops(graph)]):
        return graph
    return _with_inlined(graph, Fuel(), MAX_COMPILED_NODES)


def _with_inlined(graph: Graph, fuel: Fuel, max_nodes: int) -> Graph:
    counts: dict[int, int] = {}
    for node in graph.nodes:
        if node.op.control_flow == "call":
            counts[id(node.attrs["f"])] = counts.get(id(node.attrs["f"]), 0) + 1
    new, compiler = Rewriter(graph), interpreter.compiler_of(graph)
    for node in graph.nodes:
        current = new.copy(node)
        if node.op.control_flow != "call" or not _may_be_inlined(node.attrs["f"], compiler):
            new.keep(node, current)
            continue
        callee = _flat(node.attrs["f"], max_nodes)
        most = max_nodes if counts[id(node.attrs["f"])] == 1 else MAX_SHARED_NODES
        if len(callee.nodes) <= most and fuel.burn():
            new.replace(node, _inlined(current, callee, new))
        else:
            new.keep(node, current)
    return new.result()


def _may_be_inlined(callee: Graph, compiler: object) -> bool:
    """False for a graph that must be compiled in another manner than its caller."""
    return not callee.opaque and interpreter.compiler_of(callee) in (None, compiler)


@memoized
def _flat(graph: Graph, max_nodes: int) -> Graph:
    """The called graph with its own calls inlined."""
    return _with_inlined(graph, Fuel(), max_nodes)


def _through(origin: Origin, callers: Origin) -> Origin:
    """The frames of a node followed by those of its call, without frames that both have.

    They are cut, from the outermost, to the maximum length of an origin.
    """
    for count in range(min(len(origin), len(callers)), 0, -1):
        if origin[-count:] == callers[:count]:
            return origin
    return origin + callers


def _inlined(call: Node, callee: Graph, new: Rewriter) -> list[SymbolicTensor]:
    def copy(node: Node, inputs: list[SymbolicTensor], control: tuple[Node, ...]) -> Node:
        copied = Node(
            node.op,
            inputs,
            node.attrs,
            new.unique_name(f"{call.name}/{node.name}"),
            [v.spec for v in node.outputs],
            control=control or call.control,
            origin=_through(node.origin, call.origin),
            graph=call.graph,
            device=node.device,
            source=node.source or node,
        )
        return new.add(copied)

    return new.splice(callee, call.inputs, copy)
