"""Whether each row of a function's results depends on one row of its arguments, for any number of rows.

The number of rows n is the first dimension that a trace leaves open. Every value of a graph has one of
these states, which the rules of `row_rules.py` derive op by op:

- *shared*: it depends neither on n nor on any row;
- *rows*: one dimension is a multiple of n, and its i-th part depends on row i alone, in the same way for
  every i and n;
- *size*: integers that depend on n and on nothing else. Only shapes may be made of them;
- *items*: a list, with the state of its elements.

Then the function for n rows is the function for fewer rows, called for one block of rows after the other.
Shapes are worked out for several n: what is computed of sizes is a polynomial of n, so that these say
what it is for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.base.errors import OpError
from intaglio.base.shapes import Dims
from intaglio.export.rules import Rules
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.runtime import interpreter

# The numbers of rows that shapes are worked out for: more than the degree of any polynomial of shapes, and
# one row, whose dimension some ops drop or broadcast.
COUNTS = (3, 4, 6, 9, 14, 1)
# Constants of more elements are not computed with.
_MAX_FOLDED = 64
# A loop whose states have not settled by then never does.
_MAX_ROUNDS = 8


class Dependent(Exception):
    """A node whose result for one row depends on others, or may do so."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.node: Node | None = None


class State(NamedTuple):
    """What a value is; `axis` and `group` of rows: dimension `axis` has `group` elements for each row."""

    kind: str
    axis: int = 0
    group: int = 1
    # Of a list: a value with the state and shape of its elements; None while nothing is in it.
    item: Value | None = None


SHARED, SIZE, EMPTY = State("shared"), State("size"), State("items")


def rows(axis: int, group: int = 1) -> State:
    """A value with rows."""
    return State("rows", axis, group)


class Value(NamedTuple):
    """A state, and what is known of the value for each of `COUNTS`."""

    state: State
    specs: tuple[Spec, ...]

    @property
    def rank(self) -> int:
        """The number of dimensions. Raises Dependent if it is not known."""
        if self.specs[0].shape is None:
            raise Dependent("its rank is not known")
        return len(self.specs[0].shape)

    @property
    def dims(self) -> tuple[tuple[int, ...], ...]:
        """The shapes. Raises Dependent if one is not known."""
        found: list[tuple[int, ...]] = []
        for spec in self.specs:
            dims = spec.shape
            if not shapes.known(dims):
                raise Dependent("its shape does not follow from the number of rows")
            found.append(tuple(dims))
        return tuple(found)

    @property
    def known(self) -> Any:
        """The array that it is, whatever n. Raises Dependent if it is not known."""
        value = self.specs[0].value
        if self.state != SHARED or value is None:
            raise Dependent("an axis or an index is not known")
        return np.asarray(value)

    def matches(self, state: State) -> bool:
        """Whether the shapes are those of a state: only the dimension of rows depends on n."""
        if any(not shapes.known(s.shape) for s in self.specs):
            return state == SHARED  # what it is made of does not depend on n
        dims = self.dims
        if state.kind != "rows":
            return len({*dims}) == 1
        if len({len(d) for d in dims}) > 1 or not 0 <= state.axis < len(dims[0]):
            return False
        others = {(*d[: state.axis], *d[state.axis + 1 :]) for d in dims}
        counts = [d[state.axis] for d in dims]
        return len(others) == 1 and counts == [state.group * n for n in COUNTS]


Rule = Callable[["Analysis", Node, Sequence[Value]], "State | Sequence[State]"]
# Of ops, or of all with a trait: their `batching`, or that they reduce.
RULES: Rules[Rule] = Rules()
REDUCTION = "reduction"
# Ops whose results are polynomials of integers that are sizes.
_POLYNOMIAL = (
    raw.Shape,
    raw.ShapeN,
    raw.Size,
    raw.Rank,
    raw.Pack,
    raw.Unpack,
    raw.ConcatV2,
    raw.Mul,
    raw.AddV2,
    raw.Sub,
    raw.Neg,
    raw.Square,
    raw.Cast,
    raw.Identity,
    raw.ExpandDims,
    raw.Squeeze,
    raw.OnesLike,
    raw.ZerosLike,
)
# The same where all but the first operand, which are indices and axes, do not depend on n.
_POLYNOMIAL_AT = (
    raw.StridedSlice,
    raw.Slice,
    raw.GatherV2,
    raw.Prod,
    raw.Sum,
    raw.Reshape,
    raw.SplitV,
)


class Analysis:
    """The states of a graph's values. Raises Dependent, with the node, if rows depend on each other."""

    def graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """The values of the outputs."""
        values = {id(v): found for v, found in zip(graph.inputs, inputs, strict=True)}
        arguments = {id(v.node) for v in graph.inputs}
        for node in graph.nodes:
            if id(node) in arguments:
                continue
            try:
                results = self.node(node, [values[id(v)] for v in node.inputs])
            except Dependent as e:
                e.node = e.node or node
                raise
            except (
                ValueError,
                TypeError,
                KeyError,
                IndexError,
                OpError,
            ) as e:  # what inference says
                refused = Dependent(f"it does not take any number of rows ({e})")
                refused.node = node
                raise refused from e
            for value, found in zip(node.outputs, results, strict=True):
                values[id(value)] = found
        return [values[id(v)] for v in graph.outputs]

    def node(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """The values of a node's outputs."""
        if node.op.control_flow and node.op.has_graphs:
            return _control_flow(self, node, inputs)
        listed = _LISTS.find(node.op)
        if listed is not None:
            return listed(self, node, inputs)
        specs = [_specs(node, [v.specs[k] for v in inputs]) for k in range(len(COUNTS))]
        outputs = [tuple([s[i] for s in specs]) for i in range(len(node.outputs))]
        if node.op.shape_only or any(v.state.kind == "size" for v in inputs):
            found = _sizes(node, inputs, outputs)
            if found is not None:
                return found
        states = self._states(node, inputs, outputs)
        if all(s == SHARED for s in states):
            outputs = _folded(node, inputs, outputs)
        results = [Value(s, o) for s, o in zip(states, outputs, strict=True)]
        for result, value in zip(results, node.outputs, strict=True):
            if value.dtype is not resource and not result.matches(result.state):
                raise Dependent("its shape is no multiple of the number of rows")
        return results

    def _states(
        self, node: Node, inputs: Sequence[Value], outputs: Sequence[tuple[Spec, ...]]
    ) -> Sequence[State]:
        op = node.op
        if op.stateful and op.writes and inputs and op not in (raw.Assert, raw._Refusal):
            raise Dependent(
                "it writes a variable, draws random numbers or does what a call does once"
            )
        if all(v.state == SHARED for v in inputs):
            return [SHARED] * len(outputs)
        rule = RULES.find(op)
        if rule is None:
            if any(v.state.kind == "size" for v in inputs):
                raise Dependent("it computes with the number of rows")
            rule = _of_traits(op)
        found = rule(self, node, inputs)
        return [found] * len(outputs) if isinstance(found, State) else found


def _of_traits(op: Op) -> Rule:
    """The rule of an op without one of its own."""
    found = RULES.get(REDUCTION if op.reduces else op.batching)
    if found is None and ("scalar" in op.rules or op.blockwise):
        found = RULES["broadcast"]
    if found is None:
        raise Dependent("no rule says that its rows are independent")
    return found


def _specs(node: Node, inputs: Sequence[Spec]) -> list[Spec]:
    """What is known of the outputs, for inputs of which these are known."""
    old = [v.spec for v in node.outputs]
    if not inputs:
        return old
    new = node.op.output_specs(inputs, node.attrs)
    return [
        n if o.shape is None else Spec(o.dtype, shapes.merge(o.shape, n.shape), n.value, n.partial)
        for o, n in zip(old, new, strict=True)
    ]


def _sizes(
    node: Node, inputs: Sequence[Value], outputs: Sequence[tuple[Spec, ...]]
) -> list[Value] | None:
    """The results of a computation with sizes; None if it is no polynomial, or its operands are not known."""
    op = node.op
    at = op in _POLYNOMIAL_AT and all(v.state == SHARED for v in inputs[1:])
    if not at and op not in _POLYNOMIAL:
        return None
    results: list[list[Any]] = []
    for k, _ in enumerate(COUNTS):
        specs = [v.specs[k] for v in inputs]
        if op.shape_only and all(shapes.known(s.shape) for s in specs):
            arrays: list[Any] = [_without_elements(s) for s in specs]
        elif all(s.value is not None for s in specs):
            arrays = [s.value for s in specs]
        else:
            return None
        found = interpreter.call_kernel(op, arrays, node.attrs)
        results.append([np.asarray(a) for a in interpreter.flat_result(op, found)])
    values: list[Value] = []
    for i, specs in enumerate(outputs):
        arrays = [r[i] for r in results]
        if arrays[0].dtype.kind not in "iu":
            return None
        same = all(a.shape == arrays[0].shape and (a == arrays[0]).all() for a in arrays)
        known = [Spec(s.dtype, a.shape, a) for s, a in zip(specs, arrays, strict=True)]
        values.append(Value(SHARED if same else SIZE, tuple(known)))
    return values


def _folded(
    node: Node, inputs: Sequence[Value], outputs: Sequence[tuple[Spec, ...]]
) -> Sequence[tuple[Spec, ...]]:
    """Integers that follow from constants, such as axes, with their values."""
    if node.op.stateful or node.op.kernel_fn is None or not inputs:
        return outputs
    if any(v.state != SHARED or v.specs[0].value is None for v in inputs):
        return outputs
    arrays = [np.asarray(v.specs[0].value) for v in inputs]
    if any(a.dtype.kind not in "iu" or a.size > _MAX_FOLDED for a in arrays):
        return outputs
    if any(kind == "service" for kind, _ in node.op.kernel_order):
        return outputs
    found = interpreter.call_kernel(node.op, arrays, node.attrs)
    values = [np.asarray(a) for a in interpreter.flat_result(node.op, found)]
    return [
        tuple([Spec(s.dtype, a.shape, a) for s in specs])
        for specs, a in zip(outputs, values, strict=True)
    ]


def _without_elements(spec: Spec) -> Any:
    """An array of a known shape that takes no memory."""
    return np.broadcast_to(np.zeros((), bool), spec.shape if shapes.known(spec.shape) else ())


# -- control flow ------------------------------------------------------------------------------


def _without_values(value: Value) -> Value:
    """The value as iterations may change it."""
    return value._replace(specs=tuple([s.like() for s in value.specs]))


def _control_flow(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    if node.op.control_flow == "loop":
        if "body" not in node.attrs:
            raise Dependent("no rule says that its rows are independent")
        return _loop(analysis, node, inputs)
    graphs = [a for a in node.attrs.values() if isinstance(a, Graph)]
    graphs += [
        g
        for a in node.attrs.values()
        if isinstance(a, (list, tuple))
        for g in a
        if isinstance(g, Graph)
    ]
    taken = inputs
    if node.op.control_flow == "branch":
        chosen, *taken = inputs
        if chosen.state != SHARED:
            raise Dependent("which branch runs depends on rows")
    first, *others = [analysis.graph(g, taken) for g in graphs]
    for other in others:
        first = [_joined(a, b) for a, b in zip(first, other, strict=True)]
    return first


def _loop(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    cond, body = node.attrs["cond"], node.attrs["body"]
    fixed = [a is b for a, b in zip(body.inputs, body.outputs, strict=True)]
    values = [v if f else _without_values(v) for v, f in zip(inputs, fixed, strict=True)]
    for _ in range(_MAX_ROUNDS):
        (goes_on,) = analysis.graph(cond, values)
        if goes_on.state != SHARED:
            raise Dependent("how often the loop runs depends on rows")
        after = analysis.graph(body, values)
        joined = [v if f else _joined(v, a) for v, a, f in zip(values, after, fixed, strict=True)]
        if [v.state for v in joined] == [v.state for v in values]:
            return joined
        values = joined
    raise Dependent("the states of the loop do not settle")


def _joined(a: Value, b: Value) -> Value:
    """A value that is one or the other. Raises Dependent if their rows are not in the same place."""
    if a.state.kind == b.state.kind == "items":
        items = [v.state.item for v in (a, b) if v.state.item is not None]
        item = _joined(items[0], items[-1]) if items else None
        return a._replace(state=State("items", item=item))
    a, b = _without_values(a), _without_values(b)
    if a.state != b.state or SIZE in (a.state, b.state):
        raise Dependent("rows of what comes from branches or iterations are not in one place")
    if a.specs[0].dtype is not resource and a.dims != b.dims:
        raise Dependent("the shape of what comes from branches or iterations changes")
    return a


# -- lists -----------------------------------------------------------------------------------

_LISTS: Rules[Callable[[Analysis, Node, Sequence[Value]], Sequence[Value]]] = Rules()


def _list(state: State) -> Value:
    return Value(state, tuple([Spec(variant, ()) for _ in COUNTS]))


def _all_shared(values: Sequence[Value]) -> None:
    for value in values:
        if value.state.kind == "rows":
            raise Dependent("an index or a length depends on rows")


def _length_shared(value: Value) -> None:
    if value.state != SHARED:
        raise Dependent("a list has as many elements as there are rows")


@_LISTS.of(raw.TensorListReserve, raw.EmptyTensorList)
def _reserve(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    _all_shared(inputs)
    _length_shared(inputs[1])
    return [_list(EMPTY)]


@_LISTS.of(raw.TensorListFromTensor)
def _from_tensor(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    tensor = inputs[0]
    state = tensor.state
    if state.kind == "rows":
        if not state.axis:
            raise Dependent("a list has as many elements as there are rows")
        state = rows(state.axis - 1, state.group)
    elif state != SHARED:
        raise Dependent("it computes with the number of rows")
    specs = [Spec(s.dtype, d[1:]) for s, d in zip(tensor.specs, tensor.dims, strict=True)]
    return [_list(State("items", item=Value(state, tuple(specs))))]


@_LISTS.of(raw.TensorListSetItem, raw.TensorListPushBack)
def _put(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    handle, *where, item = inputs
    _all_shared(where)
    return [_joined(handle, _list(State("items", item=_without_values(item))))]


@_LISTS.of(raw.TensorListGetItem, raw.TensorListPopBack)
def _item(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    handle, *where = inputs
    _all_shared(where)
    found = handle.state.item
    if found is None:
        raise Dependent("nothing is known of the elements of a list")
    return [found] if len(node.outputs) == 1 else [handle, found]


@_LISTS.of(raw.TensorListStack, raw.TensorListGather)
def _stacked(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    handle, *where = inputs
    _all_shared(where)
    found = handle.state.item
    if found is None or found.state.kind == "size":
        raise Dependent("nothing is known of the elements of a list")
    count = node.outputs[0].dims
    length = count[0] if count else None
    specs = tuple(
        [Spec(s.dtype, (length, *d)) for s, d in zip(found.specs, found.dims, strict=True)]
    )
    state = found.state
    if state.kind == "rows":
        state = rows(state.axis + 1, state.group)
    return [Value(state, specs)]


@_LISTS.of(raw.TensorListLength)
def _length(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    return [Value(SHARED, tuple([v.spec for v in node.outputs] * len(COUNTS)))]


@_LISTS.of(raw.TensorListResize)
def _resized(analysis: Analysis, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
    _length_shared(inputs[1])
    return [inputs[0]]


def arguments(graph: Graph, dims: Sequence[Dims]) -> list[Value]:
    """The values of a graph's inputs, of these shapes: an open first dimension is that of rows."""
    return [_argument(v, d) for v, d in zip(graph.inputs, dims, strict=True)]


def _argument(value: SymbolicTensor, dims: Dims) -> Value:
    if dims is None:
        return Value(SHARED, tuple([value.spec] * len(COUNTS)))
    if None not in dims:
        return Value(SHARED, tuple([Spec(value.dtype, dims)] * len(COUNTS)))
    return Value(rows(0), tuple([Spec(value.dtype, (n, *dims[1:])) for n in COUNTS]))
