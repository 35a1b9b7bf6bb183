"""The memory plan of a native function: the offset and lifetime of each value in one allocation.

It is made during lowering: sizes are static, and the order of execution is the order of the code,
except for loops, whose bodies return what they have allocated.
"""

from __future__ import annotations

ALIGNMENT_BYTES = 64


# The offset of a block outside of the plan: the memory of a variable.
OUTSIDE = -1


class Block:
    """A block of memory, free when its last reference is released."""

    __slots__ = ("holders", "offset", "size")

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        self.holders = 1


class Arena:
    """Allocates blocks, first fit."""

    def __init__(self) -> None:
        # Bytes that the whole plan needs.
        self.size = 0
        self._free: list[tuple[int, int]] = []  # offset and size, ascending

    def block(self, size: int) -> Block:
        """A block of at least that many bytes."""
        size = max(-(-size // ALIGNMENT_BYTES), 1) * ALIGNMENT_BYTES
        for i, (offset, there) in enumerate(self._free):
            if there >= size:
                if there == size:
                    del self._free[i]
                else:
                    self._free[i] = (offset + size, there - size)
                return Block(offset, size)
        if self._free and sum(self._free[-1]) == self.size:
            offset, _ = self._free.pop()  # the last one is too small, but can grow
        else:
            offset = self.size
        self.size = offset + size
        return Block(offset, size)

    def hold(self, block: Block) -> None:
        """Adds a reference."""
        block.holders += 1

    def release(self, block: Block) -> None:
        """Removes a reference; without references the block is free, and merges with free
        neighbours."""
        block.holders -= 1
        if block.holders or block.offset == OUTSIDE:
            return
        merged: list[tuple[int, int]] = []
        for offset, size in sorted([*self._free, (block.offset, block.size)]):
            if merged and sum(merged[-1]) == offset:
                merged[-1] = (merged[-1][0], merged[-1][1] + size)
            else:
                merged.append((offset, size))
        self._free = merged
