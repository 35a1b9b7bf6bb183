"""Changes of loops that the loop passes share: further loop variables, and replaced nodes of the body."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.base.dtypes import variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.passes import is_loop
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Fuel, Rewriter, derived
from intaglio.opdef import door, raw
from intaglio.opdef.spec import Spec


def changed(
    graph: Graph,
    fuel: Fuel | None,
    find: Callable[[Node], Any],
    change: Callable[[Rewriter, Node, Node, Any], None],
) -> Graph:
    """The graph with some of its loops changed: `change` records the change that `find` returns.

    `find` is called with the loop in the new graph, `change` also with the old one.
    """
    if not any(map(is_loop, walk.own_ops(graph))):
        return graph
    fuel = fuel or Fuel()
    new = Rewriter(graph)
    for node in graph.nodes:
        current = new.copy(node)
        found = find(current) if node.op.control_flow == "loop" else None
        if not found or not fuel.burn():
            new.keep(node, current)
            continue
        new.record_beside(node)
        with door.pushed(new):
            change(new, node, current, found)
    return new.result()


class LoopChange:
    """The changes of a loop; `build` returns the changed loop."""

    def __init__(self, loop: Node) -> None:
        self._loop = loop
        body: Graph = loop.attrs["body"]
        self._body = Rewriter(body)
        self._added: list[SymbolicTensor] = []
        self._handles: list[SymbolicTensor] = []
        self._instead: dict[int, Callable[[], Sequence[Any]]] = {}
        self._next: dict[int, Callable[[], Any]] = {}

    def carry(self, value: SymbolicTensor) -> SymbolicTensor:
        """Adds a loop variable with an initial value; returns its value in the body.

        It is loop-invariant unless `then` sets its next value.
        """
        self._added.append(value)
        self._handles.append(_placeholder(self._body, value, "carried"))
        return self._handles[-1]

    def then(self, value: SymbolicTensor, following: Callable[[], Any]) -> None:
        """Sets the next value of a loop variable, given by its value in the body; recorded last."""
        self._next[id(value)] = following

    def instead(self, node: Node, record: Callable[[], Sequence[Any]]) -> None:
        """Replaces a node of the body: the function records the replacement and returns its values."""
        self._instead[id(node)] = record

    def now(self, value: SymbolicTensor) -> SymbolicTensor:
        """The new value of a value of the body, while the body is recorded."""
        return self._body.value(value)

    def build(self) -> Node:
        """The new loop. Its further outputs are the final values of the added variables, in order."""
        loop = self._loop
        more = [v.dtype for v in self._added]
        attrs = {
            **loop.attrs,
            "body": self._new_body(),
            "cond": self._new_condition(),
            "T": (*loop.attrs["T"], *more),
        }
        if attrs.get("output_shapes"):
            attrs["output_shapes"] = (*attrs["output_shapes"], *[v.dims for v in self._added])
        specs = [v.spec for v in loop.outputs] + [_without_value(v) for v in self._added]
        inputs = [*loop.inputs, *self._added]
        return derived(loop, inputs, attrs=attrs, specs=specs, control=loop.control)

    def _new_body(self) -> Graph:
        new = self._body
        old = new.graph
        with door.pushed(new):
            for node in old.nodes:
                record = self._instead.get(id(node))
                if record is None:
                    new.keep(node, new.copy(node))
                    continue
                new.record_beside(node)
                new.replace(node, list(record()))
            outputs: list[Any] = []
            known = [*zip(old.inputs, old.outputs, strict=True)]
            known += [(h, h) for h in self._handles]
            for inner, result in known:
                following = self._next.get(id(inner))
                new.record_beside((inner if following else result).node)
                outputs.append(following() if following else new.value(result))
        return prune(_graph(old, new.nodes, self._handles, outputs))

    def _new_condition(self) -> Graph:
        """The condition with further inputs, which it does not use."""
        cond: Graph = self._loop.attrs["cond"]
        new = Rewriter(cond)
        handles = [_placeholder(new, v, "unused") for v in self._added]
        return _graph(cond, cond.nodes, handles, cond.outputs)


def _without_value(value: SymbolicTensor) -> Spec:
    """The spec of a value without a known value."""
    return Spec(value.dtype, () if value.dtype is variant else value.dims)


def _placeholder(new: Rewriter, like: SymbolicTensor, name: str) -> SymbolicTensor:
    spec = _without_value(like)
    attrs = {"dtype": spec.dtype, "shape": spec.shape}
    label = new.unique_name(name)
    return Node(raw.Placeholder, (), attrs, label, [spec]).outputs[0]


def _graph(
    old: Graph,
    nodes: Sequence[Node],
    further: Sequence[SymbolicTensor],
    outputs: Sequence[SymbolicTensor],
) -> Graph:
    """A graph of these nodes under the old one's name; placeholders come first."""
    inputs = [*old.inputs, *further]
    first = [v.node for v in inputs]
    known = {id(n) for n in first}
    rest = [n for n in nodes if id(n) not in known]
    return Graph(old.name, inputs, [*first, *rest], outputs)
