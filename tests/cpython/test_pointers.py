"""Locks, capsules and NumPy's libraries: C pointers in both directions."""

from __future__ import annotations

import ctypes
import datetime
import threading

import numpy as np
import pytest

from intaglio.base.memory import arrays_at, pointer_at
from intaglio.cpython import capsules, layout, thread_locks
from intaglio.cpython.numpy_libraries import openblas_thread_count


def test_a_lock_is_acquired_until_it_is_released() -> None:
    lock = thread_locks.new_acquired_lock()
    acquire = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int)(
        layout.function_address("acquire_lock")
    )
    release = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(layout.function_address("release_lock"))
    assert acquire(lock, 0) == 0
    waiting = threading.Thread(target=acquire, args=(lock, 1))
    waiting.start()
    release(lock)
    waiting.join()
    assert acquire(lock, 0) == 0  # the other thread has it
    release(lock)
    assert acquire(lock, 0) == 1


def test_capsules_are_known_by_their_name() -> None:
    capsule = datetime.datetime_CAPI
    name = b"datetime.datetime_CAPI"
    assert capsules.is_capsule(capsule) and not capsules.is_capsule(name)
    assert capsules.is_valid(capsule, name) and not capsules.is_valid(capsule, b"dltensor")
    assert capsules.pointer(capsule, name) > 0
    for wrong in ((capsule, b"dltensor"), (name, name)):
        with pytest.raises(ValueError, match="PyCapsule"):
            capsules.pointer(*wrong)


def test_openblas_sets_its_number_of_threads() -> None:
    functions = openblas_thread_count()
    if functions is None:
        pytest.skip("NumPy has another library")
    get, set = functions
    before = get()
    try:
        set(1)
        assert get() == 1
    finally:
        set(before)
    assert get() == before


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0)])
def test_arrays_lie_at_addresses(shape: tuple[int, ...]) -> None:
    memory = np.arange(8, dtype=np.float32)
    at = arrays_at(shape, memory.dtype)
    found = at(memory.ctypes.data + 4)
    assert (
        found.shape == shape and found.tolist() == memory[1:][: found.size].reshape(shape).tolist()
    )
    found[...] = -1.0
    assert (memory == -1.0).sum() == found.size
    table = np.array([0, memory.ctypes.data], np.int64)
    assert pointer_at(table.ctypes.data) == 0
    assert pointer_at(table.ctypes.data + 8) == memory.ctypes.data
