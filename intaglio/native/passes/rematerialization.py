"""What the gradient of a batch normalisation and Relu needs to know of Relu, computed again.

Where Relu was zero is seen in its results, which is one more array to read, twice. It follows as
well from the inputs of the normalisation, which its gradient reads anyway: the gradient gets
a copy of the two ops of its own, and a results that nobody else takes is not even written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw

Fits = Callable[[Node], bool]
# The outputs of a normalisation that its gradient takes, and where.
KEPT = ((3, 3), (4, 4))


def recomputed(graph: Graph, fits: Fits) -> Graph:
    """The graph with normalisations and Relus for the gradients that `fits` says yes to."""
    users = _users(graph)
    found: dict[int, tuple[Node, Node]] = {}
    for node in graph.nodes:
        if node.op is raw.FusedBatchNormGradV3 and fits(node):
            pair = _layer(node, users)
            if pair is not None:
                found[id(node.inputs[0].node)] = pair
    return _Copied(graph, found, users).graph() if found else graph


def _users(graph: Graph) -> dict[int, list[Node | None]]:
    """The nodes that take each value; None is the caller."""
    users: dict[int, list[Node | None]] = {id(v): [None] for v in graph.outputs}
    for node in graph.nodes:
        for value in node.inputs:
            users.setdefault(id(value), []).append(node)
    return users


def _layer(gradient: Node, users: dict[int, list[Node | None]]) -> tuple[Node, Node] | None:
    """The normalisation and the Relu whose gradients some node and the one before it are."""
    before = gradient.inputs[0].node
    if before.op is not raw.ReluGrad or users[id(before.outputs[0])] != [gradient]:
        return None
    relu = before.inputs[1].node
    if relu.op is not raw.Relu:
        return None
    normal = relu.inputs[0].node
    if normal.op is not raw.FusedBatchNormV3 or relu.inputs[0] is not normal.outputs[0]:
        return None
    same = [gradient.inputs[i] is normal.inputs[i - 1] for i in (1, 2)]
    same += [gradient.inputs[i] is normal.outputs[o] for i, o in KEPT]
    same += [
        gradient.attrs[a] == normal.attrs[a] for a in ("epsilon", "is_training", "data_format")
    ]
    plain = not any(n.control or n.device for n in (gradient, before, relu, normal))
    return (normal, relu) if all(same) and plain else None


class _Copied:
    """Writes the graph anew."""

    def __init__(
        self, graph: Graph, found: dict[int, tuple[Node, Node]], users: dict[int, list[Node | None]]
    ) -> None:
        self.old = graph
        self.found = found
        # Relus that only the gradients take, and that nothing waits for.
        awaited = {id(c) for n in graph.nodes for c in n.control}
        self.needless = {
            id(relu)
            for _, relu in found.values()
            if all(u is not None and id(u) in found for u in users[id(relu.outputs[0])])
            and id(relu) not in awaited
        }
        self.values: dict[int, SymbolicTensor] = {}
        self.copies: dict[int, Node] = {}
        self.nodes: list[Node] = []

    def graph(self) -> Graph:
        """The new graph."""
        for node in self.old.nodes:
            if id(node) in self.needless:
                continue
            inputs = [self.values.get(id(v), v) for v in node.inputs]
            pair = self.found.get(id(node))
            if pair is not None:
                normal, relu = pair
                given = [self.values.get(id(v), v) for v in normal.inputs]
                again = self._copy(normal, given, ())
                inputs[1] = self._copy(relu, [again.outputs[0]], ()).outputs[0]
            control = tuple([self.copies.get(id(c), c) for c in node.control])
            if (
                pair is None
                and control == node.control
                and all(a is b for a, b in zip(inputs, node.inputs, strict=True))
            ):
                self.nodes.append(node)
                continue
            made = self._copy(node, inputs, control)
            self.copies[id(node)] = made
            self.values.update((id(a), b) for a, b in zip(node.outputs, made.outputs, strict=True))
        outputs = [self.values.get(id(v), v) for v in self.old.outputs]
        return Graph(self.old.name, self.old.inputs, self.nodes, outputs)

    def _copy(
        self, node: Node, inputs: Sequence[SymbolicTensor], control: tuple[Node, ...]
    ) -> Node:
        made = Node(
            node.op,
            inputs,
            node.attrs,
            node.name,
            [v.spec for v in node.outputs],
            control=control,
            origin=node.origin,
            graph=node.graph,
            device=node.device,
            source=node.source or node,
        )
        self.nodes.append(made)
        return made
