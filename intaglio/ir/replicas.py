"""Expands the graph of one replica to a graph of all replicas, with a copy of each node for each replica.

Nodes that do not depend on the replica are not copied. The copies of a node are adjacent, so that
collectives have the values of all replicas.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import int32
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.memo import memoized
from intaglio.ir.rewrite import Rewriter, derived, map_attached
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec


class NotOneProgram(BaseException):
    """The replicas do not run one SPMD program; the message is the reason. User code does not catch it."""


def differs_by_replica(value: SymbolicTensor) -> bool:
    """True for an op whose result is a different constant in each replica, known at the time of tracing."""
    op = value.node.op
    return (
        op.internal
        and op is raw._OfReplica
        and all(v.spec.value is not None for v in value.node.inputs)
    )


@memoized
def expanded(graph: Graph, count: int) -> Graph:
    """The graph of a `_ReplicatedCall` without ops that refer to replicas."""
    return _Expansion(graph, count).run()


@memoized
def without_replicas(graph: Graph) -> Graph:
    """The graph with each `_ReplicatedCall` as a call of the graph of all replicas."""
    if not any([op.control_flow == "replicas" for op in walk.own_ops(graph)]):
        return graph
    return _called(graph)


def nowhere_replicas(graph: Graph) -> Graph:
    """`without_replicas` for the graph and all nested graphs, for formats without replicas: files, libraries."""
    return map_attached(
        without_replicas(graph), lambda node, attribute, inner: nowhere_replicas(inner)
    )


def _called(graph: Graph) -> Graph:
    new = Rewriter(graph)
    for node in graph.nodes:
        if node.op.control_flow == "replicas":
            new.keep(node, as_call(node, new.values(node.inputs), new.control(node)))
        else:
            new.keep(node)
    return new.result()


def as_call(node: Node, inputs: Sequence[SymbolicTensor], control: tuple[Node, ...] = ()) -> Node:
    """A `_ReplicatedCall` as a call of the graph of all replicas."""
    called = expanded(node.attrs["f"], len(node.attrs["devices"]))
    attrs = {
        **{k: node.attrs[k] for k in ("Tin", "Tout") if k in node.attrs},
        "f": called,
        **dict.fromkeys(("config", "config_proto", "executor_type"), ""),
    }
    op = raw.StatefulPartitionedCall
    return derived(node, inputs, op=op, attrs=attrs, control=control)


class _Expansion:
    def __init__(self, graph: Graph, count: int) -> None:
        self._graph = graph
        self._count = count
        self._new: list[Node] = []
        self._names: set[str] = set()
        # The values of all replicas, or a single value that is the same in all of them.
        self._values: dict[int, list[SymbolicTensor]] = {}
        self._nodes: dict[int, list[Node]] = {}

    def run(self) -> Graph:
        for node in self._graph.nodes:
            self._expand(node)
        graph = self._graph
        inputs = [self._values[id(v)][0] for v in graph.inputs]
        outputs = [self._values[id(v)][0] for v in graph.outputs]
        return Graph(f"{graph.name}_replicas", inputs, self._new, outputs)

    def _of(self, value: SymbolicTensor, index: int) -> SymbolicTensor:
        values = self._values[id(value)]
        return values[index % len(values)]

    def _all(self, value: SymbolicTensor) -> list[SymbolicTensor]:
        return [self._of(value, i) for i in range(self._count)]

    def _expand(self, node: Node) -> None:
        op = node.op
        if op is raw._OfReplica:
            self._values[id(node.outputs[0])] = [
                self._of(value, i) for i, value in enumerate(node.inputs)
            ]
        elif op is raw._ToReplicas:
            for value, own in zip(node.outputs, self._all(node.inputs[0]), strict=True):
                self._values[id(value)] = [own]
        elif op is raw._FirstOfReplicas:
            self._values[id(node.outputs[0])] = [self._of(node.inputs[0], 0)]
        elif op is raw._SumOfReplicas:
            self._combine(node, raw.AddN, self._all(node.inputs[0]))
        elif op is raw._GatherOfReplicas:
            array = np.array(node.attrs["axis"], np.int32)
            axis = derived(
                node,
                (),
                op=raw.Const,
                attrs={"value": array, "dtype": int32},
                specs=[Spec(int32, (), array)],
                name=self._unique(f"{node.name}/axis"),
            )
            self._new.append(axis)
            values = [*self._all(node.inputs[0]), axis.outputs[0]]
            self._combine(node, raw.ConcatV2, values)
        else:
            self._copy(node)

    def _copy(self, node: Node) -> None:
        is_same = not node.op.stateful and all(len(self._values[id(v)]) == 1 for v in node.inputs)
        copies = [self._copied(node, i) for i in range(1 if is_same else self._count)]
        self._nodes[id(node)] = copies
        for number, value in enumerate(node.outputs):
            self._values[id(value)] = [copy.outputs[number] for copy in copies]

    def _copied(self, node: Node, index: int) -> Node:
        return self._add(node, node.op, [self._of(v, index) for v in node.inputs], node.attrs)

    def _combine(self, node: Node, op: Any, inputs: Sequence[SymbolicTensor]) -> None:
        found = self._add(node, op, inputs, {"N": self._count})
        self._nodes[id(node)] = [found]
        self._values[id(node.outputs[0])] = [found.outputs[0]]

    def _add(
        self, node: Node, op: Any, inputs: Sequence[SymbolicTensor], attrs: dict[str, Any]
    ) -> Node:
        control = tuple([n for c in node.control for n in self._nodes.get(id(c), ())])
        name = self._unique(node.name or op.name)
        new = derived(node, inputs, op=op, attrs=attrs, control=control, name=name)
        self._new.append(new)
        return new

    def _unique(self, name: str) -> str:
        number, found = 0, name
        while found in self._names:
            number += 1
            found = f"{name}_{number}"
        self._names.add(found)
        return found


__all__ = [
    "NotOneProgram",
    "as_call",
    "differs_by_replica",
    "expanded",
    "nowhere_replicas",
    "without_replicas",
]
