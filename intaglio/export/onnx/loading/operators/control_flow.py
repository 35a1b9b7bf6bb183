"""If, Loop and Scan: branches and loops of the graph, or their iterations where the number is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import dtypes
from intaglio.base.shapes import TensorShape
from intaglio.export.onnx.loading.registry import operator
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

    def branch(name: str) -> Any:
        return lambda: [_plain(v) for v in c.run(name)]

    return tuple(choices.cond(condition, branch("then_branch"), branch("else_branch")))


def _plain(value: Any) -> Any:
    if isinstance(value, list) or value is None:
        raise ModelError(
            "a sequence, or an optional without a value, from a branch that is not known"
        )
    return tensor(value)


@operator("Loop")
def _loop(c, most=None, condition=None, *carried) -> Any:
    body = c.attr("body")
    count = len(carried)
    scanned = len(body.output) - 1 - count
    limit = None if most is None else raw.Reshape(most, np.zeros(0, np.int32))
    first = True if condition is None else raw.Reshape(condition, np.zeros(0, np.int32))
    if any(isinstance(v, list) or v is None for v in carried):
        return _unrolled(c, limit, first, list(carried), scanned)
    kinds = [(v.dtype, v.dims) for v in map(tensor, carried)]

    def goes_on(i: Any, holds: Any, *_: Any) -> Any:
        return holds if limit is None else raw.LogicalAnd(holds, raw.Less(i, limit))

    def step(i: Any, holds: Any, *state: Any) -> Any:
        found = c.run("body", [i, holds, *state[:count]])
        arrays = [
            a.write(cast(i, dtypes.int32), found[1 + count + n])
            for n, a in enumerate(state[count:])
        ]
        again = raw.Reshape(cast(tensor(found[0]), dtypes.bool_), np.zeros(0, np.int32))
        return [raw.AddV2(i, np.int64(1)), again, *map(tensor, found[1 : 1 + count]), *arrays]

    arrays = _arrays(c, body.output[1 + count :], [np.array(0, np.int64), np.array(True), *carried])
    start = [tensor(np.int64(0)), tensor(first), *map(tensor, carried), *arrays]
    invariants = [(), (), *[_open(d) for _, d in kinds], *[() for _ in arrays]]
    loop = choices.while_loop(
        goes_on, step, start, shape_invariants=_invariants(invariants, arrays)
    )
    return (*loop[2 : 2 + count], *[a.stack() for a in loop[2 + count :]])


def _arrays(c: Any, declared: Any, inputs: list[Any]) -> list[Any]:
    """What collects the scanned outputs; types that are not declared are those of a first iteration."""
    numbers = [v.type.tensor_type.elem_type for v in declared]
    if all(numbers):
        return [_array(dtype_of(n)) for n in numbers]
    first = len(c.attr("body").output) - len(numbers)
    if recording() is None:
        found = c.run("body", inputs)
    else:
        found = trace_branch(lambda: [tensor(v) for v in c.run("body", inputs)], "first").outputs
    return [_array(element(v)) for v in found[first:]]


def _array(kind: Any) -> Any:
    return TensorArray(kind, size=0, dynamic_size=True, infer_shape=False, clear_after_read=False)


def _open(sizes: Any) -> Any:
    return None if sizes is None else [None] * len(sizes)


def _invariants(found: Any, arrays: Any) -> Any:
    return [TensorShape(v) for v in found[: len(found) - len(arrays)]] + [None for _ in arrays]


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
    if x.dims is None or not axis % max(rank(x), 1):
        return x
    order = list(range(1, rank(x)))
    order.insert(axis % rank(x), 0)
    return raw.Transpose(x, np.array(order, np.int32))


def _scan_of_batches(c: Any, values: Any) -> Any:
    batch = dims(values[1])[0]
    if batch is None:
        raise ModelError("the number of examples must be known")
    found = [_scanned(c, [tensor(v)[b] for v in values[1:]]) for b in range(batch)]
    return tuple([raw.Pack(list(column), axis=0) for column in zip(*found, strict=True)])
