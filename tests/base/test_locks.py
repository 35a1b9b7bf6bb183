"""Locks of the process: a child that is forked while one is held finds it free."""

from __future__ import annotations

import os
import threading

import pytest

from intaglio.base.locks import lasting_lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_process_finds_the_lock_free():
    lock = lasting_lock()
    held, leave = threading.Event(), threading.Event()

    def hold():
        with lock:
            held.set()
            leave.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if lock.acquire(timeout=5) else 1)
    assert not lock.acquire(blocking=False)
    leave.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
