"""Ops that the program declares itself, which the process that compiles cannot import: their expressions in ops.

A rule is a function of the program, so it runs here: the graph that is sent has catalogue ops only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from intaglio.base import shapes
from intaglio.base.dtypes import float32
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.prune import prune
from intaglio.ir.rewrite import Rewriter, map_attached
from intaglio.opdef import raw
from intaglio.opdef.op import Op
from intaglio.opdef.spec import Spec
from intaglio.optimize.symbolic_arrays import ops_of_primitives
from intaglio.trace.graph import record

_PACKAGE = __name__.partition(".")[0]


class NoExpression(Exception):
    """An op of the program that has no expression in other ops; `node` is the node of it."""

    def __init__(self, node: Node) -> None:
        super().__init__(node.op.name)
        self.node = node


class _Scalars:
    """The builder of `scalar` rules that records catalogue ops."""

    def __getattr__(self, name: str) -> Any:
        try:
            return ops_of_primitives()[name][0]
        except KeyError:
            raise AttributeError(name) from None

    def const(self, value: Any, like: Any) -> Any:
        """A constant of the dtype of `like`."""
        return raw.Const(value=np.asarray(value, like.dtype.numpy), dtype=like.dtype)

    def trunc(self, x: Any) -> Any:
        """The integer towards zero."""
        return raw.SelectV2(raw.Less(x, self.const(0, x)), raw.Ceil(x), raw.Floor(x))


def is_foreign(op: Op) -> bool:
    """Whether an op is declared outside of the package."""
    return type(op).__module__.partition(".")[0] != _PACKAGE


def expressed(graph: Graph) -> Graph:
    """The graph with the program's own ops replaced, also in graphs inside. Raises NoExpression."""
    graph = map_attached(graph, lambda node, attribute, inner: expressed(inner))
    if not any([is_foreign(n.op) for n in graph.nodes]):
        return graph
    new = Rewriter(graph)
    for node in graph.nodes:
        if not is_foreign(node.op):
            new.keep(node)
            continue
        before = len(new.nodes)
        new.replace(node, _spliced(new, node, expressed(_expression(node))))
        if len(new.nodes) > before:
            new.absorb([node], new.nodes[-1])
    return prune(new.result())


def _spliced(new: Rewriter, node: Node, body: Graph) -> list[SymbolicTensor]:
    def copy(part: Node, inputs: list[SymbolicTensor], control: tuple[Node, ...]) -> Node:
        specs = [v.spec for v in part.outputs]
        waits = new.control(node)
        return new.like(node, inputs, op=part.op, attrs=part.attrs, specs=specs, control=waits)

    return new.splice(body, new.values(node.inputs), copy)


def _expression(node: Node) -> Graph:
    """The graph of a node's inputs by the first rule that has one."""
    op = node.op
    fixed = all(shapes.known(v.dims) for v in (*node.inputs, *node.outputs))
    for name in ("decompose", *(("native",) if fixed else ()), "scalar"):
        rule = op.rules.get(name)
        if rule is None:
            continue

        def function(*tensors: Any, rule: Any = rule, name: str = name) -> Any:
            if name == "scalar":
                return _elementwise(node, rule, tensors)
            inputs = [_known(a, v) for a, v in zip(tensors, node.inputs, strict=True)]
            known = op.known(inputs, node.attrs)
            return rule(**known | {n: known[n].spec for n in rule.specs})

        specs = [(v.dtype, v.dims, "x") for v in node.inputs]
        traced, found = record(function, op.name, specs)
        if found is not NotImplemented:
            results: Any = found if isinstance(found, (list, tuple)) else [found]
            traced.outputs.extend(results[: len(node.outputs)])
            return traced.freeze_function()
    raise NoExpression(node)


def _elementwise(node: Node, rule: Any, inputs: Any) -> Any:
    """The result of a `scalar` rule; 16-bit floats are computed with as the op says."""
    op = node.op
    names = rule.takes[1 + len(op.input_names) :]
    narrow = inputs[0].dtype
    wide = op.computes_wide and narrow.size == 2 and narrow.is_floating
    if wide:
        inputs = [raw.Cast(x, DstT=float32) for x in inputs]
    found = rule.fn(_Scalars(), *inputs, *[node.attrs[n] for n in names])
    if found is NotImplemented or not wide or found.dtype is not float32:
        return found
    return raw.Cast(found, DstT=narrow)


def _known(tensor: SymbolicTensor, value: SymbolicTensor) -> SymbolicTensor:
    """The input of a rule, with what is known of its value."""
    if value.node.op is raw.Const:
        tensor.spec = Spec(value.dtype, value.dims, value.node.attrs["value"])
    return tensor
