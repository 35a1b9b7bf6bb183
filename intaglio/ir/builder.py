"""The graph while it is being made: names, nodes, look-up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from intaglio.base import origins
from intaglio.ir.graph import Graph, Node, SymbolicTensor
from intaglio.op.op import Op
from intaglio.op.spec import Spec

_VALID_NAME = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")


class GraphBuilder:
    """A growing list of nodes with unique names."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.by_name: dict[str, Node] = {}
        self._used: dict[str, int] = {}
        self._finalized = False

    def add(
        self,
        op: Op,
        inputs: Sequence[SymbolicTensor],
        attrs: dict[str, Any],
        name: str,
        specs: Sequence[Spec],
        *,
        control: tuple[Node, ...] = (),
        device: str = "",
        skip: int = 2,
    ) -> Node:
        """Appends a node under a unique name. Raises RuntimeError once finalized."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        unique = self.unique_name(name)
        node = Node(
            op, inputs, attrs, unique, specs,
            control=control, origin=origins.capture(skip), graph=self, device=device,
        )  # fmt: skip
        self.nodes.append(node)
        self.by_name[unique] = node
        return node

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, ... if it is taken (names differ by more than case)."""
        if not _VALID_NAME.match(name):
            raise ValueError(
                f"'{name}' is not a valid scope name"
                if "/" in name
                else f"'{name}' is not a valid node name"
            )
        key = name.lower()
        count = self._used.get(key, 0)
        if mark_as_used:
            self._used[key] = count + 1
        if not count:
            return name
        while True:
            candidate = f"{name}_{count}"
            if candidate.lower() not in self._used:
                break
            count += 1
        if mark_as_used:
            self._used[candidate.lower()] = 1
        return candidate

    def freeze(
        self,
        name: str,
        inputs: Sequence[SymbolicTensor],
        outputs: Sequence[SymbolicTensor],
    ) -> Graph:
        """What has been built so far as an immutable graph."""
        return Graph(name, inputs, self.nodes, outputs)
