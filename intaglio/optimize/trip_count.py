"""Trip counts of loops with constant bounds, and the final values of their counters."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import is_loop, looks_for
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.opdef.op import Op
from intaglio.ops.control_flow.branches_and_loops import KNOWN_TRIP_COUNT

# Comparisons, each with the equivalent for exchanged operands.
_MIRRORED = {
    raw.Less: raw.Greater,
    raw.LessEqual: raw.GreaterEqual,
    raw.Greater: raw.Less,
    raw.GreaterEqual: raw.LessEqual,
}


@looks_for(is_loop)
def propagate_trip_counts(graph: Graph, fuel: Fuel | None = None) -> Graph:
    """The graph with the final values of counters as constants, for loops with a known trip count.

    Loop-invariant variables are replaced by their initial values.
    """
    fuel = fuel or Fuel()
    used = {id(v) for n in graph.nodes for v in n.inputs}
    used |= {id(v) for v in graph.outputs}
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        trip_count = trip_count_of(current) if node.op.control_flow == "loop" else None
        if trip_count is not None and KNOWN_TRIP_COUNT not in node.attrs:
            attrs = {**node.attrs, KNOWN_TRIP_COUNT: trip_count}
            current = derived(node, current.inputs, attrs=attrs, control=current.control)
        new.keep(node, current)
        if node.op.control_flow != "loop":
            continue
        for i, value in enumerate(node.outputs):
            if id(value) not in used:
                continue
            if stays(current, i):
                if fuel.burn():
                    new.substitute(value, current.inputs[i])
                continue
            end = None if trip_count is None else _end(current, i, trip_count)
            if end is not None and fuel.burn():
                new.record_beside(node)
                with door.pushed(new):
                    new.substitute(value, cast("SymbolicTensor", new.constant(end)))
    return new.result()


def trip_count_of(loop: Node) -> int | None:
    """The trip count of a loop; None if it does not follow from constants."""
    cond: Graph = loop.attrs["cond"]
    return _until(loop, cond.outputs[0].node)


def is_data(loop: Node) -> bool:
    """True if a loop's condition compares its counter with an input of the graph."""
    cond: Graph = loop.attrs["cond"]
    return _takes_input(loop, cond, cond.outputs[0].node)


def _takes_input(loop: Node, cond: Graph, test: Node) -> bool:
    if test.op is raw.LogicalAnd:
        return any(_takes_input(loop, cond, v.node) for v in test.inputs)
    inputs = [index_of(cond, v) for v in test.inputs if test.op in _MIRRORED]
    return any(i is not None and loop.inputs[i].node.op is raw.Placeholder for i in inputs)


def _until(loop: Node, test: Node) -> int | None:
    """The number of iterations for which a condition holds, from the start of a loop."""
    if test.op is raw.LogicalAnd:
        both = [_until(loop, v.node) for v in test.inputs]
        return None if None in both else min([n for n in both if n is not None])
    if test.op not in _MIRRORED:
        return None
    cond: Graph = loop.attrs["cond"]
    for op, (counter, limit) in ((test.op, test.inputs), (_MIRRORED[test.op], test.inputs[::-1])):
        index = index_of(cond, counter)
        if index is None or stays(loop, index) or not counter.dtype.is_integer:
            continue
        start, step = _number(loop.inputs[index]), step_of(loop, index)
        end = _known(loop, cond, limit)
        if start is not None and step and end is not None:
            return _count(op, start, step, end, counter.dtype.numpy)
    return None


def _count(op: Op, start: int, step: int, end: int, dtype: Any) -> int | None:
    """The iterations of a counter from `start` on; None if it runs away from its end, or wraps around."""
    if op is raw.LessEqual:
        end += 1
    if op is raw.GreaterEqual:
        end -= 1
    bounds = np.iinfo(dtype)
    # The last number that the condition may hold for, and one step more, must be numbers of the dtype.
    low, high = int(bounds.min), int(bounds.max)
    if op in (raw.Greater, raw.GreaterEqual):
        start, step, end, high = -start, -step, -end, -low
    if start >= end:
        return 0
    if step < 0 or end - 1 + step > high:
        return None
    return -((start - end) // step)


def _end(loop: Node, index: int, trip_count: int) -> Any:
    """The final value of a loop variable after this trip count, if it is a counter."""
    value = loop.outputs[index]
    start = _number(loop.inputs[index]) if value.dtype.is_integer else None
    step = step_of(loop, index) if start is not None else None
    if start is None or step is None:
        return None
    end, bounds = start + trip_count * step, np.iinfo(value.dtype.numpy)
    return np.asarray(end, value.dtype.numpy) if bounds.min <= end <= bounds.max else None


def stays(loop: Node, index: int) -> bool:
    """True for a loop-invariant variable."""
    body: Graph = loop.attrs["body"]
    return body.outputs[index] is body.inputs[index]


def step_of(loop: Node, index: int) -> int | None:
    """The constant step that each iteration adds to a loop variable; else None."""
    body: Graph = loop.attrs["body"]
    change, before = body.outputs[index].node, body.inputs[index]
    if change.op not in (raw.AddV2, raw.Add, raw.Sub) or change.outputs[0].dims != ():
        return None
    x, y = change.inputs
    if y is before and change.op is not raw.Sub:
        x, y = y, x
    step = _known(loop, body, y) if x is before else None
    return -step if step is not None and change.op is raw.Sub else step


def _known(loop: Node, graph: Graph, value: SymbolicTensor) -> int | None:
    """The number that a value of a loop's condition or body has in every iteration; else None."""
    index = index_of(graph, value)
    if index is None:
        return _number(value)
    return _number(loop.inputs[index]) if stays(loop, index) else None


def _number(value: SymbolicTensor) -> int | None:
    if value.node.op is not raw.Const or value.dims != () or not value.dtype.is_integer:
        return None
    return int(value.node.attrs["value"])


def index_of(graph: Graph, value: SymbolicTensor) -> int | None:
    """The index of a value among the graph's inputs; None for other values."""
    return next((i for i, v in enumerate(graph.inputs) if v is value), None)


__all__ = ["index_of", "is_data", "propagate_trip_counts", "stays", "step_of", "trip_count_of"]
