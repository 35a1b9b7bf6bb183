"""The table of ONNX operators: what a node becomes.

    @operator("Add")
    def _add(c, a, b): ...

A rule takes the call (attributes, version, graphs) and the inputs, None for one that is left out; it returns
the outputs, a tuple for several. Operators of all versions come to one rule, which asks for the version where
its meaning changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import onnx
from onnx import helper

from intaglio.export.onnx.loading.values import ModelError, ints

ML = "ai.onnx.ml"
TRAINING = "ai.onnx.preview.training"
OPERATORS: dict[tuple[str, str], Callable[..., Any]] = {}
F = TypeVar("F", bound=Callable[..., Any])


def operator(*names: str, domain: str = "") -> Callable[[F], F]:
    """Registers the rule of operators."""

    def register(function: F) -> F:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return register


class Call:
    """A node with its attributes and what carries its graphs out."""

    def __init__(self, node: onnx.NodeProto, version: int, program: Any, scope: Any) -> None:
        self.node = node
        self.version = version
        self.program = program
        self.scope = scope
        self._attributes = {a.name: a for a in node.attribute}

    @property
    def outputs(self) -> int:
        """The number of outputs."""
        return len(self.node.output)

    def attr(self, name: str, default: Any = None) -> Any:
        """An attribute: a number, bytes as text, a list of these, a tensor or graph message."""
        found = self._attributes.get(name)
        if found is None:
            return default
        value: Any = helper.get_attribute_value(found)
        if isinstance(value, bytes):
            return value.decode(errors="replace")
        if found.type in (onnx.AttributeProto.STRINGS,):
            return [v.decode(errors="replace") for v in value]
        return list(value) if isinstance(value, Sequence) else value

    def ints(self, name: str, operand: Any = None) -> list[int] | None:
        """Integers of an attribute, or of an input in later versions; None if there are neither."""
        if operand is not None:
            return ints(operand, f"{self.node.op_type}'s {name}")
        found = self.attr(name)
        return None if found is None else [int(v) for v in np.atleast_1d(found)]

    def run(self, name: str, inputs: Sequence[Any] = ()) -> list[Any]:
        """The outputs of a graph among the attributes, which sees the values around the node."""
        graph = self.attr(name)
        if graph is None:
            raise ModelError(f"it has no graph {name!r}")
        return self.program.run(graph, inputs, self.scope)
