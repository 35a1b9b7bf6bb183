"""Calls of Python functions from machine code."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

import pytest

from intaglio.cpython import layout
from intaglio.native.runtime.python_calls import RAISED, python_call


def called(function: Callable[..., int], *addresses: int, unlocked: bool = True) -> int:
    """What the code returns. Without the interpreter's lock an exception stays set."""
    prototype = ctypes.CFUNCTYPE if unlocked else ctypes.PYFUNCTYPE
    code = python_call()
    run = prototype(ctypes.c_int64, *[ctypes.c_void_p] * 4, ctypes.c_int64)(code.address)
    one, two = (*addresses, 0)[:2]
    return run(layout.address_of(function), one, two, code.table, len(addresses))


@pytest.mark.parametrize("unlocked", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_code_calls_python_with_addresses(count: int, unlocked: bool) -> None:
    seen: list[tuple[int, ...]] = []

    def run(*addresses: int) -> int:
        seen.append(addresses)
        return -5

    addresses = tuple(range(8, 8 + 8 * count, 8))
    assert called(run, *addresses, unlocked=unlocked) == -5
    assert seen == [addresses]


def test_other_threads_may_call() -> None:
    found: list[int] = []

    def next_address(address: int) -> int:
        return address + 1

    threads = [
        threading.Thread(target=lambda i=i: found.append(called(next_address, i + 1)))
        for i in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [2, 3, 4, 5]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, SystemExit])
def test_exceptions_stay_set(error: type[BaseException]) -> None:
    status: list[int] = []

    def fail(address: int) -> int:
        raise error("here")

    with pytest.raises(error, match="here"):
        status.append(called(fail, 8, unlocked=False))
    assert RAISED != 0 and not status
