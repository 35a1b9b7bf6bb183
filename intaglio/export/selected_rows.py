"""Results with as many rows as data says: arrays that are long enough, and the number of rows.

Ops such as Where, Unique and the suppression of boxes find rows by loops; what is computed of each row alone, and
gathers by such rows, is computed of all rows of the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import FLOATING, bool_, int64
from intaglio.export.loop_rules import loops, suppressed
from intaglio.export.portable_rules import NoRule
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter
from intaglio.opdef import door, late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op

# Distinct elements are searched for among those before: of more it takes too long.
MAX_UNIQUE = 4096


class Rows(NamedTuple):
    """An array whose first rows are the value, and how many these are, as a vector of one int64."""

    array: Any
    count: Any


# What the open outputs of an op are, and outputs of known shapes, in their order.
Source = Callable[[Node, Sequence[Any]], Sequence[Any]]
SOURCES: dict[str, Source] = {}


def _source(*ops: Op | OpReference) -> Callable[[Source], Source]:
    def register(function: Source) -> Source:
        SOURCES.update({op.name: function for op in ops})
        return function

    return register


def with_row_results(graph: Graph) -> tuple[Graph, list[int]]:
    """The graph, and which of its results had as many rows as data says.

    Such a result is a vector: its elements, then zeros. Its shape is one more result behind all others.
    What is of a known shape and follows from rows, such as sums of them, is computed of the arrays.
    """
    if not any([n.op.name in SOURCES for n in graph.nodes]):
        return graph, []
    written = _Writer(graph)
    return written.graph, written.numbers


class _Writer:
    """Writes a graph again, with rows beside the nodes that they stand for; what is unused goes."""

    def __init__(self, graph: Graph) -> None:
        self._new = new = Rewriter(graph)
        self._rows: dict[int, Rows] = {}
        self.numbers: list[int] = []
        for node in graph.nodes:
            new.keep(node)
            before = len(new.nodes)
            try:
                with door.pushed(new):
                    found = self._results(node)
            except NoRule:
                del new.nodes[before:]
                continue
            kept = new.values(node.outputs)
            for value, result in zip(node.outputs, found, strict=True):
                if isinstance(result, Rows):
                    self._rows[id(value)] = result
            results = [k if isinstance(r, Rows) else r for k, r in zip(kept, found, strict=True)]
            new.replace(node, results)
        outputs, added = new.values(graph.outputs), list[Any]()
        with door.pushed(new):
            for number, value in enumerate(graph.outputs):
                if id(value) in self._rows:
                    outputs[number], extent = _finished(self._rows[id(value)])
                    added.append(extent)
                    self.numbers.append(number)
        self.graph = prune(
            Graph(graph.name, new.values(graph.inputs), new.nodes, [*outputs, *added])
        )

    def _results(self, node: Node) -> Sequence[Any]:
        """The outputs, those of open shapes as rows. Raises NoRule for what has no such expression."""
        op, inputs = node.op, self._new.values(node.inputs)
        if op.name in SOURCES:
            if any(not shapes.known(v.dims) for v in node.inputs):
                raise NoRule
            if all(shapes.known(v.dims) for v in node.outputs):
                raise NoRule
            return SOURCES[op.name](node, inputs)
        found = [self._rows.get(id(v)) for v in node.inputs]
        if op.is_identity and any(found):
            return [f or v for f, v in zip(found, inputs, strict=True)]
        rows = next((f for f in found if f is not None), None)
        if rows is None:
            raise NoRule
        if op is raw.GatherV2 and found[1] is not None and len([f for f in found if f]) == 1:
            return [rows._replace(array=_gathered(node, inputs[0], rows.array))]
        if op is raw.Squeeze:
            return [rows._replace(array=_squeezed(node, rows.array))]
        if op.reduces in _NEUTRAL and found[1] is None:
            return [_reduced(node, rows, inputs[1])]
        if op is raw.Size:
            count = raw.Mul(rows.count, np.int64(np.prod(rows.array.dims[1:], dtype=np.int64)))
            size = raw.Cast(count, DstT=node.outputs[0].dtype)
            return [raw.Reshape(size, np.zeros(0, np.int32))]
        if "scalar" in op.rules and len(inputs) == 1:
            return [rows._replace(array=op(rows.array, **_own(node)))]
        raise NoRule


# What rows beyond the last one are for a reduction.
_NEUTRAL: dict[str, Callable[[Any], Any]] = {
    "sum": lambda dtype: 0,
    "product": lambda dtype: 1,
    "maximum": lambda dtype: -np.inf if dtype.kind == "f" else np.iinfo(dtype).min,
    "minimum": lambda dtype: np.inf if dtype.kind == "f" else np.iinfo(dtype).max,
}


def _reduced(node: Node, rows: Rows, axes: SymbolicTensor) -> Any:
    """A reduction of the rows, perhaps with other dimensions."""
    array = rows.array
    known = axes.node.attrs["value"] if axes.node.op is raw.Const else None
    dtype = array.dtype.numpy
    if known is None or dtype.kind not in "iuf" or array.dtype.size not in (1, 2, 4, 8):
        raise NoRule
    rank = len(array.dims)
    if 0 not in [int(a) % rank for a in np.asarray(known).reshape(-1)]:
        raise NoRule
    filled = _filled(rows, np.asarray(_NEUTRAL[node.op.reduces](dtype), dtype))
    return node.op(filled, axes, keep_dims=node.attrs["keep_dims"])


def _own(node: Node) -> dict[str, Any]:
    """The attributes of a call, without those that its inputs determine."""
    return {k: v for k, v in node.attrs.items() if k in ("DstT", "Tout", "Truncate", "alpha")}


def _gathered(node: Node, params: SymbolicTensor, indices: Any) -> Any:
    """Indices beyond the rows are zeros: there must be a first row."""
    axis, dims = node.inputs[2], params.dims or ()
    is_first = axis.node.op is raw.Const and int(axis.node.attrs["value"]) == 0
    if (
        not is_first
        or node.attrs["batch_dims"]
        or not shapes.known(dims)
        or not dims
        or not dims[0]
    ):
        raise NoRule
    return raw.GatherV2(params, indices, np.int32(0))


def _squeezed(node: Node, array: Any) -> Any:
    rank = len(array.dims)
    axes = [a % rank for a in node.attrs["axis"]]
    if not axes or 0 in axes:
        raise NoRule
    return raw.Squeeze(array, axis=axes)


def _filled(rows: Rows, element: Any) -> Any:
    """The array with an element where there are no more rows."""
    dims = rows.array.dims
    numbers = np.arange(dims[0], dtype=np.int64).reshape(-1, *[1] * (len(dims) - 1))
    return raw.SelectV2(raw.Less(numbers, rows.count), rows.array, element)


def _finished(rows: Rows) -> tuple[Any, Any]:
    """The elements in a vector, with zeros behind them, and the shape."""
    array, dims = rows.array, tuple(rows.array.dims)
    kept = _filled(rows, np.zeros((), array.dtype.numpy))
    vector = raw.Reshape(kept, np.array([-1], np.int32))
    if len(dims) == 1:
        return vector, raw.Identity(rows.count)
    return vector, raw.ConcatV2([rows.count, np.array(dims[1:], np.int64)], np.int32(0))


# -- sources --------------------------------------------------------------------------------------------


@_source(raw.Where)
def _where(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    (x,) = inputs
    dims = tuple([d for d in x.dims or () if d is not None])
    size, rank = int(np.prod(dims)), len(dims)
    if not size or not rank:
        raise NoRule
    mask = x if x.dtype is bool_ else raw.NotEqual(x, np.zeros((), x.dtype.numpy))
    inputs = [mask, np.array(dims, np.int64)]
    outputs = [(int64, (size, rank)), (int64, (1,))]
    return [Rows(*loops("selection:where", inputs, outputs, [], size, rank))]


@_source(raw.Unique, late.UniqueWithCounts)
def _distinct(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    (x,) = inputs
    size, index = int(np.prod(x.dims or ())), node.outputs[1].dtype
    if not 0 < size <= MAX_UNIQUE or x.dtype in FLOATING[:2] or not _has_elements(x):
        raise NoRule
    outputs = [(x.dtype, (size,)), (index, (size,)), (index, (size,)), (int64, (1,))]
    values, positions, counts, count = loops("selection:unique", [x], outputs, [], size)
    found = [Rows(values, count), positions, Rows(counts, count)]
    return found[: len(node.outputs)]


def _has_elements(x: SymbolicTensor) -> bool:
    return (
        x.dtype.is_numpy_compatible and x.dtype.numpy.kind in "iuf" and x.dtype.size in (1, 2, 4, 8)
    )


@_source(
    late.NonMaxSuppression,
    late.NonMaxSuppressionV2,
    late.NonMaxSuppressionV3,
    late.NonMaxSuppressionV4,
)
def _kept_boxes(node: Node, inputs: Sequence[Any]) -> Sequence[Any]:
    chosen, count = suppressed(node, inputs, padded=False)
    rows = Rows(chosen, raw.Cast(count, DstT=int64))
    return [rows, raw.Reshape(count, np.zeros(0, np.int32))][: len(node.outputs)]
