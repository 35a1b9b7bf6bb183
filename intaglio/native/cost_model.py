"""The cost model: estimated seconds for interpreting and for compiling a graph, from the graph alone.

The tiers decide by these estimates, not by measured times, what is compiled and when, so that every run of
a program does the same.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

from intaglio.base import shapes
from intaglio.base.dtypes import variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef.machine_code import WORK_PER_FUNCTION
from intaglio.opdef.op import Op
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT

# Seconds of the interpreter for an op whose kernel is one step of NumPy's, or several (sorts, scans, products
# over named axes); and for an element of its results if the op moves or adds, if it is a function such as
# exp, and for other kernels.
PER_OP, PER_OP_OF_OTHERS = 2e-6, 1.5e-5
PER_ELEMENT, PER_FUNCTION, PER_ELEMENT_OF_OTHERS = 5e-10, 3e-9, 6e-9
# Seconds for a multiplication of a bilinear op.
PER_MULTIPLICATION = 1e-10
# Seconds of the interpreter for an op with the trait `cheap` on few elements.
PER_CHEAP_OP = 4e-7
# Seconds of a native function between interpreted ops for its call, for each operand and result, and more for those
# that are lists; for access to variables that it writes: to any, and to each.
PER_CALL, PER_OPERAND, PER_RESULT, PER_LIST = 4e-7, 5e-8, 1.5e-7, 3e-6
PER_ACCESS, PER_WRITTEN = 2e-6, 1e-6
# Seconds of the compiler for a graph, for an op in it that is neither a constant nor free, and for each
# function in it whose code is several series.
PER_GRAPH, PER_COMPILED, PER_SERIES = 8e-2, 4e-4, 8e-2
# The assumed trip count of a loop where it does not follow from the graph: typical, and cautious.
UNKNOWN_TRIP_COUNT_ESTIMATE, UNKNOWN_TRIP_COUNT_LOW_ESTIMATE = 16, 3


def compiler_seconds(graph: Graph) -> float:
    """The estimated seconds of the compiler for a graph, before or after it is optimised.

    Half of the nodes of a graph as it was traced are constants, such as the bounds of slices.
    """
    nodes = [n for g in (*walk.nested(graph), graph) for n in g.nodes]
    ops = sum([bool(n.inputs) and not n.op.free for n in nodes])
    # Nodes of the same op and dtype share their code.
    series = {
        (n.op, n.outputs[0].dtype) for n in nodes if n.op.work_per_element > WORK_PER_FUNCTION
    }
    return PER_GRAPH + PER_COMPILED * ops + PER_SERIES * len(series)


def interpreted_seconds(
    graph: Graph,
    unknown_trip_count: int = UNKNOWN_TRIP_COUNT_ESTIMATE,
    counts: Callable[[Node], bool] = lambda node: True,
    open_dim: int = 0,
) -> float:
    """The estimated seconds of an interpreted call; all branches count, and of other nodes those that `counts` names.

    Dimensions that are not known count as `open_dim` elements.
    """
    known: dict[int, float] = {}

    def seconds(part: Graph) -> float:
        found = known.get(id(part))
        if found is None:
            known[id(part)] = found = sum([of_node(n) for n in part.nodes if not n.op.free])
        return found

    def of_node(node: Node) -> float:
        if not node.op.has_graphs:
            return PER_OP + _kernel_seconds(node, open_dim) if counts(node) else 0.0
        inside = sum([seconds(g) for g in walk.attached(node)])
        if node.op.control_flow == "loop":
            inside *= node.attrs.get(KNOWN_TRIP_COUNT, unknown_trip_count)
        return PER_OP + inside

    return seconds(graph)


def replaceable_seconds(graph: Graph) -> float:
    """The least estimated seconds of an interpreted call that native code may save.

    Shapes that depend on data have no native code; open ones of inputs are known when the graph is compiled.
    """
    if not all([shapes.known(v.dims) for v in graph.inputs]):
        return interpreted_seconds(graph, UNKNOWN_TRIP_COUNT_LOW_ESTIMATE)
    return interpreted_seconds(graph, UNKNOWN_TRIP_COUNT_LOW_ESTIMATE, _has_known_shapes)


def _has_known_shapes(node: Node) -> bool:
    return all([shapes.known(v.dims) for v in (*node.inputs, *node.outputs)])


def call_seconds(node: Node) -> float:
    """The least seconds of the interpreter for a node, whatever the sizes of its arrays."""
    if node.op.free:
        return 0.0
    if node.op.has_graphs:
        return PER_OP + sum([call_seconds(n) for g in walk.attached(node) for n in g.nodes])
    return PER_CHEAP_OP if node.op.cheap else PER_OP


def native_call_seconds(
    operands: Sequence[SymbolicTensor], results: Sequence[SymbolicTensor], written: int, copied: int
) -> float:
    """The estimated seconds for a call of a native function, without its arithmetic.

    It writes so many variables, and copies so many elements to its results of which the interpreter has views.
    """
    access = PER_ACCESS + PER_WRITTEN * written if written else 0.0
    lists = sum([v.dtype is variant for v in (*operands, *results)])
    arguments = PER_OPERAND * len(operands) + PER_RESULT * len(results) + PER_LIST * lists
    return PER_CALL + arguments + access + PER_ELEMENT * copied


def has_unknown_trip_count(graph: Graph) -> bool:
    """Whether a graph has a loop whose trip count no pass has determined."""
    if not any([op.control_flow == "loop" for op in walk.all_ops(graph)]):
        return False
    return any(
        node.op.control_flow == "loop" and KNOWN_TRIP_COUNT not in node.attrs
        for part in (*walk.nested(graph), graph)
        for node in part.nodes
    )


def _elements(value: SymbolicTensor, open_dim: int) -> int:
    """The number of elements of a value; 0 if its rank is not known."""
    dims = value.dims
    return 0 if dims is None else math.prod([open_dim if d is None else d for d in dims])


def _kernel_seconds(node: Node, open_dim: int) -> float:
    """The seconds of a node's kernel that depend on its arrays' sizes, as far as they are known."""
    op = node.op
    per_result = _per_result(op)
    if per_result == 0.0:
        return 0.0
    results = sum([_elements(v, open_dim) for v in node.outputs])
    if per_result > 0.0:
        return per_result * results
    operands = sorted([_elements(v, open_dim) for v in node.inputs], reverse=True)
    if op.bilinear:
        multiplications = math.sqrt(math.prod(operands[:2]) * results)
        several = PER_OP_OF_OTHERS if op.has_lists else 0.0
        return several + PER_ELEMENT * results + PER_MULTIPLICATION * multiplications
    if not operands:
        return PER_ELEMENT * results
    if op.reduces:
        return PER_ELEMENT * operands[0]
    return PER_OP_OF_OTHERS + PER_ELEMENT_OF_OTHERS * max(results, operands[0])


_BY_OPERANDS = -1.0  # says that the cost depends on the operands too


@functools.cache
def _per_result(op: Op) -> float:
    """Seconds for an element of the op's results, or `_BY_OPERANDS`."""
    if op.shape_only:
        return 0.0
    if "scalar" in op.rules:
        heavy = max(op.work_per_element / WORK_PER_FUNCTION, 1.0)
        return PER_ELEMENT if op.native_exact else heavy * PER_FUNCTION
    if not op.bilinear and (op.data_inputs or op.cheap):
        return PER_ELEMENT
    return _BY_OPERANDS
