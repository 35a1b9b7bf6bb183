"""Jacobians and Hessians: a backward graph that is recorded once, and vectorised or run for each row.

Follows https://www.tensorflow.org/api_docs/python/tf/GradientTape#jacobian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from intaglio import vectorize
from intaglio.autodiff.backward import backpropagate, total
from intaglio.autodiff.calls import call_graph
from intaglio.autodiff.tape import Entry
from intaglio.base import shapes
from intaglio.base.dtypes import as_dtype, int32, variant
from intaglio.base.shapes import Dims, as_dims
from intaglio.ir.graph import Graph
from intaglio.opdef import convert, door, raw
from intaglio.opdef.keys import key
from intaglio.opdef.tensor import Tensor
from intaglio.ops.control_flow.tensor_list import element_form
from intaglio.trace.graph import record

Seed = Callable[[Any], Any]


def jacobians(
    entries: Iterable[Entry], target: Tensor, sources: Sequence[Tensor | Any], together: bool = True
) -> list[Any]:
    """For each source the target's Jacobian, of shape target.shape + source.shape, or None.

    The rows are computed `together`, or one after the other.
    """
    shape = shape_of(target)
    count = raw.Size(target)

    def seed(row: Any) -> Any:
        ones = raw.OneHot(row, count, as_dtype_of(1, target), as_dtype_of(0, target), axis=0)
        return raw.Reshape(ones, shape)

    def seeds() -> Any:
        return raw.Reshape(
            _identity(count, target), raw.ConcatV2([raw.Reshape(count, [1]), shape], 0)
        )

    rows = _rows(entries, target, sources, seed, count, seeds if together else None)
    return [
        None
        if r is None
        else _shaped(r, raw.ConcatV2([shape, _shape_after_first(r)], 0), target, r)
        for r in rows
    ]


def _identity(count: Any, like: Tensor) -> Any:
    """The identity matrix."""
    return raw.MatrixDiag(raw.Fill(raw.Reshape(count, [1]), as_dtype_of(1, like)))


def batch_jacobian(
    entries: Iterable[Entry], target: Tensor, source: Tensor, together: bool = True
) -> Any:
    """The Jacobian of each example: shape (b, target.shape[1:], source.shape[1:]), or None."""
    shape = shape_of(target)
    count = raw.Prod(raw.StridedSlice(shape, [1], [0], [1], end_mask=1), np.asarray([0], np.int32))

    def seed(row: Any) -> Any:
        ones = raw.OneHot(row, count, as_dtype_of(1, target), as_dtype_of(0, target), axis=0)
        whole = raw.ConcatV2([[1], raw.StridedSlice(shape, [1], [0], [1], end_mask=1)], 0)
        return raw.BroadcastTo(raw.Reshape(ones, whole), shape)

    def seeds() -> Any:
        number = raw.Reshape(count, [1])
        inner = raw.StridedSlice(shape, [1], [0], [1], end_mask=1)
        each = raw.Reshape(_identity(count, target), raw.ConcatV2([number, [1], inner], 0))
        return raw.BroadcastTo(each, raw.ConcatV2([number, shape], 0))

    rows = _rows(entries, target, [source], seed, count, seeds if together else None)[0]
    if rows is None:
        return None
    rank = len(rows.dims) if rows.dims is not None else None
    if rank is None:
        raise ValueError("batch_jacobian needs a source of known rank.")
    swapped = raw.Transpose(rows, np.asarray([1, 0, *range(2, rank)], np.int32))
    inner = raw.StridedSlice(shape_of(source), [1], [0], [1], end_mask=1)
    result = raw.Reshape(swapped, raw.ConcatV2([shape, inner], 0))
    return _with_shape(result, dims_of(target), (dims_of(source) or ())[1:])


def unconnected_jacobian(target: Any, source: Any, dtype: Any, shared_axes: int = 0) -> Any:
    """Zeros of shape target.shape + source.shape[shared_axes:], of which dims may be unknown."""
    of_target, of_source = dims_of(target), dims_of(source)
    inner = None if of_source is None else of_source[shared_axes:]
    zero = np.zeros((), as_dtype(dtype).numpy)
    rest = raw.StridedSlice(shape_of(source), [shared_axes], [0], [1], end_mask=1)
    zeros = raw.Fill(raw.ConcatV2([shape_of(target), rest], 0), zero)
    return _with_shape(zeros, of_target, inner)


def shape_of(tensor: Any) -> Any:
    """A tensor's shape: a constant where it is known."""
    dims = dims_of(tensor)
    if shapes.known(dims):
        return convert.to_tensor(np.asarray(dims, np.int32))
    return raw.Shape(tensor)


def dims_of(tensor: Any) -> Dims:
    """The static shape of a tensor or variable."""
    return tensor.dims if isinstance(tensor, Tensor) else as_dims(tensor.shape)


def as_dtype_of(number: int, tensor: Tensor) -> Any:
    """A number in the dtype of a tensor."""
    return np.asarray(number, tensor.dtype.numpy)


def _shape_after_first(rows: Any) -> Any:
    return raw.StridedSlice(shape_of(rows), [1], [0], [1], end_mask=1)


def _shaped(rows: Any, shape: Any, target: Any, stacked: Any) -> Any:
    inner = None if stacked.dims is None else stacked.dims[1:]
    return _with_shape(raw.Reshape(rows, shape), target.dims, inner)


def _with_shape(result: Any, outer: Any, inner: Any) -> Any:
    if outer is not None and inner is not None and not door.level().eager:
        result.set_shape(tuple(outer) + tuple(inner))
    return result


# -- rows ----------------------------------------------------------------------------


def _rows(
    entries: Iterable[Entry],
    target: Tensor,
    sources: Sequence[Any],
    seed: Seed,
    count: Any,
    seeds: Callable[[], Any] | None,
) -> list[Any]:
    """For each source its gradients for all seeds, stacked; None if there is no gradient."""
    steps = list(entries)
    numbers = [key(getattr(s, "handle", s)) for s in sources]
    present: list[bool] = []

    def differentiate(weight: Any) -> list[Any]:
        gradients = {key(target): [weight]}
        backpropagate(reversed(steps), gradients, set(numbers))
        found = [
            convert.to_tensor(total(gradients[n])) if n in gradients else None for n in numbers
        ]
        present[:] = [f is not None for f in found]
        return [f for f in found if f is not None]

    graph, captured = _recorded(differentiate, target)
    if not any(present):
        return [None] * len(sources)
    level = door.level()
    n = getattr(count, "spec", None)
    if seeds is not None:
        stacked = vectorize.rows_of(graph, [seeds()], captured, _number(count))
    elif level.eager:
        stacked = _eager_rows(graph, captured, seed, int(count.numpy()))
    elif n is not None and n.value is not None and int(n.value) <= 1:
        outputs = call_graph(graph, [seed(convert.to_tensor(0)), *captured])
        stacked = [raw.ExpandDims(t, 0) for t in outputs]
    else:
        stacked = _loop(graph, captured, seed, count)
    rest = iter(stacked)
    return [next(rest) if p else None for p in present]


def _number(count: Any) -> Any:
    """The number of rows: an integer where it is known, else a scalar tensor."""
    if door.level().eager:
        return int(count.numpy())
    known = getattr(count, "spec", None)
    return count if known is None or known.value is None else int(known.value)


def _recorded(
    differentiate: Callable[[Any], list[Any]], target: Tensor
) -> tuple[Graph, list[Tensor]]:
    """The backward pass as a graph whose input is the target's gradient, and its captures."""
    recorder, result = record(
        differentiate, "__jacobian_row", [(target.dtype, target.dims, "seed")]
    )
    recorder.outputs = [
        v if getattr(v, "graph", None) is recorder else recorder.capture(v) for v in result
    ]
    captured = recorder.external_captures
    return recorder.freeze_function(), captured


def _eager_rows(graph: Graph, captured: Sequence[Tensor], seed: Seed, count: int) -> list[Any]:
    rows = [call_graph(graph, [seed(convert.to_tensor(i)), *captured]) for i in range(count)]
    if not rows:
        return [
            raw.Fill(
                np.asarray([0, *(d or 0 for d in v.dims or ())], np.int32),
                np.zeros((), v.dtype.numpy),
            )
            for v in graph.outputs
        ]
    return [raw.Pack(list(column), axis=0) for column in zip(*rows, strict=True)]


def _loop(graph: Graph, captured: Sequence[Tensor], seed: Seed, count: Any) -> list[Any]:
    """Runs the rows in a loop of the graph being recorded."""
    outputs = graph.outputs
    k = len(outputs)
    lists = [raw.EmptyTensorList(element_form(v.spec), -1, element_dtype=v.dtype) for v in outputs]
    first = convert.to_tensor(0)
    state = [first, convert.to_tensor(count), *lists]

    def more(i: Any, n: Any, *rest: Any) -> list[Any]:
        return [raw.Less(i, n)]

    def body(i: Any, n: Any, *rest: Any) -> list[Any]:
        found = call_graph(graph, [seed(i), *captured])
        grown = [raw.TensorListPushBack(h, f) for h, f in zip(rest[:k], found, strict=True)]
        return [raw.AddV2(i, 1), n, *grown]

    specs = [
        (int32, (), "row"),
        (int32, (), "rows"),
        *[(variant, (), f"list_{j}") for j in range(k)],
    ]
    body_graph, result = record(body, "jacobian_body", specs)
    body_graph.outputs = list(result)
    extra = body_graph.external_captures
    body_graph.outputs += body_graph.internal_captures
    wide = [*specs, *[(t.dtype, t.dims, f"capture_{j}") for j, t in enumerate(extra)]]
    more_graph, test = record(more, "jacobian_cond", wide)
    more_graph.outputs = list(test)
    frozen = body_graph.freeze_function()
    op = raw.While if frozen.stateful else raw.StatelessWhile
    ends = op([*state, *extra], cond=more_graph.freeze_function(), body=frozen)
    return [
        raw.TensorListStack(h, element_form(v.spec), element_dtype=v.dtype)
        for h, v in zip(ends[2 : 2 + k], outputs, strict=True)
    ]
