"""Patterns and rules: a rewrite is an expression in ops, a replacement in ops, and its equation.

    @rule(lambda x, p, q: pat.Transpose(pat.Transpose(x, p), q))
    def merge_transposes(x, p, q):
        \"\"\"transpose(transpose(x, p), q)  ->  transpose(x, p[q])\"\"\"

Names of the pattern are bound to values of the graph; an attribute in a pattern must be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from intaglio.ir import walk
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.ir.rewrite import Fuel, Rewriter
from intaglio.opdef import door


class Variable:
    """A variable of a pattern: matches any value, at each occurrence the same one."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Expression:
    """An op in a pattern."""

    __slots__ = ("arguments", "attrs", "op_name")

    def __init__(self, op_name: str, arguments: tuple[Any, ...], attrs: dict[str, Any]) -> None:
        self.op_name = op_name
        self.arguments = arguments
        self.attrs = attrs


class _Ops:
    """`pat.Name(...)` writes an op of a pattern."""

    def __getattr__(self, op_name: str) -> Callable[..., Expression]:
        return lambda *arguments, **attrs: Expression(op_name, arguments, attrs)


pat: Any = _Ops()


class Rule:
    """A rewrite: pattern, replacement, and the equation between them as its docstring."""

    def __init__(self, expression: Expression, replacement: Callable[..., Any]) -> None:
        self.expression = expression
        self.replacement = replacement
        self.name = replacement.__name__
        self.equation = (replacement.__doc__ or "").strip()
        code = replacement.__code__
        self.takes = code.co_varnames[: code.co_argcount]

    def match(self, node: Node) -> dict[str, SymbolicTensor] | None:
        """The values of the pattern's names if the node is the root of such an expression."""
        bound: dict[str, SymbolicTensor] = {}
        return bound if _matches(self.expression, node, bound) else None

    def replace(self, bound: dict[str, SymbolicTensor]) -> SymbolicTensor | None:
        """The replacement of the node's output, or None if the rule does not match."""
        return self.replacement(*[bound[n] for n in self.takes])


def _matches(pattern: Expression, node: Node, bound: dict[str, SymbolicTensor]) -> bool:
    if node.op.name != pattern.op_name or len(node.inputs) != len(pattern.arguments):
        return False
    if pattern.attrs and any([node.attrs.get(k) != v for k, v in pattern.attrs.items()]):
        return False
    for part, value in zip(pattern.arguments, node.inputs, strict=True):
        if isinstance(part, Variable):
            if bound.setdefault(part.name, value) is not value:
                return False
        elif value.index or value.node.op.stateful or not _matches(part, value.node, bound):
            return False
    return True


class RuleSet:
    """Rules in the order they are tried, by the op at their root."""

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self.by_root: dict[str, list[Rule]] = {}

    def rule(self, pattern: Callable[..., Expression]) -> Callable[[Callable[..., Any]], Rule]:
        """Declares a rewrite. Raises TypeError unless the replacement has an equation."""
        code = pattern.__code__
        expression = pattern(*[Variable(n) for n in code.co_varnames[: code.co_argcount]])

        def declare(replacement: Callable[..., Any]) -> Rule:
            rule = Rule(expression, replacement)
            # `python -OO` has no docstrings.
            if replacement.__doc__ is not None and "->" not in rule.equation:
                raise TypeError(f"rule {rule.name} says no equation 'this  ->  that'")
            self.rules.append(rule)
            self.by_root.setdefault(expression.op_name, []).append(rule)
            return rule

        return declare

    def rewrite(self, graph: Graph, fuel: Fuel | None = None) -> Graph:
        """The graph with every rule applied until none fits any more."""
        if not any([op.name in self.by_root for op in walk.own_ops(graph)]):
            return graph
        fuel = fuel or Fuel()
        new = Rewriter(graph)
        for node in graph.nodes:
            current = new.copy(node)
            if current.op.name in self.by_root:
                value = self._rewritten(current, new, fuel)
                if value is not None:
                    new.replace(node, [value])
                    continue
            new.keep(node, current)
        return new.result()

    def _rewritten(self, node: Node, new: Rewriter, fuel: Fuel) -> SymbolicTensor | None:
        """The value that replaces the node's output, with further rules applied to it."""
        result: SymbolicTensor | None = None
        while True:
            value = self._once(node, new, fuel)
            if value is None:
                return result
            result = value
            again = value.node
            if value.index or again not in new.nodes[-8:] or again.op.name not in self.by_root:
                return result
            node = again

    def _once(self, node: Node, new: Rewriter, fuel: Fuel) -> SymbolicTensor | None:
        for candidate in self.by_root[node.op.name]:
            bound = candidate.match(node)
            if bound is None:
                continue
            new.root = node
            before = len(new.nodes)
            with door.pushed(new):
                value = candidate.replace(bound)
            if value is None or not _as_good(value, node.outputs[0]) or not fuel.burn():
                del new.nodes[before:]
                continue
            return value
        return None


def _as_good(value: SymbolicTensor, old: SymbolicTensor) -> bool:
    """True if the replacement has the same dtype, and a static shape that is at least as specific."""
    return value.dtype is old.dtype and (value.dims == old.dims or old.dims is None)


def is_constant(value: SymbolicTensor, number: Any) -> bool:
    """True if every element of the value is known to be `number`."""
    known = value.spec.value
    return known is not None and known.size > 0 and bool((known == number).all())


def same_shape(*values: SymbolicTensor) -> bool:
    """True if the shapes are fully known and equal."""
    dims: Sequence[Any] = [v.dims for v in values]
    return dims[0] is not None and None not in dims[0] and all(d == dims[0] for d in dims)
