"""Graphs while they are written, and what is noted of their nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

from intaglio.ir.graph import Graph, Node


class Note(NamedTuple):
    """What a node became: `how` is nothing for values in registers, or for no code at all."""

    depth: int
    node: Node
    how: str


class Scope:
    """A graph that is being written: what its values are, and when each is used last."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.values: dict[int, Any] = {}
        # Where outputs of the graph are best written, by the ids of values.
        self.targets: dict[int, str] = {}
        # Those among them that are where variables lie.
        self.assigned: set[int] = set()
        self.at = 0
        self.last: dict[int, int] = {id(v): len(graph.nodes) for v in graph.outputs}
        self.ends: dict[int, list[int]] = {}
        for index in range(len(graph.nodes) - 1, -1, -1):
            node = graph.nodes[index]
            for value in (*node.inputs, *node.outputs):
                if id(value) not in self.last:
                    self.last[id(value)] = index
                    self.ends.setdefault(index, []).append(id(value))
