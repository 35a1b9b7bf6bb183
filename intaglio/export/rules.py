"""Tables of rules by op: functions are registered where they are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from intaglio.ir.graph import Node
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op

F = TypeVar("F", bound=Callable[..., Any])
# Why nodes have no expression, by their ops and the names that they have in the trace.
Refusals = dict[tuple[str, str], str]


class NoRule(Exception):
    """A node that no rule is for, or that a rule has no expression for: then the message says why."""


class Rules(dict[str, F], Generic[F]):
    """Rules by the names of ops, or by those of traits that several ops have.

    `late` references to ops do not import their families.
    """

    def of(self, *ops: Op | OpReference | str) -> Callable[[F], F]:
        """Registers the decorated function as the rule of these ops, or of all with a trait."""

        def register(function: F) -> F:
            self.update({op if isinstance(op, str) else op.name: function for op in ops})
            return function

        return register

    def has(self, op: Op | OpReference) -> bool:
        """Whether there is a rule for an op."""
        return op.name in self

    def find(self, op: Op | OpReference) -> F | None:
        """The rule of an op, if there is one."""
        return self.get(op.name)

    def apply(self, node: Node, *arguments: Any) -> Any:
        """What the rule of a node gives for the node and these arguments. Raises NoRule."""
        rule = self.find(node.op)
        if rule is None:
            raise NoRule
        return rule(node, *arguments)
