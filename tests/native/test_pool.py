"""The pool: every task runs once, whoever calls and however often."""

from __future__ import annotations

import ctypes
import os
import threading

import numpy as np
import pytest

from intaglio.native import llvm, pool
from intaglio.native.code import Code, module

if not pool.AVAILABLE:
    pytest.skip("there is no pool on this system", allow_module_level=True)


def counting():
    """A task that adds one to the element of its number."""
    code = Code("count", ["ptr %context", "i64 %i"])
    place = code.at("i64", "%context", "%i")
    code.do(
        f"store i64 {code.integer('add', code.load('i64', place, 8), 1)}, ptr {place}, align 8"
    )
    code.do("ret void")
    return llvm.Module(module([code]))


TASK = counting()
POOL = pool.Pool(3)
RUN = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)(POOL.parallel_for)


def run(counts):
    RUN(POOL.address, TASK.address("count"), counts.ctypes.data, len(counts))


@pytest.mark.parametrize("tasks", [0, 1, 2, 7, 1000])
def test_every_task_runs_once(tasks):
    counts = np.zeros(tasks, np.int64)
    for turn in range(1, 200):
        run(counts)
        assert (counts == turn).all()


def test_callers_at_the_same_time():
    wrong = []

    def call():
        counts = np.zeros(13, np.int64)
        for turn in range(1, 2000):
            run(counts)
            if not (counts == turn).all():
                wrong.append(counts.tolist())
                return

    threads = [threading.Thread(target=call) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_after_a_fork_the_caller_works_alone():
    shared = pool.pool()
    if shared is None:
        pytest.skip("one processor")
    child = os.fork()
    if not child:
        counts = np.zeros(9, np.int64)
        RUN(shared.address, TASK.address("count"), counts.ctypes.data, 9)
        os._exit(0 if (counts == 1).all() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_calls_do_without_the_workers_while_a_processor_is_missing():
    """Where each task ran is told by its stack."""
    text = """
define void @where(ptr %context, i64 %i) {
  %here = alloca i64
  %at = ptrtoint ptr %here to i64
  %place = getelementptr i64, ptr %context, i64 %i
  store i64 %at, ptr %place
  ret void
}
"""
    made = llvm.Module(text)
    stacks = np.zeros(64, np.int64)
    alone = ctypes.c_int32.from_address(POOL.address + pool.ALONE)
    alone.value = 2
    for left in (1, 0):
        RUN(POOL.address, made.address("where"), stacks.ctypes.data, 64)
        assert alone.value == left
        assert len(np.unique(stacks >> 16)) <= 2  # one stack, perhaps across a boundary
