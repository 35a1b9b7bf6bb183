"""Automatic control dependencies: nodes with effects run, and in program order.

Reads and writes of one resource keep their order, and so do prints, asserts and other effects
among themselves. Ops without effects run when something needs their outputs: the non-strict
execution that https://www.tensorflow.org/guide/intro_to_graphs describes.
"""

from __future__ import annotations

from typing import Any

from intaglio.base.dtypes import resource
from intaglio.ir import walk
from intaglio.ir.graph import Node


class Effects:
    """The order of effects in one graph that is being recorded."""

    __slots__ = ("_last", "_reads", "_writes")

    def __init__(self) -> None:
        self._writes: dict[int, Node] = {}
        self._reads: dict[int, list[Node]] = {}
        self._last: Node | None = None

    def note(self, node: Node) -> None:
        """Gives a stateful node the nodes that must run before it."""
        before: list[Node] = [*node.control]
        resources = [v for v in node.inputs if v.spec.dtype is resource]
        reads = bool(resources) and only_reads(node)
        for value in resources:
            self._order(node, id(value), reads, before)
        if not resources and node.op.must_run:
            if self._last is not None:
                before.append(self._last)
            self._last = node
        if before:
            node.control = tuple(dict.fromkeys(before))

    def _order(self, node: Node, key: int, reads: bool, before: list[Node]) -> None:
        write = self._writes.get(key)
        if write is not None and write is not node:
            before.append(write)
        if reads:
            self._reads.setdefault(key, []).append(node)
            return
        before.extend([n for n in self._reads.pop(key, ()) if n is not node])
        self._writes[key] = node


def only_reads(node: Node) -> bool:
    """True if running the node changes nothing."""
    if not node.op.must_run:
        return True
    graphs = walk.attached(node)
    return bool(graphs) and not any(has_effects(g.nodes) for g in graphs)


def has_effects(nodes: Any) -> bool:
    """True if running the nodes changes something."""
    return any(n.op.must_run and not only_reads(n) for n in nodes)
