"""Memory of hidden state: what traces of nested blocks have found, for later traces of the outer block.

A block that finds hidden state is traced again, together with its nested blocks. Without a memory the number
of traces would double with each level of nesting. So each block stores the hidden state of its nested blocks,
in the order of their traces, as far as the locations are its own state as well. Objects created inside the
block are created again by each trace.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.threads import Inherited


class Memory:
    """The hidden state that a block and its nested blocks have found."""

    def __init__(self) -> None:
        self.hidden: list[Any] = []
        self.poisoned: list[Any] = []
        self.rebound: set[Any] = set()
        self.moves: Any = None
        self.block: Any = None
        # The values of an outermost block's names at its beginning.
        self.begun: dict[str, Any] | None = None
        self._inside: dict[tuple[int, Any], Memory] = {}
        self._count = 0

    def begin(self) -> None:
        """Called when a trace of the block's body begins."""
        self._count = 0

    def next_inside(self, code: Any) -> Memory:
        """The memory of the next nested block, which comes from this code."""
        self._count += 1
        return self._inside.setdefault((self._count, code), Memory())


class _Memories(Inherited):
    def __init__(self) -> None:
        self.open: list[Memory | None] = []


_memories = _Memories()


@contextmanager
def remembering(memory: Memory | None) -> Generator[None]:
    """Sets the memory for nested blocks; None begins a new trace."""
    _memories.open.append(memory)
    try:
        yield
    finally:
        _memories.open.pop()


def around() -> Memory | None:
    """The memory of the block around the code that is being traced."""
    return _memories.open[-1] if _memories.open else None
