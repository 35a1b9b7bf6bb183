"""The table of rules: what an op is in `jax.lax`, for ops whose kernels are not recorded as they are.

    @xla(raw.MatMul)
    def _product(a, b, transpose_a, transpose_b): ...

A rule takes what it names, as the rules of ops do: inputs, attributes and type variables of the
op's signature, besides `node` and `evaluator`. It gets known arrays (of NumPy) and tracers, and
returns the outputs. It raises `Untraceable` for what it has no program for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from intaglio.ir.graph import Node
from intaglio.opdef.op import Op, Rule

RULES: dict[str, Rule] = {}
# The ops whose rules check data, which the host asks for after the program (`intaglio.xla.checks`).
CHECKING: set[str] = set()
SERVICES = ("node", "evaluator")
F = TypeVar("F", bound=Callable[..., Any])


def xla(*ops: Any, checks: bool = False) -> Callable[[F], F]:
    """Registers the rule of these ops, or of `late` references to them; `checks` of those that check data.

    Raises ValueError for a parameter that is no name of the op's signature.
    """

    def register(function: F) -> F:
        rule = Rule(function)
        for op in ops:
            if isinstance(op, Op):
                names = {*op.input_names, *op.attr_names, *op.vars, *op.implied, *SERVICES}
                unknown = set(rule.takes) - names
                if unknown:
                    raise ValueError(f"the rule of {op.name} asks for {sorted(unknown)}")
            RULES[op.name] = rule
            if checks:
                CHECKING.add(op.name)
        return function

    return register


def arguments(rule: Rule, node: Node, values: Sequence[Any], evaluator: Any) -> list[Any]:
    """What a rule gets for a node."""
    op = node.op
    grouped = op.sig.group(values, node.attrs) if op.has_lists else values
    inputs = dict(zip(op.input_names, grouped, strict=True))
    types: dict[str, Any] = {}
    found: list[Any] = []
    for name in rule.takes:
        if name in inputs:
            found.append(inputs[name])
        elif name in node.attrs:
            found.append(node.attrs[name])
        elif name in SERVICES:
            found.append(node if name == "node" else evaluator)
        else:
            types = types or op.types_of(node.inputs, node.attrs)
            found.append(types.get(name, op.defaults.get(name)))
    return found
