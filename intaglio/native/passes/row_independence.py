"""Loops whose iterations treat the rows of a batch independently, and the same loops for fewer
rows.

A row of a value depends on the same row of other values, and on values that all rows share: then
some rows can run all iterations alone. Every value of a body has an axis along which its rows are,
or is `SHARED`; for loop invariants the ops that use them determine it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import variant
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.native.analysis.loops import SHARED
from intaglio.native.analysis.sizes import MAX_REGISTER_ELEMENTS
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.ops.array.slicing import is_index

Dims = tuple[int, ...]


class Dependent(Exception):
    """The rows of a loop depend on each other, or may do so."""


class Rows:
    """The axes of the rows of a loop's values. Raises Dependent if its rows depend on each other.

    `forms` are the shapes of the loop's inputs, for lists those of their elements; there are
    `count` rows.
    """

    def __init__(self, cond: Graph, body: Graph, forms: Sequence[Dims | None], count: int) -> None:
        self.count = count
        self.body = body
        self._axes: dict[int, int] = {}
        self._forms = {id(v): f for v, f in zip(body.inputs, forms, strict=True)}
        for value, result in zip(body.inputs, body.outputs, strict=True):
            if value is not result:
                self._axes[id(value)] = self._first(value, result)
        read = {id(v) for n in cond.nodes for v in n.inputs}
        for inner, value in zip(cond.inputs, body.inputs, strict=True):
            if id(inner) in read:
                self.assign_axis(value, SHARED)
        placeholder_nodes = {id(v.node) for v in body.inputs}
        for node in body.nodes:
            if id(node) not in placeholder_nodes:
                self._node(node)
        for value, result in zip(body.inputs, body.outputs, strict=True):
            self.assign_axis(result, self.axis(value))

    def axis(self, value: SymbolicTensor) -> int:
        """The axis of the rows of a value; SHARED by default."""
        return self._axes.setdefault(id(value), SHARED)

    def known(self, value: SymbolicTensor) -> int | None:
        """The same, or None if it is not assigned yet."""
        return self._axes.get(id(value))

    def assign_axis(self, value: SymbolicTensor, axis: int) -> None:
        """Assigns the axis of the rows of a value. Raises Dependent if that contradicts an earlier one."""
        if self._axes.setdefault(id(value), axis) != axis:
            raise Dependent
        # A list has rows if its elements have.
        bare = value.dtype is variant and id(value) not in self._forms
        if axis != SHARED and not bare and not self.has_rows(value, axis):
            raise Dependent

    def has_rows(self, value: SymbolicTensor, axis: int) -> bool:
        """True if the length of an axis of a value, or of a list's elements, is the number of rows."""
        dims = self.dims(value)
        return 0 <= axis < len(dims) and dims[axis] == self.count

    def dims(self, value: SymbolicTensor) -> Dims:
        """The shape of a value; for a list that of its elements."""
        dims = self._forms.get(id(value), value.dims)
        if not shapes.known(dims):
            raise Dependent
        return tuple(dims)

    def _first(self, value: SymbolicTensor, result: SymbolicTensor) -> int:
        """The axis of the rows of a loop variable that every iteration changes."""
        axis = 0
        if result.node.op is raw._AddAt:
            axis = 1 if not result.node.attrs["axis"] else 0
        return axis if self.has_rows(value, axis) else SHARED

    def _node(self, node: Node) -> None:
        """Finds the axes of a node's results; constants with equal rows get one on first use."""
        if node.op is raw.Const and _are_equal(node.attrs["value"], self.count):
            return
        rule = _along(0, 1) if node.op.reduces else RULES.get(node.op)
        if rule is None and "scalar" in node.op.rules:
            rule = _elementwise
        if node.control or node.op.stateful or node.device:
            raise Dependent
        if rule is None or all(self.known(v) == SHARED for v in node.inputs):
            if node.op.has_graphs:
                raise Dependent
            for value in (*node.inputs, *node.outputs):
                self.assign_axis(value, SHARED)
            return
        axis = rule(self, node)
        for value in node.outputs:
            self.assign_axis(value, axis)

    # -- the loop for some of the rows -------------------------------------------------------

    def resized(self, size: int) -> Graph:
        """The body for `size` rows. Raises Dependent where a shape cannot have them."""
        new = Rewriter(self.body)
        body_inputs = {id(v.node) for v in self.body.inputs}
        for node in self.body.nodes:
            specs = [self._spec(v, size) for v in node.outputs]
            attrs, inputs = node.attrs, new.values(node.inputs)
            if node.op.reduces and (inputs[0].spec.count or 0) <= MAX_REGISTER_ELEMENTS:
                raise Dependent  # small values would be reduced in registers, in another order
            if id(node) in body_inputs:
                attrs = {**attrs, "shape": specs[0].shape}
            if node.op is raw.Const and self.axis(node.outputs[0]) == 0:
                attrs = {**attrs, "value": node.attrs["value"][:size]}
            name = node.op.shape_input
            if name and self.axis(node.outputs[-1]) == 0:
                input_index = node.op.input_names.index(name)
                inputs[input_index] = self._shape(new, node.inputs[input_index].node, size)
            new.keep(node, derived(node, inputs, attrs=attrs, specs=specs))
        return new.result()

    def _spec(self, value: SymbolicTensor, size: int) -> Spec:
        axis = self.axis(value)
        if axis == SHARED or value.dtype is variant:
            return value.spec
        dims = list(self.dims(value))
        dims[axis] = size
        return Spec(value.dtype, tuple(dims))

    def _shape(self, new: Rewriter, node: Node, size: int) -> SymbolicTensor:
        """A constant shape with the other number of rows."""
        shape = node.attrs["value"].copy() if node.op is raw.Const else None
        if shape is None or shape.ndim != 1 or shape[0] not in (self.count, -1):
            raise Dependent
        shape[0] = size
        spec = Spec(node.outputs[0].dtype, shape.shape, shape)
        new.record_beside(node)
        return new.like(node, (), attrs={**node.attrs, "value": shape}, specs=[spec]).outputs[0]


def _are_equal(array: Any, count: int) -> bool:
    """True for a constant with so many rows that are all equal."""
    return array.shape[:1] == (count,) and bool((array == array[:1]).all())


# -- what ops do with rows -------------------------------------------------------------------


def _elementwise(rows: Rows, node: Node) -> int:
    """The rows of all operands are along the axes that broadcasting aligns."""
    rank = len(rows.dims(node.outputs[0]))
    ranks = {len(rows.dims(v)) for v in node.inputs}
    if node.op is raw.Select and len(ranks) > 1:  # its condition is a vector of rows
        raise Dependent
    axes: set[int] = set()
    for value in node.inputs:
        axis = rows.known(value)
        if axis is not None and axis != SHARED:
            axes.add(axis + rank - len(rows.dims(value)))
    if not axes:
        for value in node.inputs:
            rows.assign_axis(value, SHARED)
        return SHARED
    if len(axes) > 1:
        raise Dependent
    (from_end,) = axes
    for value in node.inputs:
        axis = from_end - (rank - len(rows.dims(value)))
        there = axis >= 0 and rows.dims(value)[axis] != 1
        rows.assign_axis(value, axis if there else SHARED)
    return from_end


def _passed(rows: Rows, node: Node) -> int:
    """The axis of the operand."""
    return _first_of(rows, node.inputs[0])


def _first_of(rows: Rows, value: SymbolicTensor) -> int:
    """The axis of an operand; an unassigned one is assumed to be rows if its shape allows it."""
    axis = rows.known(value)
    return rows.axis(value) if axis is None else axis


def _product(rows: Rows, node: Node) -> int:
    """Rows times a matrix that they share."""
    a, b = node.inputs
    if _first_of(rows, a) != 0 or node.attrs["transpose_a"]:
        raise Dependent
    rows.assign_axis(b, SHARED)
    return 0


def _slice(rows: Rows, node: Node) -> int:
    """An index of another axis, or slices of other axes."""
    source, *where = node.inputs
    for value in where:
        rows.assign_axis(value, SHARED)
    attrs, axis = node.attrs, rows.known(source)
    index = next((i for i in (0, 1) if is_index(attrs, i)), None)
    if axis is None:
        if index is not None and rows.has_rows(source, 1 - index):
            axis = 1 - index
        elif index is None and rows.has_rows(source, 0) and _whole(node):
            axis = 0
        else:
            axis = SHARED
        rows.assign_axis(source, axis)
    if axis == SHARED:
        return SHARED
    if index is not None and axis == 1 - index:
        return 0
    if index is None and axis == 0 and _whole(node):
        return 0
    raise Dependent


def _whole(node: Node) -> bool:
    """True for a slice that takes all of the first axis, and leaves it first."""
    attrs, strides = node.attrs, node.inputs[3].node
    if attrs["shrink_axis_mask"] & 1 or attrs["new_axis_mask"]:
        return False
    if attrs["ellipsis_mask"] & 1:
        dims = node.inputs[0].dims
        return dims is not None and len(dims) >= (strides.outputs[0].dims or (99,))[0]
    if attrs["ellipsis_mask"] or strides.op is not raw.Const:
        return False
    both = attrs["begin_mask"] & attrs["end_mask"] & 1
    return bool(both) and int(strides.attrs["value"][0]) == 1


def _along(value: int, *numbers: int) -> Callable[[Rows, Node], int]:
    """The rule of an op along a constant axis, which must not be that of the rows.

    `value` is the input that has rows, `numbers` the one with axes, if any.
    """

    def rule(rows: Rows, node: Node) -> int:
        source = node.inputs[value]
        if _first_of(rows, source) != 0:
            raise Dependent
        for at in numbers:
            rows.assign_axis(node.inputs[at], SHARED)
            _not_first(node.inputs[at].node, len(rows.dims(source)))
        return 0

    return rule


def _not_first(axes: Node, rank: int) -> None:
    """Raises Dependent unless axes are known, and the first is not among them."""
    if axes.op is not raw.Const:
        raise Dependent
    found = np.asarray(axes.attrs["value"]).reshape(-1).tolist()
    if rank < 2 or not found or any(a % rank == 0 for a in found):
        raise Dependent


def _joined(rows: Rows, node: Node) -> int:
    """ConcatV2 along another axis."""
    *values, axis = node.inputs
    _not_first(axis.node, len(rows.dims(values[0])))
    rows.assign_axis(axis, SHARED)
    for value in values:
        rows.assign_axis(value, 0)
    return 0


def _reshaped(rows: Rows, node: Node) -> int:
    """Another shape whose first axis is the same."""
    for value in node.inputs[1:]:
        rows.assign_axis(value, SHARED)
    return _first_of(rows, node.inputs[0])


def _rowwise(rows: Rows, node: Node) -> int:
    """An op along the last axis."""
    if len(rows.dims(node.inputs[0])) < 2:
        raise Dependent
    return _first_of(rows, node.inputs[0])


def _taken(rows: Rows, node: Node) -> int:
    """An element of a list."""
    handle, *where = node.inputs
    for value in where:
        rows.assign_axis(value, SHARED)
    axis = rows.known(handle)
    if axis is None:
        axis = 0 if rows.has_rows(node.outputs[-1], 0) else SHARED
        rows.assign_axis(handle, axis)
    return axis


def _put(rows: Rows, node: Node) -> int:
    """A list with another element."""
    handle, *where, item = node.inputs
    for value in where:
        rows.assign_axis(value, SHARED)
    axis = _first_of(rows, handle)
    rows.assign_axis(item, axis)
    return axis


def _added(rows: Rows, node: Node) -> int:
    """_AddAt: rows added at an index of another axis."""
    total, at, item = node.inputs
    rows.assign_axis(at, SHARED)
    axis = 1 if not node.attrs["axis"] else 0
    rows.assign_axis(total, axis)
    rows.assign_axis(item, 0)
    return axis


RULES: dict[Op, Callable[[Rows, Node], int]] = {
    raw.MatMul: _product,
    raw.StridedSlice: _slice,
    raw.Split: _along(1, 0),
    raw.SplitV: _along(0, 2),
    raw.ConcatV2: _joined,
    **dict.fromkeys((raw.Reshape, raw.ExpandDims, raw.Squeeze), _reshaped),
    **dict.fromkeys((raw.Identity, raw.StopGradient, raw.PreventGradient), _passed),
    **dict.fromkeys((raw.Softmax, raw.LogSoftmax), _rowwise),
    raw.TensorListGetItem: _taken,
    raw.TensorListPopBack: _taken,
    raw.TensorListPushBack: _put,
    raw.TensorListSetItem: _put,
    raw._AddAt: _added,
}
