"""Fuses elementwise producers into reductions, so that their results are never stored.

A producer of several reductions is recomputed in each of them unless it calls functions: arithmetic
on broadcast operands costs less than memory traffic. Reductions of one shape over the same axes
that share an operand become one node. Softmax and normalisations along rows are left to
`row_fusion.py` where all their operands have the form of rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

from intaglio.base import shapes
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.kernels.reductions import has_code
from intaglio.native.kernels.row_kernels import form_of
from intaglio.native.passes.elementwise_fusion import has_vector_code, view_of
from intaglio.native.passes.outlining import Cluster, is_number, is_parameter, outline
from intaglio.opdef import raw
from intaglio.ops.math.reduction import axes_of

# The most ops that are rematerialised for another reduction.
MAX_REPEATED_OPS = 12


@looks_for(lambda op: bool(op.reduces))
def fuse_reductions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_FusedReduction` for reductions with elementwise producers."""
    return _Fusion(graph, fuel or Fuel()).graph()


@looks_for(lambda op: bool(op.reduces))
def fuse_broadcast_reductions(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The same, only where operands are broadcast along rows and across them at once."""
    return _Fusion(graph, fuel or Fuel(), broadcast=True).graph()


class _Producers:
    """The producers of a reduction: the nodes to be fused, and the leaves that they read."""

    def __init__(
        self,
        dims: tuple[int, ...],
        nodes: list[Node],
        leaves: Sequence[SymbolicTensor],
        through_broadcasts: bool = True,
    ) -> None:
        self.dims = dims  # of the reduced value
        self.through_broadcasts = through_broadcasts
        self.nodes = nodes
        self.leaves = leaves


class _Fusion:
    def __init__(self, graph: Graph, fuel: Fuel, broadcast: bool = False) -> None:
        self.old = graph
        self.fuel = fuel
        self.broadcast = broadcast
        self.users = walk.uses(graph)
        self.position = {id(n): i for i, n in enumerate(graph.nodes)}
        self.results = {id(v) for v in graph.outputs}

    def graph(self) -> Graph:
        """The new graph."""
        groups = [g for g in self._groups() if self._worthwhile(g) and self.fuel.burn()]
        if not groups:
            return self.old
        new = Rewriter(self.old)
        group_of = {id(node): i for i, group in enumerate(groups) for node, _ in group}
        producers = {id(node): found for group in groups for node, found in group}
        # The copies of ops in one group; a broadcast that is left out has none.
        copies: list[dict[bool, dict[int, SymbolicTensor]]] = [
            {True: {}, False: {}} for _ in groups
        ]
        clusters = [Cluster(1 << i) for i in range(len(groups))]
        for node in self.old.nodes:
            at = group_of.get(id(node))
            if at is None:
                new.keep(node)
                continue
            found, cluster = producers[id(node)], clusters[at]
            values = copies[at][found.through_broadcasts]
            for producer in found.nodes:
                if id(producer.outputs[0]) not in values:
                    self._copy(new, producer, values, cluster)
            source, axis = node.inputs
            reduced = derived(node, [values.get(id(source), new.value(source)), new.value(axis)])
            cluster.nodes.append(new.keep(node, reduced))
        return outline(prune(new.result()), clusters, raw._FusedReduction, _is_part)

    def _copy(
        self, new: Rewriter, node: Node, values: dict[int, SymbolicTensor], cluster: Cluster
    ) -> None:
        """The copy of a producer as part of a cluster; a mere broadcast is its operand there."""
        inputs = [values.get(id(v), new.value(v)) for v in node.inputs]
        if node.op is raw.BroadcastTo:
            values[id(node.outputs[0])] = inputs[0]
            return
        copy = new.add(derived(node, inputs, name=new.unique_name(node.name)))
        cluster.nodes.append(copy)
        values[id(node.outputs[0])] = copy.outputs[0]

    # -- groups ------------------------------------------------------------------------------

    def _groups(self) -> list[list[tuple[Node, _Producers]]]:
        """Groups of reductions that may be one node: none of them depends on another.

        The level of a node is the number of reductions before it, on the longest path: of values,
        control inputs, and effects, which keep their order.
        """
        reductions = {id(n): (axes, self._producers(n)) for n, axes in self._reductions()}
        if not any(self._is_worth_it(found) for _, found in reductions.values()) and (
            self.broadcast or len(reductions) < 2
        ):
            return []
        levels: dict[int, int] = {}
        effects = 0
        groups: dict[tuple[object, ...], list[list[tuple[Node, _Producers]]]] = {}
        for node in self.old.nodes:
            level = 0
            for value in node.inputs:
                level = max(level, levels[id(value.node)])
            for other in node.control:
                level = max(level, levels[id(other)])
            if node.op.stateful:
                level = effects = max(level, effects)
            if id(node) in reductions:
                level += 1
                axes, found = reductions[id(node)]
                key = (tuple(node.inputs[0].dims or ()), axes, level)
                self._join(groups.setdefault(key, []), node, found)
            levels[id(node)] = level
        return [group for same in groups.values() for group in same]

    def _reductions(self) -> list[tuple[Node, tuple[int, ...]]]:
        """The reductions that may have producers, with their axes; unused ones are left out."""
        live = walk.live_nodes(self.old.nodes, self.old.outputs)
        reducing = [n for n in live if n.op.reduces]
        return [(n, axes) for n in reducing if (axes := self._axes(n)) is not None]

    def _is_stencil(self, found: _Producers) -> bool:
        """True for producers that read several slices of one array: loops read the slices in place,
        a reduction would copy them."""
        last = found.nodes[-1].outputs[0].dims if found.nodes else None
        slices = [
            v
            for v in found.leaves
            if v.dims == last
            and id(v) not in self.results
            and view_of(v.node, self.users.get(id(v), []))
        ]
        return len(slices) > 1

    def _join(
        self, groups: list[list[tuple[Node, _Producers]]], node: Node, found: _Producers
    ) -> None:
        """Adds a reduction to a group that shares an operand with it, or to a new one."""
        taken = {id(v) for v in found.leaves}
        for group in groups:
            if any(taken & {id(v) for v in other.leaves} for _, other in group):
                group.append((node, found))
                return
        groups.append([(node, found)])

    def _worthwhile(self, group: list[tuple[Node, _Producers]]) -> bool:
        together = len(group) > 1 and not self.broadcast
        return together or any(self._is_worth_it(found) for _, found in group)

    def _is_worth_it(self, found: _Producers) -> bool:
        """True if the reduction with these producers, taken alone, is a better kernel."""
        if not self.broadcast:
            return bool(found.nodes)
        return any(not form_of(v.dims, found.dims) for v in found.leaves)

    def _axes(self, node: Node) -> tuple[int, ...] | None:
        """The axes of a reduction that may have producers."""
        if not node.op.reduces or node.control or node.device:
            return None
        source, axis = node.inputs
        if not shapes.known(source.dims) or axis.node.op is not raw.Const:
            return None
        if is_small(source.dims) or 0 in source.dims or not numeric(source.dtype):
            return None
        short = source.dtype.is_floating and source.dtype.size == 2
        if source.dtype.is_complex or not (short or has_code(node.op.reduces, source.dtype.numpy)):
            return None
        if short and node.op.reduces == "product":
            return None
        try:
            axes = axes_of(axis.node.attrs["value"], len(source.dims))
        except InvalidArgumentError:  # the op's kernel raises the error
            return None
        kept = math.prod([d for i, d in enumerate(source.dims) if i not in axes])
        return axes if kept < math.prod(source.dims) else None

    # -- producers ----------------------------------------------------------------------------

    def _producers(self, node: Node) -> _Producers:
        """The producers of a reduction, in the graph's order.

        A body has no op for a broadcast: operands must have the whole shape without it.
        """
        found = self._searched(node, through_broadcasts=True)
        if functools.reduce(shapes.broadcast, [v.dims for v in found.leaves], ()) == found.dims:
            return found
        return self._searched(node, through_broadcasts=False)

    def _searched(self, node: Node, through_broadcasts: bool) -> _Producers:
        source = node.inputs[0]
        shape = source.dims
        assert shapes.known(shape)
        inside: dict[int, Node] = {id(node): node}
        leaves: dict[int, SymbolicTensor] = {}
        waiting = [source]
        while waiting:
            value = waiting.pop()
            if id(value.node) in inside:
                continue
            broadcasts = value.node.op is raw.BroadcastTo
            if (through_broadcasts or not broadcasts) and self._absorbed(value, shape, inside):
                producer = inside[id(value.node)] = value.node
                leaves.pop(id(value), None)
                if broadcasts:
                    waiting.append(producer.inputs[0])
                    continue
                taken = enumerate(producer.inputs)
                waiting += [v for i, v in taken if not is_number(producer, i)]
            else:
                leaves[id(value)] = value
        del inside[id(node)]
        order = sorted(inside.values(), key=lambda n: self.position[id(n)])
        found = _Producers(shape, order, [*leaves.values()], through_broadcasts)
        if not all(shapes.known(v.dims) for v in found.leaves) or self._is_stencil(found):
            return _Producers(shape, [], [source], through_broadcasts=False)
        return found

    def _absorbed(
        self, value: SymbolicTensor, shape: tuple[int | None, ...], inside: dict[int, Node]
    ) -> bool:
        """True for an op that can be fused into a reduction of values of this shape."""
        node = value.node
        if tuple(value.dims or ()) != shape or not _is_elementwise(node):
            return False
        users = self.users.get(id(value), [])
        if id(value) not in self.results and all(id(u) in inside for u in users):
            return True
        # It has other users: it is recomputed if that is cheaper than reading its result.
        repeated = [*self._repeated(value, shape)]
        if len(repeated) > MAX_REPEATED_OPS or not all(_is_cheap(n) for n in repeated):
            return False
        own = {id(n) for n in repeated}
        wide = {
            id(v)
            for n in repeated
            for v in n.inputs
            if id(v.node) not in own and tuple(v.dims or ()) == shape
        }
        return not wide

    def _repeated(self, value: SymbolicTensor, shape: tuple[int | None, ...]) -> Iterator[Node]:
        """The ops of values of this shape that compute a value."""
        found: set[int] = set()
        waiting = [value]
        while waiting and len(found) <= MAX_REPEATED_OPS:
            node = waiting.pop().node
            if id(node) in found or not _is_elementwise(node):
                continue
            found.add(id(node))
            yield node
            waiting += [v for v in node.inputs if tuple(v.dims or ()) == shape]


def _is_elementwise(node: Node) -> bool:
    if node.op.stateful or node.control or node.device or len(node.outputs) != 1:
        return False
    if node.op is raw.BroadcastTo:
        return True
    return bool(node.inputs) and has_vector_code(node)


def _is_cheap(node: Node) -> bool:
    return node.op is raw.BroadcastTo or node.op.cheap


def _is_part(node: Node, index: int) -> bool:
    """True for inputs that are part of a body: single numbers, and axes."""
    return is_number(node, index) or is_parameter(node, index)
