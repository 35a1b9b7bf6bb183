"""A recorded graph of one row, executed for all rows: node by node, through the door.

Where the program is decides what becomes of it: eagerly the ops run, in a graph they are
recorded, and tapes that watch see them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from intaglio.base import log
from intaglio.base.dtypes import resource, variant
from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node
from intaglio.opdef import convert, door, raw
from intaglio.opdef.op import Op
from intaglio.opdef.tensor import Tensor
from intaglio.trace.control_flow import recording
from intaglio.trace.loops import map_rows
from intaglio.vectorize import arrays, elementwise, lists, products, reductions, state
from intaglio.vectorize.rows import ALWAYS, RULES, NotVectorizableError, Row, Rows

# Importing these fills the table of rules.
FAMILIES = (arrays, elementwise, lists, products, reductions, state)
# What follows for an op from its trait `batching`.
BATCHING: dict[str, Any] = {
    "leading": elementwise.leading,
    "broadcast": elementwise.broadcasting,
    "alike": elementwise.alike,
    "examples": arrays.of_examples,
}


class Vectorizer:
    """Carries graphs out for all rows. `fallback` lets ops without a rule go row by row."""

    def __init__(self, fallback: bool = True, warn: bool = True) -> None:
        self.fallback = fallback
        self.warn = warn

    def run(self, graph: Graph, inputs: Sequence[Row], rows: Rows) -> list[Row]:
        """The outputs of `graph`. Raises ValueError for what has no rule, without fallback."""
        values: dict[int, Row] = {id(v): row for v, row in zip(graph.inputs, inputs, strict=True)}
        for node in walk.live_nodes(graph.nodes, graph.outputs):
            if node.op is raw.Placeholder and id(node.outputs[0]) in values:
                continue
            operands = [values[id(v)] for v in node.inputs]
            for old, new in zip(node.outputs, self.carry_out(node, operands, rows), strict=True):
                values[id(old)] = new
        return [values[id(v)] for v in graph.outputs]

    def carry_out(self, node: Node, inputs: Sequence[Row], rows: Rows) -> list[Row]:
        """One node for all rows."""
        op = node.op
        if op is raw.Const:
            constant = door.level().constant(node.attrs["value"])
            return [Row(constant, False, node.outputs[0].spec)]
        own = any(r.stacked for r in inputs) or op.name in ALWAYS or _has_effects(node)
        if own:
            try:
                return self._by_rule(node, inputs, rows, rule_of(op))
            except NotVectorizableError as e:
                return self._row_by_row(node, inputs, rows, str(e))
        outputs = door.carry_out(op, [r.tensor for r in inputs], node.attrs, None)
        return [Row(t, False, v.spec) for t, v in zip(outputs, node.outputs, strict=True)]

    def _by_rule(self, node: Node, inputs: Sequence[Row], rows: Rows, rule: Any) -> list[Row]:
        if rule is None:
            raise NotVectorizableError("")
        if "_gradient_op_type" in node.attrs:
            raise NotVectorizableError("its gradient is a function of one row")
        if rule in _NEEDS_VECTORIZER:
            found = rule(self, rows, node, inputs)
        else:
            found = rule(rows, node, *node.op.sig.group(inputs, node.attrs))
        results = found if isinstance(found, list) else [found]
        return [
            v if isinstance(v, Row) else Row(v, True, o.spec)
            for v, o in zip(results, node.outputs, strict=True)
        ]

    # -- without a rule ------------------------------------------------------------

    def _row_by_row(self, node: Node, inputs: Sequence[Row], rows: Rows, reason: str) -> list[Row]:
        """The op executed for each row by itself."""
        name = node.op.name
        if not self.fallback:
            because = f" ({reason})" if reason else ""
            raise ValueError(
                f"No pfor vectorization defined for {name}{because}: the node is "
                f"{node.name or name!r}. With fallback_to_while_loop=True it is carried "
                "out row by row."
            )
        if any(r.stacked and r.tensor.dtype in (variant, resource) for r in inputs):
            raise NotVectorizableError(f"{name} takes a list or resource of each row")
        if any(v.dtype in (variant, resource) for v in node.outputs):
            raise NotVectorizableError(f"{name} gives a list or resource of each row")
        if self.warn:
            why = reason or "there is no registered converter for this op"
            log.logger().warning("Using a while_loop for converting %s cause %s.", name, why)
        stacked = [r.tensor for r in inputs if r.stacked]
        numbers = convert.to_tensor(rows.numbers())
        types = [v.dtype for v in node.outputs]

        def one(operands: Sequence[Tensor]) -> list[Tensor]:
            rest = iter(operands[1:])
            tensors = [next(rest) if r.stacked else r.tensor for r in inputs]
            outputs = door.carry_out(node.op, tensors, node.attrs, None)
            return list(outputs) or [raw.Identity(operands[0])]

        signature = types or [numbers.dtype]
        found = map_rows(one, [numbers, *stacked], signature, None, name)
        if not types:
            return []
        if rows.known == 0 and recording() is None:
            found = [_no_rows(v) for v in node.outputs]
        return [Row(t, True, v.spec) for t, v in zip(found, node.outputs, strict=True)]


def rule_of(op: Op) -> Any:
    """The rule of an op, or None: its own, or what follows from how it batches."""
    return RULES.get(op.name) or BATCHING.get(op.batching)


def _no_rows(value: Any) -> Tensor:
    shape = [0, *[d or 0 for d in value.dims or ()]]
    return convert.to_tensor(np.zeros(shape, value.dtype.numpy))


def _has_effects(node: Node) -> bool:
    """True if the node, or a graph that it runs, has effects or reads state."""
    return node.op.stateful or any(g.stateful for g in walk.attached(node))


_NEEDS_VECTORIZER: set[Any] = set()
Rule = TypeVar("Rule", bound=Callable[..., Any])


def needs_vectorizer(rule: Rule) -> Rule:
    """Marks a rule that carries graphs out: it gets the vectorizer too."""
    _NEEDS_VECTORIZER.add(rule)
    return rule


__all__ = ["FAMILIES", "Vectorizer", "needs_vectorizer"]
