"""`tf.vectorized_map`: a function recorded for one row and executed for all.

Follows https://www.tensorflow.org/api_docs/python/tf/vectorized_map.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import log, nest
from intaglio.base.errors import invalid_argument
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import convert, door, raw
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.trace.control_flow import hand_on_variables, new_graph
from intaglio.trace.graph import FuncGraph
from intaglio.trace.loops import map_rows
from intaglio.vectorize import branches
from intaglio.vectorize.program import Vectorizer
from intaglio.vectorize.rows import NotVectorizableError, Row, Rows

RULES_OF_GRAPHS = branches  # importing it teaches the vectorizer to execute them


def vectorized(
    fn: Callable[[Any], Any], elems: Any, fallback: bool = True, warn: bool = True
) -> Any:
    """`fn` of each row of `elems`, stacked. Single rows serve all."""
    elems = nest.map_structure(convert.to_tensor, elems)
    flat: list[Tensor] = nest.flatten(elems)
    count = _count(flat)
    mapped = [_row_of_element(t, count) for t in flat]
    graph, result = _recorded(fn, elems, mapped)
    vectorizer = Vectorizer(fallback, warn)
    frozen = graph.freeze_function()
    rows = Rows(count)
    inputs = [*mapped, *[Row(t, False, _spec_of(t)) for t in graph.external_captures]]
    stacked = _carried(frozen, inputs, rows, vectorizer)
    source = iter(stacked)
    packed = [next(source) if isinstance(v, Tensor) else v for v in nest.flatten(result)]
    return nest.pack_sequence_as(result, packed)


def rows_of(
    graph: Graph,
    seeds: Sequence[Tensor],
    captured: Sequence[Tensor],
    count: Any,
    fallback: bool = True,
) -> list[Tensor]:
    """A graph's outputs, stacked: its first inputs have rows, the others are the same for all."""
    specs = graph.input_specs
    inputs = [
        Row(t, i < len(seeds), s)
        for i, (t, s) in enumerate(zip([*seeds, *captured], specs, strict=True))
    ]
    return _carried(graph, inputs, Rows(count), Vectorizer(fallback))


def _carried(
    graph: Graph, inputs: Sequence[Row], rows: Rows, vectorizer: Vectorizer
) -> list[Tensor]:
    """The outputs of a recorded graph for all rows, stacked."""
    try:
        found = vectorizer.run(graph, inputs, rows)
    except NotVectorizableError as e:
        if not vectorizer.fallback:
            raise ValueError(f"The function cannot be vectorized: {e}.") from None
        if vectorizer.warn:
            log.logger().warning("Using a while_loop for the whole function: %s.", e)
        return _each(graph, inputs, rows)
    return [rows.stack(r) for r in found]


def _each(graph: Graph, inputs: Sequence[Row], rows: Rows) -> list[Tensor]:
    """The whole graph for one row after the other."""
    numbers = convert.to_tensor(rows.numbers())
    op = raw.StatefulPartitionedCall if graph.stateful else raw.PartitionedCall
    types = tuple([v.dtype for v in graph.outputs])
    attrs = {**op.defaults, "Tin": tuple([v.dtype for v in graph.inputs])}
    attrs.update(Tout=types, f=graph)

    def one(row_tensors: Sequence[Tensor]) -> list[Tensor]:
        rest = iter(row_tensors[1:])
        tensors = [next(rest) if r.stacked else r.tensor for r in inputs]
        return list(door.carry_out(op, tensors, attrs, None))

    stacked = [r.tensor for r in inputs if r.stacked]
    return map_rows(one, [numbers, *stacked], list(types), None, "vectorized_map")


def _count(flat: Sequence[Tensor]) -> Any:
    """The number of rows: an integer where it is known."""
    if not flat:
        raise ValueError("elems must be a Tensor or a nonempty structure of them.")
    for tensor in flat:
        if tensor.dims == ():
            raise ValueError(
                "elems of tf.vectorized_map have rows: they are 1+ dimensional Tensors, "
                f"not scalars like {tensor!r}"
            )
    known = {t.dims[0] for t in flat if t.dims}
    several = {d for d in known if d not in (1, None)}
    if len(several) > 1:
        raise invalid_argument(
            f"elems must have the same number of rows, or one; not {sorted(several)}"
        )
    if several:
        return several.pop()
    if known == {1}:
        return 1
    opened = next(t for t in flat if not t.dims or t.dims[0] is None)
    return raw.StridedSlice(raw.Shape(opened), [0], [1], [1], shrink_axis_mask=1)


def _row_of_element(tensor: Tensor, count: Any) -> Row:
    """An element as input of the function: the same for all if it has one row."""
    dims = tensor.dims
    spec = Spec(tensor.dtype, None if dims is None else dims[1:])
    if dims and dims[0] == 1 and count != 1:
        return Row(raw.GatherV2(tensor, np.int32(0), np.int32(0)), False, spec)
    return Row(tensor, True, spec)


def _spec_of(tensor: Any) -> Spec:
    return Spec(tensor.dtype, tensor.dims)


def _recorded(fn: Callable[[Any], Any], elems: Any, mapped: Sequence[Row]) -> tuple[FuncGraph, Any]:
    """The graph of one row, and what the function returned in it."""
    graph = new_graph("vectorized_map")
    with graph.as_default():
        inputs = [
            graph.placeholder(r.spec.dtype, r.spec.shape, f"row_{i}") for i, r in enumerate(mapped)
        ]
        graph.inputs.extend(inputs)
        result = nest.map_structure(_as_output, fn(nest.pack_sequence_as(elems, inputs)))
        graph.outputs = [raw.Identity(v) for v in nest.flatten(result) if isinstance(v, Tensor)]
    hand_on_variables(graph)
    return graph, result


def _as_output(value: Any) -> Any:
    if value is None or isinstance(value, Node):
        return None
    return convert.to_tensor(value)


__all__ = ["rows_of", "vectorized"]
