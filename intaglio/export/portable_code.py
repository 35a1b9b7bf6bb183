"""Nodes without native code as expressions in other ops, by rules or by their kernels."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

from intaglio.base import shapes
from intaglio.export import loop_rules, portable_rules
from intaglio.export.portable_rules import Rule
from intaglio.export.rules import NodeName, NoRule, Refusals, Rules, name_of
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, map_attached
from intaglio.native.regions import obstacle
from intaglio.optimize.kernel_expressions import by_kernel, expressed, may_be_expressed


def with_portable_code(
    graph: Graph, refusals: Refusals, lacking: Container[NodeName] = ()
) -> Graph:
    """The graph with such nodes replaced, also in graphs inside; the same one if there are none.

    `lacking` are nodes that turned out to have no code. Why others stay is added to `refusals`.
    """
    graph = map_attached(
        graph, lambda node, attribute, inner: with_portable_code(inner, refusals, lacking)
    )
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        fits = may_be_expressed(current) and (name_of(node) in lacking or _lacks_code(current))
        found = _expression(new, current, refusals) if fits else None
        if found is None:
            new.keep(node, current)
            continue
        new.replace(node, found)
        new.absorb([node], new.nodes[-1])
    return prune(new.result())


def _expression(new: Rewriter, node: Node, refusals: Refusals) -> list[SymbolicTensor] | None:
    """The outputs by a rule for the op, by its kernel or by loops, which are added; None if there is none."""

    def by(rules: Rules[Rule]) -> Sequence[Any]:
        try:
            return rules.apply(node, node.inputs)
        except NoRule as e:
            if str(e):
                refusals[name_of(node)] = str(e)
            raise

    return (
        expressed(new, node, lambda: by(portable_rules.OPS), NoRule)
        or by_kernel(new, node)
        or expressed(new, node, lambda: by(loop_rules.OPS), NoRule)
        or by_kernel(new, node, loops=True)
    )


def _lacks_code(node: Node) -> bool:
    known = all(shapes.known(v.dims) for v in (*node.inputs, *node.outputs))
    return known and bool(obstacle(node))
