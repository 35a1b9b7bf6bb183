"""The matrix registers of x86 (AMX): whether the processor and the system let this process use them.

There are eight tile registers of 16 rows of 64 bytes. One instruction adds the product of two of them, whose
elements have 8 or 16 bits, to a third: 16 times the multiplications of a float32 vector instruction.
"""

from __future__ import annotations

import ctypes
import functools
import sys

from intaglio.native.llvm import jit

# Rows of a tile register, bytes of a row, number of registers.
ROWS, ROW_BYTES, COUNT = 16, 64, 8
# arch_prctl(2) of x86-64: the system call's number, the request, the XSAVE component of the tile registers.
_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA = 158, 0x1023, 18
# The configuration that `ldtilecfg` reads: palette 1, all registers of full size.
CONFIGURATION = bytes([1, *[0] * 15, *[ROW_BYTES, 0] * COUNT, *[0] * 16, *[ROWS] * COUNT, *[0] * 8])


def available(feature: str) -> bool:
    """Whether products of a kind run: `feature` is LLVM's name, such as "amx-bf16"."""
    whole = jit.has_feature("amx-tile") and jit.has_feature(feature)
    return whole and jit.WIDTH == 64 and _permitted()


@functools.cache
def _permitted() -> bool:
    """Requests permission to use the registers, for all threads of the process.

    Linux refuses where a thread has an alternate signal stack too small for that state, and in
    sandboxes that forbid the call.
    """
    if sys.platform != "linux" or jit.MACHINE != "x86_64":
        return False
    call = ctypes.CDLL(None).syscall
    call.restype = ctypes.c_long
    arguments = (_ARCH_PRCTL, _REQUEST_PERMISSION, _TILE_DATA)
    return call(*[ctypes.c_long(a) for a in arguments]) == 0
