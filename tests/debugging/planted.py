"""Passes and lowerings that are wrong, for tools that have to find them."""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Graph
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import door, raw


def replacing(old: Any, new: Any) -> Any:
    """A pass that makes one unary op another one, wherever the op stands."""

    def change(graph: Graph, fuel: Fuel) -> Graph:
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            if node.op is old and fuel.burn():
                rewriter.root = node
                with door.pushed(rewriter):
                    value = new(rewriter.value(node.inputs[0]))
                rewriter.replace(node, [value])
            else:
                rewriter.keep(node)
        return rewriter.result()

    return change


SIGMOID_FOR_TANH = replacing(raw.Tanh, raw.Sigmoid)
