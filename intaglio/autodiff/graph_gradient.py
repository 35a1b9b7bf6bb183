"""`tf.gradients`: symbolic derivatives in the graph that is being recorded.

Follows https://www.tensorflow.org/api_docs/python/tf/gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.autodiff.backward import Gradients, backpropagate_graph, total
from intaglio.autodiff.derivative import gradient_spec
from intaglio.autodiff.gradient_tape import UnconnectedGradients, unconnected
from intaglio.autodiff.jacobian import jacobians
from intaglio.autodiff.plan import TRAINABLE, filled_like, light, spec_from
from intaglio.autodiff.tape import Tape
from intaglio.base import shapes
from intaglio.ir.graph import Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.indexed_slices import IndexedSlices
from intaglio.opdef.keys import key


def graph_gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of the sum of `ys` by each of `xs`, as values of the current graph.

    Raises RuntimeError outside a graph, TypeError for complex `ys` without `grad_ys`,
    ValueError if `grad_ys` does not fit, LookupError for an op without a gradient.
    """
    level: Any = door.level()
    if level.eager:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    wanted = unconnected(unconnected_gradients)
    graph: Any = level.graph
    with level.scoped(name or "gradients"):
        targets = [_inside(graph, y) for y in _listed(ys)]
        sources = [_inside(graph, x) for x in _listed(xs)]
        stops = [_inside(graph, s) for s in _listed(stop_gradients)]
        weights = _weights(targets, grad_ys)
        tape = _taped(graph.nodes, targets, sources, stops)
        gradients: Gradients = {}
        for target, weight in zip(targets, weights, strict=True):
            if target.dtype in TRAINABLE:
                gradients.setdefault(key(target), []).append(weight)
        numbers = [key(s) for s in sources]
        backpropagate_graph(reversed(tape.entries), gradients, set(numbers))
        return [
            _found(source, gradients.get(number), wanted)
            for source, number in zip(sources, numbers, strict=True)
        ]


def graph_hessians(ys: Any, xs: Any, name: str = "hessians") -> list[Any]:
    """The second derivatives of the sum of `ys` by each of `xs`: shape x.shape + x.shape.

    Raises RuntimeError outside a graph, TypeError if ys do not depend on an x.
    """
    level: Any = door.level()
    if level.eager:
        raise RuntimeError(
            "tf.hessians is not supported when eager execution is enabled. Use tf.GradientTape instead."
        )
    graph: Any = level.graph
    found: list[Any] = []
    with level.scoped(name or "hessians"):
        sources = [_inside(graph, x) for x in _listed(xs)]
        slopes = graph_gradients(ys, sources)
        for source, slope in zip(sources, slopes, strict=True):
            if slope is None:
                raise TypeError(
                    f"tf.hessians: the ys do not depend on {source!r}; leave it out of xs."
                )
            target = _inside(graph, convert.to_tensor(slope))
            tape = _taped(graph.nodes, [target], [source], [])
            second = jacobians(tape.entries, target, [source])[0]
            if second is None:
                spec = spec_from(light(source))
                second = _zero_hessian(spec)
            found.append(second)
    return found


def _zero_hessian(spec: Any) -> Any:
    """Zeros of shape x.shape + x.shape."""
    shape = shape_vector(spec)
    return raw.Fill(raw.ConcatV2([shape, shape], 0), np.zeros((), spec.dtype.numpy))


def shape_vector(spec: Any) -> Any:
    """A shape as an integer vector: a constant, or computed when the graph runs."""
    if shapes.known(spec.shape):
        return np.asarray(spec.shape, np.int32)
    return raw.Shape(spec.tensor)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _inside(graph: Any, value: Any) -> SymbolicTensor:
    """A tensor, or a variable's handle, as a value of the graph."""
    if isinstance(value, IndexedSlices):
        value = value.values
    tensor = value.handle if hasattr(value, "handle") else convert.to_tensor(value)
    if type(tensor) is SymbolicTensor and tensor.node.graph is graph:
        return tensor
    return graph.capture(tensor)


def _weights(targets: Sequence[SymbolicTensor], grad_ys: Any) -> list[Any]:
    output_gradients = _listed(grad_ys) if grad_ys is not None else [None] * len(targets)
    if len(output_gradients) != len(targets):
        raise ValueError(
            f"Argument `grad_ys` must have length {len(targets)}. Received: {len(output_gradients)}"
        )
    weights: list[Any] = []
    for i, (target, weight) in enumerate(zip(targets, output_gradients, strict=True)):
        if weight is None:
            if target.dtype.is_complex:
                raise TypeError(
                    f"Gradients of complex tensors ({target}) must set grad_ys (y.dtype = {target.dtype.name})"
                )
            weights.append(
                filled_like(spec_from(light(target)), 1) if target.dtype in TRAINABLE else None
            )
            continue
        if not isinstance(weight, IndexedSlices):
            weight = convert.to_tensor(weight, target.dtype, f"grad_ys_{i}")
            if not shapes.compatible(weight.dims, target.dims):
                raise ValueError(
                    f"Shapes {shapes.text(weight.dims)} and {shapes.text(target.dims)} are incompatible"
                )
        weights.append(weight)
    return weights


def _taped(
    nodes: Sequence[Node],
    targets: Sequence[SymbolicTensor],
    sources: Sequence[SymbolicTensor],
    stops: Sequence[SymbolicTensor],
) -> Tape:
    """The nodes between sources and targets, on a tape."""
    needed: set[int] = set()
    waiting = [t.node for t in targets]
    while waiting:
        node = waiting.pop()
        if id(node) not in needed:
            needed.add(id(node))
            waiting.extend([v.node for v in node.inputs])
    tape = Tape(watch_variables=False)
    for source in sources:
        tape.watch(source)
    wanted = {key(s) for s in sources}
    stopped = {key(s) for s in stops}
    opaque = stopped - wanted
    for node in list(nodes):
        if id(node) not in needed:
            continue
        before = len(tape.entries)
        tape.record(node.op, node.attrs, node.inputs, node.outputs)
        if stopped and len(tape.entries) > before:
            entry = tape.entries[-1]
            entry.outputs = [0 if k in stopped else k for k in entry.outputs]
            tape.watched -= opaque
    return tape


def _found(source: SymbolicTensor, parts: list[Any] | None, wanted: UnconnectedGradients) -> Any:
    if parts is not None:
        return total(parts)
    if wanted is UnconnectedGradients.ZERO:
        return filled_like(gradient_spec(source), 0)
    return None
