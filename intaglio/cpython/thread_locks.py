"""CPython's PyThread locks, which machine code acquires and releases by their addresses.

The functions are `acquire_lock` and `release_lock` of `layout`. Any thread may release a lock.
"""

from __future__ import annotations

import ctypes

_allocate = ctypes.PYFUNCTYPE(ctypes.c_void_p)(("PyThread_allocate_lock", ctypes.pythonapi))
_acquire = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
    ("PyThread_acquire_lock", ctypes.pythonapi)
)


def new_acquired_lock() -> int:
    """The address of a new lock, which is acquired; it lives as long as the process.

    Raises MemoryError if the system has none.
    """
    lock = _allocate()
    if not lock:
        raise MemoryError("the system gives no lock")
    _acquire(lock, 1)
    return lock
