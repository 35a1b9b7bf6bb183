"""Gives loops whose rows are independent a second body, for a block of the rows.

Lowering then has every thread run all iterations of some blocks (`lowering/parallel_loops.py`).
Whether it can is known during lowering only: the loop keeps its own body as well.
"""

from __future__ import annotations

from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.ir.passes import is_loop, looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.native.analysis.list_elements import element_of
from intaglio.native.analysis.loops import (
    ROW_AXES,
    ROW_BLOCKS,
    ROW_BODY,
    ROW_ELEMENTS,
    changes_rows,
)
from intaglio.native.analysis.sizes import is_small
from intaglio.native.passes.row_independence import Dependent, Dims, Rows
from intaglio.native.runtime.thread_pool import thread_count
from intaglio.opdef import raw
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT

# The least rows of a block; the least multiplications of all iterations; and the trip count that is
# assumed where it is not known.
MIN_BLOCK_ROWS, MIN_PARALLEL_MULTIPLICATIONS, UNKNOWN_TRIP_COUNT_ESTIMATE = 4, 1 << 20, 16


@looks_for(is_loop)
def divide_rows(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with the attributes of `analysis/loops.py` on its loops of independent rows."""
    threads = thread_count()
    if threads == 1:
        return graph
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        found = _divided(graph, node, threads) if node.op.control_flow == "loop" else None
        if found is None or not fuel.burn():
            new.keep(node)
            continue
        attrs = {**node.attrs, **found}
        new.keep(
            node, derived(node, new.values(node.inputs), attrs=attrs, control=new.control(node))
        )
    return new.result()


def _divided(graph: Graph, node: Node, threads: int) -> dict[str, object] | None:
    """The attributes of a loop; None if its rows depend on each other, or are too little work."""
    cond: Graph = node.attrs["cond"]
    body: Graph = node.attrs["body"]
    iterations = node.attrs.get(KNOWN_TRIP_COUNT, UNKNOWN_TRIP_COUNT_ESTIMATE)
    if _work(body) * iterations < MIN_PARALLEL_MULTIPLICATIONS:
        return None
    used = walk.uses(body)
    for value, result in zip(body.inputs, body.outputs, strict=True):
        # Loop variables pass unchanged through loops that do not read them.
        if value.dtype is resource and (value is not result or id(value) in used):
            return None
    forms = [_form(graph, node, i) for i in range(len(body.inputs))]
    if any(
        f is None and a is not b for f, a, b in zip(forms, body.inputs, body.outputs, strict=True)
    ):
        return None
    for count in _row_counts(body, forms):
        blocks = _block_count(count, threads)
        if blocks is None:
            continue
        try:
            rows = Rows(cond, body, forms, count)
        except Dependent:
            continue
        if not all(_is_possible(rows, cond, body, i, f) for i, f in enumerate(forms)):
            continue
        try:
            resized = rows.resized(count // blocks)
        except Dependent:
            return None
        elements = [
            f if v.dtype is variant else None for v, f in zip(body.inputs, forms, strict=True)
        ]
        return {
            ROW_BLOCKS: (blocks, count // blocks),
            ROW_AXES: tuple([rows.axis(v) for v in body.inputs]),
            ROW_ELEMENTS: tuple(elements),
            ROW_BODY: resized,
        }
    return None


def _form(graph: Graph, node: Node, index: int) -> Dims | None:
    """The shape of a loop variable, for a list that of its elements; None if it is unknown."""
    operand, value = node.inputs[index], node.attrs["body"].inputs[index]
    if value.dtype is resource:
        return ()
    if value.dtype is variant:
        dims = element_of(node.attrs["body"], value)[1]
        dims = dims if shapes.known(dims) else element_of(graph, operand)[1]
    else:
        dims = operand.dims if shapes.known(operand.dims) else value.dims
    return tuple(dims) if shapes.known(dims) else None


def _is_possible(rows: Rows, cond: Graph, body: Graph, index: int, form: Dims | None) -> bool:
    """False for a loop variable that blocks of rows could not update in place."""
    value = body.inputs[index]
    if value.dtype is variant or value is body.outputs[index] or rows.axis(value) < 1:
        return True
    return form is not None and not is_small(form) and changes_rows(cond, body, index)


def _work(body: Graph) -> int:
    """The multiplications of an iteration in products of matrices, as an estimate."""
    total = 0
    for node in body.nodes:
        if node.op is raw.MatMul:
            dims = node.inputs[0].dims
            inner = dims[-1] if dims else None
            total += (node.outputs[0].spec.count or 0) * (inner or 1)
    return total


def _row_counts(body: Graph, forms: Sequence[Dims | None]) -> list[int]:
    """The candidates for the number of rows: the first dims of the values that iterations change."""
    found: dict[int, None] = {}
    for value, result, form in zip(body.inputs, body.outputs, forms, strict=True):
        if form and len(form) > 1 and value is not result and result.node.op is not raw._AddAt:
            found[form[0]] = None
    return list(found)


def _block_count(rows: int, threads: int) -> int | None:
    """The number of blocks of equal size: one for each thread, a few more, or fewer."""
    more, fewer = range(threads, 4 * threads + 1), range(threads - 1, 1, -1)
    for count in (*more, *fewer):
        if rows % count == 0 and rows // count >= MIN_BLOCK_ROWS:
            return count
    return None
