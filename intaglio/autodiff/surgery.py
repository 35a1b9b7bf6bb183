"""Changing recorded nodes and composing graphs by hand, for gradients of control flow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec

_NAMED = ("Tout", "T", "Tin")


def extend(
    node: Node, attrs: dict[str, Any], specs: Sequence[Spec], inputs: Sequence[SymbolicTensor] = ()
) -> None:
    """Adds outputs (and inputs) to a recorded node, and notifies the tapes that have recorded it."""
    new = tuple([SymbolicTensor(node, len(node.outputs) + i, s) for i, s in enumerate(specs)])
    node.outputs += new
    node.inputs += tuple(inputs)
    changed = {**node.attrs, **attrs}
    if "Tout" in changed:
        changed["Tout"] = tuple([v.dtype for v in node.outputs])
    if inputs:
        changed["T"] = tuple([v.dtype for v in node.inputs])
    if changed.get("output_shapes"):
        changed["output_shapes"] = tuple([v.spec.shape for v in node.outputs])
    node.attrs = changed
    recorder = getattr(node.graph, "_recorder", None)
    for watcher in recorder.watchers if recorder is not None else ():
        watcher.extended(node)


class Draft:
    """A graph under construction: the nodes of an existing one, followed by new ones."""

    def __init__(self, nodes: Sequence[Node], owner: Any = None) -> None:
        self.nodes = list(nodes)
        self.owner = owner
        self._taken = {n.name for n in self.nodes}

    def node(
        self,
        op: Op,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        name: str,
        specs: Sequence[Spec] | None = None,
    ) -> tuple[SymbolicTensor, ...]:
        """Appends a node; returns its outputs."""
        if specs is None:
            specs = op.output_specs([v.spec for v in inputs], attrs)
        unique = name
        number = 0
        while unique in self._taken:
            number += 1
            unique = f"{name}_{number}"
        self._taken.add(unique)
        node = Node(op, inputs, attrs, unique, specs, graph=self.owner)
        self.nodes.append(node)
        return node.outputs

    def placeholder(self, spec: Spec, name: str) -> SymbolicTensor:
        """A new input."""
        attrs = {"dtype": spec.dtype, "shape": spec.shape}
        bare = Spec(spec.dtype, spec.shape, _content(spec))
        return self.node(raw.Placeholder, (), attrs, name, [bare])[0]

    def constant(self, array: np.ndarray, spec: Spec, name: str) -> SymbolicTensor:
        """A constant."""
        attrs = {"value": array, "dtype": spec.dtype}
        return self.node(raw.Const, (), attrs, name, [spec])[0]

    def graph(
        self, name: str, inputs: Sequence[SymbolicTensor], outputs: Sequence[SymbolicTensor]
    ) -> Graph:
        """The finished graph, its inputs' placeholders first."""
        first = [v.node for v in inputs]
        known = {id(n) for n in first}
        rest = [n for n in self.nodes if id(n) not in known]
        return Graph(name, inputs, [*first, *rest], outputs)


def _content(spec: Spec) -> Any:
    """The value of a resource's spec, which is the spec of its contents."""
    return spec.value if isinstance(spec.value, Spec) else None


def insert_before(node: Node, nodes: Sequence[Node]) -> None:
    """Inserts new nodes before a recorded one, in its graph."""
    owner = node.graph
    at = next(i for i, n in enumerate(owner.nodes) if n is node)
    owner.nodes[at:at] = list(nodes)
    names = getattr(owner, "by_name", {})
    for new in nodes:
        new.graph = owner
        new.name = owner.unique_name(new.name)
        names[new.name] = new
    adopt = getattr(owner, "adopt", None)
    if adopt is not None:
        adopt(nodes)
