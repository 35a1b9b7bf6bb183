"""The interface of a function for a process without Python to its caller: errors and random
streams.

There is no interpreter to repeat a call. A guard that fails ends the function with the status of
its node, from which the caller makes an error; streams of random numbers are words that the caller
keeps.
"""

from __future__ import annotations

from typing import Any

from intaglio.ir.graph import Node

# Statuses from here on are those of `Freestanding.guarded`.
FIRST_NODE_STATUS = 16


class Freestanding:
    """The nodes with guards, and those with random streams, in the order of their numbers."""

    def __init__(self) -> None:
        self.guarded: list[Node] = []
        self.streams: list[tuple[Node, Any]] = []
        # The node that is being lowered, and the first of the outputs that are words of streams.
        self.node: Node | None = None
        self.first_output = 0

    def status(self, otherwise: int) -> int:
        """The status of a guard of the node that is being lowered."""
        node = self.node
        if node is None:
            return otherwise
        if node not in self.guarded:
            self.guarded.append(node)
        return FIRST_NODE_STATUS + self.guarded.index(node)

    def output_of(self, node: Node, stream: Any) -> int:
        """The index of the output that has the words of a stream, which is added."""
        self.streams.append((node, stream))
        return self.first_output + len(self.streams) - 1
