"""Outlining: nodes of a graph as a graph of their own, whose inputs are the values used from outside."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import raw

# Whether the input of a node at this index, a constant, is copied into the graph.
Within = Callable[[Node, int], bool]


def extracted(
    graph: Graph,
    nodes: Sequence[Node],
    results: Sequence[SymbolicTensor],
    name: str,
    within: Within,
) -> tuple[Graph, list[SymbolicTensor]]:
    """The graph that computes `results`, and the outer values that are its inputs.

    Its nodes are copies of `nodes`, in their order; constants may be part of it.
    """
    inner = Rewriter(graph)
    copies: dict[int, Node] = {}
    outer: list[SymbolicTensor] = []
    inputs: list[SymbolicTensor] = []
    substituted: set[int] = set()
    known = {id(v) for n in nodes for v in n.outputs}
    # Constants that are parts of the graph; one may be an input of it for another node.
    constants: dict[int, SymbolicTensor] = {}
    for node in nodes:
        taken: list[SymbolicTensor] = []
        for index, value in enumerate(node.inputs):
            if id(value) not in known and within(node, index):
                if id(value) not in constants:
                    constants[id(value)] = _constant(inner, value)
                taken.append(constants[id(value)])
                continue
            if id(value) not in known and id(value) not in substituted:
                substituted.add(id(value))
                inputs.append(_placeholder(value, f"input_{len(inputs)}"))
                outer.append(value)
                inner.substitute(value, inputs[-1])
            taken.append(inner.value(value))
        waits = tuple([copies[id(c)] for c in node.control if id(c) in copies])
        copy = derived(node, taken, control=waits)
        copies[id(node)] = inner.keep(node, copy)
    outputs = inner.values(results)
    return Graph(name, inputs, [*[v.node for v in inputs], *inner.nodes], outputs), outer


def _constant(inner: Rewriter, value: SymbolicTensor) -> SymbolicTensor:
    """A copy of a constant in the graph, without control inputs."""
    constant = value.node
    return inner.add(derived(constant, ()) if constant.control else constant).outputs[0]


def _placeholder(value: SymbolicTensor, name: str) -> SymbolicTensor:
    """The input of the graph for an outer value."""
    spec = value.spec.like() if value.dtype.is_numpy_compatible else value.spec
    attrs = {"dtype": spec.dtype, "shape": spec.shape}
    return Node(raw.Placeholder, (), attrs, name, [spec], graph=value.node.graph).outputs[0]
