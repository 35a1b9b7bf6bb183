"""Gradients of branches: the branch that runs returns the values that its gradient needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from intaglio.autodiff.backward import gradient_of
from intaglio.autodiff.calls import absent, fetched
from intaglio.autodiff.derivative import Backward, Derivative, Sparse, derivative_of
from intaglio.autodiff.surgery import Draft, extend
from intaglio.base.dtypes import DType, int32, int64
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import convert, door, raw
from intaglio.opdef.indexed_slices import IndexedSlices

_IF = ("then_branch", "else_branch")


def branches_of(node: Node) -> tuple[Graph, ...]:
    """The graphs of the node's branches."""
    if "branches" in node.attrs:
        return tuple(node.attrs["branches"])
    return tuple([node.attrs[n] for n in _IF])


def as_attrs(node: Node, graphs: Sequence[Graph]) -> dict[str, Any]:
    """Graphs as the attributes of a node with branches."""
    if "branches" in node.attrs:
        return {"branches": tuple(graphs)}
    return dict(zip(_IF, graphs, strict=True))


@gradient_of("branch")
def branch_gradient(node: Node, wanted: tuple[int, ...], grads: Sequence[Any]) -> list[Any]:
    """The gradients of the inputs `wanted` of a recorded If or Case."""
    graphs = branches_of(node)
    inner = tuple([i - 1 for i in wanted])  # the first input selects the branch
    derivatives = [derivative_of(g, inner) for g in graphs]
    values = [[d.value(v) for v in g.outputs] for d, g in zip(derivatives, graphs, strict=True)]
    active = [i for i, g in enumerate(grads) if g is not None]
    backwards = _alike(derivatives, values, active)
    values = _add_needs(node, derivatives, values, backwards)
    needs = [
        fetched(b.needs, d, v, node.inputs[1:], node.outputs)
        for b, d, v in zip(backwards, derivatives, values, strict=True)
    ]
    gradients = [convert.to_tensor(grads[i]) for i in active]
    unified = [_unified(b, backwards, i, len(active)) for i, b in enumerate(backwards)]
    outputs = choose(node, unified, [*gradients, *[t for ts in needs for t in ts]])
    return backwards[0].unpack(outputs)


def _alike(
    derivatives: Sequence[Derivative],
    values: Sequence[Sequence[SymbolicTensor]],
    active: Sequence[int],
) -> list[Backward]:
    """Backward graphs of all branches that give gradients of the same inputs."""

    def derive(required: frozenset[int], sparse: Sparse) -> list[Backward]:
        return [
            d.backward([v[i] for i in active], required, sparse=sparse)
            for d, v in zip(derivatives, values, strict=True)
        ]

    first = derive(frozenset(), ())
    found = [b.unpack(b.graph.outputs) for b in first]
    by_input = list(enumerate(zip(*found, strict=True)))
    if all(len({_form(g) for g in column}) == 1 for _, column in by_input):
        return first
    some = frozenset([i for i, column in by_input if any(_form(g) for g in column)])
    sparse = [(i, _indices_of(column)) for i, column in by_input]
    return derive(some, tuple([(i, d) for i, d in sparse if d is not None]))


def _form(gradient: Any) -> Any:
    """A key that is equal for gradients of one form: none, dense (one output) or IndexedSlices (three)."""
    if isinstance(gradient, IndexedSlices):
        return gradient.indices.dtype, gradient.dense_shape.dtype
    return gradient is not None


def _indices_of(gradients: Sequence[Any]) -> DType | None:
    """The common dtype of indices if one of the gradients is IndexedSlices, else None.

    One branch that gathers makes the whole sparse: the other branches' gradients become
    slices as well, as TensorFlow 2.21 has it.
    """
    found = {g.indices.dtype for g in gradients if isinstance(g, IndexedSlices)}
    return None if not found else int64 if int64 in found else int32


def _add_needs(
    node: Node,
    derivatives: Sequence[Derivative],
    values: Sequence[list[SymbolicTensor]],
    backwards: Sequence[Backward],
) -> list[list[SymbolicTensor]]:
    """Adds the values that the backward graphs need to the outputs of the node and of all branches."""
    missing = [
        absent(b.needs, d, v) for b, d, v in zip(backwards, derivatives, values, strict=True)
    ]
    specs = [v.spec for part in missing for v in part]
    if not specs:
        return list(values)
    kept: list[list[SymbolicTensor]] = []
    forwards: list[Graph] = []
    for i, derivative in enumerate(derivatives):
        outputs = list(values[i])
        for j, part in enumerate(missing):
            if i == j:
                outputs += part
                continue
            outputs += [_stand_in(derivative, v) for v in part]
        kept.append(outputs)
        forwards.append(derivative.forward(outputs))
    extend(node, as_attrs(node, forwards), specs)
    return kept


def _stand_in(derivative: Derivative, value: SymbolicTensor) -> SymbolicTensor:
    """A placeholder value of the same dtype and shape, in a branch that does not compute the value."""
    attrs = {"dtype": value.dtype, "shape": value.dims}
    draft = Draft((), derivative.nodes[0].graph if derivative.nodes else None)
    name = derivative.unique_name(raw.FakeParam.name)
    placeholder = draft.node(raw.FakeParam, (), attrs, name, [value.spec])[0]
    derivative.append(placeholder.node)
    return placeholder


def _unified(backward: Backward, all_of_them: Sequence[Backward], index: int, active: int) -> Graph:
    """The backward graph of one branch, with the needs of all branches as inputs."""
    graph = backward.graph
    draft = Draft(graph.nodes, graph)
    inputs = list(graph.inputs[:active])
    for i, other in enumerate(all_of_them):
        if i == index:
            inputs += graph.inputs[active:]
        else:
            inputs += [
                draft.placeholder(v.spec, f"unused_{i}_{j}")
                for j, v in enumerate(other.graph.inputs[active:])
            ]
    return draft.graph(graph.name, inputs, graph.outputs)


def choose(node: Node, graphs: Sequence[Graph], inputs: Sequence[Any]) -> list[Any]:
    """Runs one of the graphs, selected by the recorded node's condition or index."""
    indexed, stateful = "branches" in node.attrs, any(g.stateful for g in graphs)
    if indexed:
        op = raw.Case if stateful else raw.StatelessCase
    else:
        op = raw.If if stateful else raw.StatelessIf
    attrs = {
        **op.defaults,
        **as_attrs(node, graphs),
        "Tin": tuple([t.dtype for t in inputs]),
        "Tout": tuple([v.dtype for v in graphs[0].outputs]),
    }
    return list(door.carry_out(op, [node.inputs[0], *inputs], attrs, None))
