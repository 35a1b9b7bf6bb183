"""Walks over graphs: reachability, uses, nested graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.opdef.op import Op


def live_nodes(nodes: Sequence[Node], outputs: Iterable[SymbolicTensor]) -> list[Node]:
    """The nodes that these outputs and the effects depend on, in order.

    This is the non-strict execution that TensorFlow documents: pure work without
    users is left out, so that its errors are not raised either.
    """
    needed = {v.node for v in outputs}
    kept: list[Node] = []
    for node in reversed(nodes):
        if node in needed or node.op.must_run:
            kept.append(node)
            for v in node.inputs:
                needed.add(v.node)
            if node.control:
                needed.update(node.control)
    kept.reverse()
    return kept


def uses(graph: Graph) -> dict[int, list[Node]]:
    """The users of each value, by the value's id."""
    found: dict[int, list[Node]] = {}
    for node in graph.nodes:
        for value in node.inputs:
            found.setdefault(id(value), []).append(node)
    return found


def attached(node: Node) -> list[Graph]:
    """The graphs among a node's attributes: branches, bodies, called functions."""
    found: list[Graph] = []
    if node.op.has_graphs:
        for value in node.attrs.values():
            if isinstance(value, Graph):
                found.append(value)
            elif isinstance(value, tuple):
                found += [g for g in value if isinstance(g, Graph)]
    return found


def nested(graph: Graph) -> list[Graph]:
    """All graphs below this one, each once, innermost first."""
    found: dict[int, Graph] = {}

    def visit(parent: Graph) -> None:
        for node in parent.nodes:
            if not node.op.has_graphs:
                continue
            for child in attached(node):
                if id(child) not in found:
                    visit(child)
                    found[id(child)] = child

    visit(graph)
    return list(found.values())


@memoized
def own_ops(graph: Graph) -> frozenset[Op]:
    """The ops of a graph's nodes."""
    return frozenset([node.op for node in graph.nodes])


@memoized
def all_ops(graph: Graph) -> frozenset[Op]:
    """The ops of a graph and of all graphs below it."""
    ops = own_ops(graph)
    if not any([op.has_graphs for op in ops]):
        return ops
    return ops.union(*[all_ops(child) for node in graph.nodes for child in attached(node)])


def scheduled(
    nodes: Iterable[Node], before: Callable[[Node], Iterable[Node]], key: Callable[[Node], int] = id
) -> Iterator[Node]:
    """A topological order of the nodes and their predecessors, given by `before`.

    It is stable. The first of several nodes with one `key` represents them all. The algorithm is
    iterative, as graphs may be deep.
    """
    done: set[int] = set()
    for node in nodes:
        waiting = [node]
        while waiting:
            current = waiting[-1]
            if key(current) in done:
                waiting.pop()
                continue
            missing = [n for n in before(current) if key(n) not in done]
            if missing:
                waiting += missing
                continue
            waiting.pop()
            done.add(key(current))
            yield current
