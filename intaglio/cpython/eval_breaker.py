"""The address of CPython's eval breaker, the flag that signals and other requests are pending.

The evaluation loop handles requests, such as a signal, while the low byte of this word is not zero. Until
Python 3.12 there is one for the interpreter, since then one for each thread. It may be read at any time,
without the interpreter's lock. Its offset is verified by neighbouring fields, whose values are known.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Callable

from intaglio.cpython.layout import AVAILABLE

_VERSION = sys.version_info[:2]
# PyInterpreterState of Python 3.11 and 3.12: offsets of the eval breaker and of the recursion limit,
# which is an int32.
_OF_INTERPRETER = {(3, 11): (100, 96), (3, 12): (368, 376)}
# PyThreadState since Python 3.13: offsets of the pointer to the interpreter and of the eval breaker.
_OF_THREAD = {(3, 13): (16, 24), (3, 14): (16, 24)}


def _function(name: str, arguments: int = 0) -> Callable[..., int | None]:
    """A C function of the interpreter that takes `count` addresses and returns an address."""
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, *[ctypes.c_void_p] * arguments)
    return prototype((name, ctypes.pythonapi))


def main_thread_state() -> int:
    """The address of the main thread's PyThreadState; 0 where `AVAILABLE` is false.

    It changes in the child after `os.fork`.
    """
    if not AVAILABLE:
        return 0
    if threading.current_thread() is threading.main_thread():
        return _function("PyThreadState_Get")() or 0
    interpreter = _function("PyInterpreterState_Main")()
    following = _function("PyThreadState_Next", 1)
    state, found = _function("PyInterpreterState_ThreadHead", 1)(interpreter), 0
    while state:  # the list begins with the newest thread
        state, found = following(state), state
    return found


def eval_breaker(thread_state: int) -> int:
    """The address of a thread's eval breaker; 0 if its offset is not known."""
    if not thread_state:
        return 0
    interpreter = _function("PyInterpreterState_Main")() or 0
    if _VERSION in _OF_INTERPRETER:
        breaker, limit = _OF_INTERPRETER[_VERSION]
        found = ctypes.c_int32.from_address(interpreter + limit).value
        return interpreter + breaker if found == sys.getrecursionlimit() else 0
    if _VERSION in _OF_THREAD:
        owner, breaker = _OF_THREAD[_VERSION]
        found = ctypes.c_void_p.from_address(thread_state + owner).value
        return thread_state + breaker if found == interpreter else 0
    return 0
