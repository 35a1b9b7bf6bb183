"""The reverse pass: from the gradients of outputs to the gradients of inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from intaglio.autodiff.tape import Entry
from intaglio.base.dtypes import variant
from intaglio.opdef import door, raw
from intaglio.opdef.indexed_slices import IndexedSlices, concatenated

# The contributions to the gradient of each tensor, by the tensor's key.
Gradients = dict[int, list[Any]]

# The gradient of an op with graphs among its attributes: a function from a node, the wanted inputs and
# the gradients of all outputs to the gradients of the wanted inputs.
OfGraphs = Callable[[Any, tuple[int, ...], Sequence[Any]], Sequence[Any]]
# The registered functions by value of the trait `control_flow`.
OF_GRAPHS: dict[str, OfGraphs] = {}


def gradient_of(control_flow: str) -> Callable[[OfGraphs], OfGraphs]:
    """A decorator that registers the gradient of ops with this value of the trait `control_flow`."""

    def register(function: OfGraphs) -> OfGraphs:
        OF_GRAPHS[control_flow] = function
        return function

    return register


def _missing(kind: str, node: str | None) -> LookupError:
    """The error for an op without a gradient rule; `node` is its name if it is in a graph."""
    error: Any = LookupError(f"gradient registry has no entry for: {kind}")
    error.in_graph = (
        f"No gradient defined for operation'{node or kind}' (op type: {kind}). In general every operation must have "
        "an associated `@tf.RegisterGradient` for correct autodiff, which this op is lacking. If you want to treat "
        "its result as a constant, call `tf.stop_gradient` on it."
    )
    return error


def backpropagate_graph(entries: Iterable[Entry], gradients: Gradients, sources: set[int]) -> None:
    """`backpropagate` over a graph's nodes, with errors that name the node."""
    try:
        backpropagate(entries, gradients, sources)
    except LookupError as e:
        text = getattr(e, "in_graph", None)
        if text is None:
            raise
        raise LookupError(text) from None


def backpropagate(entries: Iterable[Entry], gradients: Gradients, sources: set[int]) -> None:
    """Walks the entries, latest first, and adds the gradients of their inputs to `gradients`.

    Gradients of tensors that are not among `sources` are dropped once they are used.
    Raises LookupError for an op without a gradient rule that a gradient reaches.
    """
    for entry in entries:
        outputs = entry.outputs
        if len(outputs) == 1:
            parts = gradients.get(outputs[0])
            if parts is None:
                continue
            grads = [_popped_sum(gradients, outputs[0], parts, sources)]
        else:
            grads = [
                None
                if (parts := gradients.get(number)) is None
                else _popped_sum(gradients, number, parts, sources)
                for number in outputs
            ]
            if all(g is None for g in grads):
                continue
        plan = entry.plan
        results = (
            plan.call(entry.kept, entry.attrs, grads)
            if plan is not None
            else _applied(entry, grads)
        )
        for number, result in zip(entry.inputs, results, strict=True):
            if number and result is not None:
                if callable(result):
                    result = result()
                    if result is None:
                        continue
                parts = gradients.get(number)
                if parts is None:
                    gradients[number] = [result]
                else:
                    parts.append(result)


def _popped_sum(gradients: Gradients, number: int, parts: list[Any], sources: set[int]) -> Any:
    """The sum of a tensor's contributions, which are removed."""
    whole = parts[0] if len(parts) == 1 else total(parts)
    if number in sources:
        gradients[number] = [whole]
    else:
        del gradients[number]
    return whole


def through(entry: Entry, grads: Sequence[Any]) -> list[Any]:
    """The gradients of an entry's inputs, None for inputs without a gradient."""
    plan = entry.plan
    results = (
        plan.call(entry.kept, entry.attrs, grads) if plan is not None else _applied(entry, grads)
    )
    return [
        None if not number else result() if callable(result) else result
        for number, result in zip(entry.inputs, results, strict=True)
    ]


def _applied(entry: Entry, grads: Sequence[Any]) -> Sequence[Any]:
    if entry.backward is not None:
        return entry.backward(grads)
    op = entry.op
    assert op is not None
    of_graphs = OF_GRAPHS.get(op.control_flow)
    if of_graphs is None:
        raise _missing(op.name, entry.kept)
    wanted = tuple([i for i, k in enumerate(entry.inputs) if k])
    node = entry.kept
    padded = [*grads, *[None] * (len(node.outputs) - len(grads))]
    found = of_graphs(node, wanted, padded)
    entry.cover(node.outputs)
    results: list[Any] = [None] * len(entry.inputs)
    for index, gradient in zip(wanted, found, strict=True):
        results[index] = gradient
    return results


def total(parts: Sequence[Any]) -> Any:
    """The sum of a tensor's gradient contributions; sparse if all of them are."""
    if len(parts) == 1:
        return parts[0]
    parts = parts[::-1]  # the contribution of the last op was added first
    if all(isinstance(p, IndexedSlices) for p in parts):
        return concatenated(parts)
    if len(parts) == 2 and door.level().eager and parts[0].dtype is not variant:
        return raw.AddV2(*parts)
    return raw.AddN(list(parts))
