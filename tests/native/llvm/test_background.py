"""What is compiled in the background: it is there after a while, and stands back until then."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from intaglio import native
from intaglio.native.llvm import background, jit

TEXT = "define void @f() {\n  ret void\n}\n"


def test_what_fails_is_left_as_it_is():
    done: list[int] = []

    def fails() -> None:
        raise RuntimeError("no")

    background.later("fails", fails)
    background.later("works", lambda: done.append(1))
    background.wait()
    assert done == [1]


def test_a_key_that_waits_is_done_once():
    done: list[int] = []
    hold = threading.Event()
    background.later("first", hold.wait)
    for number in range(3):
        background.later("again", lambda number=number: done.append(number))
    hold.set()
    background.wait()
    assert done == [0]


def test_a_thread_may_take_compiled_code_alone():
    with pytest.raises(background.NotCompiled):
        background.if_compiled(jit.Module, TEXT)
    assert jit.Module(TEXT).address("f")


def test_a_kernel_is_used_when_it_is_ready(monkeypatch):
    monkeypatch.setattr(native, "_known_kinds", set())
    description = "small matrices", "determinant", False, 20, 5, 5, False, False
    assert native.kernel_when_ready(*description) is None
    background.wait()
    assert native.kernel_when_ready(*description) is not None
    # The same code for other shapes needs no compilation.
    other = (*description[:3], 77, 6, 6, False, False)
    assert native.kernel_when_ready(*other) is not None


def test_without_a_thread_nothing_is_done_and_nothing_raised(monkeypatch):
    def start(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    done: list[int] = []
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", start)
        background.later("none", lambda: done.append(1))
        background.wait()
        assert not done
    background.later("next", lambda: done.append(2))
    background.wait()
    assert done == [1, 2]


AT_THE_END = """
import atexit
import numpy as np
from intaglio import tf

x = np.ones((600, 600), "f")
atexit.register(lambda: [tf.reduce_sum(x) for _ in range(30)])
"""


def test_programs_compute_while_they_end():
    run = subprocess.run(
        [sys.executable, "-c", AT_THE_END], capture_output=True, text=True, env={**os.environ}
    )
    assert run.returncode == 0
    assert not run.stderr


def test_a_program_that_ends_does_not_wait_for_what_has_not_begun():
    program = """
import time
from intaglio.native.llvm import background
for number in range(100):
    background.later(number, lambda: time.sleep(0.2))
"""
    run = subprocess.run([sys.executable, "-c", program], timeout=10, env={**os.environ})
    assert run.returncode == 0
