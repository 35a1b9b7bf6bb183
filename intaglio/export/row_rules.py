"""What ops do with rows: the rules of `row_analysis.py`, most of them one for all ops of a trait.

A rule is given a node and its operands, of which at least one is not shared, and gives the state of the
results. It raises Dependent where rows may depend on each other. That shapes are as a state says is
checked by its caller.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from intaglio.base import shapes
from intaglio.base.shapes import Dims
from intaglio.export.row_analysis import (
    COUNTS,
    REDUCTION,
    RULES,
    SHARED,
    Analysis,
    Dependent,
    State,
    Value,
    arguments,
    rows,
)
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import raw
from intaglio.opdef.spec import Spec
from intaglio.ops.array.slicing import Masks, numpy_index


def _of(value: Value) -> State:
    """The state of an operand that has rows. Raises Dependent for other ones."""
    if value.state.kind == "size":
        raise Dependent("it computes with the number of rows")
    if value.state.kind != "rows":
        raise Dependent("an operand has no rows")
    return value.state


def _shared(values: Sequence[Value]) -> None:
    """Raises Dependent unless no operand has rows, or is a size."""
    for value in values:
        if value.state != SHARED:
            raise Dependent("an operand that all rows share has rows")


def _shape_only(values: Sequence[Value]) -> None:
    """Raises Dependent unless operands are shared, or sizes that shapes are made of."""
    for value in values:
        if value.state.kind == "rows":
            raise Dependent("a shape depends on rows")


def _axes(value: Value, rank: int) -> list[int]:
    return [int(a) % max(rank, 1) for a in value.known.reshape(-1).tolist()]


# -- by traits ---------------------------------------------------------------------------------


@RULES.of(raw.Select, raw.SelectV2, raw.ClipByValue, raw.Bitcast, "broadcast", "alike", "leading")
def aligned(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Operands broadcast to one shape: what is left of the rows is no part of the op's own dimensions."""
    found: set[tuple[int, int]] = set()
    for value in inputs:
        if value.state != SHARED:
            state = _of(value)
            found.add((value.rank - state.axis, state.group))
    if len(found) != 1:
        raise Dependent("rows of operands are in several places")
    ((from_end, group),) = found
    rank = max([v.rank for v in inputs])
    if node.op is raw.Select and len({v.rank for v in inputs}) > 1:
        raise Dependent("its condition is one of rows")
    needed = {"alike": len(inputs), "leading": node.op.batched_inputs}.get(node.op.batching, 0)
    if any(v.state == SHARED for v in inputs[:needed]):
        raise Dependent("an operand has no rows")
    for value in inputs:
        there = value.state == SHARED and value.rank >= from_end
        if there and value.dims[0][value.rank - from_end] != 1:
            raise Dependent("an operand that all rows share has as many elements as there are rows")
    if from_end == 1 and "scalar" not in node.op.rules and not node.op.blockwise:
        raise Dependent("it works along the rows")
    # The same op on what one element of a row has: then rows are not among its own dimensions.
    trailing = [Spec(v.specs[0].dtype, v.dims[0][max(v.rank - from_end + 1, 0) :]) for v in inputs]
    try:
        result = node.op.output_specs(trailing, node.attrs)[0].shape
    except (ValueError, TypeError, IndexError):
        raise Dependent("it works along the rows") from None
    whole = node.outputs[0].dims
    if result is None or whole is None:
        raise Dependent("its rank is not known")
    if len(whole) - len(result) != rank - from_end + 1:
        raise Dependent("it works along the rows")
    return rows(rank - from_end, group)


@RULES.of(
    raw.FusedBatchNorm,
    raw.FusedBatchNormV2,
    raw.FusedBatchNormV3,
    raw.Conv2DBackpropInput,
    "examples",
)
def of_examples(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[State] | State:
    """The first dimension is that of examples, of the operands that have them."""
    if node.attrs.get("is_training"):
        raise Dependent("its statistics are those of all rows")
    groups = {_of(v).group for v in inputs if v.state.kind == "rows"}
    axes = {v.state.axis for v in inputs if v.state.kind == "rows"}
    images = inputs[2 if node.op is raw.Conv2DBackpropInput else 0]
    if len(groups) != 1 or axes != {0} or images.rank < 2:
        raise Dependent("its first dimension is not that of the rows")
    count = 1 if node.op.batching != "examples" else node.op.batched_inputs
    (group,) = groups
    if node.op is raw.Conv2DBackpropInput:
        _shape_only(inputs[:1])
        _shared(inputs[1:2])
    elif any(v.state.kind != "rows" for v in inputs[:count]):
        raise Dependent("an operand has no rows")
    else:
        _shared(inputs[count:])
    if len(node.outputs) > 1 and node.op.batching != "examples":  # statistics are given
        return [rows(0, group), *[SHARED] * (len(node.outputs) - 1)]
    return rows(0, group)


@RULES.of(raw.ArgMax, raw.ArgMin, raw.EuclideanNorm, REDUCTION)
def reduced(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along dimensions that are not the rows."""
    value, along = inputs[0], inputs[1]
    state, rank = _of(value), inputs[0].rank
    axes = _axes(along, rank)
    if state.axis in axes:
        raise Dependent("it reduces along the rows")
    keeps = node.attrs.get("keep_dims", False)
    return rows(state.axis - (0 if keeps else sum([a < state.axis for a in axes])), state.group)


@RULES.of(raw.Softmax, raw.LogSoftmax)
def along_last(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along the last dimension."""
    state = _of(inputs[0])
    if state.axis == inputs[0].rank - 1:
        raise Dependent("it works along the rows")
    return state


@RULES.of(raw.Cumsum, raw.Cumprod, raw.CumulativeLogsumexp, raw.ReverseV2, raw.Roll)
def along_axes(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along dimensions that are given, last."""
    state = _of(inputs[0])
    _shared(inputs[1:])
    if state.axis in _axes(inputs[-1], inputs[0].rank):
        raise Dependent("it works along the rows")
    return state


# -- shapes --------------------------------------------------------------------------------------


@RULES.of(
    raw.ZerosLike,
    raw.OnesLike,
    raw.StopGradient,
    raw.PreventGradient,
    raw.EnsureShape,
    raw.Snapshot,
)
def same(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """The operand's rows."""
    return inputs[0].state


@RULES.of(raw.Identity, raw.IdentityN)
def same_all(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> list[State]:
    """The operands' rows."""
    return [v.state for v in inputs]


def _result_dims(node: Node, inputs: Sequence[Value]) -> list[tuple[int, ...]]:
    """The shapes of the result. Raises Dependent if they are not known."""
    found: list[tuple[int, ...]] = []
    for k in range(len(COUNTS)):
        dims = node.op.output_specs([v.specs[k] for v in inputs], node.attrs)[0].shape
        if not shapes.known(dims):
            raise Dependent("its shape does not follow from the number of rows")
        found.append(tuple(dims or ()))
    return found


def _place(dims: Sequence[tuple[int, ...]]) -> State:
    """The only dimension that is a multiple of the number of rows; shared if all are constant."""
    if len({len(d) for d in dims}) > 1:
        raise Dependent("its rank depends on the number of rows")
    varying = [a for a, sizes in enumerate(zip(*dims, strict=True)) if len({*sizes}) > 1]
    if not varying:
        return SHARED
    axis = varying[0]
    group = dims[0][axis] // COUNTS[0]
    if len(varying) > 1 or [d[axis] for d in dims] != [group * n for n in COUNTS]:
        raise Dependent("its shape is no multiple of the number of rows")
    return rows(axis, group)


@RULES.of(raw.Reshape, raw.ExpandDims, raw.Squeeze)
def reshaped(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Another shape in which the elements of a row are still beside each other."""
    value = inputs[0]
    _shape_only(inputs[1:])
    found = _place(_result_dims(node, inputs))
    if value.state == SHARED and found == SHARED:
        return SHARED
    state = _of(value)
    if found == SHARED:
        raise Dependent("its shape is no multiple of the number of rows")
    before = math.prod(value.dims[0][: state.axis])
    result = _result_dims(node, inputs)[0]
    if before != math.prod(result[: found.axis]):
        raise Dependent("rows are no dimension of its result")
    return found


@RULES.of(raw.Fill, raw.BroadcastTo, raw.Tile)
def repeated(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """What all rows share, or the rows themselves, as often as a shape says."""
    value, other = (inputs[1], inputs[0]) if node.op is raw.Fill else (inputs[0], inputs[1])
    _shape_only([other])
    dims = _result_dims(node, inputs)
    found = _place(dims)
    if value.state == SHARED:
        return found
    state = _of(value)
    moved = len(dims[0]) - value.rank
    if found != rows(state.axis + moved, state.group):
        raise Dependent("rows are repeated")
    return found


@RULES.of(raw.Transpose, raw.ConjugateTranspose)
def transposed(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """The rows move."""
    state = _of(inputs[0])
    return rows(_axes(inputs[1], inputs[0].rank).index(state.axis), state.group)


@RULES.of(raw.Pad, raw.PadV2, raw.MirrorPad)
def padded(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Nothing before or behind the rows."""
    state = _of(inputs[0])
    _shared(inputs[2:])
    if inputs[1].known[state.axis].any():
        raise Dependent("it pads the rows")
    return state


def _one_place(values: Sequence[Value]) -> State:
    states = {_of(v) for v in values}
    if len(states) > 1:
        raise Dependent("rows of operands are in several places")
    return states.pop()


@RULES.of(raw.ConcatV2, raw.Concat)
def joined(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along another dimension."""
    *values, axis = inputs if node.op is raw.ConcatV2 else (*inputs[1:], inputs[0])
    state = _one_place(values)
    if state.axis in _axes(axis, values[0].rank):
        raise Dependent("it joins rows")
    return state


@RULES.of(raw.Pack)
def packed(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """A new dimension, before the rows or behind them."""
    state = _one_place(inputs)
    at = node.attrs["axis"] % (inputs[0].rank + 1)
    return rows(state.axis + (at <= state.axis), state.group)


@RULES.of(raw.Unpack)
def unpacked(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along another dimension."""
    state = _of(inputs[0])
    at = node.attrs["axis"] % inputs[0].rank
    if at == state.axis:
        raise Dependent("it divides the rows")
    return rows(state.axis - (at < state.axis), state.group)


@RULES.of(raw.Split, raw.SplitV)
def divided(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along another dimension."""
    axis, value = (inputs[0], inputs[1]) if node.op is raw.Split else (inputs[2], inputs[0])
    state = _of(value)
    if state.axis in _axes(axis, value.rank):
        raise Dependent("it divides the rows")
    return state


@RULES.of(raw.StridedSlice)
def sliced(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """All of the rows."""
    value, begin, end, strides = inputs
    state = _of(value)
    _shared([begin, strides])
    attrs = node.attrs
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    masks = Masks(*[attrs[n] for n in names])
    size = strides.known.size
    # What is not known takes something else than all of a dimension.
    begins, ends = (
        v.known.tolist() if v.specs[0].value is not None and v.state == SHARED else [1] * size
        for v in (begin, end)
    )
    index = list(numpy_index(begins, ends, strides.known.tolist(), masks))
    if Ellipsis not in index:
        index.append(Ellipsis)
    used = sum([i is not None and i is not Ellipsis for i in index])
    at = index.index(Ellipsis)
    index[at : at + 1] = [slice(None, None, 1)] * (value.rank - used)
    axis, result = 0, 0
    for entry in index:
        if entry is None:
            result += 1
            continue
        if axis == state.axis:
            whole = isinstance(entry, slice) and entry.step == 1 and entry.stop is None
            if not whole or entry.start not in (None, 0):
                raise Dependent("it takes some of the rows")
            return rows(result, state.group)
        axis, result = axis + 1, result + isinstance(entry, slice)
    raise Dependent("it takes some of the rows")


@RULES.of(raw.Slice)
def cut(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """All of the rows: from 0 to the end."""
    state = _of(inputs[0])
    size = inputs[2].known[state.axis]
    if inputs[1].known[state.axis] or size != -1:
        raise Dependent("it takes some of the rows")
    return state


# -- indices -------------------------------------------------------------------------------------


@RULES.of(raw.GatherV2, raw.Gather, raw.ResourceGather)
def gathered(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Rows of indices into what all share, or one index of another dimension for all rows."""
    source, indices, *axis = inputs
    batch = node.attrs.get("batch_dims", 0) % max(indices.rank + 1, 1)
    if source.state == SHARED and not batch:
        _shared(axis)
        state = _of(indices)
        at = _axes(axis[0], source.rank)[0] if axis else 0
        return rows(at + state.axis, state.group)
    state = _of(source)
    at = _axes(axis[0], source.rank)[0] if axis else 0
    if state.axis < batch:
        if indices.state != state:
            raise Dependent("indices of all rows differ from row to row, or are shared")
        return state
    _shared([indices])
    if at == state.axis:
        raise Dependent("it takes some of the rows")
    return rows(state.axis + (indices.rank - 1 - batch if state.axis > at else 0), state.group)


@RULES.of(raw.GatherNd, raw.ResourceGatherNd)
def gathered_nd(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Rows of indices into what all share."""
    _shared(inputs[:1])
    state = _of(inputs[1])
    if state.axis == inputs[1].rank - 1 or node.attrs.get("batch_dims", 0):
        raise Dependent("an index is made of rows")
    return state


@RULES.of(raw.OneHot)
def one_hot(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """A new dimension, before the rows or behind them."""
    state = _of(inputs[0])
    _shared(inputs[1:])
    at = node.attrs["axis"] % (inputs[0].rank + 1)
    return rows(state.axis + (at <= state.axis), state.group)


@RULES.of(raw.BiasAdd, raw.BiasAddV1)
def biased(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Along the channels."""
    state = _of(inputs[0])
    _shared(inputs[1:])
    first = node.attrs.get("data_format") == "NCHW"
    if state.axis == (1 if first else inputs[0].rank - 1):
        raise Dependent("it works along the rows")
    return state


# -- products ------------------------------------------------------------------------------------


@RULES.of(raw.MatMul, raw.BatchMatMul, raw.BatchMatMulV2, raw.BatchMatMulV3)
def product(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Rows are rows or columns of one operand, or matrices."""
    names = ("transpose_a", "transpose_b") if node.op is raw.MatMul else ("adj_x", "adj_y")
    dimensions: set[tuple[int, int]] = set()
    a, b = inputs
    rank = max(a.rank, b.rank)
    for number, (value, name) in enumerate(zip(inputs, names, strict=True)):
        if value.state == SHARED:
            continue
        state = _of(value)
        from_end = value.rank - state.axis
        if from_end <= 2:
            # The dimension of `a` before its last one, and the last of `b`, are those of the result.
            outer = (2 if number == 0 else 1) if not node.attrs[name] else (1 if number == 0 else 2)
            if from_end != outer:
                raise Dependent("it sums over the rows")
            from_end = 2 if number == 0 else 1
        dimensions.add((from_end, state.group))
    if len(dimensions) != 1:
        raise Dependent("rows of operands are in several places")
    ((from_end, group),) = dimensions
    for value in inputs:
        alone = from_end > 2 and value.state == SHARED and value.rank >= from_end
        if alone and value.dims[0][value.rank - from_end] != 1:
            raise Dependent("an operand that all rows share has as many matrices as there are rows")
    return rows(rank - from_end, group)


@RULES.of(raw.Einsum)
def contracted(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> State:
    """Rows are an index of the result, and no other index."""
    equation = node.attrs["equation"].replace(" ", "")
    left, arrow, right = equation.partition("->")
    if "." in equation or not arrow:
        raise Dependent("its equation leaves indices open")
    terms = left.split(",")
    states = [(t, v.state) for t, v in zip(terms, inputs, strict=True)]
    found = {
        (t[_of(v).axis], s.group) for (t, s), v in zip(states, inputs, strict=True) if s != SHARED
    }
    if len(found) != 1:
        raise Dependent("rows of operands are in several places")
    ((label, group),) = found
    for term, state in states:
        if term.count(label) > 1 or (label in term and state == SHARED):
            raise Dependent("rows meet each other")
    if right.count(label) != 1:
        raise Dependent("it sums over the rows")
    return rows(right.index(label), group)


def analysed(graph: Graph, dims: Sequence[Dims]) -> list[Value]:
    """The values of a graph's results, for inputs whose open first dimension is that of rows.

    Raises Dependent, with the node, if rows depend on each other.
    """
    return Analysis().graph(graph, arguments(graph, dims))
