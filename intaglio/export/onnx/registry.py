"""The table of rules: what an op is in ONNX, for ops without an elementwise expression.

    @onnx_rule(raw.MatMul)
    def _product(b, a, b_, transpose_a, transpose_b): ...

A rule takes what it names, as the rules of ops do: inputs, attributes and type variables of the op's
signature, besides `builder`, `node`, `lowering` and `operands`, all inputs. It gets known arrays of NumPy and `Value`s, and returns
the outputs. It raises `Unexportable` for what ONNX has no expression for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from intaglio.export.rules import Rules
from intaglio.ir.graph import Node
from intaglio.opdef.op import Op, Rule

RULES: Rules[Rule] = Rules()
# The rules for complex numbers, of which operators take the real and imaginary parts.
COMPLEX_RULES: Rules[Rule] = Rules()
SERVICES = ("builder", "node", "operands", "lowering")
F = TypeVar("F", bound=Callable[..., Any])


def onnx_rule(*ops: Any) -> Callable[[F], F]:
    """Registers the rule of these ops, or of `late` references to them.

    Raises ValueError for a parameter that is no name of the op's signature.
    """
    return _registered(RULES, ops)


def complex_rule(*ops: Any) -> Callable[[F], F]:
    """Registers what these ops are where an input or output is complex, as `onnx_rule` does otherwise.

    The rule gets and returns a `ComplexValue` where operands of other rules are a `Value`.
    """
    return _registered(COMPLEX_RULES, ops)


def _registered(rules: Rules[Rule], ops: Sequence[Any]) -> Callable[[F], F]:
    def register(function: F) -> F:
        rule = Rule(function)
        for op in ops:
            if isinstance(op, Op):
                names = {*op.input_names, *op.attr_names, *op.vars, *op.implied, *SERVICES}
                unknown = set(rule.takes) - names
                if unknown:
                    raise ValueError(f"the rule of {op.name} asks for {sorted(unknown)}")
        rules.of(*ops)(rule)
        return function

    return register


def arguments(rule: Rule, node: Node, values: Sequence[Any], lowering: Any) -> list[Any]:
    """What a rule gets for a node."""
    op = node.op
    grouped = op.sig.group(values, node.attrs) if op.has_lists else values
    inputs = dict(zip(op.input_names, grouped, strict=True))
    services = {"node": node, "operands": values, "lowering": lowering, "builder": lowering.builder}
    types: dict[str, Any] = {}
    found: list[Any] = []
    for name in rule.takes:
        if name in inputs:
            found.append(inputs[name])
        elif name in node.attrs:
            found.append(node.attrs[name])
        elif name in services:
            found.append(services[name])
        else:
            types = types or op.types_of(node.inputs, node.attrs)
            found.append(types.get(name, op.defaults.get(name)))
    return found
