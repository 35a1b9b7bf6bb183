"""Tables of rules by op: functions are registered where they are defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar

from intaglio.ir.graph import Node
from intaglio.opdef.late import OpReference
from intaglio.opdef.op import Op

F = TypeVar("F", bound=Callable[..., Any])
# The op of a node, and the name that it has in the trace.
NodeName = tuple[str, str]
# Why nodes have no expression.
Refusals = dict[NodeName, str]


def name_of(node: Node) -> NodeName:
    """The name of a node, which stays when passes write the node again."""
    return node.op.name, node.traced_name


class NoRule(Exception):
    """A node that a rule has no expression for: the message says why, and what to write instead.

    It is empty where there is no rule.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)


def refused(
    reason: str, instead: str = "compute it of all elements, with a mask for the others"
) -> NoRule:
    """The error of a node that gets as many rows as data says, and what to write instead."""
    return NoRule(f"{reason}; {instead}")


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
            raise NoRule("")
        return rule(node, *arguments)
