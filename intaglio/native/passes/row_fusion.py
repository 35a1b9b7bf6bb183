"""Fuses reductions along rows of large arrays, and their elementwise ops, into one node each.

`native/kernels/row_kernels.py` has the kernels of such nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.base.errors import InvalidArgumentError
from intaglio.ir import operand_shapes
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel
from intaglio.native.kernels.row_kernels import MAX_ROW_BYTES, form_of
from intaglio.native.kernels.short_softmax import MAX_CLASSES
from intaglio.native.passes.elementwise_fusion import can_compile
from intaglio.native.passes.outlining import Cluster, is_parameter, outline
from intaglio.native.runtime import entry
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.ops.math.reduction import axes_of

SOFTMAX = frozenset([raw.Softmax, raw.LogSoftmax])
# The least length of a row for a kernel that goes along rows; for shorter ones loops with one lane
# for each row are faster.
MIN_ROW = 8
# The forms that a node inside a cluster may have; columns are results only.
WITHIN = frozenset(["wide", "narrow"])


@looks_for(lambda op: bool(op.reduces) or op in SOFTMAX)
def fuse_rows(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_FusedRows` node for each cluster of rows."""
    taken: set[int] = set()
    clusters: list[Cluster] = []
    for shape in _shapes(graph):
        clusters += _Search(graph, shape, taken).clusters()
    return outline(graph, clusters, raw._FusedRows, _is_part, fuel)


def _shapes(graph: Graph) -> list[tuple[int, ...]]:
    """The shapes of arrays whose reductions along rows are worth a kernel.

    Short rows are faster in loops over elements and reductions, which have one lane for each row.
    """
    found: dict[tuple[int, ...], None] = {}
    for node in graph.nodes:
        if node.op.reduces or node.op in SOFTMAX:
            value = node.inputs[0]
            dims = value.dims
            if value.dtype is not float32 or not shapes.known(dims):
                continue
            size = math.prod(dims)
            if (
                len(dims) > 1
                and _shortest(node.op) <= dims[-1] <= MAX_ROW_BYTES
                and size >= entry.MIN_PARALLEL_ELEMENTS
                and size > dims[-1]
            ):
                found[tuple(dims)] = None
    return list(found)


def _shortest(op: Op) -> int:
    """The least length of a row in a kernel of rows."""
    return MAX_CLASSES if op in SOFTMAX else MIN_ROW


def _is_part(node: Node, index: int) -> bool:
    """True for inputs that are part of a kernel: single numbers, axes and shapes."""
    value = node.inputs[index]
    if value.node.op is not raw.Const:
        return False
    is_single = value.node.attrs["value"].size == 1
    number = is_single and (value.dtype is float32 or value.dtype.is_integer)
    return number or is_parameter(node, index)


class _Search:
    """Finds clusters of nodes on arrays of one shape."""

    def __init__(self, graph: Graph, shape: tuple[int, ...], taken: set[int]) -> None:
        self.graph = graph
        self.shape = shape
        self.taken = taken

    def clusters(self) -> Iterator[Cluster]:
        """The clusters of nodes without others between them, in the order of their first nodes.

        A node's group has a number: how many times the path to it leaves groups and comes back.
        """
        groups: dict[int, list[Node]] = {}
        # The number of a member's group; for other nodes that of the first group that may follow
        # them.
        levels: dict[int, int] = {}
        members: dict[int, int] = {}
        effects = 0
        for node in self.graph.nodes:
            before = [*[v.node for v in node.inputs], *node.control]
            level = max([levels[id(b)] for b in before], default=0)
            if self._fits(node):
                if any(self._is_result(v, members, level) for v in node.inputs):
                    level += 1
                groups.setdefault(level, []).append(node)
                members[id(node)] = level
            elif any(members.get(id(b)) == level for b in before):
                level += 1
            if node.op.stateful:  # effects keep their order
                level = effects = max(level, effects)
            levels[id(node)] = level
        self.taken.update(members)
        for group in groups.values():
            # Groups without a reduction are left to elementwise loops.
            yield from (c for c in _parts(group) if self._worth_it(c))

    def _is_result(self, value: SymbolicTensor, members: dict[int, int], level: int) -> bool:
        """True for a value that a group with this number only returns: columns are not read within
        it."""
        inside = members.get(id(value.node)) == level
        return inside and form_of(value.dims, self.shape) not in WITHIN

    def _fits(self, node: Node) -> bool:
        op = node.op
        if id(node) in self.taken or op.stateful or node.control or node.device:
            return False
        if len(node.outputs) != 1 or node.outputs[0].dtype is not float32 or not node.inputs:
            return False
        form = form_of(node.outputs[0].dims, self.shape)
        if op.reduces:
            return self._reduces(node, form)
        if form not in WITHIN:
            return False
        if op is raw.BroadcastTo:
            inputs = node.inputs[:1]
            if node.inputs[1].node.op is not raw.Const:
                return False
        else:
            inputs = node.inputs
            known = op in SOFTMAX or op is raw.AddN or "scalar" in op.rules
            if not known or (op in SOFTMAX and (form != "wide" or self.shape[-1] < MAX_CLASSES)):
                return False
        for value in inputs:
            seen = form_of(value.dims, self.shape)
            if value.dtype is not float32 or not seen:
                return False
        if not operand_shapes.are_accepted(node):
            return False
        if op in SOFTMAX or op in (raw.BroadcastTo, raw.AddN):
            return True
        return not can_compile(node)

    def _reduces(self, node: Node, form: str) -> bool:
        value, axis = node.inputs
        if tuple(value.dims or ()) != self.shape or axis.node.op is not raw.Const:
            return False
        try:
            axes = axes_of(axis.node.attrs["value"], len(self.shape))
        except InvalidArgumentError:  # the kernel raises the error
            return False
        last = len(self.shape) - 1
        if node.op is raw.Sum and form == "columns":
            return sorted(axes) == list(range(last))
        return axes == (last,) and form == "narrow"

    def _worth_it(self, cluster: Cluster) -> bool:
        """True if a node reduces along rows, and another computes wide values."""
        along = [
            n
            for n in cluster.nodes
            if n.op in SOFTMAX
            or (n.op.reduces and form_of(n.outputs[0].dims, self.shape) == "narrow")
        ]
        return bool(along) and len(cluster.nodes) > 1


def _parts(group: list[Node]) -> Iterator[Cluster]:
    """The connected components of a group's nodes, by values."""
    above: dict[int, int] = {}

    def first(key: int) -> int:
        while above[key] != key:
            above[key] = key = above[above[key]]
        return key

    for node in group:
        above[id(node)] = id(node)
        for value in node.inputs:
            if id(value.node) in above:
                above[first(id(value.node))] = id(node)
    parts: dict[int, Cluster] = {}
    for node in group:
        parts.setdefault(first(id(node)), Cluster(1)).nodes.append(node)
    yield from parts.values()
