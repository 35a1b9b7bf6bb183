"""If, Loop and Scan: branches and loops of the graph, or their iterations where the number is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.shapes import TensorShape
from intaglio.export.onnx.loading.registry import operator
from intaglio.export.onnx.loading.tensor_lists import TensorList, as_list, common
from intaglio.export.onnx.loading.values import (
    ModelError,
    cast,
    dims,
    dtype_of,
    element,
    known,
    rank,
    static,
    tensor,
)
from intaglio.opdef import raw
from intaglio.trace import choices
from intaglio.trace.control_flow import recording, trace_branch
from intaglio.type_specs.tensor_array import TensorArray

# A loop that carries sequences, or returns what has no one shape, becomes its iterations: at most so many.
MAX_UNROLLED = 1024


@operator("If")
def _if(c, condition) -> Any:
    condition = raw.Reshape(condition, np.zeros(0, np.int32))
    taken = static(condition)
    if taken is not None:
        return tuple(c.run("then_branch" if bool(taken) else "else_branch"))

    found: list[list[Any]] = []

    def branch(name: str) -> Any:
        return lambda: _tensors(c.run(name), c.attr(name).output, found)

    results = choices.cond(condition, branch("then_branch"), branch("else_branch"))
    return tuple([_like(v, *column) for v, *column in zip(results, *found, strict=True)])


def _tensors(values: Sequence[Any], declared: Any, found: list[list[Any]]) -> list[Any]:
    """The results of a branch as tensors, sequences by their handles; adds what they were to `found`."""
    if any(v is None for v in values):
        raise ModelError("an optional without a value, from a branch that is not known")
    found.append(
        [
            as_list(v, _declared(d)) if isinstance(v, (list, TensorList)) else None
            for v, d in zip(values, declared, strict=True)
        ]
    )
    return [
        tensor(v) if own is None else own.handle for v, own in zip(values, found[-1], strict=True)
    ]


def _declared(value: Any) -> Any:
    """The type of a sequence's elements as a graph declares it; None if it does not."""
    number = value.type.sequence_type.elem_type.tensor_type.elem_type
    return dtype_of(number) if number else None


def _like(value: Any, *lists: Any) -> Any:
    """A result, as a list if the branches, or the iterations, gave one."""
    known = [one for one in lists if one is not None]
    if not known:
        return value
    filled = [one for one in known if not one.is_empty] or known[:1]
    form = filled[0].dims
    for one in filled[1:]:
        form = common(form, one.dims)
    return TensorList(value, filled[0].dtype, form, filled[0].is_empty)


@operator("Loop")
def _loop(c, most=None, condition=None, *carried) -> Any:
    body = c.attr("body")
    count = len(carried)
    scanned = len(body.output) - 1 - count
    limit = None if most is None else raw.Reshape(most, np.zeros(0, np.int32))
    first = True if condition is None else raw.Reshape(condition, np.zeros(0, np.int32))
    listed = [isinstance(v, (list, TensorList)) for v in carried]
    if any(v is None for v in carried) or (any(listed) and _has_known_count(limit, body, carried)):
        return _unrolled(c, limit, first, list(carried), scanned)
    if any(listed):
        return _with_lists(c, [most, condition], carried, listed)
    ranks = [_open(v.dims) for v in map(tensor, carried)]
    lost: set[int] = set()

    def goes_on(i: Any, holds: Any, *_: Any) -> Any:
        return holds if limit is None else raw.LogicalAnd(holds, raw.Less(i, limit))

    def step(i: Any, holds: Any, *state: Any) -> Any:
        found = c.run("body", [i, holds, *state[:count]])
        arrays = [
            a.write(cast(i, dtypes.int32), found[1 + count + n])
            for n, a in enumerate(state[count:])
        ]
        again = raw.Reshape(cast(tensor(found[0]), dtypes.bool_), np.zeros(0, np.int32))
        after = [*map(tensor, found[1 : 1 + count])]
        lost.update([n for n, v in enumerate(after) if v.dims is None])
        return [raw.AddV2(i, np.int64(1)), again, *after, *arrays]

    arrays = _arrays(c, body.output[1 + count :], [np.array(0, np.int64), np.array(True), *carried])
    start = [tensor(np.int64(0)), tensor(first), *map(tensor, carried), *arrays]

    def run() -> Any:
        forms = [TensorShape(v) for v in ((), (), *ranks)]
        return choices.while_loop(
            goes_on, step, start, shape_invariants=[*forms, *[None for _ in arrays]]
        )

    try:
        loop = run()
    except ValueError:
        if not lost:
            raise
        ranks = [None if n in lost else r for n, r in enumerate(ranks)]
        loop = run()  # without the ranks that are unknown after an iteration
    return (*loop[2 : 2 + count], *[a.stack() for a in loop[2 + count :]])


def _has_known_count(limit: Any, body: Any, carried: Any) -> bool:
    """Whether a loop with sequences runs a known number of times: its condition is constant, or handed on."""
    most = None if limit is None else static(limit)
    if any(isinstance(v, TensorList) for v in carried) or (limit is not None and most is None):
        return False
    nodes = {name: node for node in body.node for name in node.output}
    name = body.output[0].name
    while name in nodes and nodes[name].op_type == "Identity":
        name = nodes[name].input[0]
    is_constant = name in nodes and nodes[name].op_type == "Constant"
    handed_on = name == body.input[1].name or any(t.name == name for t in body.initializer)
    return (is_constant or handed_on) and (most is None or int(most) <= MAX_UNROLLED)


def _with_lists(c: Any, limits: list[Any], carried: Any, listed: list[bool]) -> Any:
    """A loop that carries sequences: their handles, and what all iterations leave of the elements' shapes."""
    lists = [
        as_list(v, _declared(d)) if one else None
        for v, one, d in zip(carried, listed, c.attr("body").input[2:], strict=True)
    ]
    handles = [v if own is None else own.handle for v, own in zip(carried, lists, strict=True)]
    while True:
        found: list[list[Any]] = []
        inner = _Carrying(c, lists, found)
        results = _loop(inner, *limits, *handles)
        after = [
            None if own is None else _like(v, own, *[row[i] for row in found])
            for i, (v, own) in enumerate(zip(results[: len(lists)], lists, strict=True))
        ]
        if [_form(one) for one in after] == [_form(one) for one in lists]:
            return (
                *[v if own is None else own for v, own in zip(results, after, strict=False)],
                *results[len(lists) :],
            )
        lists = [  # the body is written again for what it leaves
            None
            if own is None or one is None
            else TensorList(own.handle, one.dtype, one.dims, one.is_empty)
            for own, one in zip(lists, after, strict=True)
        ]


def _form(one: Any) -> Any:
    return None if one is None else (one.dims, one.is_empty)


class _Carrying:
    """A call whose body gets sequences by their handles, and returns them so."""

    def __init__(self, c: Any, lists: Sequence[Any], found: list[list[Any]]) -> None:
        self._call, self._lists, self._found = c, lists, found
        self.attr = c.attr

    def run(self, name: str, inputs: Sequence[Any]) -> list[Any]:
        """The outputs of the body."""
        number, goes_on, *state = inputs
        carried = [
            v if own is None else TensorList(v, own.dtype, own.dims, own.is_empty)
            for v, own in zip(state, self._lists, strict=True)
        ]
        condition, *results = self._call.run(name, [number, goes_on, *carried])
        kept = results[: len(carried)]
        after = [
            None if own is None else as_list(v, own.dtype)
            for v, own in zip(kept, self._lists, strict=True)
        ]
        self._found.append(after)
        kept = [v if own is None else own.handle for v, own in zip(kept, after, strict=True)]
        return [condition, *kept, *results[len(carried) :]]


def _arrays(c: Any, declared: Any, inputs: list[Any]) -> list[Any]:
    """What collects the scanned outputs; types that are not declared are those of a first iteration."""
    numbers = [v.type.tensor_type.elem_type for v in declared]
    if all(numbers):
        return [_array(dtype_of(n), _dims(v.type)) for n, v in zip(numbers, declared, strict=True)]
    first = len(c.attr("body").output) - len(numbers)
    if recording() is None:
        found = c.run("body", inputs)
    else:
        found = trace_branch(lambda: [tensor(v) for v in c.run("body", inputs)], "first").outputs
    return [_array(element(v)) for v in found[first:]]


def _array(kind: Any, sizes: Any = None) -> Any:
    """An array for elements of this shape, of which a loop without iterations has none."""
    return TensorArray(
        kind,
        size=0,
        dynamic_size=True,
        infer_shape=False,
        clear_after_read=False,
        element_shape=sizes,
    )


def _dims(declared: Any) -> list[int | None] | None:
    """The shape that a graph declares for a tensor."""
    if not declared.tensor_type.HasField("shape"):
        return None
    dims_ = declared.tensor_type.shape.dim
    return [d.dim_value if d.HasField("dim_value") else None for d in dims_]


def _open(sizes: Any) -> Any:
    return None if sizes is None else [None] * len(sizes)


def _unrolled(c: Any, limit: Any, holds: Any, state: list[Any], scanned: int) -> Any:
    """The iterations one after the other; what decides how many must be known."""
    most = MAX_UNROLLED + 1 if limit is None else int(known(limit, "the number of iterations"))
    rows: list[list[Any]] = [[] for _ in range(scanned)]
    i = 0
    while i < most and bool(known(tensor(holds), "the condition of a loop with a sequence")):
        if i == MAX_UNROLLED:
            raise ModelError(f"a loop that carries a sequence runs at most {MAX_UNROLLED} times")
        found = c.run("body", [np.int64(i) * np.ones((), np.int64), np.asarray(True), *state])
        holds, state = found[0], found[1 : 1 + len(state)]
        for row, value in zip(rows, found[1 + len(state) :], strict=True):
            row.append(value)
        i += 1
    return (*state, *[raw.Pack(row, axis=0) for row in rows])


@operator("Scan")
def _scan(c, *values) -> Any:
    """The body for each slice of the scanned inputs; version 8 has a dimension of examples."""
    if c.version < 9:
        return _scan_of_batches(c, values)
    return tuple(_scanned(c, list(values)))


def _scanned(c: Any, values: list[Any]) -> list[Any]:
    body, count = c.attr("body"), c.attr("num_scan_inputs")
    state, inputs = values[: len(values) - count], values[len(values) - count :]
    axes = c.ints("scan_input_axes") or [0] * count
    backwards = c.ints("scan_input_directions") or [0] * count
    rows = [_rows(tensor(v), a, b) for v, a, b in zip(inputs, axes, backwards, strict=True)]
    outputs = len(body.output) - len(state)
    length = raw.Shape(rows[0])[0]
    firsts = [raw.GatherV2(r, np.int32(0), 0) for r in rows]
    arrays = _arrays(c, body.output[len(state) :], [*state, *firsts])

    def step(i: Any, *carried: Any) -> Any:
        slices = [raw.GatherV2(r, i, 0) for r in rows]
        found = c.run("body", [*carried[: len(state)], *slices])
        stacks = [a.write(i, found[len(state) + n]) for n, a in enumerate(carried[len(state) :])]
        return [raw.AddV2(i, np.int32(1)), *map(tensor, found[: len(state)]), *stacks]

    start = [tensor(np.int32(0)), *map(tensor, state), *arrays]
    loop = choices.while_loop(lambda i, *_: raw.Less(i, length), step, start)
    found = [a.stack() for a in loop[1 + len(state) :]]
    out_axes = c.ints("scan_output_axes") or [0] * outputs
    out_backwards = c.ints("scan_output_directions") or [0] * outputs
    stacked = [
        _moved(raw.ReverseV2(v, np.array([0])) if b else v, a)
        for v, a, b in zip(found, out_axes, out_backwards, strict=True)
    ]
    return [*loop[1 : 1 + len(state)], *stacked]


def _rows(x: Any, axis: int, backwards: int) -> Any:
    """The slices of an axis first, in the order in which they are read."""
    axis %= rank(x)
    order = [axis, *[i for i in range(rank(x)) if i != axis]]
    x = raw.Transpose(x, np.array(order, np.int32)) if axis else x
    return raw.ReverseV2(x, np.array([0])) if backwards else x


def _moved(x: Any, axis: int) -> Any:
    """The first dimension in another place."""
    if not axis:
        return x
    if x.dims is None:
        last = raw.Rank(x)
        place = np.int32(axis) if axis > 0 else raw.AddV2(last, np.int32(axis))
        behind = raw.AddV2(place, np.int32(1))
        parts = [raw.Range(np.int32(1), behind, np.int32(1)), np.zeros(1, np.int32)]
        parts.append(raw.Range(behind, last, np.int32(1)))
        return raw.Transpose(x, raw.ConcatV2(parts, np.int32(0)))
    order = list(range(1, rank(x)))
    order.insert(axis % rank(x), 0)
    return raw.Transpose(x, np.array(order, np.int32))


def _scan_of_batches(c: Any, values: Any) -> Any:
    batch = dims(values[1])[0]
    if batch is None:
        raise ModelError("the number of examples must be known")
    found = [_scanned(c, [tensor(v)[b] for v in values[1:]]) for b in range(batch)]
    return tuple([raw.Pack(list(column), axis=0) for column in zip(*found, strict=True)])
