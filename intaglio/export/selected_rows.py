"""Results with as many rows as data says: arrays that are long enough, and the number of rows.

Sources (`row_sources.py`) give rows. What treats each row by itself, which `row_analysis.py` derives op by op, is
computed of all rows that there may be; what works along rows has rules here, for which those beyond the last
one are made neutral. Sizes that follow from the number of rows are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import from_numpy, int64
from intaglio.base.errors import ShapeError
from intaglio.export import assertions, branches, row_rules
from intaglio.export.assertions import asserted
from intaglio.export.row_analysis import COUNTS, SHARED, SIZE, Dependent, Value, rows
from intaglio.export.row_slices import constant
from intaglio.export.row_sources import SOURCES, Count, Rows
from intaglio.export.rows_along import ALONG, Open, Size, filled, reduced
from intaglio.export.rules import NoRule, Refusals, name_of, refused
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.opdef.spec import Spec
from intaglio.optimize.common_subexpressions import share_subexpressions
from intaglio.optimize.partial_evaluation import graphs_of
from intaglio.runtime import interpreter

# So often the rows of loop variables become more before they are refused.
MAX_GENERALIZATIONS = 4
# The rules of ops, which the analysis finds in its table.
_ANALYSIS = row_rules.Analysis


def with_row_results(graph: Graph, refusals: Refusals) -> tuple[Graph, list[int]]:
    """The graph, and which of its results had as many rows as data says.

    Such a result is a vector: its elements, then zeros. Its shape is one more result behind all others.
    What is of a known shape and follows from rows, such as sums of them, is computed of the arrays.
    Why nodes with rows have no such expression is added to `refusals`.
    """
    if not any([SOURCES.has(n.op) for g in (*walk.nested(graph), graph) for n in g.nodes]):
        return graph, []
    # One search for rows has one number of them.
    written = _Writer(share_subexpressions(graph), refusals)
    return written.finished(), written.numbers


class _Writer:
    """Writes a graph again, with rows beside the nodes that they stand for; what is unused goes."""

    def __init__(
        self,
        graph: Graph,
        refusals: Refusals,
        inputs: Sequence[Open | None] = (),
        known: Sequence[Value | None] = (),
    ) -> None:
        """`inputs` are those of the graph that are rows or sizes, which it is given in parts.

        `known` is what the analysis knows of them.
        """
        self.old = graph
        self.refusals = refusals
        self.new = new = Rewriter(graph)
        self._open: dict[int, Open] = {}
        # What the analysis knows of open values.
        self._values: dict[int, Value] = {}
        self.numbers: list[int] = []
        # How many elements rows of several have, by the number of rows and how many these are.
        self._elements: dict[tuple[int, int], Count] = {}
        self.inputs = self._received(inputs, known) if any(inputs) else [*graph.inputs]
        for node in graph.nodes:
            kept = new.keep(node)
            before, elements = len(new.nodes), dict(self._elements)
            new.root = node
            try:
                with door.pushed(new):
                    found = self._results(node)
            except (NoRule, ShapeError) as e:
                if str(e):
                    refusals[name_of(node)] = str(e)
                found = None
            finally:
                new.root = None
            if found is None:
                del new.nodes[before:]
                self._elements = elements
                continue
            refusals.pop(name_of(node), None)  # of another round for the variables of a loop
            results: list[Any] = []
            for value, old, result in zip(node.outputs, kept.outputs, found, strict=True):
                if isinstance(result, (Rows, Size)):
                    self._open[id(value)] = result
                    if id(value) not in self._values and isinstance(result, Rows):
                        self._values[id(value)] = _known(result)
                results.append(
                    old if isinstance(result, Rows) else getattr(result, "tensor", result)
                )
            new.replace(node, results)
            if node.op.control_flow:  # it is not carried out twice
                del new.nodes[before - 1]
                new.absorb([node], new.nodes[-1])

    def _received(
        self, inputs: Sequence[Open | None], known: Sequence[Value | None]
    ) -> list[SymbolicTensor]:
        """The inputs of a branch: of rows an array, and each number of rows once."""
        numbers: dict[int, Count] = {}
        found: list[SymbolicTensor] = []
        for value, open_, what in zip(self.old.inputs, inputs, known, strict=True):
            if open_ is None:
                found.append(value)
                continue
            key = id(open_.length.number)
            if key not in numbers:
                number = branches.placeholder(self.new, int64, (1,))
                found.append(number)
                numbers[key] = Count(number, open_.length.most)
            if isinstance(open_, Size):
                found.append(value)
                self._open[id(value)] = Size(value, open_.most, numbers[key])
                if what is not None:
                    self._values[id(value)] = what
                continue
            array = branches.placeholder(self.new, open_.array.dtype, open_.array.dims)
            found.append(array)
            self._open[id(value)] = taken = open_._replace(array=array, length=numbers[key])
            self._values[id(value)] = _known(taken)
        return found

    @property
    def opened(self) -> list[Any]:
        """The outputs, or the rows or sizes that they are."""
        kept = self.new.values(self.old.outputs)
        return [self._open.get(id(v), k) for v, k in zip(self.old.outputs, kept, strict=True)]

    @property
    def results(self) -> list[Any]:
        """The outputs, or the rows that they are."""
        return [getattr(value, "tensor", value) for value in self.opened]

    def closed(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """The graph with these outputs. Raises NoRule if it needs rows that are no longer its inputs."""
        graph = branches.closed(self.new, self.old.name, self.inputs, outputs)
        if graph is None:
            raise refused("it computes with rows what has no code for them")
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
        known = [self._values.get(id(v)) for v in node.inputs[1:]]
        parts = [_Writer(graph, self.refusals, found[1:], known) for _, graph in graphs_of(node)]
        columns = [*zip(*[p.results for p in parts], strict=True)]
        forms = [_common_form(column) for column in columns]
        bodies: list[Graph] = []
        for part in parts:
            outputs: list[Any] = []
            with door.pushed(part.new):
                for result, form in zip(part.results, forms, strict=True):
                    if form is None:
                        outputs.append(result)
                    else:
                        rows_ = _as_rows(result, form.axis, form.group)
                        outputs += _lengthened(rows_, form.length.most)
                outputs = [*map(_tensor, outputs)]
            bodies.append(part.closed(outputs))
        taken: list[Any] = [inputs[0]]
        seen: set[int] = set()
        for value, open_ in zip(inputs[1:], found[1:], strict=True):
            if open_ is not None and id(open_.length.number) not in seen:
                seen.add(id(open_.length.number))
                taken.append(_tensor(open_.length.number))
            taken.append(open_.array if isinstance(open_, Rows) else value)
        rest = iter(branches.with_bodies(self.new, node, taken, bodies))
        return [
            next(rest)
            if form is None
            else form._replace(array=next(rest), length=Count(next(rest), form.length.most))
            for form in forms
        ]

    def _loop(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[Any]:
        """A loop with rows as variables: of each there is memory for as many as any iteration may give."""
        cond, body = node.attrs["cond"], node.attrs["body"]
        stays = [a is b for a, b in zip(body.inputs, body.outputs, strict=True)]
        known = [self._values.get(id(v)) for v in node.inputs]
        states = [*map(_first_state, inputs, found, body.inputs, stays)]
        for _ in range(MAX_GENERALIZATIONS):
            part = _Writer(body, self.refusals, states, known)
            following = _next_states(states, part)
            if _signature(following) == _signature(states):
                break
            states = following
        else:
            raise refused(
                "each iteration may add rows to a variable of the loop",
                "write them to a TensorArray",
            )
        check = _Writer(cond, self.refusals, states, known)
        with door.pushed(part.new):
            results = [*map(_tensor, _parts(states, part.opened))]
        graphs = check.closed(check.results), part.closed(results)
        values = [f or v for f, v in zip(found, inputs, strict=True)]
        taken = [*map(_tensor, _parts(states, values))]
        outputs = branches.with_iterations(self.new, node, taken, *graphs)
        after = _from_parts(states, outputs)
        for number, same in enumerate(stays):
            if same and found[number] is not None:
                after[number] = found[number]
                what = known[number]
                if what is not None:
                    self._values[id(node.outputs[number])] = what
        return after

    def _results(self, node: Node) -> Sequence[Any] | None:
        """The outputs, those of open shapes as rows; None for what is not about rows.

        Raises NoRule for what has no such expression.
        """
        op, inputs = node.op, self.new.values(node.inputs)
        found = [self._open.get(id(v)) for v in node.inputs]
        if op.control_flow in ("branch", "loop"):
            if not any(found) and not any(map(_is_open, node.outputs)) and not _selects(node):
                return None
            return (self._branches if op.control_flow == "branch" else self._loop)(
                node, inputs, found
            )
        if not all(map(_is_usable, inputs, found)):
            return None
        if not any(found):
            is_source = SOURCES.has(op) and not all(shapes.known(v.dims) for v in node.outputs)
            return SOURCES.apply(node, inputs) if is_source else None
        if op.is_identity:
            for value, result in zip(node.inputs, node.outputs, strict=True):
                if id(value) in self._values:
                    self._values[id(result)] = self._values[id(value)]
            return [f or v for f, v in zip(found, inputs, strict=True)]
        if op.control_flow:
            raise refused("a function that calls itself is given rows", "write a loop")
        if op.stateful:
            raise refused("it has effects, and gets as many rows as data says")
        if op in (raw.ZerosLike, raw.OnesLike) and isinstance(found[0], Rows):
            return [found[0]._replace(array=op(found[0].array))]
        return self._of_rows(node, inputs, found)

    def _of_rows(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[Any]:
        """What is computed of rows, or of their numbers."""
        op = node.op
        counts = {id(f.length.number): f.length for f in found if f is not None}
        why = "it has rows of several selections"
        if len(counts) == 1:
            try:
                return self._by_rows(node, inputs, found, next(iter(counts.values())))
            except Dependent as e:
                why = str(e)
        rule = ALONG.find(op) or (reduced if op.reduces else None)
        if rule is not None:
            return rule(self, node, inputs, [*map(self._single, found)])
        if not any([isinstance(f, Rows) for f in found]):  # numbers like others
            if SOURCES.has(op):
                return SOURCES.apply(node, inputs)
            outputs = self.copied(node, inputs)
            if all([shapes.known(v.dims) for v in outputs]):
                return outputs
        elif op.batching == "broadcast" or "scalar" in op.rules or op in (raw.Select, raw.SelectV2):
            return self._broadcast(node, inputs, [*map(self._single, found)])
        raise refused(f"how many rows it has is data: {why}")

    def _single(self, found: Open | None) -> Open | None:
        """Rows of several elements each as rows of one."""
        if not isinstance(found, Rows) or found.group == 1:
            return found
        key = id(found.length.number), found.group
        if key not in self._elements:
            number = raw.Mul(found.length.number, np.int64(found.group))
            self._elements[key] = Count(number, found.length.most * found.group)
        return found._replace(length=self._elements[key], group=1)

    def _value(self, old: SymbolicTensor, new: SymbolicTensor, found: Open | None) -> Value:
        """What the analysis knows of an operand. Raises Dependent for a size of which it knows nothing."""
        if found is not None and id(old) not in self._values:
            raise Dependent("it computes with the number of rows")
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
                    raise refused("its shape is no multiple of the number of rows")
                results.append(Rows(output, count, state.axis, state.group))
        for old, value in zip(node.outputs, values, strict=True):
            self._values[id(old)] = value
        return results

    def at_most(
        self, node: Node, inputs: Sequence[Any], found: Sequence[Open | None]
    ) -> Sequence[SymbolicTensor]:
        """The outputs of a node for as many rows as there may be."""
        safe = _SAFE.get(node.op)
        operands: list[SymbolicTensor] = []
        for number, (value, open_) in enumerate(zip(inputs, found, strict=True)):
            operand: Any = value
            if isinstance(open_, Size):
                operand = raw.Const(value=open_.most, dtype=value.dtype)
            elif isinstance(open_, Rows):
                operand = open_.array
                if number == 1 and safe is not None:
                    operand = filled(open_, np.asarray(safe, operand.dtype.numpy))
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
                raise Dependent("it computes with the number of rows")
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
            f.most if isinstance(f, Size) else constant(v)
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
        there = [f for f in found if isinstance(f, Rows)]
        places = {len(f.array.dims) - f.axis for f in there}
        if len(places) != 1 or any(f.group != 1 for f in there):
            raise refused("rows of its operands are in several dimensions")
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
            raise refused("its shape is no multiple of the number of rows")
        axis = len(result.dims or ()) - place
        before = node.outputs[0].dims
        fixed = None if before is None else before[axis]
        if fixed is None:
            return [Rows(result, count, axis)]
        # The other operand says how many rows there are.
        same = raw.Equal(count.number, np.int64(fixed))
        asserted(same, assertions.INCOMPATIBLE_SHAPES, node.op.name)
        return [raw.GatherV2(result, np.arange(fixed), np.int32(axis))]


def _common_form(column: Sequence[Any]) -> Rows | None:
    """Rows as a result of branches has them, for the most that there may be; None if it has one shape in all.

    Raises NoRule for others.
    """
    found = [r for r in column if isinstance(r, Rows)]
    if not found:
        if len({r.dims for r in column}) != 1:
            raise NoRule("")  # branches take what follows with them instead
        return None
    first = found[0]
    arrays = [r.array if isinstance(r, Rows) else r for r in column]
    if len({(r.axis, r.group) for r in found}) != 1:
        raise refused("its branches give rows in several dimensions", "transpose them")
    known_ = [a.dims for a in arrays if a.dims and shapes.known(a.dims)]
    rest = {(*d[: first.axis], *d[first.axis + 1 :]) for d in known_}
    whole = all([d[first.axis] % first.group == 0 for d in known_ if first.axis < len(d)])
    if len(known_) != len(arrays) or len(rest) != 1 or not whole:
        raise refused("its branches give unlike shapes", "pad them to one shape")
    most = max(d[first.axis] // first.group for d in known_)
    return first._replace(length=Count(None, most))


def _as_rows(result: Any, axis: int = 0, group: int = 1) -> Rows:
    """Rows, also of an array of a fixed number of them."""
    if isinstance(result, Rows):
        return result
    number = result.dims[axis] // group
    return Rows(result, Count(np.array([number], np.int64), number), axis, group)


def _lengthened(value: Rows, most: int) -> list[Any]:
    """An array for more rows, and their number."""
    array, number = value.array, value.length.number
    missing = np.zeros((len(array.dims), 2), np.int32)
    missing[value.axis, 1] = most * value.group - array.dims[value.axis]
    if missing.any():
        array = raw.PadV2(array, missing, np.zeros((), array.dtype.numpy))
    return [array, raw.Identity(number)]


# -- variables of loops ------------------------------------------------------------------------------------


def _first_state(
    value: SymbolicTensor, found: Open | None, old: SymbolicTensor, stays: bool
) -> Open | None:
    """What a variable is before the first iteration; `old` is the input of the body."""
    if isinstance(found, Size):
        return found if stays else None  # a size that changes is a number like any other
    dims = old.dims or ()
    if found is None and dims.count(None) == 1 and shapes.known(value.dims):
        return _as_rows(value, dims.index(None))
    return found


def _next_states(states: Sequence[Open | None], part: _Writer) -> list[Open | None]:
    """What variables are in an iteration and in the one after it, by the body written for the former.

    Those with one number of rows in both have one after it. Raises NoRule for unlike shapes.
    """
    lengths: dict[tuple[int, int], Count] = {}
    forms = Rewriter(part.old)
    found: list[Open | None] = []
    pairs: list[Any] = []  # whose numbers of rows have ids of their own as long as they are kept
    for state, old, result in zip(states, part.old.inputs, part.opened, strict=True):
        if isinstance(state, Size):
            key = id(state.length.number), id(result.length.number)
            length = lengths.setdefault(key, Count(object(), state.length.most))
            found.append(state._replace(length=length))
            continue
        axis, group = next(
            ((v.axis, v.group) for v in (state, result) if isinstance(v, Rows)), (-1, 1)
        )
        if axis < 0:
            dims = getattr(result, "tensor", result).dims
            if old.dtype.is_numpy_compatible and old.dims != dims:
                raise refused("a variable of the loop changes its shape", "pad it to one shape")
            found.append(None)
            continue
        one, other = pair = [_as_rows(v, axis, group) for v in (state or old, result)]
        pairs.append(pair)
        dims = [v.array.dims for v in (one, other)]
        rest = [(*d[:axis], *d[axis + 1 :]) for d in dims]
        same = (one.axis, one.group) == (other.axis, other.group) and rest[0] == rest[1]
        if not same or not all(map(shapes.known, dims)):
            raise refused("a variable of the loop changes its shape", "pad it to one shape")
        most = max(one.length.most, other.length.most)
        key = id(one.length.number), id(other.length.number)
        length = lengths.setdefault(key, Count(object(), most))
        shape = (*dims[0][:axis], most * group, *dims[0][axis + 1 :])
        form = branches.placeholder(forms, one.array.dtype, shape)
        found.append(Rows(form, length, axis, group))
    return found


def _signature(states: Sequence[Open | None]) -> list[Any]:
    """What states are equal in if the same graphs are right for them."""
    groups: dict[int, int] = {}
    found: list[Any] = []
    for state in states:
        if state is None:
            found.append(None)
            continue
        group = groups.setdefault(id(state.length.number), len(groups))
        form = (state.array.dims, *state[2:]) if isinstance(state, Rows) else ()
        found.append((group, *form))
    return found


def _parts(states: Sequence[Open | None], values: Sequence[Any]) -> list[Any]:
    """What values of variables are passed as: of rows an array, and each number of rows once."""
    seen: set[int] = set()
    found: list[Any] = []
    for state, value in zip(states, values, strict=True):
        if state is None:
            found.append(getattr(value, "tensor", value))
            continue
        if isinstance(state, Rows):
            value = _as_rows(value, state.axis, state.group)
            array, number = _lengthened(value, state.length.most)
        else:
            array, number = value.tensor, value.length.number
        if id(state.length.number) not in seen:
            seen.add(id(state.length.number))
            found.append(number)
        found.append(array)
    return found


def _from_parts(states: Sequence[Open | None], parts: Sequence[Any]) -> list[Any]:
    """The variables of what they are passed as."""
    rest, lengths = iter(parts), dict[int, Count]()
    found: list[Any] = []
    for state in states:
        if state is None:
            found.append(next(rest))
            continue
        key = id(state.length.number)
        if key not in lengths:
            lengths[key] = Count(next(rest), state.length.most)
        value, length = next(rest), lengths[key]
        if isinstance(state, Rows):
            found.append(state._replace(array=value, length=length))
        else:
            found.append(Size(value, state.most, length))
    return found


def _tensor(value: Any) -> Any:
    """A tensor, also of an array."""
    if isinstance(value, np.ndarray):
        return raw.Const(value=value, dtype=from_numpy(value.dtype))
    return value


def _selects(node: Node) -> bool:
    """Whether graphs of a node select rows."""
    return any(
        [
            SOURCES.has(n.op) and any(map(_is_open, n.outputs))
            for _, graph in graphs_of(node)
            for g in (*walk.nested(graph), graph)
            for n in g.nodes
        ]
    )


def _is_open(value: SymbolicTensor) -> bool:
    return value.dtype.is_numpy_compatible and not shapes.known(value.dims)


def _is_usable(value: SymbolicTensor, found: Open | None) -> bool:
    return found is not None or shapes.known(value.dims)


def _known(found: Rows) -> Value:
    """What the analysis knows of a value that a source gives."""
    dims, axis = found.array.dims, found.axis
    each = [(*dims[:axis], found.group * n, *dims[axis + 1 :]) for n in COUNTS]
    state = rows(axis, found.group)
    return Value(state, tuple([Spec(found.array.dtype, d) for d in each]))


# What rows of the second input beyond the last one are, for ops that check their elements.
_SAFE: dict[Any, int] = {
    **dict.fromkeys((raw.Gather, raw.GatherV2, raw.GatherNd), 0),
    **dict.fromkeys((raw.Div, raw.FloorDiv, raw.TruncateDiv), 1),
    **dict.fromkeys((raw.Mod, raw.FloorMod, raw.TruncateMod), 1),
}


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
        asserted(fits, assertions.INCOMPATIBLE_SHAPES, name)
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
