"""Results with as many rows as data says: arrays that are long enough, and the number of rows.

Sources (`row_sources.py`) give rows. What treats each row by itself, which `row_analysis.py` derives op by op, is
computed of all rows that there may be; what works along rows has rules here, for which those beyond the last
one are made neutral. Sizes that follow from the number of rows are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32, from_numpy, int64
from intaglio.base.errors import ShapeError
from intaglio.export import row_rules
from intaglio.export.portable_rules import NoRule
from intaglio.export.row_analysis import COUNTS, SHARED, SIZE, Dependent, Value, rows
from intaglio.export.row_sources import SOURCES, Count, Rows, asserted, distinct
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import door, late, raw
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.optimize.common_subexpressions import share_subexpressions
from intaglio.optimize.partial_evaluation import graphs_of, with_graphs
from intaglio.runtime import interpreter

# The rules of ops, which the analysis finds in its table.
_ANALYSIS = row_rules.Analysis


class Size(NamedTuple):
    """Integers that follow from a number of rows: as they are, and for as many rows as there may be."""

    tensor: Any
    most: np.ndarray
    length: Count


Open = Rows | Size
# What an op along rows gives: its node, its inputs as they are, and as rows or sizes.
Along = Callable[["_Writer", Node, Sequence[Any], Sequence[Open | None]], Sequence[Any]]
_ALONG: dict[str, Along] = {}


def _along(*ops: Op | OpReference) -> Callable[[Along], Along]:
    def register(function: Along) -> Along:
        _ALONG.update({op.name: function for op in ops})
        return function

    return register


def with_row_results(graph: Graph) -> tuple[Graph, list[int]]:
    """The graph, and which of its results had as many rows as data says.

    Such a result is a vector: its elements, then zeros. Its shape is one more result behind all others.
    What is of a known shape and follows from rows, such as sums of them, is computed of the arrays.
    """
    if not any([n.op.name in SOURCES for g in (*walk.nested(graph), graph) for n in g.nodes]):
        return graph, []
    # One search for rows has one number of them.
    written = _Writer(share_subexpressions(graph))
    return written.finished(), written.numbers


class _Writer:
    """Writes a graph again, with rows beside the nodes that they stand for; what is unused goes."""

    def __init__(self, graph: Graph, inputs: Sequence[Open | None] = ()) -> None:
        """`inputs` are those of the graph that are rows or sizes, which it is given in parts."""
        self.old = graph
        self.new = new = Rewriter(graph)
        self._open: dict[int, Open] = {}
        # What the analysis knows of open values.
        self._values: dict[int, Value] = {}
        self.numbers: list[int] = []
        self.inputs = self._received(inputs) if any(inputs) else [*graph.inputs]
        for node in graph.nodes:
            kept = new.keep(node)
            before = len(new.nodes)
            new.root = node
            try:
                with door.pushed(new):
                    found = self._results(node)
            except (NoRule, ShapeError):
                del new.nodes[before:]
                continue
            finally:
                new.root = None
            results: list[Any] = []
            for value, old, result in zip(node.outputs, kept.outputs, found, strict=True):
                if isinstance(result, (Rows, Size)):
                    self._open[id(value)] = result
                    if id(value) not in self._values:
                        self._values[id(value)] = _known(result)
                results.append(
                    old if isinstance(result, Rows) else getattr(result, "tensor", result)
                )
            new.replace(node, results)
            if node.op.control_flow:  # it is not carried out twice
                del new.nodes[before - 1]
                new.absorb([node], new.nodes[-1])

    def _received(self, inputs: Sequence[Open | None]) -> list[SymbolicTensor]:
        """The inputs of a branch: of rows an array, and each number of rows once."""
        numbers: dict[int, Count] = {}
        found: list[SymbolicTensor] = []
        for value, open_ in zip(self.old.inputs, inputs, strict=True):
            if open_ is None:
                found.append(value)
                continue
            key = id(open_.length.number)
            if key not in numbers:
                number = self._placeholder(int64, (1,))
                found.append(number)
                numbers[key] = Count(number, open_.length.most)
            if isinstance(open_, Size):
                found.append(value)
                self._open[id(value)] = Size(value, open_.most, numbers[key])
                continue
            array = self._placeholder(open_.array.dtype, open_.array.dims)
            found.append(array)
            self._open[id(value)] = open_._replace(array=array, length=numbers[key])
            self._values[id(value)] = _known(self._open[id(value)])
        return found

    def _placeholder(self, dtype: Any, dims: Any) -> SymbolicTensor:
        attrs = {"dtype": dtype, "shape": tuple(dims)}
        name = self.new.unique_name("input")
        node = Node(raw.Placeholder, (), attrs, name, [Spec(dtype, tuple(dims))])
        return self.new.add(node).outputs[0]

    @property
    def results(self) -> list[Any]:
        """The outputs, or the rows that they are."""
        kept = self.new.values(self.old.outputs)
        found = [self._open.get(id(v)) for v in self.old.outputs]
        return [f if isinstance(f, Rows) else k for f, k in zip(found, kept, strict=True)]

    def closed(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """The graph with these outputs. Raises NoRule if it needs rows that are no longer its inputs."""
        graph = prune(Graph(self.old.name, self.inputs, self.new.nodes, outputs))
        there = {id(v.node) for v in graph.inputs}
        if any(n.op is raw.Placeholder and id(n) not in there for n in graph.nodes):
            raise NoRule
        return graph

    def finished(self) -> Graph:
        """The whole graph, whose results of rows are vectors, and their shapes behind all results."""
        outputs, added = self.new.values(self.old.outputs), list[Any]()
        with door.pushed(self.new):
            for number, value in enumerate(self.old.outputs):
                found = self._open.get(id(value))
                if isinstance(found, Rows):
                    outputs[number], extent = _finished(found)
                    added.append(extent)
                    self.numbers.append(number)
        return prune(
            Graph(
                self.old.name, self.new.values(self.old.inputs), self.new.nodes, [*outputs, *added]
            )
        )

    def _branches(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[Any]:
        """A branch whose graphs are given rows, or give them: then as many as any of them may give."""
        if found[0] is not None:
            raise NoRule
        parts = [_Writer(graph, found[1:]) for _, graph in graphs_of(node)]
        columns = [*zip(*[p.results for p in parts], strict=True)]
        limits = [_common_limit(column) for column in columns]
        bodies: list[Graph] = []
        for part in parts:
            outputs: list[Any] = []
            with door.pushed(part.new):
                for result, most in zip(part.results, limits, strict=True):
                    outputs += [result] if most is None else _lengthened(result, most)
                outputs = [*map(_tensor, outputs)]
            bodies.append(part.closed(outputs))
        taken: list[Any] = [inputs[0]]
        seen: set[int] = set()
        for value, open_ in zip(inputs[1:], found[1:], strict=True):
            if open_ is not None and id(open_.length.number) not in seen:
                seen.add(id(open_.length.number))
                taken.append(_tensor(open_.length.number))
            taken.append(open_.array if isinstance(open_, Rows) else value)
        attrs = with_graphs(node, bodies)
        types = {
            "output_shapes": (),
            "Tin": tuple([v.dtype for v in taken[1:]]),
            "Tout": tuple([v.dtype for v in bodies[0].outputs]),
        }
        attrs |= {k: v for k, v in types.items() if k in attrs}
        copy = self.new.add(
            derived(
                node,
                taken,
                attrs=attrs,
                specs=[v.spec for v in bodies[0].outputs],
                control=self.new.control(node),
                name=self.new.unique_name(node.name),
            )
        )
        rest = iter(copy.outputs)
        return [
            next(rest) if most is None else Rows(next(rest), Count(next(rest), most))
            for most in limits
        ]

    def _results(self, node: Node) -> Sequence[Any]:
        """The outputs, those of open shapes as rows. Raises NoRule for what has no such expression."""
        op, inputs = node.op, self.new.values(node.inputs)
        found = [self._open.get(id(v)) for v in node.inputs]
        if op.control_flow == "branch":
            if not any(found) and not any(map(_is_open, node.outputs)):
                raise NoRule
            return self._branches(node, inputs, found)
        if not any(found):
            if op.name not in SOURCES or not all([shapes.known(v.dims) for v in inputs]):
                raise NoRule
            if all(shapes.known(v.dims) for v in node.outputs):
                raise NoRule
            return SOURCES[op.name](node, inputs)
        if op.is_identity:
            for taken, given in zip(node.inputs, node.outputs, strict=True):
                if id(taken) in self._values:
                    self._values[id(given)] = self._values[id(taken)]
            return [f or v for f, v in zip(found, inputs, strict=True)]
        if op.control_flow or op.stateful or not all(map(_is_usable, inputs, found)):
            raise NoRule
        if op.name in ("ZerosLike", "OnesLike") and isinstance(found[0], Rows):
            return [found[0]._replace(array=op(found[0].array))]
        counts = {id(f.length.number): f.length for f in found if f is not None}
        if len(counts) == 1:
            try:
                return self._by_rows(node, inputs, found, next(iter(counts.values())))
            except Dependent:
                pass
        rule = _ALONG.get(op.name) or (_reduced if op.reduces else None)
        if rule is not None:
            return rule(self, node, inputs, found)
        if op.batching == "broadcast" or "scalar" in op.rules or op in (raw.Select, raw.SelectV2):
            return self._broadcast(node, inputs, found)
        raise NoRule

    def _value(self, old: SymbolicTensor, new: SymbolicTensor, found: Open | None) -> Value:
        """What the analysis knows of an operand."""
        if found is not None:
            return self._values[id(old)]
        spec = old.spec if old.node.op is raw.Const else new.spec
        if new.node.op is raw.Const and spec.value is None:
            spec = Spec(spec.dtype, new.dims, new.node.attrs["value"])
        return Value(SHARED, (spec,) * len(COUNTS))

    def _by_rows(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None], count: Count
    ) -> Sequence[Any]:
        """What treats each row by itself. Raises Dependent for what does not."""
        operands = [self._value(*v) for v in zip(node.inputs, inputs, found, strict=True)]
        try:
            values = _ANALYSIS().node(node, operands)
        except (ValueError, TypeError, KeyError, IndexError) as e:
            raise Dependent(str(e)) from e
        if any(v.state in (SIZE, SHARED) for v in values):
            results = self._sizes(node, inputs, found, values, count)
        else:
            results = []
            outputs = self.at_most(node, inputs, found)
            for output, value in zip(outputs, values, strict=True):
                state = value.state
                if (
                    not shapes.known(output.dims)
                    or output.dims[state.axis] != state.group * count.most
                ):
                    raise NoRule
                results.append(Rows(output, count, state.axis, state.group))
        for old, value in zip(node.outputs, values, strict=True):
            self._values[id(old)] = value
        return results

    def at_most(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[SymbolicTensor]:
        """The outputs of a node for as many rows as there may be."""
        safe = _SAFE.get(node.op.name, {})
        operands: list[SymbolicTensor] = []
        for number, (value, open_) in enumerate(zip(inputs, found, strict=True)):
            operand: Any = value
            if isinstance(open_, Size):
                operand = raw.Const(value=open_.most, dtype=value.dtype)
            elif isinstance(open_, Rows):
                operand = open_.array
                if number in safe:
                    operand = filled(open_, np.asarray(safe[number], operand.dtype.numpy))
            operands.append(operand)
        return self.copied(node, operands)

    def copied(self, node: Node, operands: Sequence[SymbolicTensor]) -> Sequence[SymbolicTensor]:
        """The outputs of a node for these operands, whose shapes say theirs."""
        specs = node.op.output_specs([v.spec for v in operands], node.attrs)
        name = self.new.unique_name(node.name)
        return self.new.add(derived(node, operands, specs=specs, name=name)).outputs

    def _sizes(
        self,
        node: Node,
        inputs: Sequence[Any],
        found: Sequence[Open | None],
        values: Sequence[Value],
        count: Count,
    ) -> list[Any]:
        """Shapes, and what is computed of them."""
        results: list[Any] = []
        if isinstance(found[0], Rows):
            if node.op not in (raw.Shape, raw.ShapeN, raw.Size, raw.Rank):
                raise NoRule
            for number, value in enumerate(node.outputs):
                one = found[number]
                if not isinstance(one, Rows):
                    results.append(np.array(inputs[number].dims, value.dtype.numpy))
                    continue
                tensor, most = _extent(one), np.array(one.array.dims, np.int64)
                if node.op is raw.Size:
                    tensor, most = raw.Prod(tensor, np.int32(0)), most.prod()
                if node.op is raw.Rank:
                    tensor = most = np.int64(len(one.array.dims))
                tensor = raw.Cast(tensor, DstT=value.dtype)
                results.append(Size(tensor, np.asarray(most, value.dtype.numpy), count))
            return results
        arrays = [
            f.most if isinstance(f, Size) else _constant(v)
            for f, v in zip(found, inputs, strict=True)
        ]
        most = interpreter.flat_result(
            node.op, interpreter.call_kernel(node.op, arrays, node.attrs)
        )
        specs = [Spec(v.dtype, np.shape(m)) for v, m in zip(node.outputs, most, strict=True)]
        copy = self.new.add(
            derived(node, [*inputs], specs=specs, name=self.new.unique_name(node.name))
        )
        return [Size(t, np.asarray(m), count) for t, m in zip(copy.outputs, most, strict=True)]

    def _broadcast(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[Any]:
        """Operands with rows of several counts, which are equal or 1, in their last-but-some dimension."""
        if any(isinstance(f, Size) for f in found):
            raise NoRule
        there = [f for f in found if isinstance(f, Rows)]
        places = {len(f.array.dims) - f.axis for f in there}
        if len(places) != 1 or any(f.group != 1 for f in there):
            raise NoRule
        (place,) = places
        parts: list[Rows | None] = []
        for value, open_ in zip(inputs, found, strict=True):
            part = open_ if isinstance(open_, Rows) else None
            dims = value.dims or ()
            if part is None and len(dims) >= place and dims[-place] != 1:
                fixed = Count(np.array([dims[-place]], np.int64), dims[-place])
                part = Rows(value, fixed, len(dims) - place)
            parts.append(part)
        known = [p for p in parts if p is not None]
        count = _common_count([p.length for p in known], node.op.name)
        operands = [
            v if p is None else _stretched(p, count) for v, p in zip(inputs, parts, strict=True)
        ]
        (result,) = self.copied(node, operands)
        if not shapes.known(result.dims):
            raise NoRule
        axis = len(result.dims or ()) - place
        before = node.outputs[0].dims
        fixed = None if before is None else before[axis]
        if fixed is None:
            return [Rows(result, count, axis)]
        # The other operand says how many rows there are.
        same = raw.Equal(count.number, np.int64(fixed))
        asserted(raw.All(same, np.zeros(1, np.int32)), f"{node.op.name}: incompatible shapes")
        return [raw.GatherV2(result, np.arange(fixed), np.int32(axis))]


def _common_limit(column: Sequence[Any]) -> int | None:
    """How many rows a result of branches may have; None if it has one shape in all of them. Raises NoRule."""
    if not any(isinstance(r, Rows) for r in column) and len({r.dims for r in column}) == 1:
        return None
    arrays = [r.array if isinstance(r, Rows) else r for r in column]
    for result, array in zip(column, arrays, strict=True):
        if isinstance(result, Rows) and (result.axis or result.group != 1):
            raise NoRule
        if not array.dims or not shapes.known(array.dims):
            raise NoRule
    if len({(a.dims[1:], a.dtype) for a in arrays}) != 1:
        raise NoRule
    return max(a.dims[0] for a in arrays)


def _lengthened(result: Any, most: int) -> list[Any]:
    """An array with more rows, and their number."""
    if isinstance(result, Rows):
        array, number = result.array, result.length.number
    else:
        array, number = result, np.array(result.dims[:1], np.int64)
    missing = np.zeros((len(array.dims), 2), np.int32)
    missing[0, 1] = most - array.dims[0]
    return [raw.PadV2(array, missing, np.zeros((), array.dtype.numpy)), raw.Identity(number)]


def _tensor(value: Any) -> Any:
    """A tensor, also of an array."""
    if isinstance(value, np.ndarray):
        return raw.Const(value=value, dtype=from_numpy(value.dtype))
    return value


def _is_open(value: SymbolicTensor) -> bool:
    return value.dtype.is_numpy_compatible and not shapes.known(value.dims)


def _is_usable(value: SymbolicTensor, found: Open | None) -> bool:
    return found is not None or shapes.known(value.dims)


def _constant(value: Any) -> np.ndarray:
    if value.node.op is not raw.Const:
        raise NoRule
    return value.node.attrs["value"]


def _known(found: Open) -> Value:
    """What the analysis knows of a value that a source gives."""
    if isinstance(found, Size):
        raise NoRule
    dims, axis = found.array.dims, found.axis
    each = [(*dims[:axis], found.group * n, *dims[axis + 1 :]) for n in COUNTS]
    state = rows(axis, found.group)
    return Value(state, tuple([Spec(found.array.dtype, d) for d in each]))


# What rows beyond the last one are for ops that check their elements, by the numbers of inputs.
_SAFE: dict[str, dict[int, int]] = {
    "Gather": {1: 0}, "GatherV2": {1: 0}, "GatherNd": {1: 0}, "FloorDiv": {1: 1}, "FloorMod": {1: 1},
    "Mod": {1: 1}, "TruncateDiv": {1: 1}, "TruncateMod": {1: 1}, "Div": {1: 1},
}  # fmt: skip


def filled(value: Rows, element: Any) -> Any:
    """The array with an element where there are no more rows."""
    dims, axis = value.array.dims, value.axis
    numbers = np.arange(dims[axis], dtype=np.int64).reshape(-1, *[1] * (len(dims) - axis - 1))
    number = raw.Mul(value.length.number, np.int64(value.group))
    return raw.SelectV2(raw.Less(numbers, number), value.array, element)


def _extent(value: Rows) -> Any:
    """The shape, as int64."""
    dims = np.array(value.array.dims, np.int64)
    along = np.arange(len(dims)) == value.axis
    number = raw.Mul(value.length.number, np.int64(value.group))
    return raw.SelectV2(along, number, dims)


def _finished(value: Rows) -> tuple[Any, Any]:
    """The elements in a vector, with zeros behind them, and the shape."""
    dims, axis = value.array.dims, value.axis
    vector = raw.Reshape(
        filled(value, np.zeros((), value.array.dtype.numpy)), np.array([-1], np.int32)
    )
    before, whole, after = math.prod(dims[:axis]), dims[axis], math.prod(dims[axis + 1 :])
    if before > 1 and whole * after:  # what follows the rows of one part moves to them
        own = raw.Mul(value.length.number, np.int64(value.group * after))
        places = np.arange(before * whole * after, dtype=np.int64)
        divisor = raw.Maximum(own, np.int64(1))
        part = raw.FloorDiv(places, divisor)
        at = raw.AddV2(raw.Mul(part, np.int64(whole * after)), raw.FloorMod(places, divisor))
        there = raw.Less(places, raw.Mul(own, np.int64(before)))
        taken = raw.GatherV2(vector, raw.SelectV2(there, at, np.int64(0)), np.int32(0))
        vector = raw.SelectV2(there, taken, np.zeros((), value.array.dtype.numpy))
    return vector, _extent(value)


def _common_count(counts: Sequence[Count], name: str) -> Count:
    """The count that others broadcast to."""
    count = counts[0]
    for other in counts[1:]:
        if other.number is count.number:
            continue
        one = raw.Equal(count.number, np.int64(1))
        same = raw.Equal(count.number, other.number)
        fits = raw.LogicalOr(raw.LogicalOr(one, same), raw.Equal(other.number, np.int64(1)))
        asserted(raw.All(fits, np.zeros(1, np.int32)), f"{name}: incompatible shapes")
        number = raw.SelectV2(one, other.number, count.number)
        count = Count(number, max(count.most, other.most))
    return count


def _stretched(value: Rows, count: Count) -> Any:
    """The array for another count, which is its own unless that is 1."""
    if value.length.number is count.number:
        return value.array
    places = np.minimum(np.arange(count.most, dtype=np.int64), value.length.most - 1)
    first = raw.Equal(value.length.number, np.int64(1))
    places = raw.SelectV2(first, np.zeros(count.most, np.int64), places)
    return raw.GatherV2(value.array, places, np.int32(value.axis))


# -- along rows -----------------------------------------------------------------------------------------

# What rows beyond the last one are for a reduction.
_NEUTRAL: dict[str, Callable[[Any], Any]] = {
    "sum": lambda dtype: 0,
    "mean": lambda dtype: 0,
    "product": lambda dtype: 1,
    "maximum": lambda dtype: dtype.min if dtype.is_integer else -np.inf,
    "minimum": lambda dtype: dtype.max if dtype.is_integer else np.inf,
    "all": lambda dtype: True,
    "any": lambda dtype: False,
}


def _single_rows(found: Sequence[Open | None]) -> Rows:
    """The first operand, if it alone is one of rows. Raises NoRule."""
    first, *others = found
    if not isinstance(first, Rows) or any(others):
        raise NoRule
    return first


def _reduced(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """A reduction of the rows, perhaps with other dimensions."""
    value = _single_rows(found)
    kind = value.array.dtype
    if not kind.is_numpy_compatible or (
        kind.is_complex and node.op.reduces in ("maximum", "minimum")
    ):
        raise NoRule
    axes, keep = inputs[1], node.attrs["keep_dims"]
    element = np.asarray(_NEUTRAL[node.op.reduces](kind), kind.numpy)
    array = filled(value, element)
    if node.op.reduces != "mean":
        return [node.op(array, axes, keep_dims=keep)]
    if kind.is_integer:
        raise NoRule("a mean of integers")
    rank = len(array.dims)
    along = [int(a) % max(rank, 1) for a in np.asarray(_constant(axes)).reshape(-1)]
    others = math.prod([array.dims[a] for a in along if a != value.axis]) * value.group
    wide = float32 if kind.size == 2 else kind
    number = raw.Cast(raw.Mul(value.length.number, np.int64(others)), DstT=wide)
    total = raw.Sum(raw.Cast(array, DstT=wide), axes, keep_dims=keep)
    mean = raw.RealDiv(total, raw.Reshape(number, np.zeros(0, np.int32)))
    return [raw.Cast(mean, DstT=kind)]


@_along(raw.ArgMax, raw.ArgMin)
def _position(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Of the greatest or least row."""
    value = _single_rows(found)
    kind = value.array.dtype
    if kind.is_complex or kind.is_bool:
        raise NoRule
    some = raw.All(raw.Greater(value.length.number, np.int64(0)), np.zeros(1, np.int32))
    asserted(some, f"{node.op.name}: there are no elements")
    what = "maximum" if node.op is raw.ArgMax else "minimum"
    array = filled(value, np.asarray(_NEUTRAL[what](kind), kind.numpy))
    return [node.op(array, inputs[1], output_type=node.outputs[0].dtype)]


@_along(raw.GatherV2)
def _taken(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows at indices, which are checked."""
    params, indices, axis = found
    at = int(_constant(inputs[2]))
    if not isinstance(params, Rows) or axis is not None or node.attrs["batch_dims"]:
        raise NoRule
    if params.group != 1 or at % len(params.array.dims) != params.axis or not params.length.most:
        raise NoRule
    places = inputs[1]
    if isinstance(indices, Rows):
        places = filled(indices, np.zeros((), places.dtype.numpy))
    elif indices is not None:
        raise NoRule
    wide = raw.Cast(places, DstT=int64)
    number = raw.Reshape(params.length.number, np.zeros(0, np.int32))
    inside = raw.LogicalAnd(raw.GreaterEqual(wide, np.int64(0)), raw.Less(wide, number))
    if isinstance(indices, Rows):
        inside = filled(indices._replace(array=inside), np.True_)
    axes = np.arange(len(inside.dims or ()), dtype=np.int32)
    asserted(raw.All(inside, axes), "an index is out of range")
    result = raw.GatherV2(params.array, raw.SelectV2(inside, places, np.zeros((), places.dtype.numpy)),
                          np.int32(params.axis))  # fmt: skip
    if isinstance(indices, Rows):
        return [Rows(result, indices.length, params.axis + indices.axis, indices.group)]
    return [result]


@_along(raw.Cumsum, raw.Cumprod)
def _running(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """From the first row on; from the last one, those beyond it are neutral."""
    value = _single_rows(found)
    if node.attrs["reverse"]:
        element = np.asarray(node.op is raw.Cumprod, value.array.dtype.numpy)
        value = value._replace(array=filled(value, element))
    (result,) = writer.at_most(node, [value.array, inputs[1]], [None, None])
    return [value._replace(array=result)]


@_along(raw.ReverseV2)
def _reversed(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows from the last one on; the other dimensions as they are."""
    value = _single_rows(found)
    axes = [int(a) % len(value.array.dims) for a in np.asarray(_constant(inputs[1])).reshape(-1)]
    if value.group != 1 or not value.length.most:
        raise NoRule
    places = raw.Sub(value.length.number, np.arange(1, value.length.most + 1, dtype=np.int64))
    places = raw.Maximum(places, np.int64(0))
    array = raw.GatherV2(value.array, places, np.int32(value.axis))
    others = np.array([a for a in axes if a != value.axis], np.int32)
    return [value._replace(array=raw.ReverseV2(array, others) if others.size else array)]


@_along(raw.TopKV2)
def _greatest(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """The greatest rows: as many as a constant says, which is checked, or all of them in order."""
    value, wanted = found
    kind = inputs[0].dtype
    if not isinstance(value, Rows) or value.axis != len(value.array.dims) - 1 or value.group != 1:
        raise NoRule
    array = filled(value, np.asarray(_NEUTRAL["maximum"](kind), kind.numpy))
    if isinstance(wanted, Size) and int(wanted.most) == value.length.most == wanted.length.most:
        most = raw.Const(value=np.int32(value.length.most), dtype=inputs[1].dtype)
        results = writer.at_most(node, [array, most], [None, None])
        return [value._replace(array=r) for r in results]
    if wanted is not None:
        raise NoRule
    enough = raw.GreaterEqual(value.length.number, np.int64(_constant(inputs[1])))
    asserted(raw.All(enough, np.zeros(1, np.int32)), "input must have at least k columns")
    return writer.at_most(node, [array, inputs[1]], [None, None])


@_along(raw.Where)
def _selected(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Those of rows: beyond the last one there is none."""
    value = _single_rows(found)
    array = filled(value, np.zeros((), value.array.dtype.numpy))
    return SOURCES["Where"](node, [array])


@_along(raw.Unique, late.UniqueWithCounts)
def _distinct(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Of rows: which of them each row is are rows, too."""
    value = _single_rows(found)
    values, positions, *counts = distinct(node, value.array, value.length.number)
    return [values, Rows(positions, value.length), *counts]


@_along(raw.ConcatV2)
def _joined(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows behind each other: the parts are beside each other, and places in them are gathered."""
    *values, axis = inputs
    rank = len(node.outputs[0].dims or ())
    at = int(_constant(axis)) % max(rank, 1)
    parts: list[Rows] = []
    for value, open_ in zip(values, found, strict=False):
        if isinstance(open_, Size):
            raise NoRule
        part = open_ or Rows(value, Count(np.array([value.dims[at]], np.int64), value.dims[at]), at)
        if part.axis != at or part.group != 1:
            raise NoRule
        parts.append(part)
    most = sum(p.length.most for p in parts)
    places: Any = np.arange(most, dtype=np.int64)
    total: Any = np.zeros(1, np.int64)
    taken: Any = np.zeros(most, np.int64)
    first = 0
    for part in parts:
        inside = raw.GreaterEqual(places, total)
        taken = raw.SelectV2(inside, raw.AddV2(raw.Sub(places, total), np.int64(first)), taken)
        total = raw.AddV2(total, part.length.number)
        first += part.length.most
    whole = raw.ConcatV2([p.array for p in parts], np.int32(at))
    taken = raw.Minimum(taken, np.int64(max(most - 1, 0)))
    return [Rows(raw.GatherV2(whole, taken, np.int32(at)), Count(total, most), at)]


@_along(raw.MatMul, raw.BatchMatMulV2)
def _multiplied(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """A product that sums over rows: those beyond the last one are zero."""
    one, other = found
    if not isinstance(one, Rows) or not isinstance(other, Rows) or one.length is not other.length:
        raise NoRule
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (one, other)]
    return writer.at_most(node, arrays, [None, None])


@_along(late.SparseTensorDenseMatMul)
def _sparse_product(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Elements beyond the last one are zeros in the first place."""
    indices, values, *others = found
    if not isinstance(indices, Rows) or not isinstance(values, Rows) or any(others):
        raise NoRule
    arrays = [filled(v, np.zeros((), v.array.dtype.numpy)) for v in (indices, values)]
    return writer.at_most(node, [*arrays, *inputs[2:]], [None] * len(inputs))


@_along(raw.Range)
def _numbered(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """As many numbers as there are rows, or a multiple; others as those of any number."""
    start, limit, delta = found
    if start is None and delta is None and isinstance(limit, Size):
        begin, step = int(_constant(inputs[0])), int(_constant(inputs[2]))
        group, rest = divmod(int(limit.most), max(limit.length.most, 1))
        if not begin and step == 1 and not rest and group and limit.length.most:
            numbers = np.arange(int(limit.most)).astype(node.outputs[0].dtype.numpy)
            array = raw.Const(value=numbers, dtype=node.outputs[0].dtype)
            return [Rows(array, limit.length, 0, group)]
    return SOURCES["Range"](node, inputs)


@_along(raw.StridedSlice)
def _sliced(
    writer: _Writer, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
) -> Sequence[Any]:
    """Rows from one number to another, by a step of 1, or one of them; negative ones count from the end."""
    value = _single_rows(found)
    attrs, rank = node.attrs, len(value.array.dims)
    begin, end, step = (np.asarray(_constant(v)).tolist() for v in inputs[1:])
    masks = [attrs[n] for n in ("ellipsis_mask", "new_axis_mask")]
    if value.axis or value.group != 1 or any(masks) or step[0] != 1 or not value.length.most:
        raise NoRule
    zero, number = np.zeros(1, np.int64), value.length.number

    def place(given: int) -> Any:
        wide = np.array([given], np.int64)
        return wide if given >= 0 else raw.AddV2(number, wide)

    first = zero if attrs["begin_mask"] & 1 else place(begin[0])
    last = number if attrs["end_mask"] & 1 else place(end[0])
    is_one = bool(attrs["shrink_axis_mask"] & 1)
    if is_one:
        inside = raw.LogicalAnd(raw.GreaterEqual(first, zero), raw.Less(first, number))
        asserted(raw.All(inside, np.zeros(1, np.int32)), "slice index out of bounds")
        first = raw.Maximum(raw.Minimum(first, np.int64(value.length.most - 1)), zero)
        array = raw.GatherV2(value.array, first, np.int32(0))
        count = Count(np.ones(1, np.int64), 1)
    else:
        first = raw.Minimum(raw.Maximum(first, zero), number)
        last = raw.Minimum(raw.Maximum(last, first), number)
        count = Count(raw.Sub(last, first), value.length.most)
        places = raw.AddV2(first, np.arange(value.length.most, dtype=np.int64))
        places = raw.Minimum(places, np.int64(value.length.most - 1))
        array = raw.GatherV2(value.array, places, np.int32(0))
    rest = [begin, end, step]
    if len(begin) > 1 and rank > 1:  # the other dimensions
        others = [np.array([0, *r[1:]], np.int32) for r in rest[:2]]
        array = raw.StridedSlice(
            array, *others, np.array(step, np.int32), begin_mask=attrs["begin_mask"] | 1,
            end_mask=attrs["end_mask"] | 1, shrink_axis_mask=attrs["shrink_axis_mask"] & ~1,
        )  # fmt: skip
    return [raw.Squeeze(array, axis=[0])] if is_one else [Rows(array, count)]
