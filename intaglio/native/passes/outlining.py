"""Outlining: clusters of nodes become one node each, whose attribute `body` is their graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from intaglio.ir.extraction import Within, extracted
from intaglio.ir.graph import Graph, Node
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import raw
from intaglio.opdef.op import Op


class Cluster:
    """Nodes to be fused. `bits` names the cluster, and those merged into it, in sets of clusters."""

    def __init__(self, bit: int, needs: int = 0) -> None:
        self.bits = bit
        self.nodes: list[Node] = []
        # The clusters that its inputs from outside depend on.
        self.needs = needs
        # True if nodes outside depend on it and have copied `needs`, which must not grow any more.
        self.used = False


def is_number(node: Node, index: int) -> bool:
    """True for an input that is a constant scalar: it becomes an immediate of the code."""
    value = node.inputs[index]
    return value.node.op is raw.Const and value.dims == ()


def is_parameter(node: Node, index: int) -> bool:
    """True for an input that is constant axes, sizes or indices.

    Integers may be elements as well: the operands of elementwise ops and of reductions are.
    """
    value = node.inputs[index]
    if value.node.op is not raw.Const or not value.dtype.is_integer:
        return False
    return index > 0 if node.op.reduces else "scalar" not in node.op.rules


def outline(
    graph: Graph,
    clusters: Sequence[Cluster],
    op: Op,
    within: Within = is_number,
    fuel: Fuel | None = None,
) -> Graph:
    """The graph with a node of type `op` for each cluster, in topological order and with effects in
    order.

    A cluster that depends on itself through nodes outside is left out: by values, control inputs,
    or because effects keep their order. `within` selects the constant inputs that become part of a
    body. The new node has the name and provenance of the cluster's last one.
    """
    fuel = fuel or Fuel()
    clusters = [c for c in clusters if fuel.burn()]
    while clusters:
        try:
            return _Outlining(graph, clusters, op, within).graph()
        except _DependsOnItself as found:
            clusters = [c for c in clusters if c is not found.cluster]
    return graph


class _DependsOnItself(Exception):
    """A cluster depends on a node that depends on the cluster."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__()
        self.cluster = cluster


class _Outlining:
    def __init__(self, graph: Graph, clusters: Sequence[Cluster], op: Op, within: Within) -> None:
        self.old = graph
        self.op = op
        self.within = within
        self.home = {id(n): c for c in clusters for n in c.nodes}
        position = {id(n): i for i, n in enumerate(graph.nodes)}
        for cluster in clusters:
            cluster.nodes.sort(key=lambda n: position[id(n)])
        self.new = Rewriter(graph)
        self.users = self._users()
        self.done: set[int] = set()  # nodes that are emitted, or part of an emitted cluster
        # The nodes and clusters that wait to be emitted, each for the next one, by id.
        self.waiting: dict[int, Node | Cluster] = {}
        self.effect_before = self._effects()

    def _effects(self) -> dict[int, Node]:
        """The node with effects before each node with effects, by id."""
        effects = [n for n in self.old.nodes if n.op.stateful]
        return {id(node): before for before, node in itertools.pairwise(effects)}

    def _users(self) -> dict[int, set[int]]:
        """The users of each value of a cluster, clusters or nodes, as ids; 0 for the graph's
        outputs."""
        home = self.home
        users: dict[int, set[int]] = {id(v): {0} for v in self.old.outputs}
        for node in self.old.nodes:
            user = id(home.get(id(node), node))
            for value in node.inputs:
                if id(value.node) in home:
                    users.setdefault(id(value), set()).add(user)
        return users

    def graph(self) -> Graph:
        """The new graph."""
        for root in self._roots():
            if id(root) not in self.done:
                self._place(root)
        return self.new.result()

    def _roots(self) -> Iterator[Node]:
        """The roots of the schedule: stateful nodes, then the nodes of the graph's outputs."""
        for node in self.old.nodes:
            # Constants and clusters are emitted on first use: most constants are part of a cluster.
            lazy = id(node) in self.home or node.op is raw.Const
            if node.op.stateful or not lazy:
                yield node
        for value in self.old.outputs:
            yield value.node

    def _place(self, root: Node) -> None:
        """Emits a node, or the cluster that it is part of, after its dependencies."""
        waiting = [root]
        while waiting:  # a stack, because graphs are deep
            node = waiting[-1]
            if id(node) in self.done:
                waiting.pop()
                continue
            cluster = self.home.get(id(node))
            missing = self._missing(node) if cluster is None else self._missing_outside(cluster)
            if missing:
                self._wait(cluster or node)
                waiting += missing
                continue
            waiting.pop()
            self.waiting.pop(id(cluster or node), None)
            if cluster is None:
                self.done.add(id(node))
                self.new.keep(node)
            else:
                self.done.update([id(n) for n in cluster.nodes])
                self._fuse(cluster)

    def _wait(self, unit: Node | Cluster) -> None:
        """Pushes a node or cluster whose dependencies are missing. Raises _DependsOnItself on a
        cycle."""
        if id(unit) in self.waiting:
            keys = [*self.waiting]
            circle = [self.waiting[key] for key in keys[keys.index(id(unit)) :]]
            raise _DependsOnItself(next(w for w in circle if isinstance(w, Cluster)))
        self.waiting[id(unit)] = unit

    def _missing(self, node: Node) -> list[Node]:
        """The dependencies of a node that are not emitted yet."""
        done = self.done
        missing = [v.node for v in node.inputs if id(v.node) not in done]
        before = self.effect_before.get(id(node))
        if before is not None and id(before) not in done:
            missing.append(before)
        return [c for c in node.control if id(c) not in done] + missing if node.control else missing

    def _missing_outside(self, cluster: Cluster) -> list[Node]:
        """The dependencies of a cluster that are not emitted yet."""
        home, done = self.home, self.done
        missing = [
            value.node
            for member in cluster.nodes
            for index, value in enumerate(member.inputs)
            if id(value.node) not in done
            and home.get(id(value.node)) is not cluster
            and not self.within(member, index)
        ]
        for member in cluster.nodes:
            before = self.effect_before.get(id(member))
            if (
                before is not None
                and id(before) not in done
                and home.get(id(before)) is not cluster
            ):
                missing.append(before)
        return missing

    def _fuse(self, cluster: Cluster) -> None:
        own_ids = {id(cluster)}
        results = [
            v for n in cluster.nodes for v in n.outputs if self.users.get(id(v), set()) - own_ids
        ]
        last = cluster.nodes[-1]
        name = f"{last.name}_fused"
        body, outer = extracted(self.old, cluster.nodes, results, name, self.within)
        inputs = self.new.values(outer)
        attrs = {
            "body": body,
            "Tin": tuple([v.dtype for v in inputs]),
            "Tout": tuple([v.dtype for v in body.outputs]),
        }
        fused = self.new.add(
            derived(last, inputs, op=self.op, attrs=attrs, specs=body.output_specs)
        )
        self.new.absorb(cluster.nodes, fused)
        for old, value in zip(results, fused.outputs, strict=True):
            self.new.substitute(old, value)
