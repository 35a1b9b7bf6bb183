"""Outlining: clusters of nodes become one node each, whose attribute `body` is their graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import raw
from intaglio.opdef.op import Op


class Cluster:
    """Nodes to be fused. `bits` names the cluster, and those joined to it, in sets of clusters."""

    def __init__(self, bit: int, needs: int = 0) -> None:
        self.bits = bit
        self.nodes: list[Node] = []
        # The clusters that its inputs from outside need.
        self.needs = needs
        # Nodes outside depend on it, and know what it needs: that must not grow any more.
        self.used = False


def is_number(value: SymbolicTensor) -> bool:
    """True for a constant without dims: it becomes part of the code."""
    return value.node.op is raw.Const and value.dims == ()


def outline(
    graph: Graph,
    clusters: Sequence[Cluster],
    op: Op,
    within: Callable[[SymbolicTensor], bool] = is_number,
    fuel: Fuel | None = None,
) -> Graph:
    """The graph with a node of type `op` for each cluster, everything after what it needs.

    No cluster may depend on itself through nodes outside. `within` selects the constants that become
    part of a body. The new node has the name and provenance of the cluster's last one.
    """
    fuel = fuel or Fuel()
    clusters = [c for c in clusters if fuel.burn()]
    return _Outlining(graph, clusters, op, within).graph() if clusters else graph


class _Outlining:
    def __init__(
        self,
        graph: Graph,
        clusters: Sequence[Cluster],
        op: Op,
        within: Callable[[SymbolicTensor], bool],
    ) -> None:
        self.old = graph
        self.op = op
        self.within = within
        self.home = {id(n): c for c in clusters for n in c.nodes}
        position = {id(n): i for i, n in enumerate(graph.nodes)}
        for cluster in clusters:
            cluster.nodes.sort(key=lambda n: position[id(n)])
        self.new = Rewriter(graph)
        self.users = self._users()

    def _users(self) -> dict[int, set[int]]:
        """For each value the clusters (or nodes) that take it, as ids; 0 for the caller."""
        users: dict[int, set[int]] = {id(v): {0} for v in self.old.outputs}
        for node in self.old.nodes:
            user = id(self.home.get(id(node), node))
            for value in node.inputs:
                users.setdefault(id(value), set()).add(user)
        return users

    def graph(self) -> Graph:
        """The new graph."""
        home = self.home
        # All nodes of a cluster have one key.
        units = walk.scheduled(self._roots(), self._needed, lambda n: id(home.get(id(n), n)))
        for node in units:
            cluster = self.home.get(id(node))
            if cluster is None:
                self.new.keep(node)
            else:
                self._fuse(cluster)
        return self.new.result()

    def _roots(self) -> Iterator[Node]:
        """The roots of the schedule: stateful nodes, then those of the graph's outputs."""
        for node in self.old.nodes:
            # Constants and clusters come when they are needed: most constants are part of one.
            lazy = id(node) in self.home or node.op is raw.Const
            if node.op.stateful or not lazy:
                yield node
        for value in self.old.outputs:
            yield value.node

    def _needed(self, node: Node) -> Iterator[Node]:
        """What comes before a node, or before the cluster that it is part of."""
        cluster = self.home.get(id(node))
        if cluster is None:
            yield from node.control
        for member in [node] if cluster is None else cluster.nodes:
            for value in member.inputs:
                inside = cluster is not None and (
                    self.home.get(id(value.node)) is cluster or self.within(value)
                )
                if not inside:
                    yield value.node

    def _fuse(self, cluster: Cluster) -> None:
        own_ids = {id(cluster)}
        results = [
            v for n in cluster.nodes for v in n.outputs if self.users.get(id(v), set()) - own_ids
        ]
        last = cluster.nodes[-1]
        body, outer = self._body(cluster, results, f"{last.name}_fused")
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

    def _body(
        self, cluster: Cluster, results: list[SymbolicTensor], name: str
    ) -> tuple[Graph, list[SymbolicTensor]]:
        """The graph of a cluster, and the values outside that its inputs are.

        Its nodes are copies, in their order; constants may be part of it.
        """
        inner = Rewriter(self.old)
        copies: dict[int, Node] = {}
        outer: list[SymbolicTensor] = []
        inputs: list[SymbolicTensor] = []
        known = {id(v) for n in cluster.nodes for v in n.outputs}
        for node in cluster.nodes:
            for value in node.inputs:
                if id(value) in known:
                    continue
                known.add(id(value))
                if self.within(value):  # which has nothing to wait for
                    constant = value.node
                    inner.keep(constant, derived(constant, ()) if constant.control else constant)
                    continue
                inputs.append(_placeholder(value, f"input_{len(inputs)}"))
                outer.append(value)
                inner.substitute(value, inputs[-1])
            waits = tuple([copies[id(c)] for c in node.control if id(c) in copies])
            copy = derived(node, inner.values(node.inputs), control=waits)
            copies[id(node)] = inner.keep(node, copy)
        outputs = inner.values(results)
        return Graph(name, inputs, [*[v.node for v in inputs], *inner.nodes], outputs), outer


def _placeholder(value: SymbolicTensor, name: str) -> SymbolicTensor:
    """The input of a body that a value from outside is."""
    spec = value.spec.like() if value.dtype.is_numpy_compatible else value.spec
    attrs = {"dtype": spec.dtype, "shape": spec.shape}
    return Node(raw.Placeholder, (), attrs, name, [spec], graph=value.node.graph).outputs[0]
