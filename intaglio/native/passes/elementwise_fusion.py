"""Fuses elementwise ops of one shape into clusters, each of which is lowered to one loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.ir import operand_shapes, walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.analysis.sizes import is_small, numeric
from intaglio.native.kernels.reroll import alike
from intaglio.native.kernels.trials import Trial, may_divide_by_zero, tried
from intaglio.native.passes.outlining import Cluster, outline
from intaglio.native.runtime import entry
from intaglio.native.vector_math import division
from intaglio.opdef import complex_numbers, machine_code, raw
from intaglio.opdef.op import Op
from intaglio.ops import compiled
from intaglio.runtime import interpreter

# The size of arrays from which a cluster of several ops is worth a loop of its own.
MIN_FUSED_ELEMENTS = 1 << 12


def fuse_worthwhile(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_FusedElementwise` for each cluster that is worth the call of a kernel."""
    found = [c for c in _Search(graph).clusters() if _worth_it(c)]
    return outline(graph, found, raw._FusedElementwise, fuel=fuel)


def fuse_exact(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The same of ops that are bit for bit equal to their kernels, for large arrays only."""
    found = [c for c in _Search(graph, fits=loop_keeps_bits).clusters() if _saves_memory(c)]
    return outline(graph, found, raw._FusedElementwise, fuel=fuel)


def fuse_elementwise(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph of a native function with all its elementwise ops in clusters, whatever they save.

    Values in registers are left out. A slice with users in one cluster only becomes part of it: the
    loop reads the elements from the source of the slice.
    """
    fuel = fuel or Fuel()
    graph = with_views(graph, fuel)
    search = _Search(graph, small=False)
    clusters = search.clusters()
    if raw._View in walk.own_ops(graph):
        _take_views(graph, search.home)
    return outline(graph, clusters, raw._FusedElementwise, fuel=fuel)


def _take_views(graph: Graph, home: dict[int, Cluster]) -> None:
    """Adds each view to the cluster that has all of its users, if one does."""
    users = walk.uses(graph)
    for node in graph.nodes:
        if node.op is raw._View:
            first, *others = [home.get(id(u)) for u in users[id(node.outputs[0])]]
            if first is not None and all(h is first for h in others):
                first.nodes.append(node)


@looks_for(lambda op: op is raw.StridedSlice)
def with_views(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with a `_View` for each slice of known bounds that only elementwise ops use."""
    fuel = fuel or Fuel()
    users, results = walk.uses(graph), {id(v) for v in graph.outputs}
    new = Rewriter(graph)
    for node in graph.nodes:
        taken = node.op is raw.StridedSlice and id(node.outputs[0]) not in results
        attrs = view_of(node, users.get(id(node.outputs[0]), [])) if taken else None
        if attrs is None or not fuel.burn():
            new.keep(node)
            continue
        source = new.value(node.inputs[0])
        new.keep(node, derived(node, [source], op=raw._View, attrs=attrs))
    return new.result()


def view_of(node: Node, takers: Sequence[Node]) -> dict[str, Any] | None:
    """The attributes of the `_View` that can replace a node; None if its users cannot read one."""
    attrs = _strides_of(node) if node.op is raw.StridedSlice and takers else None
    return attrs if attrs and all(has_vector_code(n) for n in takers) else None


def _strides_of(node: Node) -> dict[str, Any] | None:
    """Offset, strides and shape of a slice of a large array as a view.

    None if the slice is contiguous, needs a copy, or reads backwards.
    """
    source, *bounds = node.inputs
    if node.control or node.device or not numeric(source.dtype):
        return None
    if not shapes.known(source.dims) or any(b.node.op is not raw.Const for b in bounds):
        return None
    if is_small(source.dims) or 0 in source.dims or source.dtype.is_complex:
        return None
    whole = np.empty(source.dims, np.uint8)
    try:
        view = interpreter.call_kernel(
            node.op, [whole, *[b.node.attrs["value"] for b in bounds]], node.attrs
        )
    except Exception:  # the kernel raises the error when the node runs
        return None
    dims = node.outputs[0].dims
    if tuple(view.shape) != tuple(dims or ()) or not view.size or is_small(view.shape):
        return None
    if view.flags.c_contiguous or not np.may_share_memory(view, whole):
        return None
    # Loops read vectors of elements along the last axis.
    if min(view.strides) < 0 or view.shape[-1] == 1 or view.strides[-1] != 1:
        return None
    offset = view.ctypes.data - whole.ctypes.data
    return {"offset": offset, "strides": tuple(view.strides), "shape": tuple(view.shape)}


# Trials of nodes, by what their code depends on; cleared when full.
_found: dict[Any, Trial] = {}
MAX_CACHED_NODES = 4096


def has_vector_code(node: Node) -> bool:
    """True if the node can be part of a loop over elements."""
    return is_elementwise(node.op) and operand_shapes.are_accepted(node) and not can_compile(node)


def is_elementwise(op: Op) -> bool:
    """True for ops that have vector code for some dtypes."""
    return "scalar" in op.rules or op in division.OPS


def can_compile(node: Node) -> str:
    """Empty if the node has vector code; else the reason why it has none."""
    return _trial(node).reason


def loop_keeps_bits(node: Node) -> bool:
    """True if the node has vector code that is bit for bit equal to its kernel.

    Code that approximates a function differs from NumPy's, except where the kernel itself runs
    machine code, as it does for large arrays of some ops.
    """
    trial = _trial(node)
    return not trial.reason and (not trial.approximates or _is_machine_code(node))


def _is_machine_code(node: Node) -> bool:
    value, op = node.outputs[0], node.op
    if op.compiled_when_complex and value.dtype.is_complex:
        return _least(value) >= complex_numbers.MIN_ELEMENTS
    if not op.compiled_when_large or value.dtype.numpy not in compiled.machine_dtypes(op):
        return False
    return node.op.work_per_element * _least(value) >= machine_code.MIN_COMPILED_WORK


def _least(value: SymbolicTensor) -> int:
    """The least number of elements that a value may have, unless it is empty."""
    return math.prod([d for d in value.dims or () if d is not None])


def _trial(node: Node) -> Trial:
    # The code does not depend on the values of constants.
    key = None if may_divide_by_zero(node) else alike(node)
    found = _found.get(key) if key is not None else None
    if found is None:
        found = tried(node)
        if key is not None:
            if len(_found) >= MAX_CACHED_NODES:
                _found.clear()
            _found[key] = found
    return found


class _Search:
    """Finds clusters in one walk over the graph: a node joins the clusters of its inputs where it
    may.

    It may unless that makes a cycle: a node outside of the cluster that depends on the cluster, and
    that the new node depends on. The dependencies of a node are a set of clusters, kept as a bit
    mask.
    """

    def __init__(
        self,
        graph: Graph,
        small: bool = True,
        fits: Callable[[Node], bool] = lambda node: not can_compile(node),
    ) -> None:
        self.graph = graph
        self.small = small  # whether values that fit into registers are fused
        self.fits = fits
        self.needs: dict[int, int] = {}  # by node
        self.home: dict[int, Cluster] = {}  # by node
        self.shapes: dict[int, Any] = {}  # by value

    def clusters(self) -> list[Cluster]:
        """The clusters, in the order of their first nodes."""
        effects = 0
        for node in self.graph.nodes:
            needs = 0
            for other in (*[v.node for v in node.inputs], *node.control):
                needs |= self.needs.get(id(other), 0)
            if node.op.stateful:  # effects keep their order
                needs |= effects
                effects = needs
            self.needs[id(node)] = needs
            if self._fusible(node):
                self._fuse_into_group(node, needs)
            self._mark_used(node)
            if node.op.stateful:
                effects |= self.needs[id(node)]
        unique = {id(c): c for c in self.home.values()}
        return list(unique.values())

    def _mark_used(self, node: Node) -> None:
        current = self.home.get(id(node))
        for other in (*[v.node for v in node.inputs], *node.control):
            cluster = self.home.get(id(other))
            if cluster is not None and cluster is not current:
                cluster.used = True

    def _fusible(self, node: Node) -> bool:
        op = node.op
        if op.stateful or node.control or len(node.outputs) != 1 or not node.inputs:
            return False
        dims = node.outputs[0].dims
        if not self.small and shapes.known(dims) and is_small(dims):
            return False
        return is_elementwise(op) and operand_shapes.are_accepted(node) and self.fits(node)

    def _fuse_into_group(self, node: Node, needs: int) -> None:
        """Adds the node to the merged clusters of its inputs, or to a new one."""
        shape = self._shape(node)
        group: list[Cluster] = []
        for value in node.inputs:
            other = self.home.get(id(value.node))
            if other is None or other in group or self._known_shape(value) != shape:
                continue
            if self._may_join(node, [*group, other]):
                group.append(other)
        home = self._joined(group) if group else Cluster(1 << len(self.home))
        home.nodes.append(node)
        self.home[id(node)] = home
        home.needs |= self._needs_from_outside(node, [home])
        self.needs[id(node)] = needs | home.bits

    def _may_join(self, node: Node, group: list[Cluster]) -> bool:
        """True if the node and the clusters can be merged without a cycle."""
        bits, needs = 0, self._needs_from_outside(node, group)
        for cluster in group:
            bits |= cluster.bits
            needs |= cluster.needs
        return not needs & bits and not any(c.used and needs & ~c.needs for c in group)

    def _needs_from_outside(self, node: Node, homes: list[Cluster]) -> int:
        """The clusters that the node depends on by inputs that are in none of `homes`."""
        needs = 0
        for value in node.inputs:
            if self.home.get(id(value.node)) not in homes:
                needs |= self.needs.get(id(value.node), 0)
        return needs

    def _joined(self, group: list[Cluster]) -> Cluster:
        """Merges the clusters into the largest of them."""
        home = max(group, key=lambda c: len(c.nodes))
        for other in group:
            if other is home:
                continue
            home.bits |= other.bits
            home.needs |= other.needs
            home.used |= other.used
            home.nodes += other.nodes
            for node in other.nodes:
                self.home[id(node)] = home
        return home

    def _shape(self, node: Node) -> Any:
        """A key of the shape of the node's value: equal for values of equal shape."""
        value = node.outputs[0]
        found = self._known_shape(value)
        if found == id(value):
            for large in node.inputs:
                if all(self._within(small, large) for small in node.inputs):
                    found = self._known_shape(large)
                    break
        self.shapes[id(value)] = found
        return found

    def _known_shape(self, value: SymbolicTensor) -> Any:
        dims = value.dims
        return dims if shapes.known(dims) else self.shapes.get(id(value), id(value))

    def _within(self, small: SymbolicTensor, large: SymbolicTensor) -> bool:
        """True if broadcasting `small` with `large` certainly gives the shape of `large`."""
        if self._known_shape(small) == self._known_shape(large):
            return True
        if small.dims is None or large.dims is None:
            return small.dims == ()
        if len(small.dims) > len(large.dims):
            return False
        facing = large.dims[len(large.dims) - len(small.dims) :]
        pairs = zip(small.dims, facing, strict=True)
        return all(a == 1 or (a == b and b is not None) for a, b in pairs)


def _worth_it(cluster: Cluster) -> bool:
    first = cluster.nodes[0]
    large = (first.outputs[0].spec.count or 0) >= entry.MIN_PARALLEL_ELEMENTS
    return len(cluster.nodes) > 1 or not first.op.cheap or large


def _saves_memory(cluster: Cluster) -> bool:
    """True for a cluster of such large arrays that the call of a kernel is negligible."""
    least = MIN_FUSED_ELEMENTS if len(cluster.nodes) > 1 else entry.MIN_PARALLEL_ELEMENTS
    return _least(cluster.nodes[-1].outputs[0]) >= least
