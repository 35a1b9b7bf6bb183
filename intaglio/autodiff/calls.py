"""Gradients of calls of graphs: the forward graph keeps values, which a call of the backward graph takes."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from intaglio.autodiff.backward import OF_GRAPHS, gradient_of
from intaglio.autodiff.derivative import Derivative, derivative_of
from intaglio.autodiff.plan import trainable
from intaglio.autodiff.recursion import gradient_of_recursion
from intaglio.autodiff.surgery import extend
from intaglio.base.dtypes import resource
from intaglio.ir import implementations
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.replicas import without_replicas
from intaglio.opdef import convert, door, raw
from intaglio.opdef.door import Level
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.runtime import interpreter
from intaglio.runtime.eager import EagerTensor, explain, from_array, spec_of
from intaglio.trace.graph import record

# Maximum number of rounds to find the needs of a derivative of any order.
MAX_DERIVATIVE_ROUNDS = 8


def call_graph(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """Calls a graph by an op at the current level. Returns its outputs."""
    op = raw.StatefulPartitionedCall if graph.stateful else raw.PartitionedCall
    types = tuple([v.dtype for v in graph.outputs])
    attrs = {**op.defaults, "Tin": tuple([v.dtype for v in graph.inputs])}
    attrs.update(Tout=types, f=graph)
    return list(door.carry_out(op, list(inputs), attrs, None))


def _of_single_replicas(graph: Graph) -> Graph:
    """The graph to differentiate in place of a called one: replicated calls are expanded."""
    found = without_replicas(graph)
    if found is not graph:
        interpreter.inherit(graph, found)
    return found


# -- in a graph ----------------------------------------------------------------------


@gradient_of("call")
def call_gradient(node: Node, wanted: tuple[int, ...], grads: Sequence[Any]) -> list[Any]:
    """The gradients of a recorded call's inputs `wanted`. The call gets further outputs."""
    graph = _of_single_replicas(node.attrs["f"])
    if not getattr(node.graph, "compiled_whole", False):
        # The implementation that will run, as forward and backward graph must belong to one function.
        graph = implementations.chosen(graph)
    if graph.opaque:
        return gradient_of_recursion(node, wanted, grads, call_graph, call_gradient)
    derivative = derivative_of(graph, wanted)
    values = [derivative.value(v) for v in graph.outputs]
    active = [i for i, g in enumerate(grads) if g is not None]
    backward = derivative.backward([values[i] for i in active])
    missing = absent(backward.needs, derivative, values)
    if missing or graph is not node.attrs["f"]:
        forward = derivative.forward([*values, *missing])
        extend(node, {"f": forward}, [v.spec for v in missing])
        values = [*values, *missing]
    needs = fetched(backward.needs, derivative, values, node.inputs, node.outputs)
    gradients = [convert.to_tensor(grads[i]) for i in active]
    return backward.unpack(call_graph(backward.graph, [*gradients, *needs]))


def absent(needs: Sequence[Any], derivative: Derivative, values: Sequence[Any]) -> list[Any]:
    """The needs that are neither inputs of the graph nor already outputs of the call."""
    have = {id(v) for v in values} | derivative.input_numbers.keys()
    return [n for n in needs if id(n) not in have and derivative.owns(n)]


def fetched(
    needs: Sequence[Any],
    derivative: Derivative,
    values: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
) -> list[Any]:
    """The caller's tensors for the needs: inputs and outputs of the call, or outer tensors."""
    index = {id(v): i for i, v in enumerate(values)}
    found: list[Any] = []
    for need in needs:
        if id(need) in derivative.input_numbers:
            found.append(inputs[derivative.input_numbers[id(need)]])
        elif id(need) in index:
            found.append(outputs[index[id(need)]])
        else:
            found.append(need)
    return found


# -- eagerly -------------------------------------------------------------------------


def watched_call(
    level: Level, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], name: str | None
) -> Sequence[Tensor] | None:
    """An eager call of a graph that tapes watch: runs the forward graph and records it on the tapes.

    Returns None if no tape depends on the inputs, and for an op without a gradient.
    """
    watchers = [w for w in level.watchers if w.depends(inputs)]
    if not watchers or (op.differentiable and op.control_flow not in OF_GRAPHS):
        return None
    if op.control_flow != "call":
        return call_graph(_graph_of_op(op, inputs, attrs), inputs)
    graph = _of_single_replicas(attrs["f"])
    wanted = tuple(
        [i for i, t in enumerate(inputs) if trainable(t) and any(w.depends((t,)) for w in watchers)]
    )
    further = len(watchers) > 1 or getattr(watchers[0], "persistent", False)
    plan = _planned(derivative_of(graph, wanted), graph, further)
    outputs = plan.run(level, op, inputs, attrs, name)
    backward = functools.partial(plan.differentiate, inputs, outputs)
    for watcher in watchers:
        watcher.record_function(inputs, outputs[: plan.shown], backward)
    return outputs[: plan.count]


class _WatchedCall:
    """A plan for watched eager calls of a graph, derived once and run many times."""

    def __init__(self, derivative: Derivative, graph: Graph, further: bool) -> None:
        self.derivative = derivative
        self.count = len(graph.outputs)
        self.values = _with_needs(derivative, graph, further)
        self.forward = derivative.forward(self.values)
        interpreter.inherit(graph, self.forward)
        self.types = tuple([v.dtype for v in self.values])
        self.shown = len(self.values) if further else self.count
        self._ready: dict[tuple[int, ...], Any] = {}

    def run(
        self,
        level: Level,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        name: str | None,
    ) -> Sequence[Tensor]:
        """The forward graph's outputs: those of the call, then the needs of gradients."""
        if not level.is_elsewhere and all(type(t) is EagerTensor for t in inputs):
            run = interpreter.repeated(self.forward)
            try:
                return [from_array(a) for a in run(*[t._array for t in inputs])]
            except Exception as e:
                if interpreter.is_users(e):
                    raise
                raise explain(op, inputs, attrs, name, e) from None
        attrs = {**attrs, "f": self.forward, "Tout": self.types}
        return level.execute(op, inputs, attrs, name)

    def differentiate(
        self, inputs: Sequence[Tensor], outputs: Sequence[Tensor], grads: Sequence[Any]
    ) -> Sequence[Any]:
        """The gradients of the inputs from those of the outputs that were recorded on the tapes."""
        wanted = tuple([i for i, g in enumerate(grads) if g is not None])
        active, backward, sources = self._ready.get(wanted) or self._prepare(wanted)
        tensors = [_or_zeros(grads[i], outputs[i]) for i in active]
        known = (inputs, outputs)
        for kind, index in sources:
            tensors.append(index if kind == 2 else known[kind][index])
        found = backward.unpack(_run_backward(backward.graph, tensors))
        results: list[Any] = [None] * len(inputs)
        for index, gradient in zip(self.derivative.wanted, found, strict=True):
            results[index] = gradient
        return results

    def _prepare(self, wanted: tuple[int, ...]) -> Any:
        """The outputs with gradients, the backward graph, and the sources of its needs."""
        derivative, values, active = self.derivative, self.values, wanted
        backward = derivative.backward([values[i] for i in active])
        if absent(backward.needs, derivative, values):
            active = tuple([i for i in range(self.shown) if trainable(values[i])])
            backward = derivative.backward([values[i] for i in active])
            if absent(backward.needs, derivative, values):
                raise RuntimeError(
                    f"the gradient of {derivative.graph!r} needs values that its forward graph did not keep"
                )
        interpreter.inherit(derivative.graph, backward.graph)
        index = {id(v): i for i, v in enumerate(values)}
        sources: list[tuple[int, Any]] = []
        for need in backward.needs:
            if id(need) in derivative.input_numbers:
                sources.append((0, derivative.input_numbers[id(need)]))
            elif id(need) in index:
                sources.append((1, index[id(need)]))
            else:
                sources.append((2, need))
        self._ready[wanted] = prepared = (active, backward, sources)
        return prepared


def _planned(derivative: Derivative, graph: Graph, further: bool) -> _WatchedCall:
    plan = derivative.watched.get(further)
    if plan is None:
        plan = derivative.watched[further] = _WatchedCall(derivative, graph, further)
    return plan


def _run_backward(graph: Graph, tensors: Sequence[Any]) -> list[Any]:
    """Calls a backward graph: its function directly if no tape watches, else by an op."""
    level = door.level()
    is_here = not level.is_elsewhere and all([type(t) is EagerTensor for t in tensors])
    if level.eager and is_here and not (level.watchers or graph.stateful or door.INSPECTORS):
        try:
            run = interpreter.repeated(graph)
            return [from_array(a) for a in run(*[t._array for t in tensors])]
        except Exception:  # the call by an op raises the error with its context
            pass
    return call_graph(graph, tensors)


def _with_needs(derivative: Derivative, graph: Graph, further: bool) -> list[SymbolicTensor]:
    """The graph's outputs, then the needs of its gradient, and if `further` of higher-order gradients."""
    values = [derivative.value(v) for v in graph.outputs]
    for _ in range(MAX_DERIVATIVE_ROUNDS if further else 1):
        active = [v for v in values if trainable(v)]
        backward = derivative.backward(active)
        missing = absent(backward.needs, derivative, values)
        if not missing:
            break
        values = [*values, *missing]
    return values


def _or_zeros(gradient: Any, output: Any) -> Tensor:
    if gradient is None:
        return raw.ZerosLike(output)
    return convert.to_tensor(gradient)


def _graph_of_op(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Graph:
    """A graph that consists of one op, for control-flow ops called eagerly."""
    graphs = [v for v in attrs.values() if isinstance(v, (Graph, tuple))]
    first = next(
        g for v in graphs for g in (v if isinstance(v, tuple) else (v,)) if isinstance(g, Graph)
    )
    shapes = tuple([(t.dtype, t.dims) for t in inputs])
    cached = first.derived.get(("alone", op.name, shapes))
    if cached is None or cached[0] != attrs:
        specs = [(d, s, f"x_{i}") for i, (d, s) in enumerate(shapes)]
        graph, result = record(lambda *args: door.carry_out(op, args, attrs, None), op.name, specs)
        for value, tensor in zip(graph.inputs, inputs, strict=True):
            if tensor.dtype is resource:
                value.spec = spec_of(tensor)  # type: ignore[arg-type]  # a resource: an eager tensor or a node's value
        graph.outputs = list(result)
        cached = first.derived["alone", op.name, shapes] = (attrs, graph.freeze_function())
    return cached[1]
