"""Partial evaluation: specialises a graph for input shapes, and executes all that follows from them.

Branches whose condition is known are selected, loops whose condition is known in each iteration are
unrolled, and tensor lists of known length are replaced by their elements. All shapes in the residual graph
are known. So elements of lists may have different shapes, and loop variables may grow.
Other branches and loops stay, with graphs specialised for their inputs' shapes. A tensor without elements
becomes a constant.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import resource, variant
from intaglio.base.errors import OpError
from intaglio.base.shapes import Dims
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.opdef.spec import Spec
from intaglio.ops.control_flow.branches_and_loops import holds
from intaglio.ops.control_flow.list_value import TensorList
from intaglio.ops.state.resource_variable import contents_of
from intaglio.optimize.fold import constant_outputs
from intaglio.optimize.kernel_expressions import by_kernel, may_be_expressed
from intaglio.optimize.specialize import inferred
from intaglio.optimize.symbolic_arrays import NotSymbolic, SymbolicArray, packed, tensor_of
from intaglio.optimize.value_forms import (
    Form,
    TensorForm,
    form_of,
    general,
    known_condition,
    opened,
    passed,
    received,
    tensors_of,
    varying,
)
from intaglio.runtime import interpreter

# The maximum trip count of an unrolled loop, and the maximum number of nodes of the new graph.
MAX_ITERATIONS, MAX_NODES = 64, 6000
# Number of times that the shapes of loop variables are generalised before their dimensions are left open.
MAX_GENERALIZATIONS = 4

# Maximum number of elements of the arrays with which a node is tested for a certain failure.
MAX_TRIED_ELEMENTS = 1 << 12

# The evaluated form of a value of the old graph: a tensor of the new one, or a list of tensors.
Value = SymbolicTensor | TensorList
# The exceptions of list ops for a tensor whose value or shape is not known.
_NOT_KNOWN = (NotSymbolic, TypeError, ValueError, IndexError, AttributeError, OpError)


class NotUnrolled(Exception):
    """A loop cannot be unrolled, or would make too many nodes."""


def evaluated(graph: Graph, input_dims: Sequence[Dims], kept: Collection[str] = ()) -> Graph:
    """The graph for inputs of these shapes; None leaves an input as it is.

    Ops named in `kept` stay where the shapes of their results depend on data.
    """
    new = Rewriter(graph)
    inputs: list[SymbolicTensor] = []
    for value, dims in zip(graph.inputs, input_dims, strict=True):
        spec = value.spec if dims is None else value.spec.like(shape=dims)
        attrs = {**value.node.attrs, "shape": spec.shape}
        inputs.append(
            new.keep(value.node, derived(value.node, [], attrs=attrs, specs=[spec])).outputs[0]
        )
    work = _Evaluation(new, kept=kept)
    results = [work.tensor(v) for v in work.graph(graph, [work.folded(v) for v in inputs])]
    return prune(Graph(graph.name, inputs, new.nodes, results))


class _Evaluation:
    """Evaluates graphs into one new graph."""

    def __init__(
        self, new: Rewriter, outer: _Evaluation | None = None, kept: Collection[str] = ()
    ) -> None:
        self.new = new
        self.kept_ops = outer.kept_ops if outer else kept
        self.added = outer.added if outer else [0]
        # The new nodes of residual nodes, for control dependencies.
        self.copies: dict[int, Node] = {}

    def graph(self, graph: Graph, inputs: Sequence[Value]) -> list[Value]:
        """Evaluates a graph for these inputs into the new graph; returns its results."""
        values: dict[int, Value] = {id(a): b for a, b in zip(graph.inputs, inputs, strict=True)}
        arguments = {id(v.node) for v in graph.inputs}
        for node in graph.nodes:
            if id(node) in arguments:
                continue
            results = self.node(node, [values[id(v)] for v in node.inputs])
            values.update((id(a), b) for a, b in zip(node.outputs, results, strict=True))
        return [values[id(v)] for v in graph.outputs]

    def node(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """The outputs of a node for these inputs."""
        flow = node.op.control_flow
        if flow == "call" and not node.attrs["f"].opaque:
            return self.graph(node.attrs["f"], inputs)
        if flow == "branch":
            return self.branch(node, inputs)
        if flow == "loop":
            return self.loop(node, inputs)
        if any(isinstance(v, TensorList) for v in inputs) or _makes_lists(node):
            found = self.on_lists(node, inputs)
            if found is not None:
                return found
        return self.kept(node, [self.tensor(v) for v in inputs])

    def kept(self, node: Node, inputs: Sequence[SymbolicTensor]) -> Sequence[Value]:
        """Copies the node, or folds it into constants."""
        if _changes_nothing(node, inputs):
            return []
        control = [self.copies[id(c)] for c in node.control if id(c) in self.copies]
        new = self.derived(node, inputs, inferred(node, inputs), control)
        known = constant_outputs(new)
        if known is not None:
            return [self.constant(v) for v in known]
        error = certain_error(new)
        if error is not None and all([shapes.known(v.dims) for v in new.outputs]):
            return self.failing(node, new.outputs, error)
        folded = [self.folded(v) for v in new.outputs]
        reads = not node.op.stateful or node.op.droppable
        if folded and reads and all(a is not b for a, b in zip(folded, new.outputs, strict=True)):
            return folded
        is_open = not all([shapes.known(v.dims) for v in new.outputs])
        if is_open and node.op.name not in self.kept_ops and may_be_expressed(new):
            # Constants determine the shape of its results, such as a mask that selects rows.
            before = len(self.new.nodes)
            found = by_kernel(self.new, new)
            self.added[0] += len(self.new.nodes) - before
            if found is not None:
                return [self.folded(v) for v in found]
        self.add(new)
        self.copies[id(node)] = new
        return folded

    def failing(self, node: Node, outputs: Sequence[SymbolicTensor], error: OpError) -> list[Value]:
        """Replaces a node that fails for all data by a failing assertion and zeros."""
        self.recorded(node, lambda: raw._Refusal(np.False_, text=str(error.message)))
        zeros: list[Any] = [np.zeros(v.dims or (), v.dtype.numpy) for v in outputs]  # type: ignore[arg-type]  # known
        return [self.constant(array) for array in zeros]

    # -- nodes -----------------------------------------------------------------------------

    def derived(
        self,
        node: Node,
        inputs: Sequence[SymbolicTensor],
        specs: Sequence[Spec],
        control: Sequence[Node] = (),
        attrs: dict[str, Any] | None = None,
    ) -> Node:
        name = self.new.unique_name(node.name)
        return derived(node, inputs, specs=specs, control=tuple(control), attrs=attrs, name=name)

    def add(self, node: Node) -> Node:
        self.added[0] += 1
        return self.new.add(node)

    def constant(self, array: Any) -> SymbolicTensor:
        """Adds a constant node."""
        with door.pushed(self.new):
            return door.level().constant(np.asarray(array))  # type: ignore[return-value]  # a graph's constant

    def recorded(self, node: Node, function: Callable[[], Any]) -> Any:
        """The results of a function of ops, recorded as the replacement of a node."""
        self.new.root = node
        before = len(self.new.nodes)
        with door.pushed(self.new):
            found = function()
        self.added[0] += len(self.new.nodes) - before
        return found

    def folded(self, value: SymbolicTensor) -> SymbolicTensor:
        """The value, or a constant if it has no elements."""
        if value.node.op is raw.Const or not value.dtype.is_numpy_compatible:
            return value
        if value.dims is None or 0 not in value.dims or not shapes.known(value.dims):
            return value
        return self.constant(np.zeros(value.dims, value.dtype.numpy))

    # -- lists -----------------------------------------------------------------------------

    def on_lists(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value] | None:
        """The outputs of an op on lists of known length; None if its kernel needs an unknown value."""
        if node.op.stateful or node.op.kernel_fn is None:
            return None
        before = len(self.new.nodes)
        try:
            arrays = [_array(v) for v in inputs]
            return self.recorded(node, lambda: self._list_results(node, arrays))
        except _NOT_KNOWN:
            del self.new.nodes[before:]
            return None

    def _list_results(self, node: Node, arrays: list[Any]) -> list[Value]:
        if node.op in (raw.TensorListStack, raw.TensorListGather):
            results = [_stacked(node, arrays)]
        else:
            found = interpreter.call_kernel(node.op, arrays, node.attrs)
            results = interpreter.flat_result(node.op, found)
        return [r if isinstance(r, TensorList) else self._folded_array(r) for r in results]

    def _folded_array(self, array: Any) -> SymbolicTensor:
        return self.folded(tensor_of(array))

    def tensor(self, value: Value) -> SymbolicTensor:
        """The value as a tensor; a list is recorded by setting its elements one by one."""
        if not isinstance(value, TensorList):
            return value
        items = value.items()
        dims = _common([i.shape for i in items if i is not None], value.dims)
        form = np.asarray(-1 if dims is None else [-1 if d is None else d for d in dims], np.int32)
        self.new.root = None
        with door.pushed(self.new):
            if value.limit >= 0 or not items:
                handle = raw.EmptyTensorList(
                    form, np.int32(value.limit), element_dtype=value.element
                )
                for item in items:
                    handle = raw.TensorListPushBack(handle, tensor_of(item))
                return handle
            handle = raw.TensorListReserve(form, np.int32(len(items)), element_dtype=value.element)
            for index, item in enumerate(items):
                if item is not None:
                    handle = raw.TensorListSetItem(handle, np.int32(index), tensor_of(item))
        return handle

    def item(self, item: Any) -> SymbolicTensor:
        """An element of a list; one that is a part of an array is recorded."""
        with door.pushed(self.new):
            return tensor_of(item)

    # -- branches --------------------------------------------------------------------------

    def branch(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """Evaluates the selected branch, or keeps the node with graphs specialised for these inputs."""
        names = [name for name, _ in graphs_of(node)]
        graphs = [graph for _, graph in graphs_of(node)]
        condition = known_condition(inputs[0])
        if condition is not None:
            return self.graph(graphs[_taken(condition, names)], inputs[1:])
        arguments = [form_of(v) for v in inputs[1:]]
        parts = [_Part(self, g, arguments) for g in graphs]
        forms = [
            functools.reduce(general, [form_of(v) for v in column])
            for column in zip(*[p.results for p in parts], strict=True)
        ]
        bodies = [p.closed(p.passed(p.results, forms)) for p in parts]
        taken = [self.tensor(inputs[0]), *self.passed(inputs[1:], arguments)]
        return self._residual(node, taken, with_graphs(node, bodies), forms)

    def passed(self, values: Sequence[Value], forms: Sequence[Form]) -> list[SymbolicTensor]:
        """The tensors that values are passed as."""
        pairs = zip(values, forms, strict=True)
        return [tensor for value, form in pairs for tensor in passed(value, form, self)]

    def _residual(
        self,
        node: Node,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        forms: Sequence[Form],
    ) -> Sequence[Value]:
        """The outputs of a residual node with new graphs, whose outputs have these forms."""
        specs = [t.spec for form in forms for t in tensors_of(form)]
        types = {
            "output_shapes": (),
            "Tin": tuple([v.dtype for v in inputs[node.op.control_flow == "branch" :]]),
            "Tout": tuple([s.dtype for s in specs]),
        }
        attrs |= {k: v for k, v in types.items() if k in attrs}
        control = [self.copies[id(c)] for c in node.control if id(c) in self.copies]
        new = self.copies[id(node)] = self.add(self.derived(node, inputs, specs, control, attrs))
        outputs = iter(new.outputs)
        return [received(form, outputs, self) for form in forms]

    # -- loops -----------------------------------------------------------------------------

    def loop(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """Unrolls the loop if its trip count is known, or keeps it with graphs specialised for these inputs."""
        nodes, added, copies = len(self.new.nodes), self.added[0], dict(self.copies)
        try:
            return self._unrolled(node, inputs)
        except NotUnrolled:
            del self.new.nodes[nodes:]
            self.added[0], self.copies = added, copies
        return self._repeated(node, inputs)

    def _unrolled(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        cond, body = node.attrs["cond"], node.attrs["body"]
        if cond.opaque or body.opaque or _has_op_state(body):
            raise NotUnrolled
        state = inputs
        for _ in range(MAX_ITERATIONS + 1):
            known = known_condition(self.graph(cond, state)[0])
            if known is None or known.ndim:
                raise NotUnrolled
            if not known:
                return state
            state = self.graph(body, state)
            if self.added[0] > MAX_NODES:
                raise NotUnrolled
        raise NotUnrolled

    def _repeated(self, node: Node, inputs: Sequence[Value]) -> Sequence[Value]:
        """The residual loop, with graphs for shapes that hold in every iteration."""
        cond, body = node.attrs["cond"], node.attrs["body"]
        stays = [a is b for a, b in zip(body.inputs, body.outputs, strict=True)]
        pairs = [*zip(inputs, stays, strict=True)]
        forms = [form_of(v) if fixed else varying(form_of(v)) for v, fixed in pairs]
        part = _Part(self, body, forms)
        for attempt in itertools.count():
            columns = [*zip(forms, part.results, stays, strict=True)]
            following = [f if fixed else general(f, form_of(v)) for f, v, fixed in columns]
            if following == forms:
                break
            if attempt >= MAX_GENERALIZATIONS:
                pairs = zip(forms, following, strict=True)
                following = [f if f == g else opened(g) for f, g in pairs]
            forms = following
            part = _Part(self, body, forms)
        new_body = part.closed(part.passed(part.results, forms))
        check = _Part(self, cond, forms)
        new_cond = check.closed([check.work.tensor(check.results[0])])
        attrs = {**node.attrs, "cond": new_cond, "body": new_body}
        found = self._residual(node, self.passed(inputs, forms), attrs, forms)
        return [v if fixed else w for v, w, fixed in zip(inputs, found, stays, strict=True)]


class _Part:
    """A branch, condition or body, evaluated for arguments of these forms."""

    def __init__(self, outer: _Evaluation, graph: Graph, forms: Sequence[Form]) -> None:
        new = Rewriter(graph)
        self.graph = graph
        self.work = _Evaluation(new, outer)
        self.inputs = [_placeholder(new, tensor) for form in forms for tensor in tensors_of(form)]
        tensors = iter(self.inputs)
        values = [received(form, tensors, self.work) for form in forms]
        self.results = self.work.graph(graph, values)

    def passed(self, values: Sequence[Value], forms: Sequence[Form]) -> list[SymbolicTensor]:
        """The tensors that values are passed as."""
        return self.work.passed(values, forms)

    def closed(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """The graph with these outputs."""
        nodes = [*[v.node for v in self.inputs], *self.work.new.nodes]
        return prune(Graph(self.graph.name, self.inputs, nodes, outputs))


def _placeholder(new: Rewriter, form: TensorForm) -> SymbolicTensor:
    attrs = {"dtype": form.dtype, "shape": form.dims}
    return Node(raw.Placeholder, (), attrs, new.unique_name("input"), [form.spec]).outputs[0]


def graphs_of(node: Node) -> list[tuple[str, Graph]]:
    """The graphs among a node's attributes, with their names; those of a tuple have one name."""
    found: list[tuple[str, Graph]] = []
    for name, value in node.attrs.items():
        items = value if isinstance(value, (tuple, list)) else [value]
        found += [(name, item) for item in items if isinstance(item, Graph)]
    return found


def with_graphs(node: Node, graphs: Sequence[Graph]) -> dict[str, Any]:
    """The attributes with their graphs replaced, in the same order."""
    attrs, rest = dict(node.attrs), iter(graphs)
    for name, old in node.attrs.items():
        if isinstance(old, Graph):
            attrs[name] = next(rest)
        elif isinstance(old, (tuple, list)) and old and isinstance(old[0], Graph):
            attrs[name] = tuple([next(rest) for _ in old])
    return attrs


def _taken(condition: np.ndarray, names: Sequence[str]) -> int:
    """The index of the graph that a condition or an index selects."""
    if len({*names}) > 1:  # each branch is an attribute of its own
        return 0 if holds(condition) else 1
    index = int(condition)
    return index if 0 <= index < len(names) else len(names) - 1


def _has_op_state(graph: Graph) -> bool:
    """True if a graph has an op with internal state, such as a random stream."""
    return any(
        n.op.stateful and n.outputs and not n.op.has_graphs and not _takes_resource(n)
        for g in (*walk.nested(graph), graph)
        for n in g.nodes
    )


def _takes_resource(node: Node) -> bool:
    return any(v.dtype is resource for v in node.inputs)


def _makes_lists(node: Node) -> bool:
    return any(v.dtype is variant for v in node.outputs)


def _changes_nothing(node: Node, inputs: Sequence[SymbolicTensor]) -> bool:
    """True for an assignment to a variable without elements."""
    if node.outputs or not node.op.stateful:
        return False
    contents = [contents_of(v.spec) for v in inputs if v.dtype is resource]
    if any(spec.shape is not None and 0 in spec.shape for spec in contents):
        return True
    return node.op is raw.ResourceStridedSliceAssign and _assigns_to_nothing(
        node, inputs, contents[0]
    )


def _assigns_to_nothing(node: Node, inputs: Sequence[SymbolicTensor], contents: Spec) -> bool:
    """True for an assignment to a slice that has no elements."""
    _, *index, value = inputs
    if not shapes.known(contents.shape) or not shapes.known(value.dims) or 0 not in value.dims:
        return False
    if any(v.node.op is not raw.Const for v in index):
        return False
    arrays = [np.zeros(contents.shape, bool), *[v.node.attrs["value"] for v in index]]
    try:
        interpreter.call_kernel(
            raw.TensorStridedSliceUpdate, [*arrays, np.zeros(value.dims, bool)], node.attrs
        )
    except OpError:
        return False
    return True


def certain_error(node: Node) -> OpError | None:
    """The error that a node raises for all data, given its known shapes, indices and sizes; or None."""
    op = node.op
    if op.stateful or op.has_graphs or op.kernel_fn is None or not node.inputs:
        return None
    if any([kind == "service" for kind, _ in op.kernel_order]):
        return None
    if not all([v.dtype.is_numpy_compatible for v in (*node.inputs, *node.outputs)]):
        return None
    arrays: list[Any] = []
    for name, value in zip(op.input_names, node.inputs, strict=False):
        if value.node.op is raw.Const:
            arrays.append(value.node.attrs["value"])
        elif name in op.data_inputs and shapes.known(value.dims):
            arrays.append(np.zeros(value.dims, value.dtype.numpy))
    if len(arrays) != len(node.inputs) or sum([a.size for a in arrays]) > MAX_TRIED_ELEMENTS:
        return None
    try:
        interpreter.call_kernel(op, arrays, node.attrs)
    except OpError as e:
        return e
    except Exception:  # not an error that the op defines
        return None
    return None


def _array(value: Value) -> Any:
    """A value as an array for kernels."""
    if isinstance(value, TensorList):
        return value
    if value.node.op is raw.Const:
        return value.node.attrs["value"]
    if not shapes.known(value.dims) or not value.dtype.is_numpy_compatible:
        raise NotSymbolic
    return SymbolicArray(value)


def _stacked(node: Node, arrays: list[Any]) -> Any:
    """The elements of a list stacked as rows; the kernel checks the shape."""
    handle, *rest = arrays
    items = handle.items()
    shadows = [None if i is None else np.zeros(i.shape, i.dtype) for i in items]
    shadow = TensorList(shadows, handle.size, handle.element, handle.limit, handle.dims)
    rows = interpreter.call_kernel(node.op, [shadow, *rest], node.attrs)
    if node.op is raw.TensorListGather:
        items = [items[i] for i in rest[0].tolist()]
    if not items:
        return rows
    return packed([np.zeros(rows.shape[1:], rows.dtype) if i is None else i for i in items])


def _common(dims: Sequence[Dims], otherwise: Dims) -> Dims:
    """The most specific shape that all the shapes are compatible with."""
    return functools.reduce(shapes.join, dims) if dims else otherwise
