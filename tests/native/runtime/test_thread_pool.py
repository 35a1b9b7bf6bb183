"""The pool: every task runs once, for every caller and any number of calls, with futexes and without."""

from __future__ import annotations

import ctypes
import os
import threading
import time

import numpy as np
import pytest

from intaglio.native.llvm import jit
from intaglio.native.llvm.builder import Code, module
from intaglio.native.runtime import thread_pool


def counting():
    """A task that adds one to the element of its number."""
    code = Code("count", ["ptr %context", "i64 %i"])
    place = code.at("i64", "%context", "%i")
    code.do(f"store i64 {code.integer('add', code.load('i64', place, 8), 1)}, ptr {place}, align 8")
    code.do("ret void")
    return jit.Module(module([code]))


TASK = counting()
PARALLEL_FOR = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, ctypes.c_int64)


def made(futex):
    """A pool as it is on a system with such futexes, or without."""
    with pytest.MonkeyPatch.context() as system:
        system.setattr(thread_pool, "FUTEX", futex)
        return thread_pool.Pool(3)


POOLS = {"locks": made(None)}
if thread_pool.FUTEX:
    POOLS["futex"] = made(thread_pool.FUTEX)


@pytest.fixture(params=POOLS)
def workers(request):
    return POOLS[request.param]


def run(workers, numbers, code=TASK, task="count"):
    shared = PARALLEL_FOR(workers.parallel_for)
    shared(workers.address, code.address(task), numbers.ctypes.data, len(numbers))


@pytest.mark.parametrize("tasks", [0, 1, 2, 7, 1000])
def test_every_task_runs_once(workers, tasks):
    counts = np.zeros(tasks, np.int64)
    for iteration in range(1, 200):
        run(workers, counts)
        assert (counts == iteration).all()


def test_callers_at_the_same_time(workers):
    wrong = []

    def call():
        counts = np.zeros(13, np.int64)
        for iteration in range(1, 2000):
            run(workers, counts)
            if not (counts == iteration).all():
                wrong.append(counts.tolist())
                return

    threads = [threading.Thread(target=call) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without forks")
def test_after_a_fork_the_caller_works_alone():
    shared = thread_pool.pool()
    if shared is None:
        pytest.skip("one processor")
    child = os.fork()
    if not child:
        counts = np.zeros(9, np.int64)
        run(shared, counts)
        os._exit(0 if (counts == 1).all() else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


WHERE = """
define void @where(ptr %context, i64 %i) {
  %here = alloca i64
  %at = ptrtoint ptr %here to i64
  %place = getelementptr i64, ptr %context, i64 %i
  store i64 %at, ptr %place
  ret void
}
"""


def test_calls_run_serially_while_a_processor_is_missing(workers):
    """The stack of each task shows which thread ran it."""
    code = jit.Module(WHERE)
    stacks = np.zeros(64, np.int64)
    alone = ctypes.c_int32.from_address(workers.address + thread_pool.SERIAL_CALLS)
    alone.value = 2
    for left in (1, 0):
        run(workers, stacks, code, "where")
        assert alone.value == left
        assert len(np.unique(stacks >> 16)) <= 2  # one stack, perhaps across a boundary


# A task that waits until all have begun: it returns only if each has a thread of its own.
TOGETHER = """
define void @together(ptr %context, i64 %i) {
entry:
  %before = atomicrmw add ptr %context, i64 1 seq_cst
  br label %wait
wait:
  %looks = phi i64 [ 0, %entry ], [ %more, %again ]
  %begun = load atomic i64, ptr %context seq_cst, align 8
  %all = icmp uge i64 %begun, 4
  br i1 %all, label %leave, label %again
again:
  %more = add i64 %looks, 1
  %patient = icmp ult i64 %more, 4000000000
  br i1 %patient, label %wait, label %give.up
give.up:
  %place = getelementptr i64, ptr %context, i64 1
  store i64 1, ptr %place
  br label %leave
leave:
  ret void
}
"""


def test_all_workers_wake_though_all_sleep(workers):
    code = jit.Module(TOGETHER)
    sleeping = ctypes.c_int32.from_address(workers.address + thread_pool.SLEEPING)
    alone = ctypes.c_int32.from_address(workers.address + thread_pool.SERIAL_CALLS)
    for _ in range(5):
        until = time.monotonic() + 20
        while sleeping.value < 3 and time.monotonic() < until:
            time.sleep(0.001)
        assert sleeping.value == 3
        alone.value = 0
        begun = np.zeros(4, np.int64)
        run(workers, begun, code, "together")
        assert begun.tolist() == [4, 0, 0, 0]
