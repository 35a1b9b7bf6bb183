"""Freezing: replaces the variables of a graph by constants.

A constant replaces a handle also in branches, bodies and called functions, whose parameters become
values instead of handles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from intaglio.base.dtypes import from_numpy
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Rewriter, derived
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec

# Replaces a node that reads a variable, given its inputs with the value in place of the handle.
Reader = Callable[[Rewriter, Node, list[SymbolicTensor]], Node]
_READERS: dict[Op, Reader] = {}


def frozen(graph: Graph, values: Sequence[tuple[SymbolicTensor, np.ndarray]]) -> Graph:
    """The graph with constants in place of inputs, or of other values that its nodes only pass on.

    The constant for a variable's handle is the variable's value. Raises ValueError if the graph uses the
    handle for anything but reads.
    """
    new = Rewriter(graph)
    left_out: set[int] = set()
    for value, array in values:
        spec = Spec(from_numpy(array.dtype), array.shape, array)
        attrs = {"value": array, "dtype": spec.dtype}
        constant = new.add(derived(value.node, [], op=raw.Const, attrs=attrs, specs=[spec]))
        left_out.add(id(value.node))
        new.substitute(value, constant.outputs[0])
    _rewrite(new, left_out, {})
    inputs = [v for v in graph.inputs if id(v.node) not in left_out]
    return Graph(graph.name, inputs, new.nodes, new.values(graph.outputs))


# The rewritten graphs, by the original graphs and the new dtypes of their inputs.
_Known = dict[tuple[int, tuple[Any, ...]], Graph]


def _rewrite(new: Rewriter, left_out: set[int], known: _Known) -> None:
    """Rewrites the nodes of the rewriter's graph for inputs that are values instead of handles."""
    for node in new.graph.nodes:
        if id(node) in left_out:
            continue
        inputs = new.values(node.inputs)
        pairs = zip(node.inputs, inputs, strict=True)
        number = next((i for i, (a, b) in enumerate(pairs) if a.dtype is not b.dtype), None)
        if number is None:
            new.keep(node)
        elif node.op in _READERS:
            new.keep(node, _READERS[node.op](new, node, inputs))
        elif node.op.is_identity:
            specs = [v.spec for v in inputs]
            new.keep(node, derived(node, inputs, specs=specs, control=new.control(node)))
        elif node.op.has_graphs:
            new.keep(node, _with_values(new, node, inputs, known))
        else:
            value = inputs[number]
            raise ValueError(
                f"Input {number} of node {node.name} was passed {value.dtype.name} from {value.name} incompatible "
                f"with expected resource. It is the handle of a variable, of which {node.op.name} needs "
                "more than the value."
            )


def _with_values(new: Rewriter, node: Node, inputs: list[SymbolicTensor], known: _Known) -> Node:
    """A branch, loop or call with values in place of handles."""

    def change(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple([change(v) for v in value])
        if not isinstance(value, Graph):
            return value
        return _with_value_inputs(
            value, [v.spec for v in inputs[len(inputs) - len(value.inputs) :]], known
        )

    attrs = {name: change(value) for name, value in node.attrs.items()}
    types = node.op.types_of(inputs, attrs)
    attrs.update((name, found) for name, found in types.items() if name in attrs)
    changed = Node(node.op, inputs, attrs, node.name, [v.spec for v in node.outputs])
    results = list(walk.attached(changed))[-1].outputs  # a loop's body comes after its condition
    if "Tout" in attrs:
        attrs["Tout"] = tuple([v.dtype for v in results])
    specs = [
        old.spec if old.dtype is result.dtype else _without_value(result.spec)
        for old, result in zip(node.outputs, results, strict=True)
    ]
    return derived(node, inputs, attrs=attrs, specs=specs, control=new.control(node))


def _with_value_inputs(graph: Graph, specs: Sequence[Spec], known: _Known) -> Graph:
    """A nested graph for inputs of these specs, some of which are values in place of handles."""
    dtypes = tuple([s.dtype for s in specs])
    if dtypes == tuple([v.dtype for v in graph.inputs]):
        return graph
    if graph.opaque:
        raise NotImplementedError(f"The recursive function {graph.name} reads variables.")
    key = (id(graph), dtypes)
    if key not in known:
        new = Rewriter(graph)
        replaced: set[int] = set()
        for value, spec in zip(graph.inputs, specs, strict=True):
            if value.dtype is spec.dtype:
                continue
            replaced.add(id(value.node))
            attrs = {**value.node.attrs, "dtype": spec.dtype, "shape": spec.shape}
            new.keep(value.node, derived(value.node, [], attrs=attrs, specs=[_without_value(spec)]))
        _rewrite(new, replaced, known)
        found = new.result()
        found.name = f"{graph.name}_frozen"
        known[key] = found
    return known[key]


def _without_value(spec: Spec) -> Spec:
    """The spec without a known value."""
    return Spec(spec.dtype, spec.shape)


# -- ops that read a variable -------------------------------------------------------------


def _reads(op: Op) -> Callable[[Reader], Reader]:
    def register(reader: Reader) -> Reader:
        _READERS[op] = reader
        return reader

    return register


@_reads(raw.ReadVariableOp)
def _value(new: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> Node:
    specs = [inputs[0].spec]
    return derived(node, inputs, op=raw.Identity, specs=specs, control=new.control(node))


@_reads(raw.ResourceGather)
def _slices(new: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> Node:
    number = node.attrs["batch_dims"]
    if number < 0:
        if inputs[1].dims is None:
            raise NotImplementedError("batch_dims is negative, and the rank of indices unknown.")
        number += len(inputs[1].dims)
    axis = _constant(new, node, "axis", np.asarray(number, np.int32))
    attrs = {"batch_dims": number}
    return derived(node, [*inputs, axis], op=raw.GatherV2, attrs=attrs, control=new.control(node))


@_reads(raw.ResourceGatherNd)
def _elements(new: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> Node:
    attrs = dict(raw.GatherNd.defaults)
    return derived(node, inputs, op=raw.GatherNd, attrs=attrs, control=new.control(node))


@_reads(raw.VariableShape)
def _shape(new: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> Node:
    attrs = {"out_type": node.attrs["out_type"]}
    return derived(node, inputs, op=raw.Shape, attrs=attrs, control=new.control(node))


@_reads(raw.VarIsInitializedOp)
def _is_initialized(new: Rewriter, node: Node, inputs: list[SymbolicTensor]) -> Node:
    spec = Spec(node.outputs[0].dtype, (), np.asarray(True))
    attrs = {"value": np.asarray(True), "dtype": spec.dtype}
    return derived(node, [], op=raw.Const, attrs=attrs, specs=[spec], control=new.control(node))


def _constant(new: Rewriter, node: Node, name: str, array: np.ndarray) -> SymbolicTensor:
    spec = Spec(from_numpy(array.dtype), array.shape, array)
    attrs = {"value": array, "dtype": spec.dtype}
    name = new.unique_name(f"{node.name}/{name}")
    return new.add(derived(node, [], op=raw.Const, attrs=attrs, specs=[spec], name=name)).outputs[0]
