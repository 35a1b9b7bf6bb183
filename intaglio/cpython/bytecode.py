"""Which globals compiled code uses, read from its bytecode.

`dis` provides this too, but thirty times slower: it computes lines, labels and texts of all instructions.
"""

from __future__ import annotations

import opcode
from types import CodeType

_LOAD = opcode.opmap["LOAD_GLOBAL"]
_STORES = (opcode.opmap["STORE_GLOBAL"], opcode.opmap["DELETE_GLOBAL"])
_EXTENDED_ARG = opcode.EXTENDED_ARG


def global_names(code: CodeType) -> tuple[set[str], set[str]]:
    """The globals that a code object sets or deletes, and all globals that it uses; nested functions excluded."""
    stored: set[str] = set()
    used: set[str] = set()
    names, steps, high = code.co_names, code.co_code, 0
    for step, low in zip(steps[::2], steps[1::2], strict=True):
        argument = high | low
        if step == _EXTENDED_ARG:
            high = argument << 8
            continue
        high = 0
        if step == _LOAD:
            used.add(names[argument >> 1])  # the lowest bit says whether a NULL is pushed too
        elif step in _STORES:
            stored.add(names[argument])
    return stored, used | stored


__all__ = ["global_names"]
