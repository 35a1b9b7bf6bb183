"""Memory of the staged blocks inside one that is traced again.

A block that finds hidden state is traced again, and with it the blocks inside. They would find
the same once more, each of them twice as often as the one around it. So each block remembers
what those inside found: of these, in the order of their traces, as far as the locations are
its own state as well. What lies inside the block itself is built again by each trace.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from intaglio.base.threads import Inherited


class Memory:
    """What a block found, and what the blocks inside it did."""

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
        """The block's body is traced from its beginning."""
        self._count = 0

    def next_inside(self, code: Any) -> Memory:
        """The memory of the next block inside, which comes from this code."""
        self._count += 1
        return self._inside.setdefault((self._count, code), Memory())


class _Memories(Inherited):
    def __init__(self) -> None:
        self.open: list[Memory | None] = []


_memories = _Memories()


@contextmanager
def remembering(memory: Memory | None) -> Generator[None]:
    """Blocks inside are remembered there; None begins a trace of its own."""
    _memories.open.append(memory)
    try:
        yield
    finally:
        _memories.open.pop()


def around() -> Memory | None:
    """The memory of the block around the code that is being traced."""
    return _memories.open[-1] if _memories.open else None
