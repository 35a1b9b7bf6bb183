"""The derivative of a graph: a forward graph that also returns the values which backward graphs need.

Backward graphs are recorded by running the reverse pass over the graph's nodes. A value of the graph that
a gradient rule uses becomes an input of the backward graph and an output of the forward graph, so that
exactly the values that the backward graph needs are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.autodiff.backward import Gradients, backpropagate_graph, total
from intaglio.autodiff.plan import filled_like, light, spec_from
from intaglio.autodiff.tape import Tape
from intaglio.base import shapes
from intaglio.base.dtypes import DType, resource
from intaglio.base.locks import lasting_lock
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import convert, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.keys import key
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.trace.graph import FuncGraph
from intaglio.trace.recorder import Recorder

# Graphs, and so their derivatives, are shared by threads: one thread at a time extends them.
_building = lasting_lock()


class Backward:
    """A backward graph.

    Its inputs are the gradients of the active outputs, then `needs`: values of the forward
    graph, or outer tensors. `results` has, for each wanted input, the number of outputs of its
    gradient: 0 (none), 1 (dense), or 3 (IndexedSlices).
    """

    __slots__ = ("graph", "needs", "results")

    def __init__(self, graph: Graph, needs: Sequence[Tensor], results: Sequence[int]) -> None:
        self.graph = graph
        self.needs = tuple(needs)
        self.results = tuple(results)

    def unpack(self, outputs: Sequence[Any]) -> list[Any]:
        """The gradient of each wanted input, or None."""
        found: list[Any] = []
        at = 0
        for n in self.results:
            parts = outputs[at : at + n]
            at += n
            found.append(None if n == 0 else parts[0] if n == 1 else IndexedSlices(*parts))
        return found


# Indices of the wanted inputs whose gradients must be IndexedSlices, with the dtype of their indices.
Sparse = tuple[tuple[int, DType], ...]


class Derivative:
    """The derivative of one graph by some of its inputs, extended by every backward graph."""

    def __init__(self, graph: Graph, wanted: tuple[int, ...]) -> None:
        self.graph = graph
        self.wanted = wanted
        # The graph that the nodes were recorded into, with its captures of outer tensors.
        self.source = graph.nodes[0].graph if graph.nodes else None
        self._new = Rewriter(graph)
        # The nodes for forward graphs so far; `forward` prunes those that no output needs.
        self.nodes = self._new.nodes
        self._members: set[int] = set()
        self._names: set[str] = set()
        self._backward: dict[Any, Backward] = {}
        self._forward: dict[tuple[int, ...], Graph] = {}
        self._shapes: dict[tuple[Any, ...], SymbolicTensor] = {}
        # The plans of watched eager calls (`calls._WatchedCall`), by the values they keep.
        self.watched: dict[bool, Any] = {}
        self.tape = Tape(watch_variables=False)
        self._take_nodes()
        self.inputs = [self.value(v) for v in graph.inputs]
        self.outputs = [self.value(v) for v in graph.outputs]
        for index in wanted:
            self.tape.watch(self.inputs[index])
        for node in self.nodes:
            self.tape.record(node.op, node.attrs, node.inputs, node.outputs)
            if node.op.shape_only:
                self._shapes[_shape_key(node.op, node.inputs[0], node.attrs)] = node.outputs[0]
        self.input_numbers = {id(v): i for i, v in enumerate(self.inputs)}

    @property
    def compiled_whole(self) -> bool:
        """Whether the graph is compiled as a whole, which nodes ask of the graph they are in."""
        return interpreter.compiler_of(self.graph) is not None

    # -- the forward graph -------------------------------------------------------------

    def _take_nodes(self) -> None:
        """The graph's nodes, with copies of those that differ in a forward graph.

        Calls may get further outputs. Random streams start again, as in TensorFlow.
        """
        new = self._new
        for node in self.graph.nodes:
            if node.op.has_graphs or node.op.is_random:
                copied = derived(node, new.values(node.inputs), control=new.control(node))
                copied.graph, copied.source = self, None
                new.keep(node, copied)
            else:
                new.keep(node)
        self._members = {id(n) for n in self.nodes}

    def value(self, tensor: Any) -> Any:
        """The forward graph's value for a tensor of the graph; None for other tensors."""
        if type(tensor) is not SymbolicTensor:
            return self._captured(tensor)
        found = self._new.value(tensor)
        if found is not tensor:
            return found
        if id(tensor.node) in self._members:
            return tensor
        if self.source is not None and tensor.node.graph is self.source:
            return self._revived(tensor)
        return self._captured(tensor)

    def _captured(self, tensor: Any) -> Any:
        """The graph's input or constant for an outer tensor."""
        pair = getattr(self.source, "captured", {}).get(id(tensor))
        if pair is None or pair[0] is not tensor:
            return None
        return self.value(pair[1])

    def _revived(self, tensor: SymbolicTensor) -> SymbolicTensor:
        """Adds a value that the finished graph lacks because nothing used it."""
        node = tensor.node
        inputs = [self.value(v) for v in node.inputs]
        if all(a is b for a, b in zip(inputs, node.inputs, strict=True)):
            self.append(node)
        else:
            revived = self._new.keep(node, derived(node, inputs))
            self._members.add(id(revived))
        return self._new.value(tensor)

    def owns(self, value: Any) -> bool:
        """True for a value of the forward graph."""
        return type(value) is SymbolicTensor and id(value.node) in self._members

    def unique_name(self, name: str) -> str:
        """`name`, or `name_1`, ... if a node has it."""
        taken = self._names
        if len(taken) < len(self.nodes):
            taken.update([n.name for n in self.nodes])
        unique, number = name, 0
        while unique in taken:
            number += 1
            unique = f"{name}_{number}"
        taken.add(unique)
        return unique

    def adopt(self, nodes: Sequence[Node]) -> None:
        """Adds nodes that were inserted into its list to the nodes that it owns."""
        self._members.update([id(n) for n in nodes])

    def append(self, node: Node) -> None:
        """Adds a node whose values backward graphs need."""
        self._new.add(node)
        self._members.add(id(node))

    def shape(self, op: Op, value: SymbolicTensor, attrs: dict[str, Any]) -> SymbolicTensor:
        """The result of a `shape_only` op for a value of the forward graph, computed by one node there."""
        which = _shape_key(op, value, attrs)
        found = self._shapes.get(which)
        if found is None:
            specs = op.output_specs([value.spec], attrs)
            name = self.unique_name(f"{value.node.name}/{op.name}")
            node = derived(value.node, [value], op=op, attrs=attrs, specs=specs, name=name)
            self.append(node)
            found = self._shapes[which] = node.outputs[0]
        return found

    def forward(self, outputs: Sequence[SymbolicTensor]) -> Graph:
        """The forward graph with these values as outputs."""
        ids = tuple([id(v) for v in outputs])
        graph = self._forward.get(ids)
        if graph is None:
            name = f"__forward_{self.graph.name.removeprefix('__inference_')}"
            live = walk.live_nodes(self.nodes, outputs)
            kept = {id(n) for n in live}
            unused = [v.node for v in self.inputs if id(v.node) not in kept]
            graph = Graph(name, self.inputs, [*unused, *live], outputs)
            graph.derived[_KEY, self.wanted] = self
            self._forward[ids] = graph
        return graph

    # -- backward graphs ---------------------------------------------------------------

    def backward(
        self,
        active: Sequence[SymbolicTensor],
        required: frozenset[int] = frozenset(),
        dense: bool = False,
        sparse: Sparse = (),
    ) -> Backward:
        """The backward graph for gradients of the `active` values.

        `required` are the indices, among the wanted inputs, of those that get zeros instead of no
        gradient; `dense` those whose gradient is never IndexedSlices; `sparse` those whose gradient
        always is, with the dtype of the indices.
        """
        which = (tuple([id(v) for v in active]), required, dense, sparse)
        backward = self._backward.get(which)
        if backward is None:
            with _building:
                backward = self._backward.get(which)
                if backward is None:
                    backward = self._derive(active, required, dense, dict(sparse))
                    self._backward[which] = backward
        return backward

    def _derive(
        self,
        active: Sequence[SymbolicTensor],
        required: frozenset[int],
        dense: bool,
        sparse: dict[int, DType],
    ) -> Backward:
        graph = BackwardGraph(self)
        with graph.as_default():
            gradients: Gradients = {}
            for i, value in enumerate(active):
                gradient = graph.gradient_input(value, i)
                gradients.setdefault(key(value), []).append(gradient)
            wanted = [self.inputs[i] for i in self.wanted]
            numbers = [key(v) for v in wanted]
            backpropagate_graph(reversed(self.tape.entries), gradients, set(numbers))
            results: list[int] = []
            for index, (value, number) in enumerate(zip(wanted, numbers, strict=True)):
                parts = gradients.get(number)
                found = None if parts is None else total(parts)
                if index in sparse:
                    found = as_slices(found, gradient_spec(value), sparse[index])
                elif found is None and index in required:
                    found = filled_like(gradient_spec(value), 0)
                results.append(graph.give(found, dense))
        return graph.done(len(active), results)


def as_slices(gradient: Any, spec: Spec, dtype: DType) -> IndexedSlices:
    """A gradient (None: zeros) as IndexedSlices with indices of the dtype."""
    if isinstance(gradient, IndexedSlices):
        rows, shape = gradient.indices, gradient.dense_shape
        found = [t if t.dtype is dtype else raw.Cast(t, DstT=dtype) for t in (rows, shape)]
        return IndexedSlices(gradient.values, *found)
    tail = spec.shape[1:] if spec.shape else None
    if gradient is None and shapes.known(tail):
        # A missing gradient is no slices: zeros of the whole shape are not allocated.
        nothing = np.zeros((0, *tail), spec.dtype.numpy)
        gradient = convert.to_tensor(nothing)
        if shapes.known(spec.shape):
            whole: Any = np.asarray(spec.shape, np.int32)
        elif spec.tensor.dtype is resource:
            whole = raw.VariableShape(spec.tensor)
        else:
            whole = raw.Shape(spec.tensor)
    else:
        gradient = filled_like(spec, 0) if gradient is None else convert.to_tensor(gradient)
        whole = raw.Shape(gradient)
    count = raw.StridedSlice(raw.Shape(gradient), [0], [1], [1], shrink_axis_mask=1)
    rows = raw.Range(0, count, 1)
    return as_slices(IndexedSlices(gradient, rows, whole), spec, dtype)


_KEY = "derivative"


def derivative_of(graph: Graph, wanted: tuple[int, ...]) -> Derivative:
    """The graph's derivative by the inputs `wanted`, memoized on the graph."""
    found = graph.derived.get((_KEY, wanted))
    if found is None:
        with _building:
            found = graph.derived.get((_KEY, wanted))
            if found is None:
                found = graph.derived[_KEY, wanted] = Derivative(graph, wanted)
    return found


def gradient_spec(value: Tensor) -> Spec:
    """The spec of a value's gradient: for a variable's resource that of its content."""
    spec = spec_from(light(value))
    if spec.dtype is resource and isinstance(spec.value, Spec):
        inside = spec.value
        return Spec(inside.dtype, inside.shape, tensor=spec.tensor)
    return spec


class BackwardGraph(FuncGraph):
    """The graph that the reverse pass over another graph is recorded into."""

    def __init__(self, source: Derivative) -> None:
        name = source.graph.name.removeprefix("__inference_").removeprefix("__forward_")
        super().__init__(f"__backward_{name}")
        self._source = source
        self.compiled_whole |= source.compiled_whole
        self._needs: list[Tensor] = []
        self._recorder = _BackwardRecorder(self)

    def gradient_input(self, value: SymbolicTensor, index: int) -> SymbolicTensor:
        """Adds the input for the gradient of a forward value."""
        spec = gradient_spec(value)
        placeholder = self.placeholder(spec.dtype, spec.shape, f"grad_{index}")
        self.inputs.append(placeholder)
        return placeholder

    def forward_value(self, tensor: Any) -> Any:
        """The forward graph's value behind a tensor, or None."""
        return self._source.value(tensor)

    def reaches(self, tensor: Any) -> bool:
        """True for a value of the forward graph, which nested branches may capture too."""
        return self.forward_value(tensor) is not None

    def capture(self, tensor: Tensor, name: str | None = None) -> SymbolicTensor:
        """A value of the forward graph, or of outside, as an input; constants are copied."""
        found = self.captured.get(id(tensor))
        if found is not None:
            return found[1]
        value = self._source.value(tensor)
        if value is None:
            captured = super().capture(tensor, name)
            if captured.node.op is raw.Placeholder:
                self._needs.append(tensor)
            return captured
        if value.node.op is raw.Const:
            captured = Recorder(self).constant(value.node.attrs["value"], name)
        else:
            known = self.captured.get(id(value))
            if known is not None:
                return known[1]
            captured = self.placeholder(value.dtype, value.dims, "saved")
            captured.spec = value.spec
            self.inputs.append(captured)
            self._needs.append(value)
        self.captured[id(value)] = self.captured[id(tensor)] = (tensor, captured)  # type: ignore[assignment]  # a value that replaces an outer tensor
        return captured  # type: ignore[return-value]  # recorded in this graph

    def give(self, gradient: Any, dense: bool) -> int:
        """Adds a gradient to the outputs; returns its number of outputs."""
        if gradient is None:
            return 0
        sparse = isinstance(gradient, IndexedSlices)
        if sparse and not dense and gradient.dense_shape is not None:
            parts = [gradient.values, gradient.indices, gradient.dense_shape]
        else:
            parts = [convert.to_tensor(gradient)]
        for part in parts:
            inner: Any = part
            if type(part) is not SymbolicTensor or part.node.graph is not self:
                inner = self.capture(part)
            self.outputs.append(inner)
        return len(parts)

    def done(self, active: int, results: Sequence[int]) -> Backward:
        """The finished backward graph, without unused inputs."""
        live = walk.live_nodes(self.nodes, self.outputs)
        used = {id(n) for n in live}
        needs: list[Tensor] = []
        inputs = self.inputs[:active]
        for value, need in zip(self.inputs[active:], self._needs, strict=True):
            if id(value.node) in used:
                inputs.append(value)
                needs.append(need)
        self.inputs = inputs
        return Backward(self.freeze_function(), needs, results)


def _shape_key(op: Op, value: SymbolicTensor, attrs: dict[str, Any]) -> tuple[Any, ...]:
    return op.name, id(value), attrs.get("out_type")


class _BackwardRecorder(Recorder):
    """Records a backward graph. `shape_only` ops on forward values are moved to the forward graph."""

    def execute(
        self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
    ) -> Sequence[Tensor]:
        if op.shape_only and inputs[0].graph is not self.graph:
            source = self.graph._source
            value = self.graph.forward_value(inputs[0])
            if value is not None:
                return [self.graph.capture(source.shape(op, value, attrs))]
        return super().execute(op, inputs, attrs, name)
