"""Whether the system permits executable memory."""

from __future__ import annotations

import ctypes
import mmap
import sys


def executable_memory() -> bool:
    """True if the system permits executing memory that was written to.

    Hardened systems forbid it. LLVM would abort the process then.
    """
    if sys.platform == "win32":
        return True
    size = mmap.PAGESIZE
    page = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE)
    try:
        page[:1] = b"\xc3"
        mapped = ctypes.c_char.from_buffer(page)
        address = ctypes.c_void_p(ctypes.addressof(mapped))
        protect = ctypes.CDLL(None).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        failed = protect(address, size, mmap.PROT_READ | mmap.PROT_EXEC)
        del mapped
    finally:
        page.close()
    return not failed
