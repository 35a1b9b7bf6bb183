"""Gradients of calls of graphs: keep what the backward graph needs, then call that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.autodiff.backward import OF_GRAPHS
from intaglio.autodiff.derivative import Derivative, derivative_of
from intaglio.autodiff.plan import trainable
from intaglio.autodiff.surgery import extend
from intaglio.base.dtypes import resource
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.op import convert, door, raw
from intaglio.op.door import Level
from intaglio.op.op import Op
from intaglio.op.tensor import Tensor
from intaglio.runtime.eager import spec_of
from intaglio.trace.graph import record

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
# Rounds in which a derivative of any order finds out what it needs.
ROUNDS = 8


def call_graph(graph: Graph, inputs: Sequence[Any]) -> list[Any]:
    """Calls a graph by an op, wherever the program is. Returns its outputs."""
    op = raw.StatefulPartitionedCall if graph.stateful else raw.PartitionedCall
    types = tuple([v.dtype for v in graph.outputs])
    attrs = {**op.defaults, "Tin": tuple([v.dtype for v in graph.inputs])}
    attrs.update(Tout=types, f=graph)
    return list(door.carry_out(op, list(inputs), attrs, None))


# -- in a graph ----------------------------------------------------------------------


def call_gradient(
    node: Node, wanted: tuple[int, ...], grads: Sequence[Any]
) -> list[Any]:
    """The gradients of a recorded call's inputs `wanted`; the call gets more outputs."""
    graph: Graph = node.attrs["f"]
    derivative = derivative_of(graph, wanted)
    values = [derivative.value(v) for v in graph.outputs]
    active = [i for i, g in enumerate(grads) if g is not None]
    backward = derivative.backward([values[i] for i in active])
    missing = absent(backward.needs, derivative, values)
    if missing:
        forward = derivative.forward([*values, *missing])
        extend(node, {"f": forward}, [v.spec for v in missing])
        values = [*values, *missing]
    needs = fetched(backward.needs, derivative, values, node.inputs, node.outputs)
    given = [convert.to_tensor(grads[i]) for i in active]
    return backward.unpack(call_graph(backward.graph, [*given, *needs]))


def absent(
    needs: Sequence[Any], derivative: Derivative, values: Sequence[Any]
) -> list[Any]:
    """The needs that are neither inputs of the graph nor outputs of the call yet."""
    have = {id(v) for v in values} | derivative.places.keys()
    return [n for n in needs if id(n) not in have and derivative.owns(n)]


def fetched(
    needs: Sequence[Any],
    derivative: Derivative,
    values: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
) -> list[Any]:
    """Where the caller finds the needs: among the call's inputs and outputs, or outside."""
    index = {id(v): i for i, v in enumerate(values)}
    found: list[Any] = []
    for need in needs:
        if id(need) in derivative.places:
            found.append(inputs[derivative.places[id(need)]])
        elif id(need) in index:
            found.append(outputs[index[id(need)]])
        else:
            found.append(need)
    return found


# -- eagerly -------------------------------------------------------------------------


def watched_call(
    level: Level,
    op: Op,
    inputs: Sequence[Tensor],
    attrs: dict[str, Any],
    name: str | None,
) -> Sequence[Tensor] | None:
    """An eager call of a graph before watchers: runs the forward graph, tells the tapes.

    Returns None if no tape depends on the inputs.
    """
    watchers = [w for w in level.watchers if w.depends(inputs)]
    if not watchers:
        return None
    if op.name not in CALLS:
        return call_graph(_alone(op, inputs, attrs), inputs)
    graph: Graph = attrs["f"]
    wanted = tuple(
        [
            i
            for i, t in enumerate(inputs)
            if trainable(t) and any(w.depends((t,)) for w in watchers)
        ]
    )
    derivative = derivative_of(graph, wanted)
    further = len(watchers) > 1 or getattr(watchers[0], "persistent", False)
    values = _kept(derivative, graph, further)
    forward = derivative.forward(values)
    types = tuple([v.dtype for v in values])
    outputs = level.execute(op, inputs, {**attrs, "f": forward, "Tout": types}, name)
    n = len(graph.outputs)
    shown = len(outputs) if further else n
    backward = _backward_function(derivative, values, shown, inputs, outputs)
    for watcher in watchers:
        watcher.record_function(inputs, outputs[:shown], backward)
    return outputs[:n]


def _kept(derivative: Derivative, graph: Graph, further: bool) -> list[SymbolicTensor]:
    """The graph's outputs, then what its gradient needs; `further` gradients of that too."""
    values = [derivative.value(v) for v in graph.outputs]
    for _ in range(ROUNDS if further else 1):
        active = [v for v in values if trainable(v)]
        backward = derivative.backward(active)
        missing = absent(backward.needs, derivative, values)
        if not missing:
            break
        values = [*values, *missing]
    return values


def _backward_function(
    derivative: Derivative,
    values: Sequence[SymbolicTensor],
    shown: int,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor],
) -> Callable[[Sequence[Any]], Sequence[Any]]:
    """What a tape calls with the gradients of those of the call's outputs that it was shown."""

    def function(grads: Sequence[Any]) -> Sequence[Any]:
        active = [i for i, g in enumerate(grads) if g is not None]
        backward = derivative.backward([values[i] for i in active])
        if absent(backward.needs, derivative, values):
            active = [i for i in range(shown) if trainable(values[i])]
            backward = derivative.backward([values[i] for i in active])
            if absent(backward.needs, derivative, values):
                raise RuntimeError(
                    f"the gradient of {derivative.graph!r} needs values that its forward graph did not keep"
                )
        needs = fetched(backward.needs, derivative, values, inputs, outputs)
        given = [_or_zeros(grads[i], outputs[i]) for i in active]
        found = backward.unpack(call_graph(backward.graph, [*given, *needs]))
        results: list[Any] = [None] * len(inputs)
        for place, gradient in zip(derivative.wanted, found, strict=True):
            results[place] = gradient
        return results

    return function


def _or_zeros(gradient: Any, output: Any) -> Tensor:
    if gradient is None:
        return raw.ZerosLike(output)
    return convert.to_tensor(gradient)


def _alone(op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Graph:
    """A graph with nothing but the op in it, for control-flow ops called eagerly."""
    graphs = [v for v in attrs.values() if isinstance(v, (Graph, tuple))]
    first = next(
        g for v in graphs for g in (v if isinstance(v, tuple) else (v,))
        if isinstance(g, Graph)
    )  # fmt: skip
    shapes = tuple([(t.dtype, t.dims) for t in inputs])
    made = first.derived.get(("alone", op.name, shapes))
    if made is None or made[0] != attrs:
        specs = [(d, s, f"x_{i}") for i, (d, s) in enumerate(shapes)]
        graph, result = record(
            lambda *args: door.carry_out(op, args, attrs, None), op.name, specs
        )
        for value, tensor in zip(graph.inputs, inputs, strict=True):
            if tensor.dtype is resource:
                value.spec = spec_of(tensor)  # type: ignore[arg-type]
        graph.outputs = list(result)
        made = first.derived["alone", op.name, shapes] = (
            attrs,
            graph.freeze_function(),
        )
    return made[1]


OF_GRAPHS.update(dict.fromkeys(CALLS, call_gradient))
door.install_watched_call(watched_call)
