"""Rules of calls, branches and loops: the graphs that they run are vectorised too.

Where rows take different branches, each branch runs on the rows that take it, and only on them:
no row meets an error, or a gradient, of a branch that it does not take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import bool_, int32, resource, variant
from intaglio.base.shapes import Dims
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import convert, raw
from intaglio.opdef.spec import Spec
from intaglio.trace import choices
from intaglio.trace.control_flow import recording, switch
from intaglio.trace.graph import FuncGraph
from intaglio.vectorize.program import Vectorizer, needs_vectorizer
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows, vectorizes

# -- calls ---------------------------------------------------------------------------


@vectorizes(raw.PartitionedCall, raw.StatefulPartitionedCall)
@needs_vectorizer
def call(vectorizer: Vectorizer, rows: Rows, node: Node, inputs: Sequence[Row]) -> list[Row]:
    """The call, by vectorising the nodes of the called graph."""
    graph: Graph = node.attrs["f"]
    if graph.opaque:
        raise NotVectorizableError("the function calls itself")
    return vectorizer.run(graph, inputs, rows)


# -- branches ------------------------------------------------------------------------


@vectorizes(raw.If, raw.StatelessIf, raw.Case, raw.StatelessCase)
@needs_vectorizer
def branch(vectorizer: Vectorizer, rows: Rows, node: Node, inputs: Sequence[Row]) -> list[Row]:
    """One branch for all rows, or each by the rows that take it."""
    chosen, *operands = inputs
    graphs = _branches(node)
    if _has_handles(node):
        raise NotVectorizableError("a branch gives a list or resource")
    if chosen.stacked:
        return _by_rows(vectorizer, rows, node, chosen, operands, graphs)

    def carried(graph: Graph) -> Any:
        return lambda: [raw.Identity(rows.stack(r)) for r in vectorizer.run(graph, operands, rows)]

    if "branches" in node.attrs:
        found = _switch(chosen.tensor, [carried(g) for g in graphs])
    else:
        found = choices.cond(_truth(chosen.tensor), carried(graphs[0]), carried(graphs[1]), None)
    return [Row(t, True, v.spec) for t, v in zip(found, node.outputs, strict=True)]


def _branches(node: Node) -> tuple[Graph, ...]:
    if "branches" in node.attrs:
        return tuple(node.attrs["branches"])
    return node.attrs["then_branch"], node.attrs["else_branch"]


def _has_handles(node: Node) -> bool:
    return any(v.dtype in (variant, resource) for v in node.outputs)


def _switch(index: Any, functions: Sequence[Any]) -> Any:
    if recording() is not None:
        return switch(index, functions)
    number = int(index)
    return functions[number if 0 <= number < len(functions) else -1]()


def _truth(chosen: Any) -> Any:
    """What a branch is chosen by as a bool."""
    value = convert.to_tensor(chosen)
    if value.dtype is bool_:
        return value
    return raw.NotEqual(value, np.zeros((), value.dtype.numpy))


def _by_rows(
    vectorizer: Vectorizer,
    rows: Rows,
    node: Node,
    chosen: Row,
    operands: Sequence[Row],
    graphs: Sequence[Graph],
) -> list[Row]:
    if chosen.rank != 0:
        raise NotVectorizableError("a branch is chosen by more than one number")
    if "branches" in node.attrs:
        last = np.int32(len(graphs) - 1)
        number = chosen.tensor
        outside = raw.LogicalOr(raw.Less(number, np.int32(0)), raw.Greater(number, last))
        number = raw.SelectV2(outside, last, number)
        masks = [raw.Equal(number, np.int32(i)) for i in range(len(graphs))]
    else:
        truth = _truth(chosen.tensor)
        masks = [truth, raw.LogicalNot(truth)]
    rows_of_branches = [_true_rows(m) for m in masks]
    parts = [
        _for_some(vectorizer, g, operands, p) for g, p in zip(graphs, rows_of_branches, strict=True)
    ]
    specs = [v.spec for v in node.outputs]
    merged = [raw.DynamicStitch(rows_of_branches, list(c)) for c in zip(*parts, strict=True)]
    return [Row(_with_rows(m, rows, s), True, s) for m, s in zip(merged, specs, strict=True)]


def _true_rows(mask: Any) -> Any:
    """The numbers of the rows for which a mask holds."""
    return raw.Cast(raw.Squeeze(raw.Where(mask), axis=[1]), DstT=int32)


def _picked(row: Row, row_indices: Any) -> Row:
    """The value for some of the rows."""
    if not row.stacked:
        return row
    if row.tensor.dtype in (variant, resource):
        raise NotVectorizableError("rows that go different ways share a list")
    return Row(raw.GatherV2(row.tensor, row_indices, np.int32(0)), True, row.spec)


def _for_some(
    vectorizer: Vectorizer, graph: Graph, operands: Sequence[Row], row_indices: Any
) -> list[Any]:
    """The outputs of a graph for some of the rows; nothing runs where there are none."""
    count = row_indices.dims[0] if row_indices.dims is not None else None
    some = Rows(count if count is not None else raw.Size(row_indices))

    def carried() -> list[Any]:
        found = vectorizer.run(graph, [_picked(r, row_indices) for r in operands], some)
        return [raw.Identity(some.stack(r)) for r in found]

    if not all(shapes.known(v.dims) for v in graph.outputs):
        return carried()
    none = [np.zeros([0, *(d or 0 for d in v.dims or ())], v.dtype.numpy) for v in graph.outputs]
    return choices.cond(
        raw.Greater(some.count, np.int32(0)),
        carried,
        lambda: [convert.to_tensor(v) for v in none],
        None,
    )


def _with_rows(value: Any, rows: Rows, spec: Spec) -> Any:
    """Sets the static shape of the value in the graph."""
    if recording() is not None and spec.shape is not None:
        value.set_shape((rows.known, *spec.shape))
    return value


# -- loops ---------------------------------------------------------------------------


@vectorizes(raw.While, raw.StatelessWhile)
@needs_vectorizer
def loop(vectorizer: Vectorizer, rows: Rows, node: Node, inputs: Sequence[Row]) -> list[Row]:
    """All rows iterate together; rows that are done keep their state until the last is done."""
    test, body = node.attrs["cond"], node.attrs["body"]
    specs = [v.spec for v in body.inputs]
    start, alone = _stacked_state(vectorizer, rows, node, inputs)
    if not alone and any(r.stacked and r.tensor.dtype in (variant, resource) for r in start):
        raise NotVectorizableError(
            "rows that take different numbers of iterations and share a list"
        )
    varying = [i for i, r in enumerate(start) if r.tensor.dtype is not resource]
    flags = [r.stacked for r in start]

    def state(values: Sequence[Any]) -> list[Row]:
        known = list(start)
        for i, t in zip(varying, values, strict=True):
            known[i] = Row(t, flags[i], specs[i])
        return known

    def flat(found: Sequence[Row], some: Rows) -> list[Any]:
        return [_leaving(found[i], flags[i], some) for i in varying]

    def runs(values: Sequence[Any]) -> Row:
        return vectorizer.run(test, state(values), rows)[0]

    def together(*values: Any) -> list[Any]:
        return flat(vectorizer.run(body, state(values), rows), rows)

    def apart(alive: Any, *values: Any) -> list[Any]:
        row_indices = _true_rows(alive)
        some = Rows(raw.Size(row_indices))
        picked = [_picked(r, row_indices) for r in state(values)]
        found = flat(vectorizer.run(body, picked, some), some)
        at = raw.ExpandDims(row_indices, np.int32(1))
        after = [
            raw.TensorScatterUpdate(v, at, f) if flags[i] else f
            for i, v, f in zip(varying, values, found, strict=True)
        ]
        return [raw.LogicalAnd(alive, rows.stack(runs(after))), *after]

    first = [start[i].tensor for i in varying]
    shape = [_invariant(specs[i], flags[i], rows) for i in varying]
    if alone:
        ends = _while(lambda *v: runs(v).same, together, first, shape)
    else:
        alive = rows.stack(runs(first))
        _, *ends = _while(
            lambda a, *_: raw.Any(a, np.asarray([0], np.int32)),
            apart,
            [alive, *first],
            [alive.dims, *shape],
        )
    return state(ends)


def _while(test: Any, body: Any, start: Any, shapes_kept: Any) -> Any:
    return choices.while_loop(
        test,
        body,
        start,
        shapes_kept,
        parallel_iterations=10,
        back_prop=True,
        maximum_iterations=None,
        name=None,
    )


def _leaving(row: Row, stacked: bool, rows: Rows) -> Any:
    """A loop-carried value."""
    if not stacked or row.empty:
        return row.same
    return row.tensor if row.tensor.dtype is variant else rows.stack(row)


def _invariant(spec: Spec, stacked: bool, rows: Rows) -> Dims:
    """The shape that a value keeps from iteration to iteration."""
    if not stacked or spec.dtype is variant or spec.shape is None:
        return spec.shape
    return (rows.known, *spec.shape)


def _stacked_state(
    vectorizer: Vectorizer, rows: Rows, node: Node, inputs: Sequence[Row]
) -> tuple[list[Row], bool]:
    """The loop's state with what any iteration makes differ stacked; whether all rows have one trip count."""
    test, body = node.attrs["cond"], node.attrs["body"]
    flags = [r.stacked for r in inputs]
    alone = True
    while True:
        after, more = _after_iteration(vectorizer, rows, body, test, inputs, flags)
        alone = not more
        found = [
            a or b or (more and r.tensor.dtype not in (resource,) and _changes(body, i))
            for i, (a, b, r) in enumerate(zip(flags, after, inputs, strict=True))
        ]
        if found == flags:
            break
        flags = found
    start: list[Row] = []
    for row, flag in zip(inputs, flags, strict=True):
        if not flag or row.stacked:
            start.append(row)
        elif row.tensor.dtype is variant:
            if not row.empty:
                raise NotVectorizableError("a list of shared items gets items of each row")
            start.append(Row(row.tensor, True, row.spec))
        else:
            start.append(Row(rows.stack(row), True, row.spec))
    return start, alone


def _changes(body: Graph, index: int) -> bool:
    """False for what the body only passes on."""
    value = body.outputs[index]
    while value.node.op is raw.Identity:
        value = value.node.inputs[0]
    return value is not body.inputs[index]


def _after_iteration(
    vectorizer: Vectorizer,
    rows: Rows,
    body: Graph,
    test: Graph,
    inputs: Sequence[Row],
    flags: Sequence[bool],
) -> tuple[list[bool], bool]:
    """Which values differ from row to row after an iteration, and whether the condition does."""
    quiet = Vectorizer(vectorizer.fallback, False)
    graph = FuncGraph("vectorized_turn")
    with graph.as_default():
        probe = Rows(rows.known if rows.known is not None else 1)
        state: list[Row] = []
        for row, flag, value in zip(inputs, flags, body.inputs, strict=True):
            if row.tensor.dtype is resource:
                state.append(row)
                continue
            dims = value.dims
            wide = flag and value.dtype is not variant and dims is not None
            shape = (probe.known, *(dims or ())) if wide else dims
            inner = graph.placeholder(
                value.dtype, None if flag and dims is None else shape, "probe"
            )
            empty = row.empty and not flag
            state.append(Row(inner, flag, value.spec, empty))
        after = quiet.run(body, state, probe)
        more = quiet.run(test, state, probe)
    return [r.stacked for r in after], more[0].stacked
