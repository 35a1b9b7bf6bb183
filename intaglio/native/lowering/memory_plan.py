"""The memory plan of a native function: the offset and lifetime of each value in one allocation.

Everything is decided while the function is written: sizes are known, and what runs when is
what is written when, but for loops, whose bodies return whatever they took.
"""

from __future__ import annotations

ALIGNMENT_BYTES = 64


# Where a block is that is none of the plan's: the memory of a variable.
OUTSIDE = -1


class Block:
    """A block of the memory, free again when its last holder has released it."""

    __slots__ = ("holders", "offset", "size")

    def __init__(self, offset: int, size: int) -> None:
        self.offset = offset
        self.size = size
        self.holders = 1


class Arena:
    """Gives out blocks, the lowest that is large enough first."""

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
            offset, _ = self._free.pop()  # too small, but it may grow
        else:
            offset = self.size
        self.size = offset + size
        return Block(offset, size)

    def hold(self, block: Block) -> None:
        """One more holder."""
        block.holders += 1

    def release(self, block: Block) -> None:
        """One holder less; without any the block is free, and joins its free neighbours."""
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
